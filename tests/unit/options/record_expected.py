"""Write the expected options of the corpus from the real libraries: ``python record_expected.py FOLDER…``.

Run it in an environment that has the libraries. Each folder has a script ``train.py``, which is run up to the point
where it parses its command line. Modules that are not installed are replaced by mocks. ``expected.json`` then has what
the library itself knows about the options. Scripts without a library (``sys.argv``, nanoGPT) are described by hand.
"""

from __future__ import annotations

import argparse
import enum
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import re
import runpy
import shlex
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

Option = dict[str, Any]


class Mocks(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder of modules that are not installed: mocks."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        known = name.partition(".")[0] in {"torch", "registry", "deepspeed"}
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = mock.MagicMock(name=spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def text(value: Any) -> str | None:
    """Return a value as it is typed."""
    if value is None or value is inspect.Parameter.empty or value == argparse.SUPPRESS:
        return None
    if isinstance(value, enum.Enum):
        return str(value) if type(value).__str__ is not enum.Enum.__str__ else str(value.value)
    if isinstance(value, list | tuple):
        return shlex.join(str(item) for item in value)
    return str(value)


def option(
    flags: list[str], kind: str, default: Any, choices: Any = (), text_: str | None = None, **more: Any
) -> Option:
    """Return an option as ``expected.json`` has it; entries that say nothing are left out."""
    entry = {"flags": sorted(flags), "kind": kind, "default": text(default)}
    entry |= {"choices": [text(choice) for choice in choices or () if choice is not None]}
    # tyro, simple-parsing and absl add facts to the help that are shown elsewhere.
    words = re.sub(
        r"\((default: .*|required)\)$|^<[^>]*>:?|; repeat this option.*$", "", " ".join((text_ or "").split())
    )
    entry |= {"help": words.strip(), **more}
    return {key: value for key, value in entry.items() if value not in (None, [], False, "")}


def is_hidden(action: argparse.Action) -> bool:
    """Return True for options that are not shown, or that print something and end the script."""
    if isinstance(action, argparse._HelpAction | argparse._VersionAction) or action.help == argparse.SUPPRESS:
        return True
    internal = {"_ActionHelpClassPath", "_ActionPrintConfig", "_ActionConfigLoad"}
    return type(action).__name__ in internal or "--help" in action.option_strings


def is_converter_of_booleans(function: Any) -> bool:
    """Return True for functions such as `str2bool`."""
    try:
        return function is not bool and function("yes") is True and function("no") is False
    except Exception:
        return False


def from_argparse(parser: argparse.ArgumentParser, command: str | None = None) -> Iterator[Option]:
    """Yield the options of a parser and its subcommands."""
    complements = {}
    for action in parser._actions:
        if isinstance(action, argparse._StoreFalseAction) and action.option_strings[0].startswith("--no_"):
            complements[action.dest] = action.option_strings
    taken = {
        action.dest: action
        for action in parser._actions
        if action.dest in complements and is_converter_of_booleans(action.type)
    }
    for action in parser._actions:
        if is_hidden(action):
            continue
        if action.dest in taken and action is not taken[action.dest]:
            continue
        yield from _from_action(parser, action, command, complements if action.dest in taken else {})


def _from_action(
    parser: argparse.ArgumentParser, action: argparse.Action, command: str | None, complements: dict[str, Any]
) -> Iterator[Option]:
    # The default in the help is the one of the action; jsonargparse and simple-parsing add it by their formatters.
    flags = [flag for flag in action.option_strings if not flag.endswith("+")]  # jsonargparse's flags to append
    flags += complements.get(action.dest, [])
    default = parser._defaults.get(action.dest, action.default)
    choices = [] if action.choices is None else list(action.choices)
    help_text = action.help % {**vars(action), "prog": parser.prog} if action.help else None
    kind = "text"
    required = action.required and not (not flags and action.nargs in ("*", "..."))
    if isinstance(action, argparse._SubParsersAction):
        yield option([], "choice", None, choices, help_text, dest=action.dest, required=action.required)
        for name, sub in action.choices.items():
            yield from from_argparse(sub, " ".join(filter(None, (command, name))))
        return
    boolean = is_converter_of_booleans(action.type)
    if type(action).__name__ == "ActionTypeHint" and not action.nargs:
        hint = action._typehint
        alternatives = [one for one in getattr(hint, "__args__", ()) if one is not type(None)]
        if len(alternatives) == 1 and type(None) in hint.__args__:
            hint = alternatives[0]  # Optional[X]
        kind = {int: "int", float: "float"}.get(hint, "text")
        if hint is bool:
            kind = "boolean"
            default = str(default).lower()
        elif getattr(hint, "__args__", None) and all(isinstance(one, str) for one in hint.__args__):
            kind, choices = "choice", list(hint.__args__)
        if isinstance(default, list | dict):
            default = json.dumps(default)
    elif str(default) == "tyro.MISSING_NONPROP":
        written = re.search(r"\(default: (.*)\)$", help_text or "")
        default = None if written is None or written[1] == "None" else written[1]
        shape = action.metavar if isinstance(action.metavar, str) else " ".join(action.metavar or ())
        kind = {"int": "int", "INT": "int", "float": "float", "FLOAT": "float"}.get(shape, "text")
        kind = "choice" if choices else "list" if "[" in shape or " " in shape else kind
    elif action.nargs == 0 or (boolean and action.nargs == "?" and type(parser) is not argparse.ArgumentParser):
        kind = "flag"
        if isinstance(action, argparse._StoreTrueAction | argparse._StoreFalseAction) or boolean:
            default = default if default is None else bool(default)
    elif action.nargs in ("+", "*", "...") or isinstance(action.nargs, int):
        kind = "list"
    elif choices:
        kind = "choice"
    elif boolean:
        kind = "boolean"
    elif action.type in (int, float):
        kind = action.type.__name__
    names = {} if flags else {"dest": action.dest}
    yield option(flags, kind, default, choices, help_text, required=required, command=command, **names)


_CLICK_KINDS = {"integer": "int", "float": "float", "boolean": "boolean"}


def from_click(command: Any, path: str | None = None) -> Iterator[Option]:
    """Yield the options of a click command and of its subcommands."""
    import click

    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name in {"install_completion", "show_completion"}:
            continue
        flags = [*parameter.opts, *parameter.secondary_opts] if isinstance(parameter, click.Option) else []
        default = parameter.default() if callable(parameter.default) else parameter.default
        default = None if type(default).__name__ == "Sentinel" or repr(default).startswith("Sentinel") else default
        choices = list(getattr(parameter.type, "choices", ()))
        kind = "choice" if choices else _CLICK_KINDS.get(parameter.type.name.split()[0], "text")
        if "range" in parameter.type.name:
            kind = parameter.type.name.split()[0].replace("integer", "int")
        if parameter.nargs != 1 or (parameter.multiple and not flags):
            kind = "list"
        if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
            kind, default = "flag", default if default is not None else False
        help_text = getattr(parameter, "help", None)
        names = {} if flags else {"dest": parameter.name}
        if parameter.multiple and not default:
            default = None
        yield option(flags, kind, default, choices, help_text, required=parameter.required, command=path, **names)
    commands = getattr(command, "commands", {})
    if commands:
        yield option([], "choice", None, list(commands), None, dest="command", required=True)
    for name, sub in commands.items():
        yield from from_click(sub, " ".join(filter(None, (path, name))))


def from_absl(values: Any, script: str) -> Iterator[Option]:
    """Yield the flags that the script and its modules define."""
    for module, flags in values.flags_by_module_dict().items():
        if module.startswith("absl"):
            continue
        for flag in flags:
            names = [f"--{flag.name}"] + ([f"-{flag.short_name}"] if flag.short_name else [])
            kind = {"int": "int", "float": "float", "bool": "flag"}.get(flag.flag_type(), "text")
            members = getattr(flag.parser, "enum_class", ())
            choices = list(getattr(flag.parser, "enum_values", None) or [member.name.lower() for member in members])
            default = flag.default
            if kind == "flag":
                names.append(f"--no{flag.name}")
            elif choices:
                kind = "choice"
            if isinstance(default, list):
                default = ",".join(map(str, default)) if flag.flag_type().startswith("comma") else default or None
            if isinstance(default, enum.Enum):
                default = default.name.lower() if choices == [c.lower() for c in choices] else default.name
            required = flag.default is None and bool(flag.validators)
            yield option(names, kind, default, choices, flag.help, required=required)


def from_signature(function: Callable[..., Any], command: str | None = None) -> Iterator[Option]:
    """Yield the options that Fire gives to a function or class."""
    from fire import docstrings

    found = docstrings.parse(inspect.getdoc(function) or "")
    texts = {argument.name: argument.description for argument in found.args or ()}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        default = None if parameter.default is parameter.empty else parameter.default
        kind = {int: "int", float: "float", bool: "flag"}.get(type(default), "text")
        flags = [f"--{name}"] + ([f"--no{name}"] if kind == "flag" else [])
        shown = str(default) if isinstance(default, list | tuple | dict) else default
        required = parameter.default is parameter.empty
        yield option(flags, kind, shown, (), texts.get(name), required=required, command=command)


def from_fire(component: Any, command: str | None = None) -> Iterator[Option]:
    """Yield the options of what a script gives to Fire."""
    members: dict[str, Any] = {}
    if component is None:
        component = {"train": vars(sys.modules["__main__"]).get("train")}
    if isinstance(component, dict):
        members = component
    elif inspect.isclass(component):
        yield from from_signature(component, command)
        members = {k: v for k, v in vars(component).items() if callable(v) and not k.startswith("_")}
    else:
        yield from from_signature(component, command)
    if members:
        yield option([], "choice", None, list(members), None, dest="command", required=True)
    for name, member in members.items():
        bare = types.FunctionType(member.__code__, member.__globals__, name, member.__defaults__)
        bare.__doc__ = member.__doc__
        found = list(from_signature(bare, name))
        yield from (entry for entry in found if entry["flags"] != ["--self"])


def from_hydra(config_path: str | None, config_name: str) -> Iterator[Option]:
    """Yield the values and groups of a Hydra configuration."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.object_type import ObjectType
    from omegaconf import OmegaConf, open_dict

    folder = str(Path(config_path or "nothing").resolve())
    Path(folder).mkdir(exist_ok=True)
    with initialize_config_dir(folder, version_base=None):
        loader = GlobalHydra.instance().config_loader()
        names = [name for name in loader.get_group_options("", ObjectType.GROUP) if name != "hydra"]
        groups = {name: loader.get_group_options(name) for name in names}
        found: dict[str, tuple[Any, list[str]]] = {}
        unset = []
        try:
            config = compose(config_name, return_hydra_config=True)
        except Exception as error:
            unset = re.findall(r"You must specify '(\w+)'", str(error))
            config = compose(config_name, [f"{unset[0]}={groups[unset[0]][0]}"], return_hydra_config=True)
        chosen = {k: v for k, v in config.hydra.runtime.choices.items() if not k.startswith("hydra/")}
        for key, choice in chosen.items():
            found[key] = ("???" if key in unset else choice, loader.get_group_options(key.partition("@")[0]))
        used = {key.partition("@")[0] for key in found}
        found |= {f"+{name}": (None, offered) for name, offered in groups.items() if name not in used}
        with open_dict(config):
            del config["hydra"]
            for name in unset:
                del config[name]
        yield from from_config(OmegaConf.create(config), found)


def from_config(config: Any, choices: dict[str, tuple[Any, list[str]]]) -> Iterator[Option]:
    """Yield the values of a Hydra or OmegaConf configuration, and its groups."""
    from omegaconf import DictConfig, OmegaConf

    for name, (chosen, offered) in choices.items():
        missing = chosen == "???"
        yield option([name], "choice", None if missing else chosen, offered, None, required=missing)

    def values(node: Any, prefix: str) -> Iterator[Option]:
        for key in node:
            name = f"{prefix}{key}"
            if OmegaConf.is_missing(node, key):
                yield option([name], "text", None, required=True)
                continue
            value = node._get_node(key)
            if isinstance(value, DictConfig) and value._value() is not None:
                yield from values(value, f"{name}.")
                continue
            plain = OmegaConf.to_container(value, resolve=False) if OmegaConf.is_config(value) else value._value()
            kind = {int: "int", float: "float", bool: "flag"}.get(type(plain), "text")
            default = json.dumps(plain).replace('"', "") if isinstance(plain, list) else plain
            yield option([name], kind, default)

    yield from values(config, "")


class Recorded(BaseException):
    """Ends the script when its options are known."""


def record(script: Path) -> dict[str, Any]:
    """Run a script until it parses its command line; return its options."""
    found: list[Option] = []
    parsers: list[argparse.ArgumentParser] = []
    original = argparse.ArgumentParser.parse_known_args

    def parse(self: argparse.ArgumentParser, args: Any = None, namespace: Any = None, **more: Any) -> Any:
        if not any(self is parser for parser in parsers):
            parsers.append(self)
        return original(self, [], namespace, **more)

    def end(options: Iterator[Option]) -> Any:
        found.extend(options)
        raise Recorded

    patches: list[Any] = [mock.patch.object(argparse.ArgumentParser, "parse_known_args", parse)]
    family = script.parts[script.parts.index("scripts") + 1]
    if family == "fire":
        import fire

        patches += [mock.patch.object(fire, "Fire", lambda component=None, **_: end(from_fire(component)))]
    elif family in {"click", "typer"}:
        import click
        import typer.core

        for target in {click.Command, typer.core.TyperGroup, typer.core.TyperCommand}:
            patches += [mock.patch.object(target, "main", lambda self, **_: end(from_click(self)))]
    elif family == "absl":
        from absl import app, flags

        patches += [mock.patch.object(app, "run", lambda main: end(from_absl(flags.FLAGS, str(script))))]
    elif family == "tyro":
        import tyro

        def cli(function: Any, **more: Any) -> Any:
            end(from_argparse(tyro.extras.get_parser(function)))

        patches += [mock.patch.object(tyro, "cli", cli)]
    elif family in {"jsonargparse", "lightning"}:
        import jsonargparse

        def parse_args(self: Any, *_: Any, **__: Any) -> Any:
            end(from_argparse(self))

        patches += [mock.patch.object(jsonargparse.ArgumentParser, "parse_args", parse_args)]
    elif family == "hydra":
        import hydra
        from omegaconf import OmegaConf

        def main(config_path: Any = None, config_name: Any = None, version_base: Any = None) -> Any:
            return lambda function: lambda: end(from_hydra(config_path, config_name))

        merged = lambda first, *_: end(from_config(first, {}))  # noqa: E731
        patches += [mock.patch.object(hydra, "main", main), mock.patch.object(OmegaConf, "merge", merged)]
    sys.argv = [str(script)]
    sys.path.insert(0, str(script.parent))
    os.chdir(script.parent)
    for patch in patches:
        patch.start()
    try:
        runpy.run_path(str(script), run_name="__main__")
    except (Recorded, SystemExit):
        pass
    finally:
        for patch in patches:
            patch.stop()
    for parser in parsers:
        found.extend(entry for entry in from_argparse(parser) if entry not in found)
    return {"options": found}


if __name__ == "__main__":
    sys.meta_path.append(Mocks())
    for folder in sys.argv[1:]:
        child = os.fork()
        if not child:
            place = Path(folder).resolve()
            script = next(place.rglob("train.py"))
            path = place / "expected.json"
            old = json.loads(path.read_text()) if path.exists() else {}
            path.write_text(json.dumps({**old, **record(script)}, indent=1) + "\n")
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print("failed:", folder)
