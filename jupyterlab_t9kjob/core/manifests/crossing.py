"""From one engine to another: a T9k manifest becomes a local run or a PyTorchJob, and back."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ..checks import Capability, Check
from ..features import adapt
from ..spec import JobSpec
from .kinds.formats import kind_of_extra
from .model import Kind
from .names import CONTAINER
from .text.merge_patch import BY, leaves


def cross(
    spec: JobSpec,
    source: Kind | None,
    target: Kind | None,
    capabilities: Mapping[str, Capability],
) -> tuple[JobSpec, list[Check]]:
    """Return the spec that another engine can run, and what is lost on the way, in words.

    Parameters
    ----------
    spec
        A job of an engine, such as `Parsed.spec`.
    source, target
        Manifest kinds of the engine that the spec is from and of the engine that it is for; None for an engine whose
        jobs have no manifest.
    capabilities
        What the target can do.
    """
    result, notes = adapt(spec, capabilities)
    # an engine without manifests keeps the extra content of the manifest that its job was made from
    source = source or kind_of_extra(spec.extra)
    if spec.extra and target is not None and source is not None and target != source:
        extra, lost = _moved(spec, source)
        result = result.model_copy(update={"extra": extra})
        if lost:
            message = f"Left out, for the other kind has no such field: {', '.join(lost)}."
            notes.append(Check(level="warning", code="Lost", message=message, field="/spec/extra"))
    if target is None:
        notes += _local_notes(spec)
    return result, notes


def _moved(spec: JobSpec, source: Kind) -> tuple[dict[str, Any], list[str]]:
    """Move the patches of pod templates to where the other kind has these; the rest is lost."""
    rest = deepcopy(spec.extra)
    names = [group.type for group in spec.replica_specs]
    first, last = names[0], names[-1]
    if source == "t9k":
        by_type = _take(rest, "replicaSpecs", names)
        found = {"Master": by_type.get(first)}
        if spec.total_replicas > 1:
            found["Worker"] = by_type.get(last)
        if spec.elastic is not None:
            found = {"Worker": by_type.get(first)}
        field, head = "pytorchReplicaSpecs", {}
    else:
        by_role = _take(rest, "pytorchReplicaSpecs", ["Master", "Worker"])
        found = {last: by_role.get("Worker"), first: by_role.get("Master") or by_role.get("Worker")}
        field, head = "replicaSpecs", {BY: "type"}
    templates = {name: {"template": patch} for name, patch in found.items() if patch}
    lost = [".".join(path) for path in leaves(rest)]
    return ({"spec": {field: {**head, **templates}}} if templates else {}), lost


def _take(extra: dict[str, Any], field: str, names: list[str]) -> dict[str, Any]:
    """Take the patches of templates out of `extra`, by the name of their replica type."""
    spec = extra.get("spec")
    groups = spec.get(field) if isinstance(spec, dict) else None
    taken: dict[str, Any] = {}
    if not isinstance(groups, dict):
        return taken
    for name in names:
        group = groups.get(name)
        if isinstance(group, dict) and isinstance(group.get("template"), dict):
            taken[name] = _with_usual_container(group.pop("template"))
    return taken


def _with_usual_container(template: dict[str, Any]) -> dict[str, Any]:
    """Leave the training container the name that every kind knows."""
    pod = template.get("spec")
    containers = pod.get("containers") if isinstance(pod, dict) else None
    container = containers.get(CONTAINER) if isinstance(containers, dict) else None
    if isinstance(container, dict):
        container.pop("name", None)
    return template


def _local_notes(spec: JobSpec) -> list[Check]:
    notes = []
    words = [spec.entrypoint.value, *spec.args]
    if any("$(" in word for word in words):
        message = "$(NAME) in the arguments is replaced in a cluster only."
        notes.append(Check(level="warning", code="Lost", message=message, field="/spec/args"))
    if spec.entrypoint.kind == "script" and not spec.entrypoint.value.startswith("/"):
        message = f"Where {spec.entrypoint.value} is depends on the image, which is not used on this machine."
        hint = "Give the script's absolute path."
        field = "/spec/entrypoint/value"
        notes.append(Check(level="warning", code="Lost", message=message, hint=hint, field=field))
    return notes
