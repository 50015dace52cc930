"""The spellings of TrainJob: a TrainJob has no pod template, and says by overrides how it differs from its runtime's.

========================  =====  ==================================================================================
style                     since  override of the trainer's pods
========================  =====  ==================================================================================
``podSpecOverrides``      2.0    fields of the pod beside ``targetJobs``
``podTemplateOverrides``  2.1    ``metadata`` and ``spec`` of the pod template beside ``targetJobs``
``runtimePatches``        2.2    a part of the runtime, for each manager
========================  =====  ==================================================================================

Sources: the Python models of the API (``kubeflow-trainer-api`` 2.0.0 to 2.3.0), and the definition of Trainer 2.1.0.

All other modules use the style ``template``, which no cluster has: the object's spec has a whole pod template, whose
training container has the fields of ``trainer`` and the override together. Which of its fields a cluster has is read
from the cluster's schema. A working directory, which no version has, becomes a shell that changes to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ...json_values import as_list, as_object, as_objects
from ...names import CONTAINER
from ..dialect import child_schema, properties_of, schemas_of
from ..pod_template import training_container

GROUP: Final = "trainer.kubeflow.org"
KIND: Final = "TrainJob"
TEMPLATE: Final = "template"
POD_SPEC: Final = "podSpecOverrides"
POD_TEMPLATE: Final = "podTemplateOverrides"
PATCHES: Final = "runtimePatches"
STYLES: Final = (PATCHES, POD_TEMPLATE, POD_SPEC)
NODE: Final = "node"
"""Name of the runtime's job that trains, and of its container."""
MANAGER: Final = "jupyterlab-t9kjob/form"
"""Manager of our patch in the style ``runtimePatches``."""
PATCH_MANAGER: Final = "patchManager"
"""Field of the style `TEMPLATE` with the manager of another program's patch."""

_TRAINER: Final = {
    "image": "image",
    "command": "command",
    "args": "args",
    "env": "env",
    "resources": "resourcesPerNode",
}
"""Fields of the training container that are fields of ``trainer``."""
_CD: Final = ("-c", 'cd -- "$0" && exec "$@"')
# The way to the jobs in a patch of a runtime, and from a job to its pod template.
_JOBS: Final = ("template", "spec", "replicatedJobs")
_POD_TEMPLATE: Final = ("template", "spec", "template")


@dataclass(frozen=True)
class Spelling:
    """Spelling in which a cluster reads TrainJobs.

    Attributes
    ----------
    style
        One of `STYLES`, or `TEMPLATE`.
    fields
        Fields of a TrainJob's ``spec``.
    pod, container
        Fields of pods, and of their containers, that an override can set.
    metadata
        True if an override can set labels and annotations of pods.
    counts
        True if ``numProcPerNode`` is a number only.
    certain
        True if the spelling was found in the cluster's schema.
    """

    style: str
    fields: frozenset[str]
    pod: frozenset[str]
    container: frozenset[str]
    metadata: bool = True
    counts: bool = True
    certain: bool = True

    @property
    def pause(self) -> bool:
        """True: all versions can be suspended."""
        return True

    @property
    def is_older(self) -> bool:
        """False: all styles say the same."""
        return False


_FIELDS: Final = frozenset(("initializer", "managedBy", "runtimeRef", "suspend", "trainer"))
_POD: Final = frozenset(
    ("containers", "initContainers", "nodeSelector", "schedulingGates", "serviceAccountName", "tolerations", "volumes")
)
_CONTAINER: Final = frozenset(("env", "name", "volumeMounts"))
TRAINER_2_0: Final = Spelling(
    POD_SPEC, _FIELDS | {POD_SPEC, "labels", "annotations"}, _POD, _CONTAINER, metadata=False, counts=False
)
TRAINER_2_1: Final = Spelling(
    POD_TEMPLATE,
    _FIELDS | {POD_TEMPLATE, "labels", "annotations"},
    _POD | {"affinity", "imagePullSecrets"},
    _CONTAINER,
    counts=False,
)
TRAINER_2_2: Final = Spelling(
    PATCHES,
    _FIELDS | {PATCHES, "activeDeadlineSeconds"},
    TRAINER_2_1.pod | {"securityContext"},
    _CONTAINER | {"securityContext"},
)
TRAINER_2_3: Final = Spelling(
    PATCHES, TRAINER_2_2.fields, TRAINER_2_2.pod | {"terminationGracePeriodSeconds"}, TRAINER_2_2.container
)
USUAL: Final = TRAINER_2_3
_OF_SOME: Final = frozenset((*STYLES, "labels", "annotations", "activeDeadlineSeconds"))
"""Fields of ``spec`` that not all versions have. Fields that no known version has are left to the cluster."""
WIDEST: Final = replace(USUAL, fields=USUAL.fields | _OF_SOME)
"""Spelling that can say all that any version can say."""
INNER: Final = Spelling(TEMPLATE, frozenset(), frozenset(), frozenset())


def spelling_of(document: Any) -> Spelling:
    """Return the spelling of a cluster.

    Parameters
    ----------
    document
        ``/openapi/v3/apis/trainer.kubeflow.org/v1alpha1``, or the CustomResourceDefinition itself; None if neither can
        be read.

    Returns
    -------
    Spelling
        The usual one with `certain` False if the document does not contain the kind's fields.
    """
    for schema in schemas_of(document, GROUP, KIND):
        spec = child_schema(schema, "spec")
        fields = frozenset(properties_of(spec))
        style = next((style for style in STYLES if style in fields), None)
        if style is None:
            continue
        override = _items(child_schema(spec, style))
        if style == PATCHES:
            override = child_schema(override, "trainingRuntimeSpec")
            for name in _JOBS:
                override = child_schema(override, name)
            override = _items(override)
            for name in _POD_TEMPLATE:
                override = child_schema(override, name)
        pod = override if style == POD_SPEC else child_schema(override, "spec")
        container = _items(child_schema(pod, "containers"))
        processes = child_schema(child_schema(spec, "trainer"), "numProcPerNode")
        return Spelling(
            style,
            fields,
            frozenset(properties_of(pod)) - {"targetJobs"},
            frozenset(properties_of(container)),
            metadata="metadata" in properties_of(override),
            counts=processes.get("type") == "integer",
        )
    return replace(USUAL, certain=False)


def _items(schema: Mapping[str, Any]) -> dict[str, Any]:
    return as_object(schema.get("items"))


# -- to the style `TEMPLATE` -------------------------------------------------------------------------------------------


def unfold(spec: dict[str, Any]) -> str | None:
    """Bring the spec of a TrainJob to the style `TEMPLATE`; return the style that it had, None without an override.

    Of the overrides, the first becomes part of the template if it is for the trainer's pods alone. The others stay.

    Parameters
    ----------
    spec
        The spec, which is changed.
    """
    if TEMPLATE in spec:
        return TEMPLATE
    style = next((style for style in STYLES if spec.get(style)), None)
    patch = _take_patch(spec, style) if style is not None else {}
    trainer = as_object(spec.pop("trainer", None))
    container: dict[str, Any] = {"name": CONTAINER}
    for name, written in _TRAINER.items():
        if (value := trainer.pop(written, None)) is not None:
            container[name] = value
    if trainer:
        spec["trainer"] = trainer
    pod = dict(as_object(patch.get("spec")))
    others = []
    for other in as_objects(pod.pop("containers", None)):
        if other.get("name") != NODE:
            others.append(other)
            continue
        own = as_objects(container.get("env"))
        container |= {name: value for name, value in other.items() if name != "name"}
        if own:
            container["env"] = [*own, *as_objects(other.get("env"))]
    _enter_directory(container)
    metadata = patch.get("metadata")
    spec[TEMPLATE] = {
        **({"metadata": metadata} if metadata else {}),
        "spec": {**pod, "containers": [container, *others]},
    }
    return style


def _take_patch(spec: dict[str, Any], style: str) -> dict[str, Any]:
    """Remove the first override if it is for the trainer's pods alone; return it as ``metadata`` and ``spec``."""
    first, *rest = as_objects(spec[style]) or [{}]
    found = _patch_of(first, style)
    if found is None:
        return {}
    if style == PATCHES and first.get("manager") != MANAGER:
        spec[PATCH_MANAGER] = first.get("manager")
    del spec[style]
    if rest:
        spec[style] = rest
    return found


def _patch_of(override: dict[str, Any], style: str) -> dict[str, Any] | None:
    """Return an override of the trainer's pods as ``metadata`` and ``spec``; None for any other override."""
    if style == PATCHES:
        at = as_object(override.get("trainingRuntimeSpec"))
        for name in _JOBS[:-1]:
            if at.keys() != {name}:
                return None
            at = as_object(at[name])
        jobs = as_objects(at.get(_JOBS[-1]))
        if at.keys() != {_JOBS[-1]} or len(jobs) != 1:
            return None
        found, target = jobs[0], jobs[0].get("name")
        for name in _POD_TEMPLATE:
            if found.keys() - {"name"} != {name}:
                return None
            found = as_object(found[name])
    else:
        targets = as_objects(override.get("targetJobs"))
        target = targets[0].get("name") if len(targets) == 1 else None
        found = {name: value for name, value in override.items() if name != "targetJobs"}
        found = {"spec": found} if style == POD_SPEC else found
    return found if target == NODE and not found.keys() - {"metadata", "spec"} else None


def _enter_directory(container: dict[str, Any]) -> None:
    """Replace the shell that changes to the working directory by the field ``workingDir``."""
    words = [*as_list(container.get("command")), *as_list(container.get("args"))]
    if words[:1] == ["sh"] and tuple(words[1:3]) == _CD and len(words) > 4 and "workingDir" not in container:
        container |= {"workingDir": words[3], "command": words[4:5], "args": words[5:]}
        if not words[5:]:
            del container["args"]


# -- from the style `TEMPLATE` -----------------------------------------------------------------------------------------


def fold(spec: dict[str, Any], to: Spelling) -> list[str]:
    """Bring the spec of a TrainJob from the style `TEMPLATE` to that of a cluster.

    Parameters
    ----------
    spec
        The spec, which is changed.
    to
        The cluster's spelling.

    Returns
    -------
    list of str
        JSON pointers of the fields that the cluster's TrainJob does not have; they are left out.
    """
    lost: list[str] = []
    template = as_object(spec.pop(TEMPLATE, None))
    pod = dict(as_object(template.get("spec")))
    containers = as_objects(pod.pop("containers", None))
    index = training_container(containers, CONTAINER)
    trainer, training = dict(as_object(spec.pop("trainer", None))), dict(containers[index]) if index is not None else {}
    at = f"/{TEMPLATE}/spec/containers/{index}"
    if to.counts and not isinstance(trainer.get("numProcPerNode", 0), int):
        del trainer["numProcPerNode"]
        lost.append("/trainer/numProcPerNode")
    if "workingDir" in training and "workingDir" not in to.container:
        cwd = training.pop("workingDir")
        if as_list(training.get("command")):
            words = [*training["command"], *as_list(training.get("args"))]
            training |= {"command": ["sh"], "args": [*_CD, cwd, *words]}
        else:
            lost.append(f"{at}/workingDir")
    for name, written in _TRAINER.items():
        if (value := training.pop(name, None)) is not None:
            trainer[written] = value
    kept = _kept({**training, "name": NODE}, to.container, at, lost)
    others = [
        _kept(other, to.container, f"/{TEMPLATE}/spec/containers/{place}", lost)
        for place, other in enumerate(containers)
        if place != index
    ]
    for place, other in enumerate(init := as_objects(pod.get("initContainers"))):
        init[place] = _kept(other, to.container, f"/{TEMPLATE}/spec/initContainers/{place}", lost)
    pod = _kept({**pod, **({"initContainers": init} if init else {})}, to.pod, f"/{TEMPLATE}/spec", lost)
    if others or kept.keys() - {"name"}:
        pod["containers"] = [*([kept] if kept.keys() - {"name"} else []), *others]
    metadata = as_object(template.get("metadata"))
    if metadata and not to.metadata:
        lost.append(f"/{TEMPLATE}/metadata")
        metadata = {}
    if trainer:
        spec["trainer"] = trainer
    override = {**({"metadata": metadata} if metadata else {}), **({"spec": pod} if pod else {})}
    manager = spec.pop(PATCH_MANAGER, MANAGER)
    if override:
        spec[to.style] = [_written(override, to.style, manager), *as_list(spec.get(to.style))]
    for name in [name for name in spec if name in _OF_SOME and name not in to.fields]:
        del spec[name]
        lost.append(f"/{name}")
    return lost


def _kept(fields: dict[str, Any], known: frozenset[str], pointer: str, lost: list[str]) -> dict[str, Any]:
    """Return the known fields of an object; add the pointers of the others to those that are lost."""
    lost += [f"{pointer}/{name}" for name in fields if name not in known]
    return {name: value for name, value in fields.items() if name in known}


def _written(override: dict[str, Any], style: str, manager: Any) -> dict[str, Any]:
    """Return an override of the trainer's pods, given as ``metadata`` and ``spec``, in a style."""
    if style == PATCHES:
        job = {"name": NODE, "template": {"spec": {"template": override}}}
        return {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}
    target = {"targetJobs": [{"name": NODE}]}
    return {**target, **(override.get("spec", {}) if style == POD_SPEC else override)}
