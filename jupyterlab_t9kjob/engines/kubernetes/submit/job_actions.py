"""Requests that stop, pause, resume or delete a job in a cluster."""

from __future__ import annotations

import time

from ....core.errors import JobError
from ....core.job import Action
from ....core.manifests.names import KUEUE, PAUSED, STOPPED, SWEEP_VERDICT
from ....core.sweep import Verdict
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import text
from ..cluster.connection import Cluster
from ..cluster.namespace_watch import jobs_path
from ..jobs import actions, api_views
from ..jobs.snapshot import JobSnapshot
from ..jobs.table import JobTable
from ..jobs.tracked_job import TrackedJob
from ..objects.action_notes import mark
from ..objects.kinds import JobKind
from ..reasons.job import refused
from .companions import create_companions


class JobActions:
    """Carries out actions on the jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs.
    table
        The table of the jobs.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, table: JobTable) -> None:
        self._kind = kind
        self._cluster = cluster
        self._table = table

    def check(self, snapshot: JobSnapshot, action: Action) -> None:
        """Check that an action is possible now.

        Parameters
        ----------
        snapshot
            The job's state.
        action
            The action.

        Raises
        ------
        Conflict
            If the job's state does not allow the action.
        NotAllowed
            If the account lacks a permission.
        """
        summary = api_views.summary(self._kind, snapshot)
        if action not in summary.actions and not (action == "delete" and summary.pending_action == "deleting"):
            raise actions.refusal_of(snapshot, summary, action)

    async def act(
        self, snapshot: JobSnapshot, action: Action, *, remove: bool = False, verdict: Verdict | None = None
    ) -> None:
        """Request an action.

        Parameters
        ----------
        snapshot
            The job's state; `check` has allowed the action.
        action
            The action.
        remove
            True to remove the record and logs of a deleted job when its object is gone.
        verdict
            Why the sweep stops the job; None if a user does.

        Raises
        ------
        JobError
            If the cluster refuses the request or does not answer.
        """
        job, api = snapshot.job, await self._cluster.api_for(self._kind)
        path = f"{jobs_path(self._kind, job.namespace)}/{job.name}"
        try:
            if action == "delete":
                await self._delete(api, path, job, remove=remove)
            else:
                if action == "resume":
                    await create_companions(api, self._kind, snapshot.manifest)
                patch = self._patch(job, action, verdict)
                if snapshot.hold is not None and snapshot.hold.workload is not None:
                    await self._set_active(api, snapshot.hold.workload, job, active=action == "resume")
                    del patch["spec"]  # Kueue itself suspends and starts the job.
                self._note_answer(job, await api.patch(path, patch))
        except (ApiError, Unreachable) as error:
            raise self._refusal(error) from error

    async def lease(self, snapshot: JobSnapshot, name: str, holder: str, seconds: float) -> bool:
        """Take or renew a lease, an annotation of a job; return False if another lab has it.

        The cluster refuses the annotation if another lab has changed the job in the meantime.

        Parameters
        ----------
        snapshot
            The job.
        name
            Name of the annotation.
        holder
            Id of this lab.
        seconds
            Duration of the lease. The labs' clocks must agree within a fraction of it.
        """
        job, now = snapshot.job, time.time()
        try:
            api = await self._cluster.api_for(self._kind)
            path = f"{jobs_path(self._kind, job.namespace)}/{job.name}"
            manifest = await api.get(path)
            found, until = _lease(text(manifest, "metadata", "annotations", name))
            if found == holder and until - now > seconds / 2:
                return True
            if found not in (None, holder) and until > now:
                return False
            version = text(manifest, "metadata", "resourceVersion")
            annotations = {name: f"{now + seconds:.0f} {holder}"}
            metadata = {"uid": job.uid, "resourceVersion": version, "annotations": annotations}
            self._note_answer(job, await api.patch(path, {"metadata": metadata}))
        except (ApiError, Unreachable):  # 409: another lab was faster. Otherwise the next attempt may succeed.
            return False
        return True

    async def annotate(self, snapshot: JobSnapshot, name: str, value: str) -> None:
        """Set an annotation of a job.

        Parameters
        ----------
        snapshot
            The job.
        name, value
            The annotation.

        Raises
        ------
        JobError
            If the cluster refuses the request or does not answer.
        """
        job, api = snapshot.job, await self._cluster.api_for(self._kind)
        try:
            path = f"{jobs_path(self._kind, job.namespace)}/{job.name}"
            patch = {"metadata": {"uid": job.uid, "annotations": {name: value}}}
            self._note_answer(job, await api.patch(path, patch))
        except (ApiError, Unreachable) as error:
            raise self._refusal(error) from error

    async def _delete(self, api: KubeApi, path: str, job: TrackedJob, *, remove: bool) -> None:
        record = self._table.records.keep(job)
        before, record.remove = record.remove, remove
        await self._table.records.save(job)
        try:
            answer = await api.delete(path, uid=job.uid)
        except (ApiError, Unreachable) as error:
            if isinstance(error, Unreachable) or error.status not in (404, 409):
                record.remove = before  # Otherwise the record would be removed when the job is deleted later.
                if job.uid in self._table.jobs:  # The watch may have reported the job's end meanwhile.
                    await self._table.records.save(job)
                raise
            answer = {}  # 404: the job is gone already. 409: another job has its name now.
        if answer.get("kind") == self._kind.kind:
            self._note_answer(job, answer)  # Finalizers keep the object for a while.
        else:
            self._table.job_gone(job.namespace, job.uid)

    async def _set_active(self, api: KubeApi, workload: Json, job: TrackedJob, *, active: bool) -> None:
        """Let Kueue take a job out of its queue, or put it back; see `kueue`."""
        version, metadata = self._cluster.groups.get(KUEUE, ""), workload["metadata"]
        path = f"/apis/{KUEUE}/{version}/namespaces/{job.namespace}/workloads/{metadata['name']}"
        answer = await api.patch(path, {"metadata": {"uid": metadata["uid"]}, "spec": {"active": active}})
        if (space := self._cluster.spaces.get(job.namespace)) is not None:
            space.queueing.note(KUEUE, answer)

    def _note_answer(self, job: TrackedJob, manifest: Json) -> None:
        """Update a job from an answer, unless the watch has reported the job's end before the answer was read."""
        if job.present:
            self._table.note_answer(job.namespace, manifest)

    def _patch(self, job: TrackedJob, action: Action, verdict: Verdict | None) -> Json:
        """Return the merge patch for an action; its uid makes the cluster refuse it for another job of the name."""
        patch = self._kind.pause(job.manifest, on=action != "resume")
        metadata = patch.setdefault("metadata", {})
        metadata["uid"] = job.uid
        note = mark(self._cluster.settings.owner, time.time())
        annotations = metadata.setdefault("annotations", {})
        annotations |= {
            STOPPED: note if action == "stop" else None,
            PAUSED: note if action == "pause" else None,
        }
        if action == "stop":
            annotations[SWEEP_VERDICT] = None if verdict is None else verdict.model_dump_json()
        return patch

    def _refusal(self, error: ApiError | Unreachable) -> JobError:
        if isinstance(error, ApiError) and error.status == 403:
            self._cluster.refused()
        return refused(error)


def _lease(annotation: str | None) -> tuple[str | None, float]:
    """Return the holder of a lease and its end, in seconds since the epoch; None without a lease."""
    end, _space, holder = (annotation or "").partition(" ")
    return (holder, float(end)) if holder and end.isascii() and end.isdecimal() else (None, 0.0)
