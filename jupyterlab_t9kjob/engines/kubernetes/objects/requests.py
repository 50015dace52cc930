"""What a pod asks of its node, counted as the scheduler counts.

That is its effective request (`PodRequests` of k8s.io/component-helpers, by which the scheduler counts):
containers and sidecars run together, an init container runs beside the sidecars that were started before it, and the
larger of both counts (KEP-753). Requests of a whole pod stand for those of its containers (KEP-2837), and of one that
is resized in place the larger of what it has and what it is to get counts (KEP-1287). Extended resources (GPUs) have
requests equal to their limits.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..client.api import Json
from ..client.json_access import part, parts, text, value
from .resources import MEASURED, amounts_of, exact, is_accelerator

_ENDED: Final = ("Succeeded", "Failed")
_OF_WHOLE_PODS: Final = ("cpu", "memory", "hugepages-")
"""What can be asked for a whole pod."""


@dataclass(frozen=True)
class Held:
    """What a pod takes from its node.

    Attributes
    ----------
    node
        Its name.
    amounts
        By resource, in its base unit; only of accelerators, CPU and memory.
    """

    node: str
    amounts: Counter[str]


def requests_of(pod: Json) -> Counter[str]:
    """Return what a pod holds while it runs, by resource."""
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
    """Return what a pod asks of its node, by resource, of what is known of nodes."""
    held = sorted(requests_of(pod).items())
    return {name: wanted for name, wanted in held if name in MEASURED or is_accelerator(name)}


def shape_of(pod: Json) -> str:
    """Return what a pod asks for and where it may go: pods of which that is equal are placed alike."""
    asked = sorted(requests_of(pod).items())
    return repr([asked, *(value(pod, "spec", name) for name in ("nodeSelector", "affinity", "tolerations"))])


def held_by(pod: Json) -> Held | None:
    """Return what a pod takes from its node; None of one that was placed on none, or has ended."""
    node = text(pod, "spec", "nodeName")
    if node is None or text(pod, "status", "phase") in _ENDED:
        return None
    return Held(sys.intern(node), Counter(asked_of(pod)))


def kept_of_pod(pod: Json) -> Json:
    """Return what counts of a pod, which is little: `held` is what it takes, a `Held` or None."""
    metadata = pod["metadata"]
    return {"metadata": {name: metadata[name] for name in ("uid", "resourceVersion")}, "held": held_by(pod)}


def _together(pod: Json, asked: Callable[[Json], Counter[str]]) -> Counter[str]:
    """Return what the containers of a pod hold together, at the moment when that is most."""
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
    """Return a container's requests; a limit without a request counts as one."""
    resources = part(container, "resources")
    return amounts_of({**part(resources, "limits"), **part(resources, "requests")})


def _had(container: Json, status: Json | None) -> Counter[str]:
    """Return what a container was given, and what it has."""
    given, has = part(status, "allocatedResources"), part(status, "resources", "requests")
    return amounts_of(given) | amounts_of(has) or _asked(container)


def _is_resized(container: Json, status: Json | None) -> bool:
    written = part(container, "resources", "requests")
    told = (part(status, "allocatedResources"), part(status, "resources", "requests"))
    return any(each and each != written for each in told)


def _is_infeasible(pod: Json) -> bool:
    """Whether a pod was to become larger than its node."""
    conditions = parts(pod, "status", "conditions")
    return any(each.get("type") == "PodResizePending" and each.get("reason") == "Infeasible" for each in conditions)


def _containers(pod: Json) -> list[Json]:
    return [*parts(pod, "spec", "containers"), *parts(pod, "spec", "initContainers")]


def _statuses(pod: Json) -> list[Json]:
    return [*parts(pod, "status", "containerStatuses"), *parts(pod, "status", "initContainerStatuses")]
