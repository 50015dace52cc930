"""Sweeps in a cluster: waiting jobs are paused, and the lab that has the sweep's lease resumes the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.core.sweep import SweepMember, Verdict, with_member
from jupyterlab_t9kjob.jobs.admission import Admission
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.metrics.reader import MetricReader
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.jobs.sweeps import runner as sweep_runner
from jupyterlab_t9kjob.jobs.sweeps.runner import SweepRunner
from jupyterlab_t9kjob.jobs.sweeps.service import SweepService
from tests.kubernetes.engines import Bench, serving
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]


async def admit(spec: JobSpec, *_: object) -> Admission:
    return Admission(spec)


async def waiting(bench: Bench, job: Job) -> Job:
    return await bench.until(job, lambda seen: bool(seen.reason and seen.reason.code == "WaitingForSweep"))


async def test_one_lab_starts_the_next_job_and_another_one_takes_over(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_runner, "LEASE_SECONDS", 12.0)
    monkeypatch.setattr(sweep_runner, "POLL_SECONDS", 1.0)
    async with serving(kube, image, tmp_path / "a") as bench, serving(kube, image, tmp_path / "b") as other:
        first, second = JobService(Engines(bench.engines)), JobService(Engines(other.engines))
        base = bench.spec("true", name="sweep")
        specs = [
            with_member(
                base.model_copy(
                    update={"name": f"sweep-{number}", "args": ["-c", "exit 0" if number > 1 else "exit 3"]}
                ),
                SweepMember(id="sweep1", name="sweep", number=number, at_a_time=1),
            )
            for number in (1, 2, 3, 4)
        ]
        service = SweepService(first, MetricReader(first.engines))
        result = await service.create(specs, engine="kubeflow", namespace=kube.namespace, admit=admit)
        assert not result.problems
        jobs = [await first.job(job.id) for job in result.jobs]
        assert [job.sweep.number for job in jobs if job.sweep is not None] == [1, 2, 3, 4]
        assert (await bench.ended(jobs[0])).phase == "Failed"
        await waiting(bench, jobs[2])
        # The rule's stop keeps its reason.
        await bench.engines["kubeflow"].end_for_sweep(
            jobs[3].uid, Verdict(metric="loss", value="2", median="1", step=3)
        )
        worse = await bench.ended(jobs[3])
        assert worse.reason is not None and (worse.reason.code, worse.ended_by) == ("SweepPruned", "platform")
        assert worse.reason.sentence == "Stopped by the sweep: best loss 2 up to step 3, median of the others 1"
        # Both labs see the sweep. The first one takes the lease and ends, and the second one goes on.
        lease = bench.engines["kubeflow"].lease_sweep
        assert await lease(jobs[1].uid, "first", 12.0)
        assert not await other.engines["kubeflow"].lease_sweep(jobs[1].uid, "second", 12.0)
        assert await lease(jobs[1].uid, "first", 12.0)
        runner = SweepRunner(second)
        await runner.start()
        try:
            done = await asyncio.gather(bench.ended(jobs[1]), bench.ended(jobs[2]))
        finally:
            await runner.stop()
        assert [job.phase for job in done] == ["Succeeded", "Succeeded"]
        ended, started = done[0].ended_at, done[1].started_at
        assert ended is not None and started is not None and started >= int(ended)
