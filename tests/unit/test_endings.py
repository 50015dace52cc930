"""The sentence about a failure names its cause, or does not claim one: a table of real ends of logs.

The logs in `endings/` were written by real runs on a machine without GPUs (paths are changed; ``@ROOT@`` stands for the
script's folder). Those of `endings/short.txt` that need GPUs are from the public reports that it names.
"""

# ruff: noqa: E501 (what programs print is long)

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.texts.wording import code_in_words, failure
from jupyterlab_t9kjob.logs.failures.advice import advice
from jupyterlab_t9kjob.logs.failures.failure_text import LogEnd, first_failure
from jupyterlab_t9kjob.logs.failures.script_check import ScriptCheck

HERE = Path(__file__).parent / "endings"
SHORT = dict(re.findall(r"^=== (\S+).*\n((?:(?!=== ).*\n)*)", (HERE / "short.txt").read_text(), re.MULTILINE))
RUN_AT = 1_000_000.0

TABLE = [
    ("exception", 1, "failed with exit code 1: ValueError: bad sample 17"),
    ("exit-3", 3, "ended with exit code 3"),
    ("logging", 1, "ended with exit code 1"),
    ("tqdm", 1, "ended with exit code 1"),
    ("tqdm-exception", 1, "failed with exit code 1: RuntimeError: loss is nan"),
    ("dataloader", 1, "failed with exit code 1: ValueError: bad sample"),
    ("dataloader-keyerror", 1, "failed with exit code 1: KeyError: 'label'"),
    (
        "dataloader-killed",
        1,
        "failed with exit code 1: RuntimeError: DataLoader worker (pid(s) 4416) exited unexpectedly",
    ),
    ("fork-refused", 1, "failed with exit code 1: BlockingIOError: [Errno 11] Resource temporarily unavailable"),
    ("handled", 1, "failed with exit code 1: quota exceeded"),
    ("handled-then-1", 1, "ended with exit code 1"),
    ("chain", 1, "failed with exit code 1: RuntimeError: the config has no path"),
    ("during", 1, "failed with exit code 1: ValueError: invalid literal for int() with base 10: 'x'"),
    (
        "group",
        1,
        "failed with exit code 1: ExceptionGroup: two shards failed (2 sub-exceptions): ValueError: shard 1 is empty; TypeError: shard 2 is a list",
    ),
    (
        "group-nested",
        1,
        "failed with exit code 1: ExceptionGroup: loading failed (2 sub-exceptions): ValueError: shard 1 is empty; ValueError: shard 2 is empty",
    ),
    (
        "taskgroup",
        1,
        "failed with exit code 1: ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception): OSError: connection lost",
    ),
    ("syntax", 1, "failed with exit code 1: SyntaxError: invalid syntax"),
    (
        "indent",
        1,
        "failed with exit code 1: IndentationError: expected an indented block after function definition on line 1",
    ),
    ("syntax-import", 1, "failed with exit code 1: SyntaxError: '(' was never closed"),
    ("interrupt", 130, "ended with exit code 130 (as after SIGINT)"),
    ("multiline", 1, "failed with exit code 1: RuntimeError: the checkpoint does not fit: layer 1: 3 x 4"),
    (
        "state-dict",
        1,
        "failed with exit code 1: RuntimeError: Error(s) in loading state_dict for Linear: size mismatch for weight: copying a param with shape torch.Size([2, 3]) from checkpoint, the shape in current model is torch.Size([2, 2]).",
    ),
    ("spawn-guard", 1, "failed with exit code 1: RuntimeError: context has already been set"),
    ("mp-spawn", 1, "failed with exit code 1: ValueError: bad shard"),
    ("pool", 1, "failed with exit code 1: ValueError: row 1 has no label"),
    ("lost-stderr", 1, "failed with exit code 1: ValueError('boom')"),
    ("closed-stderr", 1, "failed with exit code 1: ValueError('boom')"),
    ("thread", 1, "ended with exit code 1"),
    ("atexit", 1, "failed with exit code 1: ValueError: boom"),
    ("argparse", 2, "failed with exit code 2: train.py: error: argument --lr: invalid float value: 'x'"),
    ("argparse-subparser", 2, "failed with exit code 2: tool: error: the following arguments are required: command"),
    ("click", 2, "failed with exit code 2: Error: Invalid value for '--lr': 'x' is not a valid float."),
    ("click-error", 1, "failed with exit code 1: Error: no data in /data"),
    (
        "typer",
        2,
        "failed with exit code 2: Error: Invalid value for 'lr': Input should be a valid number, unable to parse string as a number",
    ),
    ("typer-exception", 1, "failed with exit code 1: ValueError: bad lr"),
    ("rich", 1, "failed with exit code 1: ValueError: bad lr"),
    ("hydra", 1, "failed with exit code 1: ValueError: bad config"),
    ("terminate", 134, "aborted (134): terminate called without an active exception"),
    ("faulthandler", 139, "crashed: segmentation fault (139)"),
    ("segfault", 139, "ended with exit code 139 (as after SIGSEGV)"),
    ("double-free", 134, "aborted (134): free(): invalid pointer"),
    ("stack-overflow", 1, "failed with exit code 1: RecursionError: maximum recursion depth exceeded"),
    ("recursion", 1, "failed with exit code 1: RecursionError: maximum recursion depth exceeded"),
    ("module-missing", 1, "failed with exit code 1: ModuleNotFoundError: No module named 'flash_attn'"),
    (
        "file-missing",
        1,
        "failed with exit code 1: FileNotFoundError: [Errno 2] No such file or directory: 'data/train.npz'",
    ),
    (
        "shared-library",
        1,
        "failed with exit code 1: OSError: libcudart.so.12: cannot open shared object file: No such file or directory",
    ),
    (
        "no-file",
        2,
        "failed with exit code 2: /opt/env/bin/python: can't open file '@ROOT@/missing.py': [Errno 2] No such file or directory",
    ),
    (
        "no-module",
        1,
        "failed with exit code 1: /opt/env/bin/python: Error while finding module specification for 'trainer.main' (ModuleNotFoundError: No module named 'trainer')",
    ),
    (
        "no-main-in-package",
        1,
        "failed with exit code 1: /opt/env/bin/python: No module named email.__main__; 'email' is a package and cannot be directly executed",
    ),
    ("bash-not-found", 127, "failed with exit code 127: /bin/bash: line 1: torchrum: command not found"),
    ("bash-no-such-file", 127, "failed with exit code 127: /bin/bash: line 1: ./run.sh: No such file or directory"),
    ("bash-script", 1, "failed with exit code 1: run.sh: line 3: DATA: unbound variable"),
    ("bash-permission", 126, "failed with exit code 126: /bin/bash: line 1: ./run.sh: Permission denied"),
    ("sh-not-found", 127, "failed with exit code 127: /bin/sh: 1: torchrum: not found"),
    ("bash-syntax", 2, "failed with exit code 2: run.sh: line 4: syntax error: unexpected end of file"),
    ("bash-killed", 137, "was killed (137)"),
    ("bash-segfault", 139, "crashed: segmentation fault (139)"),
    ("killed", 137, "ended with exit code 137 (as after SIGKILL)"),
    ("memory", 1, "failed with exit code 1: MemoryError"),
    (
        "torch-memory",
        1,
        "failed with exit code 1: RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4611686018427387904 bytes. Error code 12 (Cannot allocate memory)",
    ),
    (
        "encoding-init",
        1,
        "failed with exit code 1: Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding",
    ),
    ("system-exit-text", 1, "failed with exit code 1: no data in /data"),
    (
        "port",
        1,
        "failed with exit code 1: torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29555, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use",
    ),
    ("shape", 1, "failed with exit code 1: RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
    ("permission", 1, "failed with exit code 1: PermissionError: [Errno 13] Permission denied: '/data/x'"),
    ("module-in-thread", 1, "failed with exit code 1: ValueError: bad label 12"),
    ("unraisable", 1, "failed with exit code 1: KeyError: 'loss'"),
    ("warning-last", 4, "ended with exit code 4"),
    ("set-e-pipe", 1, "ended with exit code 1"),
    ("accelerate", 1, "failed with exit code 1: ValueError: no labels"),
    (
        "transformers-trainer",
        1,
        "failed with exit code 1: ValueError: The model did not return a loss from the inputs, only the following keys: logits. For reference, the inputs it received are x.",
    ),
    ("lightning", 1, "failed with exit code 1: ValueError: loss is nan at batch 2"),
    (
        "lightning-config",
        1,
        "failed with exit code 1: lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!",
    ),
    (
        "nccl-watchdog",
        134,
        "aborted (134): c10::DistBackendError: [PG 1 Rank 7] Process group watchdog thread terminated with exception: [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=199, OpType=_REDUCE_SCATTER_BASE, NumelIn=7098994688, NumelOut=443687168, Timeout(ms)=600000) ran for 882725 milliseconds before timing…",
    ),
    (
        "cuda-assert-cpp",
        134,
        "aborted (134): c10::Error: CUDA error: device-side assert triggered (insert_events at /tmp/pip-req-build-4baxydiv/c10/cuda/CUDACachingAllocator.cpp:569)",
    ),
    ("cuda-assert", 1, "failed with exit code 1: RuntimeError: CUDA error: device-side assert triggered"),
    (
        "deepspeed",
        1,
        "failed with exit code 1: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 786.00 MiB (GPU 0; 39.56 GiB total capacity; 38.49 GiB already allocated)",
    ),
    (
        "deepspeed-killed",
        247,
        "failed with exit code 247: a process that DeepSpeed started exits with return code = -9",
    ),
    ("shm", 1, "failed with exit code 1: RuntimeError: DataLoader worker (pid(s) 7579) exited unexpectedly"),
    (
        "gloo-enforce",
        134,
        "aborted (134): gloo::EnforceNotMet: [enforce fail at ../third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 1046204 vs 1040256",
    ),
    (
        "nccl-error",
        1,
        "failed with exit code 1: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5",
    ),
    ("abort-after-exception", 134, "aborted (134): ValueError: bad label"),
    ("abort-after-handled", 134, "aborted (134): terminate called without an active exception"),
    ("print-to-stderr", 1, "ended with exit code 1"),
    ("libcxx", 134, "aborted (134): std::runtime_error: no shards"),
    ("stack-smashing", 134, "aborted (134): *** stack smashing detected ***: terminated"),
    ("task-never-retrieved", 1, "ended with exit code 1"),
    ("logging-error", 1, "ended with exit code 1"),
    ("cut-in-a-traceback", 1, "ended with exit code 1"),
    ("nothing", 1, "ended with exit code 1"),
]
WITHOUT_SOURCE = [
    ("handled", None),
    ("handled-then-1", None),
    ("atexit", None),
    ("system-exit-text", None),
    ("click-error", None),
    ("multiline", None),
    ("module-in-thread", "ValueError: bad label 12"),
    ("accelerate", "ValueError: no labels"),
    ("logging", None),
    ("thread", None),
]
RANKS = [
    ("rank-exception", 1, "failed with exit code 1: ValueError: bad sample", None),
    ("rank-gone", 1, "crashed: segmentation fault (139)", None),
    (
        "rank-init-timeout",
        0,
        "failed with exit code 1: torch.distributed.DistStoreError: wait timeout after 4000ms, keys: /default_pg/0//cpu//0/1",
        "Rank 0 waited for other ranks until its time was over. Rank 1 did not report such a timeout: look at what it did last.",
    ),
    ("rank-killed", 1, "was killed (137)", None),
    (
        "rank-monitored",
        0,
        "failed with exit code 1: RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 3000 ms",
        "Rank 0 waited for other ranks until its time was over. Rank 1 did not report such a timeout: look at what it did last.",
    ),
    ("rank-record", 0, "failed with exit code 1: ValueError: bad label 12", None),
    ("rank-record-main", 1, "failed with exit code 1: ValueError: bad label 12", None),
    ("rank-silent-exit", 1, "ended with exit code 3", None),
    (
        "rank-stalls",
        1,
        "failed with exit code 1: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:129] Timed out waiting 4000ms for send operation to complete",
        "Rank 1 waited for other ranks until its time was over. Rank 0 did not report such a timeout: look at what it did last.",
    ),
    (
        "rank-stalls-of-4",
        0,
        "failed with exit code 1: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 4000ms for recv operation to complete",
        "Rank 0 waited for other ranks until its time was over. Rank 2 did not report such a timeout: look at what it did last.",
    ),
    ("rank-stdout-logging", 0, "failed with exit code 1: ValueError: bad label 12", None),
]


def end_of(name: str, data: bytes, local_rank: int | None = None, modified: float = 0.0) -> LogEnd:
    def read(start: int, size: int) -> bytes:
        return data[start : start + size]

    return LogEnd(name, local_rank, "stderr" in name, 0, len(data), modified, read)


def read(name: str, folder: Path) -> bytes:
    path = HERE / f"{name}.log"
    text = path.read_bytes() if path.exists() else SHORT[name].encode()
    return text.replace(b"@ROOT@", os.fsencode(folder))


def source(name: str, folder: Path) -> ScriptCheck:
    """Return a check with the source of a run, where the table has one."""
    script = folder / "train.py"
    kept = HERE / f"{name}.py.txt"
    if kept.exists():
        script.write_bytes(kept.read_bytes())
        os.utime(script, (RUN_AT - 1, RUN_AT - 1))
    return ScriptCheck(str(script), RUN_AT)


@pytest.mark.parametrize(("name", "code", "sentence"), TABLE, ids=[row[0] for row in TABLE])
def test_a_log_of_one_process(name: str, code: int, sentence: str, tmp_path: Path) -> None:
    log = end_of("container", read(name, tmp_path))
    told = first_failure([log], exit_code=code, first_rank=None, check=source(name, tmp_path))
    assert (
        failure("It", code, told.get("error"), signaled=told["signaled"])
        .removeprefix("It ")
        .replace(str(tmp_path), "@ROOT@")
        == sentence
    )
    if log.size:
        assert told["last_output"]["lines"]
    if told.get("error") is not None:
        assert told["stream"] == "container"
        assert 0 <= told["offset"] < log.size


@pytest.mark.parametrize(("name", "words"), WITHOUT_SOURCE)
def test_without_the_source_nothing_doubtful_is_claimed(name: str, words: str | None, tmp_path: Path) -> None:
    told = first_failure([end_of("container", read(name, tmp_path))], exit_code=1, first_rank=None)
    assert told.get("error") == words


@pytest.mark.parametrize(
    ("call", "output", "ended"),
    [
        ("sys.exit('no data\\n')", "no data", True),
        ("sys.exit('  no data ')", "no data", True),
        ("sys.exit('no data')", "no data here", False),
        ("sys.exit('no data')", "there is no data", False),
        ("sys.exit(f'no data in {path}: {why} ')", "no data in /data: it is empty", True),
        ("sys.exit(f'no data in {path}: {why}')", "no data in /data", False),
        ("sys.exit(f'{path}: no data')", "/data: no data", True),
        ("sys.exit(f'{path}: no data')", "/data: no data: tried 2 times", False),
        ("sys.exit(f'{path} has no data, data is missing')", "/data has no data", False),
        ("sys.exit(f'no data{path}data')", "no data", False),
        ("sys.exit('no data in %s: %d files' % (path, 3))", "no data in /data\nand /tmp: 3 files", True),
        ("sys.exit('no data in {}, {why}'.format(path, why=1))", "no data in /data, 1", True),
        ("sys.exit('no data in ' + path + ', sorry')", "no data in /data, sorry", True),
        ("raise click.ClickException(f'{path}: no data')", "Error: /data: no data", True),
        ("sys.exit(f'\\x1b[31m{path}\\x1b[0m: no data')", "/data: no data", True),
        ("sys.exit(f'{path}')", "anything", False),
        ("sys.exit(f'{path}: {a}, {b}, {c}, {d}, {e}, {f}, {g}, {h} not known')", ": 0, 1" * 2_000, False),
    ],
)
def test_the_text_of_an_exit_is_found_in_the_source(call: str, output: str, ended: bool, tmp_path: Path) -> None:
    """The last row took years when the text was searched with backtracking."""
    script = tmp_path / "train.py"
    script.write_text(f"import sys\nif wrong:\n    {call}\n")
    os.utime(script, (RUN_AT - 1, RUN_AT - 1))
    log = end_of("container", f"\n{output}\n".encode())
    told = first_failure([log], exit_code=1, first_rank=None, check=ScriptCheck(str(script), RUN_AT))
    assert told.get("error") == (output.replace("\n", " ") if ended else None)


@pytest.mark.parametrize(("name", "rank", "sentence", "note"), RANKS, ids=[row[0] for row in RANKS])
def test_logs_of_ranks(name: str, rank: int, sentence: str, note: str | None, tmp_path: Path) -> None:
    folder = HERE / name
    logs = [end_of("launcher", (folder / "launcher.log").read_bytes())]
    for local_rank in range(4):
        for output in ("stderr", "stdout"):
            path = folder / f"{local_rank}.{output}.log"
            data = path.read_bytes() if path.exists() else b""
            logs.append(end_of(f"rank-{local_rank}.{output}", data, local_rank))
    told = first_failure(logs[: 9 if "of-4" in name else 5], exit_code=1, first_rank=0)
    said = failure("It", told["exit_code"], told.get("error"), signaled=told["signaled"]).removeprefix("It ")
    assert (told["rank"], said, told.get("note")) == (rank, sentence, note)


@pytest.mark.parametrize(
    ("code", "signaled", "sentence", "attempt"),
    [
        (137, True, "was killed (137)", "Killed (137)"),
        (137, False, "ended with exit code 137", "Error (137)"),
        (137, None, "ended with exit code 137 (as after SIGKILL)", "As after SIGKILL (137)"),
        (159, True, "was ended by signal 31 (159)", "Ended by signal 31 (159)"),
        (138, None, "ended with exit code 138", "Asked to be restarted (138)"),
        (127, False, "ended with exit code 127", "Error (127)"),
    ],
)
def test_an_exit_code_of_its_own_choice_is_no_signal(
    code: int, signaled: bool | None, sentence: str, attempt: str
) -> None:
    told = first_failure([end_of("container", b"epoch 1\n")], exit_code=code, first_rank=None, signaled=signaled)
    assert failure("It", code, told.get("error"), signaled=told["signaled"]) == f"It {sentence}"
    assert code_in_words(code, signaled=signaled) == attempt
    crashed = advice(139, None, signaled=signaled) or ""
    assert crashed.startswith({True: "Native code crashed", False: "", None: "Native code may"}[signaled])


def test_where_an_exception_comes_from_is_said(tmp_path: Path) -> None:
    notes = {
        name: first_failure([end_of("container", read(name, tmp_path))], exit_code=1, first_rank=None).get("note")
        for name in ("dataloader", "mp-spawn", "chain", "handled")
    }
    assert notes == {
        "dataloader": "It was raised in DataLoader worker process 0.",
        "mp-spawn": "It was raised in process 1 of mp.spawn.",
        "chain": "It was raised because of “KeyError: 'path'”.",
        "handled": "The last exception in its log is “OSError: no cache”, but it may not be the cause.",
    }


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (b"q" * 2_000_000 + b"\n", r"ValueError: q{200,300}… \(cut, 2000013 bytes\)"),
        (b"q" * 3000 + b"\n", r"ValueError: q{150,300}… \(cut, 3012 characters\)"),
        (b"q\n" * 1_000_000, "ValueError: q"),
    ],
)
def test_a_very_long_message_is_cut_visibly(message: bytes, shown: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("fail()\n")
    os.utime(script, (RUN_AT - 1, RUN_AT - 1))
    head = f'Traceback (most recent call last):\n  File "{script}", line 1, in <module>\n    fail()\n'.encode()
    log = end_of("container", b"epoch 1\n" * 100_000 + head + b"ValueError: " + message)
    told = first_failure([log], exit_code=1, first_rank=None, check=ScriptCheck(str(script), RUN_AT))
    assert re.fullmatch(shown, told["error"])
    assert told["offset"] == 800_000


def test_ranks_of_a_log_that_all_have_written_to(tmp_path: Path) -> None:
    launcher = (HERE / "rank-exception" / "launcher.log").read_bytes()
    teed = (
        b"[default0]:epoch 1\n[default1]:[rank1]: Traceback (most recent call last):\n"
        b'[default1]:[rank1]:   File "train.py", line 3, in <module>\n'
        b"[default1]:[rank1]: KeyError: 'label'\n[default0]:epoch 2\n"
    )
    told = first_failure([end_of("container", teed + launcher)], exit_code=1, first_rank=0)
    assert (told["rank"], told["error"], told["offset"]) == (1, "KeyError: 'label'", 19)
    assert told["last_output"]["lines"][-1] == "KeyError: 'label'"


def test_the_last_output_is_not_the_traceback_again() -> None:
    traceback = b'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1\n'
    errors = end_of("stderr", b"a warning\n" + traceback, modified=2.0)
    printed = end_of("stdout", b"step 1\nstep 2\n", modified=1.0)

    def output(*logs: LogEnd) -> Any:
        told = first_failure(list(logs), exit_code=1, first_rank=None)
        assert told["error"] == "KeyError: 1"
        return told["last_output"]["lines"]

    ranks = [replace(log, local_rank=0) for log in (errors, printed)]
    assert output(*ranks) == ["step 1", "step 2"]
    assert output(errors) == ["a warning"]
    assert output(end_of("stderr", traceback))[-1] == "KeyError: 1"  # there is nothing else


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("module-missing", 1, "Install the module"),
        ("file-missing", 1, "Check the path"),
        ("no-file", 2, "Check the path"),
        ("argparse", 2, "correct the arguments"),
        ("click", 2, "correct the arguments"),
        ("deepspeed", 1, "The GPU's memory was full"),
        ("shm", 1, "/dev/shm"),
        ("dataloader-killed", 1, "not enough memory"),
        ("memory", 1, "not enough memory"),
        ("fork-refused", 1, "ulimit -u"),
        ("port", 1, "Another program uses the port"),
        ("permission", 1, "Check who owns"),
        ("syntax", 1, "Correct the file"),
        ("bash-not-found", 127, "not in the environment"),
        ("shared-library", 1, "A library is missing"),
        ("cuda-assert", 1, "CUDA_LAUNCH_BLOCKING=1"),
        ("terminate", 134, "The training had ended"),
        ("segfault", 139, "PYTHONFAULTHANDLER=1"),
        ("faulthandler", 139, "The log names the line"),
    ],
)
def test_what_to_do(name: str, code: int, words: str, tmp_path: Path) -> None:
    told: dict[str, Any] = first_failure([end_of("c", read(name, tmp_path))], exit_code=code, first_rank=None)
    assert words in (advice(code, told.get("error"), told.get("note")) or "")
