"""No process is left behind, whatever a job's processes do to stay and however the job ends."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import ENDED, Bench, carrying, eventually, kill

pytestmark = pytest.mark.asyncio

STUBBORN = """
import ctypes, os, pathlib, platform, signal, sys, threading, time

EXIT_THREAD = {"x86_64": 60, "aarch64": 93}[platform.machine()]
BARE = "import os, pathlib, time; pathlib.Path(f'pid{os.getpid()}').write_text('x'); time.sleep(600)"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
main = os.getpid()
for way in ("forks", "new session", "double fork", "no main thread", "no mark"):
    if os.fork() == 0:
        if way != "forks":
            os.setsid()
        if way == "double fork" and os.fork():
            os._exit(0)
        if way == "no mark":
            os.execve(sys.executable, [sys.executable, "-c", BARE], {})
        if way == "no main thread":
            pathlib.Path(f"pid{os.getpid()}").write_text("x")
            threading.Thread(target=time.sleep, args=(600,)).start()
            ctypes.CDLL(None).syscall(EXIT_THREAD, 0)
        break
pathlib.Path(f"pid{os.getpid()}").write_text("x")
code = pathlib.Path("code")
while os.getpid() != main or not code.exists():
    time.sleep(0.02)
sys.exit(int(code.read_text()))
"""
"""Six processes that ignore SIGTERM or don't know of it; the first one ends when the file `code` says how."""


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"grace_seconds": 1.0}


def alive(pids: set[int]) -> set[int]:
    """Return those that run, of which any thread does."""
    found = set()
    for pid in pids:
        for thread in glob.glob(f"/proc/{pid}/task/*"):  # noqa: PTH207  (`Path.glob` fails when a process ends meanwhile)
            try:
                state = Path(thread, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state != "Z":
                found.add(pid)
    return found


def end_by_code(bench: Bench, code: int) -> None:
    draft = bench.root / "draft"
    draft.write_text(str(code))
    draft.rename(bench.root / "code")


ENDS = ["stop", "delete", "pause", "failure", "success", "supervisor"]


@pytest.mark.parametrize(
    ("end", "ranks"),
    # A deadline, a deletion and a pause go no other way than a stop, and torchrun is slow to start: once is enough.
    [*((end, 0) for end in [*ENDS, "deadline"]), *((end, 2) for end in ("stop", "failure", "success", "supervisor"))],
)
async def test_no_process_is_left(bench: Bench, end: str, ranks: int) -> None:
    policy = {"active_deadline_seconds": 8} if end == "deadline" else {}
    torchrun: Any = {"proc_per_node": ranks} if ranks else None
    job = await bench.submit(STUBBORN, run_policy=policy, torchrun=torchrun)
    expected = 6 * max(1, ranks)
    if end != "deadline":  # which does not wait for them
        await eventually(lambda: len(list(bench.root.glob("pid*"))) == expected)
    if end in ("stop", "delete", "pause"):
        await bench.engine.act(job.uid, end)  # type: ignore[arg-type]
    elif end in ("failure", "success"):
        end_by_code(bench, int(end == "failure"))
    elif end == "supervisor":
        kill(json.loads((bench.home / "jobs" / job.uid / "record.json").read_bytes())["supervisor"]["pid"])
    done = await bench.until(job.uid, lambda job: job.phase in (*ENDED, "Paused"))
    assert carrying(job.uid) == []
    assert alive({int(path.name[3:]) for path in bench.root.glob("pid*")}) == set()
    codes = {"pause": "PausedByUser", "failure": "ExitCode", "success": "Succeeded", "deadline": "DeadlineExceeded"}
    codes["supervisor"] = "SupervisorLost"
    assert done.reason and done.reason.code == codes.get(end, "Stopped")
    if len(list(bench.root.glob("pid*"))) == expected:  # a loaded machine may reach the deadline before
        assert "ProcessesKilled" in await bench.codes(job.uid)
