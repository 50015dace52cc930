"""Applies the values of a preset to a spec, as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from ..core.checks import Capability, Check
from ..core.features import adapt
from ..core.spec import JobSpec
from ..core.texts.field_names import name_of
from ..core.translation import Text, _
from .pointers import is_field, parts_of, put

_OWN: Final = frozenset({"name", "display_name", "entrypoint", "working_dir", "annotations", "source", "extra"})
"""Parts that belong to one job. A preset does not change them."""


def with_values(
    spec: JobSpec, values: Mapping[str, Any], capabilities: Mapping[str, Capability]
) -> tuple[JobSpec, list[Check]]:
    """Return a spec with the values of a preset, and warnings about those that do not fit.

    Parameters
    ----------
    spec
        The spec of the form.
    values
        Values by JSON pointer. Environment variables are merged by name.
    capabilities
        Features of the form's engine; values of other features are left out.
    """
    notes = []
    wanted: list[tuple[str, Any]] = []
    for pointer, value in values.items():
        parts = parts_of(pointer)
        if not is_field(parts) or "*" in parts:
            notes.append(_note(pointer, _("A job has no field {field}.", field=pointer[:200])))
        elif parts[0] in _OWN:
            notes.append(_note(pointer, _("{field} is not taken from a preset.", field=name_of(f"/spec{pointer}"))))
        else:
            wanted.append((pointer, value))
    together = _set(spec, wanted)
    if together is not None:
        spec = together
    else:
        for pointer, value in wanted:
            alone = _set(spec, [(pointer, value)])
            if alone is None:
                name = name_of(f"/spec{pointer}")
                notes.append(_note(pointer, _("{field}: the preset's value does not fit this job.", field=name)))
            else:
                spec = alone
    adapted, lost = adapt(spec, capabilities)
    pointers = tuple(f"/spec{pointer}" for pointer, _value in wanted)
    return adapted, notes + [note for note in lost if note.field is not None and _within(note.field, pointers)]


def _within(field: str, pointers: tuple[str, ...]) -> bool:
    return any(f"{field}/".startswith(f"{pointer}/") or pointer.startswith(f"{field}/") for pointer in pointers)


def _set(spec: JobSpec, values: list[tuple[str, Any]]) -> JobSpec | None:
    """Return a spec with values; None if it does not allow them."""
    document = spec.model_dump(mode="json")
    for pointer, value in values:
        parts = parts_of(pointer)
        if pointer == "/env" and isinstance(value, list):
            value = _merged(document["env"], value)
        if not put(document, parts, value):
            return None
    try:
        return JobSpec.model_validate(document, strict=True)
    except ValidationError:
        return None


def _merged(before: list[Any], values: list[Any]) -> list[Any]:
    names = [value.get("name") for value in values if isinstance(value, dict)]  # Of any type: they are checked later.
    return [*(each for each in before if each["name"] not in names), *values]


def _note(pointer: str, message: Text) -> Check:
    return Check(level="warning", code="PresetValue", message=message, field=f"/spec{pointer}")
