"""Queues that a job of a namespace can be put into: those of T9k's scheduler, or Kueue's LocalQueues.

Each kind of job uses one of the two systems. If this account may not read a ClusterQueue or the namespace's labels, the
fields that depend on them stay empty (T9k: t9k-facts.md, Queues; Kueue: kueue.sigs.k8s.io/docs/concepts).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from ....core.capacity import Queue, QueueList, QuotaLine
from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ....core.texts.quantity import amount
from ....core.translation import Text, _
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import flag, part, parts, text, value, whole
from ..objects.kinds import JobKind, conditions
from ..objects.resources import together
from ..objects.selectors import selects
from ..objects.text import named
from ..reasons.job import refused
from .connection import Cluster
from .permissions import AT_A_TIME

_T9K_NAMESPACE: Final = "t9k-system"
_DEFAULT: Final = "default"
"""Queue of a job that names none, in both systems."""
_DURATION: Final = re.compile(
    r"(?:(\d{1,9})y)?(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?"
)
_UNITS: Final = (365 * 86400.0, 7 * 86400.0, 86400.0, 3600.0, 60.0, 1.0, 0.001)

REMEMBERED_SECONDS: Final = 10.0
"""Time for which the queues of a namespace are reused: a form is checked at every edit."""


class Queues:
    """Queues for one kind of job, reused for `REMEMBERED_SECONDS`.

    Parameters
    ----------
    kind
        Kind of job.
    cluster
        Connection to the cluster.
    """

    def __init__(self, kind: JobKind, cluster: Cluster) -> None:
        self._kind = kind
        self._cluster = cluster
        self._cache: dict[tuple[str, str], tuple[float, QueueList]] = {}

    async def of(self, namespace: str, *, fresh: bool = False) -> QueueList | None:
        """Return the queues that jobs of a namespace can be put into; None if the cluster lacks the queueing system.

        Parameters
        ----------
        namespace
            The namespace.
        fresh
            True to read the queues again.

        Raises
        ------
        Unavailable
            If the API server does not answer.
        """
        api = await self._cluster.api_for(self._kind)
        version = self._cluster.groups.get(self._kind.queues)
        if version is None:
            return None
        where = self._cluster.identity, namespace
        read_at, queues = self._cache.get(where, (0.0, None))
        if fresh or queues is None or time.monotonic() - read_at > REMEMBERED_SECONDS:
            try:
                queues = await queues_of(api, self._kind.queues, version, namespace)
            except (ApiError, Unreachable) as error:
                raise refused(error) from error
            self._cache = {where: (time.monotonic(), queues)}
        return queues


async def queues_of(api: KubeApi, group: str, version: str, namespace: str) -> QueueList:
    """Return the queues that jobs of a namespace can be put into, open queues first.

    Parameters
    ----------
    api
        Client of the API server.
    group
        `KUEUE` or `T9K_SCHEDULER`.
    version
        Version of the group to use.
    namespace
        The namespace.

    Raises
    ------
    ApiError, Unreachable
        If the API server does not answer. A missing permission raises nothing; the list's `limited` says it.
    """
    found = await (_of_kueue if group == KUEUE else _of_t9k)(api, f"/apis/{group}/{version}", namespace)
    found.queues.sort(key=lambda queue: (not queue.open, queue.reason is not None, not queue.default, queue.name))
    return found


def seconds_of(duration: str | None) -> float | None:
    """Return a duration of T9k (``2h45m``, ``3w``) in seconds; None if it is malformed or zero, which is no limit."""
    match = _DURATION.fullmatch(duration or "")
    if match is None:
        return None
    return sum(int(count) * unit for count, unit in zip(match.groups(), _UNITS, strict=True) if count) or None


# -- T9k ---------------------------------------------------------------------------------------------------------------


async def _of_t9k(api: KubeApi, base: str, namespace: str) -> QueueList:
    items = await _listed(api, f"{base}/namespaces/{_T9K_NAMESPACE}/queues")
    if items is None:
        rule = f"list queues.{T9K_SCHEDULER}"
        return QueueList(
            limited=_("You don't have permission to list the queues of T9k's scheduler ({rule}).", rule=rule)
        )
    labels = await _labels(api, namespace)
    return QueueList(queues=[_t9k_queue(item, namespace, labels) for item in items])


def _t9k_queue(item: Json, namespace: str, labels: Mapping[str, Any] | None) -> Queue:
    name = text(item, "metadata", "name") or ""
    closed, reason = flag(item, "spec", "closed"), None
    selector = value(item, "spec", "namespaceSelector")
    if closed:
        reason = _("It is closed: it takes no new jobs.")
    elif labels is not None and not (isinstance(selector, dict) and selects(selector, labels)):
        # Other authorizations may open the queue as well; they can't be read.
        reason = _(
            "It is not open to all users of namespace {namespace}, only to users who were authorized.",
            namespace=named(namespace),
        )
    allocated = part(item, "status", "allocated")
    return Queue(
        name=name,
        kind=_("T9k queue"),
        open=not closed,
        reason=reason,
        default=name == _DEFAULT,
        priority=whole(item, "spec", "priority"),
        preemptible=value(item, "spec", "preemptible") is not False,
        max_duration=seconds_of(text(item, "spec", "maxDuration")),
        quota=[
            QuotaLine(quota=name, resource=str(resource), used=amount(str(allocated.get(resource))) or 0.0, hard=hard)
            for resource, written in part(item, "spec", "quota", "requests").items()
            if (hard := amount(str(written))) is not None
        ],
    )


# -- Kueue -------------------------------------------------------------------------------------------------------------


async def _of_kueue(api: KubeApi, base: str, namespace: str) -> QueueList:
    items = await _listed(api, f"{base}/namespaces/{namespace}/localqueues")
    if items is None:
        limited = _(
            "You don't have permission to list the queues of namespace {namespace} ({rule}).",
            namespace=named(namespace),
            rule=f"list localqueues.{KUEUE}",
        )
        return QueueList(limited=limited)
    names = sorted({name for item in items if (name := text(item, "spec", "clusterQueue"))})
    gate = asyncio.Semaphore(AT_A_TIME)

    async def got(name: str) -> Json | None:
        async with gate:
            return await _got(api, f"{base}/clusterqueues/{quote(name, safe='')}")

    found = await asyncio.gather(*map(got, names))
    behind = dict(zip(names, found, strict=True))
    labels = await _labels(api, namespace) if any(behind.values()) else None
    queues = [_local_queue(item, behind.get(text(item, "spec", "clusterQueue") or ""), labels) for item in items]
    return QueueList(queues=queues, applied=next((queue.name for queue in queues if queue.default), None))


def _local_queue(item: Json, behind: Json | None, labels: Mapping[str, Any] | None) -> Queue:
    """Return a LocalQueue.

    Parameters
    ----------
    item
        The LocalQueue's object.
    behind
        Object of its ClusterQueue; None if that can't be read.
    labels
        Labels of the namespace; None if they can't be read.
    """
    name = text(item, "metadata", "name") or ""
    reason = _why_inactive(item, behind)
    if reason is None and behind is not None and labels is not None:
        selector = value(behind, "spec", "namespaceSelector")
        if not (isinstance(selector, dict) and selects(selector, labels)):  # A null selector selects nothing.
            cluster_queue = named(text(behind, "metadata", "name") or "")
            reason = _("Its ClusterQueue {cluster_queue} is not open to this namespace.", cluster_queue=cluster_queue)
    return Queue(
        name=name,
        kind=_("Kueue queue"),
        open=reason is None,
        reason=reason,
        default=name == _DEFAULT,
        preemptible=_preemptible(behind),
        waiting=whole(item, "status", "pendingWorkloads"),
        quota=_quota(behind) if behind is not None else [],
        borrows=behind is None or bool(text(behind, "spec", "cohort") or text(behind, "spec", "cohortName")),
    )


def _why_inactive(item: Json, behind: Json | None) -> Text | None:
    """Return the sentence that says why a LocalQueue admits no job now; None if it admits jobs or nothing is known."""
    if text(item, "spec", "stopPolicy") in ("Hold", "HoldAndDrain"):
        return _("It is stopped: it lets no job in.")
    if text(behind, "spec", "stopPolicy") in ("Hold", "HoldAndDrain"):
        cluster_queue = named(text(behind, "metadata", "name") or "")
        return _("Its ClusterQueue {cluster_queue} is stopped: it lets no job in.", cluster_queue=cluster_queue)
    for source in (behind, item):
        active = part(conditions(source or {}).get("Active"))
        if text(active, "status") == "False":
            message = text(active, "message")
            if message is None:
                return _("It is not active.")
            return _("It is not active: {message}.", message=named(message).rstrip("."))
    return None


def _preemptible(behind: Json | None) -> bool | None:
    """Return True if jobs may be preempted by others of the same ClusterQueue or cohort; None if that is not known."""
    if behind is None:
        return None
    within = text(behind, "spec", "preemption", "withinClusterQueue") or "Never"
    return within != "Never" or bool(text(behind, "spec", "cohort") or text(behind, "spec", "cohortName"))


def _quota(behind: Json) -> list[QuotaLine]:
    """Return the quota of a ClusterQueue by resource, all flavors together, with the reserved amounts."""
    hard = _summed(
        resource
        for group in parts(behind, "spec", "resourceGroups")
        for flavor in parts(group, "flavors")
        for resource in parts(flavor, "resources")
    )
    used = _summed(
        resource for flavor in parts(behind, "status", "flavorsReservation") for resource in parts(flavor, "resources")
    )
    name = text(behind, "metadata", "name") or ""
    return [
        QuotaLine(quota=name, resource=resource, used=used.get(resource, 0.0), hard=total)
        for resource, total in hard.items()
    ]


def _summed(resources: Iterable[Json]) -> Mapping[str, float]:
    numbers = ((text(one, "name") or "", value(one, "nominalQuota") or value(one, "total") or 0) for one in resources)
    return together({name: amount(str(number)) or 0.0} for name, number in numbers)


# -- reading -----------------------------------------------------------------------------------------------------------


async def _listed(api: KubeApi, path: str) -> list[Json] | None:
    """Return a collection; an empty list if the cluster has no such kind, None without permission."""
    try:
        return (await api.list(path))[0]
    except ApiError as error:
        if error.status == 403:
            return None
        if error.status == 404:
            return []
        raise


async def _got(api: KubeApi, path: str) -> Json | None:
    """Return an object; None if it does not exist or may not be read."""
    try:
        return await api.get(path)
    except ApiError as error:
        if error.status in (403, 404):
            return None
        raise


async def _labels(api: KubeApi, namespace: str) -> Json | None:
    """Return the labels of a namespace; None if they may not be read."""
    found = await _got(api, f"/api/v1/namespaces/{namespace}")
    return part(found, "metadata", "labels") if found is not None else None
