"""Runs at the start of each Python of a job with diagnostics, which has this folder on its ``PYTHONPATH``.

It needs only the standard library of Python 3.8, and must never make a job fail. It lets faulthandler write the stacks
to a file on a signal (``T9KJOB_STACKS=number:folder``), and answers requests for the flight recorder's content from a
thread (``T9KJOB_TRACES=folder``): a rank that hangs in a collective has released Python's lock. At last it runs the
``sitecustomize`` that it hides.
"""

import atexit
import contextlib
import faulthandler
import importlib.machinery
import importlib.util
import json
import os
import sys
import threading
from typing import IO, Any, Dict, List

MOST_ENTRIES = 200
MOST_TENSORS = 4
FIELDS = (
    "process_group",
    "collective_seq_id",
    "is_p2p",
    "profiling_name",
    "input_sizes",
    "input_dtypes",
    "output_sizes",
    "state",
    "retired",
    "time_created_ns",
)
_kept: List[IO[str]] = []  # faulthandler needs the file as long as the process lives.


def write_stacks_on_signal(number: int, folder: str) -> None:
    """Let faulthandler write the stacks of all threads to a file of this process when a signal comes.

    Parameters
    ----------
    number
        Number of the signal.
    folder
        Folder of the file ``PID.stacks``. It is created if it does not exist; the file is removed at exit.

    Raises
    ------
    OSError, RuntimeError, ValueError
        If the file can't be created, or faulthandler can't listen to the signal.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "%d.stacks" % os.getpid())
    file = open(path, "w")  # noqa: SIM115
    _kept.append(file)
    faulthandler.register(number, file=file, all_threads=True, chain=False)
    _remove_at_exit(path)


def answer_requests(folder: str) -> None:
    """Start a thread that writes the flight recorder's content when a request comes through a named pipe."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, "%d.ask" % os.getpid())
    with contextlib.suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    _remove_at_exit(path)
    threading.Thread(target=_answer, args=(path, os.getpid()), name="t9kjob-traces", daemon=True).start()


def _answer(path: str, pid: int) -> None:
    answer = path[: -len("ask")] + "trace"
    with contextlib.suppress(OSError):
        while os.getpid() == pid:
            with open(path, "rb") as pipe:  # Waits for a request.
                pipe.read()
            text = json.dumps(traces())
            with open(answer + ".new", "w") as file:
                file.write(text)
            os.replace(answer + ".new", answer)


def traces() -> List[Dict[str, Any]]:
    """Return the newest collectives of each recorder of PyTorch in this process."""
    found = []
    torch = sys.modules.get("torch._C._distributed_c10d")
    for name in ("_dump_nccl_trace_json", "_dump_fr_trace_json"):
        try:
            dump = json.loads(getattr(torch, name)(True, False))
        except Exception:  # noqa: S112  # This PyTorch has no such recorder, or it is off.
            continue
        entries = dump.get("entries") or []  # A rank that has joined no collective has none.
        kept = [{field: _short(entry.get(field)) for field in FIELDS} for entry in entries[-MOST_ENTRIES:]]
        found.append({"pg_config": dump.get("pg_config"), "entries": kept})
    return found


def _short(value: Any) -> Any:
    return value[:MOST_TENSORS] if isinstance(value, (list, tuple)) else value


def _remove_at_exit(path: str) -> None:
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            with contextlib.suppress(OSError):
                os.remove(path)

    atexit.register(remove)


def run_hidden() -> None:
    """Run the ``sitecustomize`` of the environment, which Python would have found without this one."""
    own = os.path.realpath(os.path.dirname(__file__))
    places = [place for place in sys.path if os.path.realpath(place) != own]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Set up what the variables name."""
    with contextlib.suppress(Exception):
        number, _colon, folder = os.environ.get("T9KJOB_STACKS", "").partition(":")
        if number.isdigit() and folder:
            write_stacks_on_signal(int(number), folder)
    with contextlib.suppress(Exception):
        prefix = os.environ.get("TORCH_FR_DUMP_TEMP_FILE")
        if prefix and os.path.isabs(prefix):
            os.makedirs(os.path.dirname(prefix), exist_ok=True)  # PyTorch does not make the folder.
    with contextlib.suppress(Exception):
        folder = os.environ.get("T9KJOB_TRACES", "")
        if folder and "RANK" in os.environ:
            answer_requests(folder)


if __name__ == "sitecustomize":
    main()
    run_hidden()
