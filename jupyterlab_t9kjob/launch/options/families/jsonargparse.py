"""Options of jsonargparse: components that ``CLI`` gets, and what is added to an ``ArgumentParser``."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import argument_option, subcommand_choice
from ..declarations.calls import Call
from ..declarations.docstrings import summary
from ..declarations.parameters import bases_of
from ..declarations.scopes import Function, in_order
from ..declarations.signatures import signature_of, without
from ..declarations.source import Source
from ..declarations.typed_options import options_of
from ..interpreter.module import Module
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Definition, Program
from ..texts import one_line

WORDS = frozenset({"jsonargparse"})
MAX_DEPTH = 4
Component = tuple[Module, ast.stmt]
_ADDERS = ("add_class_arguments", "add_dataclass_arguments", "add_function_arguments", "add_subclass_arguments")


def read(program: Program) -> OptionsRead | None:
    """Return the options of the program's first command line or parser."""
    source = Source(program, WORDS)
    calls = list(source.calls("CLI", "auto_cli", "ArgumentParser", tops=("jsonargparse",)))
    for call in _main_first(source, calls)[:1]:
        result = OptionsRead()
        if call.last == "ArgumentParser":
            _read_parser(source, call, result, None)
        else:
            _read_components(source, call, result)
        return result
    return None


def _main_first(source: Source, calls: list[Call]) -> list[Call]:
    """Return the calls with the parsers that have subcommands first, then those that parse the command line."""

    def rank(call: Call) -> int:
        if call.last != "ArgumentParser":
            return 1
        if any(source.methods(call, "add_subcommands")):
            return 0
        return 1 if any(source.methods(call, "parse_args", "parse_known_args")) else 2

    return sorted(calls, key=rank) if len(calls) > 1 else calls


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
    if isinstance(node, Function | ast.ClassDef):
        _add_signature(source, result, module, node, command, positional=positional)
    if isinstance(node, ast.ClassDef):
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
            _add_signature(source, result, owner, method, path, positional=positional, method=True)


def _add_signature(
    source: Source,
    result: OptionsRead,
    module: Module,
    node: ast.stmt,
    command: str | None,
    *,
    positional: bool,
    method: bool = False,
) -> None:
    signature = signature_of(source, module, node, method=method)
    result.options += options_of(source, signature.parameters, "", command, positional=positional)
    result.unread += signature.unread


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


def _read_parser(source: Source, call: Call, result: OptionsRead, command: str | None, depth: int = 0) -> None:
    """Add the options of a parser, with those of its subcommands."""
    if command is None:
        result.description = one_line(source.string(call.module, call.keyword("description")))
    for added in (*_by_class(source, call), *source.methods(call, "add_argument", *_ADDERS)):
        result.places.add((source.path(added.module), added.node.lineno))
        _read_added(source, added, result, command)
    for subcommands in source.methods(call, "add_subcommands"):
        adders = [*source.methods(subcommands, "add_subcommand")]
        names = [source.string(added.module, added.argument(0, "name")) for added in adders]
        if None in names or not names or depth > MAX_DEPTH:
            sentence = _("The options are built while the script runs.")
            result.unread.append(UnreadOptions(sentence, subcommands.node.lineno, source.path(subcommands.module)))
            continue
        choice = _commands(source, subcommands, [name or "" for name in names], command)
        choice.required = source.value(call.module, subcommands.keyword("required")) is not False
        result.options.append(choice)
        for name, added in zip(names, adders, strict=True):
            parser = _parser_of(source, added.module, added.argument(1, "parser"))
            path = f"{command} {name}" if command else name
            if parser is not None:
                _read_parser(source, parser, result, path, depth + 1)
            else:
                sentence = _("The options of {name} are built while the script runs.", name=path or "")
                result.unread.append(UnreadOptions(sentence, added.node.lineno, source.path(added.module)))


def _read_added(source: Source, added: Call, result: OptionsRead, command: str | None) -> None:
    """Add the options of a call that adds some to a parser."""
    if added.name == "add_argument":
        option = argument_option(source, added)
        if option is not None and not _of_library(source, added):
            option.command = command
            result.options.append(option)
        return
    own = source.definition(added.module, added.node.args[0] if added.node.args else added.keyword("theclass"))
    if own is None or added.name == "add_subclass_arguments":
        sentence = _("The options of a class are known only while the script runs.")
        result.unread.append(UnreadOptions(sentence, added.node.lineno, source.path(added.module)))
        return
    key = source.string(added.module, added.argument(1, "nested_key"))
    signature = signature_of(source, *own)
    result.unread += signature.unread
    skip = added.keyword("skip")
    skipped = source.value(added.module, skip) if skip is not None else []
    if isinstance(skipped, list | tuple):
        parameters = without(signature.parameters, skipped)
        result.options += options_of(source, parameters, f"{key}." if key else "", command, positional=False)
    else:
        sentence = _("The options are built while the script runs.")
        result.unread.append(UnreadOptions(sentence, added.node.lineno, source.path(added.module)))


def _of_library(source: Source, added: Call) -> bool:
    """Return True for the option that names a configuration file."""
    action = added.keyword("action")
    return source.library(added.module, action).endswith("ActionConfigFile") or (
        source.string(added.module, action) == "config"
    )


def _by_class(source: Source, made: Call) -> list[Call]:
    """Return the calls by which a class that derives from `ArgumentParser` adds options to itself."""
    own = source.definition(made.module, made.node.func)
    if own is None or not isinstance(own[1], ast.ClassDef):
        return []
    found: list[Call] = []
    for module, class_ in bases_of(source, own[0], own[1])[0]:
        methods = {one.name: one for one in class_.body if isinstance(one, Function)}
        waiting = [methods["__init__"]] if "__init__" in methods else []
        seen: set[str] = set()
        while waiting:
            for node in in_order(waiting.pop(0)):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                        if name in ("add_argument", *_ADDERS):
                            found.append(Call(name, module, node))
                        elif name in methods and name not in seen:
                            seen.add(name)
                            waiting.append(methods[name])
    return found


def _parser_of(source: Source, module: Module, node: ast.expr | None) -> Call | None:
    """Return the call that makes a parser: the parser's name stands for it, or a function returns the parser."""
    for _step in range(5):
        node = source.assigned(module, node)
        resolved = source.resolve(module, node) if node is not None else None
        if isinstance(resolved, Definition) and isinstance(resolved.node, ast.Assign | ast.AnnAssign):
            module, node = resolved.module, resolved.node.value
        if not isinstance(node, ast.Call):
            return None
        if source.makes(module, node.func).endswith("ArgumentParser"):
            return Call("jsonargparse.ArgumentParser", module, node)
        own = source.definition(module, node.func)
        returned = [one.value for one in in_order(own[1]) if isinstance(one, ast.Return)] if own else []
        if own is None or len(returned) != 1:
            return None
        module, node = own[0], returned[0]
        if isinstance(node, ast.Name):  # a variable of the function
            values = [
                one.value
                for one in in_order(own[1])
                if isinstance(one, ast.Assign) and any(getattr(t, "id", None) == node.id for t in one.targets)
            ]
            node = values[0] if len(values) == 1 else None
    return None


FAMILY = Family("jsonargparse", WORDS, read)
