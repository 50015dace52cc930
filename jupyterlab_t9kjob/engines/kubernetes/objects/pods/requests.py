"""The effective requests of a pod, counted as the scheduler does (`PodRequests` of k8s.io/component-helpers).

Containers and sidecars run together. An init container runs beside the sidecars that were started before it. The larger
of both sums counts (KEP-753). Requests of a whole pod replace those of its containers (KEP-2837). For a pod that is
resized in place, the larger of the allocated and the requested amount counts (KEP-1287). Extended resources (GPUs) have
requests equal to their limits.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...client.api import Json
from ...client.json_access import part, parts, text, value
from ..resources import MEASURED, amounts_of, exact, is_accelerator

_ENDED: Final = ("Succeeded", "Failed")
_OF_WHOLE_PODS: Final = ("cpu", "memory", "hugepages-")
"""Resources that can be requested for a whole pod."""


@dataclass(frozen=True)
class Held:
    """The resources that a pod takes from its node.

    Attributes
    ----------
    node
        Name of the node.
    amounts
        Amounts of accelerators, CPU and memory by resource, in base units.
    """

    node: str
    amounts: Counter[str]


def requests_of(pod: Json) -> Counter[str]:
    """Return the amounts that a pod holds while it runs, by resource, in base units."""
    held = _together(pod, _asked)
    statuses = {text(each, "name"): each for each in _statuses(pod)}
    if any(_is_resized(each, statuses.get(text(each, "name"))) for each in _containers(pod)):
        before = _together(pod, lambda container: _had(container, statuses.get(text(container, "name"))))
        held = before if _is_infeasible(pod) else held | before
    for name, asked in amounts_of(part(pod, "spec", "resources", "requests")).items():
        if name.startswith(_OF_WHOLE_PODS):
            held[name] = asked
    held += amounts_of(part(pod, "spec", "overhead"))
    return Counter({name: exact(asked) for name, asked in held.items()})


def asked_of(pod: Json) -> dict[str, float]:
    """Return the accelerators, CPU and memory that a pod requests, by resource, in base units."""
    held = sorted(requests_of(pod).items())
    return {name: wanted for name, wanted in held if name in MEASURED or is_accelerator(name)}


def shape_of(pod: Json) -> str:
    """Return a key of a pod's requests and placement rules; pods with equal keys fit on the same nodes."""
    asked = sorted(requests_of(pod).items())
    return repr([asked, *(value(pod, "spec", name) for name in ("nodeSelector", "affinity", "tolerations"))])


def held_by(pod: Json) -> Held | None:
    """Return what a pod takes from its node; None if it is on no node or has ended."""
    node = text(pod, "spec", "nodeName")
    if node is None or text(pod, "status", "phase") in _ENDED:
        return None
    return Held(sys.intern(node), Counter(asked_of(pod)))


def kept_of_pod(pod: Json) -> Json:
    """Return a small object in place of a pod: its metadata, and ``held``, a `Held` or None."""
    metadata = pod["metadata"]
    return {"metadata": {name: metadata[name] for name in ("uid", "resourceVersion")}, "held": held_by(pod)}


def _together(pod: Json, asked: Callable[[Json], Counter[str]]) -> Counter[str]:
    """Return the largest amounts that the containers of a pod hold at the same time.

    Parameters
    ----------
    pod
        The pod.
    asked
        Returns the amounts of one container.
    """
    running: Counter[str] = Counter()
    starting: Counter[str] = Counter()
    for container in parts(pod, "spec", "initContainers"):
        if container.get("restartPolicy") == "Always":  # a sidecar
            running += asked(container)
            starting |= running
        else:
            starting |= running + asked(container)
    for container in parts(pod, "spec", "containers"):
        running += asked(container)
    return running | starting


def _asked(container: Json) -> Counter[str]:
    """Return a container's requests; a limit without a request counts as a request."""
    resources = part(container, "resources")
    return amounts_of({**part(resources, "limits"), **part(resources, "requests")})


def _had(container: Json, status: Json | None) -> Counter[str]:
    """Return the amounts that are allocated to a container; its requests if its status has none."""
    given, has = part(status, "allocatedResources"), part(status, "resources", "requests")
    return amounts_of(given) | amounts_of(has) or _asked(container)


def _is_resized(container: Json, status: Json | None) -> bool:
    written = part(container, "resources", "requests")
    reported = (part(status, "allocatedResources"), part(status, "resources", "requests"))
    return any(each and each != written for each in reported)


def _is_infeasible(pod: Json) -> bool:
    """Return True if the node has no room for the requested resize of a pod."""
    conditions = parts(pod, "status", "conditions")
    return any(each.get("type") == "PodResizePending" and each.get("reason") == "Infeasible" for each in conditions)


def _containers(pod: Json) -> list[Json]:
    return [*parts(pod, "spec", "containers"), *parts(pod, "spec", "initContainers")]


def _statuses(pod: Json) -> list[Json]:
    return [*parts(pod, "status", "containerStatuses"), *parts(pod, "status", "initContainerStatuses")]
