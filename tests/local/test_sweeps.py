"""Sweeps on this machine: the jobs wait for their turn by themselves, without a server."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from jupyterlab_t9kjob.core.checks import Preview
from jupyterlab_t9kjob.core.code.model import CodeSnapshot, TakenSnapshot
from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.core.sweep import MedianRule, OnFailure, SweepMember, with_member
from jupyterlab_t9kjob.engines.local.supervisor.sweep_turn import SweepTurn
from jupyterlab_t9kjob.jobs.admission import Admission, Admit
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.metrics.reader import MetricReader
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.jobs.sweeps import median_rule as sweep_rule
from jupyterlab_t9kjob.jobs.sweeps.median_rule import SweepRules
from jupyterlab_t9kjob.jobs.sweeps.service import SweepService
from tests.local.harness import Bench, kill, make_engine

pytestmark = pytest.mark.asyncio

WAITS = (
    "open('begun-' + sys.argv[1], 'w').write('x')\nwhile not os.path.exists('go-' + sys.argv[1]): time.sleep(0.02)\n"
)
FAILS_AT_1 = WAITS + "sys.exit(int(sys.argv[1] == '1'))\n"


async def admit(spec: JobSpec, *_: str) -> Admission:
    return Admission(spec)


class Sweeper:
    """A sweep of three jobs in a bench, each of which runs until its file ``go-N`` exists."""

    def __init__(self, bench: Bench, text: str = WAITS) -> None:
        self.bench = bench
        self.id = uuid4().hex[:12]
        self.base = bench.spec("import os, sys, time\n" + text)
        self.folder = Path(self.base.entrypoint.value).parent
        jobs = JobService(Engines({"local": bench.engine}))
        self.service = SweepService(jobs, MetricReader(jobs.engines))
        self.rules = SweepRules(jobs, MetricReader(jobs.engines))

    async def create(
        self,
        *,
        at_a_time: int = 1,
        on_failure: OnFailure = "continue",
        rule: MedianRule | None = None,
        admit: Admit = admit,
    ) -> list[str]:
        shared = {"id": self.id, "name": self.base.name, "at_a_time": at_a_time, "on_failure": on_failure, "rule": rule}
        specs = [
            with_member(
                self.base.model_copy(update={"name": f"{self.base.name}-{number}", "args": [str(number)]}),
                SweepMember.model_validate({**shared, "number": number}),
            )
            for number in (1, 2, 3)
        ]
        result = await self.service.create(specs, engine="local", namespace="", admit=admit)
        assert not result.problems
        self.bench.uids += [job.uid for job in result.jobs]
        return [job.uid for job in result.jobs]

    def go(self, *numbers: int) -> None:
        for number in numbers:
            (self.folder / f"go-{number}").touch()

    async def waiting(self, uid: str) -> Job:
        return await self.bench.until(uid, lambda job: bool(job.reason and job.reason.code == "WaitingForSweep"))


async def test_jobs_start_in_order_while_no_server_runs(bench: Bench) -> None:
    sweep = Sweeper(bench)
    first, second, third = await sweep.create()
    assert (await bench.running(first)).sweep is not None
    for uid in (second, third):
        job = await sweep.waiting(uid)
        assert job.reason is not None and job.reason.sentence == "Waits for its sweep: 1 job at a time"
    await bench.engine.stop()
    sweep.go(1)
    await bench.written(sweep.folder / "begun-2")
    assert not (sweep.folder / "begun-3").exists()
    sweep.go(2, 3)
    await bench.written(sweep.folder / "begun-3")
    again = make_engine(bench.home, bench.root)
    bench.engine = again
    again.listen(lambda *_: bench._news.set())
    await again.start()
    assert [(await bench.ended(uid)).phase for uid in (first, second, third)] == ["Succeeded"] * 3


async def test_a_job_whose_supervisor_starts_slowly_keeps_its_place() -> None:
    queue = uuid4().hex
    turns = [
        SweepTurn(
            {
                "name": f"job-{number}",
                "uid": uuid4().hex,
                "sweep": {"queue": queue, "number": number, "at_a_time": 2, "on_failure": "continue"},
            }  # type: ignore[typeddict-item]
        )
        for number in (1, 2, 3)
    ]
    for turn in turns:
        turn.enter()
    assert turns[2].obtain() == {"at_a_time": 2, "ahead": 2}
    assert turns[0].obtain() is None
    assert turns[2].obtain() == {"at_a_time": 2, "ahead": 1}
    assert turns[1].obtain() is None
    turns[0].release()
    assert turns[2].obtain() is None


async def test_a_pause_gives_the_turn_to_the_next_job_and_a_stop_of_the_sweep_ends_all(bench: Bench) -> None:
    sweep = Sweeper(bench)
    first, second, third = await sweep.create()
    await bench.running(first)
    await sweep.waiting(third)
    await bench.engine.act(first, "pause")
    await bench.running(second)
    await bench.engine.act(first, "resume")
    await sweep.waiting(first)
    result = await sweep.service.stop(sweep.id)
    assert len(result.jobs) == 3 and not result.problems
    assert {(await bench.ended(uid)).reason.code for uid in (first, second, third)} == {"Stopped"}  # type: ignore[union-attr]
    assert not (sweep.folder / "begun-3").exists()


@pytest.mark.parametrize(
    ("on_failure", "phases"),
    [
        ("continue", ["Failed", "Succeeded", "Succeeded"]),
        ("start_no_more", ["Failed", "Succeeded", "Failed"]),
        ("stop_others", ["Failed", "Failed", "Failed"]),
    ],
)
async def test_a_failure_and_a_retry(bench: Bench, on_failure: OnFailure, phases: list[str]) -> None:
    sweep = Sweeper(bench, FAILS_AT_1)
    uids = await sweep.create(at_a_time=2, on_failure=on_failure)
    await bench.running(uids[0])
    await bench.running(uids[1])
    await sweep.waiting(uids[2])
    sweep.go(1)
    assert (await bench.ended(uids[0])).ended_by == "itself"
    if on_failure == "start_no_more":
        await bench.ended(uids[2])
    if on_failure != "stop_others":
        sweep.go(2, 3)
    jobs = [await bench.ended(uid) for uid in uids]
    assert [job.phase for job in jobs] == phases
    stopped = [job.reason.sentence for job in jobs if job.reason is not None and job.reason.code == "SweepStopped"]
    assert len(stopped) == {"continue": 0, "start_no_more": 1, "stop_others": 2}[on_failure]
    assert all(sentence == f"Stopped because {jobs[0].name} of its sweep failed" for sentence in stopped)
    if on_failure == "start_no_more":
        sweep.go(2, 3)
        result = await sweep.service.retry(sweep.id, admit=admit)
        bench.uids += [job.uid for job in result.jobs]
        assert [(job.name, job.sweep.round) for job in result.jobs if job.sweep is not None] == [
            (f"{sweep.base.name}-4", 1),
            (f"{sweep.base.name}-5", 1),
        ]
        again, other = [await bench.ended(job.uid) for job in result.jobs]
        assert again.phase == "Failed"
        # the first one may fail before the other one begins
        assert other.phase == "Succeeded" or (other.reason is not None and other.reason.code == "SweepStopped")


@pytest.mark.parametrize("on_failure", ["start_no_more", "stop_others"])
async def test_a_killed_supervisor_is_a_failure(bench: Bench, on_failure: OnFailure) -> None:
    sweep = Sweeper(bench)
    uids = await sweep.create(at_a_time=2, on_failure=on_failure)
    for uid in uids[:2]:
        await bench.running(uid)
    await sweep.waiting(uids[2])
    record = bench.home / "jobs" / uids[0] / "record.json"
    kill(json.loads(record.read_bytes())["supervisor"]["pid"])
    assert (await bench.ended(uids[2])).reason.code == "SweepStopped"  # type: ignore[union-attr]
    assert not (sweep.folder / "begun-3").exists()
    if on_failure == "start_no_more":
        sweep.go(2)
    phase = "Failed" if on_failure == "stop_others" else "Succeeded"
    assert [(await bench.ended(uid)).phase for uid in uids[:2]] == ["Failed", phase]


async def test_a_job_that_is_worse_than_the_others_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_rule, "POLL_SECONDS", 0.1)
    loss = "for epoch in range(1, 5): print(f'Epoch {epoch}/4 val_loss={sys.argv[1]}.5', flush=True)\n"
    sweep = Sweeper(bench, loss + WAITS)
    await sweep.rules.start()
    try:
        uids = await sweep.create(at_a_time=3, rule=MedianRule(metric="val_loss", after=4, least_jobs=2))
        worst = await bench.ended(uids[2])
    finally:
        await sweep.rules.stop()
    sentence = "Stopped by the sweep: best val_loss 3.5 in 4 reports, median of the others 2"
    assert worst.reason is not None and worst.reason.sentence == sentence and worst.ended_by == "platform"
    results = await sweep.service.results(sweep.id)
    assert [metrics["val_loss"].last for metrics in results.metrics.values()] == [1.5, 2.5, 3.5]
    sweep.go(1, 2)
    assert [(await bench.ended(uid)).phase for uid in uids[:2]] == ["Succeeded"] * 2
    with pytest.raises(Conflict):  # The rule's stop is no failure to retry.
        await sweep.service.retry(sweep.id, admit=admit)


async def test_a_repeated_request_returns_the_same_jobs_and_a_wrong_job_creates_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweeper(bench)
    sweep.go(1, 2, 3)
    uids = await sweep.create(at_a_time=3)
    assert await sweep.create(at_a_time=3) == uids
    wrong = Sweeper(bench)
    wrong.base = wrong.base.model_copy(update={"entrypoint": Entrypoint(value=str(wrong.folder / "none.py"))})
    with pytest.raises(Exception, match=r"none\.py"):
        await wrong.create()
    snapshots: list[TakenSnapshot | None] = []

    async def taking(spec: JobSpec, *_: str) -> Admission:
        assert isinstance(spec.source, CodeSnapshot)
        snapshots.append(spec.source.taken)
        if len(snapshots) == 3:
            raise FieldError("enough")
        taken = TakenSnapshot(digest="0" * 40, path="/copy", files=1, size=1)
        source = spec.source.model_copy(update={"taken": spec.source.taken or taken})
        return Admission(spec.model_copy(update={"source": source}))

    wrong.base = wrong.bench.spec("pass").model_copy(update={"source": CodeSnapshot(folder=str(wrong.folder))})
    with pytest.raises(FieldError):
        await wrong.create(admit=taking)
    # The snapshot of the first job serves all.
    assert snapshots[0] is None and snapshots[1] is not None and snapshots[1] is snapshots[2]
    # In a retry, each job names its own; and a job whose preview fails leaves no snapshot behind.
    finished: list[Job | None] = []

    async def admitted(spec: JobSpec, *_: str) -> Admission:
        async def finish(job: Job | None) -> None:
            finished.append(job)

        assert isinstance(spec.source, CodeSnapshot)
        snapshots.append(spec.source.taken)
        return Admission(spec, finish=finish)

    async def broken(*_: object, **__: object) -> Preview:
        if len(snapshots) == 5:
            raise FieldError("broken")
        return Preview(command="", summary="", checks=[])

    member = SweepMember.model_validate({"id": wrong.id, "name": "a", "at_a_time": 2, "number": 1})
    specs = []
    for number in (1, 2):
        taken = TakenSnapshot(digest=f"{number}" * 40, path=f"/copy{number}", files=1, size=1)
        source = CodeSnapshot(folder=str(wrong.folder), taken=taken)
        spec = wrong.base.model_copy(update={"name": f"old-{number}", "source": source})
        specs.append(with_member(spec, member.model_copy(update={"number": number})))
    monkeypatch.setattr(bench.engine, "preview", broken)
    with pytest.raises(FieldError, match="broken"):
        await wrong.service.create(specs, engine="local", namespace="", admit=admitted)
    assert [taken and taken.path for taken in snapshots[3:]] == ["/copy1", "/copy2"] and finished == [None, None]
    assert wrong.id not in {job.sweep.id for job in await bench.engine.jobs() if job.sweep is not None}
