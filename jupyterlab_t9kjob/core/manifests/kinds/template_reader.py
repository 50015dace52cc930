"""Reads the fields of a spec from canonical pod templates, for all kinds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from ...spec import (
    ENV_NAME_PATTERN,
    Device,
    EnvVar,
    Mount,
    Quantity,
    ReplicaSpec,
    Resources,
    Runtime,
    SecretRef,
    Security,
    Shm,
)
from ..entrypoints import Argv, Program
from ..names import SHM, SHM_PATH
from .pod_security import is_restricted
from .pod_template import training_container, volume_names

PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")


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
    working_dir: str = ""
    env: list[EnvVar] = field(default_factory=list)
    runtime: Runtime = field(default_factory=Runtime)
    resources: Resources = field(default_factory=Resources)
    mounts: list[Mount] = field(default_factory=list)
    shm: Shm | None = None
    security: Security = field(default_factory=Security)
    scheduling: dict[str, Any] = field(default_factory=dict)
    program: Program | None = None


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
        working_dir=container.get("workingDir", ""),
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
    """Return limits and requests, and the device, see `device_of`."""
    limits, requests = resources.get("limits", {}), resources.get("requests", {})

    def both(name: str) -> Quantity:
        return Quantity(request=_text(requests.get(name)), limit=_text(limits.get(name)))

    return Resources(cpu=both("cpu"), memory=both("memory"), device=device_of(limits))


def device_of(limits: dict[str, Any]) -> Device | None:
    """Return the device among a container's limits; of several, the first that is not an RDMA device."""
    counts = {name: whole(amount, 0, 1024) for name, amount in limits.items() if "/" in name}
    devices = [Device(name=name, count=count) for name, count in counts.items() if count is not None]
    devices.sort(key=lambda device: "rdma" in device.name)
    return devices[0] if devices else None


def has_devices(template: dict[str, Any], training: str | None) -> bool:
    """Return True if the training container of a canonical template has accelerators.

    Parameters
    ----------
    template
        The pod template.
    training
        Name of the training container; None for the first one.
    """
    return read_template(template, training).resources.device_count > 0


def whole(value: Any, low: int = -(2**63), high: int = 2**63 - 1) -> int | None:
    """Return an integer within the given bounds, None for any other value.

    Parameters
    ----------
    value
        A value of any type. A bool is no integer.
    low, high
        Smallest and greatest number; by default those of 64 bits.
    """
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
