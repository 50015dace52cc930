"""Builds the pod template of a replica type, and brings templates into the same form, for all kinds."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, Final

from ...code.model import GitRepository
from ...spec import (
    EnvVar,
    JobSpec,
    Mount,
    ReplicaSpec,
    Resources,
)
from ..entrypoints import Argv, split_argv, working_directory
from ..names import CONFIG, CONTAINER, SHM, SHM_PATH
from .git_clone import add_clone
from .pod_security import restricted_container, restricted_pod

RESTART_POLICIES: Final = ("Never", "OnFailure", "Always", "ExitCode")


def compact(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that are None or empty."""
    return {key: item for key, item in value.items() if item is not None and item != {} and item != []}


# -- from a spec -------------------------------------------------------------------------------------------------------


def build_template(spec: JobSpec, group: ReplicaSpec, argv: Argv) -> dict[str, Any]:
    """Return the pod template of a replica type whose training container runs `argv`.

    Parameters
    ----------
    spec
        The job. Its mounts, security and scheduling are those of all replica types.
    group
        The replica type. Its own runtime and variables replace those of the job.
    argv
        Command and arguments of the training container.
    """
    runtime = group.runtime or spec.runtime
    shm = (spec.shm and spec.shm.volume) or SHM
    names = volume_names(spec.mounts, shm)
    volumes = {
        name: {"name": name, "persistentVolumeClaim": {"claimName": mount.claim}}
        for name, mount in zip(names, spec.mounts, strict=True)
    }
    mounts = [
        compact({
            "name": name,
            "mountPath": mount.mount_path,
            "subPath": mount.sub_path,
            "readOnly": mount.read_only or None,
        })
        for name, mount in zip(names, spec.mounts, strict=True)
    ]  # fmt: skip
    if spec.shm is not None:
        memory = compact({"medium": "Memory", "sizeLimit": _written(spec.shm.size_limit)})
        volumes[shm] = {"name": shm, "emptyDir": memory}
        mounts.append({"name": shm, "mountPath": SHM_PATH})
    if spec.config_files:
        volumes[CONFIG] = {"name": CONFIG, "configMap": {"name": config_map_name(spec.name)}}
        mounts += [
            {"name": CONFIG, "mountPath": file.path, "subPath": str(index), "readOnly": True}
            for index, file in enumerate(spec.config_files)
        ]
    container = compact({
        "name": CONTAINER,
        "image": runtime.image,
        "imagePullPolicy": runtime.pull_policy,
        "workingDir": working_directory(spec),
        "command": argv.command,
        "args": argv.args,
        "env": [_build_env(variable) for variable in merged_env(spec.env, group.env)],
        "resources": build_resources(group.resources),
        "volumeMounts": mounts,
        "securityContext": restricted_container() if spec.security.restricted else None,
    })  # fmt: skip
    scheduling = spec.scheduling
    pod = compact({
        "securityContext": compact({
            "runAsUser": spec.security.uid,
            "runAsGroup": spec.security.gid,
            "fsGroup": spec.security.fs_group,
            **(restricted_pod() if spec.security.restricted else {}),
        }),
        "imagePullSecrets": [{"name": name} for name in runtime.pull_secrets],
        "nodeSelector": dict(scheduling.node_selector),
        "tolerations": deepcopy(scheduling.tolerations),
        "priorityClassName": scheduling.priority_class,
        "schedulerName": scheduling.scheduler,
        "containers": [container],
        "volumes": list(volumes.values()),
    })  # fmt: skip
    if isinstance(spec.source, GitRepository):
        add_clone(pod, spec.source, spec.security)
    return {"spec": pod}


def config_map_name(job: str) -> str:
    """Return the name of the ConfigMap of a job's config files, whose keys are their positions."""
    return f"{job}-config-files"


def merged_env(job: list[EnvVar], group: list[EnvVar] | None) -> list[EnvVar]:
    """Return the variables of a replica type. Its own variables replace the job's of the same name.

    Parameters
    ----------
    job, group
        Variables of the job, and of the replica type, or None.
    """
    own = {variable.name for variable in group or []}
    return [*(variable for variable in job if variable.name not in own), *(group or [])]


def volume_names(mounts: list[Mount], shm: str = SHM) -> list[str]:
    """Return the volume name of each mount: ``data``, ``data-2``, …; mounts of the same PVC share a volume.

    Parameters
    ----------
    mounts
        The job's mounts. A mount that names its volume keeps the name.
    shm
        Name of the memory volume, which no other volume can have.
    """
    taken = {mount.volume for mount in mounts if mount.volume} | {shm}
    free = (name for n in range(1, 2 * len(mounts) + 3) if (name := f"data-{n}" if n > 1 else "data") not in taken)
    made: dict[str, str] = {}
    names = []
    for mount in mounts:
        if not mount.volume and mount.claim not in made:
            made[mount.claim] = next(free)
        names.append(mount.volume or made[mount.claim])
    return names


def build_resources(resources: Resources) -> dict[str, Any]:
    """Return limits and requests of a container. A device's request equals its limit."""
    device = {resources.device.name: resources.device.count} if resources.device else {}
    cpu, memory = resources.cpu, resources.memory
    return compact({
        "limits": compact({"cpu": _written(cpu.limit), "memory": _written(memory.limit), **device}),
        "requests": compact({"cpu": _written(cpu.request), "memory": _written(memory.request), **device}),
    })  # fmt: skip


def _build_env(variable: EnvVar) -> dict[str, Any]:
    if variable.secret is not None:
        reference = {"name": variable.secret.name, "key": variable.secret.key}
        return {"name": variable.name, "valueFrom": {"secretKeyRef": reference}}
    return {"name": variable.name} if variable.value is None else {"name": variable.name, "value": variable.value}


def _written(quantity: str | None) -> str | int | None:
    """Return a quantity in its usual YAML form: a whole number is not quoted."""
    return int(quantity) if quantity and re.fullmatch(r"0|[1-9][0-9]{0,17}", quantity) else quantity


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical_template(template: dict[str, Any], training: str | None) -> dict[str, Any]:
    """Return a template in the form of `build_template`, with the same meaning.

    Parameters
    ----------
    template
        A template whose fields have the right types.
    training
        Required name of the training container. None selects the container named ``python``, or else the first
        (t9k-facts.md, Launch).
    """
    pod = dict(template.get("spec", {}))
    for name in ("containers", "initContainers"):
        pod[name] = [_canonical_container(container) for container in pod.get(name, [])]
    index = training_container(pod["containers"], training)
    if index is not None:
        container = pod["containers"][index]
        argv = split_argv(Argv(container.get("command"), container.get("args", [])))
        container = {**container, "command": argv.command, "args": argv.args}
        pod["containers"][index] = compact(container)
    pod["volumes"] = [_canonical_volume(volume) for volume in pod.get("volumes", [])]
    metadata = compact(template.get("metadata", {}))
    return compact({**template, "metadata": metadata, "spec": compact(pod)})


def training_container(containers: list[dict[str, Any]], training: str | None) -> int | None:
    """Return the index of the container named `training` (None: ``python``), else 0; None without containers.

    Parameters
    ----------
    containers
        Containers of a pod template.
    training
        Required name of the container; None for ``python``.
    """
    for index, container in enumerate(containers):
        if container.get("name") == (training or "python"):
            return index
    return 0 if containers else None


def _canonical_container(container: dict[str, Any]) -> dict[str, Any]:
    container = dict(container)
    if isinstance(resources := container.get("resources"), dict):
        container["resources"] = canonical_resources(resources)
    return compact(container)


def canonical_resources(resources: dict[str, Any]) -> dict[str, Any]:
    """Return limits and requests with whole numbers as integers, and with each device's limit as its request."""
    result = dict(resources)
    for name in ("limits", "requests"):
        if isinstance(amounts := result.get(name), dict):
            result[name] = {key: quantity(amount) for key, amount in amounts.items()}
    limits, requests = result.get("limits"), result.get("requests", {})
    if isinstance(limits, dict) and isinstance(requests, dict):
        # Kubernetes uses a device's limit as its request (Kubernetes docs, Schedule GPUs).
        devices = {key: amount for key, amount in limits.items() if "/" in key}
        result["requests"] = {**devices, **requests}
    return compact(result)


def quantity(amount: Any) -> Any:
    """Return a quantity in canonical form: the integer ``8`` for ``"8"``, text for a fraction."""
    if isinstance(amount, float):
        return int(amount) if amount.is_integer() and abs(amount) < 1e18 else str(amount)
    return _written(amount) if isinstance(amount, str) else amount


def _canonical_volume(volume: dict[str, Any]) -> dict[str, Any]:
    memory = volume.get("emptyDir")
    if isinstance(memory, dict) and "sizeLimit" in memory:
        return {**volume, "emptyDir": {**memory, "sizeLimit": quantity(memory["sizeLimit"])}}
    return volume
