"""Check of the permission that the continuation of an evicted job needs."""

from __future__ import annotations

from collections.abc import Mapping

from ....core.checks import Capability, Check
from ....core.spec import JobSpec
from ....core.translation import _
from ..cluster.permissions import job_permissions
from ..objects.kinds import JobKind


def permission_check(
    kind: JobKind, spec: JobSpec, namespace: str, permissions: Mapping[str, Capability]
) -> Check | None:
    """Return the warning that this account can't continue a job after an eviction; None if it can, or is not to.

    The lease of the continuation and its result are annotations of the evicted job.

    Parameters
    ----------
    kind
        The kind of job.
    spec
        The job.
    namespace
        The job's namespace.
    permissions
        The account's permissions in the namespace.
    """
    permission = permissions.get("change_jobs")
    if not spec.run_policy.resume_evicted or permission is None or permission.supported:
        return None
    return Check(
        level="warning",
        code="CannotContinue",
        message=_(
            "You don't have permission to change {kinds} in namespace {namespace} ({rule}).",
            kinds=f"{kind.kind}s",
            namespace=namespace,
            rule=job_permissions(kind)["change_jobs"].rule,
        ),
        hint=_("No job will continue this one after an eviction."),
        field="/spec/run_policy/resume_evicted",
    )
