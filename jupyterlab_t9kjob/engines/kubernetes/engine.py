"""`KubernetesEngine`: all jobs of one kind in the watched namespaces, including those that other programs created."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio

from ...core.capacity import QueueList
from ...core.engine.info import EngineInfo, Volume
from ...core.errors import Unavailable
from ...core.job import Action, Event, Job, JobSummary, ManifestView, Replica
from ...core.manifests import KINDS
from ...core.system.disk import trouble_of
from ...core.translation import _
from .client.api import KubeApi
from .cluster.connection import CONNECTING, Cluster
from .cluster.engine_part import ReadsCluster
from .cluster.info import cluster_info
from .cluster.queues import Queues
from .commands.engine_part import RunsCommands
from .jobs import api_views
from .jobs.deadline_nudge import DeadlineNudge
from .jobs.job_reading import contents_path
from .jobs.records import Record, Records
from .jobs.table import JobTable
from .resources.engine_part import ReadsSamples
from .submit.engine_part import ActsForServer

if TYPE_CHECKING:
    from ...core.checks import Capability, Preview
    from ...core.engine.protocol import Edited, Listener, Prepare
    from ...core.lab import Lab
    from ...core.log_sources import LogFile
    from ...core.manifests.schema import KindSchema
    from ...core.spec import JobSpec
    from .cluster.capacity.service import CapacityService
    from .cluster.manifest_schema import ManifestSchemas
    from .job_followers import JobFollowers
    from .jobs.snapshot import JobSnapshot
    from .objects.kinds import JobKind
    from .resources.sampler import ClusterSampler
    from .submit.creation import Creation
    from .submit.pod_security import EnforcedStandards

GLANCE_SECONDS: Final = 0.5  # Longest wait for the capacity when a pending job is opened: its reason may name GPUs.


class KubernetesEngine(ReadsSamples, RunsCommands, ReadsCluster, ActsForServer):
    """Engine for one kind of job in a cluster; see `core.engine.protocol.Engine` for the contract.

    Parameters
    ----------
    kind
        The kind of job.
    cluster
        The connection to the cluster, which all engines of the cluster share.
    home
        Home directory of the extension, which contains the records.
    root
        The contents root; None if files are not on this machine.
    once
        See `EngineContext.once`.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, home: Path, root: Path | None, *, once: bool = False) -> None:
        self.name, self.label, self.facts, self.order = kind.engine, kind.label, kind.facts, kind.order
        self._kind = kind
        self._cluster = cluster
        self._records = Records(home / "cluster" / kind.engine)
        self._table = JobTable(
            kind,
            cluster,
            self._records,
            contents_path(root) if root is not None else lambda _path: None,
            owner=cluster.settings.owner,
            changed=self._job_changed,
            drop=self._drop,
            once=once,
        )
        self._root = root
        self._queues = Queues(kind, cluster)
        self._deadlines = DeadlineNudge(kind, cluster, self._table.jobs.values)
        self._lab: Lab | None = None
        self._permissions: dict[str, dict[str, Capability]] = {}
        self._api: KubeApi | None = None
        self._end: Callable[[], None] = lambda: None
        self._stopped = False

    # -- parts that a command which lists jobs does not import ---------------------------------------------------------

    @cached_property
    def _followers(self) -> JobFollowers:
        from .job_followers import JobFollowers

        return JobFollowers(self._cluster, self._records, self._table.note_failures, self._table.note_progress)

    @property
    def _resources(self) -> ClusterSampler:
        return self._followers.resources

    @cached_property
    def _standards(self) -> EnforcedStandards:
        from .submit.pod_security import EnforcedStandards

        return EnforcedStandards()

    @cached_property
    def _schemas(self) -> ManifestSchemas:
        from .cluster.manifest_schema import ManifestSchemas

        return ManifestSchemas(self._kind, self._cluster)

    @cached_property
    def _creation(self) -> Creation:
        from .submit.creation import Creation

        return Creation(self._kind, self._cluster, self._table, self._queues, self._standards, self._root)

    # -- start and stop -----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load the records and begin to connect to the cluster."""
        self._end = self._cluster.listen(self._cluster_changed)
        await self._table.start()
        self._deadlines.start()

    async def stop(self) -> None:
        """Stop watching. Jobs go on."""
        self._end()
        self._stopped = True
        await self._deadlines.stop()
        if "_followers" in self.__dict__:
            await self._followers.stop()
        await self._table.stop()  # last, because the table may close the connection

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at each change of a job; return a function that ends the subscription."""
        return self._table.listen(listener)

    async def ready(self) -> None:
        """Wait until the jobs have been listed once, see `core.engine.options.ListsLater`."""
        await self._table.ready()

    async def read(self) -> None:
        """Wait until the specifications of all jobs have been read, see `core.engine.options.ReadsLater`."""
        await self._table.read()

    async def refresh(self) -> None:
        """Read the cluster's resources and the account's permissions again."""
        await self._cluster.refresh()

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when the connection or the cluster changes; return a function that ends the subscription."""
        return self._cluster.listen(changed)

    def attend(self) -> Callable[[], None]:
        """Probe the watches while a page is open; return a function that ends the probes."""
        return self._cluster.attend()

    def capacity_source(self) -> CapacityService:
        """Return the capacity of the cluster, which all engines of the cluster share."""
        return self._cluster.capacity

    # -- reading ------------------------------------------------------------------------------------------------------

    async def info(self) -> EngineInfo:
        """Return the engine's present state."""
        cluster, found = self._cluster, self._cluster.found(self._kind)
        reason = self._cluster.why_off(self._kind)
        return EngineInfo(
            name=self.name,
            label=self.label,
            facts=self.facts,
            available=reason is None,
            reason=reason,
            looking=reason == CONNECTING,
            namespaces=cluster.namespaces or [cluster.default_namespace],
            default_namespace=cluster.default_namespace,
            capabilities={**KINDS[self._kind.manifests].capabilities, "pause": self._table.observer.pausable()},
            cluster=cluster_info(cluster, self._kind, found) if cluster.api is not None else None,
        )

    async def jobs(self) -> list[JobSummary]:
        """Return all jobs, newest first."""
        return self._table.summaries()

    async def job(self, uid: str) -> Job:
        """Return one job in full."""
        snapshot = await self._open(uid)
        if snapshot.job.present and snapshot.state.phase in ("Pending", "Resuming"):
            with anyio.move_on_after(GLANCE_SECONDS):
                await self._cluster.capacity.glance()
            snapshot = self._table.observer.snapshot(snapshot.job)
        return api_views.full(self._kind, snapshot)

    def history_folders(self) -> dict[str, Path]:
        """Return the folders of the jobs that have a record, see `core.engine.options.KeepsHistory`."""
        jobs = list(self._table.jobs.items())
        return self._records.folders((job.namespace, uid) for uid, job in jobs if job.record is not None)

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts."""
        return api_views.replicas(await self._open(uid), now=time.time())

    async def events(self, uid: str) -> list[Event]:
        """Return the job's events, newest first; repeated events are one entry with a count."""
        return self._table.observer.events(await self._open(uid))

    async def manifest(self, uid: str) -> ManifestView:
        """Return the manifest as submitted and as it is now. For another user's job, both are the current one."""
        snapshot = await self._open(uid)
        submitted = snapshot.job.record.submitted if snapshot.job.record is not None else None
        current = snapshot.manifest if snapshot.job.present else None
        return ManifestView(submitted=submitted or snapshot.manifest, current=current)

    async def log_sources(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now, in a stable order."""
        return await self._followers.logs.files(await self._open(uid))

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called; call `grown` when they grow.

        Parameters
        ----------
        uid
            Uid of the job.
        grown
            Called when the server has written more of the logs.
        """
        return await self._followers.logs.subscribe(await self._open(uid), grown)

    async def last_output(self, uid: str) -> float | None:
        """Return the time of the last line of a job whose logs are followed, else None."""
        return await self._followers.logs.last_output(await self._open(uid))

    async def lab(self, namespace: str | None = None) -> Lab | None:
        """Return the lab's defaults for jobs, with the Pod Security Standard of a namespace if one is given."""
        await self._cluster.discovered()
        lab, api = self._cluster.lab, self._cluster.api
        if lab is None or api is None or not namespace:
            return lab
        restricted = await self._standards.of(api, namespace) == "restricted"
        return replace(lab, security=lab.security.model_copy(update={"restricted": restricted}))

    async def dialect(self) -> Any:
        """Return the cluster's dialect of the kind; None for a kind with one dialect."""
        if not self._kind.dialects:
            return None
        await self._cluster.discovered()
        found = self._cluster.found(self._kind)
        return found.dialect if found is not None else KINDS[self._kind.manifests].usual

    async def manifest_schema(self) -> KindSchema:
        """Return the schema of the kind's manifests in the cluster."""
        return await self._schemas.schema()

    async def volumes(self, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can mount.

        Raises
        ------
        NotAllowed
            If the account has no permission to list PVCs.
        """
        api = await self._cluster.api_for(self._kind)
        from .cluster import volumes

        return await volumes.volumes(api, namespace or self._cluster.default_namespace, self._cluster.lab)

    async def queues(self, namespace: str) -> QueueList:
        """Return the queues that a job in a namespace can be put into; none if the cluster has no queues."""
        return await self._queues.of(namespace or self._cluster.default_namespace, fresh=True) or QueueList()

    # -- creating -----------------------------------------------------------------------------------------------------

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a job without creating it. The parameters are those of `Creation.preview`."""
        return await self._creation.preview(spec, namespace, edited=edited, dry_run=dry_run)

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that a request created, through this server or another one; None if there is none."""
        await self._table.ready()
        job = self._table.by_request(request_id)
        if job is None:
            return None
        await self._creation.complete(job)
        return await self.job(job.uid)

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> Job:
        """Create a job; a repeated `request_id` returns the first job. The parameters are those of `Creation.create`.

        Raises
        ------
        FieldError
            If the spec can't run on this engine, or the cluster refuses a field.
        Conflict
            If the name is taken.
        NotAllowed
            If the account lacks a permission.
        Unavailable
            If the cluster does not answer, or does not have the kind.
        """
        job = await self._creation.create(
            spec, namespace=namespace, request_id=request_id, edited=edited, rerun_of=rerun_of, prepare=prepare
        )
        return await self.job(job.uid)

    # -- acting -------------------------------------------------------------------------------------------------------

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Request to stop, pause, resume or delete a job; return it with the `pending_action`.

        Parameters
        ----------
        uid
            Uid of the job.
        action
            The action.
        remove
            True to remove the record and logs of a deleted job when its object is gone.

        Raises
        ------
        Conflict
            If the job's state does not allow the action.
        NotAllowed
            If the account lacks a permission.
        Unavailable
            If the cluster does not answer.
        """
        snapshot = await self._open(uid)
        self._actions.check(snapshot, action)
        await self._actions.act(snapshot, action, remove=remove)
        # A deleted job without a record is no longer in the table, so its snapshot is used instead of its uid.
        return api_views.full(self._kind, self._table.observer.snapshot(snapshot.job))

    async def remove(self, uid: str) -> None:
        """Remove the record and logs of a deleted job, and none of the user's files.

        Raises
        ------
        Conflict
            If the job is still in the cluster.
        Unavailable
            If the files can't be removed.
        """
        snapshot = await self._open(uid)
        self._actions.check(snapshot, "remove")
        try:
            if snapshot.job.record is not None:
                await self._drop(snapshot.job.record)
        except OSError as error:
            trouble = trouble_of(error, self._records.path)
            message = _("The record could not be removed: {trouble}.", trouble=trouble.sentence)
            raise Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=str(error)) from error
        self._table.forget(snapshot.job)

    async def _drop(self, record: Record) -> None:
        await self._followers.drop(record)

    # -- internals -----------------------------------------------------------------------------------------------------

    async def _open(self, uid: str) -> JobSnapshot:
        """Return the state of a job that a user opens. From now on a record of the job is kept."""
        job = await self._table.get(uid)
        self._table.opened(job)
        return self._table.observer.snapshot(job)

    def _job_changed(self, snapshot: JobSnapshot) -> None:
        if not self._stopped:
            self._followers.update(snapshot)

    def _cluster_changed(self) -> None:
        """Notify listeners about jobs whose paths in the lab, permissions or connection have changed."""
        permissions = {name: self._cluster.rights(self._kind, name) for name in self._cluster.spaces}
        if self._cluster.lab != self._lab:
            self._table.publish_all(read_again=True)
        elif permissions != self._permissions or self._cluster.api is not self._api:
            self._table.publish_all()
        self._lab, self._permissions, self._api = self._cluster.lab, permissions, self._cluster.api
