"""What happens in one namespace: its jobs, pods and events, by one watch each, sorted by job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from ..client.api import Json, KubeApi
from ..client.informer import Informer
from ..objects.events import uid_of
from ..objects.kinds import JobKind
from .discovery import Found
from .pod_fields import PodKeeper, kept_pod
from .queue_objects import Queueing
from .staleness import Watched


class Sink(Protocol):
    """Who is told what happens to the jobs of one kind."""

    kind: JobKind

    def job_changed(self, namespace: str, manifest: Json) -> None:
        """Take note of a job that is new or has changed."""

    def job_gone(self, namespace: str, uid: str) -> None:
        """Take note that a job's object is not there any more."""

    def is_mine(self, uid: str) -> bool:
        """Whether whoever uses this lab has submitted a job."""

    def touched(self, uid: str) -> None:
        """Take note that something has happened to a job's pods, or an event to the job."""

    def space_changed(self) -> None:
        """Take note that a watch has become stale, or is right again."""

    def kind_found(self, found: Found | None) -> None:
        """Take note of what the cluster has of this kind; None where it has none any more."""


class NamespaceWatch:
    """One namespace, as far as jobs are concerned.

    Parameters
    ----------
    api
        The cluster.
    name
        The namespace.
    state_changed
        Called when a watch has become stale, or is right again.
    pods_changed
        Called when any pod has changed.

    Attributes
    ----------
    cluster
        Which one it is in, see `Connection.cluster`.
    pods, events
        All of the namespace; a watch that the account may not have keeps trying, and stays empty.
    jobs
        By engine.
    queueing
        What queues the jobs says of them.
    """

    def __init__(
        self, api: KubeApi, name: str, state_changed: Callable[[], None], pods_changed: Callable[[], None]
    ) -> None:
        self.name = name
        self.cluster = api.connection.cluster
        self._told = state_changed
        self._pods_changed = pods_changed
        self.jobs: dict[str, Informer] = {}
        self._api = api
        self._sinks: dict[str, Sink] = {}
        self._pods_of: dict[str, dict[str, Json]] = {}
        self._gone_of: dict[str, list[Json]] = {}
        self._owner_of: dict[str, tuple[str, str]] = {}
        self._pods_seen: dict[str, set[str]] = {}
        self._events_of: dict[str, dict[str, Json]] = {}
        core = f"/api/v1/namespaces/{name}"
        told = self._state_changed
        self._keeper = PodKeeper()
        keep = self._keeper.keep
        self.pods = Informer(api, f"{core}/pods", self._pod_changed, keep=keep, from_cache=True, state_changed=told)
        self.queueing = Queueing(api, name, self._touch_job, told)
        self.events = Informer(api, f"{core}/events", self._event_changed, from_cache=True, state_changed=told)

    def start(self) -> None:
        """Begin to watch pods and events."""
        self.pods.start()
        self.events.start()

    async def stop(self) -> None:
        """Stop all watches."""
        watches = (self.pods, self.events, *self.jobs.values())
        await asyncio.gather(self.queueing.stop(), *(watch.stop() for watch in watches))

    def add(self, sink: Sink) -> None:
        """Begin to watch the jobs of one more kind."""
        kind = sink.kind
        self._sinks[kind.engine] = sink
        for pod in self.pods.objects.values():
            self._assign(pod)
        watch = Informer(
            self._api,
            jobs_path(kind, self.name),
            partial(self._job_changed, sink),
            identities=True,
            state_changed=self._state_changed,
        )
        self.jobs[kind.engine] = watch
        watch.start()

    async def drop(self, engine: str) -> None:
        """Stop watching the jobs of a kind."""
        watch = self.jobs.pop(engine, None)
        self._sinks.pop(engine, None)
        if watch is not None:
            await watch.stop()

    def watched(self, kind: JobKind) -> list[Watched]:
        """Return the watches by which jobs of a kind are seen, but for pods and events that were never allowed."""
        where = f"in namespace {self.name}"
        jobs = self.jobs.get(kind.engine)
        own = [Watched(jobs, f"{kind.kind}s {where}", f"{kind.plural}.{kind.group}")] if jobs is not None else []
        others = [Watched(self.pods, f"pods {where}", "pods"), Watched(self.events, f"events {where}", "events")]
        return [*own, *(other for other in others if other.watch.known or not other.watch.denied)]

    def pods_of(self, uid: str) -> list[Json]:
        """Return the pods of a job, with the fields that are kept."""
        return [kept_pod(kept) for kept in self._pods_of.get(uid, {}).values()]

    def gone_pods(self, uid: str) -> list[Json]:
        """Return the pods of a job that have gone since the last call, as they were at last: each pod is given once.

        Several changes of a pod can come between two looks at its job, also its whole end.
        """
        return [kept_pod(kept) for kept in self._gone_of.pop(uid, ())]

    @property
    def knows_own_pods(self) -> bool:
        """Whether `own_pods` are all that there are: the pods have been read, and so have all jobs that may be seen."""
        return self.pods.known and all(watch.known or watch.denied for watch in self.jobs.values())

    def own_pods(self) -> Iterator[Json]:
        """Yield the pods of the jobs that whoever uses this lab has submitted, as they are kept, see `kept_pod`."""
        for job, pods in self._pods_of.items():
            owner = next((self._owner_of.get(uid) for uid in pods), None)
            if owner is not None and owner[0] in self._sinks and self._sinks[owner[0]].is_mine(job):
                yield from pods.values()

    def events_of(self, uid: str, pods: Iterable[str] = ()) -> list[Json]:
        """Return the events of a job and all its pods, in no order; `pods` are uids of more of them."""
        about = {uid, *self._pods_seen.get(uid, ()), *pods, *self.queueing.about(uid)}
        return [event for each in about for event in self._events_of.get(each, {}).values()]

    def forget(self, uid: str) -> None:
        """Drop what is known of a job that is gone."""
        self._pods_of.pop(uid, None)
        self._gone_of.pop(uid, None)
        for pod in self._pods_seen.pop(uid, ()):
            self._owner_of.pop(pod, None)

    # -- changes ------------------------------------------------------------------------------------------------------

    def _job_changed(self, sink: Sink, before: Json | None, after: Json | None) -> None:
        if after is not None:
            self._claim(sink, after)
            sink.job_changed(self.name, after)
        elif before is not None:
            sink.job_gone(self.name, before["metadata"]["uid"])

    def _pod_changed(self, before: Json | None, after: Json | None) -> None:
        self._pods_changed()
        if after is not None:
            self._assign(after)
        elif before is not None:
            uid = before["metadata"]["uid"]
            self._keeper.forget(uid)
            owner = self._owner_of.get(uid)
            if owner is not None:
                engine, job = owner
                pods = self._pods_of.get(job, {})
                pods.pop(uid, None)
                self._gone_of.setdefault(job, []).append(before)
                self._touch(owner)
                if not pods and not (engine in self.jobs and job in self.jobs[engine].objects):
                    self.forget(job)  # pods outlive their job for a while

    def _claim(self, sink: Sink, manifest: Json) -> None:
        """Take note of the pods that a job's status names."""
        owner = (sink.kind.engine, manifest["metadata"]["uid"])
        for uid in sink.kind.pod_uids(manifest):
            if self._owner_of.setdefault(uid, owner) == owner and uid in self.pods.objects:
                self._give(owner, self.pods.objects[uid])

    def _assign(self, pod: Json) -> None:
        owner = self._owner_of.get(pod["metadata"]["uid"])
        if owner is None:
            whole = kept_pod(pod)
            owners = ((engine, sink.kind.owner_of(whole)) for engine, sink in self._sinks.items())
            owner = next(((engine, job) for engine, job in owners if job is not None), None)
        if owner is not None:
            self._give(owner, pod)
            self._touch(owner)

    def _give(self, owner: tuple[str, str], pod: Json) -> None:
        uid, job = pod["metadata"]["uid"], owner[1]
        self._owner_of[uid] = owner
        self._pods_seen.setdefault(job, set()).add(uid)
        self._pods_of.setdefault(job, {})[uid] = pod

    def _event_changed(self, before: Json | None, after: Json | None) -> None:
        event = after or before or {}
        about = uid_of(event)
        uid = event["metadata"]["uid"]
        if after is None:
            events = self._events_of.get(about, {})
            events.pop(uid, None)
            if not events:
                self._events_of.pop(about, None)
            return  # it has expired; nothing has happened
        self._events_of.setdefault(about, {})[uid] = after
        owner = self._owner_of.get(about)
        if owner is not None:
            self._touch(owner)
        else:
            self._touch_job(self.queueing.job_of(about) or about)

    def _touch(self, owner: tuple[str, str]) -> None:
        engine, job = owner
        if engine in self._sinks:
            self._sinks[engine].touched(job)

    def _touch_job(self, uid: str) -> None:
        """Tell of a job whose engine is not known here: it is nothing to the others."""
        for sink in self._sinks.values():
            sink.touched(uid)

    def _state_changed(self) -> None:
        for sink in self._sinks.values():
            sink.space_changed()
        self._told()


def jobs_path(kind: JobKind, namespace: str) -> str:
    """Return the path of the jobs of a kind in a namespace."""
    return f"/apis/{kind.group}/{kind.version}/namespaces/{namespace}/{kind.plural}"
