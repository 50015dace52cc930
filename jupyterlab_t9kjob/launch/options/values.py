"""Values of a script's options in the arguments of a job."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import ScriptOption


def with_option(args: Sequence[str], option: ScriptOption, value: str, options: Sequence[ScriptOption]) -> list[str]:
    """Return arguments in which an option has another value.

    Parameters
    ----------
    args
        Arguments of the job.
    option
        The option, which has flags.
    value
        Its value.
    options
        All options of the script.
    """
    kept: list[str] = []
    is_value = False
    for word, following in zip(args, [*args[1:], "-"], strict=False):  # Without arguments, none is kept.
        if is_value:
            is_value = False
            continue
        name, sign, _value = word.partition("=")
        if name not in option.flags:
            kept.append(word)
        elif not sign and option.syntax == "separate":
            # An option whose value is optional may stand alone.
            is_value = not (option.value_optional and following.startswith("-"))
    flag = option.flags[0]
    given = [flag, value] if option.syntax == "separate" else [f"{flag}={value}"]
    # An option of the whole program stands before a subcommand, and any option before the separator.
    first = "--" in kept or (option.command is None and any(other.is_command for other in options))
    return [*given, *kept] if first else [*kept, *given]
