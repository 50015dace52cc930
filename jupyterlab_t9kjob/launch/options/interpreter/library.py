"""Models of functions of Python's library that scripts use to compute names, defaults and choices of options."""

from __future__ import annotations

# ruff: noqa: PTH118  (these are paths of the text, which may not exist)
import math
import os.path
import textwrap
from collections.abc import Callable
from typing import Any, Final

from .operators import MAX_ITEMS, bounded, is_constant, items_of, plain, truth, written
from .values import (
    REST,
    UNKNOWN,
    ClassValue,
    DictValue,
    FunctionValue,
    Instance,
    Library,
    ListValue,
    PathText,
    Value,
    WrittenFloat,
    WrittenInt,
)

Args = list[Value]

GIVEN_VARIABLES: Final = ("RANK", "WORLD_SIZE", "MASTER_", "TORCHELASTIC_", "SLURM_", "CUDA_VISIBLE", "OMPI_")
"""Parts of the names of environment variables whose values only a run tells."""
EXITS: Final = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit", "os.abort"})
CONSTANTS: Final[dict[str, Value]] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.inf": math.inf,
    "numpy.pi": math.pi,
    "numpy.inf": math.inf,
    "os.sep": "/",
    "os.path.sep": "/",
    "builtins.__debug__": True,
    "typing.TYPE_CHECKING": False,
}
HARMLESS: Final = frozenset(
    (
        *("builtins.print", "builtins.vars", "builtins.isinstance", "builtins.len", "builtins.str", "builtins.repr"),
        *("builtins.hasattr", "builtins.getattr", "builtins.id", "builtins.type", "builtins.dict", "builtins.super"),
        *("argcomplete.autocomplete", "pprint.pprint", "builtins.bool", "builtins.callable", "builtins.setattr"),
    )
)
"""Functions that add no options to a parser."""


def call_library(name: str, args: Args, kwargs: dict[Value, Value]) -> Value:
    """Return the result of a library's function; UNKNOWN if it is not modelled or its arguments are not known.

    Parameters
    ----------
    name
        Full name of the function, with ``builtins.`` for those of Python.
    args, kwargs
        Evaluated arguments.
    """
    found = _FUNCTIONS.get(name)
    if found is not None:
        try:
            return found(args, kwargs)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            return UNKNOWN
    return UNKNOWN


def constant(name: str) -> Value:
    """Return a constant of a library, or its name as a `Library` value."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    parts = name.split(".")
    if len(parts) > 2 and parts[-2] == "Backend" and parts[0] == "torch":
        return parts[-1].lower()  # torch.distributed.Backend.GLOO is the string "gloo"
    return Library(name)


def _environ(args: Args, kwargs: dict[Value, Value]) -> Value:
    name = args[0]
    if not isinstance(name, str) or any(part in name for part in GIVEN_VARIABLES):
        return UNKNOWN
    return args[1] if len(args) > 1 else kwargs.get("default")


def _list(args: Args, _: dict[Value, Value]) -> Value:
    items = items_of(args[0]) if args else []
    return ListValue({"items": UNKNOWN if items is None else list(items)})


def _set(args: Args, kwargs: dict[Value, Value]) -> Value:
    made = _list(args, kwargs)
    items: list[Value] = []
    for item in made.items or []:
        if item not in items:
            items.append(item)
    return ListValue({"items": items if made.items is not None else UNKNOWN})


def _tuple(args: Args, _: dict[Value, Value]) -> Value:
    items = items_of(args[0]) if args else []
    return UNKNOWN if items is None else tuple(items)


def _dict(args: Args, kwargs: dict[Value, Value]) -> Value:
    if args and isinstance(args[0], DictValue):
        return DictValue(args[0].contents | kwargs)
    pairs = items_of(args[0]) if args else []
    if pairs is None or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return DictValue({REST: None, **kwargs})
    return DictValue({**dict(pairs), **kwargs})


def _sorted(args: Args, kwargs: dict[Value, Value]) -> Value:
    items = items_of(args[0])
    if items is None or "key" in kwargs or not all(map(is_constant, items)):
        return ListValue({"items": UNKNOWN})
    return ListValue.of(sorted(items, reverse=truth(kwargs.get("reverse", False)) is True))


def _range(args: Args, _: dict[Value, Value]) -> Value:
    numbers = range(*map(plain, args))
    return ListValue.of(list(numbers)) if len(numbers) <= MAX_ITEMS else UNKNOWN


def _enumerate(args: Args, kwargs: dict[Value, Value]) -> Value:
    items = items_of(args[0])
    start = args[1] if len(args) > 1 else kwargs.get("start", 0)
    return UNKNOWN if items is None else ListValue.of(list(enumerate(items, start)))


def _zip(args: Args, _: dict[Value, Value]) -> Value:
    lists = [items_of(argument) for argument in args]
    if any(items is None for items in lists):
        return UNKNOWN
    return ListValue.of(list(zip(*(items or [] for items in lists), strict=False)))


def _type(args: list[Value], kwargs: dict[Value, Value]) -> Value:
    """Return the type of a constant, as scripts use it for an option's ``type`` (``type=type(default)``)."""
    if len(args) != 1 or kwargs:
        return UNKNOWN
    types = {bool: "bool", int: "int", float: "float", str: "str"}
    name = next((name for kind, name in types.items() if isinstance(args[0], kind)), None)
    return Library(f"builtins.{name}") if name is not None else UNKNOWN


def _isinstance(args: Args, _: dict[Value, Value]) -> Value:
    value, classes = args
    names = [each.name for each in (classes if isinstance(classes, tuple) else (classes,)) if isinstance(each, Library)]
    types = {"builtins.str": str, "builtins.int": int, "builtins.float": float, "builtins.bool": bool}
    types |= {"builtins.tuple": tuple}
    kinds: dict[type, str] = {ListValue: "builtins.list", DictValue: "builtins.dict"}
    if is_constant(value) or type(value) in kinds:
        named = [types.get(name) for name in names]
        return any(kind is not None and isinstance(value, kind) for kind in named) or kinds.get(type(value)) in names
    return UNKNOWN


def _number(kind: type) -> Callable[[Args, dict[Value, Value]], Value]:
    def convert(args: Args, _: dict[Value, Value]) -> Value:
        if not args:
            return kind()
        if not is_constant(args[0]) or len(args) > 1:
            return UNKNOWN
        if isinstance(args[0], WrittenFloat | WrittenInt) and kind(args[0]) == args[0]:
            return written(kind(args[0]), args[0].text) if kind is float else bounded(kind(args[0]))
        return bounded(kind(args[0]))

    return convert


def _constants(function: Callable[..., Any]) -> Callable[[Args, dict[Value, Value]], Value]:
    """Return a model of a function that is called with constants."""

    def call(args: Args, _: dict[Value, Value]) -> Value:
        return bounded(function(*map(plain, args))) if all(map(is_constant, args)) else UNKNOWN

    return call


def _of_items(function: Callable[..., Any]) -> Callable[[Args, dict[Value, Value]], Value]:
    """Return a model of a function of several constants or of one list."""

    def call(args: Args, _: dict[Value, Value]) -> Value:
        items = items_of(args[0]) if len(args) == 1 else args
        return bounded(function(items)) if items is not None and all(map(is_constant, items)) else UNKNOWN

    return call


def _len(args: Args, _: dict[Value, Value]) -> Value:
    items = items_of(args[0])
    return UNKNOWN if items is None else len(items)


def _path(args: Args, _: dict[Value, Value]) -> Value:
    known = all(isinstance(part, str) for part in args)
    return PathText(os.path.join(*args) if args else ".") if known else UNKNOWN


def _first(args: Args, _: dict[Value, Value]) -> Value:
    return args[0] if isinstance(args[0], str) else UNKNOWN


def _str(args: Args, _: dict[Value, Value]) -> Value:
    if not args:
        return ""
    value = args[0]
    if isinstance(value, str):
        return str(value)
    return bounded(str(plain(value))) if is_constant(value) and not isinstance(value, tuple) else UNKNOWN


def _hasattr(args: Args, _: dict[Value, Value]) -> Value:
    value, name = args
    if isinstance(value, ClassValue):
        return True if any(name in c.contents for c in value.lineage() if isinstance(c, ClassValue)) else UNKNOWN
    return True if isinstance(value, Instance) and name in value.contents else UNKNOWN


def _callable(args: Args, _: dict[Value, Value]) -> Value:
    if isinstance(args[0], FunctionValue | ClassValue):
        return True
    return False if is_constant(args[0]) else UNKNOWN


def _argument_names(args: Args, _: dict[Value, Value]) -> Value:
    """Return the first part of the result of `inspect.getfullargspec`."""
    function = args[0].contents.get("__init__") if isinstance(args[0], ClassValue) else args[0]
    if not isinstance(function, FunctionValue):
        return UNKNOWN
    given = function.node.args
    return (ListValue.of([one.arg for one in (*given.posonlyargs, *given.args)]),)


_FUNCTIONS: Final[dict[str, Callable[[Args, dict[Value, Value]], Value]]] = {
    "os.environ.get": _environ,
    "os.getenv": _environ,
    "builtins.list": _list,
    "builtins.set": _set,
    "builtins.frozenset": _set,
    "builtins.tuple": _tuple,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "collections.defaultdict": lambda args, kwargs: DictValue({REST: None}),
    "builtins.sorted": _sorted,
    "builtins.reversed": lambda args, kwargs: (
        ListValue.of((items_of(args[0]) or [])[::-1]) if items_of(args[0]) else UNKNOWN
    ),
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "builtins.hasattr": _hasattr,
    "builtins.callable": _callable,
    "builtins.len": _len,
    "builtins.str": _str,
    "builtins.int": _number(int),
    "builtins.float": _number(float),
    "builtins.bool": lambda args, kwargs: bool(truth(args[0])) if truth(args[0]) is not None else UNKNOWN,
    "inspect.getfullargspec": _argument_names,
    "builtins.abs": _constants(abs),
    "builtins.round": _constants(round),
    "builtins.repr": _constants(repr),
    "builtins.max": _of_items(max),
    "builtins.min": _of_items(min),
    "builtins.sum": _of_items(sum),
    "builtins.all": _of_items(all),
    "builtins.any": _of_items(any),
    "math.sqrt": _constants(math.sqrt),
    "math.log": _constants(math.log),
    "textwrap.dedent": _constants(textwrap.dedent),
    "inspect.cleandoc": _constants(textwrap.dedent),
    "os.path.join": lambda args, kwargs: (
        bounded(os.path.join(*args)) if all(isinstance(a, str) for a in args) else UNKNOWN
    ),
    "os.path.dirname": _constants(os.path.dirname),
    "os.path.basename": _constants(os.path.basename),
    "os.path.splitext": _constants(os.path.splitext),
    "os.path.normpath": _constants(os.path.normpath),
    "os.path.relpath": _constants(os.path.relpath),
    "os.path.abspath": _first,
    "os.path.realpath": _first,
    "os.path.expanduser": _first,
    "os.path.expandvars": _first,
    "os.fspath": _first,
    "pathlib.Path": _path,
    "pathlib.PurePath": _path,
    "pathlib.PosixPath": _path,
    "pathlib.PurePosixPath": _path,
    "copy.copy": lambda args, kwargs: args[0] if is_constant(args[0]) else UNKNOWN,
    "copy.deepcopy": lambda args, kwargs: args[0] if is_constant(args[0]) else UNKNOWN,
}
