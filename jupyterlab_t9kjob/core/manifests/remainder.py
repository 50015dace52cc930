"""Annotation that keeps the parts of a spec for which a manifest has no field.

A manifest has no field for the kernel of a local run, or for a working directory that is left to its default. The
annotation keeps such values as JSON pointers into the spec, each with its value: ``{"/working_dir": null}``.

An entry is applied only if the manifest of the resulting spec stays the same. Other entries are outdated or forged and
are ignored. Users may therefore edit a manifest without knowing the annotation, and the annotation can't make a job
look like another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from ..spec import JobSpec

_MOST = 200_000
"""Largest annotation that is read, in characters. All annotations of an object together may have 256 KiB."""


def remainder(spec: JobSpec, read: JobSpec) -> str | None:
    """Return the annotation that turns the spec `read` into `spec`; None if they are equal.

    Parameters
    ----------
    spec
        The spec to restore.
    read
        The spec as it is read from the manifest alone.
    """
    changes = dict(_differences(read.model_dump(mode="json"), spec.model_dump(mode="json"), ""))
    if not changes:
        return None
    return json.dumps(changes, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def complete(read: JobSpec, annotation: str, fits: Callable[[JobSpec], bool]) -> JobSpec:
    """Return the spec with the values of the annotation.

    Parameters
    ----------
    read
        The spec as it is read from the manifest alone.
    annotation
        Text from `remainder`, possibly outdated, or any other text.
    fits
        Returns True if the manifest of a spec is the one that was read.
    """
    changes = _decoded(annotation)
    whole = _changed(read, changes)
    if whole is not None and fits(whole):
        return whole
    result = read
    for pointer, value in changes.items():
        candidate = _changed(result, {pointer: value})
        if candidate is not None and fits(candidate):
            result = candidate
    return result


def _decoded(annotation: str) -> dict[str, Any]:
    if len(annotation) > _MOST:
        return {}
    try:
        changes = json.loads(annotation)
    except (ValueError, RecursionError):
        return {}
    return changes if isinstance(changes, dict) and len(changes) < 1000 else {}


def _differences(one: Any, other: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            name = key.replace("~", "~0").replace("/", "~1")
            yield from _differences(one[key], other[key], f"{pointer}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (item, counterpart) in enumerate(zip(one, other, strict=True)):
            yield from _differences(item, counterpart, f"{pointer}/{index}")
    elif json.dumps(one) != json.dumps(other):
        yield pointer, other


def _changed(spec: JobSpec, changes: dict[str, Any]) -> JobSpec | None:
    """Return the spec with the values at the given JSON pointers changed; None if the result is invalid."""
    data = spec.model_dump(mode="json")
    for pointer, value in changes.items():
        if not _put(data, pointer, deepcopy(value)):
            return None
    try:
        return JobSpec.model_validate(data)
    except (ValidationError, RecursionError):
        return None


def _put(data: Any, pointer: str, value: Any) -> bool:
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]] or [""]
    for part in path:
        data = _child(data, part)
    if isinstance(data, dict) and last in data:
        data[last] = value
        return True
    if isinstance(data, list) and last.isdecimal() and len(last) < 6 and int(last) < len(data):
        data[int(last)] = value
        return True
    return False


def _child(data: Any, part: str) -> Any:
    if isinstance(data, dict):
        return data.get(part)
    if isinstance(data, list) and part.isdecimal() and len(part) < 6 and int(part) < len(data):
        return data[int(part)]
    return None
