"""Features of a spec that some engines lack: where a spec uses them, and how to remove them.

Each feature has a capability of the same name. An engine reports in `EngineInfo.capabilities` which features it has,
and why others are missing. The engine's checks and the adaptation to another engine both use this list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .checks import Capability, Check
from .spec import Entrypoint, JobSpec
from .translation import Text, _

REMOVED: Final = object()

FEATURES: Final = (
    "clean_up", "cluster_tensorboard", "config_files", "deadline", "debug", "devices", "diagnostics", "elastic", "exec",
    "extra", "image", "mounts", "pause", "priority", "queue", "replica_types", "replicas", "resource_limits",
    "restart_always", "restarts", "resume", "resume_command", "resume_evicted", "scaling_weight", "scheduling",
    "secrets", "security", "shm", "skip_init", "source", "torchrun", "training_runtime", "ttl",
)  # fmt: skip
"""Names of all capabilities."""


def only(*supported: str, reason: Text) -> dict[str, Capability]:
    """Return the capabilities of an engine that has only a few of the features.

    Parameters
    ----------
    supported
        Names of the features that the engine has, from `FEATURES`.
    reason
        Sentence that says why the engine lacks all others.
    """
    return {
        name: Capability(supported=name in supported, reason=None if name in supported else reason) for name in FEATURES
    }


@dataclasses.dataclass(frozen=True)
class Use:
    """One use of a feature in a spec.

    Attributes
    ----------
    capability
        Name of the feature.
    field
        JSON pointer that begins with ``/spec``.
    refused
        True if an engine without the feature refuses the job; False if it ignores the field, with a hint.
    without
        Changes that remove the use, by JSON pointer: a new value or `REMOVED`. Empty if the use can't be removed.
    """

    capability: str
    field: str
    refused: bool = True
    without: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def uses(spec: JobSpec) -> Iterator[Use]:
    """Yield every use of a feature that some engine lacks."""
    yield from _of_the_job(spec)
    yield from _of_the_placement(spec)
    for index, group in enumerate(spec.replica_specs):
        place = f"/spec/replica_specs/{index}"
        if group.restart_policy != "Never":
            field = f"{place}/restart_policy"
            yield Use("restarts", field, without={field: "Never"})
        if group.resources.device_count:
            field = f"{place}/resources/device"
            yield Use("devices", field, without={field: None})
        if group.restart_policy == "Always":
            field = f"{place}/restart_policy"
            yield Use("restart_always", field, without={field: "OnFailure"})
        if group.scaling_weight is not None:
            field = f"{place}/scaling_weight"
            yield Use("scaling_weight", field, refused=False, without={field: None})
        for number, variable in enumerate(group.env or []):
            if variable.secret is not None:
                yield Use("secrets", f"{place}/env/{number}", without={f"{place}/env/{number}": REMOVED})
        quantities = (group.resources.cpu, group.resources.memory)
        if any(quantity.request or quantity.limit for quantity in quantities):
            # Requests and limits do no harm on an engine that ignores them, and the next cluster may use them.
            yield Use("resource_limits", f"{place}/resources", refused=False)
    for number, variable in enumerate(spec.env):
        if variable.secret is not None:
            yield Use("secrets", f"/spec/env/{number}", without={f"/spec/env/{number}": REMOVED})


def _of_the_job(spec: JobSpec) -> Iterator[Use]:
    if spec.torchrun is not None:
        yield Use("torchrun", "/spec/torchrun", without={"/spec/torchrun": None})
    if spec.total_replicas > 1:
        field = "/spec/replica_specs/0/replicas"
        yield Use("replicas", field, without={field: 1})
    if spec.elastic is not None:
        yield Use("elastic", "/spec/elastic", without={"/spec/elastic": None})
    if spec.debug is not None:
        yield Use("debug", "/spec/debug", without={"/spec/debug": None})
        for name, debug in spec.debug.items():
            if debug.skip_init:
                field = f"/spec/debug/{name}/skip_init"
                yield Use("skip_init", field, without={field: False})
    if spec.diagnostics.any:
        off = {"/spec/diagnostics/stacks": False, "/spec/diagnostics/collectives": False}
        yield Use("diagnostics", "/spec/diagnostics", refused=False, without=off)
    if spec.source:
        yield Use("source", "/spec/source", without={"/spec/source": None})
    if spec.run_policy.active_deadline_seconds is not None:
        field = "/spec/run_policy/active_deadline_seconds"
        yield Use("deadline", field, without={field: None})
    if spec.run_policy.clean_up != "Unfinished":
        # An engine without the feature removes the pods that still run, as this value says.
        field = "/spec/run_policy/clean_up"
        yield Use("clean_up", field, without={field: "Unfinished"})
    if spec.run_policy.ttl_seconds is not None:
        field = "/spec/run_policy/ttl_seconds"
        yield Use("ttl", field, without={field: None})
    if spec.run_policy.resume_evicted:
        field = "/spec/run_policy/resume_evicted"
        yield Use("resume_evicted", field, refused=False, without={field: False})
    for number, resume in enumerate(spec.resume):
        field = f"/spec/resume/{number}"
        yield Use("resume", field, without={field: REMOVED})
        if resume.command is not None or resume.skip_init:
            without = {f"{field}/command": None, f"{field}/skip_init": False}
            yield Use("resume_command", field, without=without)
    if len(spec.replica_specs) > 2 or (len(spec.replica_specs) > 1 and spec.replica_specs[0].replicas > 1):
        yield Use("replica_types", "/spec/replica_specs")
    if spec.tensorboard.cluster is not None:
        field = "/spec/tensorboard/cluster"
        yield Use("cluster_tensorboard", field, refused=False, without={field: None})
    if spec.extra:
        # The extra content is kept: an engine with the same manifest kind uses it again.
        yield Use("extra", "/spec/extra", refused=False)


def _of_the_placement(spec: JobSpec) -> Iterator[Use]:
    scheduling = spec.scheduling
    if scheduling.queue is not None:
        yield Use("queue", "/spec/scheduling/queue", without={"/spec/scheduling/queue": None})
    if scheduling.priority is not None:
        field = "/spec/scheduling/priority"
        yield Use("priority", field, without={field: None})
    ours: dict[str, Any] = {"priority_class": None, "node_selector": {}, "tolerations": [], "scheduler": None}
    for name, nothing in ours.items():
        if getattr(scheduling, name):
            field = f"/spec/scheduling/{name}"
            yield Use("scheduling", field, refused=False, without={field: nothing})
    if spec.runtime.image is not None:
        # The image is kept: another cluster may have it.
        yield Use("image", "/spec/runtime/image", refused=False)
    if spec.runtime.training_runtime is not None:
        # The runtime is kept, too.
        yield Use("training_runtime", "/spec/runtime/training_runtime", refused=False)
    if spec.config_files:
        yield Use("config_files", "/spec/config_files", without={"/spec/config_files": []})
    if spec.mounts:
        yield Use("mounts", "/spec/mounts", refused=False)
    if spec.shm is not None and spec.shm.size_limit is not None:
        yield Use("shm", "/spec/shm", refused=False)
    if spec.security != type(spec.security)():
        yield Use("security", "/spec/security", refused=False)


def unsupported(spec: JobSpec, capabilities: Mapping[str, Capability]) -> Iterator[Check]:
    """Yield a check for each use of a feature that an engine lacks: an error if it is refused, else a hint.

    Parameters
    ----------
    spec
        The job.
    capabilities
        Features of the engine.
    """
    for use in uses(spec):
        reason = _missing(use, capabilities)
        if reason is not None and use.refused:
            hint = _("Leave it out.")
            yield Check(level="error", code="Unsupported", message=reason, field=use.field, hint=hint)
        elif reason is not None:
            yield Check(level="hint", code="Ignored", message=reason, field=use.field)


def nested_launchers(spec: JobSpec) -> Iterator[Check]:
    """Yield an error for each command that starts torchrun, in a job whose torchrun is on."""
    fields = {"/spec/entrypoint/value": spec.entrypoint}
    for index, group in enumerate(spec.replica_specs):
        if group.entrypoint is not None:
            fields[f"/spec/replica_specs/{index}/entrypoint/value"] = group.entrypoint
    for field, entrypoint in fields.items():
        if spec.torchrun is not None and spec.debug is None and is_launcher(entrypoint):
            message = _("torchrun is on, and what it would start is torchrun again.")
            hint = _("Choose the script as the entrypoint, or turn torchrun off.")
            yield Check(level="error", code="NestedLauncher", message=message, field=field, hint=hint)


def adapt(spec: JobSpec, capabilities: Mapping[str, Capability]) -> tuple[JobSpec, list[Check]]:
    """Return a spec without the features that another engine lacks.

    Parameters
    ----------
    spec
        A job of any engine, such as one that was read from a manifest.
    capabilities
        Features of the other engine.

    Returns
    -------
    spec, notes
        The new spec, and one check for each feature that is lost, with its field in the given spec. A use that
        can't be removed stays, and the engine's own checks refuse it.
    """
    changes: dict[str, Any] = {}
    notes = []
    for use in uses(spec):
        reason = _missing(use, capabilities)
        if reason is None:
            continue
        changes |= {pointer: value for pointer, value in use.without.items() if changes.get(pointer) is not REMOVED}
        notes.append(_note(use, reason))
    if not changes:
        return spec, notes
    data = spec.model_dump(mode="json")
    # In descending order, so that a removal from a list does not shift items that are still to be changed.
    for pointer in sorted(changes, key=_order, reverse=True):
        _change(data, pointer, changes[pointer])
    return JobSpec.model_validate(data), notes


def _missing(use: Use, capabilities: Mapping[str, Capability]) -> Text | None:
    capability = capabilities.get(use.capability)
    return None if capability is None or capability.supported else capability.reason or Text.verbatim("")


def _note(use: Use, reason: Text) -> Check:
    """Return the note about a use of a feature that the other engine lacks."""
    if not use.refused:
        message = _("Without effect: {reason}", reason=reason)
        return Check(level="hint", code="Lost", message=message, field=use.field)
    if use.without:
        message = _("Left out: {reason}", reason=reason)
        return Check(level="warning", code="Lost", message=message, field=use.field)
    return Check(level="error", code="Lost", message=_("Not possible: {reason}", reason=reason), field=use.field)


def _order(pointer: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdecimal() else 0, part) for part in pointer.split("/")]


def _change(data: Any, pointer: str, value: Any) -> None:
    *path, last = pointer.split("/")[2:]
    for part in path:
        data = data[int(part)] if isinstance(data, list) else data[part]
    key = int(last) if isinstance(data, list) else last
    if value is REMOVED:
        del data[key]
    else:
        data[key] = value


def is_launcher(entrypoint: Entrypoint) -> bool:
    """Return True for torchrun itself, as a command or as a module."""
    if entrypoint.kind == "command":
        return entrypoint.value.rpartition("/")[2] == "torchrun"
    return entrypoint.kind == "module" and entrypoint.value in ("torch.distributed.run", "torch.distributed.launch")
