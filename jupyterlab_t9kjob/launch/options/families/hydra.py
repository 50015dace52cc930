"""Options of Hydra: values and groups of the YAML configuration that ``@hydra.main`` names, given as ``a.b=value``.

The defaults list, groups, packages (``group@package``) and configurations in a `ConfigStore` are followed as in
https://hydra.cc/docs/advanced/defaults_list/.
"""

from __future__ import annotations

# ruff: noqa: PTH112, PTH118, PTH120  (names come from files: `Path` raises at some of them)
import ast
import os
from collections.abc import Iterator

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import as_json, as_text, kind_of_type, kind_of_value
from ..declarations.calls import Call
from ..declarations.parameters import MISSING, fields_of, nested
from ..declarations.source import Source
from ..declarations.yaml_config import Config, ConfigFolder, Entry
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program

WORDS = frozenset({"hydra", "hydra_main"})


def read(program: Program) -> OptionsRead | None:
    """Return the values and groups of the program's configuration."""
    source = Source(program, WORDS)
    for call in source.calls("main", tops=("hydra",)):
        return _read(source, call)
    for call in source.calls("hydra_main", tops=("dora",)):  # Dora's decorator has the parameters of Hydra's.
        return _read(source, call)
    return None


def _read(source: Source, call: Call) -> OptionsRead:
    module, line, path = call.module, call.node.lineno, source.path(call.module)
    result = OptionsRead()
    folder = source.string(module, call.argument(0, "config_path"))
    name = source.string(module, call.argument(1, "config_name"))
    if name is None:
        result.unread.append(UnreadOptions(_("The name of the configuration is not known."), line, path))
        return result
    stored = _stored(source, name.removesuffix(".yaml"))
    place = os.path.normpath(os.path.join(os.path.dirname(module.path), folder)) if folder else None
    if place is not None and source.program.modules.may_read(place) and os.path.isdir(place):
        config = Config(ConfigFolder(place, source.program.modules.may_read))
        config.read(name.removesuffix(".yaml"))
        for missing in config.missing:
            sentence = _("The configuration {name} can't be read.", name=missing)
            result.unread.append(UnreadOptions(sentence, line, path))
        result.options = [_of_group(*group, line, path) for group in config.groups.items()]
        result.options += [option_of_entry(entry) for entry in config.entries.values()]
    elif stored is not None:
        result.options = list(_of_class(source, *stored, ""))
    else:
        result.unread.append(UnreadOptions(_("The configuration {name} can't be read.", name=name), line, path))
    return result


def _of_group(key: str, group: tuple[str | None, list[str]], line: int, path: str | None) -> ScriptOption:
    chosen, offered = group
    return ScriptOption(
        flags=[key],
        dest=key,
        kind="choice",
        default=None if chosen == "???" else chosen,
        choices=offered,
        required=chosen == "???",
        syntax="assignment",
        line=line,
        path=path,
    )


def option_of_entry(entry: Entry) -> ScriptOption:
    """Return the option that overrides a value of a configuration."""
    missing = entry.value == "???"
    kind = kind_of_value(entry.value)
    return ScriptOption(
        flags=[entry.key],
        dest=entry.key,
        kind=kind,
        default=None if missing else _text(entry.value),
        help=entry.comment,
        required=missing,
        group=entry.key.rpartition(".")[0] or None,
        syntax="assignment",
        line=entry.line,
        path=entry.file,
    )


def _text(value: object) -> str | None:
    if isinstance(value, list):
        text = as_json(value)
        return text.replace('"', "") if text else None
    return as_text(value)


def _stored(source: Source, name: str) -> tuple[Module, ast.ClassDef] | None:
    """Return the class that a `ConfigStore` has under a name."""
    for module in source.modules:
        for node in ast.walk(module.tree) if module.tree and "ConfigStore" in module.words else ():
            match node:
                case ast.Call(func=ast.Attribute(attr="store")):
                    call = Call("store", module, node)
                    if source.string(module, call.argument(1, "name") or call.keyword("name")) == name:
                        given = call.keyword("node")
                        own = source.definition(module, given.func if isinstance(given, ast.Call) else given)
                        if own is not None and isinstance(own[1], ast.ClassDef):
                            return own[0], own[1]
    return None


def _of_class(
    source: Source, module: Module, node: ast.ClassDef, prefix: str, depth: int = 0
) -> Iterator[ScriptOption]:
    for parameter in fields_of(source, module, node):
        own = nested(parameter.type, source)
        key = f"{prefix}{parameter.name}"
        if own is not None and depth < 6:
            yield from _of_class(source, *own, f"{key}.", depth + 1)
            continue
        default = parameter.default
        missing = default is MISSING or source.library(parameter.module, parameter.node).endswith("MISSING")
        kind = kind_of_type(parameter.type)
        yield ScriptOption(
            flags=[key],
            dest=key,
            kind="text" if kind in ("list", "choice") else kind,
            default=None if missing or default is UNKNOWN else _text(default),
            help=parameter.help,
            required=missing,
            syntax="assignment",
            line=parameter.line,
            path=source.path(parameter.module),
        )


FAMILY = Family("Hydra", WORDS, read)
