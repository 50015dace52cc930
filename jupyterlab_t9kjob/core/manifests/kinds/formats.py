"""`Format`, the declaration of a manifest kind: its fields, its conversion to and from a spec, and its capabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ...checks import Capability, Check
from ...spec import Elastic, JobSpec
from ...translation import Text, _, _n
from ..model import Notes
from .pod_template import training_container
from .torchrun.bare import Told


def _as_it_is(manifest: dict[str, Any], _dialect: Any) -> tuple[dict[str, Any], Notes]:
    return manifest, Notes()


def _all_sayable(_manifest: dict[str, Any], _spec: JobSpec, _dialect: Any) -> Iterable[Check]:
    return ()


def _all_of_it(manifest: dict[str, Any]) -> dict[str, Any]:
    return manifest


def _one_dialect(_schema: Any) -> None:
    return None


def _no_words(_spec: JobSpec) -> list[str]:
    return []


def _all_extra(spec: JobSpec) -> dict[str, Any]:
    return spec.extra


def _no_extra(_spec: JobSpec) -> dict[str, Any]:
    return {}


def _nothing_told(_manifest: dict[str, Any]) -> None:
    return None


def _no_problem(_spec: JobSpec, _dialect: Any) -> Iterable[Check]:
    return ()


class Spelling(Protocol):
    """The properties of a dialect that the engines read."""

    @property
    def certain(self) -> bool:
        """True if the dialect was found in the cluster's schema. Otherwise a dry run precedes each creation."""

    @property
    def pause(self) -> bool:
        """True if jobs can be paused."""

    @property
    def is_older(self) -> bool:
        """True if the page is to say that the cluster uses an older spelling."""


@dataclass(frozen=True)
class Format:
    """Declaration of a manifest kind. It is registered as an entry point, see `core.manifests.registry`.

    Attributes
    ----------
    api_version, kind
        ``apiVersion`` and ``kind`` of the object.
    shape
        Fields of the object and their types, see `.shapes`.
    replicas
        Field of the object's spec that holds the replica types. Every job has it.
    single
        True if `replicas` is the pod template of the only replica type. False if it is a list, or an object, of types
        that have a field ``template`` each.
    place
        JSON pointer, in the object's spec as a cluster has it, to the object with the field `replicas`; empty if that
        is the spec itself.
    training
        Required name of the training container; None if any name is allowed.
    build, canonical, read, templates
        Conversion between specs and manifests, see `.t9k`.
    capabilities
        Features that jobs of the kind have, see `core.features`.
    types
        Returns the names of a spec's replica types in the manifest, the first replica's first. Extra content moves to
        another kind by them: that of the first and the last type's pod template. A kind that is `single` has one name.
    listed_by
        Field that identifies the items of `replicas`; None if `replicas` is an object.
    problems
        Returns the problems of a spec that only this kind has, in a dialect.
    unsayable
        Returns the problems of a job's manifest in the dialect `inner`, and of its spec: fields that a cluster's
        dialect does not have. It may change the manifest.
    own_pod_fields
        Fields of pods that the kind sets itself, so that they have no meaning on another kind.
    own_env
        Variables that the kind sets itself; that a manifest does not have them has no meaning on another kind.
    heeded
        Returns the part of a spec's extra content that `build` heeds. It has no meaning on another kind.
    counting
        Returns the part of a spec's extra content that counts; all of it by default.
    own_options
        Options of torchrun that jobs of this kind set themselves, in addition to those of all kinds.
    launcher
        Returns the words that the kind's controller puts before the arguments of a training container.
    told
        Returns what the kind's controller tells a torchrun without options, by the manifest in the dialect `inner`;
        None if it tells nothing.
    sets_unbuffered
        True if the kind's controller sets ``PYTHONUNBUFFERED`` itself.
    needs_image
        False if a job without an image has one: that of its template in the cluster.
    usual
        Dialect that is assumed until a cluster's schema was read; None for a kind with one dialect.
    inner
        Dialect in which `build`, `canonical`, `read` and `templates` have manifests, if no cluster uses it; None for
        the usual one.
    sayable
        Removes from a manifest in the dialect `inner` what no cluster's dialect can say, so that it reads back as it
        was made.
    dialect_of
        Returns the dialect of a cluster, from the schema of the kind in it (None: the schema can't be read). A dialect
        has the attributes of `Spelling`.
    translate
        Translates a manifest to a dialect, and returns notes about the changes.
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
    types: Callable[[JobSpec], list[str]]
    listed_by: str | None = None
    single: bool = False
    place: str = ""
    problems: Callable[[JobSpec, Any], Iterable[Check]] = _no_problem
    unsayable: Callable[[dict[str, Any], JobSpec, Any], Iterable[Check]] = _all_sayable
    own_pod_fields: tuple[str, ...] = ()
    own_env: tuple[str, ...] = ()
    heeded: Callable[[JobSpec], dict[str, Any]] = _no_extra
    counting: Callable[[JobSpec], dict[str, Any]] = _all_extra
    own_options: tuple[str, ...] = ()
    launcher: Callable[[JobSpec], list[str]] = _no_words
    told: Callable[[dict[str, Any]], Told | None] = _nothing_told
    sets_unbuffered: bool = False
    needs_image: bool = True
    usual: Any = None
    inner: Any = None
    sayable: Callable[[dict[str, Any]], dict[str, Any]] = _all_of_it
    dialect_of: Callable[[Any], Spelling | None] = _one_dialect
    translate: Callable[[dict[str, Any], Any], tuple[dict[str, Any], Notes]] = _as_it_is


def groups_of(form: Format, spec: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return each replica type's object, which has the field ``template``, with its JSON pointer in the spec.

    Parameters
    ----------
    form
        The manifest's kind.
    spec
        The ``spec`` of the manifest; the objects are parts of it, not copies.
    """
    if form.single:
        return [("", spec)]
    groups = spec[form.replicas]
    pairs = groups.items() if isinstance(groups, dict) else enumerate(groups)
    return [(f"/{form.replicas}/{key}", group) for key, group in pairs]


def training_of(form: Format, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the training container of each pod template.

    Parameters
    ----------
    form
        The manifest's kind.
    manifest
        The manifest; the containers are parts of it, not copies.
    """
    found = []
    for template in form.templates(manifest):
        containers = template.get("spec", {}).get("containers", [])
        index = training_container(containers, form.training)
        if index is not None:
            found.append(containers[index])
    return found


def outside_bounds(replicas: int, bounds: Elastic, field: str) -> Check:
    """Return the error about a number of replicas that is not between the bounds of an elastic job.

    Parameters
    ----------
    replicas
        Number of replicas.
    bounds
        The bounds.
    field
        JSON pointer of the field with the number.
    """
    message = _n(
        "{n} replica is not between {least} and {most}.",
        "{n} replicas are not between {least} and {most}.",
        replicas,
        least=bounds.min,
        most=bounds.max,
    )
    hint = _("Choose a number between the two.")
    return Check(level="error", code="ElasticBounds", message=message, field=field, hint=hint)


# -- capabilities ------------------------------------------------------------------------------------------------------

_EVERYWHERE: Final[dict[str, Text | None]] = {
    "pause": None,
    "torchrun": None,
    "replicas": None,
    "deadline": None,
    "devices": None,
    "diagnostics": None,
    "restarts": None,
    "elastic": None,
    "restart_always": None,
    "secrets": None,
    "queue": None,
    "scheduling": None,
    "image": None,
    "mounts": None,
    "config_files": None,
    "shm": None,
    "resource_limits": None,
    "debug": None,
    "security": None,
    "extra": None,
    "source": None,
    "clean_up": None,
    "resume_evicted": None,
    "training_runtime": _("Only a TrainJob of Kubeflow Trainer has a training runtime."),
    "exec": _("Opening a terminal in a replica is not possible yet."),
}


def capabilities(table: Mapping[str, Text | None]) -> dict[str, Capability]:
    """Return the capabilities of a kind: those of every job in a cluster, and those in `table`.

    Parameters
    ----------
    table
        By name of the feature: the reason why the kind lacks it, or None if the kind has it.
    """
    reasons = {**_EVERYWHERE, **table}
    return {name: Capability(supported=reason is None, reason=reason) for name, reason in reasons.items()}
