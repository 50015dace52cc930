"""Follows one job as an engine does, and keeps what its kind says at every change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from jupyterlab_t9kjob.core.job import Replica
from jupyterlab_t9kjob.core.manifests import parse
from jupyterlab_t9kjob.engines.kubernetes.client.api import Json, KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from jupyterlab_t9kjob.engines.kubernetes.client.watch.informer import Informer
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind, ReplicaView, State
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import AttemptRecord, observe
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.replicas import replica
from tests.patience import PATIENCE


class Following:
    """One job as its kind sees it.

    Attributes
    ----------
    state
        The last one; None before it is there.
    phases
        All that were seen, without repetitions in a row.
    replicas
        As the API would give them.
    job, places
        What they are made of.
    """

    def __init__(self, kind: JobKind, namespace: str, name: str) -> None:
        self.state: State | None = None
        self.phases: list[str] = []
        self.replicas: list[Replica] = []
        self.places: list[ReplicaView] = []
        self.job: Json = {}
        self.kind, self._namespace, self._name = kind, namespace, name
        self._histories: dict[str, list[AttemptRecord]] = {}
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Following:
        self._api = KubeApi(await asyncio.to_thread(load_connection))
        kind = self.kind
        jobs = f"/apis/{kind.group}/{kind.version}/namespaces/{self._namespace}/{kind.plural}"
        self._jobs = Informer(self._api, jobs, self._note)
        self._pods = Informer(self._api, f"/api/v1/namespaces/{self._namespace}/pods", self._note)
        for collection in (self._pods, self._jobs):
            collection.start()
            await collection.listed()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._pods.stop()
        await self._jobs.stop()
        await self._api.close()

    async def until(self, reached: Callable[[State], bool], seconds: float = PATIENCE) -> State:
        """Wait until the job's state is as wanted; `replicas` are of the same moment."""

        async def wait() -> State:
            while self.state is None or not reached(self.state):
                self._changed.clear()
                await self._changed.wait()
            return self.state

        try:
            return await asyncio.wait_for(wait(), seconds)
        except asyncio.TimeoutError:
            seen = f"{self.state}\n{self.phases}\n{self.replicas}"
            raise AssertionError(f"{self._name} was not as wanted after {seconds} s:\n{seen}") from None

    def _note(self, before: Json | None, now: Json | None) -> None:
        job = next((one for one in self._jobs.objects.values() if one["metadata"]["name"] == self._name), None)
        if job is None:
            return
        self.job = job
        kind, uid = self.kind, job["metadata"]["uid"]
        named = kind.pod_uids(job)
        pods = [pod for each, pod in self._pods.objects.items() if each in named or kind.owner_of(pod) == uid]
        before = self.state.phase if self.state is not None else None
        self.state = state = kind.state(job, pods, before=before)
        self.places = kind.replicas(job, pods)
        spec = parse(job).spec
        self.replicas = []
        for place in self.places:
            history = observe(self._histories.get(place.name, []), place, state, now=time.time())
            self._histories[place.name] = history
            self.replicas.append(replica(place, history, spec, state))
        if self.phases[-1:] != [state.phase]:
            self.phases.append(state.phase)
        self._changed.set()
