"""Options of tyro: parameters of the function, or fields of the dataclass, that ``tyro.cli`` gets."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import as_text, choices_of, flags_sorted, kind_of_type, kind_of_value, subcommand_choice
from ..declarations.calls import Call, keyword_of
from ..declarations.docstrings import parameter_texts, summary
from ..declarations.parameters import MISSING, Parameter, apply_default, fields_of, names_class, nested, parameters_of
from ..declarations.scopes import Function
from ..declarations.source import Source
from ..declarations.types import annotated_call, enum_name, read_type
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from ..texts import dotted, one_line

WORDS = frozenset({"tyro"})
MAX_DEPTH = 6


def read(program: Program) -> OptionsRead | None:
    """Return the options of the first component that tyro gets."""
    source = Source(program, WORDS)
    for call in source.calls("cli", "subcommand_cli_from_dict", tops=("tyro",)):
        result = OptionsRead()
        component = source.assigned(call.module, call.argument(0, "f"))
        if call.last == "subcommand_cli_from_dict" and isinstance(component, ast.Dict):
            _add_commands(source, result, call, component)
        elif component is not None:
            _add_component(source, result, call.module, component, None)
        return result
    return None


def _add_commands(source: Source, result: OptionsRead, call: Call, component: ast.Dict) -> None:
    named = [
        (source.string(call.module, key), value) for key, value in zip(component.keys, component.values, strict=True)
    ]
    known = [(name, value) for name, value in named if name]
    result.options.append(
        subcommand_choice((name for name, _value in known), call.node.lineno, source.path(call.module))
    )
    for name, value in known:
        _add_component(source, result, call.module, value, name)


def _add_component(source: Source, result: OptionsRead, module: Module, node: ast.expr, command: str | None) -> None:
    own = source.definition(module, node) or read_type(source, module, node).definition
    if own is not None and isinstance(own[1], Function):
        result.description = result.description or summary(own[1])
        parameters = parameters_of(source, own[0], own[1])
    elif own is not None and isinstance(own[1], ast.ClassDef):
        result.description = result.description or summary(own[1])
        parameters = fields_of(source, own[0], own[1]) or _of_init(source, own[0], own[1])
    else:
        sentence = _("The options are built while the script runs.")
        result.unread.append(UnreadOptions(sentence, node.lineno, source.path(module)))
        return
    _add(source, result, parameters, "", command)


def _of_init(source: Source, module: Module, node: ast.ClassDef) -> list[Parameter]:
    texts = parameter_texts(node)
    for statement in node.body:
        if isinstance(statement, Function) and statement.name == "__init__":
            found = parameters_of(source, module, statement, method=True)
            for parameter in found:
                parameter.help = parameter.help or texts.get(parameter.name)
            return found
    return []


def _add(
    source: Source, result: OptionsRead, parameters: list[Parameter], prefix: str, command: str | None, depth: int = 0
) -> None:
    inner: list[tuple[Parameter, list[Parameter]]] = []
    for parameter in parameters:
        own = nested(parameter.type, source)
        if own is not None and depth < MAX_DEPTH:
            inner.append((parameter, fields_of(source, *own)))
        elif parameter.type.definition is not None or (parameter.type.is_union and names_class(source, parameter)):
            sentence = _("{name} has options that depend on its value.", name=f"--{prefix}{parameter.name}")
            result.unread.append(UnreadOptions(sentence, parameter.line, source.path(parameter.module)))
        else:
            option = _option(source, parameter, prefix, command)
            if option is not None:
                result.options.append(option)
    for parameter, fields in inner:
        apply_default(source, parameter, fields)
        _add(source, result, fields, f"{prefix}{_dashed(parameter.name)}.", command, depth + 1)


def _option(source: Source, parameter: Parameter, prefix: str, command: str | None) -> ScriptOption | None:
    found, default = parameter.type, parameter.default
    settings = annotated_call(found, "arg")
    help_, aliases, name = parameter.help, [], _dashed(parameter.name)
    if settings is not None:
        help_ = one_line(source.string(parameter.module, keyword_of(settings, "help"))) or help_
        aliases = choices_of(source.value(parameter.module, keyword_of(settings, "aliases")))
        name = source.string(parameter.module, keyword_of(settings, "name")) or name
    marks = {*found.wrappers, *((dotted(one) or "").rpartition(".")[2] for one in found.metadata)}
    if "Suppress" in marks or "Fixed" in marks:
        return None
    positional = "Positional" in marks
    missing = default is MISSING
    kind = kind_of_type(found) if parameter.annotated else kind_of_value(default)
    choices = choices_of([enum_name(choice) for choice in found.choices])
    if kind == "flag" and (missing or positional):
        kind = "boolean"
    flag = f"--{prefix}{name}"
    return ScriptOption(
        flags=[] if positional else [flag, *flags_sorted(aliases)],
        dest=f"{prefix}{parameter.name}",
        kind="choice" if choices and kind != "list" else kind,
        item_kind=found.item_kind,
        default=None if missing or default is UNKNOWN else as_text(enum_name(default)),
        choices=choices,
        help=help_,
        required=missing,
        off_flag=f"--{prefix}no-{name}" if kind == "flag" else None,
        group=prefix.rstrip(".") or None,
        command=command,
        line=parameter.line,
        path=source.path(parameter.module),
    )


def _dashed(name: str) -> str:
    return name.replace("_", "-")


FAMILY = Family("tyro", WORDS, read)
