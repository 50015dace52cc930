"""Queues of Kueue and of T9k's scheduler: what there is, and jobs that wait in them.

The CRDs are theirs in name only, and what their controllers would write is written here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.core.errors import Conflict
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Scheduling
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import WAIT, Bench, serving
from tests.kubernetes.harness import ROOT, Kube
from tests.kubernetes.queueing import SYSTEM, Kueue, installed, put
from tests.unit.kubernetes.queues import cluster_queue, condition, local_queue, pending, t9k_queue

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.alone,
    pytest.mark.asyncio,
    pytest.mark.usefixtures("controller", "kubeflow"),
]

WAITS = "trap 'exit 143' TERM; sleep 1000 & wait"
LACK = (
    "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor a100,"
    " 6 more needed"
)
ADMITTED = (condition("QuotaReserved", True, "QuotaReserved"), condition("Admitted", True, "Admitted"))
JOBS = {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["*"]}
PODS = {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list", "watch"]}


@pytest.fixture(scope="module", autouse=True)
def queueing(kube: Kube, controller: object) -> Iterator[None]:
    with installed(kube):
        put(kube, "clusterqueues", cluster_queue("gpus"))
        put(kube, "localqueues", local_queue("team-a", waiting=3))
        put(kube, "queues", t9k_queue("short", quota={"requests": {"cpu": "40"}}, maxDuration="2h"), SYSTEM)
        put(kube, "queues", t9k_queue("over", closed=True), SYSTEM)
        yield
        kube.ask("DELETE", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/gpus")


async def queued(bench: Bench, kueue_sees: Any = None, **more: Any) -> tuple[Job, Kueue]:
    """Submit a job into a queue, as Kueue's webhook lets it in: suspended."""
    spec = bench.spec(WAITS, scheduling=Scheduling(queue="team-a"), paused=True)
    job = await bench.submit("kubeflow", spec)
    kueue = Kueue(bench.kube, job.name)
    await asyncio.to_thread(kueue.notices, *(kueue_sees or [pending(LACK)]), **more)
    return job, kueue


async def until_ended(bench: Bench, job: Job, words: str) -> None:
    """Wait until this is said of the end of its only attempt: its pod's news may come after the job's."""
    end = time.monotonic() + WAIT
    while True:
        (attempt,) = (await bench.engines[job.engine].replicas(job.uid))[0].attempts
        if attempt.ended == words:
            return
        assert time.monotonic() < end, attempt
        await asyncio.sleep(0.1)


async def test_what_queues_there_are(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        (queue,) = (await bench.engines["kubeflow"].queues(kube.namespace)).queues
        assert (queue.name, queue.open, queue.waiting) == ("team-a", True, 3)
        assert {line.resource: (line.used, line.hard) for line in queue.quota} == {
            "nvidia.com/gpu": (6, 8),
            "cpu": (2.5, 40),
        }
        short, over = (await bench.engines["t9k"].queues(kube.namespace)).queues
        assert (short.name, short.open, short.max_duration) == ("short", True, 7200)
        assert (over.name, over.open) == ("over", False)


async def test_a_form_is_told_what_is_wrong_with_its_queue(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        for engine, queue, code in (
            ("kubeflow", "team-b", "NoSuchQueue"),
            ("kubeflow", "team-a", None),
            ("t9k", "over", "QueueClosed"),
            ("t9k", "short", None),
        ):
            spec = bench.spec("true", scheduling=Scheduling(queue=queue))
            checks = (await bench.engines[engine].preview(spec, kube.namespace)).checks
            codes = [check.code for check in checks if check.field == "/spec/scheduling/queue"]
            assert codes == ([code] if code else []), checks


async def test_a_job_that_kueue_holds_waits_and_is_not_paused(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job, kueue = await queued(bench)
        waiting = await bench.until(job, lambda seen: seen.reason and "quota" in seen.reason.sentence)
        assert (waiting.phase, waiting.pending_action, waiting.reason.code) == ("Pending", None, "InQueue")
        assert (waiting.queue, waiting.spec.scheduling.queue) == ("team-a", "team-a")
        assert waiting.reason.sentence.startswith("Waits in queue team-a: needs 8 GPUs; free in its quota: 2")
        assert waiting.reason.verbatim == LACK
        assert {"pause", "stop", "delete"} <= set(waiting.actions) and "resume" not in waiting.actions
        with pytest.raises(Conflict):
            await bench.engines["kubeflow"].act(job.uid, "resume")
        await asyncio.to_thread(kueue.says, *ADMITTED)
        await asyncio.to_thread(kueue.suspends, False)
        await bench.until_phase(job, "Running")
        preempted = condition("Evicted", True, "Preempted", "Preempted to accommodate a workload (UID: u, JobUID: j)")
        await asyncio.to_thread(kueue.says, pending(LACK), preempted)
        await asyncio.to_thread(kueue.suspends, True)
        again = await bench.until(job, lambda seen: seen.phase == "Pending" and not seen.replicas_running)
        assert again.pending_action is None
        assert again.reason is not None and again.reason.hint is not None
        assert again.reason.hint.startswith("It had to make room for another job.")
        await until_ended(bench, job, "Taken out by its queue")


async def test_a_pause_takes_the_job_out_of_its_queue(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        engine = bench.engines["kubeflow"]
        job, kueue = await queued(bench, ADMITTED)
        await asyncio.to_thread(kueue.suspends, False)
        await bench.until_phase(job, "Running")
        asked = await engine.act(job.uid, "pause")
        assert asked.pending_action == "pausing"
        assert not await asyncio.to_thread(lambda: kueue.active), "Kueue would start it again"
        assert not await asyncio.to_thread(lambda: kueue.suspended), "Kueue does that, when it has taken it out"
        await asyncio.to_thread(kueue.says, condition("Evicted", True, "Deactivated", "The workload is deactivated"))
        await asyncio.to_thread(kueue.suspends, True)
        paused = await bench.until_phase(job, "Paused")
        assert paused.reason is not None and paused.reason.sentence == "Paused by you"
        back = await engine.act(job.uid, "resume")
        assert (back.phase, back.pending_action) == ("Pending", None)
        assert await asyncio.to_thread(lambda: kueue.active)
        assert await asyncio.to_thread(lambda: kueue.suspended), "Kueue would suspend it again"
        await engine.act(job.uid, "stop")
        stopped = await bench.until_phase(job, "Failed")
        assert (stopped.reason and stopped.reason.code, stopped.ended_by) == ("Stopped", "user")
        assert not await asyncio.to_thread(lambda: kueue.active)


async def test_what_kueue_does_not_look_after_is_paused_as_usual(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit("kubeflow", bench.spec(WAITS, scheduling=Scheduling(queue="team-a")))
        running = await bench.until_phase(job, "Running")
        assert "pause" in running.actions
        await bench.engines["kubeflow"].act(job.uid, "pause")
        paused = await bench.until_phase(job, "Paused")
        assert paused.reason is not None and paused.reason.sentence == "Paused by you"
        await bench.engines["kubeflow"].act(job.uid, "resume")
        await bench.until_phase(job, "Running")


async def test_who_is_ahead_in_the_queue(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        important, _kueue = await queued(bench, spec={"priority": 10, "queueName": "crowd"})
        first, _kueue = await queued(bench, spec={"priority": 5, "queueName": "crowd"})
        last, _kueue = await queued(bench, spec={"queueName": "crowd"})
        for job, ahead in ((last, "; 2 jobs are ahead of it"), (first, "; 1 job is ahead of it"), (important, "")):
            seen = await bench.until(job, lambda seen: seen.reason and "quota" in seen.reason.sentence)
            assert seen.reason is not None
            assert seen.reason.sentence.partition("quota: 2")[2].partition(" · ")[0] == ahead


def rules(*without: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the rules of the documented Role, but for some (resource, verb)."""
    text = (ROOT / "examples" / "kubernetes" / "rbac-queues.yaml").read_text()
    role = next(part for part in yaml.safe_load_all(text) if part["kind"] == "Role")
    left = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if (rule["resources"][0], verb) not in without]}
        for rule in role["rules"]
    ]
    return [JOBS, PODS, *(rule for rule in left if rule["verbs"])]


async def test_with_less_rights_less_is_said_and_nothing_fights_kueue(kube: Kube, image: str, tmp_path: Path) -> None:
    account = await asyncio.to_thread(Account, kube, "queued", tmp_path)
    await account.may(*rules())
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig) as bench:
        engine = bench.engines["kubeflow"]
        job, kueue = await queued(bench)
        seen = await bench.until(job, lambda seen: seen.reason and "quota" in seen.reason.sentence)
        assert {"pause", "stop"} <= set(seen.actions) and not seen.refused
        (queue,) = (await engine.queues(kube.namespace)).queues
        assert (queue.open, queue.quota) == (True, []), "the rest is the whole cluster's"

        await account.may(*rules(("workloads", "patch"), ("localqueues", "list")))
        await bench.cluster.refresh()
        seen = await bench.until(job, lambda seen: "pause" in seen.refused)
        assert "patch workloads.kueue.x-k8s.io" in seen.refused["pause"] and "delete" in seen.actions
        assert seen.reason is not None and "quota" in seen.reason.sentence
        for action in ("pause", "stop"):
            with pytest.raises(Conflict):
                await engine.act(job.uid, action)
        assert await asyncio.to_thread(lambda: kueue.active)
        none = await engine.queues(kube.namespace)
        assert none.limited is not None and "list localqueues.kueue.x-k8s.io" in none.limited

        await account.may(*rules(("workloads", "list"), ("workloads", "watch")))
        await bench.cluster.refresh()
        blind = await bench.until(job, lambda seen: seen.reason and "quota" not in seen.reason.sentence)
        assert blind.reason is not None and blind.phase == "Pending"
        assert blind.reason.sentence == "Waits in queue team-a for Kueue to let it in"
        assert "list and watch workloads" in blind.refused["pause"]


async def test_a_job_of_t9k_says_what_its_scheduler_says(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        spec = bench.spec(WAITS, scheduling=Scheduling(queue="short", priority=10, scheduler="t9k-scheduler"))
        job = await bench.submit("t9k", spec)
        reference = {"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "PyTorchTrainingJob", "name": job.name}
        told = condition("GroupScheduled", False, "Unschedulable", "the quota of queue short is used up")
        group = {
            "metadata": {"name": job.name, "ownerReferences": [{**reference, "uid": job.uid, "controller": True}]},
            "spec": {"minMember": 1, "queue": "short", "priority": 10},
            "status": {"conditions": [condition("SufficientGroupMember", True, "SufficientMemberPods"), told]},
        }
        await asyncio.to_thread(put, kube, "podgroups", group)
        seen = await bench.until(job, lambda seen: seen.reason and seen.reason.code == "InQueue")
        assert seen.reason is not None and seen.reason.verbatim == "the quota of queue short is used up"
        assert seen.reason.sentence.startswith("Waits in queue short for T9k's scheduler to give it resources")
