"""What queues the jobs of a namespace says of each: Kueue's Workloads, and the PodGroups of T9k's scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from .discovery import KUEUE, T9K_SCHEDULER
from .fields import flag, moment, parts, text, value, whole
from .kinds import conditions, holds
from .transport import Json, KubeApi
from .watch import Collection, revision_of

OBJECTS: Final[Mapping[str, str]] = {KUEUE: "workloads", T9K_SCHEDULER: "podgroups"}
"""Collection of what an API group has for each job."""


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
        self._watches: dict[str, Collection] = {}
        self._of: dict[str, dict[str, dict[str, Json]]] = {}
        self._owner: dict[str, str] = {}
        self._places: dict[str, int] | None = None

    async def stop(self) -> None:
        """Stop all watches."""
        await asyncio.gather(*(watch.stop() for watch in self._watches.values()))

    def follow(self, group: str, version: str) -> None:
        """Begin to watch what a group has for each job."""
        if group in self._watches:
            return
        path = f"/apis/{group}/{version}/namespaces/{self._namespace}/{OBJECTS[group]}"
        watch = Collection(self._api, path, partial(self._changed, group), state_changed=self._state_changed)
        self._watches[group] = watch
        watch.start()

    async def drop(self, group: str) -> None:
        """Stop watching it, and forget what it had."""
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
        """Return how many Workloads of this namespace wait in the same queue and come before one that does.

        By priority, then by age, which is how Kueue takes them; one that does not fit may be overtaken.
        """
        if self._places is None:
            self._places = _places(self._watches[KUEUE].objects.values() if KUEUE in self._watches else ())
        return self._places.get(workload["metadata"]["uid"], 0)

    def note(self, group: str, item: Json) -> None:
        """Take note of an object that an answer has brought: the watch may tell of it later."""
        known = self._of.get(_job_of(item) or "", {}).get(group, {}).get(item["metadata"]["uid"])
        if known is not None and revision_of(known) <= revision_of(item):
            self._changed(group, known, item)

    def _changed(self, group: str, before: Json | None, after: Json | None) -> None:
        self._places = None
        item = after or before or {}
        uid, job = item["metadata"]["uid"], _job_of(item)
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


def _job_of(item: Json) -> str | None:
    """Return the uid of the object that owns another one, the one that controls it first."""
    owners = sorted(parts(item, "metadata", "ownerReferences"), key=lambda owner: not flag(owner, "controller"))
    return next((uid for owner in owners if (uid := text(owner, "uid"))), None)


def _created(item: Json) -> float:
    return moment(item, "metadata", "creationTimestamp") or 0.0


def _is_over(item: Json) -> bool:
    return holds(conditions(item).get("Finished"))


def _places(workloads: Iterable[Json]) -> dict[str, int]:
    """Return how many are ahead of each Workload that waits."""
    queues: dict[str, list[Json]] = {}
    for item in workloads:
        found = conditions(item)
        waits = not (holds(found.get("QuotaReserved")) or holds(found.get("Finished")))
        if waits and value(item, "spec", "active") is not False:
            queues.setdefault(text(item, "spec", "queueName") or "", []).append(item)
    places: dict[str, int] = {}
    for queue in queues.values():
        queue.sort(key=lambda item: (-(whole(item, "spec", "priority") or 0), _created(item)))
        places |= {item["metadata"]["uid"]: place for place, item in enumerate(queue)}
    return places
