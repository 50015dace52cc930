"""Methods of strings, lists and dicts, with limits on the size of their results."""

from __future__ import annotations

import re
from typing import Final

from .operators import MAX_ITEMS, MAX_STRING, bounded, is_constant, items_of, plain
from .state import MISSING, Heap
from .values import REST, UNKNOWN, DictValue, ListValue, PathText, Value

STRING_METHODS: Final = frozenset(
    (
        *("lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "title", "capitalize", "swapcase"),
        *("startswith", "endswith", "partition", "rpartition", "splitlines", "isidentifier", "isdigit", "islower"),
        *("isupper", "isalpha", "isalnum", "removeprefix", "removesuffix", "casefold", "find", "count", "index"),
    )
)
PATH_METHODS: Final = frozenset({"resolve", "absolute", "expanduser", "as_posix"})


def string_method(text: str, name: str, args: list[Value], kwargs: dict[Value, Value]) -> Value:
    """Return the result of a method of `str` or `pathlib.Path`.

    Parameters
    ----------
    text
        The string or path.
    name, args, kwargs
        Name and arguments of the method.
    """
    if isinstance(text, PathText):
        if name in PATH_METHODS:
            return text
        if name == "joinpath" and all(isinstance(part, str) for part in args):
            return PathText("/".join([text.rstrip("/"), *args]))
        return UNKNOWN
    if name == "join" and len(args) == 1:
        items = items_of(args[0])
        known = items is not None and all(isinstance(item, str) for item in items)
        return bounded(text.join(items)) if known and items else ("" if known else UNKNOWN)
    if name == "format":
        return _format(text, args, kwargs)
    if name == "replace" and len(args) == 2 and all(isinstance(part, str) for part in args):
        return bounded(text.replace(*args)) if len(text) * (len(args[1]) + 1) <= MAX_STRING else UNKNOWN
    if name not in STRING_METHODS or kwargs or not all(map(is_constant, args)):
        return UNKNOWN
    try:
        result = getattr(text, name)(*args)
    except (TypeError, ValueError):
        return UNKNOWN
    return ListValue.of(result) if isinstance(result, list) else bounded(result)


def _format(text: str, args: list[Value], kwargs: dict[Value, Value]) -> Value:
    values = [*args, *kwargs.values()]
    if re.search(r"\d{4}|[{][^}]*[.\[{]", text) or not all(map(is_constant, values)):
        return UNKNOWN
    try:
        return bounded(text.format(*map(plain, args), **{str(key): plain(value) for key, value in kwargs.items()}))
    except (LookupError, ValueError, TypeError):
        return UNKNOWN


def list_method(heap: Heap, value: ListValue, name: str, args: list[Value]) -> Value:
    """Run a method of a list or set.

    Parameters
    ----------
    heap, value
        The heap that writes the change, and the list.
    name, args
        Name and arguments of the method.
    """
    items = value.items
    if items is None:
        return UNKNOWN
    added = items_of(args[0]) if args else None
    match name, args:
        case ("append" | "add", [item]):
            new: Value = [*items, item]
        case (("extend" | "update"), [_]) if added is not None:
            new = [*items, *added]
        case "insert", [int() as index, item]:
            new = [*items[:index], item, *items[index:]]
        case "remove", [item] if item in items:
            index = items.index(item)
            new = [*items[:index], *items[index + 1 :]]
        case "pop", [] if items:
            new = items[:-1]
        case "pop", [int() as index] if -len(items) <= index < len(items):
            new = [item for number, item in enumerate(items) if number != index % len(items)]
        case "copy", []:
            return ListValue.of(list(items))
        case "index", [item] if item in items:
            return items.index(item)
        case "sort" | "reverse", []:
            known = name == "reverse" or all(isinstance(item, str) for item in items)
            new = (items[::-1] if name == "reverse" else sorted(items)) if known else UNKNOWN
        case ("count" | "__len__", _):
            return UNKNOWN
        case _:
            new = UNKNOWN
    result = items[args[0] if args else -1] if name == "pop" and isinstance(new, list) else None
    heap.write(value, "items", new if not isinstance(new, list) or len(new) <= MAX_ITEMS else UNKNOWN)
    return result


def dict_method(heap: Heap, value: DictValue, name: str, args: list[Value], kwargs: dict[Value, Value]) -> Value:
    """Run a method of a dict.

    Parameters
    ----------
    heap, value
        The heap that writes the change, and the dict.
    name, args, kwargs
        Name and arguments of the method.
    """
    contents = value.contents
    match name, args:
        case "keys", []:
            return ListValue({"items": list(contents) if value.certain else UNKNOWN})
        case "values", []:
            return ListValue({"items": list(contents.values()) if value.certain else UNKNOWN})
        case "items", []:
            return ListValue({"items": list(contents.items()) if value.certain else UNKNOWN})
        case "copy", []:
            return DictValue(dict(contents))
        case (("get" | "pop" | "setdefault"), [key, *rest]) if is_constant(key):
            found = contents.get(key, (rest[0] if rest else None) if value.certain else UNKNOWN)
            if name == "pop" and key in contents:
                heap.write(value, REST, None) if not value.certain else None
                _drop(heap, value, key)
            elif name == "setdefault":
                heap.write(value, key, found)
            return found
        case "update", _:
            _update(heap, value, [*args, DictValue(kwargs)])
            return None
        case "clear", []:
            for key in list(contents):
                _drop(heap, value, key)
            return None
        case _:
            heap.write(value, REST, None)
            return UNKNOWN


def _update(heap: Heap, value: DictValue, sources: list[Value]) -> None:
    for source in sources:
        if isinstance(source, DictValue):
            for key, item in source.contents.items():
                heap.write(value, key, item)
            continue
        pairs = items_of(source)
        if pairs is None or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            havoc(heap, value)
            continue
        for key, item in pairs:
            heap.write(value, key, item) if is_constant(key) else havoc(heap, value)


def _drop(heap: Heap, value: DictValue, key: Value) -> None:
    heap.write(value, key, MISSING)


def havoc(heap: Heap, value: Value) -> None:
    """Make the contents of a list or dict unknown.

    Parameters
    ----------
    heap, value
        The heap that writes the change, and the list or dict. Other values are ignored.
    """
    if isinstance(value, ListValue):
        heap.write(value, "items", UNKNOWN)
    elif isinstance(value, DictValue):
        for key in list(value.contents):
            heap.write(value, key, UNKNOWN if key is not REST else None)
        heap.write(value, REST, None)
