"""What the processes of a job use: memory that forks share, and children that nobody has collected yet."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from jupyterlab_t9kjob.engines.local.sampler.processes import JobProcesses, Use
from jupyterlab_t9kjob.engines.local.supervisor.process_tree import MARK, REPLICA_MARK

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")

MIB = 1 << 20
# Each line of the input is a generation of six forks, as the workers of a data loader in each epoch.
FORKS = """
import os, signal, sys
block = b"x" * (200 << 20)
for line in sys.stdin:
    pids = []
    for _ in range(6):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        pids.append(pid)
    print("forked", flush=True)
    sys.stdin.readline()
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    print("ended", flush=True)
"""
ZOMBIE = """
import os, sys, time
pid = os.fork()
if pid == 0:
    end = time.process_time() + 1
    while time.process_time() < end:
        pass
    os._exit(0)
print("forked", flush=True)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print("dead", flush=True)
sys.stdin.readline()
os.waitpid(pid, 0)
print("collected", flush=True)
sys.stdin.readline()
"""


@contextmanager
def running(text: str) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, MARK: "u1", REPLICA_MARK: "worker-0", "RANK": "0", "LOCAL_RANK": "0"}
    with subprocess.Popen(
        [sys.executable, "-c", text], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def said(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def use_of(processes: JobProcesses) -> Use:
    return processes.read()["worker-0", 0]


def test_memory_that_forks_share_counts_once_also_while_they_change() -> None:
    processes = JobProcesses("u1")
    with running(FORKS) as process:
        for _generation in range(3):
            assert said(process, "fork") == "forked"
            for _sample in range(3):
                assert 200 * MIB < use_of(processes).memory < 300 * MIB
            assert said(process, "end") == "ended"


def test_the_time_of_a_child_counts_once_before_and_after_it_is_collected() -> None:
    processes = JobProcesses("u1")
    with running(ZOMBIE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "forked"
        use_of(processes)
        assert process.stdout.readline().strip() == "dead"
        dead = use_of(processes).cpu
        assert said(process, "collect") == "collected"
        assert 0.9 < dead <= use_of(processes).cpu < dead + 0.5
