"""Options of the script's argparse parsers, from the model that the interpreter made of them."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Final, Literal

from ...core.translation import Text, _
from ..model import ScriptOption
from .interpreter.module import Module
from .interpreter.operators import is_constant, items_of, leaves
from .interpreter.parsers import Action, Parser, Subcommands, Unnamed, dest_of
from .interpreter.state import source_text
from .interpreter.values import ClassValue, DictValue, EnumMember, FunctionValue, Library, ListValue, Value
from .model import OptionsRead, UnreadOptions
from .program import Program
from .texts import MAX_TEXT, one_line, printable

Kind = Literal["text", "int", "float", "boolean", "flag", "choice", "list"]

MAX_OPTIONS: Final = 2000
MAX_CHOICES: Final = 1000
MAX_COMMANDS: Final = 8
FLAGS: Final = frozenset({"store_true", "store_false", "store_const", "append_const", "count"})
VALUES: Final = frozenset({"store", "append", "extend"})
REPEATABLE: Final = frozenset({"append", "append_const", "extend", "count"})
SHOWS: Final = frozenset({"help", "version", "print_config"})
BOOLEAN_WORDS: Final = frozenset({"true", "yes", "t", "y", "1", "on"})


def read(program: Program) -> OptionsRead | None:
    """Return the options that a script reads with argparse; None if it makes no parser."""
    run = program.run
    whole = [one for one in run.parsers if not one.part_of and (not one.actions or not one.is_empty)]
    parsed = [parser for parser in run.parsers if parser.parsed] or whole
    if not parsed and not run.lost:
        return None
    result = OptionsRead()
    reader = _Reader(program.main, result)
    for place in run.lost:
        reader.unread(place)
    for parser in parsed:
        reader.read(parser, None)
        description = parser.kwargs.get("description")
        if result.description is None and isinstance(description, str):
            result.description = printable(" ".join(description.split())) or None
    result.options = list(reader.options.values())
    return result


class _Reader:
    def __init__(self, main: Module, result: OptionsRead) -> None:
        self._main = main
        self._result = result
        self.options: dict[tuple[str | None, str], ScriptOption] = {}

    def read(self, parser: Parser, command: str | None) -> None:
        """Add the options of a parser and its subcommands."""
        for action in parser.actions:
            if isinstance(action, Unnamed):
                self.unread(action)
                continue
            option = _option(action, self._main, command, parser.kwargs.get("argument_default"))
            if isinstance(option, str):
                if option:
                    self.unread(Unnamed(action.line, action.module))
            elif len(self.options) < MAX_OPTIONS:
                self._add(option)
        for commands in parser.subcommands:
            self._commands(commands, command)

    def _add(self, option: ScriptOption) -> None:
        key = (option.command, option.flags[0] if option.flags else option.dest)
        known = self.options.get(key)
        if known is None or (option.condition is None and known.condition is not None):
            self.options[key] = option
        elif option.condition is None and option.line != known.line:
            self.options[key] = option  # A later parser of the script parses the same flag again.

    def _commands(self, commands: Subcommands, command: str | None) -> None:
        if (command or "").count(" ") >= MAX_COMMANDS:
            return
        named = {name: made for name, made in commands.parsers.items() if name and printable(name) == name}
        if len(named) < len(commands.parsers):
            self.unread(Unnamed(commands.line, commands.module))
        if not named:
            return
        dest, help_text = commands.kwargs.get("dest"), commands.kwargs.get("help")
        option = ScriptOption(
            flags=[],
            dest=printable(dest) if isinstance(dest, str) and dest and dest != "==SUPPRESS==" else "command",
            kind="choice",
            choices=list(named),
            help=one_line(help_text) if isinstance(help_text, str) else None,
            required=commands.kwargs.get("required") is True,
            is_command=True,
            command=command,
            condition=commands.condition,
            line=commands.line,
            path=self._path(commands.module),
        )
        self._add(option)
        for name, (parser, _kwargs) in named.items():
            self.read(parser, f"{command} {name}" if command else name)

    def _path(self, module: Module) -> str | None:
        return None if module is self._main else module.path

    def unread(self, place: Unnamed) -> None:
        """Note a place with options that could not be read."""
        path = self._path(place.module)
        if any((found.line, found.path) == (place.line, path) for found in self._result.unread):
            return
        function = place.function
        if function and place.makes:
            sentence = _(
                "{script} gets its parser from {function}, which has more options.", function=function, script=""
            )
        elif function:
            sentence = _(
                "{script} passes its parser to {function}, which may add options.", function=function, script=""
            )
        else:
            sentence = _("{script} builds options while it runs.", script="")
        self._result.unread.append(UnreadOptions(sentence, place.line, path))


def _option(action: Action, main: Module, command: str | None, argument_default: Value) -> ScriptOption | str:
    """Return the option of an ``add_argument``; a text if there is none, empty if the user loses nothing."""
    kwargs, names = action.kwargs, action.names
    kind_of = _action(kwargs)
    if kind_of in SHOWS or _name(kwargs.get("help")) == "argparse.SUPPRESS" or kwargs.get("help") == "==SUPPRESS==":
        return ""
    if kind_of is None or not names or any(printable(name) != name or not name for name in names):
        return "unknown"
    positional = not names[0].startswith(("-", "+"))
    boolean = kind_of == "BooleanOptionalAction"
    flag = boolean or kind_of in FLAGS or (kind_of == "class" and kwargs.get("nargs") == 0)
    nargs, type_ = kwargs.get("nargs"), kwargs.get("type")
    choices = _choices(kwargs.get("choices"))
    default = kwargs.get("default", argument_default)
    if "default" not in kwargs and kind_of in ("store_true", "store_false"):
        default = kind_of == "store_false"
    text = as_text(default)
    kind, item = _kind(type_, flag=flag, listed=_listed(nargs), choices=choices)
    flags = [] if positional else sorted(names, key=len, reverse=True)
    unknown = text is None and default is not None and _name(default) != "argparse.SUPPRESS"
    return ScriptOption(
        flags=flags,
        dest=printable(dest_of(action)),
        kind=kind,
        item_kind=item,
        items=nargs if kind == "list" and isinstance(nargs, int) else None,
        default=text,
        default_expression=source_text(action.nodes["default"]) if unknown and "default" in action.nodes else None,
        choices=choices,
        help=_help(action, main, text),
        metavar=_metavar(kwargs.get("metavar")),
        required=_positional_required(nargs, default) if positional else kwargs.get("required") is True,
        repeatable=kind_of in REPEATABLE,
        flag_value=kind_of != "store_false",
        off_flag=next((f"--no-{flag[2:]}" for flag in flags if flag.startswith("--")), None) if boolean else None,
        value_optional=nargs == "?" and not positional,
        group=printable(action.group) if action.group else None,
        exclusive=action.exclusive,
        command=command,
        condition=action.condition,
        caution=_caution(type_),
        line=action.line,
        path=None if action.module is main else action.module.path,
    )


def _action(kwargs: dict[Value, Value]) -> str | None:
    """Return the name of an option's action; ``class`` for a class of the script; None if it is not known."""
    action = kwargs.get("action", "store")
    if isinstance(action, str):
        return action if action in FLAGS | VALUES | SHOWS else None
    if isinstance(action, Library):
        named = {"BooleanOptionalAction": "BooleanOptionalAction", "_StoreTrueAction": "store_true"}
        return named.get(action.last, "class")
    if isinstance(action, ClassValue):
        for base in action.lineage():
            if isinstance(base, Library) and base.last in ("_StoreTrueAction", "_HelpAction", "_VersionAction"):
                return {"_StoreTrueAction": "store_true"}.get(base.last, "help")
            if isinstance(base, Library) and base.last == "BooleanOptionalAction":
                return "BooleanOptionalAction"
        return "class"
    return "store" if action is None else None


def _listed(nargs: Value) -> bool:
    return nargs in ("+", "*", "...", "A...") or (isinstance(nargs, int) and nargs > 0) or isinstance(nargs, Library)


def _positional_required(nargs: Value, default: Value) -> bool:
    return nargs not in ("?", "*", "...") and not isinstance(nargs, Library)


def _kind(
    type_: Value, *, flag: bool, listed: bool, choices: list[str]
) -> tuple[Kind, Literal["text", "int", "float"]]:
    name = _name(type_) or ""
    item: Literal["text", "int", "float"] = "text"
    if name in ("builtins.int", "numpy.int64", "numpy.int32"):
        item = "int"
    elif name in ("builtins.float", "numpy.float32", "numpy.float64"):
        item = "float"
    if flag:
        return "flag", "text"
    if listed:
        return "list", item
    if choices:
        return "choice", item
    if isinstance(type_, FunctionValue) and _converts_booleans(type_):
        return "boolean", "text"
    if name.rpartition(".")[2] in ("str2bool", "strtobool", "str_to_bool", "string_to_bool"):
        return "boolean", "text"
    return item, item


def _converts_booleans(function: FunctionValue) -> bool:
    """Return True for a function such as ``str2bool``: it compares its text with words for true and returns a bool."""
    words = {
        str(node.value).lower() for node in ast.walk(function.node) if isinstance(node, ast.Constant) and node.value
    }
    if not words & BOOLEAN_WORDS:
        return False
    returns = [node.value for node in ast.walk(function.node) if isinstance(node, ast.Return) and node.value]
    if isinstance(function.node, ast.Lambda):
        returns = [function.node.body]
    found = 0
    for node in returns:
        constant = isinstance(node, ast.Constant) and isinstance(node.value, bool)
        compared = isinstance(node, ast.Compare | ast.BoolOp)
        own = isinstance(node, ast.Name)  # the value is a bool already
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool"
        if not (constant or compared or own or called):
            return False
        found += constant or compared or called
    return found > 0


def _caution(type_: Value) -> Text | None:
    if _name(type_) == "builtins.bool":
        return _("argparse passes the text to bool(): every text counts as true, also “False”.")
    return None


def _name(value: Value) -> str | None:
    return value.name if isinstance(value, Library) else None


def _choices(value: Value) -> list[str]:
    """Return the choices as texts; an empty list if they are not all known."""
    if isinstance(value, ClassValue):
        return []
    items = items_of(value)
    if items is None or len(items) > MAX_CHOICES or isinstance(value, str):
        return list(dict.fromkeys(value)) if isinstance(value, str) else []
    if leaves(value, (tuple, ListValue)) is None:
        return []
    texts = [as_text(item) for item in items if item is not None]
    return [text for text in texts if text is not None] if None not in texts else []


def as_text(value: Value) -> str | None:
    """Return a value as it is typed on a command line; None for None and for values that can't be typed."""
    if isinstance(value, EnumMember):
        value = value.value
    if isinstance(value, ListValue | tuple):
        items = items_of(value)
        if items is None or leaves(value, (tuple, ListValue), MAX_TEXT) is None:
            return None
        parts = [as_text(item) for item in items]
        if any(part is None and item is not None for part, item in zip(parts, items, strict=True)):
            return None
        text = shlex.join(part for part in parts if part is not None)
    elif isinstance(value, DictValue) and value.certain:
        if not is_constant(tuple(value.contents.values())):
            return None
        text = str(value.contents)
    elif value is None or value is ... or isinstance(value, bytes) or not is_constant(value):
        return None
    else:
        try:
            text = getattr(value, "text", None) or str(value)
        except ValueError:  # Python does not convert integers with very many digits.
            return None
    return text if len(text) <= MAX_TEXT and printable(text) == text else None


def _metavar(value: Value) -> str | None:
    return printable(value[:100]) if isinstance(value, str) and value.strip() else None


def _help(action: Action, main: Module, default: str | None) -> str | None:
    value = action.kwargs.get("help")
    if not isinstance(value, str):
        return None
    fields = {"default": default or "none", "dest": dest_of(action), "prog": main.path.rpartition("/")[2]}
    fields["type"] = (_name(action.kwargs.get("type")) or "").rpartition(".")[2] or "none"
    fields["choices"] = ", ".join(_choices(action.kwargs.get("choices")))
    value = re.sub(r"%\((\w+)\)[sdr]", lambda found: fields.get(found[1], found[0]), value)
    return one_line(value.replace("%%", "%"))
