"""Values of a script's options in the arguments of a job."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from ..model import ScriptOption

_NUMBER: Final = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def with_option(args: Sequence[str], option: ScriptOption, value: str, options: Sequence[ScriptOption]) -> list[str]:
    """Return arguments in which an option has another value, at the place that it had before.

    Parameters
    ----------
    args
        Arguments of the job.
    option
        The option, which has flags.
    value
        Its value as text: a list as a shell would take it, a flag's as True or False.
    options
        All options of the script.

    Raises
    ------
    ValueError
        If the quotes of a list do not match.
    """
    given = _given(option, value)
    kept: list[str] = []
    place: int | None = None
    end = args.index("--") if "--" in args else len(args)
    at = 0
    while at < end:
        name, sign, _value = args[at].partition("=")
        if name in option.flags or args[at] == option.off_flag:
            place = len(kept) if place is None else place
            at += 1 + (0 if sign or args[at] == option.off_flag else words_after(option, args[at + 1 : end]))
        else:
            kept.append(args[at])
            at += 1
    if place is None:
        # An option of the whole program stands before a subcommand, and any option before the separator.
        is_first = option.command is None and any(other.is_command for other in options)
        place = 0 if is_first else len(kept)
    return [*kept[:place], *given, *kept[place:], *args[end:]]


def words_after(option: ScriptOption, words: Sequence[str]) -> int:
    """Return how many of the words after an option's flag belong to it.

    Parameters
    ----------
    option
        The option.
    words
        The arguments after its flag.
    """
    if option.syntax != "separate":
        return 0
    if option.kind == "flag":
        return int(option.value_optional and bool(words) and words[0].lower() in ("true", "false"))
    if option.kind == "list" and option.items is not None:
        return option.items
    most = len(words) if option.kind == "list" else 1
    if option.kind != "list" and not option.value_optional:
        return most
    flags = (number for number, word in enumerate(words) if word.startswith("-") and not _NUMBER.fullmatch(word))
    return min(most, next(flags, len(words)))


def _given(option: ScriptOption, value: str) -> list[str]:
    """Return the arguments that give an option a value."""
    flag = option.flags[0]
    if option.syntax != "separate":
        return [f"{flag}={value}"]
    if option.kind == "flag":
        if (value.lower() == "true") == option.flag_value:
            return [flag]
        return [option.off_flag] if option.off_flag else []
    if option.kind == "list":
        return [flag, *shlex.split(value)]
    # argparse takes a separate value that begins with a hyphen for an option.
    return [f"{flag}={value}"] if value.startswith("-") and flag.startswith("--") else [flag, value]
