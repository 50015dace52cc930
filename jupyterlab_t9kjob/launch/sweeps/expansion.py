"""Expands a sweep: the specs, names and values of its jobs, and checks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial

from ...contents_paths import ContentsRoot
from ...core.checks import Check
from ...core.errors import FieldError, JobError
from ...core.spec import JobSpec
from ...core.sweep import SweepMember, with_member
from ...core.system.disk_threads import on_disk
from ...core.translation import Text, _, _n, listing
from ...jobs.query import Query
from ...jobs.renaming import renamed
from ...jobs.service import JobService
from ...jobs.sweeps.service import demand_turns
from ..entrypoint_reader import Reader
from ..model import ScriptOption
from .combinations import Row, drawn, grid, number_of_combinations
from .earlier import earlier_hints
from .fields import field_of, option_named, set_fields
from .hints import hints
from .model import ExpandSweep, Sweep, SweepJob, SweepPreview
from .row_file import FIELD as ROWS_FIELD
from .row_file import read_rows
from .values import Values, parse_values

MOST_NAMES_SHOWN = 3
LONGEST_NAME = 40


class Sweeps:
    """Expands sweeps of the launch form.

    Parameters
    ----------
    root
        The contents root, in which files of rows must lie.
    jobs
        All jobs, whose names are taken.
    limit
        Greatest number of jobs in a sweep.
    """

    def __init__(self, root: ContentsRoot, jobs: JobService, limit: int) -> None:
        self._reader = Reader(root)
        self._jobs = jobs
        self._limit = limit

    async def preview(self, request: ExpandSweep) -> SweepPreview:
        """Return the jobs of a sweep with their checks. An error of the sweep is a check."""
        try:
            options = await self._options(request)
            fields, rows, total = await self._rows(request, options)
            jobs = await asyncio.to_thread(jobs_of, request.spec, request.sweep, rows, options)
        except JobError as problem:
            return self._failed(problem)
        checks = await self._checks(request, jobs, options)
        chosen = [job for job in jobs if not job.left_out]
        if chosen:
            checks += await earlier_hints(self._jobs, request, chosen, options)
        summary = _summary(len(chosen), request.sweep.at_a_time)
        return SweepPreview(fields=fields, jobs=jobs, total=total, limit=self._limit, summary=summary, checks=checks)

    async def specs(self, request: ExpandSweep, sweep_id: str) -> list[JobSpec]:
        """Return the specs of the jobs that a sweep creates, each with its membership.

        Parameters
        ----------
        request
            The sweep.
        sweep_id
            Id of the sweep. Names of jobs that belong to this sweep already are not taken.

        Raises
        ------
        FieldError
            If the sweep has an error, too many jobs or no job, or a name is taken.
        """
        options = await self._options(request)
        _fields, rows, _total = await self._rows(request, options)
        jobs = await asyncio.to_thread(jobs_of, request.spec, request.sweep, rows, options)
        for check in await self._checks(request, jobs, options, sweep_id):
            if check.level == "error":
                raise FieldError(check.message, field=check.field, hint=check.hint, code=check.code)
        sweep = request.sweep
        at_a_time = min(sweep.at_a_time, sum(not job.left_out for job in jobs))
        return [
            with_member(
                job.spec,
                SweepMember(
                    id=sweep_id,
                    name=request.spec.name,
                    number=job.number,
                    at_a_time=at_a_time,
                    on_failure=sweep.on_failure,
                    rule=sweep.rule,
                    values=job.values,
                ),
            )
            for job in jobs
            if not job.left_out
        ]

    async def _options(self, request: ExpandSweep) -> Sequence[ScriptOption]:
        """Return the options of the script; none if the form's file is not what the job runs, or can't be read."""
        entrypoint = request.spec.entrypoint
        try:
            if entrypoint.kind == "module":
                source = await self._reader.module(entrypoint.value, request.path)
            else:
                source = await self._reader.clicked(request.path, request.spec.args)
        except JobError:
            return ()
        # A job in a cluster has the file at another path, by the same name.
        if source is None or (entrypoint.kind != "module" and entrypoint.value.rpartition("/")[2] != source.path.name):
            return ()
        return source.script.info.options

    async def _rows(
        self, request: ExpandSweep, options: Sequence[ScriptOption]
    ) -> tuple[list[str], list[Row], int | None]:
        """Return fields, combinations and their number; raise `FieldError` if there are too many."""
        sweep, args = request.sweep, request.spec.args
        fields = [field.field for field in sweep.fields]
        if len(set(fields)) != len(fields):
            raise FieldError(_("A field occurs twice in the sweep."), field="/sweep/fields", code="SweepField")
        values: dict[str, Values] = {}
        for number, field in enumerate(sweep.fields):
            option = option_named(field.field, options, args)
            read = partial(parse_values, whole=option is not None and option.kind == "int")
            pointer = f"/sweep/fields/{number}/values"
            values[field.field] = await asyncio.to_thread(read, field.values, pointer)
        rows: list[Row] = []
        if sweep.rows_path is not None:
            path = self._reader.root.disk(sweep.rows_path, ROWS_FIELD)
            rows = await on_disk(path, read_rows, path, partial(field_of, options=options, args=args))
        total = number_of_combinations(values, rows)
        if sweep.method == "random":
            self._demand_few(sweep.count, "/sweep/count")
            combinations = await asyncio.to_thread(drawn, values, rows, sweep.count, sweep.seed)
        else:
            count = total or 0
            left_out = {number for number in sweep.left_out if number <= count}
            self._demand_few(count - len(left_out), "/sweep/fields")
            self._demand_few(count // 10, "/sweep/fields")
            combinations = await asyncio.to_thread(grid, values, rows)
        columns = list(dict.fromkeys([field for row in rows for field in row] + fields))
        return columns, combinations, total

    def _demand_few(self, count: int, field: str) -> None:
        if count > self._limit:
            raise FieldError(
                _n("{n} job, at most {limit} allowed.", "{n} jobs, at most {limit} allowed.", count, limit=self._limit),
                field=field,
                code="TooManyJobs",
                hint=_("Leave values out, or take random combinations. The server's administrator set the limit."),
            )

    async def _checks(
        self, request: ExpandSweep, jobs: list[SweepJob], options: Sequence[ScriptOption], sweep_id: str | None = None
    ) -> list[Check]:
        chosen = [job for job in jobs if not job.left_out]
        if not chosen:
            message = _("All jobs of the sweep are left out.")
            return [Check(level="error", code="NoJobs", message=message, field="/sweep/left_out")]
        found: list[Check] = []
        if len(chosen) > request.sweep.at_a_time:
            try:
                await demand_turns(self._jobs.engines.get(request.engine))
            except FieldError as problem:
                found.append(Check.of(problem))
        taken = await self._taken_names(request, sweep_id)
        used = [job.name for job in chosen if job.name in taken]
        if used:
            names = listing(used, MOST_NAMES_SHOWN)
            found.append(
                Check(
                    level="error",
                    code="NameTaken",
                    message=_("There are jobs named {names} already.", names=names),
                    hint=_("Choose another name for the sweep."),
                    field="/spec/name",
                )
            )
        else:
            first, last = chosen[0].name, chosen[-1].name
            message = _("The names {first} to {last} are free.", first=first, last=last)
            found.append(Check(level="passed", code="NamesFree", message=message))
        return found + hints(request, chosen, options) + _same_directories(chosen) + _repeated(chosen)

    async def _taken_names(self, request: ExpandSweep, sweep_id: str | None) -> set[str]:
        """Return the names of other jobs, which the sweep can't use."""
        engines = self._jobs.engines
        has_pods = engines.facts(request.engine).has_pods
        return {
            job.name
            for job in await self._jobs.jobs(Query())
            if job.namespace == request.namespace
            and (job.engine == request.engine or (has_pods and engines.facts(job.engine).has_pods))
            and (sweep_id is None or job.sweep is None or job.sweep.id != sweep_id)
        }

    def _failed(self, problem: JobError) -> SweepPreview:
        checks = [Check.of(problem)]
        return SweepPreview(fields=[], jobs=[], total=None, limit=self._limit, summary=problem.message, checks=checks)


def jobs_of(spec: JobSpec, sweep: Sweep, rows: list[Row], options: Sequence[ScriptOption] = ()) -> list[SweepJob]:
    """Return the jobs of a sweep.

    Parameters
    ----------
    spec
        The job that all start from; its name is that of the sweep.
    sweep
        The sweep.
    rows
        Values of the jobs.
    options
        Options of the script.

    Raises
    ------
    FieldError
        If a field does not exist, or an option or the spec does not allow a value.
    """
    left_out, starting, jobs = set(sweep.left_out), 0, []
    for number, row in enumerate(rows, 1):
        own = set_fields(with_member(spec, None), row, options)
        name = _numbered(spec.name, number)
        starts = number not in left_out and starting < sweep.at_a_time
        starting += starts
        jobs.append(
            SweepJob(
                number=number,
                name=name,
                values=row,
                left_out=number in left_out,
                starts_first=starts,
                spec=renamed(own, name),
            )
        )
    return jobs


def _numbered(name: str, number: int) -> str:
    return f"{name[: LONGEST_NAME - 1 - len(str(number))].rstrip('-')}-{number}"


def _summary(count: int, at_a_time: int) -> Text:
    if at_a_time >= count:
        return _n("{n} job, all at once", "{n} jobs, all at once", count)
    return _n("{n} job, {at_a_time} at a time", "{n} jobs, {at_a_time} at a time", count, at_a_time=at_a_time)


def _same_directories(jobs: list[SweepJob]) -> list[Check]:
    """Check that no two jobs have the same log directory."""
    counts = Counter(path for job in jobs for path in set(job.spec.tensorboard.log_dirs))
    shared = next((path for path, count in counts.items() if count > 1), None)
    if shared is not None:
        return [
            Check(
                level="warning",
                code="SameLogDirectory",
                message=_("Several jobs write to the log directory {path}.", path=shared),
                hint=_("Let the path contain the name of the job."),
                field="/spec/tensorboard/log_dirs",
            )
        ]
    if not counts:
        return []
    return [Check(level="passed", code="OwnLogDirectories", message=_("Each job has a log directory of its own."))]


def _repeated(jobs: list[SweepJob]) -> list[Check]:
    counts = Counter(tuple(sorted(job.values.items())) for job in jobs)
    repeated = sum(count - 1 for count in counts.values())
    if not repeated:
        return []
    message = _n("{n} job has the same values as another one.", "{n} jobs have the same values as others.", repeated)
    return [Check(level="hint", code="RepeatedValues", message=message, field="/sweep/fields")]
