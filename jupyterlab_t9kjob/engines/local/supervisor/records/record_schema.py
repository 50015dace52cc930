"""Checks that parsed JSON has the shape of a `TypedDict`, without pydantic."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


@cache
def check_of(shape: Any) -> Callable[[Any], bool]:
    """Return a function that says whether a value has a shape.

    Fields that a TypedDict does not declare are ignored, and the content of a plain dict is not checked.

    Parameters
    ----------
    shape
        A TypedDict, list, dict, union or literal of these, or a plain type.
    """
    origin, arguments = get_origin(shape), get_args(shape)
    if shape is Any:
        return lambda value: True
    if is_typeddict(shape):
        required = shape.__required_keys__
        fields = [(name, check_of(kind)) for name, kind in get_type_hints(shape).items()]
        return lambda value: (
            isinstance(value, dict)
            and all(fits(value[name]) if name in value else name not in required for name, fits in fields)
        )
    if origin is Literal:
        return lambda value: value in arguments
    if origin in (Union, UnionType):
        checks = [check_of(kind) for kind in arguments]
        return lambda value: any(fits(value) for fits in checks)
    if origin is list:
        item_fits = check_of(arguments[0])
        return lambda value: isinstance(value, list) and all(map(item_fits, value))
    kind = (int, float) if shape is float else origin or shape
    return lambda value: isinstance(value, kind)
