"""Options that a decorator makes from the fields of a class: a pydantic model or a dataclass.

The decorator is a function of the workspace that calls ``click.option`` for each field. How it names and describes an
option is read from that call: dashes for underscores, the keywords ``default``, ``help``, ``required`` and ``is_flag``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from ...model import ScriptOption
from ..declarations.building import OptionKind, as_text, choices_of, kind_of_type
from ..declarations.calls import keyword_of
from ..declarations.parameters import MISSING, Parameter, fields_of, is_dataclass
from ..declarations.source import Source
from ..declarations.types import enum_name
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..program import Definition
from ..texts import one_line

_FIELDS: Final = frozenset({"model_fields", "__fields__", "__dataclass_fields__", "fields"})
"""Names by which code gets the fields of a class."""


@dataclass(frozen=True)
class _Style:
    """How the decorator calls ``click.option``: True for what it passes or does."""

    dashes: bool
    off: bool
    flag: bool
    default: bool
    help: bool
    required: bool


def options_of_model(
    source: Source, module: Module, decorator: ast.expr, made: Definition, made_by: ast.Call, command: str | None
) -> list[ScriptOption] | None:
    """Return the options that a decorator makes from a class that is its argument; None if it does not do that.

    Parameters
    ----------
    source
        The script and its modules.
    module, decorator
        The module, and the decorator in it.
    made
        The decorator's function.
    made_by
        The call of ``click.option`` in that function.
    command
        The subcommand that takes the options; None for none.
    """
    given = decorator.args if isinstance(decorator, ast.Call) else []
    own = source.definition(module, given[0]) if len(given) == 1 else None
    words = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in ast.walk(made.node)}
    if own is None or not isinstance(own[1], ast.ClassDef) or not words & _FIELDS:
        return None
    if not is_dataclass(source, own[0], own[1]):
        return None
    texts = [part.value for part in ast.walk(made_by) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    style = _Style(
        dashes="replace" in words and any(isinstance(x, ast.Constant) and x.value == "-" for x in ast.walk(made.node)),
        off=any("/--no" in text for text in texts),
        flag=keyword_of(made_by, "is_flag") is not None,
        default=keyword_of(made_by, "default") is not None,
        help=keyword_of(made_by, "help") is not None,
        required=keyword_of(made_by, "required") is not None,
    )
    fields = fields_of(source, own[0], own[1], comments=False)
    return [_option(source, parameter, style, command) for parameter in fields]


def _option(source: Source, parameter: Parameter, style: _Style, command: str | None) -> ScriptOption:
    name = parameter.name.replace("_", "-") if style.dashes else parameter.name
    kind: OptionKind = kind_of_type(parameter.type)
    choices = choices_of([enum_name(choice) for choice in parameter.type.choices])
    if kind == "flag" and not (style.flag or style.off):
        kind = "boolean"
    default, described = _declared(source, parameter)
    return ScriptOption(
        flags=[f"--{name}"],
        dest=parameter.name,
        kind=kind,
        item_kind=parameter.type.item_kind,
        default=None if default is MISSING or default is UNKNOWN or not style.default else as_text(enum_name(default)),
        choices=choices,
        help=described if style.help else None,
        required=style.required and default is MISSING,
        off_flag=f"--no-{name}" if kind == "flag" and style.off else None,
        command=command,
        line=parameter.line,
        path=source.path(parameter.module),
    )


def _declared(source: Source, parameter: Parameter) -> tuple[object, str | None]:
    """Return the default of a field and its description; pydantic's ``Field`` has both."""
    default = parameter.default
    call, module = parameter.call, parameter.module
    if call is None:
        return default, None
    if default is MISSING and call.args and source.value(module, call.args[0]) is not Ellipsis:
        default = source.value(module, call.args[0])
    return default, one_line(source.string(module, keyword_of(call, "description")))
