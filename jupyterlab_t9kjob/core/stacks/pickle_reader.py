"""Reads the pickles that PyTorch's flight recorder writes, without `pickle`: they may be hostile.

PyTorch writes dicts, lists, tuples, texts, numbers, booleans and None. Every other operation is refused, so reading
neither imports nor calls anything. Memory and time grow with the size of the data only, up to a number of operations.
Keys of dicts are texts and small numbers, since hashing a nested tuple would walk through all of it.
"""

from __future__ import annotations

import pickletools
from collections.abc import Iterator, Sequence
from typing import Any, Final

_CONSTANTS: Final = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_VALUES: Final = frozenset(
    {"BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
)
_TUPLES: Final = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK: Final = object()
_MOST_OPERATIONS: Final = 3_000_000
_LARGEST_KEY: Final = 2**31
"""Larger numbers can have equal hashes, which would make a dict slow."""


def read_pickle(data: bytes) -> Any:
    """Return the value in a pickle.

    Values may share parts or contain themselves, and be nested deeply: the caller must neither walk through all of
    it, nor compare, hash or print a value that is no text or number.

    Raises
    ------
    ValueError
        If the data is no pickle, is cut, has anything but plain values, or has too many operations.
    """
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    try:
        for name, argument in _operations(data):
            if name == "STOP":
                (value,) = stack
                return value
            _apply(name, argument, stack, memo)
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no pickle of plain values: {error!r}"[:200]) from error
    raise ValueError("the pickle has no end")


def _operations(data: bytes) -> Iterator[tuple[str, Any]]:
    for count, (operation, argument, _position) in enumerate(pickletools.genops(data)):
        if count >= _MOST_OPERATIONS:
            raise ValueError("the pickle has too many operations")
        yield operation.name, argument


def _apply(name: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    if name in _CONSTANTS:
        stack.append(_CONSTANTS[name])
    elif name in _VALUES:
        stack.append(argument)
    elif name in ("EMPTY_LIST", "EMPTY_DICT"):
        stack.append([] if name == "EMPTY_LIST" else {})
    elif name in _TUPLES:
        size = _TUPLES[name]
        if size > len(stack):
            raise IndexError(name)
        top = tuple(stack[len(stack) - size :])
        del stack[len(stack) - size :]
        stack.append(top)
    elif name == "MARK":
        stack.append(_MARK)
    elif name in ("APPENDS", "SETITEMS", "TUPLE"):
        items = _since_mark(stack)
        if name == "TUPLE":
            stack.append(tuple(items))
        elif name == "APPENDS":
            stack[-1].extend(items)
        else:
            _set(stack[-1], items)
    elif name == "APPEND":
        item = stack.pop()
        stack[-1].append(item)
    elif name == "SETITEM":
        item = stack.pop()
        key = stack.pop()
        _set(stack[-1], [key, item])
    elif name in ("BINPUT", "LONG_BINPUT"):
        memo[argument] = stack[-1]
    elif name == "MEMOIZE":
        memo[len(memo)] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET"):
        stack.append(memo[argument])
    elif name not in ("PROTO", "FRAME"):
        raise ValueError(f"the operation {name} is refused")


def _set(target: Any, items: Sequence[Any]) -> None:
    """Set keys and values, which alternate, in a dict."""
    keys = items[::2]
    if not isinstance(target, dict) or not all(_is_key(key) for key in keys):
        raise ValueError("a dict may only have texts and small numbers as keys")
    target.update(zip(keys, items[1::2], strict=True))


def _is_key(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and abs(value) < _LARGEST_KEY)


def _since_mark(stack: list[Any]) -> list[Any]:
    for index in range(len(stack) - 1, -1, -1):
        if stack[index] is _MARK:
            items = stack[index + 1 :]
            del stack[index:]
            return items
    raise IndexError("no mark")
