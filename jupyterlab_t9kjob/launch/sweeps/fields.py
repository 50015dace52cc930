"""Sets a field of a sweep in a job's spec: an option of the script, or a value of the spec."""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from ...core.errors import FieldError
from ...core.spec import JobSpec
from ...core.translation import _

PARTS: Final = frozenset({"args", "env", "replica_specs", "torchrun", "run_policy", "runtime", "scheduling"})
"""Parts of the spec in which a sweep may change values."""


def set_fields(spec: JobSpec, values: dict[str, str]) -> JobSpec:
    """Return a spec with other values.

    Parameters
    ----------
    spec
        The spec.
    values
        Values by field: an option (``--lr``), an assignment (``lr=``), or a JSON pointer (``/env/0/value``).

    Raises
    ------
    FieldError
        If a pointer names no value of the spec, or the spec does not allow the value.
    """
    document = spec.model_dump(mode="json")
    for field, value in values.items():
        if field.startswith("/"):
            _set_pointer(document, field, value)
        else:
            document["args"] = with_option(document["args"], field, value)
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


def with_option(args: list[str], option: str, value: str) -> list[str]:
    """Return arguments in which an option has another value; an option that is missing is added at the end.

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
    for index, argument in enumerate(args):
        if argument.startswith(joined):
            result[index] = joined + value
            return result
        if argument == option and not option.endswith("="):
            return [*args[:index], *_separate(option, value), *args[index + 2 :]]
    return [*args, *([joined + value] if option.endswith("=") else _separate(option, value))]


def _separate(option: str, value: str) -> list[str]:
    # argparse takes a separate value that begins with a hyphen for an option.
    return [f"{option}={value}"] if value.startswith("-") and option.startswith("--") else [option, value]


def _set_pointer(document: dict[str, Any], pointer: str, value: str) -> None:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]
    target: Any = document if parts[0] in PARTS else None
    for part in parts[:-1]:
        target = _child(target, part)
    old = _child(target, parts[-1])
    if isinstance(target, list) and not isinstance(old, dict | list | None):
        target[int(parts[-1])] = value
    elif isinstance(target, dict) and parts[-1] in target and not isinstance(old, dict | list):
        target[parts[-1]] = value
    else:
        message = _("The job has no field {field} that a sweep can change.", field=pointer[:100])
        raise FieldError(message, field="/sweep/fields", code="SweepField")


def _child(target: Any, part: str) -> Any:
    if isinstance(target, dict):
        return target.get(part)
    if isinstance(target, list) and part.isascii() and part.isdecimal() and len(part) < 6 and int(part) < len(target):
        return target[int(part)]
    return None
