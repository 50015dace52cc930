"""Advice for the errors that often end training scripts."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .error_forms import CRASHES, STILL_WORKED


class _Advice(NamedTuple):
    pattern: re.Pattern[str]
    words: str


_CHANGE_ARGUMENTS: Final = "Clone the job, correct the arguments, and submit it."
_BY_ERROR: Final = [
    _Advice(re.compile(pattern), words)
    for pattern, words in (
        (
            f"^{STILL_WORKED}",
            "This abort comes when Python ends while threads of PyTorch's gloo still work. The training had ended "
            "before: see whether its last output and its files are complete. To avoid it, import torch.distributed.nn "
            "before init_process_group, and delete the DDP model before destroy_process_group.",
        ),
        (
            r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
            "The GPU's memory was full. Use smaller batches or a smaller model, or see with nvidia-smi whether another "
            "process uses the GPU.",
        ),
        (
            r"(?i)insufficient shared memory|out of shared memory|killed by signal: Bus error|unable to mmap .* /torch_"
            r"|No space left on device.*/dev/shm|/dev/shm.*No space left",
            "The shared memory (/dev/shm) was full, through which data loaders pass batches. Give the job more shared "
            "memory, or use fewer data-loading workers.",
        ),
        (
            r"killed by signal: Killed|^MemoryError|can't allocate memory|Cannot allocate memory|std::bad_alloc",
            "There was not enough memory. Use smaller batches, fewer processes or fewer data-loading workers, or give "
            "the job more memory.",
        ),
        (
            # Not every EAGAIN: for a locked file the number is the same, and the words of h5py are others.
            r"^(?:BlockingIOError: \[Errno \d+\]|std::system_error:) Resource temporarily unavailable$"
            r"|can't start new thread",
            "Probably no more processes or threads were allowed (ulimit -u, or the container's limit). Use fewer "
            "processes or data-loading workers, set OMP_NUM_THREADS=1 in the job's environment, or have the limit "
            "raised.",
        ),
        (
            r"^(?:ModuleNotFoundError|ImportError): No module named|: No module named ",
            "Install the module in the environment that the job runs in, or choose an environment that has it. "
            "If it is a file of yours, check the job's working directory.",
        ),
        (
            r"cannot open shared object file|error while loading shared libraries|version `GLIBC",
            "A library is missing in the environment that the job runs in. Install it, or choose an environment or "
            "image that has it.",
        ),
        (
            r"(?i)EADDRINUSE|address already in use",
            "Another program uses the port. Choose another port, or none, so that a free one is found.",
        ),
        (
            r"^SyntaxError|^IndentationError|^TabError",
            "Correct the file at the line that the traceback names, then run the job again.",
        ),
        (
            r"^Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Floating.point|Illegal inst)",
            "Native code of a library crashed. The log names the line of the script that called it.",
        ),
        (r"^usage: |^\S.*: error: |^Error: .*(?:option|argument|value)", _CHANGE_ARGUMENTS),
        (
            r"command not found$|: not found$",
            "The program is not in the environment that the job runs in. Install it, or correct the command.",
        ),
        (
            r"^FileNotFoundError|No such file or directory|can't open file|^NotADirectoryError|^IsADirectoryError",
            "Check the path. A relative path starts at the job's working directory.",
        ),
        (
            r"^PermissionError|Permission denied",
            "Check who owns the file or folder, and whether the job's user may read and write it.",
        ),
        (
            r"device-side assert triggered",
            "Often an index or a label is out of range. Run the job with CUDA_LAUNCH_BLOCKING=1 in its environment to "
            "get the line where it happens.",
        ),
        (
            r"(?i)no CUDA GPUs are available|found no NVIDIA driver|not compiled with CUDA|No supported gpu backend"
            r"|CUDA driver version is insufficient|no CUDA-capable device",
            "No GPU can be used where the job ran. Ask for GPUs in the form, check that PyTorch is built for CUDA, or "
            "run it on the CPU.",
        ),
        (
            r"(?i)name resolution|Name or service not known|Max retries exceeded|couldn't connect to|offline mode"
            r"|ConnectTimeout",
            "The job could not reach another machine. Check the address and whether the job has network access, or "
            "download the files before.",
        ),
        (
            r"(?i)ncclInvalidUsage|Duplicate GPU detected",
            "Two ranks use the same GPU. Use as many processes as there are GPUs, and set the device by LOCAL_RANK.",
        ),
        (r"(?i)NCCL error|ncclSystemError|ncclInternalError|ncclRemoteError",
         "Run the job with NCCL_DEBUG=INFO in its environment: its log then names what NCCL could not do."),
        (
            r"(?i)connection (?:was )?(?:closed|reset) by peer|remote process exited",
            "Another rank ended before. Look at the logs of the other ranks for the first error.",
        ),
    )
]  # fmt: skip
_BY_CODE: Final = {
    135: "The shared memory (/dev/shm) or a disk may have been full. Use fewer data-loading workers, or give the job "
    "more of it.",
}
_CRASH: Final = (
    "Native code crashed the process. Run the job with PYTHONFAULTHANDLER=1 in its environment: its log then names the "
    "line of the script."
)
_PERHAPS_CRASH: Final = (
    "Native code may have crashed the process. Run the job with PYTHONFAULTHANDLER=1 in its environment: its log then "
    "names the line of the script."
)

SHORT_OF_MEMORY: Final = (
    "The system kills processes when memory runs out. Smaller batches, or fewer processes or workers, need less."
)
"""What to do about a SIGKILL that nobody has explained."""


def advice(exit_code: int, error: str | None, note: str | None = None, *, signaled: bool | None = None) -> str | None:
    """Return what to do about a well-known end, in sentences; None where nothing special is known.

    Parameters
    ----------
    exit_code
        The process's.
    error
        That ended it, where it is known.
    note
        What else is known of the error: that it was raised because of another one.
    signaled
        Whether a signal ended the process; None if that is not known.
    """
    for text in filter(None, (error, note)):
        for one in _BY_ERROR:
            if one.pattern.search(text):
                return one.words
    if exit_code not in CRASHES or signaled is False:
        return None
    return _BY_CODE.get(exit_code) or (_CRASH if signaled else _PERHAPS_CRASH)


def next_step(exit_code: int, error: str | None, *, traceback: bool, signaled: bool | None = None) -> str:
    """Return what to do if nothing special is known of an end.

    Parameters
    ----------
    exit_code
        The process's.
    error
        That ended it, where it is known.
    traceback
        Whether the frames of the error are known.
    signaled
        See `advice`.
    """
    if traceback:
        return "Read the traceback, correct the code or the arguments, then run the job again."
    if error is not None:
        return "Read the log before this line, correct the cause, then run the job again."
    if exit_code != 137 or signaled is False:
        return "The log does not name the cause. Read its last output, then run the job again."
    return SHORT_OF_MEMORY
