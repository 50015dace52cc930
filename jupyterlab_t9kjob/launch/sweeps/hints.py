"""Warnings and hints about a sweep that can run, but hardly as its user means."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.checks import Check
from ...core.translation import _, _n
from .model import ExpandSweep, SweepJob


def hints(request: ExpandSweep, jobs: Sequence[SweepJob]) -> list[Check]:
    """Return warnings and hints about a sweep.

    Parameters
    ----------
    request
        The sweep.
    jobs
        The jobs that it creates.
    """
    return [*_given_twice(request, jobs), *_constant(request, jobs), *_few(request, jobs), *_idle_rule(request, jobs)]


def _given_twice(request: ExpandSweep, jobs: Sequence[SweepJob]) -> list[Check]:
    """Warn of options whose value is replaced by the same option further behind."""
    found = []
    for field in dict.fromkeys(field for job in jobs for field in job.values):
        joined = field if field.endswith("=") else f"{field}="
        count = sum(argument == field or argument.startswith(joined) for argument in request.spec.args)
        if count > 1 and not field.startswith("/"):
            found.append(
                Check(
                    level="warning",
                    code="OptionTwice",
                    message=_(
                        "The arguments contain {option} more than once; most scripts use the last one.", option=field
                    ),
                    hint=_("Remove it from “More arguments”, or all jobs may have the same value."),
                    field="/sweep/fields",
                )
            )
    return found


def _constant(request: ExpandSweep, jobs: Sequence[SweepJob]) -> list[Check]:
    """Return a hint if the values of a field are the same in all jobs."""
    fields = [field.field for field in request.sweep.fields]
    same = [field for field in fields if len({job.values.get(field) for job in jobs}) == 1]
    return [
        Check(
            level="hint",
            code="OneValue",
            message=_("{option} has the same value in all jobs.", option=field),
            field=f"/sweep/fields/{fields.index(field)}/values",
        )
        for field in same
        if len(jobs) > 1
    ]


def _few(request: ExpandSweep, jobs: Sequence[SweepJob]) -> list[Check]:
    """Return a hint if there are fewer combinations than random ones were asked for."""
    sweep = request.sweep
    created = len(jobs) + len(sweep.left_out)
    if sweep.method != "random" or created >= sweep.count:
        return []
    message = _n(
        "There is only {n} different combination, fewer than the {count} that were asked for.",
        "There are only {n} different combinations, fewer than the {count} that were asked for.",
        created,
        count=sweep.count,
    )
    return [Check(level="hint", code="FewCombinations", message=message, field="/sweep/count")]


def _idle_rule(request: ExpandSweep, jobs: Sequence[SweepJob]) -> list[Check]:
    """Warn of a rule that can stop no job, since the sweep is too small."""
    rule = request.sweep.rule
    if rule is None or len(jobs) > rule.least_jobs:
        return []
    message = _n(
        "The sweep has {n} job, so no job has {least} others to be compared with, and none is stopped early.",
        "The sweep has {n} jobs, so no job has {least} others to be compared with, and none is stopped early.",
        len(jobs),
        least=rule.least_jobs,
    )
    return [Check(level="warning", code="IdleRule", message=message, field="/sweep/rule/least_jobs")]
