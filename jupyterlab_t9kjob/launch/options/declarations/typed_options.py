"""Options of jsonargparse: parameters with types, whose values are given as YAML (``true``, ``[1, 2]``)."""

from __future__ import annotations

from ...model import ScriptOption
from ..interpreter.values import UNKNOWN
from .building import OptionKind, as_json, choices_of, kind_of_type
from .parameters import MISSING, Parameter, apply_default, fields_of, nested
from .source import Source
from .types import enum_name

MAX_DEPTH = 6


def options_of(
    source: Source, parameters: list[Parameter], prefix: str, command: str | None, *, positional: bool, depth: int = 0
) -> list[ScriptOption]:
    """Return the options of parameters.

    Parameters
    ----------
    source
        The program.
    parameters
        Parameters of a function or class.
    prefix
        Text before the names, such as ``model.``.
    command
        The subcommand that takes the options; None for none.
    positional
        True if parameters without a default are positional arguments.
    depth
        Number of classes around the parameters. Below `MAX_DEPTH` of them, a class is a single option.
    """
    found: list[ScriptOption] = []
    for parameter in parameters:
        name = f"{prefix}{parameter.name}"
        own = nested(parameter.type, source)
        if own is not None and depth < MAX_DEPTH:
            fields = fields_of(source, *own, comments=False)
            apply_default(source, parameter, fields)
            found += options_of(source, fields, f"{name}.", command, positional=False, depth=depth + 1)
        elif parameter.annotated or parameter.default is not MISSING:
            found.append(_option(source, parameter, name, command, positional))
    return found


def _option(source: Source, parameter: Parameter, name: str, command: str | None, positional: bool) -> ScriptOption:
    found, default = parameter.type, parameter.default
    kind: OptionKind = kind_of_type(found)
    choices = choices_of([enum_name(choice) for choice in found.choices])
    text = None if default is MISSING or default is UNKNOWN else as_json(enum_name(default))
    if kind == "flag":
        kind = "boolean"
        text = text.lower() if text else None
    required = default is MISSING and not found.optional
    return ScriptOption(
        flags=[] if required and positional else [f"--{name}"],
        dest=name,
        kind="text" if kind == "list" else kind,
        default=text,
        choices=[] if kind == "list" else choices,
        help=parameter.help,
        required=required,
        command=command,
        line=parameter.line,
        path=source.path(parameter.module),
    )
