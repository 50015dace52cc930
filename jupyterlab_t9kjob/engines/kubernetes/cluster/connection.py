"""Connection to the cluster that the Kubernetes engines share: discovery, permissions, namespace watches, health.

`Cluster` connects in the background and retries until it is stopped, so the server's start never waits for a cluster.
Without credentials nothing is imported and no request is sent. Listeners are notified of every change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import anyio

from ....core.checks import Capability
from ....core.errors import Unavailable
from ....core.lab import Lab
from ....core.translation import Text, _
from ..client.api import KubeApi
from ..client.credentials.connection import load_connection
from ..client.errors import ApiError, NoCluster, Unreachable
from ..client.fair_slots import Slots
from ..lab.lab_pod import find_lab_or_problem
from ..objects.kinds import JobKind
from .capacity.service import CapacityService
from .discovery import Found, namespaces_of, sign_of_life
from .kind_availability import Presence, is_watched, why_unusable
from .namespace_watch import NamespaceWatch, Sink
from .permissions import Permissions
from .settings import Settings
from .staleness import Staleness, Trouble, not_understood, stale, trouble_of

log = logging.getLogger(__name__)

DISCOVERY_SECONDS = 60.0
"""Interval between two discoveries of the cluster's kinds: a kind may be installed or removed."""
HEALTH_SECONDS = 15.0
"""Interval between two health checks: a connection may die without an error."""
LOST_SECONDS = 1.5
"""Interval between two health checks while the cluster does not answer. Each is one small request; the watches retry
when one of them succeeds."""
READY_SECONDS = 5.0
"""Time that a request waits for the first discovery."""

OFF: Final = _("Clusters are switched off in this JupyterLab's settings (T9kJobApp.kubernetes).")
CONNECTING: Final = _("Connecting to the cluster.")


class Cluster:
    """One cluster, as this account sees it.

    Parameters
    ----------
    settings
        Settings of the administrator.

    Attributes
    ----------
    api
        Client of the API server; None without credentials.
    problem
        Sentence that says why there is no cluster or why it does not answer; None while the cluster answers.
    problem_since, trouble
        Since when a connected cluster does not answer (seconds since the epoch), and why.
    version
        Version of the API server.
    namespaces
        Namespaces that the account can see, the connection's own first.
    lab
        Settings of this lab that jobs inherit; None before the first discovery.
    spaces
        Watches of the namespaces, by name.
    capacity
        Capacity of the nodes; kept current while at least one client subscribes.
    log_turns
        Limit of the container logs that are followed at the same time, shared by all engines.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.api: KubeApi | None = None
        self.problem: Text | None = CONNECTING if settings.enabled else OFF
        self.problem_since: float | None = None
        self.trouble: Trouble | None = None
        self.version: str | None = None
        self.namespaces: list[str] = []
        self.lab: Lab | None = None
        self.spaces: dict[str, NamespaceWatch] = {}
        self.capacity = CapacityService(self)
        self.log_turns = Slots(settings.followed_logs)
        self.presence = Presence()
        self._permissions = Permissions()
        self._sinks: dict[str, Sink] = {}
        self._listeners: list[Callable[[], None]] = []
        self._requested: dict[str, None] = dict.fromkeys(settings.namespaces)
        self._lab_due = True
        self._lock = asyncio.Lock()
        self._first_update = asyncio.Event()
        self._discovered_at = -DISCOVERY_SECONDS
        self._answered_at: float | None = None
        self._hurry = asyncio.Event()
        self._refused = False
        self._engines = 0
        self._attended = asyncio.Event()
        self._pages = 0
        self._task: asyncio.Task[None] | None = None

    def start(self, sink: Sink, namespaces: Iterable[str] = ()) -> None:
        """Connect in the background and notify an engine of its jobs; each engine calls this once.

        Parameters
        ----------
        sink
            Receiver of the changes.
        namespaces
            Namespaces in which the engine has jobs already.
        """
        self._sinks[sink.kind.engine] = sink
        self._requested.update(dict.fromkeys(namespaces))
        self._engines += 1
        if self._task is None and self.settings.enabled:
            self._task = asyncio.create_task(self._run(), name="keep the cluster's state current")

    async def stop(self) -> None:
        """Stop for one engine; the connection is closed for the last one."""
        self._engines -= 1
        if self._engines > 0 or self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None
        await self.capacity.stop()
        await asyncio.gather(*(space.stop() for space in self.spaces.values()))
        if self.api is not None:
            await self.api.close()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change of the cluster's state or health; return how to end that."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    def attend(self) -> Callable[[], None]:
        """Probe all watches while a page is open, see `client.watch.probe`; return how to end that."""

        def leave() -> None:
            self._pages -= 1
            if self._pages == 0:
                self._attended.clear()

        self._pages += 1
        self._attended.set()
        return leave

    async def discovered(self) -> None:
        """Wait for the end of the first discovery, at most `READY_SECONDS`."""
        if self._task is not None:
            with anyio.move_on_after(READY_SECONDS):
                await self._first_update.wait()

    async def refresh(self) -> None:
        """Discover everything anew, now."""
        if not self.settings.enabled:
            return
        if self.api is not None:
            self.api.wake()
        else:
            self.problem = CONNECTING
            self._notify()
        await self._update(thoroughly=True)
        if self.presence.doubtful:
            self._hurry.set()

    @property
    def server(self) -> str:
        """Host and port of the API server; empty without a connection."""
        return self.api.connection.host if self.api is not None else ""

    @property
    def identity(self) -> str:
        """Identity of the cluster, see `Connection.cluster`; empty without a connection."""
        return self.api.connection.cluster if self.api is not None else ""

    @property
    def default_namespace(self) -> str:
        """The connection's own namespace; empty without a connection."""
        return self.api.connection.namespace if self.api is not None else ""

    def found(self, kind: JobKind) -> Found | None:
        """Return what discovery found about a kind; None if the cluster does not have the kind."""
        return self.presence.kinds.get(kind.engine)

    @property
    def groups(self) -> Mapping[str, str]:
        """API groups of the cluster's queueing systems, see `discovery.QUEUEING`, each with the version to use."""
        return self.presence.groups

    def rights(self, kind: JobKind, namespace: str) -> dict[str, Capability]:
        """Return this account's permissions by name. The parameters are those of `Permissions.on_jobs`."""
        return self._permissions.on_jobs(kind, namespace)

    def queue_rights(self, group: str, namespace: str) -> dict[str, Capability]:
        """Return permissions on a queueing system's objects. The parameters are those of `Permissions.on_queueing`."""
        return self._permissions.on_queueing(group, namespace)

    def watching(self, kind: JobKind) -> Iterator[NamespaceWatch]:
        """Yield the namespaces of the connected cluster in which jobs of a kind are watched."""
        spaces, cluster = list(self.spaces.values()), self.identity
        return (space for space in spaces if kind.engine in space.jobs and space.cluster == cluster)

    def stale(self, kind: JobKind) -> Staleness | None:
        """Return since when, and why, changes of jobs of a kind may have been missed; None if none were missed."""
        watched = [one for space in self.spaces.values() for one in space.watched(kind)]
        if self.trouble is None or self.problem_since is None:
            return stale(watched, self.server)
        times = [one.watch.stale_since for one in watched if not one.watch.denied]
        return Staleness(min([self.problem_since, *(time for time in times if time is not None)]), self.trouble)

    def why_off(self, kind: JobKind) -> Text | None:
        """Return the sentence that says why jobs of a kind can't be created or seen; None if they can."""
        if self.found(kind) is not None:
            return why_unusable(kind, self.version, (self.rights(kind, name) for name in self.spaces))
        if self.problem is not None:
            return self.problem
        return _(
            "This cluster has no {kind} ({group}/{version}).", kind=kind.kind, group=kind.group, version=kind.version
        )

    async def api_for(self, kind: JobKind) -> KubeApi:
        """Return the client of the API server.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        await self.discovered()
        if self.api is None:
            hint = _("Choose another engine, or correct the kubeconfig and refresh.")
            raise Unavailable(self.problem or CONNECTING, hint=hint)
        return self.api

    async def use(self, namespace: str) -> None:
        """Watch one more namespace from now on, and read this account's permissions there."""
        self._requested[namespace] = None
        async with self._lock:
            if self.api is not None and self.presence.kinds and namespace not in self.spaces:
                self._watch(self.api, namespace)
                await self._read_permissions(self.api, [namespace])

    def refused(self) -> None:
        """Discover permissions and kinds anew soon: the API server refused a request that seemed allowed."""
        self._refused = True
        self._hurry.set()

    # -- the background task ------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._hurry.clear()
            thoroughly, self._refused = self._refused, False
            answered = await self._update(thoroughly=thoroughly)
            self._first_update.set()
            usual = self.presence.haste or min(HEALTH_SECONDS, DISCOVERY_SECONDS)
            # Not `asyncio.wait_for`, which may swallow a cancellation before Python 3.12.
            with anyio.move_on_after(usual if answered or self.api is None else LOST_SECONDS):
                await self._hurry.wait()

    async def _update(self, *, thoroughly: bool = False) -> bool:
        """Check the cluster's health and discover what is due; return True if the cluster answered."""
        async with self._lock:
            before = self._state()
            try:
                await self._discover(thoroughly=thoroughly)
                self.problem = self.problem_since = self.trouble = None
            except NoCluster as error:
                self.problem, self.problem_since, self.trouble = error.message, None, None
            except (ApiError, Unreachable) as error:
                self._set_trouble(trouble_of(error, self.server))
            except Exception as error:
                # An API server does not answer so; the next answer may be right again.
                log.exception("The cluster's answer was not understood")
                self._set_trouble(not_understood(error))
            if self._state() != before:
                self._notify()
            return self.problem is None

    async def _discover(self, *, thoroughly: bool) -> None:
        api = await self._connect(reload=thoroughly and self.problem is not None)
        first = not self.namespaces or thoroughly
        await self._check_health(api)
        due = thoroughly or self.problem is not None or time.monotonic() - self._discovered_at >= DISCOVERY_SECONDS
        if not await self._discover_kinds(api, every=due) and not due:
            return
        self._discovered_at = time.monotonic() if not self.presence.doubtful else -DISCOVERY_SECONDS
        if not self.presence.kinds:
            return
        own = api.connection.namespace
        await self.presence.find_groups(api, [own, *self._requested])
        if thoroughly or self._lab_due:
            # Before jobs are read: the lab's volumes tell where their files are.
            self.lab, self._lab_due = await find_lab_or_problem(api, own, self.settings.volumes)
        for namespace in dict.fromkeys([own, *self._requested]):
            self._watch(api, namespace)
        await self._read_permissions(api, list(self.spaces), again=thoroughly)
        if first:
            visible = await namespaces_of(api)
            self.namespaces = list(dict.fromkeys([own, *self._requested, *visible]))

    async def _connect(self, *, reload: bool) -> KubeApi:
        """Return the client; `reload` reads the credentials again, which may have changed."""
        if self.api is not None and not reload and not self.api.moved:
            return self.api
        connection = await asyncio.to_thread(load_connection, self.settings.context)
        if self.api is not None and connection.cluster == self.identity:
            await self.api.use(connection)
            return self.api
        old, spaces = self.api, self.spaces
        api, self.spaces = KubeApi(connection, self._attended), {}
        self.api, self.namespaces, self._permissions = api, [], Permissions()
        self._discovered_at, self._lab_due = -DISCOVERY_SECONDS, True
        if old is not None:
            await self.capacity.stop()
            await asyncio.gather(*(space.stop() for space in spaces.values()))
            await old.close()
        self.capacity.resume()
        return api

    async def _check_health(self, api: KubeApi) -> None:
        try:
            self.version = await sign_of_life(api)
        except (ApiError, Unreachable):
            await api.lose()
            raise
        self._answered_at = time.time()
        await api.find()

    async def _discover_kinds(self, api: KubeApi, *, every: bool) -> bool:
        """Discover kinds of jobs: all, or only those that were missing; return True if a missing kind was found."""
        appeared = False
        for engine, sink in self._sinks.items():
            before = self.found(sink.kind)
            if before is not None and not every:
                continue
            found = await self.presence.find_kind(api, sink.kind, self.version)
            if found == before:
                continue
            if found is None:
                for space in self.spaces.values():
                    await space.drop(engine)
            appeared = appeared or before is None
            sink.kind_found(found)
        return appeared

    def _watch(self, api: KubeApi, namespace: str) -> None:
        space = self.spaces.get(namespace)
        if space is None:
            space = NamespaceWatch(api, namespace, self._watch_state_changed, self.capacity.notify)
            self.spaces[namespace] = space
            space.start()
            self.capacity.resume()
        for engine in self.presence.kinds:
            sink = self._sinks[engine]
            if engine not in space.jobs and is_watched(sink.kind, self.rights(sink.kind, namespace)):
                space.add(sink)

    async def _read_permissions(self, api: KubeApi, namespaces: Sequence[str], *, again: bool = False) -> None:
        """Read the permissions in these namespaces that are not known yet, or all of them `again`."""
        kinds = [self._sinks[engine].kind for engine in self.presence.kinds]
        for namespace in namespaces:
            await self._permissions.read(api, namespace, kinds, self.groups, again=again, few=self.settings.once)
            self._watch(api, namespace)
            await self.spaces[namespace].follow_queues(self.groups, partial(self.queue_rights, namespace=namespace))

    def _watch_state_changed(self) -> None:
        """Notify of a watch that broke or recovered; check the cluster now if it, or a kind, seems gone or back."""
        self._notify()
        errors = [watch.error for space in self.spaces.values() for watch in space.jobs.values()]
        unreachable = any(isinstance(error, Unreachable) or (error and error.status >= 500) for error in errors)
        missing = any(isinstance(error, ApiError) and error.status == 404 for error in errors)
        if missing:
            self._discovered_at = -DISCOVERY_SECONDS
        if unreachable != (self.problem is not None) or missing:
            self._hurry.set()

    def _set_trouble(self, trouble: Trouble) -> None:
        self.problem, self.trouble = trouble.sentence, trouble
        if self.problem_since is None:
            self.problem_since = self._answered_at or time.time()

    def _state(self) -> object:
        presence = dict(self.presence.kinds), dict(self.groups), list(self.presence.images)
        return self.problem, self.version, *presence, self._permissions.version, list(self.namespaces), self.lab

    def _notify(self) -> None:
        self.capacity.notify()
        for listener in list(self._listeners):
            listener()
