"""Options of ``LightningCLI``: its own, the trainer's, and the parameters of the model and of the data module."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import argument_option, as_json, as_text, subcommand_choice
from ..declarations.calls import Call
from ..declarations.scopes import Function
from ..declarations.signatures import signature_of
from ..declarations.source import Source
from ..declarations.tables import library_options
from ..declarations.typed_options import options_of
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program

WORDS = frozenset({"LightningCLI"})
COMMANDS = ("fit", "validate", "test", "predict")
_CLASSES = ("data", "optimizer", "lr_scheduler")
"""Options that name a class."""


def read(program: Program) -> OptionsRead | None:
    """Return the options of the program's first `LightningCLI`."""
    source = Source(program, WORDS)
    for call in source.calls("LightningCLI", tops=("lightning", "pytorch_lightning")):
        result = OptionsRead()
        line, path = call.node.lineno, source.path(call.module)
        if source.value(call.module, call.keyword("run")) is False:
            result.options = _common(source, call, result, None)
            extra = library_options("lightning", "fit", line, path) or []
            result.options += [one for one in extra if one.dest in _CLASSES and _has(call, one.dest)]
        else:
            result.options = library_options("lightning", "LightningCLI", line, path) or []
            result.options.append(subcommand_choice(COMMANDS, line, path, dest="subcommand"))
            for command in COMMANDS:
                result.options += _common(source, call, result, command)
                for option in library_options("lightning", command, line, path) or []:
                    if _has(call, option.dest):
                        option.command = command
                        result.options.append(option)
        result.unread = list({(one.line, one.path): one for one in result.unread}.values())
        return result
    return None


def _has(call: Call, option: str) -> bool:
    """Return True if the command line has an option; ``--data`` is there only if the script sets no data module."""
    return option != "data" or isinstance(call.argument(1, "datamodule_class"), ast.Constant | None)


def _common(source: Source, call: Call, result: OptionsRead, command: str | None) -> list[ScriptOption]:
    """Return the options that all subcommands have."""
    module, line, path = call.module, call.node.lineno, source.path(call.module)
    options = library_options("lightning", "LightningCLI", line, path) or []
    options += library_options("lightning", "common", line, path) or []
    options += library_options("lightning", "Trainer", line, path) or []
    for option in options:
        option.command = command
    for index, name, prefix in ((0, "model_class", "model"), (1, "datamodule_class", "data")):
        node = call.argument(index, name)
        if isinstance(node, ast.Constant):
            node = None
        if node is None and prefix == "data":
            continue  # `--data` is in the table.
        own = source.definition(module, node)
        if own is None or source.value(module, call.keyword(f"subclass_mode_{prefix}")) is True:
            sentence = _("The options of --{name} depend on the class that it names.", name=prefix)
            result.unread.append(UnreadOptions(sentence, line, path))
            options.append(_of_subclass(prefix, command, line, path))
        else:
            signature = signature_of(source, *own)
            options += options_of(source, signature.parameters, f"{prefix}.", command, positional=False)
            result.unread += signature.unread
    by_dest = {option.dest: option for option in options}
    _set_defaults(source, call, by_dest)
    _add_own(source, call, result, by_dest, command)
    return list(by_dest.values())


def _of_subclass(name: str, command: str | None, line: int, path: str | None) -> ScriptOption:
    """Return the option that names the class of the model or of the data module."""
    base = "LightningModule" if name == "model" else "LightningDataModule"
    help_ = f'One or more arguments specifying "class_path" and "init_args" for any subclass of {base}.'
    return ScriptOption(flags=[f"--{name}"], dest=name, kind="text", help=help_, command=command, line=line, path=path)


def _set_defaults(source: Source, call: Call, options: dict[str, ScriptOption]) -> None:
    """Apply ``seed_everything_default`` and ``trainer_defaults``."""
    seed = call.keyword("seed_everything_default")
    if seed is not None and "seed_everything" in options:
        options["seed_everything"].default = as_text(source.value(call.module, seed))
    given = source.value(call.module, call.keyword("trainer_defaults"))
    for name, value in given.items() if isinstance(given, dict) else ():
        if f"trainer.{name}" in options:
            options[f"trainer.{name}"].default = as_json(value)


def _add_own(
    source: Source, call: Call, result: OptionsRead, options: dict[str, ScriptOption], command: str | None
) -> None:
    """Apply ``add_arguments_to_parser`` of the class that the script derives from `LightningCLI`."""
    own = source.definition(call.module, call.node.func)
    if own is None or not isinstance(own[1], ast.ClassDef):
        return
    for method in own[1].body:
        if isinstance(method, Function) and method.name == "add_arguments_to_parser" and len(method.args.args) > 1:
            parser = method.args.args[1].arg
            for node in ast.walk(method):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)) if owner == parser:
                        added = Call(name, own[0], node)
                        _apply(source, added, options, command)
                        if name.startswith("add_") and name not in ("add_argument", "add_argument_group"):
                            sentence = _("The options of a class are known only while the script runs.")
                            result.unread.append(UnreadOptions(sentence, node.lineno, source.path(own[0])))


def _apply(source: Source, call: Call, options: dict[str, ScriptOption], command: str | None) -> None:
    module: Module = call.module
    if call.name == "add_argument":
        option = argument_option(source, call)
        if option is not None:
            kind = call.keyword("type")
            if isinstance(kind, ast.Name) and kind.id == "bool":
                option.kind = "boolean"
                option.default = option.default.lower() if option.default else None
            option.command = command
            options[option.dest] = option
    elif call.name == "link_arguments":
        options.pop(source.string(module, call.argument(1, "target")) or "", None)
    elif call.name == "set_defaults" and call.node.args:
        given = source.value(module, call.node.args[0])
        for name, value in given.items() if isinstance(given, dict) else ():
            if name in options and value is not UNKNOWN:
                options[name].default = as_json(value)


FAMILY = Family("LightningCLI", WORDS, read)
