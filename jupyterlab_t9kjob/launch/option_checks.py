"""Checks of a job's arguments against the options of its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..core.checks import Check
from ..core.spec import JobSpec
from ..core.translation import Text, _, sentences
from .model import ScriptOption
from .options.resume import resume_option
from .options.values import words_after
from .source_file import Source

MAX_UNREAD: Final = 10


def resume_problem(spec: JobSpec, source: Source | None) -> Text | None:
    """Return why no option is known by which a job resumes from a checkpoint; None if one is known.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook; None if it was not read.
    """
    # The cells of a notebook have no options.
    if source is None or source.error is not None or spec.entrypoint.kind not in ("script", "module"):
        return _("The job’s script can’t be read here, so its option for checkpoints is not known.")
    if any(group.args is not None or group.entrypoint is not None for group in spec.replica_specs):
        return _("The job’s replica types have commands of their own: fill in the option in a clone.")
    if resume_option(source.script.info.options, spec.args) is None:
        return _("{script} has no option that is known to take a checkpoint.", script=source.path.name)
    return None


def resume_checks(spec: JobSpec, source: Source | None) -> list[Check]:
    """Warn if a job is to be continued after an eviction, and its script has no option for that.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook; None if it was not read.
    """
    problem = resume_problem(spec, source) if spec.run_policy.resume_evicted else None
    if problem is None:
        return []
    hint = _("No job will continue this one after an eviction.")
    field = "/spec/run_policy/resume_evicted"
    return [Check(level="warning", code="CannotResume", message=problem, hint=hint, field=field)]


def missing_options(spec: JobSpec, source: Source) -> list[Check]:
    """Warn of required options that have no value.

    Parameters
    ----------
    spec
        The job, with the arguments.
    source
        The job's script, with the options that it declares.
    """
    return [
        Check(
            level="warning",
            code="OptionMissing",
            message=_("{script} requires {option}, which has no value.", script=source.path.name, option=name),
            field="/spec/args",
            option=option.key,
            link=source.link(option.line, option.path),
        )
        for option in unfilled(source.script.info.options, spec.args)
        for name in [(option.flags or [option.dest])[0]]
    ]


def repeated_options(spec: JobSpec, source: Source) -> list[Check]:
    """Warn of options that the arguments contain more than once, because only the last one counts.

    Parameters
    ----------
    spec
        The job, with the arguments.
    source
        The job's script, with the options that it declares.
    """
    option_of = {
        flag: option
        for option in source.script.info.options
        if not option.repeatable and is_of_command(option, spec.args)
        for flag in (*option.flags, *([option.off_flag] if option.off_flag else []))
    }
    seen: set[str] = set()
    found: list[Check] = []
    words = spec.args[: spec.args.index("--")] if "--" in spec.args else spec.args
    for index, word in enumerate(words):
        option = option_of.get(word.partition("=")[0])
        if option is None:
            continue
        if option.dest in seen:
            message = _("{option} is given more than once: only the last one counts.", option=option.flags[0])
            hint, field = _("Remove the other one."), f"/spec/args/{index}"
            found.append(Check(level="warning", code="OptionTwice", message=message, hint=hint, field=field))
        seen.add(option.dest)
    return found


def unfilled(options: list[ScriptOption], args: list[str]) -> list[ScriptOption]:
    """Return the required options that have no value in the arguments.

    Parameters
    ----------
    options
        Options of the script, with those of all subcommands.
    args
        Arguments of the job.
    """
    options = [option for option in options if is_of_command(option, args)]
    known = {flag for option in options for flag in option.flags}
    loose = _positional_words(options, args)
    result: list[ScriptOption] = []
    for option in options:
        if not option.flags and option.required:
            loose -= option.items or 1
        given = any(_may_name(word, option.flags, known) for word in args) if option.flags else loose >= 0
        # An option under a condition may not exist in this run, such as one for an older version of torch.
        if option.required and option.condition is None and not given:
            result.append(option)
    return result


def _positional_words(options: list[ScriptOption], args: Sequence[str]) -> int:
    """Return how many words of the arguments are positional arguments."""
    option_of = {flag: option for option in reversed(options) for flag in option.flags}
    end = args.index("--") if "--" in args else len(args)
    count, at = len(args[end + 1 :]), 0
    while at < end:
        name, sign, _value = args[at].partition("=")
        option = option_of.get(name)
        if option is None:
            count += not name.startswith("-")
        elif not sign:
            at += words_after(option, args[at + 1 : end])
        at += 1
    return count


def is_of_command(option: ScriptOption, args: Sequence[str]) -> bool:
    """Return True if an option belongs to no subcommand, or to the one that the arguments choose.

    Parameters
    ----------
    option
        The option.
    args
        Arguments of the job.
    """
    return option.command is None or set(option.command.split()) <= set(args)


def _may_name(word: str, flags: list[str], known: set[str]) -> bool:
    """Return True if an argument may be one of an option's flags.

    argparse accepts abbreviations and ``-xvalue``, but takes a word that is exactly one of the known flags for that
    flag alone.
    """
    name = word.partition("=")[0]
    if name in known:
        return name in flags
    return any(
        len(name) > 2 and flag.startswith(name) if flag.startswith("--") else word.startswith(flag)
        for flag in flags
        if flag.startswith("-")  # other flags are given as ``name=value``, without abbreviations
    )


def unread_options(source: Source) -> list[Check]:
    """Say that the script has options that its text does not tell, with the lines that make them."""
    return [
        Check(
            level="hint",
            code="OptionsUnread",
            message=sentences(sentence, _("Not all of its options can be shown here.")) or sentence,
            hint=_("Type the others under More arguments."),
            link=source.link(unread.line, unread.path),
        )
        for unread in source.script.unread[:MAX_UNREAD]
        for sentence in [unread.sentence.with_params(script=source.path.name)]
    ]
