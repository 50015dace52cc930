"""Checks of a job against the capacity of a cluster, made before the job is submitted.

A job that the cluster can never run as it is gives an error: a replica that is larger than any node, or more than a
quota allows. Anything that others may change gives a warning: nodes may be added, tainted nodes may be meant, and used
resources may be freed.
"""

from __future__ import annotations

from typing import Final

from ....core.checks import Check
from ..client.api import Json
from ..scheduling.node_fit import ClusterRoom
from .node_checks import node_checks
from .quota_checks import quota_checks
from .replica_groups import SubmittedJob, groups_of

_ABOUT_NOW: Final = ("WillWait", "FitsNow", "QuotaUsedUp")
"""Codes of checks that say whether the job starts at once."""


def checks(
    manifest: Json,
    room: ClusterRoom,
    namespace: str,
    *,
    least: int | None = None,
    starts: bool = True,
    plural: str = "",
    edited: bool = False,
) -> list[Check]:
    """Check whether a cluster has room for a job.

    Parameters
    ----------
    manifest
        The job's object.
    room
        Nodes and quotas of the cluster.
    namespace
        The job's namespace.
    least
        Number of replicas with which an elastic job runs; None for a job that is not elastic.
    starts
        False for a job that is submitted paused; then only errors and warnings about its size are returned.
    plural
        Resource name of the job's kind with its API group (``pytorchjobs.kubeflow.org``): quotas can count jobs.
    edited
        True if the user wrote the manifest: checks then point to fields of the manifest.

    Returns
    -------
    list of Check
        Errors and warnings; if there are none, a check that says that the job fits now. Empty if nothing is known.
    """
    job = SubmittedJob(manifest, groups_of(manifest, least), edited)
    found = [
        *quota_checks(job, room.quotas.get(namespace, ()), namespace, plural),
        *(node_checks(job, room.nodes) if room.nodes else ()),
    ]
    found = [check for check in found if starts or check.code not in _ABOUT_NOW]
    found = [check for check in found if room.exact or check.code != "FitsNow"]
    return [check for check in found if check.level != "passed"] or found
