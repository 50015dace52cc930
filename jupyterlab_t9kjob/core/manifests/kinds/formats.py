"""What there is to know of each kind of object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ...spec import JobSpec
from ..model import Kind, Notes
from . import pytorchjob, shapes, t9k
from .pod_template import training_container


@dataclass(frozen=True)
class Format:
    """What there is to know of a kind of object.

    Attributes
    ----------
    api_version, kind
        As the object has them.
    shape
        Its fields, see `.shapes`.
    replicas
        The field of the spec that a job of this kind can't do without.
    training
        The name that its training container must have, if any.
    build, canonical, read, templates
        See `.t9k`.
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


FORMATS: Final[dict[Kind, Format]] = {
    "t9k": Format(
        t9k.API_VERSION,
        t9k.KIND,
        shapes.T9K,
        "replicaSpecs",
        t9k.TRAINING,
        t9k.build,
        t9k.canonical,
        t9k.read,
        t9k.templates,
    ),
    "kubeflow": Format(
        pytorchjob.API_VERSION,
        pytorchjob.KIND,
        shapes.PYTORCHJOB,
        "pytorchReplicaSpecs",
        pytorchjob.TRAINING,
        pytorchjob.build,
        pytorchjob.canonical,
        pytorchjob.read,
        pytorchjob.templates,
    ),
}


def training_of(form: Format, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the training container of each pod template."""
    found = []
    for template in form.templates(manifest):
        containers = template.get("spec", {}).get("containers", [])
        index = training_container(containers, form.training)
        if index is not None:
            found.append(containers[index])
    return found


def kind_of_extra(extra: dict[str, Any]) -> Kind | None:
    """Return the kind whose fields the extra content of a spec has; None if it has those of none."""
    fields = extra.get("spec")
    found = (name for name, form in FORMATS.items() if isinstance(fields, dict) and form.replicas in fields)
    return next(found, None)
