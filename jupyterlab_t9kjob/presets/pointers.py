"""JSON pointers into a spec, in which ``*`` stands for each item of a list or each value of an object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from ..core.spec import JobSpec

EACH: Final = "*"
MOST_PARTS: Final = 20


def parts_of(pointer: str) -> list[str]:
    """Return the unescaped parts of a pointer, such as ``/labels/example.com~1team``."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointer_of(parts: list[str]) -> str:
    """Return the pointer with these parts."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def child(value: Any, part: str) -> Any:
    """Return a value of an object or list.

    Parameters
    ----------
    value
        Object or list.
    part
        Part of a JSON pointer: name of a field, or index.

    Raises
    ------
    KeyError
        If there is none.
    """
    if isinstance(value, dict):
        return value[part]
    if isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 6 and int(part) < len(value):
        return value[int(part)]
    raise KeyError(part)


def values_at(document: Any, parts: list[str], above: list[str] | None = None) -> Iterator[tuple[list[str], Any]]:
    """Yield each value that a pointer names, with the parts of its own pointer.

    Parameters
    ----------
    document
        A JSON value.
    parts
        Parts of the pointer.
    above
        Parts of the document's own pointer; none by default.
    """
    above = above or []
    if not parts:
        yield above, document
        return
    first, *rest = parts
    if first == EACH:
        keys = list(document) if isinstance(document, dict) else []
        keys = [str(index) for index in range(len(document))] if isinstance(document, list) else keys
    else:
        keys = [first]
    for key in keys:
        try:
            value = child(document, key)
        except KeyError:
            continue
        yield from values_at(value, rest, [*above, key])


def put(document: Any, parts: list[str], value: Any) -> bool:
    """Set the value that a pointer names; return False if the object or list around it does not exist.

    Parameters
    ----------
    document
        A JSON value; it is changed.
    parts
        Parts of a pointer without ``*``.
    value
        The new value.
    """
    try:
        for part in parts[:-1]:
            document = child(document, part)
        if isinstance(document, list):
            child(document, parts[-1])
            document[int(parts[-1])] = value
            return True
    except KeyError:
        return False
    if isinstance(document, dict):
        document[parts[-1]] = value
        return True
    return False


def is_field(parts: list[str]) -> bool:
    """Return True if a spec can have a value at a pointer."""
    if not parts or len(parts) > MOST_PARTS:
        return False
    schema = _schema()
    kinds = [schema]
    for part in parts:
        kinds = [below for kind in kinds for each in _resolved(kind, schema) for below in _below(each, part)]
    return bool(kinds)


@cache
def _schema() -> dict[str, Any]:
    return JobSpec.model_json_schema()


def _resolved(kind: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the alternatives of a schema without references."""
    if "$ref" in kind:
        yield from _resolved(schema["$defs"][kind["$ref"].rsplit("/", 1)[1]], schema)
    elif "anyOf" in kind:
        for each in kind["anyOf"]:
            yield from _resolved(each, schema)
    else:
        yield kind


def _below(kind: dict[str, Any], part: str) -> Iterator[dict[str, Any]]:
    if kind.get("type") == "array":
        if part == EACH or (part.isascii() and part.isdecimal() and len(part) < 6):
            yield kind.get("items", {})
    elif part in kind.get("properties", {}):
        yield kind["properties"][part]
    elif kind.get("additionalProperties"):  # An object with any keys.
        more = kind["additionalProperties"]
        yield more if isinstance(more, dict) else {"type": "object", "additionalProperties": True}
    elif not kind:  # Any value.
        yield {}
