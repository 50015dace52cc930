"""Options of Fire: parameters of the function, class or functions that ``fire.Fire`` gets."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import as_literal, kind_of_type, kind_of_value, subcommand_choice
from ..declarations.calls import Call
from ..declarations.docstrings import summary
from ..declarations.parameters import MISSING, Parameter, bases_of, parameters_of
from ..declarations.scopes import Function
from ..declarations.source import Source
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program

WORDS = frozenset({"Fire"})
Definition = tuple[Module, ast.stmt]


def read(program: Program) -> OptionsRead | None:
    """Return the options of the first component that Fire gets."""
    source = Source(program, WORDS)
    for call in source.calls("Fire", tops=("fire",)):
        if call.argument(1, "command") is None:
            result = OptionsRead()
            _read(source, call, result)
            return result
    return None


def _read(source: Source, call: Call, result: OptionsRead) -> None:
    module, line = call.module, call.node.lineno
    component = source.assigned(module, call.argument(0, "component"))
    commands: dict[str, Definition] = {}
    if component is None:
        commands = _functions(module)
    elif isinstance(component, ast.Dict):
        for key, value in zip(component.keys, component.values, strict=True):
            name, own = source.string(module, key), source.definition(module, value)
            if name and own:
                commands[name] = own
            else:
                _unread(source, result, module, line)
    else:
        made = component.func if isinstance(component, ast.Call) else component
        own = source.definition(module, made)
        if isinstance(component, ast.Lambda) or own is None:
            _unread(source, result, module, line)
        elif isinstance(own[1], Function):
            result.description = summary(own[1])
            _add(source, result, own, None)
        elif isinstance(own[1], ast.ClassDef):
            result.description = summary(own[1])
            commands = _methods(source, own[0], own[1])
            init = commands.pop("__init__", None)
            if init is not None and not isinstance(component, ast.Call):
                _add(source, result, init, None, method=True)
            _add_commands(source, result, commands, call, methods=True)
            return
    _add_commands(source, result, commands, call)


def _functions(module: Module) -> dict[str, Definition]:
    statements = module.tree.body if module.tree else []
    return {node.name: (module, node) for node in statements if isinstance(node, Function | ast.ClassDef)}


def _methods(source: Source, module: Module, node: ast.ClassDef) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for owner, class_ in bases_of(source, module, node)[0]:
        for statement in class_.body:
            if isinstance(statement, Function) and (not statement.name.startswith("_") or statement.name == "__init__"):
                found[statement.name] = (owner, statement)
    return found


def _add_commands(
    source: Source, result: OptionsRead, commands: dict[str, Definition], call: Call, *, methods: bool = False
) -> None:
    if not commands:
        return
    result.options.append(subcommand_choice(commands, call.node.lineno, source.path(call.module)))
    for name, own in commands.items():
        if isinstance(own[1], ast.ClassDef):
            init = _methods(source, own[0], own[1]).get("__init__")
            if init is not None:
                _add(source, result, init, name, method=True)
        else:
            _add(source, result, own, name, method=methods)


def _add(source: Source, result: OptionsRead, own: Definition, command: str | None, *, method: bool = False) -> None:
    module, function = own
    if not isinstance(function, Function):
        return
    static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)
    for parameter in parameters_of(source, module, function, method=method and not static):
        result.options.append(_option(source, parameter, command))
    if function.args.kwarg is not None:
        name = function.name
        sentence = _("{function} accepts further options, whose names only its code tells.", function=name)
        result.unread.append(UnreadOptions(sentence, function.lineno, source.path(module)))


def _option(source: Source, parameter: Parameter, command: str | None) -> ScriptOption:
    default = parameter.default
    given = default is not MISSING and default is not None and default is not UNKNOWN
    kind = kind_of_value(default) if given else kind_of_type(parameter.type)
    return ScriptOption(
        flags=[f"--{parameter.name}"],
        dest=parameter.name,
        kind="text" if kind in ("list", "choice") else kind,
        default=as_literal(default) if given else None,
        help=parameter.help,
        required=default is MISSING,
        off_flag=f"--no{parameter.name}" if kind == "flag" else None,
        command=command,
        line=parameter.line,
        path=source.path(parameter.module),
    )


def _unread(source: Source, result: OptionsRead, module: Module, line: int) -> None:
    sentence = _("The options are built while the script runs.")
    result.unread.append(UnreadOptions(sentence, line, source.path(module)))


FAMILY = Family("Fire", WORDS, read)
