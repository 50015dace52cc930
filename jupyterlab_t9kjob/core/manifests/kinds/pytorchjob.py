"""Converts a `JobSpec` to a ``PyTorchJob`` (``kubeflow.org/v1``) of Kubeflow's training operator, and back.

The operator runs the container's own command, so `build` writes the torchrun command. `read` recognizes a
torchrun command only if it is exactly the command that `build` writes. Any other command stays a command.

Fields and semantics: Training Operator v1.9, `pkg/apis/kubeflow.org/v1` and `pkg/controller.v1/pytorch`.
"""

from __future__ import annotations

from typing import Any, Final

from ...spec import Elastic, JobSpec, ReplicaSpec
from ...translation import _
from ..entrypoints import (
    Argv,
    program_from_plain,
)
from ..model import Notes
from ..names import CONTAINER, KUEUE_QUEUE
from .launcher import (
    HOST,
    LONE_ENDPOINT,
    canonical_command,
    command_in,
    command_of,
    read_launched,
    read_launcher,
)
from .pod_template import RESTART_POLICIES, build_template, compact
from .template_reader import Part, read_groups, read_metadata, read_template, whole

GROUP: Final = "kubeflow.org"
KIND: Final = "PyTorchJob"
API_VERSION: Final = f"{GROUP}/v1"
TRAINING: Final = CONTAINER
UNLIMITED: Final = 2**31 - 1
"""Value of ``backoffLimit`` for no limit: the largest int32. Unset means no limit, too."""

DEFAULT_RESTART: Final = "OnFailure"
CLEAN_UP: Final = {"None": "None", "Unfinished": "Running", "All": "All"}
# Only Volcano reads runPolicy.schedulingPolicy.queue. Other schedulers use Kueue's label.
GANG_SCHEDULERS: Final = ("volcano",)
# In a job without a Master, the operator sets PET_RDZV_ENDPOINT to worker 0.
MASTER_ENDPOINT: Final = "$(MASTER_ADDR):$(MASTER_PORT)"
ELASTIC_ENDPOINT: Final = "$(PET_RDZV_ENDPOINT)"


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec, without its `extra` and without our annotations and variables."""
    policy, scheduling = spec.run_policy, spec.scheduling
    gang = scheduling.scheduler in GANG_SCHEDULERS
    queue = {KUEUE_QUEUE: scheduling.queue} if scheduling.queue and not gang else {}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": compact({
            "name": spec.name,
            "labels": {**spec.labels, **queue},
            "annotations": dict(spec.annotations),
        }),
        "spec": compact({
            # The default, `auto`, starts one process per core in a pod without GPUs (torch/distributed/run.py).
            "nprocPerNode": str(spec.torchrun.proc_per_node) if spec.torchrun else "1",
            "elasticPolicy": _build_elastic(spec.elastic),
            "pytorchReplicaSpecs": _build_replicas(spec),
            "runPolicy": compact({
                "suspend": spec.paused or None,
                "backoffLimit": policy.backoff_limit,
                "activeDeadlineSeconds": policy.active_deadline_seconds,
                "cleanPodPolicy": CLEAN_UP[policy.clean_up],
                "ttlSecondsAfterFinished": policy.ttl_seconds,
                "schedulingPolicy": {"queue": scheduling.queue} if scheduling.queue and gang else None,
            }),
        }),
    }  # fmt: skip


def _build_elastic(elastic: Elastic | None) -> dict[str, Any] | None:
    if elastic is None:
        return None
    return {"minReplicas": elastic.min, "maxReplicas": elastic.max, "rdzvBackend": "c10d"}


def _build_replicas(spec: JobSpec) -> dict[str, Any]:
    """Return the roles: only Workers for an elastic job, otherwise a Master and the remaining replicas as Workers.

    An elastic job has no Master, because the operator counts only its Workers (`elastic.go`).
    """
    first, last = spec.replica_specs[0], spec.replica_specs[-1]
    if spec.elastic is not None:
        return {"Worker": _build_role(spec, first, spec.elastic.expected or first.replicas, "elastic")}
    lone = spec.total_replicas == 1
    roles = {"Master": _build_role(spec, first, 1, "lone" if lone else "master")}
    if not lone:
        roles["Worker"] = _build_role(spec, last, spec.total_replicas - 1, "worker")
    return roles


def _build_role(spec: JobSpec, group: ReplicaSpec, replicas: int, role: str) -> dict[str, Any]:
    return {
        "replicas": replicas,
        "restartPolicy": group.restart_policy,
        "template": build_template(spec, group, _argv(spec, group, role)),
    }


def _argv(spec: JobSpec, group: ReplicaSpec, role: str) -> Argv:
    """Return the command of a role: `lone`, `master`, `worker` or `elastic`.

    The Master is told to host the rendezvous, because torchrun's own detection can fail before DNS is ready
    (pytorch issue 73656).
    """
    endpoint = {"lone": LONE_ENDPOINT, "elastic": ELASTIC_ENDPOINT}.get(role, MASTER_ENDPOINT)
    host = {"master": [f"{HOST}1"], "worker": [f"{HOST}0"]}.get(role, [])
    return command_of(spec, group, endpoint, host)


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical(manifest: dict[str, Any], notes: Notes | None = None) -> dict[str, Any]:
    """Return a manifest in the form of `build`, with the same meaning and with defaults written out.

    Defaults: Training Operator v1.9, `pytorch_defaults.go`.

    Parameters
    ----------
    manifest
        A manifest whose fields have the right types.
    notes
        Collects a hint if restarts are not limited; None for no notes.
    """
    spec = dict(manifest.get("spec", {}))
    policy = {"backoffLimit": UNLIMITED, "cleanPodPolicy": "None", **spec.get("runPolicy", {})}
    if notes and policy["backoffLimit"] == UNLIMITED:
        message = _("No backoffLimit is written, so restarts have no limit.")
        hint = _("Set how often the job may restart.")
        notes.hint("Unlimited", message, "/manifest/spec/runPolicy/backoffLimit", hint)
    if not policy.get("suspend"):
        policy.pop("suspend", None)
    roles = {
        name: {
            "replicas": 1,
            "restartPolicy": DEFAULT_RESTART,
            **role,
            "template": canonical_command(role.get("template", {}), TRAINING),
        }
        for name, role in spec.get("pytorchReplicaSpecs", {}).items()
    }
    processes = spec.get("nprocPerNode")
    return {
        **manifest,
        "metadata": compact(manifest.get("metadata", {})),
        "spec": compact({
            **spec,
            "nprocPerNode": None if processes is None else str(processes),
            "pytorchReplicaSpecs": roles,
            "runPolicy": compact(policy),
        }),
    }  # fmt: skip


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest.

    A Master and Workers with the same contents become one replica type; otherwise they become two. Fields that the
    model lacks are ignored. The caller finds them when it builds the result again.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    return read_launched(manifest, lambda launcher: _read_fields(manifest, launcher=launcher), build, _commands)


def _commands(manifest: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return command and args of the training container of each role."""
    roles = manifest["spec"]["pytorchReplicaSpecs"]
    return [command_in(roles.get(name, {}).get("template", {}), TRAINING) for name in ("Master", "Worker")]


def _read_fields(manifest: dict[str, Any], *, launcher: bool) -> dict[str, Any]:
    spec = manifest["spec"]
    roles, policy = spec["pytorchReplicaSpecs"], spec.get("runPolicy", {})
    parts = [(name, role, read_template(role["template"], TRAINING)) for name, role in roles.items()]
    parts.sort(key=lambda part: part[0] != "Master")
    launched = [read_launcher(part.argv, part.working_dir) for _name, _role, part in parts]
    torchrun = launched[0][0] if launcher and all(found for found, _program in launched) else None
    groups = []
    for (name, role, part), (_torchrun, program) in zip(parts, launched, strict=True):
        part.program = program if torchrun else program_from_plain(part.argv, part.working_dir)
        groups.append((_read_role(name, role), part))
    fields = {**read_metadata(manifest), **read_groups(_folded(groups))}
    elastic = spec.get("elasticPolicy") if torchrun and "Master" not in roles else None
    clean_up = {written: name for name, written in CLEAN_UP.items()}
    fields |= {
        "torchrun": torchrun,
        "elastic": elastic and _read_elastic(elastic, fields["replica_specs"][0].replicas),
        "run_policy": {
            "backoff_limit": whole(policy.get("backoffLimit"), 0, UNLIMITED) or 0,
            "active_deadline_seconds": whole(policy.get("activeDeadlineSeconds"), 1, UNLIMITED),
            "clean_up": clean_up.get(policy.get("cleanPodPolicy", "None"), "None"),
            "ttl_seconds": whole(policy.get("ttlSecondsAfterFinished"), 0),
        },
        "paused": policy.get("suspend", False),
    }
    labels = manifest["metadata"].get("labels", {})
    gang = fields["scheduling"]["scheduler"] in GANG_SCHEDULERS
    queue = policy.get("schedulingPolicy", {}).get("queue") if gang else labels.get(KUEUE_QUEUE)
    fields["scheduling"] = {**fields["scheduling"], "queue": queue or None}
    if queue and not gang:
        fields["labels"] = {name: value for name, value in labels.items() if name != KUEUE_QUEUE}
    return fields


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod templates of a manifest."""
    roles = manifest["spec"].get("pytorchReplicaSpecs", {})
    return [role["template"] for role in roles.values() if "template" in role]


def _read_role(name: str, role: dict[str, Any]) -> ReplicaSpec:
    policy = role.get("restartPolicy")
    return ReplicaSpec(
        type=name.lower(),
        replicas=1 if name == "Master" else whole(role.get("replicas"), 1, 10_000) or 1,
        restart_policy=policy if policy in RESTART_POLICIES else DEFAULT_RESTART,
    )


def _folded(groups: list[tuple[ReplicaSpec, Part]]) -> list[tuple[ReplicaSpec, Part]]:
    """Merge a Master and Workers with the same contents into one replica type."""
    (first, part), *others = groups
    replicas = first.replicas
    for group, other in others:
        same = (part.program, part.env, part.runtime, part.resources, first.restart_policy) == (
            other.program,
            other.env,
            other.runtime,
            other.resources,
            group.restart_policy,
        )
        if not same:
            return groups
        replicas += group.replicas
    return [(first.model_copy(update={"type": "worker", "replicas": replicas}), part)]


def _read_elastic(block: dict[str, Any], total: int) -> Elastic:
    return Elastic(
        min=whole(block.get("minReplicas"), 1) or total,
        max=whole(block.get("maxReplicas"), 1) or total,
    )
