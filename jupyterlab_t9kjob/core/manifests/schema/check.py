"""Compares a manifest with the schema of its kind: unknown fields, wrong types, missing fields."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from ...checks import Check
from ...translation import Text, _, listing
from ..model import child, in_words
from .model import JsonType, KindSchema

MOST: Final = 50
"""Largest number of differences that are reported."""

_TYPES: Final[dict[JsonType, Text]] = {
    "object": _("an object"),
    "array": _("a list"),
    "string": _("text"),
    "integer": _("a whole number"),
    "number": _("a number"),
    "boolean": _("true or false"),
}

_ORDER: Final[tuple[JsonType, ...]] = ("boolean", "object", "array", "string", "integer", "number")
_PYTHON: Final[dict[JsonType, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}


def differences(manifest: Any, schema: KindSchema) -> list[Check]:
    """Return warnings about the parts of a manifest that its schema does not allow, at most `MOST` (blocking).

    Differences are warnings, not errors, because a webhook of the cluster may change the manifest before the cluster
    validates it.

    Parameters
    ----------
    manifest
        The manifest as a JSON value.
    schema
        The schema of its kind. One that is not the cluster's own has no effect, because it may lack fields.
    """
    if schema.source != "cluster":
        return []
    return list(islice(_differences(manifest, schema.root, schema, "/manifest"), MOST))


def knows(schema: KindSchema, pointer: str) -> bool:
    """Return True if a schema has a field.

    Parameters
    ----------
    schema
        The schema.
    pointer
        JSON pointer of the field, which begins with ``/manifest``.
    """
    at = schema.root
    for part in pointer.split("/")[2:]:
        node, name = schema.nodes[at], part.replace("~1", "/").replace("~0", "~")
        inner = node.items if node.items is not None else node.fields.get(name, node.values)
        if inner is None:
            return False
        at = inner
    return True


def _differences(value: Any, at: int, schema: KindSchema, pointer: str) -> Iterator[Check]:
    node = schema.nodes[at]
    if value is None:  # The API server treats null as absent.
        return
    if node.types and not any(_fits(value, one) for one in node.types):
        yield _wrong_type(value, node.types, pointer)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if node.items is not None:
                yield from _differences(item, node.items, schema, child(pointer, index))
    elif isinstance(value, dict):
        for name in node.required:
            if value.get(name) is None:
                yield _missing(name, pointer)
        for name, item in value.items():
            inner = node.fields.get(name, node.values)
            if inner is not None:
                yield from _differences(item, inner, schema, child(pointer, name))
            elif not node.others and item is not None:
                yield _unknown(name, list(node.fields), pointer)
    elif node.enum and value not in node.enum:
        yield _not_allowed(value, node.enum, pointer)


def _fits(value: Any, wanted: JsonType) -> bool:
    """Return True if a JSON value is of a type."""
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, float) and wanted == "integer":
        return value.is_integer()
    return isinstance(value, _PYTHON[wanted])


def _wrong_type(value: Any, types: list[JsonType], pointer: str) -> Check:
    wanted = _TYPES[types[0]] if len(types) == 1 else _("text or a number")
    found = next(_TYPES[one] for one in _ORDER if _fits(value, one))
    message = _("{field} must be {type}, and is {found}.", field=in_words(pointer), type=wanted, found=found)
    return _warning("WrongType", message, pointer)


def _missing(name: str, pointer: str) -> Check:
    message = _("{object} needs the field {field}.", object=in_words(pointer), field=name)
    return _warning("FieldMissing", message, pointer, _("The cluster's schema requires it."))


def _unknown(name: str, known: list[str], pointer: str) -> Check:
    message = _("{field} is not a known field of {object}.", field=name, object=in_words(pointer))
    if pointer == "/manifest":
        message = _("{field} is not a known field.", field=name)
    near = difflib.get_close_matches(name, known, 1, 0.75)
    hint = _("Did you mean {field}?", field=near[0]) if near else _("The cluster's schema does not have it.")
    return _warning("UnknownField", message, child(pointer, name), hint)


def _not_allowed(value: Any, enum: list[str], pointer: str) -> Check:
    message = _("{field} can't be “{value}”.", field=in_words(pointer), value=str(value)[:80])
    return _warning("NotAllowedValue", message, pointer, _("Allowed: {values}.", values=listing(enum, 10)))


def _warning(code: str, message: Text, pointer: str, hint: Text | None = None) -> Check:
    return Check(level="warning", code=code, message=message, field=pointer, hint=hint)
