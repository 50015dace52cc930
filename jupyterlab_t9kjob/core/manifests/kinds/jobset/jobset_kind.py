"""The manifest kind `jobset`: JobSet with one Indexed Job, with its capabilities, checks and inner form."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from ....checks import Check
from ....spec import JobSpec
from ....translation import Text, _
from ...model import Notes
from ..formats import Format, capabilities
from ..indexed_job import WORLD_ENV
from ..indexed_job_kind import OWN_POD_FIELDS, types
from ..shapes import ANYTHING, FLAG, METADATA, NUMBER, TEMPLATE, TEXT, TEXTS, MapOf
from ..shapes import JOB as INDEXED_JOB
from . import jobset
from .jobset import fold, unfold

CLUSTER: Final = "cluster"
INNER: Final = "inner"
"""The two forms of a manifest: that of a cluster, and that of the functions in `.jobset`."""

_ONE_TYPE: Final = _("The replicas of a JobSet are those of one Job here, so they have one type.")
_CAPABILITIES: Final[dict[str, Text | None]] = {
    "ttl": None,
    "clean_up": _("A JobSet always removes the pods that still run when it ends, and keeps those that have ended."),
    "elastic": _("A JobSet has a fixed number of replicas."),
    "restart_always": _("A JobSet ends when its replicas have succeeded, so it can't restart those."),
    "priority": _("A JobSet has no numbers for priorities; name a priority class instead."),
    "scaling_weight": _("The number of replicas of a JobSet is fixed, so types have no weights."),
    "skip_init": _("A JobSet always runs its init containers."),
    "resume": _("A JobSet that is resumed runs the same command as before."),
    "resume_command": _("A JobSet that is resumed runs the same command as before."),
    "replica_types": _ONE_TYPE,
    "cluster_tensorboard": _("Kubernetes itself runs no TensorBoard; the one in JupyterLab is used."),
}
_REPLICATED: Final = {
    "name": TEXT,
    "groupName": TEXT,
    "replicas": NUMBER,
    "dependsOn": ANYTHING,
    "template": {"metadata": MapOf(ANYTHING), "spec": INDEXED_JOB["spec"]},
}
_SHAPE: Final = {
    "apiVersion": TEXT,
    "kind": TEXT,
    "metadata": METADATA,
    "spec": {
        "suspend": FLAG,
        "network": {"enableDNSHostnames": FLAG, "publishNotReadyAddresses": FLAG, "subdomain": TEXT},
        "successPolicy": {"operator": TEXT, "targetReplicatedJobs": TEXTS},
        "failurePolicy": {"maxRestarts": NUMBER, "restartStrategy": TEXT, "rules": [MapOf(ANYTHING)]},
        "ttlSecondsAfterFinished": NUMBER,
        "replicatedJobs": [_REPLICATED],
        jobset.JOB: _REPLICATED,
        jobset.TEMPLATE: TEMPLATE,
        **dict.fromkeys(("coordinator", "managedBy", "startupPolicy", "volumeClaimPolicies")),
    },
    "status": ANYTHING,
}  # fmt: skip


def _problems(spec: JobSpec, _dialect: Any) -> Iterator[Check]:
    if len(spec.replica_specs) == 2:  # More types are a feature of their own, `replica_types`.
        hint = _("Use one type, or another engine.")
        yield Check(level="error", code="Unsupported", message=_ONE_TYPE, field="/spec/replica_specs/1", hint=hint)


def _translate(manifest: dict[str, Any], to: str) -> tuple[dict[str, Any], Notes]:
    result = deepcopy(manifest)
    if isinstance(spec := result.get("spec"), dict):
        (unfold if to == INNER else fold)(spec)
    return result, Notes()


JOBSET: Final = Format(
    jobset.API_VERSION,
    jobset.KIND,
    _SHAPE,
    jobset.TEMPLATE,
    None,
    jobset.build,
    jobset.canonical,
    jobset.read,
    jobset.templates,
    capabilities(_CAPABILITIES),
    types,
    single=True,
    own_pod_fields=OWN_POD_FIELDS,
    own_env=WORLD_ENV,
    place="/replicatedJobs/0/template/spec",
    problems=_problems,
    own_options=("--rdzv-conf",),
    usual=CLUSTER,
    inner=INNER,
    translate=_translate,
)
