"""Jobs whose training has ended: beside a container that lives on, and with their pods taken away."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine.terminals import ShellSettings
from jupyterlab_t9kjob.core.errors import NotFound
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.translation import translated
from tests.kubernetes.engines import KINDS, Bench, serving
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

RAISES = """exec python -c 'raise ValueError("no labels")'"""
ON = "; its pod continues because the container beside still runs"


def beside(manifest: dict[str, Any]) -> None:
    """Give the pods of a job a second container, which lives on."""
    spec = manifest["spec"]
    groups = spec["replicaSpecs"] if "replicaSpecs" in spec else spec["pytorchReplicaSpecs"].values()
    for group in groups:
        containers = group["template"]["spec"]["containers"]
        containers.insert(0, {"name": "beside", "image": containers[0]["image"], "command": ["sleep", "600"]})
        containers[1]["name"] = "python" if "replicaSpecs" in spec else "pytorch"


def said(bench: Bench, job: Job) -> list[str]:
    """Return all sentences that were said of a job."""
    return [one.reason.sentence for ident, one in bench.heard if ident == job.id and one is not None and one.reason]


async def first_process(bench: Bench, job: Job, container: str) -> bytes:
    """Return the command of the first process in a container of a job's only pod."""
    engine, program = bench.engines[job.engine], ("sh", "-c", "tr '\\0' ' ' < /proc/1/cmdline")
    (place,) = (await engine.terminals(job.uid)).places
    async with engine.open_terminal(
        job.uid, place, ShellSettings((), program, terminal=False, container=container)
    ) as shell:
        read = b""
        while (output := await shell.read()) is not None:
            read += output.data
    return read


@pytest.mark.parametrize("engine", KINDS)
async def test_beside_a_container_that_lives_on(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        fails = await bench.submit(engine, bench.spec(RAISES), edit=beside)
        succeeds = await bench.submit(engine, bench.spec("exit 0"), edit=beside)
        failed = await bench.until(fails, lambda seen: seen.phase == "Running" and seen.failure is not None)
        assert failed.failure is not None and failed.reason is not None and failed.reason.hint is not None
        assert failed.failure.error == "ValueError: no labels"
        assert "ValueError: no labels" in failed.reason.sentence
        assert failed.reason.sentence.endswith(ON)
        assert "Stop or delete it" in failed.reason.hint
        assert await first_process(bench, fails, "beside") == b"sleep 600 "
        with pytest.raises(NotFound) as unknown:
            await first_process(bench, fails, "nobody")
        assert "beside" in translated(unknown.value.hint or "")
        done = await bench.until(succeeds, lambda seen: seen.reason and seen.reason.code == "TrainingEnded")
        assert done.reason is not None
        assert done.reason.sentence == f"The training has ended without an error{ON}"
        for job in (fails, succeeds):
            await bench.until(job, lambda seen: seen.reason and seen.reason.sentence.endswith(ON))
            heard = said(bench, job)
            assert not [one for one in heard[next(i for i, each in enumerate(heard) if ON in each) :] if ON not in one]
            assert not [one for one in heard if "starts again" in one]
            await bench.engines[engine].act(job.uid, "stop")
        stopped = await bench.until_phase(fails, "Failed")
        assert stopped.reason is not None
        assert stopped.reason.code == "Stopped"


@pytest.mark.parametrize("engine", KINDS)
async def test_what_fails_for_good_never_starts_again(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit(engine, bench.spec("sleep 1; exit 3"))
        await bench.ended(job)
        assert not [one for one in said(bench, job) if "again" in one or "has ended" in one]


async def test_why_a_pod_went_stays_known(kube: Kube, image: str, tmp_path: Path) -> None:
    """With Kubeflow's policy Never, a job fails that loses its pod; then the pod is gone."""
    expected = {"Evicted": "The job was evicted from ", "PodDeleted": "The job ended because its pod was deleted"}
    jobs: dict[str, Job] = {}
    async with serving(kube, image, tmp_path) as bench:
        for code in expected:
            jobs[code] = await bench.submit("kubeflow", bench.spec("trap 'exit 1' TERM; sleep 600 & wait"))
        for code, job in jobs.items():
            await bench.until(job, lambda seen: seen.phase == "Running" and seen.replicas_running == 1)
            pod = f"{job.name}-master-0"
            if code == "Evicted":
                eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
                await asyncio.to_thread(kube.ask, "POST", f"{kube.path('pods')}/{pod}/eviction", eviction)
            else:
                await asyncio.to_thread(kube.delete, "pods", pod)
        for code, job in jobs.items():
            await asyncio.to_thread(kube.until, "pods", f"{job.name}-master-0", lambda found: found is None)
            ended = await bench.until(job, lambda seen: seen.phase == "Failed" and seen.replicas_running == 0)
            assert ended.reason is not None
            assert ended.reason.sentence.startswith(expected[code])
            assert not [one for one in said(bench, job) if "starts again" in one or "replica(s) failed" in one]
    async with serving(kube, image, tmp_path) as bench:
        for code, job in jobs.items():
            again = await bench.until(job, lambda seen: seen.reason is not None and "delete" in seen.actions)
            assert again.reason is not None
            assert (again.reason.code, again.ended_by) == (code, "platform")
            assert again.reason.sentence.startswith(expected[code])
            assert again.reason.hint is not None
            assert again.reason.hint.endswith("Run it again.")
