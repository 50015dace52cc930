"""The cluster that both engines share: the connection, what there is, what this account may do, and the watches.

Nothing is imported or connected where there are no credentials, and nothing waits for the cluster: it is looked for
in the background, again and again, and everybody is told when something has changed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import anyio

from ....core.checks import Capability, Check
from ....core.errors import Unavailable
from ....core.lab import Lab
from ..client.api import KubeApi
from ..client.credentials import load_connection, nothing_to_load
from ..client.errors import ApiError, NoCluster, Unreachable
from ..client.fair_slots import Slots
from ..lab.configured_volumes import lab_mounts
from ..lab.lab_pod import find_lab
from ..objects.kinds import JobKind
from ..objects.text import answer_of
from .capacity_service import CapacityService
from .discovery import QUEUEING, Found, namespaces_of, sign_of_life
from .kind_availability import Presence
from .namespace_watch import NamespaceWatch, Sink
from .permissions import Rights, allowed
from .settings import Settings
from .staleness import Staleness, Trouble, stale, trouble_of

log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""Between two looks at what the cluster has: a kind may be installed or removed."""
BEAT_SECONDS = 15.0
"""Between two signs of life: a connection may die without anybody knowing."""
LOST_SECONDS = 1.5
"""Between two looks at a cluster that does not answer; one small request each, and all watches go on when it does."""
READY_SECONDS = 5.0
"""How long a request waits for the first look to end."""

OFF = "Clusters are switched off in this JupyterLab's settings (T9kJobApp.kubernetes)."
LOOKING = "The cluster is being looked for."


class Cluster:
    """One cluster, as this account sees it.

    Parameters
    ----------
    settings
        What an administrator may change.

    Attributes
    ----------
    api
        None as long as there are no credentials.
    problem
        Why there is no cluster, or why it does not answer, a sentence; None while all is well.
    problem_since, trouble
        Since when a cluster that was found does not answer (seconds since the epoch), and why.
    version
        The API server's.
    namespaces
        Those that the account can see, the connection's own first.
    lab
        What jobs inherit; None before the first look.
    spaces
        The namespaces that are watched, by name.
    capacity
        What is free; followed while somebody looks.
    log_turns
        Turns to follow the log of a container, which all engines share.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.api: KubeApi | None = None
        self.problem: str | None = LOOKING if settings.enabled else OFF
        self.problem_since: float | None = None
        self.trouble: Trouble | None = None
        self.version: str | None = None
        self.namespaces: list[str] = []
        self.lab: Lab | None = None
        self.spaces: dict[str, NamespaceWatch] = {}
        self.capacity = CapacityService(self)
        self.log_turns = Slots(settings.followed_logs)
        self._presence = Presence()
        self._rights = Rights()
        self._sinks: dict[str, Sink] = {}
        self._listeners: list[Callable[[], None]] = []
        self._wanted: dict[str, None] = dict.fromkeys(settings.namespaces)
        self._lab_due = True
        self._lock = asyncio.Lock()
        self._looked = asyncio.Event()
        self._looked_at = -LOOK_SECONDS
        self._alive_at: float | None = None
        self._hurry = asyncio.Event()
        self._refused = False
        self._users = 0
        self._attended = asyncio.Event()
        self._pages = 0
        self._task: asyncio.Task[None] | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self, sink: Sink, namespaces: Iterable[str] = ()) -> None:
        """Begin to look for the cluster, and to tell `sink` of its jobs; each engine calls it once.

        Parameters
        ----------
        namespaces
            Those in which there are jobs already.
        """
        self._sinks[sink.kind.engine] = sink
        self._wanted.update(dict.fromkeys(namespaces))
        self._users += 1
        if self._task is None and self.settings.enabled:
            self._task = asyncio.create_task(self._run(), name="look at the cluster")

    async def stop(self) -> None:
        """Let go of it; the last engine that stops closes the connection."""
        self._users -= 1
        if self._users > 0 or self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None
        await self.capacity.stop()
        await asyncio.gather(*(space.stop() for space in self.spaces.values()))
        if self.api is not None:
            await self.api.close()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` when what the cluster has, or how well it is seen, has changed."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    def attend(self) -> Callable[[], None]:
        """Probe all watches from now on, for a page is open, see `Probe`; return how to end that."""
        self._pages += 1
        self._attended.set()
        return self._leave

    def _leave(self) -> None:
        self._pages -= 1
        if self._pages == 0:
            self._attended.clear()

    async def looked(self) -> None:
        """Wait until the cluster has been looked at once, but not for long."""
        if self._task is not None:
            with anyio.move_on_after(READY_SECONDS):
                await self._looked.wait()

    async def refresh(self) -> None:
        """Look again at everything, now."""
        if not self.settings.enabled:
            return
        if self.api is not None:
            self.api.wake()
        else:
            self.problem = LOOKING
            self._tell()
        await self._look(thoroughly=True)
        if self._presence.doubtful:
            self._hurry.set()

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def server(self) -> str:
        """The API server's host and port, for people; empty without a connection."""
        return self.api.connection.host if self.api is not None else ""

    @property
    def identity(self) -> str:
        """Which cluster it is, see `Connection.cluster`; empty without a connection."""
        return self.api.connection.cluster if self.api is not None else ""

    @property
    def default_namespace(self) -> str:
        """The connection's own namespace; empty without a connection."""
        return self.api.connection.namespace if self.api is not None else ""

    def found(self, kind: JobKind) -> Found | None:
        """Return what there is to know of a kind; None if the cluster does not have it."""
        return self._presence.kinds.get(kind.engine)

    @property
    def groups(self) -> Mapping[str, str]:
        """Version to speak of each API group of what queues jobs, see `discovery.QUEUEING`; those that there are."""
        return self._presence.groups

    def rights(self, kind: JobKind, namespace: str) -> dict[str, Capability]:
        """Return what this account may do with a kind of job in a namespace, by name."""
        return self._rights.on_jobs(kind, namespace)

    def queue_rights(self, group: str, namespace: str) -> dict[str, Capability]:
        """Return what this account may do with what queues jobs in a namespace, by name."""
        return self._rights.on_queueing(group, namespace)

    def watching(self, kind: JobKind) -> Iterator[NamespaceWatch]:
        """Yield the namespaces of the connected cluster in which jobs of a kind are watched."""
        spaces, cluster = list(self.spaces.values()), self.identity
        return (space for space in spaces if kind.engine in space.jobs and space.cluster == cluster)

    def stale(self, kind: JobKind) -> Staleness | None:
        """Return since when, and why, changes of a kind of job may have been missed; None while all is well."""
        watched = [one for space in self.spaces.values() for one in space.watched(kind)]
        if self.trouble is not None and self.problem_since is not None:
            times = [
                one.watch.stale_since for one in watched if one.watch.stale_since is not None and not one.watch.denied
            ]
            return Staleness(min([self.problem_since, *times]), self.trouble)
        return stale(watched, self.server)

    def why_off(self, kind: JobKind) -> str | None:
        """Return why no job of a kind can be created or seen here, a sentence; None if it can."""
        if self.found(kind) is not None:
            return None
        if self.problem is not None:
            return self.problem
        return f"This cluster has no {kind.kind} ({kind.group}/{kind.version})."

    # -- doing --------------------------------------------------------------------------------------------------------

    async def api_for(self, kind: JobKind) -> KubeApi:
        """Return the API.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        await self.looked()
        if self.api is None:
            hint = "Choose another engine, or see to the kubeconfig and refresh."
            raise Unavailable(self.why_off(kind) or "", hint=hint)
        return self.api

    async def use(self, namespace: str) -> None:
        """Watch one more namespace from now on, and ask what may be done there."""
        self._wanted[namespace] = None
        async with self._lock:
            if self.api is not None and self._presence.kinds and namespace not in self.spaces:
                await self._watch(self.api, namespace)
                await self._ask(self.api, [namespace])

    def refused(self) -> None:
        """Look again at what this account may do, and what the cluster has: it refused what was thought to be right."""
        self._refused = True
        self._hurry.set()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._hurry.clear()
            thoroughly, self._refused = self._refused, False
            well = await self._look(thoroughly=thoroughly)
            self._looked.set()
            calm = self._presence.haste or min(BEAT_SECONDS, LOOK_SECONDS)
            # not `asyncio.wait_for`, which before Python 3.12 may swallow a cancellation
            with anyio.move_on_after(calm if well or self.api is None else LOST_SECONDS):
                await self._hurry.wait()

    async def _look(self, *, thoroughly: bool = False) -> bool:
        """See what there is; return whether the cluster answered. One look at a time."""
        async with self._lock:
            before = self._state()
            try:
                await self._look_at_all(thoroughly=thoroughly)
                self._well()
            except NoCluster as error:
                self.problem, self.problem_since, self.trouble = str(error), None, None
            except (ApiError, Unreachable) as error:
                self._unwell(trouble_of(error, self.server))
            except Exception as error:
                # an answer that no API server gives; the next one may be right again
                log.exception("The cluster's answer was not understood")
                sentence = f"The cluster's answer was not understood: {type(error).__name__}."
                self._unwell(Trouble("ServerError", sentence, "The lab tries again by itself."))
            if self._state() != before:
                self._tell()
            return self.problem is None

    async def _look_at_all(self, *, thoroughly: bool) -> None:
        api = await self._connect(anew=thoroughly and self.problem is not None)
        first = not self.namespaces or thoroughly
        await self._see_if_alive(api)
        due = thoroughly or self.problem is not None or time.monotonic() - self._looked_at >= LOOK_SECONDS
        if not await self._look_for_kinds(api, every=due) and not due:
            return
        self._looked_at = time.monotonic() if not self._presence.doubtful else -LOOK_SECONDS
        if not self._presence.kinds:
            return
        await self._presence.look_for_queueing(api)
        own = api.connection.namespace
        if thoroughly or self._lab_due:
            self.lab = await self._lab(api, own)  # before any job is read: its files are found by it
        for namespace in dict.fromkeys([own, *self._wanted]):
            await self._watch(api, namespace)
        await self._ask(api, list(self.spaces), again=thoroughly)
        if first:
            seen = await namespaces_of(api)
            self.namespaces = list(dict.fromkeys([own, *self._wanted, *seen]))

    async def _connect(self, *, anew: bool) -> KubeApi:
        """Return the connection; `anew` reads the credentials again, which may have changed."""
        if self.api is not None and not anew and not self.api.moved:
            return self.api
        why = await asyncio.to_thread(nothing_to_load, self.settings.context)
        if why is not None:
            raise NoCluster(why)
        connection = await asyncio.to_thread(load_connection, self.settings.context)
        if self.api is not None and connection.cluster == self.identity:
            await self.api.use(connection)
            return self.api
        old, spaces = self.api, self.spaces
        api, self.spaces = KubeApi(connection, self._attended), {}
        self.api, self.namespaces, self._rights = api, [], Rights()
        self._looked_at, self._lab_due = -LOOK_SECONDS, True
        if old is not None:
            await self.capacity.stop()
            await asyncio.gather(*(space.stop() for space in spaces.values()))
            await old.close()
        self.capacity.go_on()
        return api

    async def _see_if_alive(self, api: KubeApi) -> None:
        try:
            self.version = await sign_of_life(api)
        except (ApiError, Unreachable):
            await api.lose()
            raise
        self._alive_at = time.time()
        await api.find()

    async def _look_for_kinds(self, api: KubeApi, *, every: bool) -> bool:
        """See which kinds there are, of `every` one or of those that were not there; return whether one has come."""
        come = False
        for engine, sink in self._sinks.items():
            known = self.found(sink.kind)
            if known is not None and not every:
                continue
            found = await self._presence.look_for_kind(api, sink.kind, self.version)
            if found == known:
                continue
            if found is None:
                for space in self.spaces.values():
                    await space.drop(engine)
            come = come or known is None
            sink.kind_found(found)
        return come

    async def _watch(self, api: KubeApi, namespace: str) -> None:
        space = self.spaces.get(namespace)
        if space is None:
            space = self.spaces[namespace] = NamespaceWatch(api, namespace, self._space_changed, self.capacity.tell)
            space.start()
            self.capacity.go_on()
        for engine in self._presence.kinds:
            if engine not in space.jobs:
                space.add(self._sinks[engine])

    async def _ask(self, api: KubeApi, namespaces: Sequence[str], *, again: bool = False) -> None:
        """Ask what may be done in these namespaces, as far as it is not known; `again` asks for all of it."""
        kinds = [self._sinks[engine].kind for engine in self._presence.kinds]
        for namespace in namespaces:
            await self._rights.ask(api, namespace, kinds, self.groups, again=again)
            await self._follow_queues(self.spaces[namespace])

    async def _follow_queues(self, space: NamespaceWatch) -> None:
        """Watch what queues jobs in a namespace, where there is such a thing and it may be seen."""
        for group in QUEUEING:
            version, rights = self.groups.get(group), self.queue_rights(group, space.name)
            if version is not None and allowed(rights, ("list", "watch")):
                await space.queueing.follow(group, version)
            else:
                await space.queueing.drop(group)

    async def _lab(self, api: KubeApi, own: str) -> Lab:
        """See what this lab is; where the cluster did not tell it is due again at the next look."""
        self._lab_due = False
        try:
            return await find_lab(api, own, lab_mounts(self.settings.volumes, own))
        except ValueError as error:
            message = f"This JupyterLab's settings of its volumes are wrong: {error}."
            hint = "Until that is mended, choose volumes in the form."
        except (ApiError, Unreachable) as error:
            self._lab_due = True
            message = "JupyterLab's own pod could not be looked at, so its volumes and image are not known."
            hint = answer_of(error)
        return Lab(problems=(Check(level="warning", code="LabUnknown", message=message, hint=hint),))

    def _space_changed(self) -> None:
        """Tell of a watch that broke or stands again, and look at the cluster if it, or a kind, seems gone or back."""
        self._tell()
        errors = [watch.error for space in self.spaces.values() for watch in space.jobs.values()]
        unreachable = any(isinstance(error, Unreachable) or (error and error.status >= 500) for error in errors)
        missing = any(isinstance(error, ApiError) and error.status == 404 for error in errors)
        if missing:
            self._looked_at = -LOOK_SECONDS
        if unreachable != (self.problem is not None) or missing:
            self._hurry.set()

    def _well(self) -> None:
        self.problem = self.problem_since = self.trouble = None

    def _unwell(self, trouble: Trouble) -> None:
        self.problem, self.trouble = trouble.sentence, trouble
        if self.problem_since is None:
            self.problem_since = self._alive_at or time.time()

    def _state(self) -> object:
        return (
            self.problem,
            self.version,
            dict(self._presence.kinds),
            dict(self.groups),
            self._rights.known,
            list(self.namespaces),
            self.lab,
        )

    def _tell(self) -> None:
        self.capacity.tell()
        for listener in list(self._listeners):
            listener()
