"""Counts the GPUs of the pods of a manifest: those of all containers, also of those that the form does not show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..core.manifests import KINDS
from ..core.texts.quantity import amount


def devices_of_pods(manifest: dict[str, Any], kind: str) -> list[tuple[int, int]]:
    """Return the number of replicas and the GPUs of one replica, for each replica type of a manifest.

    Every device of a container counts, except RDMA devices. Init containers run before the others, except sidecars.

    Parameters
    ----------
    manifest
        A rendered manifest.
    kind
        Its kind.
    """
    groups = manifest["spec"].get(KINDS[kind].replicas) or []
    return [
        (_whole(group.get("replicas", 1)), _of_pod((group.get("template") or {}).get("spec") or {}))
        for group in (groups.values() if isinstance(groups, dict) else groups)
    ]


def _of_pod(pod: dict[str, Any]) -> int:
    sidecars, before = 0, 0
    for container in pod.get("initContainers") or []:
        count = _of_container(container)
        if container.get("restartPolicy") == "Always":
            sidecars += count
        else:
            before = max(before, sidecars + count)
    return max(before, sidecars + sum(_of_container(container) for container in pod.get("containers") or []))


def _of_container(container: dict[str, Any]) -> int:
    resources = container.get("resources") or {}
    found: dict[str, int] = {}
    for name, value in _amounts(resources):
        if "/" in name and "rdma" not in name:
            found[name] = max(found.get(name, 0), _whole(value))
    return sum(found.values())


def _amounts(resources: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for part in ("limits", "requests"):
        yield from (resources.get(part) or {}).items()


def _whole(value: Any) -> int:
    """Return a quantity as a whole number, rounded up; a value that is none counts as 0, since a cluster refuses it."""
    number = amount(value) if isinstance(value, str) else value
    return math.ceil(number) if isinstance(number, (int, float)) and math.isfinite(number) else 0
