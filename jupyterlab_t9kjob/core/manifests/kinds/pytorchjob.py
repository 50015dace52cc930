"""Converts a `JobSpec` to a ``PyTorchJob`` (``kubeflow.org/v1``) of Kubeflow's training operator, and back.

The operator runs the container's own command, so `build` writes the torchrun command. `read` recognizes a
torchrun command only if it is exactly the command that `build` writes. Any other command stays a command.

Fields and semantics: Training Operator v1.9, `pkg/apis/kubeflow.org/v1` and `pkg/controller.v1/pytorch`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from ...spec import Elastic, JobSpec, ReplicaSpec
from ...translation import _
from ..entrypoints import (
    Argv,
    program_from_plain,
)
from ..json_values import as_object, without_fields
from ..model import Notes
from ..names import CONTAINER, KUEUE_QUEUE
from .pod_template import RESTART_POLICIES, build_template, compact, training_container
from .template_reader import Part, read_groups, read_metadata, read_template, whole
from .torchrun.launcher import (
    HOST,
    LONE_ENDPOINT,
    canonical_command,
    command_in,
    command_of,
    read_launched,
    read_launcher,
)

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
MASTER: Final = ("spec", "pytorchReplicaSpecs", "Master")
WORKERS_ONLY: Final[dict[str, Any]] = {"spec": {"pytorchReplicaSpecs": {"Master": None}}}
# In a job without a Master, the operator sets PET_RDZV_ENDPOINT to worker 0.
MASTER_ENDPOINT: Final = "$(MASTER_ADDR):$(MASTER_PORT)"
ELASTIC_ENDPOINT: Final = "$(PET_RDZV_ENDPOINT)"


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec, without our annotations and variables, and of its `extra` only what is heeded."""
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


def roles(spec: JobSpec) -> list[str]:
    """Return the names of a job's roles: a Master and the other replicas, or only Workers.

    An elastic job has no Master, because the operator counts only its Workers (`elastic.go`).
    """
    if spec.elastic is not None or heeded(spec):
        return ["Worker"]
    return ["Master", "Worker"] if spec.total_replicas > 1 else ["Master"]


def heeded(spec: JobSpec) -> dict[str, Any]:
    """Return the extra content that says that a job without torchrun has Workers only; else nothing.

    With torchrun, a Master hosts the rendezvous, or the job is elastic.
    """
    return WORKERS_ONLY if spec.torchrun is None and _removes_master(spec) else {}


def counting(spec: JobSpec) -> dict[str, Any]:
    """Return the extra content that counts: that a job has no Master does not count with torchrun."""
    ignored = spec.torchrun is not None and _removes_master(spec)
    return without_fields(spec.extra, (MASTER,)) if ignored else spec.extra


def _removes_master(spec: JobSpec) -> bool:
    found = as_object(as_object(spec.extra.get("spec")).get("pytorchReplicaSpecs"))
    return found.get("Master", "") is None


def _build_replicas(spec: JobSpec) -> dict[str, Any]:
    first, last = spec.replica_specs[0], spec.replica_specs[-1]
    names = roles(spec)
    if "Master" not in names:
        expected = spec.elastic.expected if spec.elastic is not None else None
        return {"Worker": _build_role(spec, first, expected or first.replicas, "elastic")}
    found = {"Master": _build_role(spec, first, 1, "master" if len(names) > 1 else "lone")}
    if len(names) > 1:
        found["Worker"] = _build_role(spec, last, spec.total_replicas - 1, "worker")
    return found


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
    groups = {
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
            "pytorchReplicaSpecs": groups,
            "runPolicy": compact(policy),
        }),
    }  # fmt: skip


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest.

    A Master and Workers with the same pod template become one replica type; otherwise they become two. Fields that the
    model lacks are ignored. The caller finds them when it builds the result again.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    return read_launched(manifest, lambda launcher: _read_fields(manifest, launcher=launcher), build, _commands)


def _commands(manifest: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return command and args of the training container of each role."""
    groups = manifest["spec"]["pytorchReplicaSpecs"]
    return [command_in(groups.get(name, {}).get("template", {}), TRAINING) for name in ("Master", "Worker")]


def _read_fields(manifest: dict[str, Any], *, launcher: bool) -> dict[str, Any]:
    spec = manifest["spec"]
    written, policy = spec["pytorchReplicaSpecs"], spec.get("runPolicy", {})
    parts = [(name, role, read_template(role["template"], TRAINING)) for name, role in written.items()]
    parts.sort(key=lambda part: part[0] != "Master")
    launched = [read_launcher(part.argv, part.working_dir) for _name, _role, part in parts]
    torchrun = launched[0][0] if launcher and all(found for found, _program in launched) else None
    groups = []
    for (name, role, part), (_torchrun, program) in zip(parts, launched, strict=True):
        part.program = program if torchrun else program_from_plain(part.argv, part.working_dir)
        groups.append((_read_role(name, role), part))
    alike = all(_others(role["template"]) == _others(parts[0][1]["template"]) for _name, role, _part in parts)
    fields = {**read_metadata(manifest), **read_groups(_folded(groups) if alike else groups)}
    elastic = spec.get("elasticPolicy") if torchrun and "Master" not in written else None
    clean_up = {policy: name for name, policy in CLEAN_UP.items()}
    fields |= {
        "torchrun": torchrun,
        "elastic": elastic and read_elastic(elastic, fields["replica_specs"][0].replicas),
        "run_policy": {
            "backoff_limit": whole(policy.get("backoffLimit"), 0, UNLIMITED) or 0,
            "active_deadline_seconds": whole(policy.get("activeDeadlineSeconds"), 1, UNLIMITED),
            "clean_up": clean_up.get(policy.get("cleanPodPolicy", "None"), "None"),
            "ttl_seconds": whole(policy.get("ttlSecondsAfterFinished"), 0),
        },
        "paused": policy.get("suspend", False),
        "extra": {} if torchrun or "Master" in written else WORKERS_ONLY,
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
    written = manifest["spec"].get("pytorchReplicaSpecs", {})
    return [role["template"] for role in written.values() if "template" in role]


def _read_role(name: str, role: dict[str, Any]) -> ReplicaSpec:
    policy = role.get("restartPolicy")
    return ReplicaSpec(
        type=name.lower(),
        replicas=1 if name == "Master" else whole(role.get("replicas"), 1, 10_000) or 1,
        restart_policy=policy if policy in RESTART_POLICIES else DEFAULT_RESTART,
    )


def _others(template: dict[str, Any]) -> dict[str, Any]:
    """Return a canonical template without the command of its training container."""
    result = deepcopy(template)
    containers = result.get("spec", {}).get("containers", [])
    index = training_container(containers, TRAINING)
    if index is not None:
        containers[index].pop("command", None)
        containers[index].pop("args", None)
    return result


def _folded(groups: list[tuple[ReplicaSpec, Part]]) -> list[tuple[ReplicaSpec, Part]]:
    """Merge a Master and Workers with the same contents into one replica type.

    Parameters
    ----------
    groups
        The Master and the Workers, whose templates differ in their commands at most.
    """
    (first, part), *others = groups
    replicas = first.replicas
    for group, other in others:
        if (part.program, first.restart_policy) != (other.program, group.restart_policy):
            return groups
        replicas += group.replicas
    return [(first.model_copy(update={"type": "worker", "replicas": replicas}), part)]


def read_elastic(block: dict[str, Any], total: int) -> Elastic:
    """Return the bounds of an elastic job.

    Parameters
    ----------
    block
        The manifest's ``elasticPolicy``.
    total
        Number of Workers, for bounds that are not written.
    """
    return Elastic(
        min=whole(block.get("minReplicas"), 1) or total,
        max=whole(block.get("maxReplicas"), 1) or total,
    )
