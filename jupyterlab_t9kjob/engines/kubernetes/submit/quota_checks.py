"""Checks of a job against the resource quotas of its namespace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....core.capacity import QuotaLine
from ....core.checks import Check
from ....core.translation import Text, _, _n
from ..client.api import Json
from ..client.json_access import part, parts
from ..objects.pods.requests import requests_of
from ..objects.resources import MEASURED, exact, quantity, said
from ..objects.text import named
from .replica_groups import SubmittedJob


def quota_checks(job: SubmittedJob, lines: Sequence[QuotaLine], namespace: str, plural: str) -> list[Check]:
    """Check whether a job stays within the quotas of its namespace, at all and now.

    Parameters
    ----------
    job
        The job.
    lines
        All limits of the namespace's quotas.
    namespace
        The namespace.
    plural
        Resource name of the job's kind with its API group, as quotas count it.

    Returns
    -------
    list of Check
        At most one check for each field: several limits may be about the same field.
    """
    found = [check for line in lines if not line.scoped for check in _of_line(job, line, namespace, plural)]
    worst = sorted(found, key=lambda check: ("error", "warning").index(check.level))
    return list({check.field: check for check in reversed(worst)}.values())[::-1]


def _of_line(job: SubmittedJob, line: QuotaLine, namespace: str, plural: str) -> Iterator[Check]:
    if line.resource == f"count/{plural}" and line.used is not None and line.used + 1 > line.hard:
        yield _no_more_jobs(line, namespace)
    group = next((group for group in job.groups if _leaves_out(group.pod, line.resource)), None)
    if group is not None:
        yield Check(
            level="warning",
            code="QuotaNeedsResources",
            message=_(
                "The quota {quota} of namespace {namespace} requires every container to set {resource}.",
                quota=named(line.quota),
                namespace=named(namespace),
                resource=named(line.resource),
            ),
            hint=_("The cluster refuses pods that don't, unless the namespace has a default for it."),
            field=job.resource_field(group, _resource_of(line.resource)),
        )
        return
    check = _too_much(job, line, namespace)
    if check is not None:
        yield check


def _no_more_jobs(line: QuotaLine, namespace: str) -> Check:
    message = _n(
        "The quota {quota} of namespace {namespace} allows {n} job of this kind, and there is one already.",
        "The quota {quota} of namespace {namespace} allows {n} jobs of this kind, and there are as many already.",
        int(line.hard),
        quota=named(line.quota),
        namespace=named(namespace),
    )
    return Check(level="warning", code="QuotaUsedUp", message=message, hint=_("Delete jobs that you no longer need."))


def _too_much(job: SubmittedJob, line: QuotaLine, namespace: str) -> Check | None:
    """Return that a job needs more than a quota allows, or more than is left of it; None if neither holds."""
    each = [(group, _counted(group.pod, line.resource)) for group in job.groups]
    group, most = max(each, key=lambda one: one[1], default=(None, 0.0))
    total = exact(sum(group.replicas * wanted for group, wanted in each))
    if group is None or not total:
        return None
    resource = _resource_of(line.resource)
    field = job.replicas_field(group) if resource == "pods" else job.resource_field(group, resource)
    if total > line.hard:
        return Check(
            level="error",
            code="QuotaTooSmall",
            message=_above(line, namespace, replica=most, total=total),
            hint=_("The cluster would refuse its pods. Ask for less, or ask whoever runs the cluster for more."),
            field=field,
        )
    if line.used is None or exact(line.used + total) <= line.hard:
        return None
    return Check(
        level="warning",
        code="QuotaUsedUp",
        message=_(
            "Will wait. The quota {quota} of namespace {namespace} allows {amount} ({used} used), and the job needs"
            " {needed}.",
            quota=named(line.quota),
            namespace=named(namespace),
            amount=_amount(line),
            used=quantity(resource, line.used),
            needed=quantity(resource, total),
        ),
        hint=_(
            "The job starts when other jobs of the namespace have freed enough. Ended pods that are kept may count too."
        ),
        field=field,
    )


def _above(line: QuotaLine, namespace: str, *, replica: float, total: float) -> Text:
    """Return that one replica, or all of them together, need more than a quota allows."""
    quota, namespace, amount = named(line.quota), named(namespace), _amount(line)
    resource = _resource_of(line.resource)
    if line.hard < replica < total:
        return _(
            "The quota {quota} of namespace {namespace} allows {amount}, and a replica needs {needed}.",
            quota=quota,
            namespace=namespace,
            amount=amount,
            needed=quantity(resource, replica),
        )
    return _(
        "The quota {quota} of namespace {namespace} allows {amount}, and the job needs {needed}.",
        quota=quota,
        namespace=namespace,
        amount=amount,
        needed=quantity(resource, total),
    )


def _amount(line: QuotaLine) -> Text:
    """Return what a quota allows: “8 GPUs”, “1 GiB memory”, “2 pods”."""
    resource = _resource_of(line.resource)
    return _n("{n} pod", "{n} pods", int(line.hard)) if resource == "pods" else said(resource, line.hard)


def _resource_of(line: str) -> str:
    """Return the resource that a quota's line is about: ``cpu`` for ``limits.cpu``."""
    return line.removeprefix("requests.").removeprefix("limits.").removeprefix("count/")


def _counted(pod: Json, line: str) -> float:
    """Return the amount that a quota's line counts for a pod."""
    if line in ("pods", "count/pods"):
        return 1.0
    kind, _dot, resource = line.partition(".")
    if kind == "limits":
        return requests_of(_with_limits_as_requests(pod))[resource]
    return requests_of(pod)[resource if kind == "requests" else line]


def _with_limits_as_requests(pod: Json) -> Json:
    """Return a pod whose requests are the limits of the given pod, so that limits are added up as requests are."""
    spec = part(pod, "spec")
    kinds = {
        kind: [{**one, "resources": {"requests": part(one, "resources", "limits")}} for one in parts(spec, kind)]
        for kind in ("initContainers", "containers")
    }
    return {"spec": {**spec, **kinds}}


def _leaves_out(pod: Json, line: str) -> bool:
    """Return True if a container of a pod leaves out a request or limit that a quota on CPU or memory requires."""
    resource = _resource_of(line)
    if resource not in MEASURED:
        return False
    names = ("limits",) if line.startswith("limits.") else ("requests", "limits")
    containers = [*parts(pod, "spec", "containers"), *parts(pod, "spec", "initContainers")]
    return any(all(resource not in part(one, "resources", name) for name in names) for one in containers)
