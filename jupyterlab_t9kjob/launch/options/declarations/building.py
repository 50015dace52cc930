"""Options made of values that were read: texts of values, kinds, and options of ``add_argument`` calls."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any, Final, Literal

from ...model import ScriptOption
from ..interpreter.values import UNKNOWN, WrittenFloat, WrittenInt
from ..texts import dotted, one_line, printable
from .calls import Call
from .constants import Member
from .source import Source
from .types import Type

MAX_TEXT: Final = 2000
OptionKind = Literal["text", "int", "float", "boolean", "flag", "choice", "list"]


def as_text(value: Any) -> str | None:
    """Return a value as it is typed on a command line, a list as a shell takes it; None if it can't be typed."""
    if value is None or value is UNKNOWN or value is Ellipsis or isinstance(value, dict | bytes):
        return None
    if isinstance(value, WrittenInt | WrittenFloat):
        return value.text.replace("_", "")
    if isinstance(value, Member):
        value = value.name if value.value is UNKNOWN else value.value
    if isinstance(value, list | tuple):
        parts = [as_text(item) for item in value]
        text = shlex.join(part for part in parts if part is not None)
    elif isinstance(value, str | int | float):
        try:
            text = str(value)
        except ValueError:  # Python does not convert integers with very many digits.
            return None
    else:
        return None
    return text if len(text) <= MAX_TEXT and printable(text) == text else None


def as_literal(value: Any) -> str | None:
    """Return a value as Python prints it; a text without quotes."""
    if isinstance(value, list | tuple | dict):
        text = repr(_plain(value))
        return text if len(text) <= MAX_TEXT and "UNKNOWN" not in text else None
    return as_text(value)


def as_json(value: Any) -> str | None:
    """Return a list or dict as JSON; other values as they are typed."""
    if isinstance(value, list | tuple | dict):
        try:
            text = json.dumps(_plain(value))
        except (TypeError, ValueError):
            return None
        return text if len(text) <= MAX_TEXT else None
    return as_text(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Member):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_plain(item) for item in value)
    return value


def choices_of(values: Any) -> list[str]:
    """Return choices as texts."""
    if isinstance(values, dict):
        values = list(values)
    if not isinstance(values, list | tuple):
        return []
    return [text for value in values if (text := as_text(value)) is not None]


def kind_of_value(value: Any) -> OptionKind:
    """Return the kind of a default's type."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "text"


def kind_of_type(found: Type) -> OptionKind:
    """Return the kind of an option whose value has a type; a boolean is a flag."""
    return "flag" if found.kind == "bool" else found.kind


def flags_sorted(flags: list[str]) -> list[str]:
    """Return flags without repetitions, the longest first."""
    return sorted(dict.fromkeys(flags), key=len, reverse=True)


def argument_option(source: Source, call: Call) -> ScriptOption | None:
    """Return the option of an ``add_argument`` call; None if it is hidden or its name is not known.

    Parameters
    ----------
    source
        The script and its modules.
    call
        The call.
    """
    module = call.module
    names = [source.string(module, argument) for argument in call.node.args]
    flags = [name for name in names if name]
    if not flags or len(flags) != len(names):
        return None

    def value(name: str) -> Any:
        found = source.value(module, call.keyword(name))
        return None if call.keyword(name) is None else found

    action = value("action") or "store"
    if (dotted(call.keyword("help")) or "").endswith("SUPPRESS") or action in ("help", "version"):
        return None
    converter = (dotted(call.keyword("type")) or "").rpartition(".")[2]
    choices = choices_of(value("choices"))
    is_flag = action in ("store_true", "store_false", "store_const", "count")
    nargs = value("nargs")
    default = as_text(value("default"))
    kind: OptionKind = "choice" if choices else "text"
    if is_flag:
        kind, default = "flag", default or str(action == "store_false")
    elif nargs in ("+", "*") or isinstance(nargs, int):
        kind = "list"
    elif converter in ("int", "float") and not choices:
        kind = "int" if converter == "int" else "float"
    dashed = [flag for flag in flags if flag.startswith("-")]
    long = [flag for flag in dashed if flag.startswith("--")]
    text = value("help")
    return ScriptOption(
        flags=flags_sorted(dashed),
        dest=value("dest") or (long or flags)[0].lstrip("-").replace("-", "_"),
        kind=kind,
        items=nargs if isinstance(nargs, int) and kind == "list" else None,
        default=default,
        choices=choices,
        help=one_line(text.replace("%(default)s", default or "None")) if isinstance(text, str) else None,
        required=value("required") is True or (not dashed and nargs not in ("?", "*") and default is None),
        repeatable=action in ("append", "extend", "count"),
        flag_value=action != "store_false",
        line=call.node.lineno,
        path=source.path(module),
    )


def subcommand_choice(
    names: Iterable[str], line: int, path: str | None, *, dest: str = "command", command: str | None = None
) -> ScriptOption:
    """Return the option that chooses one of several subcommands.

    Parameters
    ----------
    names
        The subcommands.
    line, path
        Line and module in which they are declared.
    dest
        Name of the option.
    command
        Subcommand whose option it is; None for the script itself.
    """
    return ScriptOption(
        flags=[],
        dest=dest,
        kind="choice",
        choices=list(names),
        required=True,
        is_command=True,
        command=command,
        line=line,
        path=path,
    )
