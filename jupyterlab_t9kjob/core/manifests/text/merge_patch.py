"""JSON merge patches (RFC 7386) that can also change single items of a list.

A plain merge patch replaces a whole list. A patch that adds a port to a container would then contain the whole
container, and would undo later changes of it. If the items of a list have names, a patch here is an object with the
field ``$by``::

    {"containers": {"$by": "name", "pytorch": {"ports": [{"containerPort": 22}]}}}

``$by`` is the field that identifies the items. The value null removes an item, an unknown name appends one, and
``$order`` sorts them. No manifest has a field ``$by``, so the notation is unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

BY: Final = "$by"
ORDER: Final = "$order"
KEYS: Final[Mapping[str, str]] = {
    "replicaSpecs": "type",
    "resumeSpecs": "type",
    "containers": "name",
    "initContainers": "name",
    "imagePullSecrets": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "env": "name",
    "pvc": "name",
}
"""Field that identifies the items of a list, by the list's own field."""

_MISSING: Final = object()


def apply(target: Any, patch: Any) -> Any:
    """Return `target` changed by `patch`. Neither argument is modified.

    Parameters
    ----------
    target
        Any JSON value.
    patch
        An object is merged, and its nulls remove keys. Any other value replaces the target.
    """
    if not isinstance(patch, dict):
        return deepcopy(patch)
    if isinstance(patch.get(BY), str):
        return _apply_items(target if isinstance(target, list) else [], patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
            continue
        changed = apply(result.get(key), value)
        # An empty list means the same as no list.
        if changed == [] and isinstance(value, dict):
            result.pop(key, None)
        else:
            result[key] = changed
    return deepcopy(result)


def merged(patch: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return two patches as one; for a field that both change, the first counts.

    Parameters
    ----------
    patch, other
        Patches of the same object.
    """
    result = dict(patch)
    for key, value in other.items():
        here = result.get(key)
        if isinstance(here, dict) and isinstance(value, dict):
            result[key] = merged(here, value)
        elif key not in result:
            result[key] = value
    return result


def diff(source: Any, target: Any) -> dict[str, Any]:
    """Return the patch that turns `source` into `target`.

    Parameters
    ----------
    source, target
        Objects without nulls.

    Returns
    -------
    dict
        ``apply(source, diff(source, target)) == target``; empty if both are equal.
    """
    # The patch removes each item of a list of named items, so that it leaves items alone that are added later.
    patch = {key: _removal(value, KEYS.get(key)) for key, value in source.items() if key not in target}
    for key, value in target.items():
        change = _change(source.get(key, _MISSING), value, KEYS.get(key))
        if change is not _MISSING:
            patch[key] = change
    return patch


def vanished(sent: Any, received: Any, pointer: str = "") -> Iterator[str]:
    """Yield the fields of a value that an API server did not return.

    An API server drops fields that it does not know, without an error unless the request says
    ``fieldValidation=Strict`` (Kubernetes docs, Field validation). Empty values are not reported: null,
    false, 0, "", [] and {} mean the same as an absent field in most schemas.

    Parameters
    ----------
    sent
        Value in the request.
    received
        Value in the response.
    pointer
        JSON pointer of the value.

    Yields
    ------
    str
        JSON pointers into `sent`.
    """
    if isinstance(sent, dict) and isinstance(received, dict):
        for key, value in sent.items():
            yield from vanished(value, received.get(key, _MISSING), f"{pointer}/{_escaped(key)}")
    elif isinstance(sent, list) and isinstance(received, list):
        key = KEYS.get(pointer.rsplit("/", 1)[-1])
        if key is not None and _has_keys(sent, key) and _has_keys(received, key):
            found = {item[key]: item for item in received}
            pairs = [(item, found.get(item[key], _MISSING)) for item in sent]
        else:
            pairs = [(item, received[i] if i < len(received) else _MISSING) for i, item in enumerate(sent)]
        for index, (item, counterpart) in enumerate(pairs):
            yield from vanished(item, counterpart, f"{pointer}/{index}")
    elif received is _MISSING and not _is_empty(sent):
        yield pointer


def leaves(patch: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths that a patch sets or removes, with names of items instead of indices.

    Parameters
    ----------
    patch
        The patch.
    path
        Path at which the patch is applied.
    """
    for key, value in patch.items():
        if key in (BY, ORDER):
            continue
        if isinstance(value, dict) and value and not _is_item(patch, value):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def _is_item(patch: Mapping[str, Any], value: dict[str, Any]) -> bool:
    """Return True if a patch adds the item as a whole. The item then contains its own name."""
    return isinstance(by := patch.get(BY), str) and by in value


def _removal(value: Any, key: str | None) -> Any:
    return _diff_items(value, [], key) if key is not None and value and _has_keys(value, key) else None


def _change(source: Any, target: Any, key: str | None) -> Any:
    if source is not _MISSING and _same(source, target):
        return _MISSING
    if isinstance(source, dict) and isinstance(target, dict) and BY not in target:
        return diff(source, target)
    items = [] if source is _MISSING else source
    if key is not None and _has_keys(items, key) and _has_keys(target, key):
        patch = _diff_items(items, target, key)
        if _same(apply(items, patch), target):
            return patch
    return target


def _same(one: Any, other: Any) -> bool:
    """Return True if two JSON values are equal. Unlike Python's ``==``, true differs from 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def _has_keys(items: Any, key: str) -> bool:
    """Return True if each item of a list has a unique name in its field `key`."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return False
    names = [item.get(key) for item in items]
    usable = all(isinstance(name, str) and not name.startswith("$") for name in names)
    return usable and len(set(names)) == len(names)


def _diff_items(source: list[Any], target: list[Any], key: str) -> dict[str, Any]:
    before = {item[key]: item for item in source}
    after = {item[key]: item for item in target}
    patch: dict[str, Any] = {BY: key, **{name: None for name in before if name not in after}}
    for name, item in after.items():
        change = _change(before.get(name, _MISSING), item, None)
        if change is not _MISSING:
            patch[name] = change
    order = [item[key] for item in apply(source, patch)] if target else []
    if order != list(after):
        patch[ORDER] = list(after)
    return patch


def _apply_items(target: list[Any], patch: dict[str, Any]) -> list[Any]:
    by = patch[BY]
    items = {item[by]: item for item in target if isinstance(item, dict) and isinstance(item.get(by), str)}
    for name, change in patch.items():
        if name in (BY, ORDER):
            continue
        if change is None:
            items.pop(name, None)
        else:
            items[name] = apply(items.get(name, {by: name}), change)
    order = patch.get(ORDER)
    if isinstance(order, list):
        ranks = {name: rank for rank, name in enumerate(order) if isinstance(name, str)}
        names = sorted(items, key=lambda name: ranks.get(name, len(ranks)))
        return deepcopy([items[name] for name in names])
    return deepcopy(list(items.values()))


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value in (None, False, 0, "", [])


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
