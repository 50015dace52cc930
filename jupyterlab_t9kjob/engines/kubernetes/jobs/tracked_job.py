"""A job that this server knows: its object, facts that were read from it, its attempts, and its record."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from ....core.evictions.model import CONTINUED, CONTINUES
from ....core.job import ACTIVE_PHASES, ENDED_PHASES, Failure, JobSummary, Phase, Progress
from ....core.manifests.names import DISPLAY_NAME, OWNER, REQUEST_ID, RERUN_OF, STOPPED
from ....core.spec import JobSpec
from ....core.sweep import ANNOTATION as SWEEP
from ....core.translation import Text
from ..client.api import Json
from ..client.json_access import moment, part, text
from ..client.watch.resource_version import revision_of
from ..objects.arena import USER as ARENA_USER
from ..objects.arena import user_of as arena_user
from ..objects.compressed import Held, Holds, Packer, Unpacked
from ..objects.kinds import ReplicaView, State
from ..objects.pods.attempts import AttemptRecord, earlier, observe
from ..reasons.causes import EndingRecord, keep
from ..reasons.rank_failures import cause_of, failed_attempt, with_paths
from ..scheduling.job_size import Size
from .job_reading import NOWHERE, Reading, Unread
from .older_records import correct
from .records import Record, with_masked_commands, without_secrets

_ANNOTATIONS: Final = (DISPLAY_NAME, OWNER, REQUEST_ID, RERUN_OF, STOPPED, SWEEP, CONTINUES, CONTINUED)
"""Annotations that are kept unpacked."""

_MANIFESTS: Final = Packer[Json]()
_AS_THEY_ARE: Final = Unpacked[Json]()


class TrackedJob:
    """A job that is in the cluster, or of which only the record is left.

    There may be ten thousand jobs, so object and specification are compressed; the fields of the list are kept beside
    them.

    Parameters
    ----------
    uid, namespace
        Uid and namespace of the job.
    manifest
        The job's object.
    packed
        False to keep the object as it is.

    Attributes
    ----------
    name, created_at, revision
        Name, creation time (seconds since the epoch) and resource version of the object; see `revision_of`.
    present
        True if the job is in the cluster.
    size
        Size of the specification; None if it has not been read yet (`unread`) or can't be read (`problem`).
    problem
        Why the specification can't be read.
    unread
        True if specification and paths must be read again.
    attempts
        All attempts that were ever seen, by replica; see `objects.attempts`.
    endings
        Ends of the replicas' newest pods, by replica; see `causes.keep`.
    failures
        Failures of the replicas' newest attempts as their logs show them, by replica.
    progress
        Progress that the job has last reported.
    started_at, ended_at
        First start and end, in seconds since the epoch; None if they are not known.
    withheld
        True if secrets were removed from the object; see `Record.withheld`.
    record
        The record on disk; None if none is kept.
    summary
        The row that was last published.
    """

    __slots__ = (
        "_annotations", "_deleting", "_manifest", "_objects", "_spec",
        "attempts", "created_at", "ended_at", "endings", "failures", "name", "namespace", "paths", "present", "problem",
        "progress", "record", "revision", "size", "started_at", "summary", "uid", "unread", "withheld",
    )  # fmt: skip

    def __init__(self, uid: str, namespace: str, manifest: Json, *, packed: bool = True) -> None:
        self.uid = uid
        self.namespace = namespace
        self.present = True
        self.size: Size | None = None
        self.problem: Text | None = None
        self.unread = True
        self.withheld = False
        self.paths = NOWHERE
        self.attempts: dict[str, list[AttemptRecord]] = {}
        self.endings: dict[str, EndingRecord] = {}
        self.failures: dict[str, Failure] = {}
        self.progress: Progress | None = None
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.record: Record | None = None
        self.summary: JobSummary | None = None
        self._spec: Held[JobSpec] | None = None
        self._objects: Holds[Json] = _MANIFESTS if packed else _AS_THEY_ARE
        self._set_manifest(manifest)

    def _set_manifest(self, manifest: Json) -> None:
        self.name = text(manifest, "metadata", "name") or f"job-{self.uid[:8]}"
        self.created_at = moment(manifest, "metadata", "creationTimestamp") or 0.0
        self.revision = revision_of(manifest)
        self._deleting = text(manifest, "metadata", "deletionTimestamp") is not None
        annotations = part(manifest, "metadata", "annotations")
        self._annotations = {name: found for name in _ANNOTATIONS if (found := text(annotations, name)) is not None}
        if OWNER not in self._annotations and (user := arena_user(manifest)) is not None:
            self._annotations[ARENA_USER] = user
        self._manifest = self._objects.pack(manifest)

    @classmethod
    def recorded(cls, record: Record) -> TrackedJob:
        """Return a job of which only the record is known."""
        correct(record)
        job = cls(record.uid, record.namespace, record.last)
        job.present, job.record, job.attempts = False, record, record.lives
        job.started_at, job.ended_at, job.failures = record.started_at, record.ended_at, record.failures
        job.progress, job.endings, job.withheld = record.progress, record.endings, record.withheld
        return job

    @property
    def manifest(self) -> Json:
        """The job's object as last seen; where it is compressed, it is decompressed at each access."""
        return self._manifest.value

    @property
    def spec(self) -> JobSpec | None:
        """The job's specification; decompressed at each access."""
        return self._spec.value if self._spec is not None else None

    @property
    def lifetime(self) -> tuple[float, float]:
        """First and last time at which a pod of the job can have started, in seconds since the epoch."""
        gone = self.ended_at if self.deleted else None
        return self.created_at, math.inf if gone is None else gone

    @property
    def deleting(self) -> bool:
        """True if the object's deletion was requested and the object still exists."""
        return self.present and self._deleting

    @property
    def deleted(self) -> bool:
        """True if the job is no longer in the cluster."""
        return not self.present and (self.record is None or self.record.deleted)

    @property
    def owner(self) -> str | None:
        """User who submitted it through a lab or Arena; None if it was submitted otherwise."""
        return self.annotation(OWNER) or self.annotation(ARENA_USER)

    @property
    def request_id(self) -> str | None:
        """Id of the request that created the job; None if the job was not submitted through a lab."""
        return self.annotation(REQUEST_ID)

    @property
    def rerun_of(self) -> str | None:
        """Id of the job that this job repeats; None if it repeats none."""
        return self.annotation(RERUN_OF)

    @property
    def failure(self) -> Failure | None:
        """The first failed rank of the replicas' newest attempts; None if it is not known.

        Attempts that were ended from outside do not count.
        """
        return with_paths(self._failure(), self.paths.frames.get)

    def _failure(self) -> Failure | None:
        attempts = {name: failed_attempt(attempts) for name, attempts in self.attempts.items()}
        failed = ((name, attempt) for name, attempt in attempts.items() if attempt is not None)
        return cause_of(self.failures[name] for name, attempt in failed if self.knows_failure(name, attempt))

    def knows_failure(self, replica: str, attempt: AttemptRecord) -> bool:
        """Return True if the failure of an attempt is known.

        Parameters
        ----------
        replica
            Name of the replica.
        attempt
            The attempt.
        """
        failure = self.failures.get(replica)
        return failure is not None and failure.attempt == attempt["number"]

    def annotation(self, name: str) -> str | None:
        """Return one of our annotations of the object."""
        return self._annotations.get(name)

    def update(self, manifest: Json) -> bool:
        """Set the job's object; return False if it is older than the present one."""
        if self.present and revision_of(manifest) < self.revision:
            return False
        before = self.manifest
        self._set_manifest(manifest)
        self.present, self.withheld = True, False
        if before.get("spec") != manifest.get("spec") or _annotations_of(before) != _annotations_of(manifest):
            self.unread = True
        return True

    @property
    def phase(self) -> Phase | None:
        """The last known phase; None if the job is new."""
        if self.summary is not None:
            return self.summary.phase
        return self.record.phase if self.record is not None else None

    def observe(
        self, state: State, replicas: Sequence[ReplicaView], *, now: float, cordoned: Container[str] = ()
    ) -> list[ReplicaView]:
        """Record the replicas' attempts and ends. To be called only while the job's pods are listed and watched.

        Parameters
        ----------
        state
            The job's state.
        replicas
            Its replicas with their newest pods.
        now
            Seconds since the epoch.
        cordoned
            Names of the cordoned nodes.

        Returns
        -------
        list of ReplicaView
            The replicas with the number of attempts before their newest pods.
        """
        views = []
        for view in replicas:
            ending = keep(self.endings.get(view.name), view, state, cordoned)
            if ending is not None:
                self.endings[view.name] = ending
            else:
                self.endings.pop(view.name, None)
            attempts = self.attempts[view.name] = observe(self.attempts.get(view.name, []), view, state, now=now)
            before = earlier(attempts, view.pod_uid)
            views.append(view if before == view.earlier else replace(view, earlier=before))
        return views

    def note_times(self, state: State, *, now: float) -> None:
        """Record when the job started and ended.

        Parameters
        ----------
        state
            The job's state.
        now
            Seconds since the epoch.
        """
        if self.started_at is None:  # The first value is the best one: later, pods and their start times are gone.
            self.started_at = state.started_at or (now if state.phase == "Running" else None)
        if state.phase not in ENDED_PHASES:
            self.ended_at = None
        elif self.ended_at is None:
            was_active = self.summary is not None and self.summary.phase in ACTIVE_PHASES
            self.ended_at = state.ended_at or (now if was_active else None)

    def unread_part(self) -> Unread:
        """Return the parts of the job that are read in another thread; the job counts as read from now on."""
        self.unread = False
        failure = self._failure()
        files = frozenset(frame.file for frame in failure.frames) if failure is not None else frozenset()
        return Unread(self._manifest, self.namespace, files)

    def apply(self, reading: Reading) -> None:
        """Set the facts that were read from the job's object."""
        self._spec, self.size, self.problem, self.paths = reading.spec, reading.size, reading.problem, reading.paths

    def withhold(self) -> bool:
        """Remove the secrets of another user's job that is no longer in the cluster; return True if it had any."""
        before = self.manifest
        kept = without_secrets(before)
        if kept != before:
            self._manifest = self._objects.pack(kept)
            self.unread = True
            self.withheld = self.withheld or kept.get("spec") != before.get("spec")
        shown = self.record.replicas if self.record is not None else []
        masked = with_masked_commands(shown)
        if self.record is not None:
            self.record.replicas = masked
        return kept != before or masked != shown


def _annotations_of(manifest: Json) -> Json:
    return part(manifest, "metadata", "annotations")
