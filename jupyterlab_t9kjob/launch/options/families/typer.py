"""Options of typer: parameters of the functions that ``typer.run`` gets, or that a ``typer.Typer`` has as commands."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ...model import ScriptOption
from ..declarations.building import as_text, choices_of, flags_sorted, kind_of_type, kind_of_value, subcommand_choice
from ..declarations.calls import keyword_of
from ..declarations.docstrings import summary
from ..declarations.parameters import MISSING, Parameter, parameters_of
from ..declarations.scopes import Function, in_order
from ..declarations.source import Source
from ..declarations.types import annotated_call, enum_value
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead
from ..program import Definition, Program
from ..texts import dotted, one_line

WORDS = frozenset({"typer", "Typer"})


@dataclass
class _Function:
    name: str
    module: Module
    node: Function


def read(program: Program) -> OptionsRead | None:
    """Return the options of the function or app that the script runs."""
    source = Source(program, WORDS)
    if not source.is_used:
        return None
    result = OptionsRead()
    for call in source.calls("run", tops=("typer",)):
        own = source.definition(call.module, call.argument(0, "function"))
        if own is not None and isinstance(own[1], Function):
            result.description = summary(own[1])
            _add_function(source, result, _Function("", own[0], own[1]), None)
            return result
    app = _app(source)
    if app is None:
        return None
    _add_app(source, result, app, None)
    return result


def _app(source: Source) -> Definition | None:
    """Return the assignment of the ``typer.Typer`` that the script calls."""
    for node in in_order(source.main.tree) if source.main.tree else ():
        if isinstance(node, ast.Call):
            found = _typer(source, source.main, node.func)
            if found is not None:
                return found
    return None


def _typer(source: Source, module: Module, node: ast.expr) -> Definition | None:
    found = source.resolve(module, node)
    made = getattr(found.node, "value", None) if isinstance(found, Definition) else None
    if not isinstance(found, Definition) or not isinstance(made, ast.Call):
        return None
    return found if source.library(found.module, made.func).rpartition(".")[2] == "Typer" else None


def _add_app(source: Source, result: OptionsRead, app: Definition, path: str | None, depth: int = 0) -> None:
    commands: list[_Function] = []
    callbacks: list[_Function] = []
    nested: list[tuple[str, Definition]] = []
    for module in source.modules:
        for node in in_order(module.tree) if module.tree else ():
            if isinstance(node, Function):
                for decorator in node.decorator_list:
                    kind, name = _registered(source, module, decorator, app)
                    if kind == "command":
                        commands.append(_Function(name or node.name.lower().replace("_", "-"), module, node))
                    elif kind == "callback":
                        callbacks.append(_Function("", module, node))
                continue
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr="add_typer"), args=[added, *_rest]) if depth < 3:
                    inner = _typer(source, module, added) if _is_app(source, module, owner, app) else None
                    name = source.string(module, keyword_of(node, "name"))
                    if inner is not None and name:
                        nested.append((name, inner))
    for callback in callbacks:
        _add_function(source, result, callback, path)
    if len(commands) == 1 and not callbacks and not nested:
        result.description = result.description or summary(commands[0].node)
        _add_function(source, result, commands[0], path)
        return
    names = [command.name for command in commands] + [name for name, _inner in nested]
    if names:
        result.options.append(subcommand_choice(names, app.node.lineno, source.path(app.module), command=path))
    for command in commands:
        _add_function(source, result, command, f"{path} {command.name}" if path else command.name)
    for name, inner in nested:
        _add_app(source, result, inner, f"{path} {name}" if path else name, depth + 1)


def _registered(source: Source, module: Module, decorator: ast.expr, app: Definition) -> tuple[str, str | None]:
    """Return ``command`` or ``callback`` and the command's name if a decorator registers a function with an app."""
    match decorator:
        case ast.Call(func=ast.Attribute(value=owner, attr="command" | "callback" as kind)):
            if _is_app(source, module, owner, app):
                name = decorator.args[0] if decorator.args else keyword_of(decorator, "name")
                return kind, source.string(module, name)
    return "", None


def _is_app(source: Source, module: Module, node: ast.expr, app: Definition) -> bool:
    found = source.resolve(module, node)
    return isinstance(found, Definition) and found.node is app.node


def _add_function(source: Source, result: OptionsRead, function: _Function, command: str | None) -> None:
    for parameter in parameters_of(source, function.module, function.node):
        option = _option(source, parameter, command)
        if option is not None:
            result.options.append(option)


def _option(source: Source, parameter: Parameter, command: str | None) -> ScriptOption | None:
    module, found, default = parameter.module, parameter.type, parameter.default
    call = annotated_call(found, "Option", "Argument")
    declarations: list[ast.expr] = list(call.args) if call is not None else []
    node = parameter.node
    if call is None and isinstance(node, ast.Call) and _last(node.func) in ("Option", "Argument"):
        call = node
        first = node.args[0] if node.args else keyword_of(node, "default")
        declarations = node.args[1:]
        default = MISSING if first is None else source.value(module, first)
        default = MISSING if default is Ellipsis else default
    elif isinstance(node, ast.Attribute | ast.Call) and "Context" in ast.dump(node):
        return None
    if (dotted(node) or "").endswith("Context"):
        return None

    def given(name: str) -> object:
        value = keyword_of(call, name) if call is not None else None
        return None if value is None else source.value(module, value)

    if given("hidden") is True:
        return None
    is_argument = _last(call.func) == "Argument" if call is not None else default is MISSING
    names = [name for one in declarations if (name := source.string(module, one))]
    spellings = [part.strip() for name in names for part in name.split("/") if part.strip().startswith("-")]
    off = next((name.split("/")[1].strip() for name in names if "/" in name), None)
    dashed = parameter.name.replace("_", "-")
    is_flag = found.kind == "bool" and not is_argument
    if not spellings:
        spellings = [f"--{dashed}"]
        off = f"--no-{dashed}" if is_flag else None
    kind = kind_of_type(found) if parameter.annotated else kind_of_value(default)
    repeatable = kind == "list" and not found.fixed
    choices = choices_of([enum_value(choice) for choice in found.choices])
    if kind == "list" and repeatable and not is_argument:
        kind = "text"
    elif kind == "flag" and is_argument:
        kind = "boolean"
    text = given("help")
    return ScriptOption(
        flags=[] if is_argument else flags_sorted([one for one in spellings if one != off]),
        dest=parameter.name,
        kind="choice" if choices and kind != "list" else kind,
        item_kind=found.item_kind,
        default=as_text(enum_value(default)) if default is not MISSING and default is not UNKNOWN else None,
        choices=choices,
        help=one_line(text) if isinstance(text, str) else None,
        required=default is MISSING,
        repeatable=repeatable,
        off_flag=off if is_flag else None,
        command=command,
        line=parameter.line,
        path=source.path(module),
    )


def _last(node: ast.expr) -> str:
    return (dotted(node) or "").rpartition(".")[2]


FAMILY = Family("typer", WORDS, read)
