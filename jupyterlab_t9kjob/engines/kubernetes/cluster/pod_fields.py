"""Fields of pods that are kept in memory.

A pod of a training job has 20 KB of JSON, most of it environment variables, probes, security contexts and annotations
that nothing reads. The kept fields are stored compressed, because the pods of a job are much alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..client.api import Json
from ..objects.compressed import Packed, Packer

Fields = Mapping[str, "Fields | None"]
"""Names of fields to keep. None keeps the whole field; a mapping keeps fields of the object, or of each object in the
list."""


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
"""All fields of pods that the Kubernetes engines read. A module that reads another field adds it here."""


def slim(pod: Json) -> Json:
    """Return a pod with only the fields of `KEPT`."""
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
    """Compresses the pods of one namespace into objects with uid, resource version and the packed `pod`.

    A pod keeps the deletion times of the first delete request. When the containers have ended, the kubelet repeats the
    request without a grace period, and the API server replaces the times as if the deletion had followed the end.
    """

    def __init__(self) -> None:
        self._packer: Packer[Json] = Packer()
        self._deletions: dict[str, Json] = {}

    def keep(self, pod: Json) -> Json:
        """Return the compressed form of a pod, which `kept_pod` reads."""
        slimmed = slim(pod)
        metadata = slimmed["metadata"]
        if "deletionTimestamp" in metadata:
            times = {name: metadata[name] for name in _DELETION if name in metadata}
            metadata |= self._deletions.setdefault(metadata["uid"], times)
        identity = {name: metadata[name] for name in ("uid", "resourceVersion")}
        return {"metadata": identity, "pod": self._packer.pack(slimmed)}

    def forget(self, uid: str) -> None:
        """Drop the deletion times of a pod that is gone."""
        self._deletions.pop(uid, None)


def kept_pod(kept: Json) -> Json:
    """Return a pod from the form of `PodKeeper.keep`, with the fields of `KEPT`; the caller may change it."""
    packed: Packed[Json] = kept["pod"]
    return packed.value
