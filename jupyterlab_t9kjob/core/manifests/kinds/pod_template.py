"""Converts a replica type to a pod template, and back, for all kinds."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from ...code.model import GitRepository
from ...spec import (
    ENV_NAME_PATTERN,
    Device,
    EnvVar,
    JobSpec,
    Mount,
    Quantity,
    ReplicaSpec,
    Resources,
    Runtime,
    SecretRef,
    Security,
    Shm,
)
from ..entrypoints import Argv, Program, split_argv, working_directory
from ..names import CONTAINER, SHM, SHM_PATH
from .git_clone import add_clone
from .pod_security import is_restricted, restricted_container, restricted_pod

PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
RESTART_POLICIES: Final = ("Never", "OnFailure", "Always", "ExitCode")


@dataclass
class Part:
    """Contents of a pod template as fields of a spec.

    Attributes
    ----------
    argv
        Command and arguments of the training container.
    program
        Program that `argv` runs. The kind sets it, because launchers differ.
    """

    argv: Argv
    working_dir: str | None = None
    env: list[EnvVar] = field(default_factory=list)
    runtime: Runtime = field(default_factory=Runtime)
    resources: Resources = field(default_factory=Resources)
    mounts: list[Mount] = field(default_factory=list)
    shm: Shm | None = None
    security: Security = field(default_factory=Security)
    scheduling: dict[str, Any] = field(default_factory=dict)
    program: Program | None = None


def compact(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that are None or empty."""
    return {key: item for key, item in value.items() if item is not None and item != {} and item != []}


# -- from a spec -------------------------------------------------------------------------------------------------------


def build_template(spec: JobSpec, group: ReplicaSpec, argv: Argv) -> dict[str, Any]:
    """Return the pod template of a replica type whose training container runs `argv`."""
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


def merged_env(job: list[EnvVar], group: list[EnvVar] | None) -> list[EnvVar]:
    """Return the variables of a replica type. Its own variables replace the job's of the same name."""
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
        (t9k.md §1.4).
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
    """Return the index of the container named `training` (None: ``python``), else 0; None without containers."""
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
        # Kubernetes uses a device's limit as its request (t9k.md §1.9).
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


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read_template(template: dict[str, Any], training: str | None) -> Part:
    """Return the fields of a spec in a canonical template. Fields that the model lacks are ignored.

    Parameters
    ----------
    template
        A template from `canonical_template`.
    training
        Required name of the training container; None if any name is allowed.
    """
    pod = template.get("spec", {})
    containers = pod.get("containers", [])
    index = training_container(containers, training)
    container = containers[index] if index is not None else {}
    policy = container.get("imagePullPolicy")
    mounts, shm = _read_mounts(container.get("volumeMounts", []), pod.get("volumes", []))
    security = pod.get("securityContext", {})
    return Part(
        argv=Argv(container.get("command"), container.get("args", [])),
        working_dir=container.get("workingDir"),
        env=_read_env(container.get("env", [])),
        runtime=Runtime(
            image=container.get("image"),
            pull_policy=policy if policy in PULL_POLICIES else None,
            pull_secrets=[secret["name"] for secret in pod.get("imagePullSecrets", []) if secret.get("name")],
            kernel=None,
        ),
        resources=read_resources(container.get("resources", {})),
        mounts=mounts,
        shm=shm,
        security=Security(
            uid=whole(security.get("runAsUser")),
            gid=whole(security.get("runAsGroup")),
            fs_group=whole(security.get("fsGroup")),
            restricted=is_restricted(security, container.get("securityContext", {})),
        ),
        scheduling={
            "priority_class": pod.get("priorityClassName"),
            "node_selector": pod.get("nodeSelector", {}),
            "tolerations": pod.get("tolerations", []),
            "scheduler": pod.get("schedulerName"),
        },
    )


def read_metadata(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return name, labels and annotations of a manifest as fields of a spec."""
    metadata = manifest["metadata"]
    return {
        "name": metadata["name"],
        "labels": metadata.get("labels", {}),
        "annotations": metadata.get("annotations", {}),
    }


def read_resources(resources: dict[str, Any]) -> Resources:
    """Return limits and requests. Of several devices the first that is not an RDMA device is used."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})

    def both(name: str) -> Quantity:
        return Quantity(request=_text(requests.get(name)), limit=_text(limits.get(name)))

    counts = {name: whole(amount, 0, 1024) for name, amount in limits.items() if "/" in name}
    devices = [Device(name=name, count=count) for name, count in counts.items() if count is not None]
    devices.sort(key=lambda device: "rdma" in device.name)
    return Resources(cpu=both("cpu"), memory=both("memory"), device=devices[0] if devices else None)


def whole(value: Any, low: int = -(2**63), high: int = 2**63 - 1) -> int | None:
    """Return an integer within the given bounds, None for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else None


def _text(amount: Any) -> str | None:
    return None if amount is None else str(amount)


def _read_env(entries: list[dict[str, Any]]) -> list[EnvVar]:
    names = [entry.get("name", "") for entry in entries]
    variables = []
    for name, entry in zip(names, entries, strict=True):
        # References to fields and repeated names have no place in the model, so `JobSpec.extra` keeps them.
        if not re.fullmatch(ENV_NAME_PATTERN, name) or len(name) > 256 or names.count(name) > 1:
            continue
        if entry.keys() <= {"name", "value"}:
            variables.append(EnvVar(name=name, value=entry.get("value"), secret=None))
            continue
        reference = entry.get("valueFrom", {}).get("secretKeyRef", {})
        only = entry.keys() == {"name", "valueFrom"} and entry["valueFrom"].keys() == {"secretKeyRef"}
        if only and reference.keys() == {"name", "key"}:
            variables.append(EnvVar(name=name, value=None, secret=SecretRef(**reference)))
    return variables


def _read_mounts(entries: list[dict[str, Any]], volumes: list[dict[str, Any]]) -> tuple[list[Mount], Shm | None]:
    found = {volume["name"]: volume for volume in volumes if volume.get("name")}
    mounts, shm = [], None
    for entry in entries:
        volume = found.get(entry.get("name"), {})
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        memory = volume.get("emptyDir", {})
        if claim and entry.get("mountPath"):
            mounts.append(
                Mount(
                    claim=claim,
                    mount_path=entry["mountPath"],
                    sub_path=entry.get("subPath"),
                    read_only=entry.get("readOnly", False),
                    volume=entry["name"],
                )
            )
        elif memory.get("medium") == "Memory" and entry.get("mountPath") == SHM_PATH and shm is None:
            name = entry["name"] if entry["name"] != SHM else None
            shm = Shm(size_limit=_text(memory.get("sizeLimit")), volume=name)
    unnamed = [mount.model_copy(update={"volume": None}) for mount in mounts]
    if volume_names(unnamed, (shm and shm.volume) or SHM) == [mount.volume for mount in mounts]:
        return unnamed, shm
    return mounts, shm


def read_groups(parts: list[tuple[ReplicaSpec, Part]]) -> dict[str, Any]:
    """Return the fields of a spec from its replica types. Fields of the whole job come from the first type.

    Parameters
    ----------
    parts
        Each type with its replicas, restart policy and weight, and the contents of its template. `Part.program` is set.
    """
    first = parts[0][1]
    assert first.program is not None  # noqa: S101
    common = [variable for variable in first.env if all(variable in part.env for _, part in parts)]
    groups = []
    for group, part in parts:
        assert part.program is not None  # noqa: S101
        own = [variable for variable in part.env if variable not in common]
        same = part.program.entrypoint == first.program.entrypoint
        overrides = {
            "entrypoint": None if same else part.program.entrypoint,
            "args": None if part.program.args == first.program.args else part.program.args,
            "runtime": None if part.runtime == first.runtime else part.runtime,
            "env": own or None,
            "resources": part.resources,
        }
        groups.append(group.model_copy(update=overrides))
    return {
        "entrypoint": first.program.entrypoint,
        "args": first.program.args,
        "working_dir": first.working_dir,
        "env": common,
        "runtime": first.runtime,
        "replica_specs": groups,
        "mounts": first.mounts,
        "shm": first.shm,
        "security": first.security,
        "scheduling": first.scheduling,
    }
