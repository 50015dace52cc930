"""Advice for errors that often end training scripts.

`advice` looks an error up in a table of patterns; `next_step` is the general advice for all other failures.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ...core.translation import Text, _
from .error_forms import CRASHES, STILL_WORKED


class _Advice(NamedTuple):
    pattern: re.Pattern[str]
    text: Text


_BY_ERROR: Final = [
    _Advice(re.compile(pattern), text)
    for pattern, text in (
        (
            f"^{STILL_WORKED}",
            _(
                "This abort comes when Python ends while threads of PyTorch's gloo still work. The training had ended "
                "before: see whether its last output and its files are complete. To avoid it, import "
                "torch.distributed.nn before init_process_group, and delete the DDP model before destroy_process_group."
            ),
        ),
        (
            r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation",
            _(
                "The GPU's memory was full. Use smaller batches or a smaller model, or see with nvidia-smi whether "
                "another process uses the GPU."
            ),
        ),
        (
            r"(?i)insufficient shared memory|out of shared memory|killed by signal: Bus error|unable to mmap .* /torch_"
            r"|No space left on device.*/dev/shm|/dev/shm.*No space left",
            _(
                "The shared memory (/dev/shm) was full, through which data loaders pass batches. Give the job more "
                "shared memory, or use fewer data-loading workers."
            ),
        ),
        (
            r"killed by signal: Killed|^MemoryError|can't allocate memory|Cannot allocate memory|std::bad_alloc",
            _(
                "There was not enough memory. Use smaller batches, fewer processes or fewer data-loading workers, or "
                "give the job more memory."
            ),
        ),
        (
            # The whole message must match: a locked file gives the same error number, with another message by h5py.
            r"^(?:BlockingIOError: \[Errno \d+\]|std::system_error:) Resource temporarily unavailable$"
            r"|can't start new thread",
            _(
                "Probably no more processes or threads were allowed (ulimit -u, or the container's limit). Use fewer "
                "processes or data-loading workers, set OMP_NUM_THREADS=1 in the job's environment, or have the limit "
                "raised."
            ),
        ),
        (
            r"^(?:ModuleNotFoundError|ImportError): No module named|: No module named ",
            _(
                "Install the module in the environment that the job runs in, or choose an environment that has it. "
                "If it is a file of yours, check the job's working directory."
            ),
        ),
        (
            r"cannot open shared object file|error while loading shared libraries|version `GLIBC",
            _(
                "A library is missing in the environment that the job runs in. Install it, or choose an environment or "
                "image that has it."
            ),
        ),
        (
            r"(?i)EADDRINUSE|address already in use",
            _("Another program uses the port. Choose another port, or none, so that a free one is found."),
        ),
        (
            r"^SyntaxError|^IndentationError|^TabError",
            _("Correct the file at the line that the traceback names, then run the job again."),
        ),
        (
            r"^Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Floating.point|Illegal inst)",
            _("Native code of a library crashed. The log names the line of the script that called it."),
        ),
        (
            r"^usage: |^\S.*: error: |^Error: .*(?:option|argument|value)",
            _("Clone the job, correct the arguments, and submit it."),
        ),
        (
            r"command not found$|: not found$",
            _("The program is not in the environment that the job runs in. Install it, or correct the command."),
        ),
        (
            r"^FileNotFoundError|No such file or directory|can't open file|^NotADirectoryError|^IsADirectoryError",
            _("Check the path. A relative path starts at the job's working directory."),
        ),
        (
            r"^PermissionError|Permission denied",
            _("Check who owns the file or folder, and whether the job's user may read and write it."),
        ),
        (
            r"device-side assert triggered",
            _(
                "Often an index or a label is out of range. Run the job with CUDA_LAUNCH_BLOCKING=1 in its environment "
                "to get the line where it happens."
            ),
        ),
        (
            r"(?i)no CUDA GPUs are available|found no NVIDIA driver|not compiled with CUDA|No supported gpu backend"
            r"|CUDA driver version is insufficient|no CUDA-capable device",
            _(
                "No GPU can be used where the job ran. Ask for GPUs in the form, check that PyTorch is built for CUDA, "
                "or run it on the CPU."
            ),
        ),
        (
            r"(?i)name resolution|Name or service not known|Max retries exceeded|couldn't connect to|offline mode"
            r"|ConnectTimeout",
            _(
                "The job could not reach another machine. Check the address and whether the job has network access, or "
                "download the files before."
            ),
        ),
        (
            r"(?i)ncclInvalidUsage|Duplicate GPU detected",
            _("Two ranks use the same GPU. Use as many processes as there are GPUs, and set the device by LOCAL_RANK."),
        ),
        (
            r"(?i)NCCL error|ncclSystemError|ncclInternalError|ncclRemoteError",
            _("Run the job with NCCL_DEBUG=INFO in its environment: its log then names what NCCL could not do."),
        ),
        (
            r"(?i)connection (?:was )?(?:closed|reset) by peer|remote process exited",
            _("Another rank ended before. Look at the logs of the other ranks for the first error."),
        ),
    )
]
_BY_CODE: Final = {
    135: _(
        "The shared memory (/dev/shm) or a disk may have been full. Use fewer data-loading workers, or give the job "
        "more of it."
    ),
}
_CRASH: Final = _(
    "Native code crashed the process. Run the job with PYTHONFAULTHANDLER=1 in its environment: its log then names the "
    "line of the script."
)
_PERHAPS_CRASH: Final = _(
    "Native code may have crashed the process. Run the job with PYTHONFAULTHANDLER=1 in its environment: its log then "
    "names the line of the script."
)

SHORT_OF_MEMORY: Final = _(
    "The system kills processes when memory runs out. Smaller batches, or fewer processes or workers, need less."
)
"""Advice for a SIGKILL whose cause is not known."""


def advice(exit_code: int, error: str | None, note: str | None = None, *, signaled: bool | None = None) -> Text | None:
    """Return advice for a well-known failure; None if the failure is not a well-known one.

    Parameters
    ----------
    exit_code
        Exit code of the process.
    error
        Error that ended the process; None if it is not known.
    note
        Sentence on how the error came about, which may quote another error that caused it.
    signaled
        True if a signal ended the process; None if that is not known.
    """
    for text in filter(None, (error, note)):
        for entry in _BY_ERROR:
            if entry.pattern.search(text):
                return entry.text
    if exit_code not in CRASHES or signaled is False:
        return None
    return _BY_CODE.get(exit_code) or (_CRASH if signaled else _PERHAPS_CRASH)


def next_step(exit_code: int, error: str | None, *, traceback: bool, signaled: bool | None = None) -> Text:
    """Return general advice for a failure for which `advice` has none.

    Parameters
    ----------
    exit_code
        Exit code of the process.
    error
        Error that ended the process; None if it is not known.
    traceback
        True if the log has a traceback of the error.
    signaled
        True if a signal ended the process; None if that is not known.
    """
    if traceback:
        return _("Read the traceback, correct the code or the arguments, then run the job again.")
    if error is not None:
        return _("Read the log before this line, correct the cause, then run the job again.")
    if exit_code != 137 or signaled is False:
        return _("The log does not name the cause. Read its last output, then run the job again.")
    return SHORT_OF_MEMORY
