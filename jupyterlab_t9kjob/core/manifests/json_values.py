"""Parts of JSON that may have any shape: a value of another type counts as empty."""

from __future__ import annotations

from typing import Any


def as_object(value: Any) -> dict[str, Any]:
    """Return an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def as_objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; none for any other value."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def without_fields(value: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """Return an object without some fields, and without objects that have become empty.

    Parameters
    ----------
    value
        The object; it is not changed.
    paths
        Paths of the fields.
    """
    result = dict(value)
    for first, *rest in paths:
        inner = result.get(first)
        if not rest:
            result.pop(first, None)
        elif isinstance(inner, dict):
            result[first] = without_fields(inner, (tuple(rest),))
            if not result[first]:
                del result[first]
    return result
