"""Resources of the pods of a manifest: those of all containers, also of those that the form does not show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..core.manifests import KINDS
from ..core.manifests.kinds.git_clone import CLONE_RESOURCES
from ..core.manifests.names import CLONE
from ..core.texts.quantity import amount
from ..core.translation import Text, _

RESOURCES: Final = ("cpu", "memory")


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
    return [(_whole(group.get("replicas", 1)), _of_pod(_pod(group), _devices)) for group in _groups(manifest, kind)]


def amounts_of_pods(manifest: dict[str, Any], kind: str) -> dict[str, float]:
    """Return the largest CPU and memory of one pod of a manifest, by ``cpu/limit``, ``cpu/request`` and so on.

    A container without a limit has an infinite one. A container without a request requests its limit. The container
    that clones a repository does not count.

    Parameters
    ----------
    manifest
        A rendered manifest.
    kind
        Its kind.
    """
    pods = [_pod(group) for group in _groups(manifest, kind)]
    found = {}
    for name in RESOURCES:
        found[f"{name}/limit"] = max((_of_pod(pod, _limit_of(name)) for pod in pods), default=0.0)
        found[f"{name}/request"] = max((_of_pod(pod, _request_of(name)) for pod in pods), default=0.0)
    return found


def amount_text(name: str, value: float) -> Text | str:
    """Return an amount of `amounts_of_pods` as a quantity: ``4.5``, ``68.5Gi``.

    Parameters
    ----------
    name
        Its key.
    value
        Cores or bytes.
    """
    if math.isinf(value):
        return _("no limit")
    return f"{value / 2**30:.4g}Gi" if name.startswith("memory") else f"{value:g}"


def _groups(manifest: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    groups = manifest["spec"].get(KINDS[kind].replicas) or []
    return list(groups.values() if isinstance(groups, dict) else groups)


def _pod(group: dict[str, Any]) -> dict[str, Any]:
    return (group.get("template") or {}).get("spec") or {}


def _of_pod(pod: dict[str, Any], of_container: Callable[[dict[str, Any]], Any]) -> Any:
    sidecars, before = 0, 0
    for container in pod.get("initContainers") or []:
        count = of_container(container)
        if container.get("restartPolicy") == "Always":
            sidecars += count
        else:
            before = max(before, sidecars + count)
    return max(before, sidecars + sum(of_container(container) for container in pod.get("containers") or []))


def _limit_of(name: str) -> Callable[[dict[str, Any]], float]:
    return lambda container: 0.0 if _clones(container) else _quantity(container, name, ("limits",), math.inf)


def _request_of(name: str) -> Callable[[dict[str, Any]], float]:
    return lambda container: 0.0 if _clones(container) else _quantity(container, name, ("requests", "limits"), 0.0)


def _clones(container: dict[str, Any]) -> bool:
    return container.get("name") == CLONE and container.get("resources") == CLONE_RESOURCES


def _quantity(container: dict[str, Any], name: str, parts: tuple[str, ...], otherwise: float) -> float:
    resources = container.get("resources") or {}
    for part in parts:
        value = (resources.get(part) or {}).get(name)
        if value is not None:
            number = amount(value) if isinstance(value, str) else value
            return float(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else 0.0
    return otherwise


def _devices(container: dict[str, Any]) -> int:
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
