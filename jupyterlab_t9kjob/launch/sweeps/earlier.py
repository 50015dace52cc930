"""Hints from earlier jobs of a sweep's script: arguments that were tried already, and how long a job took."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ...core.checks import Check
from ...core.errors import NotFound
from ...core.job import Fix, Job
from ...core.spec import JobSpec
from ...core.texts.wording import duration
from ...core.translation import Text, _, _n, listing, sentences
from ...jobs.metrics.reader import metric_named
from ...jobs.query import Query
from ...jobs.service import JobService
from ..model import ScriptOption
from .fields import value_at
from .model import ExpandSweep, SweepJob

LEFT_OUT: Final = "/sweep/left_out"
MOST_READ: Final = 50
MOST_NAMED: Final = 3
MOST_METRICS: Final = 2
_VALIDATION: Final = re.compile(r"val|test", re.IGNORECASE)
_NO_RESULT: Final = re.compile(r"(?:^|[^a-z])(?:lr|learning_rate)$", re.IGNORECASE)
_OPTION: Final = re.compile(r"--?[A-Za-z_]")


async def earlier_hints(
    jobs: JobService, request: ExpandSweep, chosen: Sequence[SweepJob], options: Sequence[ScriptOption]
) -> list[Check]:
    """Return hints from jobs of the same script that succeeded; none if there is no such job.

    Parameters
    ----------
    jobs
        All jobs; the records of deleted ones are read, too.
    request
        The sweep.
    chosen
        The jobs that it creates.
    options
        The options of the script.
    """
    earlier = await _succeeded(jobs, request.path)
    return [*_tried(request, chosen, earlier, _with_default(options)), *_time(request, chosen, earlier)]


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


def _tried(
    request: ExpandSweep, chosen: Sequence[SweepJob], earlier: Sequence[Job], options: Mapping[str, ScriptOption]
) -> list[Check]:
    """Return a hint if earlier jobs had the arguments of jobs of the sweep; one click leaves these out."""
    fields = [field for field in chosen[0].values if field.startswith("/")]  # What a sweep changes beside arguments.
    newest = {_tried_key(job.spec, fields, options): job for job in reversed(earlier)}
    same = [(job, newest.get(_tried_key(job.spec, fields, options))) for job in chosen]
    found = [(job, each) for job, each in same if each is not None]
    if not found:
        return []
    before = {each.id: each.name for _job, each in found}
    jobs, names = listing([job.name for job, _before in found], MOST_NAMED), listing(list(before.values()), MOST_NAMED)
    if all(_arguments(job.spec, {}) == _arguments(each.spec, {}) for job, each in found):
        message = _n(
            "{jobs} has the arguments of {earlier}, which succeeded.",
            "{jobs} have the arguments of {earlier}, which succeeded.",
            len(found),
            jobs=jobs,
            earlier=names,
        )
    else:
        message = _n(
            "With the defaults that the script has now, {jobs} has the values of {earlier}, which succeeded.",
            "With the defaults that the script has now, {jobs} have the values of {earlier}, which succeeded.",
            len(found),
            jobs=jobs,
            earlier=names,
        )
    if len(before) == 1:
        message = sentences(message, _result(found[0][1], request)) or message
    fix = None
    if len(found) < len(chosen):  # A sweep without jobs is none.
        label = _n("Leave the job out", "Leave the jobs out", len(found))
        numbers = [job.number for job, _before in found]
        fix = Fix(label=label, changes={LEFT_OUT: sorted({*request.sweep.left_out, *numbers})})
    return [Check(level="hint", code="TriedBefore", message=message, field=LEFT_OUT, fix=fix)]


def _result(job: Job, request: ExpandSweep) -> Text | None:
    """Return what an ended job has last reported: the metric of the sweep's rule first, then those of validation."""
    metrics = job.progress.metrics if job.progress is not None else {}
    rule = request.sweep.rule
    wanted = metric_named(rule.metric, metrics) if rule is not None else None
    results = [name for name in metrics if not _NO_RESULT.search(name)]
    results.sort(key=lambda name: (name != wanted, not _VALIDATION.search(name), name))
    if not results:
        return None
    values = [f"{name} {metrics[name]:.4g}" for name in results[:MOST_METRICS]]
    return _("{earlier} last reported {metrics}.", earlier=job.name, metrics=listing(values))


def _with_default(options: Sequence[ScriptOption]) -> dict[str, ScriptOption]:
    """Return the options that have one value and a default, by the spellings that no other option has."""
    spellings = Counter(flag for option in options for flag in option.flags)
    return {
        flag: option
        for option in options
        if option.default is not None and option.kind not in ("flag", "list")
        if not option.repeatable and option.command is None and option.condition is None
        for flag in option.flags
        if spellings[flag] == 1
    }


def _tried_key(spec: JobSpec, fields: Sequence[str], options: Mapping[str, ScriptOption]) -> tuple[object, ...]:
    """Return the arguments of a job, and its values of other fields of a sweep, as JSON pointers name them."""
    document = spec.model_dump(mode="json") if fields else {}
    return _arguments(spec, options), *(str(value_at(document, field)) for field in fields)


def _arguments(spec: JobSpec, options: Mapping[str, ScriptOption]) -> tuple[tuple[str, ...], ...]:
    """Return the arguments in a fixed order of their options, and without the job's own name in paths.

    What follows an option stays with it: whether that is its value is not known here.

    Parameters
    ----------
    spec
        The job's spec.
    options
        Options that are left out where they are given once, with their default.
    """
    groups: list[list[str]] = [[]]
    for argument in spec.args:
        if _OPTION.match(argument):
            groups.append([])
        groups[-1].append("/".join("" if part == spec.name else part for part in argument.split("/")))
    given = Counter(_option_of(group, options) for group in groups[1:])
    kept = [group for group in groups[1:] if given[_option_of(group, options)] > 1 or not _is_default(group, options)]
    return tuple(map(tuple, [groups[0], *sorted(kept)]))


def _option_of(group: Sequence[str], options: Mapping[str, ScriptOption]) -> str:
    """Return the name of an option, however it is spelled; its spelling if it is not known."""
    flag = group[0].partition("=")[0]
    return options[flag].dest if flag in options else flag


def _is_default(group: Sequence[str], options: Mapping[str, ScriptOption]) -> bool:
    """Return True for an option with its default: as `--x v` or `--x=v`."""
    flag, sign, value = group[0].partition("=")
    words = [*([value] if sign else []), *group[1:]]
    option = options.get(flag)
    if option is None or option.default is None or len(words) != 1:
        return False
    if option.kind != "float":
        return words[0] == option.default
    try:
        return float(words[0]) == float(option.default)
    except ValueError:
        return words[0] == option.default


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
