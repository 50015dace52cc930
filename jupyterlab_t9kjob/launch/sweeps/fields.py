"""Sets a field of a sweep in a job's spec: an option of the script, or a value of the spec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError

from ...core.errors import FieldError
from ...core.spec import JobSpec
from ...core.translation import _
from ..model import ScriptOption
from ..option_checks import is_of_command
from ..options.values import with_option

PARTS: Final = frozenset({"args", "env", "replica_specs", "torchrun", "run_policy", "runtime", "scheduling"})
"""Parts of the spec in which a sweep may change values."""
ON: Final = frozenset({"true", "yes", "on", "t", "y", "1"})
OFF: Final = frozenset({"false", "no", "off", "f", "n", "0"})


def set_fields(spec: JobSpec, values: dict[str, str], options: Sequence[ScriptOption] = ()) -> JobSpec:
    """Return a spec with other values.

    Parameters
    ----------
    spec
        The spec.
    values
        Values by field: an option (``--lr``), an assignment (``lr=``), or a JSON pointer (``/env/0/value``).
    options
        Options of the script, which tell how their values are written.

    Raises
    ------
    FieldError
        If a pointer names no value of the spec, or the option or the spec does not allow the value.
    """
    document = spec.model_dump(mode="json")
    for field, value in values.items():
        if field.startswith("/"):
            _set_pointer(document, field, value)
        elif (option := option_named(field, options, spec.args)) is not None:
            document["args"] = _with_known(document["args"], option, value, options)
        else:
            document["args"] = with_unknown(document["args"], field, value)
    try:
        return JobSpec.model_validate(document)
    except ValidationError as error:
        problem = error.errors()[0]
        raise FieldError(
            _("The spec does not allow a value of the sweep."),
            field="/spec/" + "/".join(map(str, problem["loc"])),
            code="SweepValues",
            verbatim=problem["msg"],
        ) from None


def option_named(field: str, options: Sequence[ScriptOption], args: Sequence[str]) -> ScriptOption | None:
    """Return the option of the script that a field or a column names; None if the script has no such option.

    Parameters
    ----------
    field
        The option's flag, also without its hyphens, or its destination.
    options
        Options of the script.
    args
        Arguments of the job, which choose a subcommand.
    """
    name = field.removesuffix("=")
    mine = [option for option in options if option.flags and is_of_command(option, args)]
    exact = (option for option in mine if name in option.flags)
    alike = (option for option in mine if name == option.dest or name in [flag.lstrip("-") for flag in option.flags])
    return next(exact, None) or next(alike, None)


def field_of(column: str, options: Sequence[ScriptOption], args: Sequence[str]) -> str:
    """Return the field of the sweep that a column of a file of rows names.

    Of the script's options, a column may have any spelling, without hyphens too. Else a column ``lr`` is the option
    ``--lr``, and names with a hyphen, an equals sign or a slash are fields as they are.

    Parameters
    ----------
    column
        Name of the column.
    options
        Options of the script.
    args
        Arguments of the job, which choose a subcommand.
    """
    option = None if column.startswith("/") else option_named(column, options, args)
    if option is not None:
        return option.flags[0]
    return column if column.startswith(("-", "/")) or column.endswith("=") else f"--{column}"


def value_at(document: dict[str, Any], pointer: str) -> Any:
    """Return the value of a spec at a JSON pointer; None if it has none.

    Parameters
    ----------
    document
        The spec as JSON.
    pointer
        The pointer, such as ``/env/0/value``.
    """
    return _follow(document, _keys(pointer))


def _with_known(args: list[str], option: ScriptOption, value: str, options: Sequence[ScriptOption]) -> list[str]:
    """Return arguments in which an option of the script has another value; raise `FieldError` if it can't have it."""
    flag, shown = option.flags[0], value[:40]
    if option.kind == "flag" and option.syntax == "separate":
        word = value.lower()
        if word not in ON and word not in OFF:
            message = _("{option} is on or off; {value} is neither.", option=flag, value=shown)
            hint = _("Write True or False.")
            raise FieldError(message, field="/sweep/fields", code="SweepValues", hint=hint)
        value = str(word in ON)
    try:
        return with_option(args, option, value, options)
    except ValueError:
        message = _("The quotes in {text} do not match.", text=shown)
        raise FieldError(message, field="/sweep/fields", code="SweepValues") from None


def with_unknown(args: list[str], option: str, value: str) -> list[str]:
    """Return arguments in which an option has another value, without knowing the script's options.

    An option that is missing is added at the end, before the separator ``--``.

    Parameters
    ----------
    args
        The arguments.
    option
        The option's flag, or its name with an equals sign for assignments without a flag.
    value
        The new value.
    """
    joined = option if option.endswith("=") else f"{option}="
    result = list(args)
    end = args.index("--") if "--" in args else len(args)
    for index, argument in enumerate(args[:end]):
        if argument.startswith(joined):
            result[index] = joined + value
            return result
        if argument == option and not option.endswith("="):
            return [*args[:index], *_separate(option, value), *args[index + 2 :]]
    given = [joined + value] if option.endswith("=") else _separate(option, value)
    return [*args[:end], *given, *args[end:]]


def _separate(option: str, value: str) -> list[str]:
    # argparse takes a separate value that begins with a hyphen for an option.
    return [f"{option}={value}"] if value.startswith("-") and option.startswith("--") else [option, value]


def _set_pointer(document: dict[str, Any], pointer: str, value: str) -> None:
    parts = _keys(pointer)
    target = _follow(document if parts[0] in PARTS else None, parts[:-1])
    old = _child(target, parts[-1])
    if isinstance(target, list) and not isinstance(old, dict | list | None):
        target[int(parts[-1])] = value
    elif isinstance(target, dict) and parts[-1] in target and not isinstance(old, dict | list):
        target[parts[-1]] = value
    else:
        message = _("The job has no field {field} that a sweep can change.", field=pointer[:100])
        raise FieldError(message, field="/sweep/fields", code="SweepField")


def _keys(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _follow(target: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        target = _child(target, part)
    return target


def _child(target: Any, part: str) -> Any:
    if isinstance(target, dict):
        return target.get(part)
    if isinstance(target, list) and part.isascii() and part.isdecimal() and len(part) < 6 and int(part) < len(target):
        return target[int(part)]
    return None
