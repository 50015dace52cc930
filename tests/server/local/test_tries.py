"""Tries on this machine, with real torchrun: passed, failed, not tried, ended by time, by a stop and by the server."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.tries.model import MOST_SECONDS
from tests.patience import PATIENCE
from tests.server.conftest import Answer, eventually
from tests.server.local.conftest import Place, listing, processes_of

GROUP = """\
import os, time
import torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
"""
RANK = "import os, time\nrank = int(os.environ['RANK'])\n"  # without torch, which takes seconds to import
SLEEP = "print('up', flush=True)\ntime.sleep(600)\n"
ENDLESS = """
step = 0
while True:
    step += 1
    print(f"step {step}/1000 loss: {1 / step:.3f}", flush=True)
    dist.barrier()
    time.sleep(0.05)
"""


async def begun(place: Place, script: str, **changes: Any) -> Answer:
    """Ask for a try of a script, which a slow machine may take minutes to start."""
    (place.root / "train.py").write_text(script)
    spec = await place.form(torchrun={"proc_per_node": 4}, **changes.pop("spec", {}))
    body = {"spec": spec, "path": "train.py", "seconds": MOST_SECONDS, **changes}
    return await place.api("POST", "tries", body=body)


async def result(place: Place, ident: str, *, until: Any = lambda view: view["state"] != "running") -> dict[str, Any]:
    """Follow a try as a page does, until it has ended."""
    view = (await place.api("GET", "tries", ident)).json
    async with asyncio.timeout(2 * PATIENCE):
        while not until(view):
            view = (await place.api("GET", "tries", ident, after=view["revision"])).json
    return view


async def tried(place: Place, script: str, **changes: Any) -> dict[str, Any]:
    answer = await begun(place, script, **changes)
    assert answer.status == 201, answer.json
    return await result(place, answer.json["id"])


async def gone(place: Place) -> None:
    """Return when nothing of a try is left: no process, record, output or lock."""
    tries = place.home / "tries"
    await eventually(lambda: not any((tries / "jobs").iterdir()) and not any((tries / "outputs").iterdir()))
    await eventually(lambda: processes_of(place.home) == [])


async def test_passes_after_some_steps(place: Place) -> None:
    """The try uses two processes, gloo and a folder of its own, and is no job."""
    options = """\
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
parser.add_argument("--log_dir", default="runs")
args = parser.parse_args()
"""
    training = """
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter
dist.init_process_group(args.backend)
writer = SummaryWriter(args.log_dir) if dist.get_rank() == 0 else None
if writer:
    for step in range(3):
        writer.add_scalar("loss", step, step)
    writer.flush()
"""
    before = listing(place.root)
    view = await tried(place, options + training + ENDLESS, steps=5)
    assert (view["state"], view["processes"]) == ("passed", 2), view
    assert view["steps_done"] >= 5 and view["sentence"].startswith(f"{view['steps_done']} steps passed here in ")
    [memory] = [note for note in view["notes"] if note.startswith("Memory of the largest process of each rank: ")]
    assert re.search(r"rank 0: \d+ MiB(,| and) rank 1: \d+ MiB\.$", memory), memory
    assert "--backend is gloo instead of nccl." in view["notes"] and "It wrote TensorBoard events." in view["notes"]
    texts = [line["text"] for line in view["lines"]]
    assert "step 5/1000 loss: 0.200" in texts and {line["rank"] for line in view["lines"]} == {0, 1}
    assert view["metrics"]["loss"] <= 0.5 and view["reason"] is None and view["failure"] is None
    assert listing(place.root) - before == {str(place.root / "train.py")} - before
    assert (await place.api("GET", "jobs", deleted="true")).json["total"] == 0
    await gone(place)
    facts = """
gpus = os.environ["CUDA_VISIBLE_DEVICES"] or "none"
print("world", os.environ["WORLD_SIZE"], os.nice(0), gpus, flush=True)
print("folder", args.log_dir, flush=True)
print("killed", "first" if int(open("/proc/self/oom_score_adj").read()) >= 500 else "last", flush=True)
"""
    view = await tried(place, options + facts, steps=100)
    assert view["state"] == "passed" and view["sentence"].startswith("The script ended without an error after ")
    texts = [line["text"] for line in view["lines"]]
    assert "killed first" in texts and f"world 2 {min(os.nice(0) + 10, 19)} none" in texts
    [folder] = {text.removeprefix("folder ") for text in texts if text.startswith("folder ")}
    assert Path(folder).is_relative_to(place.home / "tries" / "outputs")
    await gone(place)


async def test_fails_with_the_traceback(place: Place) -> None:
    script = f"{RANK}print('step 1', flush=True)\nif rank == 1:\n    open('data/train.bin')\n{SLEEP}"
    view = await tried(place, script)
    assert (view["state"], view["sentence"]) == ("failed", "The try failed after 1 step"), view
    failure = view["failure"]
    assert failure["error"] == "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'"
    assert (failure["rank"], failure["exit_code"], failure["ended"], failure["link"]) == (1, 1, "Error (1)", None)
    assert [(frame["path"], frame["line"]) for frame in failure["frames"]] == [("train.py", 5)]
    assert "Rank 1 failed with exit code 1: FileNotFoundError" in view["reason"]["sentence"]
    assert not [link for link in view["reason"]["links"] if link["kind"] == "log"]
    await gone(place)


async def test_ends_by_time_and_by_a_stop(place: Place) -> None:
    """One try runs at a time; a script that reports no steps and ignores SIGTERM is ended."""
    script = f"{RANK}import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SLEEP}"
    first = await begun(place, script)
    ident = first.json["id"]
    view = await result(place, ident, until=lambda view: view["lines"])
    assert (view["state"], view["sentence"]) == ("running", "Trying on this machine")
    second = await begun(place, script)
    assert (second.status, second.json["code"]) == (409, "TryRunning")
    stopped = await place.api("DELETE", "tries", ident)
    assert (stopped.status, stopped.json["state"]) == (202, "running")
    view = await result(place, ident)
    assert (view["state"], view["sentence"]) == ("stopped", "The try was stopped")
    assert (await place.api("DELETE", "tries", ident)).json["state"] == "stopped"
    await gone(place)
    view = await tried(place, script, seconds=5)
    assert (view["state"], view["sentence"][:15]) == ("passed", "It ran here for"), view
    assert "The script reported no steps, so the time ended the try." in view["notes"]
    await gone(place)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (GROUP.replace("gloo", "nccl"), "train.py uses the backend nccl, which needs GPUs. A try has none."),
        (
            f"{GROUP}import torch\ntorch.zeros(1).to('cu' + 'da')",
            "needs a GPU",
        ),
    ],
    ids=["text", "error"],
)
async def test_nccl_is_not_tried(place: Place, script: str, words: str) -> None:
    view = await tried(place, script)
    assert view["state"] == "not_tried" and words in view["sentence"] and view["hint"], view
    assert (view["command"] == "") == words.startswith("train.py")


async def test_bad_requests(place: Place) -> None:
    bad = [{"steps": 10**9}, {"steps": 0}, {"seconds": 0}, {"seconds": 10**9}, {"processes": 0}, {"processes": 99}]
    for changes in bad:
        answer = await begun(place, "print(1)", **changes)
        assert (answer.status, answer.json["field"]) == (422, f"/{next(iter(changes))}"), answer.json
    spec = await place.form()
    (place.root / "train.py").write_bytes(b"\x00\xff\xfe junk \x80" * 100)
    assert (await place.api("POST", "tries", body={"spec": spec})).status == 422
    (place.root / "train.py").unlink()
    answer = await place.api("POST", "tries", body={"spec": spec})
    assert (answer.status, answer.json["code"]) == (422, "ScriptGone")
    command = {**spec, "entrypoint": {"kind": "command", "value": "nvidia-smi"}}
    answer = await place.api("POST", "tries", body={"spec": command})
    assert (answer.status, answer.json["state"]) == (201, "not_tried")
    assert (await place.api("GET", "tries", answer.json["id"], after=7)).json == answer.json
    for ident in ("nothing", "../jobs", "\0"):
        assert (await place.api("GET", "tries", ident)).status == 404
        assert (await place.api("DELETE", "tries", ident)).status == 404
    assert processes_of(place.home) == [] and not (place.home / "tries" / "outputs").exists()
    (place.root / "train.py").write_text("print(1)\n")
    (place.home / "tries").mkdir(exist_ok=True)
    (place.home / "tries" / "outputs").touch()
    answer = await place.api("POST", "tries", body={"spec": spec})
    assert answer.status == 503 and answer.json["message"].startswith("The files of the try can't be written: ")
    (place.home / "tries" / "outputs").unlink()
    answer = await place.api("POST", "tries", body={"spec": command})  # The failed try holds no lock.
    assert answer.json["state"] == "not_tried"


async def test_no_process_outlives_the_server(place: Place, app: T9kJobApp) -> None:
    """A try ends with the server, and with the page that shows it; a new server removes what a killed one left."""
    answer = await begun(place, f"{RANK}{SLEEP}")
    await result(place, answer.json["id"], until=lambda view: view["lines"])
    assert processes_of(place.home)
    left = place.home / "tries" / "outputs" / "of-a-killed-server"
    left.mkdir()
    await app.stop_extension()
    await eventually(lambda: not processes_of(place.home))
    services = await asyncio.to_thread(app._make_services)
    await services.start()
    await eventually(lambda: not left.exists() and not any((place.home / "tries" / "jobs").iterdir()))
    await services.stop()
