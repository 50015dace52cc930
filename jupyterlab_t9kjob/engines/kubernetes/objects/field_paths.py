"""Converts fields that the API server names to JSON pointers, and to the fields of the specification behind them."""

from __future__ import annotations

import re
from typing import Any, Final

from ....core.errors import FieldError
from ....core.manifests import parse
from ....core.manifests.model import child
from ..client.api import Json

_STEP: Final = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<item>[^\]]*)\]")

_TEMPLATE: Final = {
    r"/spec/containers/\d+/image": "/spec/runtime/image",
    r"/spec/containers/\d+/imagePullPolicy": "/spec/runtime/pull_policy",
    r"/spec/containers/\d+/workingDir": "/spec/working_dir",
    r"/spec/containers/\d+/command": "/spec/entrypoint/value",
    r"/spec/containers/\d+/args": "/spec/args",
    r"/spec/containers/\d+/env": "/spec/env",
    r"/spec/containers/\d+/resources": "{group}/resources",
    r"/spec/containers/\d+/volumeMounts": "/spec/mounts",
    "/spec/volumes": "/spec/mounts",
    "/spec/imagePullSecrets": "/spec/runtime/pull_secrets",
    "/spec/nodeSelector": "/spec/scheduling/node_selector",
    "/spec/tolerations": "/spec/scheduling/tolerations",
    "/spec/priorityClassName": "/spec/scheduling/priority_class",
    "/spec/schedulerName": "/spec/scheduling/scheduler",
    "/spec/securityContext": "/spec/security",
}
_FIELDS: Final = {
    "/metadata/name": "/spec/name",
    "/metadata/namespace": "/namespace",
    "/metadata/labels": "/spec/labels",
    "/metadata/annotations": "/spec/annotations",
    "/spec/torchrunConfig/procPerNode": "/spec/torchrun/proc_per_node",
    "/spec/torchrunConfig/maxRestarts": "/spec/torchrun/max_restarts",
    "/spec/torchrunConfig/rdzvBackend": "/spec/torchrun/rdzv_backend",
    "/spec/torchrunConfig/extraOptions": "/spec/torchrun/extra_options",
    "/spec/torchrunConfig": "/spec/torchrun",
    "/spec/nprocPerNode": "/spec/torchrun/proc_per_node",
    "/spec/(?:elastic|elasticPolicy)/minReplicas": "/spec/elastic/min",
    "/spec/(?:elastic|elasticPolicy)/maxReplicas": "/spec/elastic/max",
    "/spec/elastic/expectedReplicas": "/spec/elastic/expected",
    "/spec/(?:elastic|elasticPolicy)": "/spec/elastic",
    "/spec/(?:runPolicy/)?backoffLimit": "/spec/run_policy/backoff_limit",
    "/spec/(?:runPolicy/)?activeDeadlineSeconds": "/spec/run_policy/active_deadline_seconds",
    "/spec/runPolicy/(?:cleanUpPolicy|cleanPodPolicy)": "/spec/run_policy/clean_up",
    "/spec/(?:runPolicy/)?ttlSecondsAfterFinished": "/spec/run_policy/ttl_seconds",
    "/spec/(?:runPolicy/)?suspend": "/spec/paused",
    "/spec/(?:completions|parallelism)": "/spec/replica_specs/0/replicas",
    "/spec/podFailurePolicy": "/spec/replica_specs/0/restart_policy",
    "/spec/failurePolicy": "/spec/run_policy/backoff_limit",
    r"/spec/replicatedJobs/\d+/name": "/spec/name",  # The names of Jobs and pods begin with that of the JobSet.
    "/spec/runPolicy/schedulingPolicy/queue": "/spec/scheduling/queue",
    "/spec/runMode/pause/resumeSpecs": "/spec/resume",
    "/spec/runMode/pause": "/spec/paused",
    "/spec/runMode/debug": "/spec/debug",
    "/spec/scheduler/t9kScheduler/queue": "/spec/scheduling/queue",
    "/spec/scheduler/t9kScheduler/priority": "/spec/scheduling/priority",
    "/spec/tensorboardSpec": "/spec/tensorboard/cluster",
    "/spec/runtimeRef(?:/.*)?": "/spec/runtime/training_runtime",
    "/spec/trainer/image": "/spec/runtime/image",
    "/spec/trainer/command": "/spec/entrypoint/value",
    "/spec/trainer/args": "/spec/args",
    "/spec/trainer/env": "/spec/env",
    "/spec/trainer/numNodes": "/spec/replica_specs/0/replicas",
    "/spec/trainer/numProcPerNode": "/spec/torchrun/proc_per_node",
    "/spec/trainer/resourcesPerNode": "/spec/replica_specs/0/resources",
    "/spec/replicas": "/spec/replica_specs/0/replicas",  # of the only replica type
    **{
        rf"/spec/\w+(?:Overrides|Patches)/\d+/(?:.*/)?{path.removeprefix('/spec/')}": field
        for path, field in _TEMPLATE.items()
        if "{group}" not in field
    },
}
_OF_REPLICAS: Final = {
    "/replicas": "{group}/replicas",
    "/restartPolicy": "{group}/restart_policy",
    "/scalingWeight": "{group}/scaling_weight",
    "/type": "{group}/type",
    **{f"/template{path}": field for path, field in _TEMPLATE.items()},
}
_REPLICAS: Final = re.compile(
    r"/spec(?:/replicaSpecs/(?P<index>\d{1,4})|/pytorchReplicaSpecs/(?P<role>\w+)|(?=/template/))(?P<rest>/.*)"
)


_OF_A_JOBSET: Final = re.compile(r"^/spec/replicatedJobs/0/template(?=/spec/)")
"""The way to the first Job of a JobSet, whose fields are those of an Indexed Job."""


def pointer_of(field: str, manifest: Json | None) -> str:
    """Return the JSON pointer of a field; it begins with ``/manifest``.

    Parameters
    ----------
    field
        The field as the API server writes it: ``spec.replicaSpecs[0].type``,
        ``spec.pytorchReplicaSpecs[Master].replicas``.
    manifest
        The object, to recognize keys that contain dots; None if there is none.
    """
    pointer, here = "/manifest", manifest
    steps = [match["name"] if match["item"] is None else match["item"] for match in _STEP.finditer(field[:1000])]
    while steps:
        key, here = _next(steps, here)
        pointer = child(pointer, key)
    return pointer


def _next(steps: list[str], here: Any) -> tuple[str, Any]:
    """Remove the next key from the steps, and return it with its value: the longest key that the object has."""
    if isinstance(here, dict):
        for length in range(min(len(steps), 10), 0, -1):
            key = ".".join(steps[:length])
            if key in here:
                del steps[:length]
                return key, here[key]
    key = steps.pop(0)
    if isinstance(here, list) and key.isdecimal() and int(key) < len(here):
        return key, here[int(key)]
    return key, None


def field_of(pointer: str, manifest: Json | None) -> str | None:
    """Return the field of the specification that a field of the manifest comes from; None if there is no single one.

    Parameters
    ----------
    pointer
        JSON pointer into the manifest.
    manifest
        The manifest; None if it is not known.
    """
    path = _OF_A_JOBSET.sub("", pointer.removeprefix("/manifest"), 1)
    for pattern, field in _FIELDS.items():
        if re.match(rf"{pattern}(?:/|$)", path):
            return field
    replicas = _REPLICAS.fullmatch(path)
    if replicas is None:
        return None
    group = f"/spec/replica_specs/{_group(replicas, manifest)}"
    for pattern, field in _OF_REPLICAS.items():
        if re.match(rf"{pattern}(?:/|$)", replicas["rest"]):
            return field.format(group=group)
    return None


def _group(replicas: re.Match[str], manifest: Json | None) -> int:
    """Return the index of the replica type in the specification; equal Master and Workers are one type there."""
    if replicas["index"] is not None:
        return int(replicas["index"])
    if replicas["role"] in ("Master", None) or manifest is None:
        return 0
    try:
        return len(parse(manifest).spec.replica_specs) - 1
    except FieldError:
        return 0
