"""Options of a script that uses argparse, read from its syntax tree."""

from __future__ import annotations

import ast
import operator
import shlex
from collections.abc import Callable
from typing import Any, Literal

from ..model import ScriptOption
from .tree_walk import Nodes

Kind = Literal["text", "int", "float", "flag", "choice", "list", "positional"]

MAX_OPTIONS = 500
MAX_STEPS = 1000
MAX_TEXT = 2000
MAX_STRING = 64 * 1024

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
FLAG_ACTIONS = frozenset({"store_true", "store_false", "store_const", "append_const", "count"})
VALUE_ACTIONS = frozenset({"store", "append", "extend"})
REPEATABLE_ACTIONS = frozenset({"append", "append_const", "extend", "count"})
CONVERSIONS = frozenset({"str", "int", "float", "Path", "dedent", "expanduser", "abspath"})


class Unknown(Exception):
    """The value of an expression is known only at run time."""


class Literals:
    """Evaluation of expressions that consist of literals.

    Parameters
    ----------
    tree
        Syntax tree of the script. Names that are assigned once, at its top level, count as literals.
    source
        Text of the script. Numbers are returned as they are written there (``1e-3``).
    """

    def __init__(self, tree: ast.Module, source: str) -> None:
        self._steps = 0
        self._lines = source.split("\n")
        self._names: dict[str, ast.expr] = {}
        seen: set[str] = set()
        for node in tree.body:
            match node:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(value=ast.expr() as value):
                    targets = [node.target]
                case _:
                    continue
            for target in targets:
                if isinstance(target, ast.Name):
                    if target.id in seen:
                        self._names.pop(target.id, None)
                    else:
                        self._names[target.id] = value
                    seen.add(target.id)

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression.

        Raises
        ------
        Unknown
            If the value is known only at run time, or if its evaluation takes too many steps.
        """
        self._steps = 0
        try:
            return self._value(node)
        except RecursionError as error:
            raise Unknown from error

    def _value(self, node: ast.expr) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Unknown
        value = self._evaluate(node)
        if isinstance(value, str) and len(value) > MAX_STRING:
            raise Unknown
        return value

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name) if name in self._names:
                return self._value(self._names[name])
            case ast.Attribute(value=ast.Name(id="Backend") | ast.Attribute(attr="Backend"), attr=name):
                return name.lower()  # torch.distributed.Backend.GLOO is the string "gloo"
            case ast.Attribute(value=ast.Name(id="argparse"), attr=name):
                return Argparse(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -_number(self._value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _binary(op, self._value(left), self._value(right))
            case ast.BoolOp(op=ast.Or(), values=values):
                # The first operands may be environment variables; the last one is the default.
                return self._value(values[-1])
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self._value(item) for item in items]
            case ast.JoinedStr(values=parts):
                return "".join(str(self._value(part)) for part in parts)
            case ast.Call():
                return self._call(_name(node.func), node)
        raise Unknown

    def _call(self, name: str | None, node: ast.Call) -> Any:
        arguments = node.args
        if name in {"getenv", "get"} and len(arguments) in {1, 2}:
            return self._value(arguments[1]) if len(arguments) == 2 else None
        if name in CONVERSIONS and len(arguments) == 1:
            return self._value(arguments[0])
        if name in {"join", "Path"} and arguments and not _is_string(node.func):
            return "/".join(str(self._value(argument)) for argument in arguments)
        raise Unknown

    def string(self, node: ast.expr | None) -> str | None:
        """Return the value of an expression if it is a string; None otherwise."""
        try:
            value = self.value(node) if node is not None else None
        except Unknown:
            return None
        return value if isinstance(value, str) else None

    def text(self, node: ast.expr | None) -> str | None:
        """Return the value of an expression as it is typed on a command line; None if it is not known."""
        if node is None:
            return None
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self._written(node)
        try:
            return as_text(self.value(node))
        except Unknown:
            return None

    def _written(self, node: ast.Constant) -> str:
        if node.lineno == node.end_lineno:
            line = self._lines[node.lineno - 1].encode()
            return line[node.col_offset : node.end_col_offset].decode()
        return str(node.value)


class Argparse(str):
    """A name of the argparse module, such as SUPPRESS or REMAINDER."""

    __slots__ = ()


def as_text(value: Any) -> str | None:
    """Return a value as it is typed on a command line; None for None and for values that can't be typed."""
    if value is None or value is ... or isinstance(value, Argparse | bytes):
        return None
    if isinstance(value, list):
        parts = [as_text(item) for item in value]
        text = shlex.join(part for part in parts if part is not None)
    else:
        try:
            text = str(value)
        except ValueError:  # Python does not convert integers with very many digits.
            return None
    return text if len(text) <= MAX_TEXT and printable(text) == text else None


def printable(text: str) -> str:
    """Return a text that JSON can represent: single surrogates are replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_options(nodes: Nodes, literals: Literals) -> tuple[str | None, list[ScriptOption], list[int]]:
    """Return the options of a script.

    Parameters
    ----------
    nodes
        Nodes of the script.
    literals
        Evaluation of the script's expressions.

    Returns
    -------
    description
        Description of the first parser.
    options
        Options of all parsers, without those of sub-commands.
    unread
        Lines of the options that could not be read, with those of sub-commands.
    """
    description: str | None = None
    calls: list[ast.Call] = []
    sub_commands: set[str] = set()
    defaults: dict[str, ast.expr] = {}
    for assigned, _ in nodes.of(ast.Assign):
        if isinstance(assigned.value, ast.Call) and _name(assigned.value.func) == "add_parser":
            sub_commands |= {t.id for t in assigned.targets if isinstance(t, ast.Name)}
    named = [(_name(call.func), call) for call, _ in nodes.of(ast.Call)]
    wanted = ("add_argument", "ArgumentParser", "set_defaults")
    for name, call in sorted((found for found in named if found[0] in wanted), key=lambda found: found[1].lineno):
        if name == "add_argument":
            calls.append(call)
        elif name == "ArgumentParser" and description is None:
            description = literals.string(_keyword(call, "description"))
        elif name == "set_defaults":
            defaults |= {key.arg: key.value for key in call.keywords if key.arg}
    options: dict[str, ScriptOption] = {}
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    unread = [call.lineno for call in calls[MAX_OPTIONS:]]
    for call in calls[:MAX_OPTIONS]:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id in sub_commands:
            unread.append(call.lineno)
            continue
        option = _option(call, literals)
        if option is None:
            unread += [] if _offers_nothing(call, literals) else [call.lineno]
        elif option.dest not in options:
            if option.dest in defaults:
                option.default = literals.text(defaults[option.dest])
            options[option.dest] = option
    return printable(" ".join(description.split())) if description else None, list(options.values()), sorted(unread)


def _offers_nothing(call: ast.Call, literals: Literals) -> bool:
    """Return True for an option that is hidden, or that prints something and ends the script."""
    hidden = _value(call, "help", literals)
    shows = _value(call, "action", literals) in {"help", "version"}
    return shows or (isinstance(hidden, Argparse) and hidden == "SUPPRESS")


def _option(call: ast.Call, literals: Literals) -> ScriptOption | None:
    names = [literals.string(argument) for argument in call.args]
    spellings = [name for name in names if name]
    if not spellings or len(spellings) != len(names) or any(printable(name) != name for name in spellings):
        return None
    help_text = _value(call, "help", literals)
    action = _value(call, "action", literals) or "store"
    if help_text == Argparse("SUPPRESS") and isinstance(help_text, Argparse):
        return None
    positional = not spellings[0].startswith("-")
    boolean = action == "BooleanOptionalAction"
    if not boolean and action not in FLAG_ACTIONS | VALUE_ACTIONS:
        return None  # The action is help, version, or a class of the script.
    choices = [text for text in map(as_text, _list(_value(call, "choices", literals))) if text is not None]
    default = literals.text(_keyword(call, "default"))
    if default is None and action in {"store_true", "store_false"}:
        default = str(action == "store_false")
    flags = [] if positional else sorted(spellings, key=len, reverse=True)
    nargs = _value(call, "nargs", literals)
    return ScriptOption(
        flags=flags,
        dest=printable(literals.string(_keyword(call, "dest")) or _dest(spellings)),
        kind=_kind(call, positional, boolean or action in FLAG_ACTIONS, nargs, bool(choices)),
        default=default,
        choices=choices,
        help=_help(help_text, default),
        required=nargs not in ("?", "*") and default is None
        if positional
        else _value(call, "required", literals) is True,
        repeatable=action in REPEATABLE_ACTIONS,
        flag_value=action != "store_false",
        off_flag=next((f"--no-{flag[2:]}" for flag in flags if flag.startswith("--")), None) if boolean else None,
        line=call.lineno,
    )


def _kind(call: ast.Call, positional: bool, flag: bool, nargs: Any, choices: bool) -> Kind:
    if positional:
        return "positional"
    if flag:
        return "flag"
    if nargs in ("+", "*") or isinstance(nargs, Argparse) or (isinstance(nargs, int) and nargs > 0):
        return "list"
    if choices:
        return "choice"
    type_name = _name(_keyword(call, "type"))
    if type_name == "int":
        return "int"
    return "float" if type_name == "float" else "text"


def _dest(spellings: list[str]) -> str:
    long = [name for name in spellings if name.startswith("--")]
    return (long or spellings)[0].lstrip("-").replace("-", "_")


def _help(value: Any, default: str | None) -> str | None:
    if not isinstance(value, str):
        return None
    text = value.replace("%(default)s", default or "none").replace("%%", "%")
    return printable(" ".join(text.split())[:MAX_TEXT]) or None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _value(call: ast.Call, name: str, literals: Literals) -> Any:
    node = _keyword(call, name)
    try:
        return literals.value(node) if node is not None else None
    except Unknown:
        return _name(node) if name == "action" else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _is_string(function: ast.expr) -> bool:
    """Return True for a method of a literal, as in ``", ".join(…)``, unlike ``os.path.join(…)``."""
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and abs(value) < 1e18:
        return value
    raise Unknown


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Div):  # Path("a") / "b"
            return f"{left.rstrip('/')}/{right}"
    if type(op) not in ARITHMETIC:
        raise Unknown
    try:
        return ARITHMETIC[type(op)](_number(left), _number(right))
    except ZeroDivisionError as error:
        raise Unknown from error
