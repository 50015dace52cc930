"""Options of click: decorators of the command that the script runs, and of its subcommands."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Final

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import OptionKind, as_text, choices_of, flags_sorted, kind_of_value, subcommand_choice
from ..declarations.calls import Call, keyword_of
from ..declarations.docstrings import summary
from ..declarations.scopes import Function, in_order
from ..declarations.source import Source
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Definition, Program
from ..texts import dotted, one_line
from .click_models import options_of_model

WORDS = frozenset({"click", "rich_click", "asyncclick"})
_NUMBERS: Final[dict[str, OptionKind]] = {
    "int": "int",
    "INT": "int",
    "IntRange": "int",
    "float": "float",
    "FLOAT": "float",
    "FloatRange": "float",
    "bool": "boolean",
    "BOOL": "boolean",
}


@dataclass
class _Command:
    """A command or group, with its function."""

    name: str
    module: Module
    node: Function
    decorators: list[ast.expr]
    is_group: bool
    commands: list[_Command] = field(default_factory=list)


def read(program: Program) -> OptionsRead | None:
    """Return the options of the command that the script runs."""
    source = Source(program, WORDS)
    if not source.is_used:
        return None
    commands = _commands(source)
    root = _root(source, commands)
    if root is None:
        return _without_root(source, commands)
    result = OptionsRead(description=summary(root.node))
    _add(source, result, root, None)
    return result


def _without_root(source: Source, commands: dict[int, _Command]) -> OptionsRead | None:
    """Report the commands of the script itself, if none of them is certainly called."""
    own = [command for command in commands.values() if command.module is source.main]
    if not own:
        return None
    sentence = _("The options are built while the script runs.")
    return OptionsRead(unread=[UnreadOptions(sentence, own[0].node.lineno)])


def _commands(source: Source) -> dict[int, _Command]:
    """Return the commands of the program by the identity of their functions, with their subcommands."""
    found: dict[int, _Command] = {}
    waiting: list[tuple[_Command, ast.expr]] = []
    for module in source.modules:
        for node in in_order(module.tree) if module.tree else ():
            if isinstance(node, Function) and node.decorator_list:
                _collect(source, module, node, found, waiting)
    for command, owner in waiting:
        own = source.definition(command.module, owner)
        if own is not None and id(own[1]) in found:
            found[id(own[1])].commands.append(command)
    for module in source.modules:
        for node in in_order(module.tree) if module.tree else ():
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr="add_command"), args=[added, *_rest]):
                    group, command_ = source.definition(module, owner), source.definition(module, added)
                    if group and command_ and id(group[1]) in found and id(command_[1]) in found:
                        one = found[id(command_[1])]
                        name = source.string(module, node.args[1] if len(node.args) > 1 else keyword_of(node, "name"))
                        one.name = name or one.name
                        found[id(group[1])].commands.append(one)
    return found


def _collect(
    source: Source,
    module: Module,
    node: Function,
    found: dict[int, _Command],
    waiting: list[tuple[_Command, ast.expr]],
) -> None:
    for decorator in node.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = (dotted(function) or "").rpartition(".")[2]
        if last not in ("command", "group"):
            continue
        name = None
        if isinstance(decorator, ast.Call):
            name = source.string(module, decorator.args[0] if decorator.args else keyword_of(decorator, "name"))
        top = source.library(module, function).partition(".")[0]
        command = _Command(
            name or node.name.lower().replace("_", "-"), module, node, node.decorator_list, last == "group"
        )
        if top in WORDS:
            found[id(node)] = command
        elif not top and isinstance(function, ast.Attribute) and source.definition(module, function.value):
            found[id(node)] = command
            waiting.append((command, function.value))


def _root(source: Source, commands: dict[int, _Command]) -> _Command | None:
    """Return the command that the script calls."""
    children = {id(child.node) for command in commands.values() for child in command.commands}
    for node in in_order(source.main.tree) if source.main.tree else ():
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr == "main":
                function = function.value
            own = source.definition(source.main, function)
            if own is not None and id(own[1]) in commands and id(own[1]) not in children:
                return commands[id(own[1])]
    return None


def _add(source: Source, result: OptionsRead, command: _Command, path: str | None) -> None:
    for call in _parameters(source, result, command, path):
        option = call if isinstance(call, ScriptOption) else _option(source, call, path)
        if option is not None:
            result.options.append(option)
    if not command.commands:
        return
    names = [one.name for one in command.commands]
    result.options.append(subcommand_choice(names, command.node.lineno, source.path(command.module), command=path))
    for one in command.commands:
        _add(source, result, one, f"{path} {one.name}" if path else one.name)


def _parameters(source: Source, result: OptionsRead, command: _Command, path: str | None) -> list[Call | ScriptOption]:
    """Return the calls of ``option`` and ``argument`` that decorate a command, the first decorator first.

    Options that a decorator makes from the fields of a class are returned as they are.
    """
    found: list[Call | ScriptOption] = []
    for decorator in command.decorators:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = source.library(command.module, function)
        if name and isinstance(decorator, ast.Call):
            if name.rpartition(".")[2] in ("option", "argument") and "click" in name:
                found.append(Call(name, command.module, decorator))
            continue
        resolved = source.resolve(command.module, function)
        if isinstance(resolved, Definition):
            shared = _shared(source, resolved)
            named = [all(source.string(one.module, x) is not None for x in one.node.args) for one in shared or []]
            if named == [False] and shared:
                made = options_of_model(source, command.module, decorator, resolved, shared[0].node, path)
                found += made or []
                shared = [] if made else None
            if shared is None:
                sentence = _("{function} may add options while the script runs.", function=dotted(function) or "")
                result.unread.append(UnreadOptions(sentence, decorator.lineno, source.path(command.module)))
            found += shared or []
    return found


def _shared(source: Source, resolved: Definition) -> list[Call] | None:
    """Return the options that a decorator of the workspace adds, the outermost first; None if it adds no options."""
    module, node = resolved.module, resolved.node
    found = [
        Call(name, module, child)
        for child in in_order(node)
        if isinstance(child, ast.Call)
        and (name := source.library(module, child.func)).rpartition(".")[2] in ("option", "argument")
        and name.partition(".")[0] in WORDS
    ]
    if isinstance(node, Function):
        listed = [child for child in ast.walk(node) if isinstance(child, ast.For)]
        if listed and not found:
            inner = listed[0].iter
            inner = inner.args[0] if isinstance(inner, ast.Call) and inner.args else inner
            items = source.resolve(module, inner)
            if isinstance(items, Definition):
                return _shared(source, items)
        statements = [one for one in node.body if isinstance(one, ast.Assign | ast.Return)]
        return found[::-1] if len(statements) > 2 else found or None
    return found or None


def _option(source: Source, call: Call, command: str | None) -> ScriptOption | None:
    module, is_option = call.module, call.last == "option"
    names = [source.string(module, argument) for argument in call.node.args]

    def value(name: str) -> Any:
        node = call.keyword(name)
        return None if node is None else source.value(module, node)

    if value("hidden") is True or not names or None in names:
        return None
    spellings = [part.strip() for name in names if name for part in name.split("/")]
    flags = [one for one in spellings if one.startswith("-")]
    off = [name.split("/")[1].strip() for name in names if name and "/" in name]
    dest = next((name for one in spellings if (name := one.replace("-", "_")).isidentifier() and one[0] != "-"), None)
    on = flags_sorted([flag for flag in flags if flag not in off])
    default = value("default")
    type_name, choices, many = _type(source, call)
    nargs = value("nargs")
    kind: OptionKind = "choice" if choices else _NUMBERS.get(type_name, "text")
    if not type_name and not choices and default is not UNKNOWN and default is not None:
        guessed = kind_of_value(default)
        kind = "boolean" if guessed == "flag" else guessed  # A default of True alone makes no flag.
    counted, is_flag = value("count") is True, value("is_flag")
    has_flag_value = value("flag_value") is not None
    if is_option and (is_flag is True or counted or (is_flag is not False and (off or has_flag_value))):
        kind = "flag"
    elif (isinstance(nargs, int) and nargs != 1) or many:
        kind = "list"
    if kind == "flag" and call.keyword("default") is None:
        default = 0 if counted else False
    if kind == "flag" and not counted and isinstance(default, bool | int):
        default = bool(default)
    text = value("help")
    return ScriptOption(
        flags=on if is_option else [],
        dest=dest or (on[0].lstrip("-").replace("-", "_").lower() if on else "value"),
        kind=kind,
        item_kind="int" if type_name == "int" else "float" if type_name == "float" else "text",
        items=nargs if kind == "list" and isinstance(nargs, int) and nargs > 1 else None,
        default=None if value("multiple") is True and not default else as_text(default),
        choices=choices,
        help=one_line(text.replace("\b", "")) if isinstance(text, str) else None,
        metavar=value("metavar") if isinstance(value("metavar"), str) else None,
        required=_is_required(is_option, value("required"), default, nargs),
        repeatable=value("multiple") is True or counted,
        off_flag=off[0] if off else None,
        value_optional=kind != "flag" and has_flag_value,
        command=command,
        line=call.node.lineno,
        path=source.path(module),
    )


def _is_required(is_option: bool, required: Any, default: Any, nargs: Any) -> bool:
    if required is not None:
        return required is True
    return not is_option and default is None and nargs != -1


def _type(source: Source, call: Call) -> tuple[str, list[str], bool]:
    """Return the name of the type, its choices, and True for a tuple of types."""
    node = source.assigned(call.module, call.keyword("type"))
    if isinstance(node, ast.Tuple):
        return "", [], True
    name = (dotted(node.func if isinstance(node, ast.Call) else node) or "").rpartition(".")[2]
    if name != "Choice" or not isinstance(node, ast.Call):
        return name, [], False
    listed = node.args[0] if node.args else keyword_of(node, "choices")
    own = source.definition(call.module, listed)
    members = source.members(*own) if own else []
    return name, [one.name for one in members] or choices_of(source.value(call.module, listed)), False


FAMILY = Family("click", WORDS, read)
