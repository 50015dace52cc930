"""One job as this server knows it: its object, what was read of it, and our record."""

from __future__ import annotations

import math
import os
import posixpath
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ....core.job import ACTIVE_PHASES, Failure, JobSummary, Phase, Progress
from ....core.lab import Lab
from ....core.manifests import ManifestError, parse, rank_logs
from ....core.manifests.entrypoints import working_directory
from ....core.manifests.names import DISPLAY_NAME, OWNER, REQUEST_ID, RERUN_OF, STOPPED
from ....core.spec import JobSpec
from ....core.system.disk_threads import DiskSilent, real_path
from ..client.api import Json
from ..client.informer import revision_of
from ..client.json_access import moment, part, text
from ..objects.arena import USER as ARENA_USER
from ..objects.arena import user_of as arena_user
from ..objects.attempts import AttemptRecord, earlier, observe
from ..objects.compressed import Packed, Packer
from ..objects.kinds import ReplicaView, State
from ..reasons.causes import EndingRecord, keep
from ..reasons.rank_failures import cause_of, failed_life, with_paths
from ..scheduling.job_size import Size, size_of
from .older_records import correct
from .records import Record, with_masked_commands, without_secrets

_NOTES: Final = (DISPLAY_NAME, OWNER, REQUEST_ID, RERUN_OF, STOPPED)

_MANIFESTS: Final = Packer[Json]()
_SPECS: Final = Packer[JobSpec]()

ContentsPath = Callable[[Path], "str | None"]
"""Names a file of this machine as the contents API does; None if it lies elsewhere."""


@dataclass(frozen=True)
class Paths:
    """A job's files, as the lab has them; what the lab does not see is None.

    Attributes
    ----------
    entrypoint, working_dir
        As the contents API names them.
    log_dirs
        The log directories that the lab sees, on its disk, with their contents paths.
    ranks
        The folder with a folder of rank files for each pod.
    frames
        The files that the traceback of its failure names, by what it calls them, as the contents API names them.
    """

    entrypoint: str | None = None
    working_dir: str | None = None
    log_dirs: tuple[tuple[Path, str | None], ...] = ()
    ranks: Path | None = None
    frames: Mapping[str, str | None] = field(default_factory=dict)


_NOWHERE: Final = Paths()


class KnownJob:
    """A job of the cluster, or what our record still has of it.

    There may be ten thousand of them: what only a closer look needs is packed, and what a list needs lies beside it.

    Parameters
    ----------
    uid, namespace
        Which one it is.
    manifest
        Its object.

    Attributes
    ----------
    name, created_at, revision
        As its object says: seconds since the epoch, and which of its states it is, see `revision_of`.
    present
        Whether it is in the cluster.
    size
        What its spec amounts to; None if that was not read yet (`unread`), or can't be (`problem`).
    lives
        All attempts that were ever seen, by replica, see `attempts`.
    endings
        How the replicas' newest pods ended, by replica, see `causes.keep`.
    failures
        How replicas failed in their newest attempts, by replica, as their logs tell it.
    progress
        How far it says that it is.
    started_at, ended_at
        When it first ran and when it ended, as far as that was ever told or seen.
    withheld
        Whether the values of its environment were left out of the object: see `Record.withheld`.
    record
        What we keep of it, if we do.
    summary
        As last told.
    """

    __slots__ = (
        "_deleting", "_manifest", "_notes", "_spec",
        "created_at", "ended_at", "endings", "failures", "lives", "name", "namespace", "paths", "present", "problem",
        "progress", "record", "revision", "size", "started_at", "summary", "uid", "unread", "withheld",
    )  # fmt: skip

    def __init__(self, uid: str, namespace: str, manifest: Json) -> None:
        self.uid = uid
        self.namespace = namespace
        self.present = True
        self.size: Size | None = None
        self.problem: str | None = None
        self.unread = True
        self.withheld = False
        self.paths = _NOWHERE
        self.lives: dict[str, list[AttemptRecord]] = {}
        self.endings: dict[str, EndingRecord] = {}
        self.failures: dict[str, Failure] = {}
        self.progress: Progress | None = None
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.record: Record | None = None
        self.summary: JobSummary | None = None
        self._spec: Packed[JobSpec] | None = None
        self._take(manifest)

    def _take(self, manifest: Json) -> None:
        self.name = text(manifest, "metadata", "name") or f"job-{self.uid[:8]}"
        self.created_at = moment(manifest, "metadata", "creationTimestamp") or 0.0
        self.revision = revision_of(manifest)
        self._deleting = text(manifest, "metadata", "deletionTimestamp") is not None
        annotations = part(manifest, "metadata", "annotations")
        self._notes = {name: note for name in _NOTES if (note := text(annotations, name)) is not None}
        if OWNER not in self._notes and (user := arena_user(manifest)) is not None:
            self._notes[ARENA_USER] = user
        self._manifest = _MANIFESTS.pack(manifest)

    @classmethod
    def recorded(cls, record: Record) -> KnownJob:
        """Return a job of which nothing is known yet but our record."""
        correct(record)
        job = cls(record.uid, record.namespace, record.last)
        job.present, job.record, job.lives = False, record, record.lives
        job.started_at, job.ended_at, job.failures = record.started_at, record.ended_at, record.failures
        job.progress, job.endings, job.withheld = record.progress, record.endings, record.withheld
        return job

    @property
    def manifest(self) -> Json:
        """Its object as last seen; made anew at every look."""
        return self._manifest.value

    @property
    def spec(self) -> JobSpec | None:
        """The specification that the object amounts to; unpacked at each access."""
        return self._spec.value if self._spec is not None else None

    @property
    def lifetime(self) -> tuple[float, float]:
        """From when to when its pods can have begun, in seconds since the epoch."""
        gone = self.ended_at if self.deleted else None
        return self.created_at, math.inf if gone is None else gone

    @property
    def deleting(self) -> bool:
        """Whether it was asked to go, and is still there."""
        return self.present and self._deleting

    @property
    def deleted(self) -> bool:
        """Whether it is gone from the cluster."""
        return not self.present and (self.record is None or self.record.deleted)

    @property
    def owner(self) -> str | None:
        """User who submitted it through a lab or Arena; None if it was submitted otherwise."""
        return self.note(OWNER) or self.note(ARENA_USER)

    @property
    def request_id(self) -> str | None:
        """The submission that it came from, if it was through a lab."""
        return self.note(REQUEST_ID)

    @property
    def rerun_of(self) -> str | None:
        """Id of the job that it repeats."""
        return self.note(RERUN_OF)

    @property
    def failure(self) -> Failure | None:
        """Which rank failed first of the attempts that failed by themselves and are the newest, if that is known."""
        return with_paths(self._failure(), self.paths.frames.get)

    def _failure(self) -> Failure | None:
        lives = {name: failed_life(lives) for name, lives in self.lives.items()}
        failed = ((name, life) for name, life in lives.items() if life is not None)
        return cause_of(self.failures[name] for name, life in failed if self.knows_failure(name, life))

    def knows_failure(self, replica: str, life: AttemptRecord) -> bool:
        """Whether it is known how a replica failed in an attempt."""
        known = self.failures.get(replica)
        return known is not None and known.attempt == life["number"]

    def note(self, name: str) -> str | None:
        """Return an annotation of ours."""
        return self._notes.get(name)

    def update(self, manifest: Json) -> bool:
        """Take note of its object; False if that is older than what is known."""
        if self.present and revision_of(manifest) < self.revision:
            return False
        before = self.manifest
        self._take(manifest)
        self.present, self.withheld = True, False
        if before.get("spec") != manifest.get("spec") or _words(before) != _words(manifest):
            self.unread = True
        return True

    @property
    def phase(self) -> Phase | None:
        """The phase in which it was last seen."""
        if self.summary is not None:
            return self.summary.phase
        return self.record.phase if self.record is not None else None

    def observe(
        self, state: State, places: Sequence[ReplicaView], *, now: float, cordoned: Container[str] = ()
    ) -> list[ReplicaView]:
        """Take note of attempts and how they ended; return the places with what is known of earlier pods.

        Only to be called while its pods are listed and watched.

        Parameters
        ----------
        state, places
            What its kind says.
        now
            Seconds since the epoch.
        cordoned
            The nodes that take no new pods.
        """
        known = []
        for place in places:
            ending = keep(self.endings.get(place.name), place, state, cordoned)
            if ending is not None:
                self.endings[place.name] = ending
            else:
                self.endings.pop(place.name, None)
            lives = self.lives[place.name] = observe(self.lives.get(place.name, []), place, state, now=now)
            known.append(replace(place, earlier=earlier(lives, place.pod_uid)))
        return known

    def note_times(self, state: State, *, now: float) -> None:
        """Take note of when it began and ended."""
        if self.started_at is None:  # what is told first is the best: pods go, and with them when they began
            self.started_at = state.started_at or (now if state.phase == "Running" else None)
        if state.phase not in ("Succeeded", "Failed"):
            self.ended_at = None
        elif self.ended_at is None:
            was_active = self.summary is not None and self.summary.phase in ACTIVE_PHASES
            self.ended_at = state.ended_at or (now if was_active else None)

    def unread_part(self) -> Unread:
        """Return what is to be read of it away from the event loop; from now on it counts as read."""
        self.unread = False
        failure = self._failure()
        files = frozenset(frame.file for frame in failure.frames) if failure is not None else frozenset()
        return Unread(self._manifest, self.namespace, files)

    def take(self, reading: Reading) -> None:
        """Take note of what was read of it."""
        self._spec, self.size, self.problem, self.paths = reading.spec, reading.size, reading.problem, reading.paths

    def withhold(self) -> bool:
        """Forget its secrets: it is somebody else's, and the cluster does not show them any more.

        Returns whether there were any.
        """
        before = self.manifest
        kept = without_secrets(before)
        if kept != before:
            self._manifest = _MANIFESTS.pack(kept)
            self.unread = True
            self.withheld = self.withheld or kept.get("spec") != before.get("spec")
        shown = self.record.replicas if self.record is not None else []
        masked = with_masked_commands(shown)
        if self.record is not None:
            self.record.replicas = masked
        return kept != before or masked != shown


@dataclass(frozen=True)
class Reading:
    """Facts that were read from a job's manifest; see the attributes of `KnownJob`."""

    spec: Packed[JobSpec] | None = None
    size: Size | None = None
    problem: str | None = None
    paths: Paths = _NOWHERE


@dataclass(frozen=True)
class Unread:
    """Parts of a job that are still to be read; they never change, so any thread may read them.

    Attributes
    ----------
    manifest, namespace
        The job's object, and its namespace.
    files
        The files that the traceback of its failure names.
    """

    manifest: Packed[Json]
    namespace: str
    files: frozenset[str]

    def read(self, lab: Lab | None, contents: ContentsPath) -> Reading:
        """Read the job's spec, and where the lab has its files (blocking).

        Parameters
        ----------
        lab
            What jobs inherit from the lab; None where that is not known.
        contents
            Names a file as the contents API does.
        """
        try:
            # whether it is paused now is its state: who clones it, or runs it again, wants another that starts
            spec = parse(self.manifest.value).spec.model_copy(update={"paused": False})
        except ManifestError as error:
            return Reading(problem=error.message)
        try:
            paths = _NOWHERE if lab is None else _paths(spec, lab, self.namespace, contents, self.files)
        except DiskSilent:
            paths = _NOWHERE
        return Reading(_SPECS.pack(spec), size_of(spec), None, paths)


def _paths(spec: JobSpec, lab: Lab, namespace: str, contents: ContentsPath, files: Iterable[str]) -> Paths:
    def here(path: str | None) -> Path | None:
        return lab.in_lab(path, spec.mounts, namespace) if path else None

    def named(path: str | None) -> str | None:
        place = here(path)
        return contents(place) if place is not None else None

    in_file = spec.entrypoint.kind in ("script", "notebook")
    places = [place for path in spec.tensorboard.log_dirs if (place := here(path)) is not None]
    cwd = working_directory(spec) or "/"
    return Paths(
        entrypoint=named(spec.entrypoint.value) if in_file else None,
        working_dir=named(spec.working_dir),
        log_dirs=tuple((place, contents(place)) for place in places),
        ranks=here(rank_logs(spec)),
        frames={file: named(posixpath.join(cwd, file)) for file in files},
    )


def contents_path(folder: Path) -> ContentsPath:
    """Return what names files below a folder as the contents API does; links are followed."""
    roots = tuple(dict.fromkeys((folder, Path(os.path.realpath(folder)))))

    def below(path: Path) -> str | None:
        for root in roots:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix().removeprefix(".")
        return None

    def name(path: Path) -> str | None:
        shown = below(path)
        return shown if shown is not None else below(Path(real_path(str(path))))

    return name


def _words(manifest: Json) -> Json:
    return part(manifest, "metadata", "annotations")
