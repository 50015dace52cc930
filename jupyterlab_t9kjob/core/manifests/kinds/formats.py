"""What a manifest kind declares: its fields, how a specification becomes a manifest and back, and its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ...checks import Capability, Check
from ...spec import JobSpec
from ...translation import Text, _
from ..model import Notes
from ..names import CONTAINER
from .pod_template import training_container

Patch: TypeAlias = "dict[str, Any] | None"


def _as_it_is(manifest: dict[str, Any], _dialect: Any) -> tuple[dict[str, Any], Notes]:
    return manifest, Notes()


def _no_problem(_spec: JobSpec, _dialect: Any) -> Iterable[Check]:
    return ()


@dataclass(frozen=True)
class Format:
    """What a manifest kind declares. It is registered as an entry point, see `core.manifests.registry`.

    Attributes
    ----------
    api_version, kind
        Those fields of the object.
    shape
        The object's fields, see `.shapes`.
    replicas
        The field of the object's spec that has the replica types. Every job has it.
    training
        The name that the training container must have; None for any.
    build, canonical, read, templates
        From a specification to a manifest and back, see `.t9k`.
    capabilities
        Features that jobs of the kind have, see `core.features`.
    take_templates, put_templates
        Take the patches of the first and the last replica type's pod template out of the extra content of a
        specification, and return them by the names that this kind gives the types. So extra content reaches another
        kind.
    listed_by
        The field by which items of `replicas` are told apart; None if `replicas` is an object.
    problems
        What cannot be right in a specification of this kind, in a dialect.
    own_options
        Options of torchrun that jobs of this kind set themselves, beside those of all kinds.
    sets_unbuffered
        True if the kind's controller sets ``PYTHONUNBUFFERED`` itself.
    usual
        The dialect that is assumed while no cluster tells another; None for a kind with one spelling.
    translate
        Rewrites a manifest in a dialect, and notes what was changed.
    """

    api_version: str
    kind: str
    shape: Any
    replicas: str
    training: str | None
    build: Callable[[JobSpec], dict[str, Any]]
    canonical: Callable[[dict[str, Any], Notes | None], dict[str, Any]]
    read: Callable[[dict[str, Any]], JobSpec]
    templates: Callable[[dict[str, Any]], list[dict[str, Any]]]
    capabilities: Mapping[str, Capability]
    take_templates: Callable[[dict[str, Any], JobSpec], tuple[Patch, Patch]]
    put_templates: Callable[[Patch, Patch, JobSpec], dict[str, Patch]]
    listed_by: str | None = None
    problems: Callable[[JobSpec, Any], Iterable[Check]] = _no_problem
    own_options: tuple[str, ...] = ()
    sets_unbuffered: bool = False
    usual: Any = None
    translate: Callable[[dict[str, Any], Any], tuple[dict[str, Any], Notes]] = _as_it_is


def training_of(form: Format, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the training container of each pod template."""
    found = []
    for template in form.templates(manifest):
        containers = template.get("spec", {}).get("containers", [])
        index = training_container(containers, form.training)
        if index is not None:
            found.append(containers[index])
    return found


def taken(extra: dict[str, Any], field: str, names: Iterable[str]) -> dict[str, Patch]:
    """Take the patches of pod templates out of extra content, by the name of their replica type.

    Parameters
    ----------
    extra
        Extra content of a specification; what is taken is removed from it.
    field
        The field of the object's spec that has the replica types.
    names
        Names of the replica types.
    """
    spec = extra.get("spec")
    groups = spec.get(field) if isinstance(spec, dict) else None
    found: dict[str, Patch] = {}
    if not isinstance(groups, dict):
        return found
    for name in names:
        group = groups.get(name)
        if isinstance(group, dict) and isinstance(group.get("template"), dict):
            found[name] = _with_usual_container(group.pop("template"))
    return found


def _with_usual_container(template: dict[str, Any]) -> dict[str, Any]:
    """Leave the training container the name that every kind knows."""
    pod = template.get("spec")
    containers = pod.get("containers") if isinstance(pod, dict) else None
    container = containers.get(CONTAINER) if isinstance(containers, dict) else None
    if isinstance(container, dict):
        container.pop("name", None)
    return template


# -- capabilities ------------------------------------------------------------------------------------------------------

_EVERYWHERE: Final[dict[str, Text | None]] = {
    "pause": None,
    "torchrun": None,
    "replicas": None,
    "deadline": None,
    "devices": None,
    "restarts": None,
    "elastic": None,
    "restart_always": None,
    "secrets": None,
    "queue": None,
    "scheduling": None,
    "image": None,
    "mounts": None,
    "shm": None,
    "resource_limits": None,
    "debug": None,
    "security": None,
    "extra": None,
    "source": _("Copying the source into a cluster is not possible yet; jobs run the files on their volumes."),
    "exec": _("Opening a terminal in a replica is not possible yet."),
}


def capabilities(table: Mapping[str, Text | None]) -> dict[str, Capability]:
    """Return the capabilities of a kind: those of every job in a cluster, and its own.

    Parameters
    ----------
    table
        By name of the feature why the kind lacks it; None for a feature that it has.
    """
    reasons = {**_EVERYWHERE, **table}
    return {name: Capability(supported=reason is None, reason=reason) for name, reason in reasons.items()}
