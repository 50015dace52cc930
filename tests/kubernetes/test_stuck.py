"""A job that hangs in a cluster: its stacks through commands in the pods, and accounts that may not run any."""

from __future__ import annotations

import asyncio
from copy import copy
from pathlib import Path

import pytest

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.engine.terminals import ShellSettings
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Security
from jupyterlab_t9kjob.core.stacks.raw import RawRank, RawStacks, TakenStacks
from jupyterlab_t9kjob.core.stacks.traces import trace_of
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.engines.kubernetes.client.exec.remote_command import Target
from jupyterlab_t9kjob.engines.kubernetes.commands import stacks
from jupyterlab_t9kjob.engines.kubernetes.commands.debug_containers import PREFIX, NoDebugContainer, debug_container
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.jobs.terminals import Terminals
from jupyterlab_t9kjob.stacks.collectives import collectives_of
from jupyterlab_t9kjob.stacks.communicators import ras_collectives
from jupyterlab_t9kjob.stacks.frames import Sources
from jupyterlab_t9kjob.stacks.grouping import Member, finding_of, groups_of
from jupyterlab_t9kjob.stacks.model import Collective
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_rights import rules
from tests.patience import PATIENCE

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
# Rank 3 does not join a barrier. PyTorch's debug server is on, and one process of each pod answers as NCCL's RAS does.
SERVED = """
import os, socket, sys, threading, time, types
import torch.distributed as dist

sys.modules.setdefault("tabulate", types.SimpleNamespace(tabulate=str))  # Only the server's own page needs it.
from torch.distributed.debug import start_debug_server

# Made up in the format of NCCL's documentation; no GPU was at hand.
RAS = '''SERVER PROTOCOL 2
OK
OK
{"communicators": [{"hash": "0x2a", "size": 4, "missing_ranks": [], "ranks": [
  {"rank": 0, "host": "10.0.0.1", "pid": 1, "collective_counts": {"AllReduce": 9}},
  {"rank": 1, "host": "10.0.0.1", "pid": 2, "collective_counts": {"AllReduce": 9}},
  {"rank": 2, "host": "10.0.0.2", "pid": 1, "collective_counts": {"AllReduce": 9}},
  {"rank": 3, "host": "10.0.0.2", "pid": 2, "collective_counts": {"AllReduce": 8}}
]}]}'''

def answer(server):
    while True:
        client, _address = server.accept()
        with client, client.makefile("rb") as lines:
            while lines.readline() != b"VERBOSE STATUS\\n":
                pass
            client.sendall(RAS.encode())

def next_sample():
    while True:
        time.sleep(0.05)

def wait_for_others():
    dist.barrier()

dist.init_process_group("gloo")
start_debug_server(port=0)
if os.environ["LOCAL_RANK"] == "0":
    threading.Thread(target=answer, args=(socket.create_server(("localhost", 28028)),), daemon=True).start()
print("ready", flush=True)
if dist.get_rank() == 3:
    next_sample()
wait_for_others()
"""
EXEC = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get", "create"]}
DEBUG = {"apiGroups": [""], "resources": ["pods/ephemeralcontainers"], "verbs": ["patch"]}
SAID = "3 ranks wait in barrier (hang.py:32); rank 3 is in next_sample (hang.py:29)"
HANGING = ("next_sample", "wait_for_others")


def said(taken: TakenStacks, job: Job) -> str:
    root = ContentsRoot(None)
    sources = Sources(job, root, shares_files=False)
    members = [Member(replica, rank) for replica, answer in taken.stacks for rank in answer.ranks]
    return str(finding_of(groups_of(members, sources.shown), places=True))


def ranks_of(taken: TakenStacks) -> list[RawRank]:
    return [rank for _replica, answer in taken.stacks for rank in answer.ranks]


def collectives(taken: TakenStacks) -> list[Collective]:
    """Return what the debug servers and NCCL's RAS subsystem say about the job of four ranks."""
    found = [trace_of(dump, rank.rank) for rank in ranks_of(taken) for dump in rank.traces if rank.rank is not None]
    answers = [answer for _replica, answer in taken.stacks]
    return collectives_of(found, 4) + ras_collectives(answers, 4)


def hanging(taken: TakenStacks) -> int:
    """Return the number of ranks that have reached the place where they hang."""
    mains = [thread.frames for rank in ranks_of(taken) for thread in rank.threads if thread.main]
    return sum(any(frame.function in HANGING for frame in frames) for frames in mains)


async def terminal_of_a_rank(terminals: Terminals, job: Job) -> None:
    """Run a command with the variables, the working directory and the Python of a rank."""

    async def run(rank: int | None, command: str) -> list[str]:
        settings = ShellSettings(("unused",), ("sh", "-c", command), terminal=False)
        place = await terminals.place(job.id, rank, None, settings)
        assert place.rank == rank
        output = b""
        async with terminals.opened(job.id, place, settings) as shell:
            while (read := await shell.read()) is not None:
                output += read.data
            assert shell.exit_code == 0, output
        return output.decode().splitlines()

    listed = await terminals.listed(job.id, ShellSettings(("unused",)))
    while sum(place.rank is not None for place in listed.places) < 4:  # their logs are found one by one
        await asyncio.sleep(0.2)
        listed = await terminals.listed(job.id, ShellSettings(("unused",)))
    assert sorted(place.rank for place in listed.places if place.rank is not None) == [0, 1, 2, 3]
    see = 'echo "$RANK $LOCAL_RANK $WORLD_SIZE"; [ -n "$TORCHELASTIC_RUN_ID" ] && pwd; '
    see += "command -v python3 || command -v python"
    for rank in (1, 2):
        there = next(place.replica for place in listed.places if place.rank == rank)
        seen = await run(rank, f"hostname; {see}")
        assert seen[:2] == [f"{job.name}-{there}", f"{rank} {rank % 2} 4"] and len(seen) == 4
    # Without a rank it is the container's own environment.
    assert (await run(None, 'echo "$LOCAL_RANK"'))[0] == ""


async def test_stacks_are_taken_in_the_pods(kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    """The image has no py-spy, so it gets the server's; without the permission the sentence names the rule.

    PyTorch's debug servers and NCCL's RAS subsystem are asked inside the pods.
    """
    account = Account(kube, "stuck", tmp_path)
    await account.may(*rules(), EXEC)
    async with serving(kube, image, tmp_path, volume, kubeconfig=account.kubeconfig) as bench:
        spec = bench.training(bench.script(SERVED, "hang.py"), replicas=2, processes=2)
        job = await bench.submit("kubeflow", spec)
        engine = bench.engines["kubeflow"]
        await bench.until(job, lambda seen: seen.replicas_running == 2)

        async def all_hang() -> TakenStacks:
            while True:
                taken = await engine.take_stacks(job.uid, native=False)
                if hanging(taken) == 4 and len(collectives(taken)) == 2:
                    return taken

        assert (await engine.stacks_capability(job.uid)).supported
        taken = await all_hang()
        assert taken.missing == {}
        assert said(taken, job) == SAID
        assert [(each.source, str(each.finding)) for each in collectives(taken)] == [
            ("recorder", "3 ranks wait in barrier, number 1; rank 3 has not joined"),
            ("ras", "3 ranks have launched AllReduce, number 9; rank 3 has not joined"),
        ]
        await terminal_of_a_rank(Terminals(JobService(Engines(bench.engines))), job)

        await account.may(*rules())
        refused = await engine.take_stacks(job.uid, native=False)
        assert refused.stacks == []
        assert all("pods/exec" in sentence or "forbidden" in sentence for sentence in refused.missing.values())
        engine._exec._known.clear()
        capability = await engine.stacks_capability(job.uid)
        assert not capability.supported
        assert "get pods/exec" in (capability.reason or "")


async def test_debug_containers_take_the_stacks_where_there_is_no_py_spy(
    kube: Kube, volume: Volume, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes are another user's, so the debug container needs its capability; Pod Security refuses that."""
    run = stacks._Command.run

    async def only_there(command: stacks._Command, target: Target) -> RawStacks | Text:
        """Send the server's py-spy to debug containers only, as if the job's container could not run it."""
        command = copy(command)
        command._program = command._program if target.container.startswith(PREFIX) else None
        return await run(command, target)

    monkeypatch.setattr(stacks._Command, "run", only_there)
    monkeypatch.setattr(stacks, "COMMAND_SECONDS", PATIENCE)  # A loaded machine sends py-spy slowly.
    account = Account(kube, "debugger", tmp_path)
    await account.may(*rules(), EXEC)
    async with serving(kube, image, tmp_path, volume, kubeconfig=account.kubeconfig, debug_image=image) as bench:
        spec = bench.training(bench.script(SCRIPT, "hang.py"), replicas=1, processes=2, security=Security(uid=1000))
        job = await bench.submit("kubeflow", spec)
        engine = bench.engines["kubeflow"]
        await bench.until(job, lambda seen: seen.replicas_running == 1)

        async def take() -> TakenStacks:
            return await engine.take_stacks(job.uid, native=False)

        async def enforce(standard: str | None) -> None:
            labels = {"pod-security.kubernetes.io/enforce": standard}
            await asyncio.to_thread(kube.patch, "namespaces", kube.namespace, {"metadata": {"labels": labels}})

        while len(ranks_of(taken := await take())) < 2:
            pass
        assert [str(note) for note in taken.notes.values()] == [
            f"You don't have permission to add a debug container to pods of namespace {kube.namespace}"
            " (patch pods/ephemeralcontainers)."
        ]
        assert {rank.problem for rank in ranks_of(taken)} == {"NoProgram"}

        await account.may(*rules(), EXEC, DEBUG)
        api = bench.cluster.api
        assert api is not None
        (pod,) = await asyncio.to_thread(kube.list, "pods", f"training.kubeflow.org/job-name={job.name}")
        target = Target(kube.namespace, pod["metadata"]["name"], pod["spec"]["containers"][0]["name"])
        await enforce("baseline")
        with pytest.raises(NoDebugContainer, match="violates PodSecurity"):
            await debug_container(api, target, image, must_trace=True)
        await enforce(None)

        while hanging(taken := await take()) < 2:
            pass
        assert (taken.missing, taken.notes) == ({}, {})
        assert said(taken, job) == "2 ranks are in wait_for_others (hang.py:9)"
        ((_replica, answer),) = taken.stacks
        assert answer.capable
