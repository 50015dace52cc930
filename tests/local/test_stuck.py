"""Real hangs under torchrun with gloo: they are noticed, the stacks are taken, and the odd rank is named."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.stacks import asking
from tests.local.lab import Lab, free_port
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="linux: stacks are read below /proc")

# Pairs of ranks, each with a process group of its own, hang in different ways.
SCRIPT = """
import os, time
import torch, torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset

class Pipe(IterableDataset):
    def __iter__(self):
        reading, self.writing = os.pipe()
        yield os.read(reading, 1)

def sum_up(group):
    dist.all_reduce(torch.ones(1), group=group)

def compute():
    while True:
        pass

def load():
    for batch in DataLoader(Pipe(), num_workers=1):
        pass

dist.init_process_group("gloo")
rank = dist.get_rank()
pairs = [dist.new_group([first, first + 1]) for first in (0, 2, 4, 6)]
group = pairs[rank // 2]
print("ready", flush=True)
if rank == 1:
    time.sleep(1000)
if rank == 3:
    compute()
if rank == 5:
    dist.barrier(group)
if rank == 7:
    load()
sum_up(None if rank == 6 else group)
"""

# Rank 1 sleeps before a barrier. PyTorch's debug server is on, and rank 0 answers as NCCL's RAS subsystem does.
ASKED = """
import os, socket, sys, threading, time, types
import torch.distributed as dist

sys.modules.setdefault("tabulate", types.SimpleNamespace(tabulate=str))  # Only the server's own page needs it.
from torch.distributed.debug import start_debug_server

# Made up in the format of NCCL's documentation; no GPU was at hand.
RAS = '''SERVER PROTOCOL 2
OK
OK
{"communicators": [{"hash": "0x2a", "size": 2, "missing_ranks": [], "ranks": [
  {"rank": 0, "host": "127.0.0.1", "pid": 1, "collective_counts": {"AllReduce": 9}},
  {"rank": 1, "host": "127.0.0.1", "pid": 2, "collective_counts": {"AllReduce": 8}}
]}]}'''

def answer(server):
    while True:
        client, _address = server.accept()
        with client, client.makefile("rb") as lines:
            while lines.readline() != b"VERBOSE STATUS\\n":
                pass
            client.sendall(RAS.encode())

def sleep():
    time.sleep(1000)

dist.init_process_group("gloo")
start_debug_server(port=0)
if dist.get_rank() == 0:
    port = int(os.environ["NCCL_RAS_ADDR"].split(":")[1])
    threading.Thread(target=answer, args=(socket.create_server(("localhost", port)),), daemon=True).start()
print("ready", flush=True)
if dist.get_rank() == 1:
    sleep()
dist.barrier()
"""

BOTH = {"stacks": True, "collectives": True}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path, grace_seconds=1, no_output_seconds=2, no_progress_seconds=2)
    lab.start()
    yield lab
    for job in lab.listed():
        if "stop" in job["actions"]:
            lab.ask("POST", "jobs", job["id"], "stop")
            lab.until(job["id"], lambda job: job["ended_at"] is not None)
    lab.kill()


def group_with(dump: dict[str, Any], rank: int) -> dict[str, Any]:
    found: dict[str, Any] = next(
        group for group in dump["groups"] if rank in [member["rank"] for member in group["members"]]
    )
    return found


def members(collectives: dict[str, Any]) -> tuple[int, ...]:
    """Return the ranks of a group whose recorders have answered."""
    return tuple(sorted([*(rank for call in collectives["calls"] for rank in call["ranks"]), *collectives["missing"]]))


def dump_of_all(lab: Lab, job: str) -> dict[str, Any]:
    """Take stacks until each rank's recorder has answered in time: one of the ranks computes."""
    end = time.monotonic() + PATIENCE
    while True:
        answer = lab.ask("POST", "jobs", job, "stacks", body={})
        assert answer.status == 201, answer.body
        dump: dict[str, Any] = answer.json
        if (0, 1, 2, 3, 4, 5, 6, 7) in map(members, dump["collectives"]) or time.monotonic() > end:
            return dump


def test_hangs_of_all_kinds(lab: Lab) -> None:
    job = lab.submit(lab.spec(SCRIPT, "hang", torchrun={"proc_per_node": 8}, diagnostics=BOTH), "request-1").json["id"]
    lab.until_part((job, "logs"), lambda logs: sum(log["size"] > 0 for log in logs["streams"]) >= 8)
    stalled = lab.until(job, lambda job: job["stalled"] and job["stalled"]["finding"])["stalled"]
    assert stalled["kind"] == "output"
    (listed,) = lab.listed()
    assert listed["stalled"]["kind"] == "output"

    kept = lab.ask("GET", "jobs", job, "stacks").json
    assert kept["available"] == {"supported": True, "reason": None}
    assert kept["automatic"] and all(dump["automatic"] for dump in kept["dumps"])

    dump = dump_of_all(lab, job)
    assert (dump["ranks"], dump["expected"], dump["missing"], dump["method"]) == (8, 8, [], "py-spy")

    waiting = dump["groups"][-1]
    assert [member["rank"] for member in waiting["members"]] == [0, 2, 4, 6]
    assert (waiting["title"], waiting["doing"]) == ("4 ranks wait in all_reduce", "collective")
    assert dump["finding"].startswith("4 ranks wait in all_reduce, rank 1 is in hang.py, rank 3 is in compute")

    asleep, computing, barrier, loading = (group_with(dump, rank) for rank in (1, 3, 5, 7))
    line = SCRIPT.splitlines().index("    time.sleep(1000)") + 1
    assert asleep["place"] == f"hang.py:{line}"
    assert asleep["frames"][0] == {
        "function": "<module>",
        "file": str(lab.root / "hang.py"),
        "path": "hang.py",
        "line": line,
        "code": "time.sleep(1000)",
        "library": False,
        "native": False,
    }
    assert computing["title"] == "rank 3 is in compute"
    assert computing["note"] == "The process computes."
    assert barrier["title"] == "rank 5 waits in barrier"
    assert (loading["title"], loading["doing"]) == ("rank 7 is in data loading", "data")
    (worker,) = [thread for thread in loading["threads"] if thread["pid"] is not None]
    assert worker["frames"][0]["function"].endswith("__iter__")  # With the class from Python 3.11 on
    assert worker["frames"][0]["code"] == "yield os.read(reading, 1)"

    by_group = {members(each): each for each in dump["collectives"]}
    everyone = by_group[0, 1, 2, 3, 4, 5, 6, 7]
    assert everyone["finding"] == ("1 rank waits in all_reduce, number 1; ranks 0, 1, 2, 3, 4, 5 and 7 have not joined")
    assert (everyone["group"], everyone["silent"], everyone["calls"][0]["inputs"]) == ("", [], [[1]])
    assert by_group[(0,)]["missing"] == []  # Gloo records the ranks of the default group only.
    different = by_group[4, 5]["calls"]
    assert {(call["name"], *call["ranks"]) for call in different} == {("all_reduce", 4), ("barrier", 5)}
    assert by_group[4, 5]["finding"].startswith("The ranks call different collectives as number 1: ")

    pid = asleep["members"][0]["pid"]
    (*_others, main) = sorted(asking.by_signal(pid, asking.environment(pid)) or [], key=lambda thread: thread["main"])
    assert (main["frames"][0]["function"], main["frames"][0]["line"]) == ("<module>", line)

    # A rank is killed while the others wait: torchrun ends the job, and the stacks stay.
    pid = group_with(dump, 1)["members"][0]["pid"]
    os.kill(pid, signal.SIGKILL)
    failed = lab.until(job, lambda job: job["phase"] == "Failed")
    assert failed["stalled"] is None
    kept = lab.ask("GET", "jobs", job, "stacks").json
    assert kept["available"] == {"supported": False, "reason": "The job does not run."}
    assert dump in kept["dumps"]  # The killed job's silence may have brought one more.
    refused = lab.ask("POST", "jobs", job, "stacks", body={})
    assert (refused.status, refused.json["code"]) == (409, "NoStacks")
    assert lab.ask("POST", "jobs", job, "remove").status == 204
    lab.until_listed(lambda ids: not ids)
    end = time.monotonic() + 10
    while any((lab.home / "stacks").iterdir()):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_rank_that_sleeps_before_a_barrier_with_pytorchs_debug_server_and_nccl(lab: Lab) -> None:
    """Neither diagnostics nor the permission to trace is needed."""
    ras = {"name": "NCCL_RAS_ADDR", "value": f"localhost:{free_port()}"}
    spec = lab.spec(ASKED, "asked", torchrun={"proc_per_node": 2}, env=[ras])
    job = lab.submit(spec, "request-1").json["id"]
    lab.until_part((job, "logs"), lambda logs: sum(log["size"] > 0 for log in logs["streams"]) >= 2)
    end = time.monotonic() + PATIENCE
    while True:
        dump = lab.ask("POST", "jobs", job, "stacks", body={}).json
        findings = [collective["finding"] for collective in dump["collectives"]]
        if len(findings) == 2 or time.monotonic() > end:
            break
    assert findings == [
        "1 rank waits in barrier, number 1; rank 1 has not joined",
        "1 rank has launched AllReduce, number 9; rank 1 has not joined",
    ]
    assert [collective["source"] for collective in dump["collectives"]] == ["recorder", "ras"]

    asleep = group_with(dump, 1)["members"][0]["pid"]
    server = asking.debug_server(asleep, asking.environment(asleep))
    assert server is not None
    (main, *_others) = asking.server_threads(server)
    assert main["main"] and [frame["function"] for frame in main["frames"]] == ["sleep", "<module>"]
