"""The restricted Pod Security Standard: the fields that it requires, and the fields of a pod that violate it.

Source: Kubernetes documentation, "Pod Security Standards", profile *Restricted*; the profile includes *Baseline*.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from ..json_values import as_object, as_objects

POD: Final[dict[str, Any]] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
"""Fields that the standard requires in a pod's security context."""
CONTAINER: Final[dict[str, Any]] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""Fields that the standard requires in each container's security context."""

_SECCOMP: Final = ("RuntimeDefault", "Localhost")
_HOST: Final = ("hostNetwork", "hostPID", "hostIPC")
_VOLUMES: Final = frozenset(
    ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret")
)


def restricted_pod() -> dict[str, Any]:
    """Return a copy of `POD`."""
    return deepcopy(POD)


def restricted_container() -> dict[str, Any]:
    """Return a copy of `CONTAINER`."""
    return deepcopy(CONTAINER)


def is_restricted(pod: dict[str, Any], container: dict[str, Any]) -> bool:
    """Return True if both security contexts have the fields that the standard requires.

    Parameters
    ----------
    pod
        Security context of the pod.
    container
        Security context of the training container.
    """
    return all(pod.get(name) == value for name, value in POD.items()) and container == CONTAINER


def violations(pod: Any) -> Iterator[tuple[str, str]]:
    """Yield the fields of a pod that violate the restricted standard.

    Parameters
    ----------
    pod
        The `spec` of a pod or of a pod template, of any shape.

    Yields
    ------
    pointer
        JSON pointer into `pod`: the field that is missing or has a value that is not allowed.
    demand
        The value that the standard demands, in words: “must be true”.
    """
    pod = as_object(pod)
    for name in _HOST:
        if pod.get(name):
            yield f"/{name}", "must be false"
    for index, volume in enumerate(as_objects(pod.get("volumes"))):
        for kind in sorted(volume.keys() - {"name"} - _VOLUMES):
            yield f"/volumes/{index}/{kind}", "is a volume type that is not allowed"
    context = as_object(pod.get("securityContext"))
    if context.get("runAsUser") == 0:
        yield "/securityContext/runAsUser", "must not be 0"
    containers = [
        (f"/{kind}/{index}/securityContext", container, as_object(container.get("securityContext")))
        for kind in ("initContainers", "containers")
        for index, container in enumerate(as_objects(pod.get(kind)))
    ]
    # A container's own value replaces the pod's.
    if any(own.get("runAsNonRoot", context.get("runAsNonRoot")) is not True for _, _, own in containers):
        yield "/securityContext/runAsNonRoot", "must be true"
    if any((_seccomp(own) or _seccomp(context)) not in _SECCOMP for _, _, own in containers):
        yield "/securityContext/seccompProfile", "must be of type RuntimeDefault or Localhost"
    for pointer, container, own in containers:
        yield from _of_container(pointer, container, own)


def _of_container(pointer: str, container: dict[str, Any], own: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if own.get("privileged"):
        yield f"{pointer}/privileged", "must be false"
    if own.get("runAsUser") == 0:
        yield f"{pointer}/runAsUser", "must not be 0"
    if own.get("allowPrivilegeEscalation") is not False:
        yield f"{pointer}/allowPrivilegeEscalation", "must be false"
    capabilities = as_object(own.get("capabilities"))
    dropped, added = capabilities.get("drop"), capabilities.get("add")
    if not isinstance(dropped, list) or "ALL" not in dropped:
        yield f"{pointer}/capabilities/drop", "must have ALL"
    if isinstance(added, list) and any(name != "NET_BIND_SERVICE" for name in added):
        yield f"{pointer}/capabilities/add", "may have NET_BIND_SERVICE only"
    ports = container.get("ports")
    if any(port.get("hostPort") for port in as_objects(ports)):
        yield f"{pointer.rpartition('/')[0]}/ports", "must not use a hostPort"


def _seccomp(context: dict[str, Any]) -> Any:
    return as_object(context.get("seccompProfile")).get("type")
