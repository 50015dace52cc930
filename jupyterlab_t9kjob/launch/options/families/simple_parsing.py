"""Options of simple-parsing: fields of dataclasses, with their comments as help."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import (
    argument_option,
    as_text,
    choices_of,
    flags_sorted,
    kind_of_type,
    subcommand_choice,
)
from ..declarations.calls import Call, keyword_of
from ..declarations.parameters import MISSING, Parameter, classes_named, fields_of, is_dataclass, nested
from ..declarations.source import Source
from ..declarations.types import enum_name
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Definition, Program
from ..texts import dotted, one_line

WORDS = frozenset({"simple_parsing"})
MAX_DEPTH = 6


def read(program: Program) -> OptionsRead | None:
    """Return the options of the dataclasses that the program's parsers get."""
    source = Source(program, WORDS)
    for call in source.calls("ArgumentParser", "parse", "parse_known_args", tops=("simple_parsing",)):
        result = OptionsRead(description=one_line(source.string(call.module, call.keyword("description"))))
        if call.last == "ArgumentParser":
            for added in source.methods(call, "add_argument", "add_arguments"):
                result.places.add((source.path(added.module), added.node.lineno))
                if added.name == "add_argument":
                    option = argument_option(source, added)
                    result.options += [option] if option else []
                else:
                    prefix = source.string(call.module, added.keyword("prefix")) or ""
                    _add_class(source, result, added, added.argument(0, "dataclass"), prefix)
        else:
            _add_class(source, result, call, call.argument(0, "config_class"), "")
        return result
    return None


def _add_class(source: Source, result: OptionsRead, call: Call, node: ast.expr | None, prefix: str) -> None:
    own = source.definition(call.module, node)
    if own is not None and isinstance(own[1], ast.ClassDef):
        _add(source, result, own[0], own[1], prefix)


def _add(
    source: Source,
    result: OptionsRead,
    module: Module,
    node: ast.ClassDef,
    prefix: str,
    command: str | None = None,
    depth: int = 0,
) -> None:
    """Add the options of a dataclass and of the dataclasses in its fields.

    Parameters
    ----------
    source
        The program.
    result
        Gets the options.
    module, node
        The dataclass, with its module.
    prefix
        Text before the names.
    command
        Subcommand that takes the options; None for none.
    depth
        Number of dataclasses around this one.
    """
    inner: list[tuple[Module, ast.ClassDef]] = []
    for parameter in fields_of(source, module, node):
        chosen = _subgroups(source, result, parameter, prefix, command)
        if chosen is not None:
            inner += chosen if depth < MAX_DEPTH else []
            continue
        own = nested(parameter.type, source)
        if own is not None and depth < MAX_DEPTH:
            inner.append(own)
            continue
        classes = classes_named(source, parameter) if parameter.type.is_union else []
        if classes and command is None and all(is_dataclass(source, *one) for one in classes):
            names = [class_.name.lower() for _module, class_ in classes]
            path = source.path(parameter.module)
            result.options.append(subcommand_choice(names, parameter.line, path, dest=parameter.name))
            for name, one in zip(names, classes, strict=True):
                _add(source, result, *one, prefix, name, depth + 1)
            continue
        if classes:
            _depends(source, result, parameter, prefix)
            continue
        option = _option(source, parameter, prefix)
        if option is not None:
            option.command = command
            result.options.append(option)
    for class_module, class_ in inner:
        _add(source, result, class_module, class_, prefix, command, depth + 1)


def _subgroups(
    source: Source, result: OptionsRead, parameter: Parameter, prefix: str, command: str | None
) -> list[tuple[Module, ast.ClassDef]] | None:
    """Add the option that chooses one of several dataclasses; return the dataclass of its default.

    The options of the other dataclasses exist only if the option chooses them, so they are reported as not read. The
    result is None for a field without such a choice.
    """
    call = parameter.call
    if call is None or (dotted(call.func) or "").rpartition(".")[2] != "subgroups":
        return None
    owner, node = parameter.module, call.args[0] if call.args else keyword_of(call, "subgroups")
    resolved = source.resolve(owner, node)
    if isinstance(resolved, Definition) and isinstance(resolved.node, ast.Assign | ast.AnnAssign):
        owner, node = resolved.module, resolved.node.value
    if not isinstance(node, ast.Dict):
        _depends(source, result, parameter, prefix)
        return []
    offered: dict[str, tuple[Module, ast.ClassDef] | None] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = source.string(owner, key)
        made = value.args[0] if isinstance(value, ast.Call) and value.args else value  # functools.partial(Class)
        own = source.definition(owner, made)
        if name is not None:
            offered[name] = (own[0], own[1]) if own is not None and isinstance(own[1], ast.ClassDef) else None
    default = source.string(parameter.module, keyword_of(call, "default"))
    result.options.append(
        ScriptOption(
            flags=[f"--{prefix}{parameter.name}"],
            dest=f"{prefix}{parameter.name}",
            kind="choice",
            default=default,
            choices=list(offered),
            help=parameter.help,
            required=keyword_of(call, "default") is None,
            command=command,
            line=parameter.line,
            path=source.path(parameter.module),
        )
    )
    chosen = offered.get(default or "")
    if any(own is None or own is not chosen for own in offered.values()):
        _depends(source, result, parameter, prefix)
    return [chosen] if chosen is not None else []


def _depends(source: Source, result: OptionsRead, parameter: Parameter, prefix: str) -> None:
    sentence = _("{name} has options that depend on its value.", name=f"{prefix}{parameter.name}")
    result.unread.append(UnreadOptions(sentence, parameter.line, source.path(parameter.module)))


def _alias(name: str, prefix: str) -> str:
    """Return the flag of an alias, which may have its dashes already."""
    bare = name[2:] if name.startswith("--") else name.removeprefix("-")
    dashes = name[: len(name) - len(bare)] or ("-" if len(name) == 1 else "--")
    return f"{dashes}{prefix}{bare}"


def _option(source: Source, parameter: Parameter, prefix: str) -> ScriptOption | None:
    module, call, default, found = parameter.module, parameter.call, parameter.default, parameter.type
    name, help_ = f"{prefix}{parameter.name}", parameter.help
    aliases = [f"-{name}"] if len(parameter.name) == 1 else []
    positional = False
    choices = choices_of([enum_name(choice) for choice in found.choices])
    kind = kind_of_type(found)
    if call is not None:
        if source.value(module, keyword_of(call, "cmd")) is False:
            return None
        given = source.value(module, keyword_of(call, "alias"))
        aliases += [_alias(one, prefix) for one in choices_of([given] if isinstance(given, str) else given)]
        positional = source.value(module, keyword_of(call, "positional")) is True
        help_ = help_ or one_line(source.string(module, keyword_of(call, "help")))
        function = (dotted(call.func) or "").rpartition(".")[2]
        if default is MISSING and function in ("field", "flag") and call.args:
            default = source.value(module, call.args[0])
        elif function == "list_field":
            default = [source.value(module, argument) for argument in call.args]
            default = UNKNOWN if UNKNOWN in default else default
        elif function == "choice":
            values = [source.value(module, argument) for argument in call.args]
            choices = choices_of(values[0] if len(values) == 1 and isinstance(values[0], list | dict) else values)
            own = source.definition(module, call.args[0]) if call.args else None
            choices = [member.name for member in source.members(*own)] if own else choices
            kind = "choice" if choices else kind
    if kind == "choice" and not choices:
        kind = "text"
    return ScriptOption(
        flags=[] if positional else [f"--{name}", *flags_sorted(aliases)],
        dest=name,
        kind=kind if kind == "list" or not choices else "choice",
        item_kind=found.item_kind,
        default=None if default is MISSING or default is UNKNOWN else as_text(enum_name(default)),
        choices=choices,
        help=help_,
        required=default is MISSING,
        value_optional=kind == "flag",
        off_flag=f"--no{name}" if kind == "flag" else None,
        line=parameter.line,
        path=source.path(module),
    )


FAMILY = Family("simple-parsing", WORDS, read)
