"""Pods of JobSets: they belong to the Jobs that a JobSet makes, and have its name in a label."""

from __future__ import annotations

from typing import Final

from ...client.api import Json
from ...client.json_access import parts, text
from ..kinds import JOBSET

REPLICATED_JOB: Final = "jobset.sigs.k8s.io/replicatedjob-name"
"""Label with the name of the pod's template of Jobs in the JobSet."""
JOB_INDEX: Final = "jobset.sigs.k8s.io/job-index"
"""Label with the index of the pod's Job among the Jobs of its template."""


def jobset_of(pod: Json) -> str | None:
    """Return the name of a pod's JobSet by the pod's labels and the name of the Job that owns it; None without one."""
    jobset, job = (text(pod, "metadata", "labels", label) for label in (JOBSET, REPLICATED_JOB))
    if jobset is None or job is None:
        return None
    for owner in parts(pod, "metadata", "ownerReferences"):
        group = (text(owner, "apiVersion") or "").partition("/")[0]
        if (group, text(owner, "kind"), owner.get("controller")) == ("batch", "Job", True):
            name = (text(owner, "name") or "").rpartition("-")
            return jobset if name[0] == f"{jobset}-{job}" and name[2].isdecimal() else None
    return None
