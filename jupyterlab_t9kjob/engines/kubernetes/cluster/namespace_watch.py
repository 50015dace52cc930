"""Watches of one namespace: one for each kind of job, for pods, events and queue objects, all sorted by job.

The watches are shared: however many pages are open, the API server serves each collection once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

from ....core.checks import Capability
from ..client.api import Json, KubeApi
from ..client.watch.informer import Informer
from ..objects.events import uid_of
from ..objects.kinds import JobKind, NamesJobs, selector_of
from .discovery import QUEUEING, Found
from .named_jobs import NamedJobs, created_at, named_key
from .permissions import allowed
from .pod_fields import PodKeeper, kept_pod
from .queue_objects import Queueing
from .staleness import Watched


class Sink(Protocol):
    """Receiver of the changes of one kind of job; each engine has one.

    Attributes
    ----------
    kind
        Kind of job.
    """

    kind: JobKind

    def job_changed(self, namespace: str, manifest: Json) -> None:
        """Receive a job that is new or has changed.

        Parameters
        ----------
        namespace
            Namespace of the job.
        manifest
            The job's object.
        """

    def job_gone(self, namespace: str, uid: str, *, seen: bool = True) -> None:
        """Receive the end of a job's object.

        Parameters
        ----------
        namespace
            Namespace of the job.
        uid
            Uid of the job's object.
        seen
            False if the deletion was missed, and changes before it may have been missed, too.
        """

    def is_mine(self, uid: str) -> bool:
        """Return True if the user of this lab has submitted the job."""

    def touched(self, uid: str) -> None:
        """Receive that a pod, an event or a queue object of a job has changed."""

    def space_changed(self) -> None:
        """Receive that a watch became stale or recovered."""

    def kind_found(self, found: Found | None) -> None:
        """Receive the discovery of the kind; None if the cluster does not have it any more."""


class NamespaceWatch:
    """Watches of the jobs of one namespace and of all that belongs to them.

    Parameters
    ----------
    api
        Client of the API server.
    name
        The namespace.
    state_changed
        Called when a watch became stale or recovered.
    pods_changed
        Called when any pod has changed.

    Attributes
    ----------
    cluster
        Identity of the cluster, see `Connection.cluster`.
    pods, events
        Watches of all pods and events. A watch without permission keeps trying and stays empty.
    jobs
        Watches of the kinds of jobs, by engine.
    queueing
        Watches of the queue objects.
    """

    def __init__(
        self, api: KubeApi, name: str, state_changed: Callable[[], None], pods_changed: Callable[[], None]
    ) -> None:
        self.name = name
        self.cluster = api.connection.cluster
        self._notify = state_changed
        self._notify_of_pods = pods_changed
        self.jobs: dict[str, Informer] = {}
        self._api = api
        self._sinks: dict[str, Sink] = {}
        self._naming: dict[str, NamesJobs] = {}
        self._pods_of: dict[str, dict[str, Json]] = {}
        self._deleted_of: dict[str, list[Json]] = {}
        self._owner_of: dict[str, tuple[str, str]] = {}
        self._pods_seen: dict[str, set[str]] = {}
        self._events_of: dict[str, dict[str, Json]] = {}
        self._names = NamedJobs()
        core = f"/api/v1/namespaces/{name}"
        state_changed = self._state_changed
        self._keeper = PodKeeper()
        self.pods = Informer(
            api,
            f"{core}/pods",
            self._pod_changed,
            keep=self._keeper.keep,
            from_cache=True,
            state_changed=state_changed,
        )
        self.queueing = Queueing(api, name, self._touch_job, state_changed)
        self.events = Informer(api, f"{core}/events", self._event_changed, from_cache=True, state_changed=state_changed)

    def start(self) -> None:
        """Start the watches of pods and events."""
        self.pods.start()
        self.events.start()

    async def stop(self) -> None:
        """Stop all watches."""
        watches = (self.pods, self.events, *self.jobs.values())
        await asyncio.gather(self.queueing.stop(), *(watch.stop() for watch in watches))

    def add(self, sink: Sink) -> None:
        """Start the watch of one more kind of job."""
        kind = sink.kind
        self._sinks[kind.engine] = sink
        if isinstance(kind, NamesJobs):
            self._naming[kind.engine] = kind
        for pod in self.pods.objects.values():
            self._assign(pod)
        watch = Informer(
            self._api,
            jobs_path(kind, self.name),
            partial(self._job_changed, sink),
            params={"labelSelector": selector} if (selector := selector_of(kind)) is not None else None,
            identities=True,
            state_changed=self._state_changed,
        )
        self.jobs[kind.engine] = watch
        watch.start()

    async def drop(self, engine: str) -> None:
        """Stop the watch of a kind of job."""
        watch = self.jobs.pop(engine, None)
        self._sinks.pop(engine, None)
        self._naming.pop(engine, None)
        if watch is not None:
            await watch.stop()

    async def follow_queues(
        self, groups: Mapping[str, str], permissions: Callable[[str], Mapping[str, Capability]]
    ) -> None:
        """Watch the objects of each queueing system that the cluster has and the account may see; drop the others.

        Parameters
        ----------
        groups
            API groups that the cluster has, each with the version to use.
        permissions
            Returns the account's permissions on the objects of a group, by name.
        """
        for group in QUEUEING:
            version = groups.get(group)
            if version is not None and allowed(permissions(group), ("list", "watch")):
                await self.queueing.follow(group, version)
            else:
                await self.queueing.drop(group)

    def watched(self, kind: JobKind) -> list[Watched]:
        """Return the watches that show jobs of a kind, without those of pods and events that were never permitted."""
        jobs = self.jobs.get(kind.engine)
        own = [Watched(jobs, f"{kind.kind}s", self.name, f"{kind.plural}.{kind.group}")] if jobs is not None else []
        others = [Watched(self.pods, "pods", self.name, "pods"), Watched(self.events, "events", self.name, "events")]
        return [*own, *(other for other in others if other.watch.known or not other.watch.denied)]

    def pods_of(self, uid: str) -> list[Json]:
        """Return the pods of a job with the fields of `pod_fields.KEPT`."""
        return [kept_pod(kept) for kept in self._pods_of.get(uid, {}).values()]

    def gone_pods(self, uid: str) -> list[Json]:
        """Return the last states of the job's pods that were deleted since the last call; each pod is returned once.

        Between two calls a pod may have changed several times before its deletion.
        """
        return [kept_pod(kept) for kept in self._deleted_of.pop(uid, ())]

    @property
    def knows_own_pods(self) -> bool:
        """True if `own_pods` is complete: the pods and all jobs that the account may see have been read."""
        return self.pods.known and all(watch.known or watch.denied for watch in self.jobs.values())

    def own_pods(self) -> Iterator[Json]:
        """Yield the pods of the jobs that the user of this lab has submitted, in the form that `kept_pod` reads."""
        for job, pods in self._pods_of.items():
            owner = next((self._owner_of.get(uid) for uid in pods), None)
            if owner is not None and owner[0] in self._sinks and self._sinks[owner[0]].is_mine(job):
                yield from pods.values()

    def events_of(self, uid: str, pods: Iterable[str] = ()) -> list[Json]:
        """Return the events of a job, its pods and its queue objects, in no order.

        Parameters
        ----------
        uid
            Uid of the job.
        pods
            Uids of further pods of the job.
        """
        objects = {uid, *self._pods_seen.get(uid, ()), *pods, *self.queueing.about(uid)}
        found = [event for each in objects for event in self._events_of.get(each, {}).values()]
        named, since = self._names.of(uid)
        return [*found, *(event for event in self._events_of.get(named, {}).values() if created_at(event) >= since)]

    def forget(self, uid: str) -> None:
        """Drop the pods of a deleted job."""
        self._pods_of.pop(uid, None)
        self._deleted_of.pop(uid, None)
        for pod in self._pods_seen.pop(uid, ()):
            self._owner_of.pop(pod, None)

    # -- changes ------------------------------------------------------------------------------------------------------

    def _job_changed(self, sink: Sink, before: Json | None, after: Json | None) -> None:
        if after is not None:
            self._claim(sink, after)
            sink.job_changed(self.name, after)
        elif before is not None:
            uid, watch = before["metadata"]["uid"], self.jobs.get(sink.kind.engine)
            self._names.forget(uid)
            sink.job_gone(self.name, uid, seen=watch is None or not watch.relisted)

    def _pod_changed(self, before: Json | None, after: Json | None) -> None:
        self._notify_of_pods()
        if after is not None:
            self._assign(after)
        elif before is not None:
            uid = before["metadata"]["uid"]
            self._keeper.forget(uid)
            self._names.drop(uid)
            owner = self._owner_of.get(uid)
            if owner is not None:
                engine, job = owner
                pods = self._pods_of.get(job, {})
                pods.pop(uid, None)
                self._deleted_of.setdefault(job, []).append(before)
                self._touch(owner)
                if not pods and not (engine in self.jobs and job in self.jobs[engine].objects):
                    self.forget(job)  # The job was deleted before its pods.

    def _claim(self, sink: Sink, manifest: Json) -> None:
        """Assign the pods that a job's status names to the job, and those that name the job."""
        owner = (sink.kind.engine, manifest["metadata"]["uid"])
        if sink.kind.engine in self._naming:
            for uid in self._names.add(sink.kind.engine, manifest):
                if uid in self.pods.objects and uid not in self._owner_of:
                    self._give(owner, self.pods.objects[uid])
        for uid in sink.kind.pod_uids(manifest):
            if self._owner_of.setdefault(uid, owner) == owner and uid in self.pods.objects:
                self._give(owner, self.pods.objects[uid])

    def _assign(self, pod: Json) -> None:
        """Assign a pod to the job that owns it by the pod's own fields, if no status has named the pod before."""
        owner = self._owner_of.get(pod["metadata"]["uid"])
        if owner is None:
            unpacked = kept_pod(pod)
            owners = ((engine, sink.kind.owner_of(unpacked)) for engine, sink in self._sinks.items())
            owner = next(((engine, job) for engine, job in owners if job is not None), None)
            if owner is None:
                owner = next(filter(None, (self._owner_by_name(engine, unpacked) for engine in self._naming)), None)
        if owner is not None:
            self._give(owner, pod)
            self._touch(owner)

    def _owner_by_name(self, engine: str, pod: Json) -> tuple[str, str] | None:
        """Return the job of an engine whose name a pod has; None if it has none, or the job is not known yet."""
        name = self._naming[engine].job_name_of(pod)
        uid = self._names.owner_of(engine, name, pod) if name is not None else None
        return None if uid is None else (engine, uid)

    def _give(self, owner: tuple[str, str], pod: Json) -> None:
        uid, job = pod["metadata"]["uid"], owner[1]
        self._owner_of[uid] = owner
        self._pods_seen.setdefault(job, set()).add(uid)
        self._pods_of.setdefault(job, {})[uid] = pod

    def _event_changed(self, before: Json | None, after: Json | None) -> None:
        event = after or before or {}
        about = {uid_of(event)}  # the object that the event is about, and jobs to which the object may belong
        for engine, kind in self._naming.items():
            if (name := kind.job_named_in(event)) is not None:
                about.add(named_key(engine, name))
        for each in about:
            self._event_of(each, event["metadata"]["uid"], after)

    def _event_of(self, about: str, uid: str, after: Json | None) -> None:
        if after is None:
            events = self._events_of.get(about, {})
            events.pop(uid, None)
            if not events:
                self._events_of.pop(about, None)
            return  # An event that expires changes nothing.
        self._events_of.setdefault(about, {})[uid] = after
        owner = self._owner_of.get(about)
        if owner is not None:
            self._touch(owner)
        else:
            self._touch_job(self._names.job_of(about) or self.queueing.job_of(about) or about)

    def _touch(self, owner: tuple[str, str]) -> None:
        engine, job = owner
        if engine in self._sinks:
            self._sinks[engine].touched(job)

    def _touch_job(self, uid: str) -> None:
        """Notify all sinks of a job whose engine is not known here; those of other engines ignore it."""
        for sink in self._sinks.values():
            sink.touched(uid)

    def _state_changed(self) -> None:
        for sink in self._sinks.values():
            sink.space_changed()
        self._notify()


def jobs_path(kind: JobKind, namespace: str) -> str:
    """Return the API path of the jobs of a kind in a namespace.

    Parameters
    ----------
    kind
        Kind of job, with its API group and version.
    namespace
        The namespace.
    """
    return f"/apis/{kind.group}/{kind.version}/namespaces/{namespace}/{kind.plural}"
