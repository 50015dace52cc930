"""An engine in a cluster: the jobs of one kind, whoever made them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio

from ...core.capacity import Capacity, NodeList, QueueList
from ...core.checks import Capability, Preview
from ...core.engine import Edited, Listener, Prepare
from ...core.engine_info import EngineInfo, Volume
from ...core.errors import JobError, Unavailable
from ...core.job import Action, Event, Job, JobSummary, ManifestView, Replica
from ...core.lab import Lab
from ...core.log_sources import LogFile
from ...core.manifests import CURRENT, KINDS, Dialect
from ...core.manifests.names import KUEUE, PAUSED, STOPPED
from ...core.spec import JobSpec
from ...core.system.disk import trouble_of
from .client.api import ApiError, Json, KubeApi, Unreachable
from .cluster import volumes
from .cluster.capacity_service import CapacityService
from .cluster.connection import CONNECTING, Cluster
from .cluster.info import cluster_info
from .cluster.namespace_watch import jobs_path
from .cluster.queues import Queues
from .jobs import actions, api_views
from .jobs.deadline_nudge import DeadlineNudge
from .jobs.job_reading import contents_path
from .jobs.records import Record, Records
from .jobs.snapshot import JobSnapshot
from .jobs.table import JobTable
from .jobs.tracked_job import TrackedJob
from .logs.failure_reader import FailureReader
from .logs.manager import LogKeeper
from .logs.progress_reader import LiveProgress
from .objects.action_notes import mark
from .objects.kinds import JobKind
from .reasons.job import refused
from .submit.creation import Creation
from .submit.pod_security import EnforcedStandards

GLANCE_SECONDS: Final = 0.5
"""How long who opens a job that waits is kept waiting for what is free."""


class KubernetesEngine:
    """The jobs of one kind in a cluster.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster, which other engines share.
    home
        Directory that keeps our records.
    root
        The contents root, to name files as the contents API does; None if files are not on this machine.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, home: Path, root: Path | None) -> None:
        self.name, self.label, self.facts, self.order = kind.engine, kind.label, kind.facts, kind.order
        self._kind = kind
        self._cluster = cluster
        self._records = Records(home / "cluster" / kind.engine)
        self._logs = LogKeeper(cluster, self._records, cluster.settings.follow_replicas, cluster.settings.log_bytes)
        self._table = JobTable(
            kind,
            cluster,
            self._records,
            contents_path(root) if root is not None else lambda _path: None,
            owner=cluster.settings.owner,
            changed=self._seen,
            drop=self._drop,
        )
        self._queues = Queues(kind, cluster)
        self._standards = EnforcedStandards()
        self._creation = Creation(kind, cluster, self._table, self._queues, self._standards, root)
        self._deadlines = DeadlineNudge(kind, cluster, self._table.jobs.values)
        self._failures = FailureReader(cluster, self._logs, self._table.note_failures)
        self._progress = LiveProgress(self._logs, self._table.note_progress)
        self._lab: Lab | None = None
        self._rights: dict[str, dict[str, Capability]] = {}
        self._api: KubeApi | None = None
        self._end: Callable[[], None] = lambda: None
        self._stopped = False

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load our records, and begin to look for the cluster."""
        self._end = self._cluster.listen(self._cluster_changed)
        await self._table.start()
        self._deadlines.start()

    async def stop(self) -> None:
        """Stop watching. Jobs go on."""
        self._end()
        self._stopped = True
        await self._deadlines.stop()
        await self._failures.stop()
        await self._progress.stop()
        await self._logs.stop()
        await self._table.stop()  # the last one, for it may close the connection

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return how to stop that."""
        return self._table.listen(listener)

    async def refresh(self) -> None:
        """Find out anew what the cluster has and what this account may do."""
        await self._cluster.refresh()

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when the cluster comes, goes or changes; return a function that ends the subscription."""
        return self._cluster.listen(changed)

    def attend(self) -> Callable[[], None]:
        """Probe the watches while a page is open; return a function that ends that."""
        return self._cluster.attend()

    def capacity_source(self) -> CapacityService:
        """Return the capacity of the cluster, which all engines of the cluster share."""
        return self._cluster.capacity

    # -- reading ------------------------------------------------------------------------------------------------------

    async def info(self) -> EngineInfo:
        """Say what this engine is and can do, now."""
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
        seen = await self._look_at(uid)
        if seen.job.present and seen.state.phase in ("Pending", "Resuming"):
            with anyio.move_on_after(GLANCE_SECONDS):
                await self._cluster.capacity.glance()  # it may wait for room
            seen = self._table.observer.snapshot(seen.job)
        return api_views.full(self._kind, seen)

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts."""
        return api_views.replicas(await self._look_at(uid), now=time.time())

    async def events(self, uid: str) -> list[Event]:
        """Return the job's events, newest first, repeats folded."""
        return self._table.observer.events(await self._look_at(uid))

    async def manifest(self, uid: str) -> ManifestView:
        """Return the job as submitted and as it is; of one that others made, as it is."""
        seen = await self._look_at(uid)
        record = seen.job.record
        submitted = record.submitted if record is not None else None
        return ManifestView(submitted=submitted or seen.manifest, current=seen.manifest if seen.job.present else None)

    async def log_sources(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now, in a stable order."""
        return await self._logs.files(await self._look_at(uid))

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Fetch a job's logs until the returned function is called; call `grown` when they grow."""
        return await self._logs.look(await self._look_at(uid), grown)

    async def lab(self, namespace: str | None = None) -> Lab | None:
        """Return what jobs inherit from the lab, and what the namespace enforces if one is named."""
        await self._cluster.looked()
        lab, api = self._cluster.lab, self._cluster.api
        if lab is None or api is None or not namespace:
            return lab
        restricted = await self._standards.of(api, namespace) == "restricted"
        return replace(lab, security=lab.security.model_copy(update={"restricted": restricted}))

    async def dialect(self) -> Dialect | None:
        """Return the spelling that the cluster uses of the kind; None for a kind with one spelling."""
        if not self._kind.dialects:
            return None
        await self._cluster.looked()
        found = self._cluster.found(self._kind)
        return found.dialect if found is not None else CURRENT

    async def volumes(self, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can have; raises `NotAllowed` where nobody may list them."""
        api = await self._cluster.api_for(self._kind)
        return await volumes.volumes(api, namespace or self._cluster.default_namespace, self._cluster.lab)

    async def queues(self, namespace: str) -> QueueList:
        """Return the queues that a job of a namespace can be put into; none where the cluster has no such thing."""
        return await self._queues.of(namespace or self._cluster.default_namespace, fresh=True) or QueueList()

    async def capacity(self, namespace: str) -> Capacity:
        """Return what is free now, and the quotas of a namespace; of all that are watched if it is empty."""
        await self._cluster.api_for(self._kind)
        return await self._cluster.capacity.now(namespace)

    async def nodes(self) -> NodeList:
        """Return the nodes with what is free on each."""
        await self._cluster.api_for(self._kind)
        return await self._cluster.capacity.nodes()

    # -- creating -----------------------------------------------------------------------------------------------------

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a spec, or a manifest that was edited, without creating anything."""
        return await self._creation.preview(spec, namespace, edited=edited, dry_run=dry_run)

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that this request has created, also through another server; None if it has not."""
        await self._table.ready()
        job = self._table.by_request(request_id)
        return await self.job(job.uid) if job is not None else None

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
        """Create a job; the same `request_id` again returns the first one.

        Raises
        ------
        FieldError
            If the spec can't run here, or the cluster refuses a field of it.
        Conflict
            If the name is taken.
        NotAllowed
            If the account may not.
        Unavailable
            If the cluster does not answer, or does not have the kind.
        """
        job = await self._creation.create(
            spec, namespace=namespace, request_id=request_id, edited=edited, rerun_of=rerun_of, prepare=prepare
        )
        return await self.job(job.uid)

    # -- acting -------------------------------------------------------------------------------------------------------

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Stop, pause, resume or delete; what is asked for shows as `pending_action`.

        Parameters
        ----------
        remove
            With a delete: drop the record and logs as well when the job is gone.

        Raises
        ------
        Conflict
            If the job's phase does not allow it, or the account may not.
        """
        seen = await self._look_at(uid)
        self._demand_action(seen, action)
        job, api = seen.job, await self._cluster.api_for(self._kind)
        path = f"{jobs_path(self._kind, job.namespace)}/{job.name}"
        try:
            if action == "delete":
                await self._delete(api, path, job, remove=remove)
            else:
                patch = self._patch(job, action)
                if seen.hold is not None and seen.hold.workload is not None:
                    await self._hold(api, seen.hold.workload, job, on=action != "resume")
                    del patch["spec"]  # Kueue suspends and starts it
                self._note_answer(job, await api.patch(path, patch))
        except (ApiError, Unreachable) as error:
            raise self._refusal(error) from error
        # not by its uid: with its record gone it may not be found any more
        return api_views.full(self._kind, self._table.observer.snapshot(job))

    async def remove(self, uid: str) -> None:
        """Drop the record and logs of a deleted job; never the user's files.

        Raises
        ------
        Conflict
            If it is still in the cluster.
        Unavailable
            If the disk does not let it go.
        """
        seen = await self._look_at(uid)
        self._demand_action(seen, "remove")
        try:
            if seen.job.record is not None:
                await self._drop(seen.job.record)
        except OSError as error:
            trouble = trouble_of(error, self._records.path)
            message = f"The record could not be removed: {trouble.sentence}."
            raise Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=str(error)) from error
        self._table.forget(seen.job)

    async def _drop(self, record: Record) -> None:
        self._progress.drop(record.uid)
        await self._failures.drop(record.uid)
        await self._logs.drop(record.uid)
        await self._records.drop(record)

    async def _delete(self, api: KubeApi, path: str, job: TrackedJob, *, remove: bool) -> None:
        record = self._table.records.keep(job)
        before, record.remove = record.remove, record.remove or remove
        await self._table.records.save(job)
        try:
            answer = await api.delete(path, uid=job.uid)
        except ApiError as error:
            if error.status not in (404, 409):
                record.remove = before  # else it would go with a later end of the job
                raise
            answer = {}  # it is gone already; 409: its name is another one's by now
        if answer.get("kind") == self._kind.kind:
            self._note_answer(job, answer)  # something holds it
        else:
            self._table.job_gone(job.namespace, job.uid)

    async def _hold(self, api: KubeApi, workload: Json, job: TrackedJob, *, on: bool) -> None:
        """Take a job out of its queue of Kueue, or put it back; see `kueue`."""
        version, metadata = self._cluster.groups.get(KUEUE, ""), workload["metadata"]
        path = f"/apis/{KUEUE}/{version}/namespaces/{job.namespace}/workloads/{metadata['name']}"
        answer = await api.patch(path, {"metadata": {"uid": metadata["uid"]}, "spec": {"active": not on}})
        if (space := self._cluster.spaces.get(job.namespace)) is not None:
            space.queueing.note(KUEUE, answer)

    def _note_answer(self, job: TrackedJob, manifest: Json) -> None:
        """Take note of a job's object, unless the watch has told of the job's end before this answer was read."""
        if job.present:
            self._table.note_answer(job.namespace, manifest)

    def _patch(self, job: TrackedJob, action: Action) -> Json:
        """Return the merge patch for an action; it is refused if the object is another one by now."""
        patch = self._kind.pause(job.manifest, on=action != "resume")
        metadata = patch.setdefault("metadata", {})
        metadata["uid"] = job.uid
        note = mark(self._cluster.settings.owner, time.time())
        annotations = metadata.setdefault("annotations", {})
        annotations |= {
            STOPPED: note if action == "stop" else None,
            PAUSED: note if action == "pause" else None,
        }
        return patch

    def _demand_action(self, seen: JobSnapshot, action: Action) -> None:
        summary = api_views.summary(self._kind, seen)
        if action not in summary.actions and not (action == "delete" and summary.pending_action == "deleting"):
            raise actions.refusal_of(seen, summary, action)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _look_at(self, uid: str) -> JobSnapshot:
        job = await self._table.get(uid)
        self._table.opened(job)
        return self._table.observer.snapshot(job)

    def _refusal(self, error: ApiError | Unreachable) -> JobError:
        if isinstance(error, ApiError) and error.status == 403:
            self._cluster.refused()
        return refused(error)

    def _seen(self, seen: JobSnapshot) -> None:
        if self._stopped:
            return
        self._logs.update(seen)
        self._failures.update(seen)
        self._progress.update(seen)

    def _cluster_changed(self) -> None:
        """Bring the jobs up to date with what the lab sees of them, and what may be done to them."""
        rights = {name: self._cluster.rights(self._kind, name) for name in self._cluster.spaces}
        if self._cluster.lab != self._lab:
            self._table.publish_all(read_again=True)
        elif rights != self._rights or self._cluster.api is not self._api:
            self._table.publish_all()
        self._lab, self._rights, self._api = self._cluster.lab, rights, self._cluster.api
