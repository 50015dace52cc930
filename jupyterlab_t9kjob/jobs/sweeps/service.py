"""Sweeps: creates their jobs and acts on all of them. `runner` starts the next jobs in a cluster."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from ...core.code.model import CodeSource
from ...core.engine.options import LeasesSweeps
from ...core.engine.protocol import Engine
from ...core.errors import Conflict, FieldError, JobError, NotFound
from ...core.evictions.model import Continuation
from ...core.evictions.protocol import ContinuesEvicted
from ...core.job import Job, JobSummary
from ...core.spec import JobSpec, Model
from ...core.sweep import SweepMember, member_of, with_member
from ...core.texts.job_names import numbered
from ...core.translation import Text, _
from ..admission import Admission, Admit
from ..bulk import AT_ONCE
from ..evicted import is_evicted
from ..metrics.reader import MetricReader, Metrics
from ..query import Query
from ..renaming import renamed
from ..service import JobService

log = logging.getLogger(__name__)

SweepAction = Literal["stop", "delete", "retry"]


class SweepProblem(Model):
    """A job of a sweep that could not be created or changed."""

    name: str
    message: Text
    code: str
    hint: Text | None = None


class SweepResult(Model):
    """Jobs that were created or changed, and those that were not."""

    id: str = Field(description="Id of the sweep.")
    jobs: list[JobSummary] = Field(description="The jobs that were created or changed.")
    problems: list[SweepProblem] = Field(default_factory=list, description="The jobs for which that failed.")


class MetricSummary(Model):
    """A metric that a job reported."""

    last: float
    least: float
    greatest: float
    at: int = Field(description="Step of the last value; or the number of values if they are from the log.")


class SweepResults(Model):
    """Metrics of the jobs of a sweep."""

    id: str = Field(description="Id of the sweep.")
    metrics: dict[str, dict[str, MetricSummary]] = Field(description="Metrics by name, by id of the job.")


def sweep_id(request_id: str) -> str:
    """Return the id of the sweep that a request creates; a repeated request gets the same one."""
    return hashlib.blake2b(request_id.encode(), digest_size=8).hexdigest()


class SweepService:
    """Creates sweeps and acts on them.

    Parameters
    ----------
    jobs
        All jobs.
    metrics
        Reads their metrics.
    """

    def __init__(self, jobs: JobService, metrics: MetricReader) -> None:
        self._jobs = jobs
        self._metrics = metrics

    async def members(self, ident: str) -> list[JobSummary]:
        """Return the jobs of a sweep, in the order of their numbers.

        Raises
        ------
        NotFound
            If no job belongs to the sweep.
        """
        found = [job for job in await self._jobs.jobs(Query()) if job.sweep is not None and job.sweep.id == ident]
        if not found:
            raise NotFound(_("There is no sweep with this id."), code="NoSuchSweep")
        return sorted(found, key=_order)

    async def results(self, ident: str) -> SweepResults:
        """Return the metrics of the jobs of a sweep, as far as this server can read them.

        Raises
        ------
        NotFound
            If no job belongs to the sweep.
        """
        started = [job for job in await self.members(ident) if job.started_at is not None]
        return SweepResults(id=ident, metrics={job.id: _summaries(await self._metrics.of(job)) for job in started})

    async def create(self, specs: Sequence[JobSpec], *, engine: str, namespace: str, admit: Admit) -> SweepResult:
        """Create the jobs of a sweep. All are checked before the first one is created.

        Parameters
        ----------
        specs
            The specs with their memberships, see `core.sweep.with_member`. Jobs that exist already are returned.
        engine, namespace
            Engine and namespace of the jobs.
        admit
            Check of a job and its preparation.

        Raises
        ------
        JobError
            If a job can't run or its name is taken; no job was created then.
        """
        chosen = self._jobs.engines.get(engine)
        members = [_member(spec) for spec in specs]
        if len(specs) > members[0].at_a_time:
            await demand_turns(chosen)
        prepared: dict[str, Admission] = {}
        # The code that the first job takes serves all jobs that want the same; those of a retry may name several.
        taken: dict[str, CodeSource | None] = {}
        try:
            for spec in specs:
                wanted = spec.source.model_dump_json() if spec.source is not None else ""
                known = await chosen.created_by(_request_of(spec))
                if known is not None:
                    taken.setdefault(wanted, known.spec.source)
                    continue
                alike = spec.model_copy(update={"source": taken.get(wanted) or spec.source})
                prepared[spec.name] = await self._admitted(alike, engine, namespace, admit)
                taken.setdefault(wanted, prepared[spec.name].spec.source)
            return await self._create(specs, members, chosen, namespace, prepared, admit)
        finally:
            for admission in prepared.values():  # The jobs that were not created.
                await admission.finish(None)

    async def _create(
        self,
        specs: Sequence[JobSpec],
        members: Sequence[SweepMember],
        chosen: Engine,
        namespace: str,
        prepared: dict[str, Admission],
        admit: Admit,
    ) -> SweepResult:
        """Create admitted jobs, and remove them from `prepared`."""

        async def admitted(spec: JobSpec, engine: str, namespace: str) -> Admission:
            admission = prepared.pop(spec.name, None) or await admit(spec, engine, namespace)
            return replace(admission, spec=spec.model_copy(update={"source": admission.spec.source}))

        result = SweepResult(id=members[0].id, jobs=[])
        for place, (spec, member) in enumerate(zip(specs, members, strict=True)):
            paused = not chosen.facts.queues_sweeps and place >= member.at_a_time
            try:
                job = await self._jobs.create(
                    spec.model_copy(update={"paused": paused}),
                    engine=chosen.name,
                    namespace=namespace,
                    request_id=_request_of(spec),
                    admit=admitted,
                )
            except JobError as problem:
                if not result.jobs:
                    raise
                result.problems += [_problem(each.name, problem) for each in specs[place:]]
                break
            result.jobs.append(job.summary())
        return result

    async def _admitted(self, spec: JobSpec, engine: str, namespace: str, admit: Admit) -> Admission:
        """Check one job with its engine; return its preparation, or raise the first error."""
        admission = await admit(spec, engine, namespace)
        try:
            preview = await self._jobs.engines.preview(admission.spec, engine, namespace)
            for check in preview.checks:
                if check.level == "error":
                    kind = Conflict if check.code == "NameTaken" else FieldError
                    raise kind(check.message, field=check.field, hint=check.hint, code=check.code)
        except BaseException:
            await admission.finish(None)
            raise
        return admission

    async def stop(self, ident: str) -> SweepResult:
        """Stop all jobs of a sweep, those that have not started first, so that none of them starts."""
        members = await self.members(ident)
        result = SweepResult(id=ident, jobs=[])
        await self._end_continuations(members, result)
        members = [job for job in members if "stop" in job.actions]
        for started in (False, True):
            chosen = [job for job in members if (job.started_at is not None) == started]
            await self._each(chosen, "stop", result)
        return result

    async def _end_continuations(self, members: Sequence[JobSummary], result: SweepResult) -> None:
        """Note on evicted jobs that no job continues them, and add what fails to `result`."""
        for job in members:
            engine = self._jobs.engines.get(job.engine)
            if isinstance(engine, ContinuesEvicted) and is_evicted(job, time.time()):
                try:
                    if (await self._jobs.job(job.id)).spec.run_policy.resume_evicted:
                        await engine.note_continuation(job.uid, Continuation(problem=_("Its sweep was stopped.")))
                except JobError as error:
                    result.problems.append(_problem(job.name, error))

    async def delete(self, ident: str, *, remove: bool) -> SweepResult:
        """End and delete all jobs of a sweep.

        Parameters
        ----------
        ident
            Id of the sweep.
        remove
            True to remove also the records and logs.
        """
        members = await self.members(ident)
        result = SweepResult(id=ident, jobs=[])
        for started in (False, True):
            chosen = [job for job in members if (job.started_at is not None) == started]
            await self._each(chosen, "remove" if remove else "delete", result)
        return result

    async def retry(self, ident: str, *, admit: Admit) -> SweepResult:
        """Create new jobs for those that failed in the newest round of a sweep, with the same values.

        Parameters
        ----------
        ident
            Id of the sweep.
        admit
            Check of a job and its preparation.

        Raises
        ------
        Conflict
            If no job has failed.
        """
        members = await self.members(ident)
        newest: dict[int, JobSummary] = {job.sweep.number: job for job in members if job.sweep is not None}
        failed = [job for job in newest.values() if job.phase == "Failed" and not _was_worse(job)]
        if not failed:
            raise Conflict(_("No job of the sweep has failed."), code="NothingFailed")
        round_number = 1 + max(job.sweep.round for job in members if job.sweep is not None)
        taken = {job.name for job in await self._jobs.jobs(Query())}
        specs = []
        for summary in failed:
            old = (await self._jobs.job(summary.id)).spec
            name = numbered(summary.name, taken)
            taken.add(name)
            assert summary.sweep is not None  # noqa: S101 (`members`)
            member = summary.sweep.model_copy(update={"round": round_number})
            specs.append(with_member(renamed(old, name), member))
        return await self.create(specs, engine=failed[0].engine, namespace=failed[0].namespace, admit=admit)

    async def _each(
        self, jobs: Sequence[JobSummary], action: Literal["stop", "delete", "remove"], result: SweepResult
    ) -> None:
        """Act on jobs, a few at a time, and add the outcome of each to `result`."""
        places = asyncio.Semaphore(AT_ONCE)

        async def one(job: JobSummary) -> Job:
            async with places:
                if action == "stop":
                    return await self._jobs.act(job.id, "stop")
                return await self._jobs.delete(job.id, remove=action == "remove")

        answers = await asyncio.gather(*map(one, jobs), return_exceptions=True)
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, Job):
                result.jobs.append(answer.summary())
            elif isinstance(answer, JobError):
                result.problems.append(_problem(job.name, answer))
            elif isinstance(answer, Exception):
                log.error("The job %s of a sweep could not be changed", job.id, exc_info=answer)
                message = _("The server extension failed; the reason is in the server's log.")
                result.problems.append(SweepProblem(name=job.name, message=message, code="Unexpected"))
            else:
                raise answer


def _summaries(metrics: Metrics) -> dict[str, MetricSummary]:
    found = {}
    for name, points in metrics.series.items():
        values = [value for value in points.values() if math.isfinite(value)]
        if values:
            last = max(step for step, value in points.items() if math.isfinite(value))
            found[name] = MetricSummary(last=points[last], least=min(values), greatest=max(values), at=last)
    return found


async def demand_turns(engine: Engine) -> None:
    """Raise `FieldError` if jobs of a sweep can't wait for their turn on an engine."""
    if engine.facts.queues_sweeps:
        return
    pause = (await engine.info()).capabilities.get("pause")
    if pause is not None and not pause.supported:
        message = _("Jobs on {engine} can't wait for others, since they can't be paused.", engine=engine.label)
    elif not isinstance(engine, LeasesSweeps):
        message = _("Jobs on {engine} can't wait for others, since no program would start them.", engine=engine.label)
    else:
        return
    raise FieldError(message, field="/sweep/at_a_time", code="NoQueue", hint=_("Start all jobs at once."))


def _request_of(spec: JobSpec) -> str:
    """Return the request id of a job of a sweep; a repeated request finds the job by it."""
    member = _member(spec)
    return f"sweep-{member.queue}-{member.number}"


def _order(job: JobSummary) -> tuple[int, int, float]:
    """Return the key by which the jobs of a sweep are sorted. A job that continues an evicted one follows it."""
    return (*((job.sweep.round, job.sweep.number) if job.sweep is not None else (0, 0)), job.created_at)


def _was_worse(job: JobSummary) -> bool:
    """Return True if the sweep's rule stopped a job."""
    return job.reason is not None and job.reason.code == "SweepPruned"


def _member(spec: JobSpec) -> SweepMember:
    member = member_of(spec.annotations)
    assert member is not None  # noqa: S101 (the callers set it)
    return member


def _problem(name: str, error: JobError) -> SweepProblem:
    return SweepProblem(name=name, message=error.message, code=error.code, hint=error.hint)
