"""Fields of a pod that are kept: a pod of a training job has 20 KB of JSON, and little of it is ever read.

Environment variables, probes, security contexts and annotations are most of it. What is kept is stored compressed, for
the pods of a job are much alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..client.api import Json
from ..objects.compressed import Packed, Packer

Fields = Mapping[str, "Fields | None"]
"""Names of fields; None keeps all of a field, a mapping some fields of the object, or of each object of the list."""


def _all(*names: str) -> dict[str, Fields | None]:
    return dict.fromkeys(names)


_CONTAINER: Final[Fields] = _all(
    "name", "image", "command", "args", "workingDir", "resources", "volumeMounts", "restartPolicy"
)
_CONTAINER_STATUS: Final[Fields] = _all(
    "name", "state", "lastState", "ready", "started", "restartCount", "containerID", "allocatedResources", "resources"
)
_DELETION: Final = ("deletionTimestamp", "deletionGracePeriodSeconds")
KEPT: Final[Fields] = {
    "metadata": {
        **_all("name", "namespace", "uid", "resourceVersion", "labels"),
        **_all("creationTimestamp", *_DELETION),
        "ownerReferences": _all("apiVersion", "kind", "name", "uid", "controller"),
    },
    "spec": {
        **_all("nodeName", "nodeSelector", "affinity", "tolerations", "schedulerName", "schedulingGates"),
        **_all("restartPolicy", "activeDeadlineSeconds", "terminationGracePeriodSeconds", "imagePullSecrets"),
        **_all("resources", "overhead", "volumes"),
        "containers": _CONTAINER,
        "initContainers": _CONTAINER,
    },
    "status": {
        **_all("phase", "reason", "message", "podIP", "startTime", "nominatedNodeName"),
        "conditions": _all("type", "status", "reason", "message", "lastTransitionTime"),
        "containerStatuses": _CONTAINER_STATUS,
        "initContainerStatuses": _CONTAINER_STATUS,
    },
}
"""All fields of pods that this package reads. A module that reads another one adds it here."""


def slim(pod: Json) -> Json:
    """Return a pod with the fields of `KEPT` alone."""
    slimmed: Json = _some(pod, KEPT)
    return slimmed


def _some(value: Any, fields: Fields | None) -> Any:
    if fields is None:
        return value
    if isinstance(value, list):
        return [_some(item, fields) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _some(value[name], inner) for name, inner in fields.items() if name in value}


class PodKeeper:
    """Keeps pods of one namespace compressed, each as an object with its uid, its version and `pod`.

    A pod's deletion keeps the times of its first request: when the containers have ended, the kubelet repeats the
    request without a grace period, and the API server replaces the times, as if the deletion had followed the end.
    """

    def __init__(self) -> None:
        self._packer: Packer[Json] = Packer()
        self._deletions: dict[str, Json] = {}

    def keep(self, pod: Json) -> Json:
        """Return what is kept of a pod, see `kept_pod`."""
        slimmed = slim(pod)
        metadata = slimmed["metadata"]
        if "deletionTimestamp" in metadata:
            times = {name: metadata[name] for name in _DELETION if name in metadata}
            metadata |= self._deletions.setdefault(metadata["uid"], times)
        identity = {name: metadata[name] for name in ("uid", "resourceVersion")}
        return {"metadata": identity, "pod": self._packer.pack(slimmed)}

    def forget(self, uid: str) -> None:
        """Drop what is kept beside a pod that is gone."""
        self._deletions.pop(uid, None)


def kept_pod(kept: Json) -> Json:
    """Return a pod that was kept by `PodKeeper`, with the fields of `KEPT`; a copy that is the caller's own."""
    packed: Packed[Json] = kept["pod"]
    return packed.value
