"""What queues the jobs of a namespace says of each: Kueue's Workloads, and the PodGroups of T9k's scheduler."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ..client.api import Json, KubeApi
from ..client.informer import Informer, Keep, revision_of
from ..client.json_access import flag, moment, part, parts, text, value, whole
from ..objects.kinds import conditions, holds

OBJECTS: Final[Mapping[str, str]] = {KUEUE: "workloads", T9K_SCHEDULER: "podgroups"}
"""Collection of what an API group has for each job."""

Rank = tuple[int, float, str]
"""What decides who comes first of a queue: the priority, negated; the age; and the uid, so that all differ."""


class Queueing:
    """The objects of one namespace that queue its jobs, by one watch for each group, sorted by the job that owns them.

    Parameters
    ----------
    api
        The cluster.
    namespace
        The namespace.
    touched
        Called with the uid of a job of which one has changed.
    state_changed
        Called when a watch has become stale, or is right again.
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
        self._of: dict[str, dict[str, dict[str, Json]]] = {}
        self._owner: dict[str, str] = {}
        self._queues: dict[str, list[Rank]] = {}
        self._ranks: dict[str, tuple[str, Rank]] = {}

    async def stop(self) -> None:
        """Stop all watches."""
        await asyncio.gather(*(watch.stop() for watch in self._watches.values()))

    async def follow(self, group: str, version: str) -> None:
        """Begin to watch what a group has for each job; anew if it is to be spoken to in another version."""
        if self._versions.get(group) == version:
            return
        await self.drop(group)
        path = f"/apis/{group}/{version}/namespaces/{self._namespace}/{OBJECTS[group]}"
        changed, told = partial(self._changed, group), self._state_changed
        watch = Informer(self._api, path, changed, keep=KEEP[group], state_changed=told)
        self._watches[group], self._versions[group] = watch, version
        watch.start()

    async def drop(self, group: str) -> None:
        """Stop watching it, and forget what it had."""
        self._versions.pop(group, None)
        watch = self._watches.pop(group, None)
        if watch is not None:
            await watch.stop()
            for item in list(watch.objects.values()):
                self._changed(group, item, None)

    def knows(self, group: str) -> bool:
        """Whether it is known which jobs a group has something for."""
        return group in self._watches and self._watches[group].complete

    def of(self, group: str, job: str) -> Json | None:
        """Return what a group has for a job: of several the newest that is not over."""
        found = self._of.get(job, {}).get(group, {}).values()
        return max(found, key=lambda item: (not _is_over(item), _created(item)), default=None)

    def about(self, job: str) -> list[str]:
        """Return the uids of what there is for a job: events may be about them."""
        return [uid for items in self._of.get(job, {}).values() for uid in items]

    def job_of(self, uid: str) -> str | None:
        """Return the uid of the job that one of these objects belongs to."""
        return self._owner.get(uid)

    def ahead(self, workload: Json) -> int:
        """Return how many Workloads of this namespace wait in the same queue and come before one; 0 if it doesn't wait.

        By priority, then by age, which is how Kueue takes them; one that does not fit may be overtaken.
        """
        queue, rank = self._ranks.get(workload["metadata"]["uid"], ("", None))
        return bisect_left(self._queues[queue], rank) if rank is not None else 0

    def note(self, group: str, item: Json) -> None:
        """Take note of an object that an answer has brought: the watch may tell of it later."""
        known = self._of.get(_job_of(item) or "", {}).get(group, {}).get(item["metadata"]["uid"])
        if known is not None and revision_of(known) <= revision_of(item):
            self._changed(group, known, KEEP[group](item))

    def _changed(self, group: str, before: Json | None, after: Json | None) -> None:
        item = after or before or {}
        uid, job = item["metadata"]["uid"], _job_of(item)
        if group == KUEUE:
            self._place(uid, _place_of(after) if after is not None else None)
        if job is None:
            return
        found = self._of.setdefault(job, {}).setdefault(group, {})
        if after is not None:
            found[uid] = after
            self._owner[uid] = job
        else:
            found.pop(uid, None)
            self._owner.pop(uid, None)
            if not any(self._of[job].values()):
                del self._of[job]
        self._touched(job)

    def _place(self, uid: str, place: tuple[str, Rank] | None) -> None:
        """Put a Workload where it waits now; None if it does not."""
        before = self._ranks.pop(uid, None)
        if place is not None:
            self._ranks[uid] = place
        if place == before:
            return
        if before is not None:
            queue, rank = before
            waiting = self._queues[queue]
            del waiting[bisect_left(waiting, rank)]
            if not waiting:
                del self._queues[queue]
        if place is not None:
            queue, rank = place
            insort(self._queues.setdefault(queue, []), rank)


def kept_of_workload(item: Json) -> Json:
    """Return what is told of a Workload: its pods' templates are most of it."""
    sets = [
        {**_some(one, "name", "count"), "template": {"spec": _requests(part(one, "template", "spec"))}}
        for one in parts(item, "spec", "podSets")
    ]
    spec = {**_some(part(item, "spec"), "queueName", "priority", "active"), "podSets": sets}
    return {**_identity(item), "spec": spec, "status": _some(part(item, "status"), "conditions", "admissionChecks")}


def kept_of_group(item: Json) -> Json:
    """Return what is told of a PodGroup."""
    spec, status = _some(part(item, "spec"), "queue", "minMember"), _some(part(item, "status"), "conditions")
    return {**_identity(item), "spec": spec, "status": status}


KEEP: Final[Mapping[str, Keep]] = {KUEUE: kept_of_workload, T9K_SCHEDULER: kept_of_group}


def _identity(item: Json) -> Json:
    names = ("uid", "name", "namespace", "resourceVersion", "creationTimestamp", "ownerReferences")
    return {"metadata": _some(part(item, "metadata"), *names)}


def _requests(pod: Json) -> Json:
    """Return what a pod's spec says of its requests."""
    kinds = ("containers", "initContainers")
    containers = {kind: [_some(one, "resources", "restartPolicy") for one in parts(pod, kind)] for kind in kinds}
    return {**containers, **_some(pod, "resources", "overhead")}


def _some(item: Json, *names: str) -> dict[str, Any]:
    return {name: item[name] for name in names if name in item}


def _job_of(item: Json) -> str | None:
    """Return the uid of the object that owns another one, the one that controls it first."""
    owners = sorted(parts(item, "metadata", "ownerReferences"), key=lambda owner: not flag(owner, "controller"))
    return next((uid for owner in owners if (uid := text(owner, "uid"))), None)


def _created(item: Json) -> float:
    return moment(item, "metadata", "creationTimestamp") or 0.0


def _is_over(item: Json) -> bool:
    return holds(conditions(item).get("Finished"))


def _place_of(workload: Json) -> tuple[str, Rank] | None:
    """Return the queue in which a Workload waits, and where in it; None if it does not wait."""
    found = conditions(workload)
    if holds(found.get("QuotaReserved")) or _is_over(workload) or value(workload, "spec", "active") is False:
        return None
    rank = -(whole(workload, "spec", "priority") or 0), _created(workload), workload["metadata"]["uid"]
    return text(workload, "spec", "queueName") or "", rank
