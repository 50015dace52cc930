"""Warnings and hints about a sweep that can run, but hardly as its user means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.checks import Check
from ...core.translation import _, _n, listing
from ..model import ScriptOption
from .fields import option_named
from .model import ExpandSweep, SweepJob
from .row_file import FIELD as ROWS_FIELD

MOST_NAMED: Final = 5


def hints(request: ExpandSweep, jobs: Sequence[SweepJob], options: Sequence[ScriptOption] = ()) -> list[Check]:
    """Return warnings and hints about a sweep.

    Parameters
    ----------
    request
        The sweep.
    jobs
        The jobs that it creates.
    options
        Options of the script.
    """
    return [
        *_unknown(request, jobs, options),
        *_wrong_kind(request, jobs, options),
        *_given_twice(request, jobs, options),
        *_constant(request, jobs),
        *_few(request, jobs),
        *_idle_rule(request, jobs),
    ]


def _unknown(request: ExpandSweep, jobs: Sequence[SweepJob], options: Sequence[ScriptOption]) -> list[Check]:
    """Warn of columns of a file of rows that name no option which was read from the script."""
    own = {field.field for field in request.sweep.fields}
    fields = dict.fromkeys(field for job in jobs for field in job.values if field not in own and field[0] != "/")
    unknown = [field for field in fields if option_named(field, options, request.spec.args) is None]
    if not options or not unknown:
        return []
    message = _("The script has no option that was read from its text for {names}.", names=listing(unknown, MOST_NAMED))
    hint = _("Name a column as the option, or remove the column. The jobs get these options as they are.")
    return [Check(level="warning", code="UnknownColumn", message=message, hint=hint, field=ROWS_FIELD)]


def _wrong_kind(request: ExpandSweep, jobs: Sequence[SweepJob], options: Sequence[ScriptOption]) -> list[Check]:
    """Warn of values that are no numbers, for options that take numbers as far as the script's text tells."""
    found = []
    for field in dict.fromkeys(field for job in jobs for field in job.values if field[0] != "/"):
        option = option_named(field, options, request.spec.args)
        kind = option.kind if option is not None else "text"
        if kind not in ("int", "float"):
            continue
        wrong = [job.values[field] for job in jobs if field in job.values and not _is_number(job.values[field], kind)]
        if not wrong:
            continue
        if kind == "int":
            message = _("{option} takes whole numbers; {value} is none.", option=field, value=wrong[0][:40])
        else:
            message = _("{option} takes numbers; {value} is none.", option=field, value=wrong[0][:40])
        found.append(Check(level="warning", code="SweepValues", message=message, field="/sweep/fields"))
    return found


def _is_number(text: str, kind: str) -> bool:
    try:
        (int if kind == "int" else float)(text)
    except ValueError:
        return False
    return True


def _given_twice(request: ExpandSweep, jobs: Sequence[SweepJob], options: Sequence[ScriptOption]) -> list[Check]:
    """Warn of options whose value is replaced by the same option further behind."""
    found = []
    for field in dict.fromkeys(field for job in jobs for field in job.values):
        if option_named(field, options, request.spec.args) is not None:
            continue  # The sweep's value replaces all others.
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
