"""Queue objects of a namespace's jobs: Workloads of Kueue and PodGroups of T9k's scheduler."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ..client.api import Json, KubeApi
from ..client.json_access import flag, moment, part, parts, text, value, whole
from ..client.watch.informer import Informer, Keep
from ..client.watch.resource_version import revision_of
from ..objects.kinds import conditions, holds

OBJECTS: Final[Mapping[str, str]] = {KUEUE: "workloads", T9K_SCHEDULER: "podgroups"}
"""Resource that each API group of a queueing system keeps for a job."""

Rank = tuple[int, float, str]
"""Position in a queue: negated priority, time of creation, and the uid, which makes all positions different."""


class Queueing:
    """Watches of the queue objects in one namespace, one for each API group, sorted by job.

    Parameters
    ----------
    api
        Client of the API server.
    namespace
        The namespace.
    touched
        Called with the uid of a job when one of its queue objects has changed.
    state_changed
        Called when a watch became stale or recovered.
    """

    def __init__(
        self, api: KubeApi, namespace: str, touched: Callable[[str], None], state_changed: Callable[[], None]
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._touched = touched
        self._state_changed = state_changed
        self._watches: dict[str, Informer] = {}
        self._versions: dict[str, str] = {}
        self._by_job: dict[str, dict[str, dict[str, Json]]] = {}  # job uid → API group → object uid → object
        self._job_by_object: dict[str, str] = {}
        self._queues: dict[str, list[Rank]] = {}
        self._ranks: dict[str, tuple[str, Rank]] = {}

    async def stop(self) -> None:
        """Stop all watches."""
        await asyncio.gather(*(watch.stop() for watch in self._watches.values()))

    async def follow(self, group: str, version: str) -> None:
        """Watch the queue objects of an API group; restart the watch if the version to use is another one.

        Parameters
        ----------
        group
            API group.
        version
            Version of the group to use.
        """
        if self._versions.get(group) == version:
            return
        await self.drop(group)
        path = f"/apis/{group}/{version}/namespaces/{self._namespace}/{OBJECTS[group]}"
        changed = partial(self._changed, group)
        watch = Informer(self._api, path, changed, keep=KEEP[group], state_changed=self._state_changed)
        self._watches[group], self._versions[group] = watch, version
        watch.start()

    async def drop(self, group: str) -> None:
        """Stop the watch of an API group, and forget its objects."""
        self._versions.pop(group, None)
        watch = self._watches.pop(group, None)
        if watch is not None:
            await watch.stop()
            for item in list(watch.objects.values()):
                self._changed(group, item, None)

    def knows(self, group: str) -> bool:
        """Return True if the queue objects of an API group have been read and none was missed."""
        return group in self._watches and self._watches[group].complete

    def of(self, group: str, job: str) -> Json | None:
        """Return the queue object of a job; of several, the newest that is not finished.

        Parameters
        ----------
        group
            API group.
        job
            Uid of the job.
        """
        found = self._by_job.get(job, {}).get(group, {}).values()
        return max(found, key=lambda item: (not _is_over(item), _created(item)), default=None)

    def about(self, job: str) -> list[str]:
        """Return the uids of a job's queue objects, which events may be about."""
        return [uid for items in self._by_job.get(job, {}).values() for uid in items]

    def job_of(self, uid: str) -> str | None:
        """Return the uid of the job that a queue object belongs to."""
        return self._job_by_object.get(uid)

    def ahead(self, workload: Json) -> int:
        """Return how many Workloads of this namespace wait before a Workload in its queue; 0 if it does not wait.

        The order is Kueue's: by priority, then by age. Kueue may admit a later Workload if an earlier one does not fit.
        """
        queue, rank = self._ranks.get(workload["metadata"]["uid"], ("", None))
        return bisect_left(self._queues[queue], rank) if rank is not None else 0

    def note(self, group: str, item: Json) -> None:
        """Take in the answer of a change, which the watch may bring later.

        Parameters
        ----------
        group
            API group.
        item
            The queue object.
        """
        known = self._by_job.get(_job_of(item) or "", {}).get(group, {}).get(item["metadata"]["uid"])
        if known is not None and revision_of(known) <= revision_of(item):
            self._changed(group, known, KEEP[group](item))

    def _changed(self, group: str, before: Json | None, after: Json | None) -> None:
        item = after or before or {}
        uid, job = item["metadata"]["uid"], _job_of(item)
        if group == KUEUE:
            self._sort_in(uid, _position_of(after) if after is not None else None)
        if job is None:
            return
        found = self._by_job.setdefault(job, {}).setdefault(group, {})
        if after is not None:
            found[uid] = after
            self._job_by_object[uid] = job
        else:
            found.pop(uid, None)
            self._job_by_object.pop(uid, None)
            if not any(self._by_job[job].values()):
                del self._by_job[job]
        self._touched(job)

    def _sort_in(self, uid: str, position: tuple[str, Rank] | None) -> None:
        """Sort a Workload into its queue; None takes it out."""
        before = self._ranks.pop(uid, None)
        if position is not None:
            self._ranks[uid] = position
        if position == before:
            return
        if before is not None:
            queue, rank = before
            waiting = self._queues[queue]
            del waiting[bisect_left(waiting, rank)]
            if not waiting:
                del self._queues[queue]
        if position is not None:
            queue, rank = position
            insort(self._queues.setdefault(queue, []), rank)


def kept_of_workload(item: Json) -> Json:
    """Return the fields of a Workload that are read; its pods' templates are most of the rest."""
    sets = [
        {**_some(one, "name", "count"), "template": {"spec": _requests(part(one, "template", "spec"))}}
        for one in parts(item, "spec", "podSets")
    ]
    spec = {**_some(part(item, "spec"), "queueName", "priority", "active"), "podSets": sets}
    return {**_identity(item), "spec": spec, "status": _some(part(item, "status"), "conditions", "admissionChecks")}


def kept_of_group(item: Json) -> Json:
    """Return the fields of a PodGroup that are read."""
    spec, status = _some(part(item, "spec"), "queue", "minMember"), _some(part(item, "status"), "conditions")
    return {**_identity(item), "spec": spec, "status": status}


KEEP: Final[Mapping[str, Keep]] = {KUEUE: kept_of_workload, T9K_SCHEDULER: kept_of_group}
"""Function that reduces the queue objects of each API group to the fields that are read."""


def _identity(item: Json) -> Json:
    names = ("uid", "name", "namespace", "resourceVersion", "creationTimestamp", "ownerReferences")
    return {"metadata": _some(part(item, "metadata"), *names)}


def _requests(pod: Json) -> Json:
    """Return the fields of a pod's spec that tell its requests."""
    kinds = ("containers", "initContainers")
    containers = {kind: [_some(one, "resources", "restartPolicy") for one in parts(pod, kind)] for kind in kinds}
    return {**containers, **_some(pod, "resources", "overhead")}


def _some(item: Json, *names: str) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _job_of(item: Json) -> str | None:
    """Return the uid of an object's owner; of several, the controlling one."""
    owners = sorted(parts(item, "metadata", "ownerReferences"), key=lambda owner: not flag(owner, "controller"))
    return next((uid for owner in owners if (uid := text(owner, "uid"))), None)


def _created(item: Json) -> float:
    return moment(item, "metadata", "creationTimestamp") or 0.0


def _is_over(item: Json) -> bool:
    return holds(conditions(item).get("Finished"))


def _position_of(workload: Json) -> tuple[str, Rank] | None:
    """Return the queue in which a Workload waits, and its position there; None if it does not wait."""
    found = conditions(workload)
    if holds(found.get("QuotaReserved")) or _is_over(workload) or value(workload, "spec", "active") is False:
        return None
    rank = -(whole(workload, "spec", "priority") or 0), _created(workload), workload["metadata"]["uid"]
    return text(workload, "spec", "queueName") or "", rank
