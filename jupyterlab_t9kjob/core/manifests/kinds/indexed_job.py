"""Converts a spec to an Indexed Job of Kubernetes (``batch/v1``), and back.

The pods find each other through a headless Service with the job's name, which the engine creates beside the job. One
pod template holds for all replicas, so a shell computes in each pod whether it hosts the rendezvous.

Fields and defaults: Kubernetes documentation, Jobs (completion mode, pod failure policy, success policy).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, Final

from ...spec import JobSpec, ReplicaSpec, RestartPolicy, Torchrun
from ...translation import _
from ..entrypoints import Argv, program_from_plain
from ..model import Notes
from ..names import ENGINE, KUEUE_QUEUE
from .pod_template import build_template, compact
from .template_reader import Part, read_groups, read_metadata, read_template, whole
from .torchrun.launcher import (
    LONE_ENDPOINT,
    canonical_command,
    command_in,
    command_of,
    hosted_by_index,
    read_launched,
    read_launcher,
    without_shell,
)

GROUP: Final = "batch"
API_VERSION: Final = f"{GROUP}/v1"
KIND: Final = "Job"
LABEL: Final = "indexed-job"
"""Value of the label `names.ENGINE`, by which these Jobs are told from those of other programs."""
TYPE: Final = "worker"
"""Name of the only replica type."""
PORT: Final = 29500
DEFAULT_BACKOFF: Final = 6
"""Kubernetes' own limit of restarts (API reference of Job v1, ``backoffLimit``)."""
MOST_BACKOFF: Final = 2**31 - 1
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""Annotation and label of pods with their index."""
RETRIED: Final = (130, 137, 138, 143)
"""Exit codes after which the policy ``ExitCode`` restarts a replica, as on T9k."""
WORLD_ENV: Final = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
"""Names of the variables of `world_env`."""
_FAILS: Final = [
    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": list(RETRIED)}},
]
_SUCCESS: Final = {"rules": [{"succeededIndexes": "0"}]}
_POD_LABELS: Final = (
    "controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name",
)  # fmt: skip
_POD_DEFAULTS: Final = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {},
                        "terminationGracePeriodSeconds": 30}  # fmt: skip
_CONTAINER_DEFAULTS: Final = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec, without its `extra` and without our annotations and variables."""
    group, host = spec.replica_specs[0], _host(spec.name)
    template = build_template(spec, group, indexed_command(spec, host))
    add_world(template, host, spec.total_replicas)
    pod = {"restartPolicy": "OnFailure" if group.restart_policy == "OnFailure" else "Never"}
    if spec.total_replicas > 1:
        pod["subdomain"] = spec.name
    template["spec"] = {**pod, **template["spec"]}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": build_metadata(spec, {ENGINE: LABEL}),
        "spec": compact({
            "suspend": spec.paused or None,
            **job_fields(spec),
            "ttlSecondsAfterFinished": spec.run_policy.ttl_seconds,
            "template": template,
        }),
    }  # fmt: skip


def job_fields(spec: JobSpec) -> dict[str, Any]:
    """Return the fields of a Job's ``spec`` that say how its pods run and end; None for those that it does not have."""
    policy, restarts, replicas = spec.run_policy, spec.replica_specs[0].restart_policy, spec.total_replicas
    return {
        "completionMode": "Indexed",
        "completions": replicas,
        "parallelism": replicas,
        "backoffLimit": 0 if restarts == "Never" else policy.backoff_limit,
        "podFailurePolicy": {"rules": deepcopy(_FAILS)} if restarts == "ExitCode" else None,
        # The job succeeds when its master does, as on the other engines.
        "successPolicy": deepcopy(_SUCCESS),
        # A pod that ends slowly still takes part in the training: with its successor there would be one too many.
        "podReplacementPolicy": "Failed",
        "activeDeadlineSeconds": policy.active_deadline_seconds,
    }


def build_metadata(spec: JobSpec, own: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata of a job whose queue is Kueue's.

    Parameters
    ----------
    spec
        The job.
    own
        Labels that the kind adds.
    """
    queue = spec.scheduling.queue
    return compact({
        "name": spec.name,
        "labels": {**spec.labels, **({KUEUE_QUEUE: queue} if queue else {}), **own},
        "annotations": dict(spec.annotations),
    })  # fmt: skip


def add_world(template: dict[str, Any], host: str, replicas: int) -> None:
    """Add the variables of `world_env` to the containers of a pod template.

    Parameters
    ----------
    template
        The pod template, which is changed.
    host, replicas
        See `world_env`.
    """
    for container in template["spec"]["containers"]:
        own = container.get("env", [])
        container["env"] = [*world_env(host, replicas, own), *own]


def world_env(host: str, replicas: int, own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the variables by which ``init_process_group`` finds the other replicas of a job without torchrun.

    Parameters
    ----------
    host
        Host name of the first replica.
    replicas
        Number of replicas.
    own
        Variables of the container; those that it sets itself are not added.
    """
    index = {"fieldRef": {"fieldPath": f"metadata.annotations['{COMPLETION_INDEX}']"}}
    entries: list[dict[str, Any]] = [
        {"name": "MASTER_ADDR", "value": host if replicas > 1 else "localhost"},
        {"name": "MASTER_PORT", "value": str(PORT)},
        {"name": "WORLD_SIZE", "value": str(replicas)},
        {"name": "RANK", "valueFrom": index},
    ]
    taken = {entry.get("name") for entry in own}
    return [entry for entry in entries if entry["name"] not in taken]


def _host(name: str) -> str:
    """Return the host name of a job's first replica."""
    return f"{name}-0.{name}"


def indexed_command(spec: JobSpec, host: str) -> Argv:
    """Return the command of the pods of an Indexed Job, of which the first hosts torchrun's rendezvous.

    Parameters
    ----------
    spec
        The job.
    host
        Host name of the first replica.
    """
    lone = spec.total_replicas == 1
    argv = command_of(spec, spec.replica_specs[0], LONE_ENDPOINT if lone else f"{host}:{PORT}", [])
    return argv if lone or spec.torchrun is None or spec.debug is not None else hosted_by_index(argv.args)


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical(manifest: dict[str, Any], notes: Notes | None = None) -> dict[str, Any]:
    """Return a manifest in the form of `build`, with the same meaning and with defaults written out.

    Parameters
    ----------
    manifest
        A manifest whose fields have the right types.
    notes
        Collects a hint for a job whose pods have no index, and so no rank; None for no notes.
    """
    spec = {"backoffLimit": DEFAULT_BACKOFF, "completionMode": "NonIndexed", **manifest.get("spec", {})}
    if spec["completionMode"] != "Indexed" and notes:
        message = _("The completion mode is not Indexed, so the pods have no ranks.")
        notes.hint("NotIndexed", message, "/manifest/spec/completionMode", _("Set completionMode to Indexed."))
    if not spec.get("suspend"):
        spec.pop("suspend", None)
    spec.setdefault("parallelism", 1)
    # Without completions, the first success ends the job, as with one completion.
    spec.setdefault("completions", spec["parallelism"])
    if not spec.get("manualSelector"):
        spec.pop("selector", None)
    _drop(spec, {"manualSelector": False, "podReplacementPolicy": "TerminatingOrFailed"})
    spec.setdefault("podReplacementPolicy", "Failed")  # as a job of ours has it
    template = canonical_command(_without_defaults(spec.get("template", {})), None)
    metadata = manifest.get("metadata", {})
    return {
        **manifest,
        "metadata": compact({**metadata, "labels": {**metadata.get("labels", {}), ENGINE: LABEL}}),
        "spec": compact({**spec, "template": template}),
    }


def _without_defaults(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template without what the API server and the controller add to it."""
    template = deepcopy(template)
    pod = template.get("spec", {})
    labels = template.get("metadata", {}).get("labels")
    if isinstance(labels, dict):
        template["metadata"]["labels"] = {name: label for name, label in labels.items() if name not in _POD_LABELS}
        template["metadata"] = compact(template["metadata"])
    template.get("metadata", {}).pop("creationTimestamp", None)
    _drop(pod, _POD_DEFAULTS)
    for container in [*pod.get("containers", []), *pod.get("initContainers", [])]:
        _drop(container, _CONTAINER_DEFAULTS)
        for entry in container.get("env", []):
            _drop(entry.get("valueFrom", {}).get("fieldRef", {}), {"apiVersion": "v1"})
    return template


def _drop(fields: Any, defaults: Mapping[str, Any]) -> None:
    """Remove the fields that have their default."""
    for name, default in defaults.items():
        if isinstance(fields, dict) and fields.get(name) == default:
            del fields[name]


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest. Fields that the model lacks are ignored.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    return read_launched(manifest, lambda launcher: _read_fields(manifest, launcher=launcher), build, _command)


def _command(manifest: dict[str, Any]) -> tuple[Any, Any]:
    return command_in(manifest["spec"]["template"], None)


def _read_fields(manifest: dict[str, Any], *, launcher: bool) -> dict[str, Any]:
    spec = manifest["spec"]
    replicas = whole(spec.get("parallelism"), 1, 10_000) or 1
    torchrun, part = read_part(spec["template"], _host(manifest["metadata"]["name"]), replicas, None, launcher=launcher)
    group = ReplicaSpec(type=TYPE, replicas=replicas, restart_policy=_read_policy(spec))
    fields = {**read_metadata(manifest), **read_groups([(group, part)])}
    return {
        **fields,
        **read_queue(fields, own=(ENGINE,)),
        "torchrun": torchrun,
        "run_policy": {
            "backoff_limit": whole(spec.get("backoffLimit"), 0, MOST_BACKOFF) or 0,
            "active_deadline_seconds": whole(spec.get("activeDeadlineSeconds"), 1, MOST_BACKOFF),
            "ttl_seconds": whole(spec.get("ttlSecondsAfterFinished"), 0),
        },
        "paused": spec.get("suspend", False),
    }


def read_part(
    template: dict[str, Any], host: str, replicas: int, training: str | None, *, launcher: bool
) -> tuple[Torchrun | None, Part]:
    """Return torchrun's settings, and the rest of a pod template with its program.

    Parameters
    ----------
    template
        The pod template.
    host, replicas
        See `world_env`.
    training
        See `pod_template.canonical_template`.
    launcher
        True if a torchrun command becomes settings.
    """
    part = read_template(without_world(template, host, replicas), training)
    torchrun, program = read_launcher(without_shell(part.argv), part.working_dir) if launcher else (None, None)
    part.program = program if torchrun and program else program_from_plain(part.argv, part.working_dir)
    return torchrun, part


def read_queue(fields: Mapping[str, Any], own: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields ``scheduling`` and ``labels`` of a job whose queue is Kueue's.

    Parameters
    ----------
    fields
        The fields of the spec, with all labels.
    own
        Labels that the kind has added.
    """
    queue = fields["labels"].get(KUEUE_QUEUE)
    left_out = {*own, KUEUE_QUEUE} if queue else {*own}
    return {
        "scheduling": {**fields["scheduling"], "queue": queue or None},
        "labels": {name: value for name, value in fields["labels"].items() if name not in left_out},
    }


def without_world(template: dict[str, Any], host: str, replicas: int) -> dict[str, Any]:
    """Return a template without the variables of `world_env`.

    Parameters
    ----------
    template
        The pod template.
    host, replicas
        See `world_env`.
    """
    ours = world_env(host, replicas, [])
    result = deepcopy(template)
    for container in result.get("spec", {}).get("containers", []):
        entries = container.get("env", [])
        container["env"] = [entry for entry in entries if entry not in ours]
    return result


def _read_policy(spec: dict[str, Any]) -> RestartPolicy:
    """Return the restart policy; one that is none of ours is kept as extra content beside the nearest."""
    if "podFailurePolicy" in spec:
        return "ExitCode"
    never = spec["template"].get("spec", {}).get("restartPolicy") == "Never" and not spec["backoffLimit"]
    return "Never" if never else "OnFailure"


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod template of a manifest, in a list."""
    template = manifest["spec"].get("template")
    return [template] if template else []
