"""A job that hangs in a cluster: its stacks through commands in the pods, and accounts that may not run any."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.stacks.raw import TakenStacks
from jupyterlab_t9kjob.stacks.frames import Sources
from jupyterlab_t9kjob.stacks.grouping import Member, finding_of, groups_of
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_rights import rules

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

SCRIPT = """
import os, queue, time

def next_sample():
    while True:
        time.sleep(0.05)

def wait_for_others():
    queue.Queue().get()

print("ready", flush=True)
if os.environ["RANK"] == "3":
    next_sample()
wait_for_others()
"""
HANGING = ("next_sample", "wait_for_others")


def said(taken: TakenStacks, job: Job) -> str:
    root = ContentsRoot(None)
    sources = Sources(job, root, shares_files=False)
    members = [Member(replica, rank) for replica, answer in taken.stacks for rank in answer.ranks]
    return str(finding_of(groups_of(members, sources.shown), places=True))


async def test_stacks_are_taken_in_the_pods(kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    """The image has no py-spy, so it gets the server's; without the permission the sentence names the rule."""
    account = Account(kube, "stuck", tmp_path)
    await account.may(*rules(), {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get", "create"]})
    async with serving(kube, image, tmp_path, volume, kubeconfig=account.kubeconfig) as bench:
        spec = bench.training(bench.script(SCRIPT, "hang.py"), replicas=2, processes=2)
        job = await bench.submit("kubeflow", spec)
        engine = bench.engines["kubeflow"]
        await bench.until(job, lambda seen: seen.replicas_running == 2)

        async def all_hang() -> TakenStacks:
            while True:
                taken = await engine.take_stacks(job.uid, native=False)
                named = [thread.frames for _replica, answer in taken.stacks for rank in answer.ranks
                         for thread in rank.threads if thread.main]  # fmt: skip
                if sum(any(frame.function in HANGING for frame in frames) for frames in named) == 4:
                    return taken

        assert (await engine.stacks_capability(job.uid)).supported
        taken = await all_hang()
        assert taken.missing == {}
        assert said(taken, job) == "3 ranks are in wait_for_others (hang.py:9); rank 3 is in next_sample (hang.py:6)"

        await account.may(*rules())
        refused = await engine.take_stacks(job.uid, native=False)
        assert refused.stacks == []
        assert all("pods/exec" in sentence or "forbidden" in sentence for sentence in refused.missing.values())
        engine._exec._known.clear()
        capability = await engine.stacks_capability(job.uid)
        assert not capability.supported
        assert "get pods/exec" in (capability.reason or "")
