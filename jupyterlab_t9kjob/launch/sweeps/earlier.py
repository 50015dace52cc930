"""Hints from earlier jobs of a sweep's script: arguments that were tried already, and how long a job took."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from ...core.checks import Check
from ...core.errors import NotFound
from ...core.job import Fix, Job
from ...core.spec import JobSpec
from ...core.texts.wording import duration
from ...core.translation import Text, _, _n, listing, sentences
from ...jobs.query import Query
from ...jobs.service import JobService
from .fields import value_at
from .model import ExpandSweep, SweepJob

LEFT_OUT: Final = "/sweep/left_out"
MOST_READ: Final = 50
MOST_NAMED: Final = 3
MOST_METRICS: Final = 2
_VALIDATION: Final = re.compile(r"val|test|eval")
_NO_RESULTS: Final = {"lr", "learning_rate"}
_OPTION: Final = re.compile(r"--?[A-Za-z_]")


async def earlier_hints(jobs: JobService, request: ExpandSweep, chosen: Sequence[SweepJob]) -> list[Check]:
    """Return hints from jobs of the same script that succeeded; none if there is no such job.

    Parameters
    ----------
    jobs
        All jobs; the records of deleted ones are read, too.
    request
        The sweep.
    chosen
        The jobs that it creates.
    """
    earlier = await _succeeded(jobs, request.path)
    return [*_tried(request, chosen, earlier), *_time(request, chosen, earlier)]


async def _succeeded(jobs: JobService, path: str | None) -> list[Job]:
    """Return the latest jobs of a script that succeeded, newest first."""
    if path is None:
        return []
    query = Query(phases=frozenset({"Succeeded"}), deleted=True)
    same = [job.id for job in await jobs.jobs(query) if job.entrypoint_path == path]
    found = []
    for ident in same[:MOST_READ]:
        try:
            found.append(await jobs.job(ident))
        except NotFound:
            continue  # Somebody has removed it since.
    return found


def _tried(request: ExpandSweep, chosen: Sequence[SweepJob], earlier: Sequence[Job]) -> list[Check]:
    """Return a hint if earlier jobs had the arguments of jobs of the sweep; one click leaves these out."""
    fields = [field for field in chosen[0].values if field.startswith("/")]  # What a sweep changes beside arguments.
    newest = {_tried_key(job.spec, fields): job for job in reversed(earlier)}
    found = {job.number: before for job in chosen if (before := newest.get(_tried_key(job.spec, fields))) is not None}
    if not found:
        return []
    tried = [job.name for job in chosen if job.number in found]
    named = {job.name: job for job in found.values()}
    message = _n(
        "{jobs} has the arguments of {earlier}, which succeeded.",
        "{jobs} have the arguments of {earlier}, which succeeded.",
        len(found),
        jobs=listing(tried, MOST_NAMED),
        earlier=listing(list(named), MOST_NAMED),
    )
    if len(named) == 1:
        message = sentences(message, _result(next(iter(named.values())), request)) or message
    fix = None
    if len(found) < len(chosen):  # A sweep without jobs is none.
        label = _n("Leave the job out", "Leave the jobs out", len(found))
        fix = Fix(label=label, changes={LEFT_OUT: sorted({*request.sweep.left_out, *found})})
    return [Check(level="hint", code="TriedBefore", message=message, field=LEFT_OUT, fix=fix)]


def _result(job: Job, request: ExpandSweep) -> Text | None:
    """Return what an ended job has last reported: the metric of the sweep's rule first, then those of validation."""
    metrics = job.progress.metrics if job.progress is not None else {}
    rule = request.sweep.rule
    wanted = rule.metric.lower() if rule is not None else ""  # As the log's metrics are named.
    names = sorted(metrics.keys() - _NO_RESULTS, key=lambda name: (name != wanted, not _VALIDATION.match(name), name))
    if not names:
        return None
    values = [f"{name} {metrics[name]:.4g}" for name in names[:MOST_METRICS]]
    return _("The log of {earlier} last reported {metrics}.", earlier=job.name, metrics=listing(values))


def _tried_key(spec: JobSpec, fields: Sequence[str]) -> tuple[object, ...]:
    """Return the arguments of a job, and its values of other fields of a sweep, as JSON pointers name them."""
    document = spec.model_dump(mode="json") if fields else {}
    return _arguments(spec), *(str(value_at(document, field)) for field in fields)


def _arguments(spec: JobSpec) -> tuple[tuple[str, ...], ...]:
    """Return the arguments with their options in a fixed order, and without the job's own name in paths.

    What follows an option stays with it: whether that is its value is not known here.
    """
    groups: list[list[str]] = [[]]
    for argument in spec.args:
        if _OPTION.match(argument):
            groups.append([])
        groups[-1].append("/".join("" if part == spec.name else part for part in argument.split("/")))
    return tuple(map(tuple, [groups[0], *sorted(groups[1:])]))


def _time(request: ExpandSweep, chosen: Sequence[SweepJob], earlier: Sequence[Job]) -> list[Check]:
    """Return a hint on how long the sweep takes, from the latest job of the same size on the same engine."""
    size = _size(request.spec)
    last = next((job for job in earlier if job.engine == request.engine and _size(job.spec) == size), None)
    if last is None or last.ran_seconds < 1:
        return []
    turns = math.ceil(len(chosen) / request.sweep.at_a_time)
    message = _n(
        "{name} took {time}; if the job takes as long, the sweep takes about {total}.",
        "{name} took {time}; if each of the {n} jobs takes as long, the sweep takes about {total}.",
        len(chosen),
        name=last.name,
        time=duration(last.ran_seconds),
        total=duration(turns * last.ran_seconds),
    )
    return [Check(level="hint", code="SweepTime", message=message)]


def _size(spec: JobSpec) -> tuple[object, ...]:
    """Return the number of replicas, also of an elastic job, and of processes in each."""
    return spec.initial_replicas, spec.torchrun.proc_per_node if spec.torchrun is not None else None
