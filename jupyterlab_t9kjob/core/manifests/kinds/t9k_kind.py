"""The manifest kind `t9k`: PyTorchTrainingJob, with its capabilities, checks and dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...checks import Check
from ...spec import JobSpec
from ...translation import Text, _
from ..entrypoints import program_of
from ..leaks import variables_of
from . import shapes, t9k
from .dialect import CURRENT, Dialect, translate
from .formats import Format, capabilities

_CAPABILITIES: Final[dict[str, Text | None]] = {
    "priority": None,
    "scaling_weight": None,
    "skip_init": None,
    "resume": None,
    "resume_command": None,
    "replica_types": None,
    "cluster_tensorboard": None,
    "ttl": _("A PyTorchTrainingJob stays until it is deleted; T9k has no time to live for it."),
}


def _problems(spec: JobSpec, dialect: Dialect) -> Iterator[Check]:
    yield from _of_the_dialect(spec, dialect)
    kinds = {program_of(spec, group).entrypoint.kind for group in spec.replica_specs}
    if spec.torchrun and "command" in kinds and len(kinds) > 1:
        message = _("With torchrun on, either all replica types run a command or none does.")
        hint = _("Choose a script for each, or turn it off.")
        yield _error("MixedEntrypoints", message, "/spec/replica_specs", hint)
    for field, variable in variables_of(spec):
        if variable.name == "NVIDIA_VISIBLE_DEVICES":
            message = _("T9k may refuse pods that set NVIDIA_VISIBLE_DEVICES.")
            hint = _("Ask for GPUs instead; the platform sets it.")
            yield Check(level="warning", code="RefusedVariable", message=message, field=field, hint=hint)


def _of_the_dialect(spec: JobSpec, dialect: Dialect) -> Iterator[Check]:
    if not dialect.pause:
        reason = _("This cluster's version of PyTorchTrainingJob can't be paused.")
        if spec.paused:
            yield _error("Unsupported", reason, "/spec/paused", _("Leave it out."))
        if spec.resume:
            yield _error("Unsupported", reason, "/spec/resume", _("Leave it out."))
    if not dialect.elastic and spec.elastic and spec.elastic.max != spec.total_replicas:
        message = _("This cluster's version of PyTorchTrainingJob takes the number of replicas as the maximum.")
        hint = _("Set {replicas}.", replicas=spec.total_replicas)
        yield _error("Unsupported", message, "/spec/elastic/max", hint)


def _types(spec: JobSpec) -> list[str]:
    return [group.type for group in spec.replica_specs]


def _error(code: str, message: Text, field: str, hint: Text) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


T9K: Final = Format(
    t9k.API_VERSION,
    t9k.KIND,
    shapes.T9K,
    "replicaSpecs",
    t9k.TRAINING,
    t9k.build,
    t9k.canonical,
    t9k.read,
    t9k.templates,
    capabilities(_CAPABILITIES),
    _types,
    problems=_problems,
    listed_by="type",
    launcher=t9k.launcher,
    usual=CURRENT,
    dialect_of=Dialect.from_schema,
    translate=translate,
)
