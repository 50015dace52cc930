"""Options of jsonargparse: components that ``CLI`` gets, and what is added to an ``ArgumentParser``."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import argument_option, subcommand_choice
from ..declarations.calls import Call
from ..declarations.docstrings import summary
from ..declarations.parameters import bases_of, parameters_of
from ..declarations.source import Function, Source
from ..declarations.typed_options import options_of, parameters_of_class
from ..interpreter.modules import Module
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from ..texts import one_line

WORDS = frozenset({"jsonargparse"})
Component = tuple[Module, ast.stmt]
_ADDERS = ("add_class_arguments", "add_dataclass_arguments", "add_function_arguments", "add_subclass_arguments")


def read(program: Program) -> OptionsRead | None:
    """Return the options of the program's first command line or parser."""
    source = Source(program, WORDS)
    for call in source.calls("CLI", "auto_cli", "ArgumentParser", tops=("jsonargparse",)):
        result = OptionsRead()
        if call.last == "ArgumentParser":
            _read_parser(source, call, result)
        else:
            _read_components(source, call, result)
        return result
    return None


def _read_components(source: Source, call: Call, result: OptionsRead) -> None:
    module = call.module
    node = source.assigned(module, call.argument(0, "components"))
    positional = source.value(module, call.keyword("as_positional")) is not False
    named: dict[str, Component] = {}
    if isinstance(node, ast.List | ast.Tuple):
        found = [source.definition(module, item) for item in node.elts]
        named = {own[1].name: own for own in found if own and isinstance(own[1], Function | ast.ClassDef)}
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name, own = source.string(module, key), source.definition(module, value)
            if name and own:
                named[name] = own
    elif node is None:
        statements = module.tree.body if module.tree else []
        named = {one.name: (module, one) for one in statements if isinstance(one, Function | ast.ClassDef)}
    single = source.definition(module, node) if node is not None else None
    if node is None and len(named) == 1:
        single, named = next(iter(named.values())), {}
    result.options.append(_config(source, call, None))
    if single is not None:
        _add(source, result, single, None, call, positional=positional)
    elif named:
        result.options.append(_commands(source, call, list(named), None))
        for name, own in named.items():
            result.options.append(_config(source, call, name))
            _add(source, result, own, name, call, positional=positional)
    else:
        result.options = []
        sentence = _("The options are built while the script runs.")
        result.unread.append(UnreadOptions(sentence, call.node.lineno, source.path(module)))


def _add(
    source: Source, result: OptionsRead, own: Component, command: str | None, call: Call, *, positional: bool
) -> None:
    module, node = own
    if isinstance(node, Function):
        result.description = result.description or (summary(node) if command is None else None)
        parameters = parameters_of(source, module, node)
        result.options += options_of(source, parameters, "", command, positional=positional)
    elif isinstance(node, ast.ClassDef):
        parameters = parameters_of_class(source, module, node)
        result.options += options_of(source, parameters, "", command, positional=positional)
        methods = {
            one.name: (owner, one)
            for owner, class_ in bases_of(source, module, node)[0]
            for one in class_.body
            if isinstance(one, Function) and not one.name.startswith("_")
        }
        if methods:
            result.options.append(_commands(source, call, list(methods), command))
        for name, (owner, method) in methods.items():
            path = f"{command} {name}" if command else name
            result.options.append(_config(source, call, path))
            parameters = parameters_of(source, owner, method, method=True)
            result.options += options_of(source, parameters, "", path, positional=positional)


def _config(source: Source, call: Call, command: str | None) -> ScriptOption:
    return ScriptOption(
        flags=["--config"],
        dest="config",
        kind="text",
        help="Path to a configuration file.",
        library="jsonargparse",
        command=command,
        line=call.node.lineno,
        path=source.path(call.module),
    )


def _commands(source: Source, call: Call, names: list[str], command: str | None) -> ScriptOption:
    return subcommand_choice(names, call.node.lineno, source.path(call.module), dest="subcommand", command=command)


def _read_parser(source: Source, call: Call, result: OptionsRead) -> None:
    result.description = one_line(source.string(call.module, call.keyword("description")))
    for added in source.methods(call, "add_argument", *_ADDERS):
        result.places.add((source.path(added.module), added.node.lineno))
        if added.name == "add_argument":
            option = argument_option(source, added)
            result.options += [option] if option else []
            continue
        own = source.definition(added.module, added.node.args[0] if added.node.args else None)
        if own is None or added.name == "add_subclass_arguments":
            sentence = _("The options of a class are known only while the script runs.")
            result.unread.append(UnreadOptions(sentence, added.node.lineno, source.path(added.module)))
            continue
        key = source.string(added.module, added.argument(1, "nested_key"))
        module, node = own
        parameters = (
            parameters_of(source, module, node)
            if isinstance(node, Function)
            else parameters_of_class(source, module, node)
        )
        result.options += options_of(source, parameters, f"{key}." if key else "", None, positional=False)


FAMILY = Family("jsonargparse", WORDS, read)
