"""The manifest kind `trainjob`: TrainJob of Kubeflow Trainer, with its capabilities, checks and spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from math import ceil
from typing import Any, Final

from ....checks import Check
from ....code.model import GitRepository
from ....spec import JobSpec
from ....texts.quantity import amount
from ....translation import Text, _
from ...leaks import variables_of
from ...model import Notes, in_words
from ..formats import Format, capabilities
from ..indexed_job import WORLD_ENV
from ..indexed_job_kind import OWN_POD_FIELDS, types
from ..shapes import ANYTHING, CONTAINER, FLAG, METADATA, NUMBER, POD, RESOURCES, TEMPLATE, TEXT, TEXTS, MapOf
from ..template_reader import has_devices, read_template
from ..torchrun.bare import Told, processes_of
from . import trainjob
from .spelling import INNER, PATCHES, POD_SPEC, POD_TEMPLATE, USUAL, WIDEST, Spelling, fold, spelling_of, unfold
from .spelling import TEMPLATE as INNER_STYLE

_CAPABILITIES: Final[dict[str, Text | None]] = {
    "training_runtime": None,
    "restarts": _("The runtime of a TrainJob says whether a replica that failed starts again; the job can't."),
    "ttl": _("A TrainJob stays until it is deleted; it has no time to live."),
    "clean_up": _("A TrainJob always removes the pods that still run when it ends, and keeps those that have ended."),
    "elastic": _("A TrainJob has a fixed number of nodes."),
    "priority": _("A TrainJob has no numbers for priorities; put it into a queue that has the priority."),
    "scaling_weight": _("The number of nodes of a TrainJob is fixed, so types have no weights."),
    "skip_init": _("A TrainJob always runs the init containers of its runtime."),
    "resume": _("A TrainJob that is resumed runs the same command as before."),
    "resume_command": _("A TrainJob that is resumed runs the same command as before."),
    "replica_types": _("A TrainJob has nodes of one type only."),
    "cluster_tensorboard": _("Kubeflow Trainer runs no TensorBoard; the one in JupyterLab is used."),
}
_CLONE: Final = "/template/spec/initContainers/"
_PET: Final = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
_OVERRIDDEN: Final = {**POD, "targetJobs": [{"name": TEXT}]}
_SHAPE: Final = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": METADATA,
    "spec": {
        "runtimeRef": {"name": TEXT, "kind": TEXT, "apiGroup": TEXT},
        "suspend": FLAG,
        "activeDeadlineSeconds": NUMBER,
        "trainer": {
            "image": TEXT,
            "command": TEXTS,
            "args": TEXTS,
            "env": CONTAINER["env"],
            "numNodes": NUMBER,
            "numProcPerNode": ANYTHING,
            "resourcesPerNode": RESOURCES,
        },
        POD_SPEC: [_OVERRIDDEN],
        POD_TEMPLATE: [{"targetJobs": [{"name": TEXT}], "metadata": MapOf(ANYTHING), "spec": POD}],
        PATCHES: [{
            "manager": TEXT,
            "time": ANYTHING,
            "trainingRuntimeSpec": {"template": {"metadata": MapOf(ANYTHING), "spec": {"replicatedJobs": [{
                "name": TEXT,
                "template": {"metadata": MapOf(ANYTHING), "spec": {"template": TEMPLATE}},
            }]}}},
        }],
        INNER_STYLE: TEMPLATE,
        "labels": MapOf(TEXT),
        "annotations": MapOf(TEXT),
        **dict.fromkeys(("initializer", "managedBy")),
    },
    "status": ANYTHING,
}  # fmt: skip

# Fields of a spec that a TrainJob does not have in a pattern of JSON pointers into its inner form. The lab's own pod
# sets those of `_BY_THE_LAB` in the form, so they are no error.
_OF_SPEC: Final = {
    r"/template/spec/containers/\d+/workingDir": "/spec/working_dir",
    "/template/spec/imagePullSecrets": "/spec/runtime/pull_secrets",
    "/template/spec/priorityClassName": "/spec/scheduling/priority_class",
    "/template/spec/schedulerName": "/spec/scheduling/scheduler",
    "/template/spec/tolerations": "/spec/scheduling/tolerations",
    "/template/spec/nodeSelector": "/spec/scheduling/node_selector",
    "/activeDeadlineSeconds": "/spec/run_policy/active_deadline_seconds",
}
_BY_THE_LAB: Final = {
    r"/template/spec/containers/\d+/imagePullPolicy": "/spec/runtime/pull_policy",
    "/template/spec/securityContext": "/spec/security",
}


def _problems(spec: JobSpec, spelling: Spelling) -> Iterator[Check]:
    if len(spec.replica_specs) == 2:  # More types are a feature of their own, `replica_types`.
        yield _error(_("A TrainJob has nodes of one type only."), "/spec/replica_specs/1", _("Use one type."))
    for field, variable in variables_of(spec):
        if variable.name in _PET:
            message = _("{name} is set by Kubeflow Trainer itself.", name=variable.name)
            yield _error(message, f"{field}/name", _("Remove it."), "Reserved")
    if isinstance(spec.source, GitRepository):
        message = _("A TrainJob can't have an init container of its own, which would clone the repository.")
        hint = _("Use a snapshot of the files, or choose another engine.")
        yield _error(message, "/spec/source", hint)
    if spec.security.restricted and "securityContext" not in spelling.container:
        message = _(
            "This version of TrainJob can't set the fields that the restricted Pod Security Standard requires; the"
            " runtime can."
        )
        yield _error(message, "/spec/security/restricted", _RUNTIMES)


def _unsayable(manifest: dict[str, Any], spec: JobSpec, spelling: Spelling) -> Iterator[Check]:
    if not isinstance(manifest.get("spec"), dict):
        return  # `render` reports what breaks the manifest.
    for pointer in fold(manifest["spec"], spelling):
        if isinstance(spec.source, GitRepository) and pointer.startswith(_CLONE):
            continue  # `_problems` has refused the repository.
        field = _field_of(pointer, _OF_SPEC)
        of_lab = _field_of(pointer, _BY_THE_LAB)
        if of_lab is not None:
            yield Check(level="hint", code="Ignored", message=_IGNORED[of_lab], field=of_lab)
        elif field == "/spec/run_policy/active_deadline_seconds":
            yield _error(_("This version of TrainJob has no deadline."), field, _("Leave it out."))
        elif not (spec.security.restricted and pointer.endswith("/securityContext")):
            message = _(
                "This version of TrainJob has no field for {field} of its pods; the runtime has.",
                field=in_words(pointer.removeprefix("/template/spec").removeprefix("/template")),
            )
            yield _error(message, field or "/spec/extra", _RUNTIMES)


_RUNTIMES: Final = _("Leave it out and use a runtime that has it, or choose another engine.")
_IGNORED: Final = {
    "/spec/runtime/pull_policy": _("A TrainJob has no pull policy; that of its runtime counts."),
    "/spec/security": _("This version of TrainJob can't set users and groups; those of its runtime and image count."),
}


def _field_of(pointer: str, fields: Mapping[str, str]) -> str | None:
    return next((field for pattern, field in fields.items() if re.fullmatch(pattern, pointer)), None)


def _error(message: Text, field: str, hint: Text, code: str = "Unsupported") -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _told(manifest: dict[str, Any]) -> Told:
    """Return what Trainer tells torchrun: without a number, one process for each GPU, or else for each CPU."""
    spec = manifest["spec"]
    template = spec[INNER_STYLE]
    processes = processes_of(spec.get("trainer", {}).get("numProcPerNode"))
    if processes is None:
        cpu = read_template(template, trainjob.TRAINING).resources.cpu
        cores = amount(cpu.limit) or amount(cpu.request)
        counted = processes_of(ceil(cores)) if cores else None
        processes = "gpu" if has_devices(template, trainjob.TRAINING) else counted
    return Told(processes, fields=(("spec", "trainer", "numProcPerNode"),))


def translate(manifest: dict[str, Any], to: Spelling) -> tuple[dict[str, Any], Notes]:
    """Translate a manifest to a spelling.

    Parameters
    ----------
    manifest
        A TrainJob with fields of the right types, in any spelling or with a whole pod template.
    to
        The spelling of the result.

    Returns
    -------
    manifest, notes
        The translated manifest, and notes about each change. A warning names fields that `to` does not have.
    """
    result, notes = deepcopy(manifest), Notes()
    spec = result.get("spec")
    if not isinstance(spec, dict):
        return result, notes
    style = unfold(spec)
    if to.style == INNER_STYLE:
        return result, notes
    lost = fold(spec, to)
    if style in (None, to.style) and not lost:
        return deepcopy(manifest), notes
    if style not in (None, INNER_STYLE, to.style):
        message = _(
            "{style} belongs to another version of TrainJob; it is written as {wanted}.", style=style, wanted=to.style
        )
        notes.hint("DialectOverrides", message, f"/manifest/spec/{style}")
    for pointer in lost:
        message = _(
            "The cluster's version of TrainJob has no field for {field}; it is left out.",
            field=in_words(pointer.removeprefix("/template")),
        )
        notes.warn("DialectLost", message, "/manifest/spec")
    return result, notes


def _sayable(manifest: dict[str, Any]) -> dict[str, Any]:
    return translate(translate(manifest, WIDEST)[0], INNER)[0]


TRAINJOB: Final = Format(
    trainjob.API_VERSION,
    trainjob.KIND,
    _SHAPE,
    INNER_STYLE,
    trainjob.TRAINING,
    trainjob.build,
    trainjob.canonical,
    trainjob.read,
    trainjob.templates,
    capabilities(_CAPABILITIES),
    types,
    single=True,
    own_pod_fields=OWN_POD_FIELDS,
    own_env=WORLD_ENV,
    problems=_problems,
    unsayable=_unsayable,
    own_options=("--rdzv-conf",),
    told=_told,
    needs_image=False,
    usual=USUAL,
    inner=INNER,
    sayable=_sayable,
    dialect_of=spelling_of,
    translate=translate,
)
