"""All jobs of a home directory: finding, creating, watching them, and reviving what was cut short.

Everything here blocks and belongs to one thread (the engine's). The truth is on disk; this is a
cache of it, and several servers may look at the same home.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import math
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from ....core.errors import Conflict, NotFound
from ....core.system.disk import trouble_at, trouble_of
from ....core.system.locks import held, lock_path, runtime_directory, try_lock
from ....core.system.processes import MachineId, alive, machine_id, same_boot
from ..supervisor.outcome import conclude, settle
from ..supervisor.record import ACTIVE, JobFiles, Outcome, Record, RunPlan, owners_only
from .stored_job import StoredJob, stamp_of

log = logging.getLogger(__name__)

SUPERVISOR = Path(__file__).parents[1] / "supervisor" / "__main__.py"
ATTEND_SECONDS = 0.5
PROGRESS_SECONDS = 0.5
STARTING_SECONDS = 3.0
"""How long a supervisor may take to show itself before it is started once more."""
MOST_STARTS = 3
_FINALITY = {"stop": 1, "delete": 2, "remove": 3}
REFRESH_SECONDS = 1.0
"""Between two looks at all jobs, which another server's delete of an ended one calls for."""
CLOCK_SECONDS = 2.0
"""Coarsest step of a file system's clock."""
SILENT_SECONDS = 60.0
"""Age of the heartbeat from which a job of another machine counts as not heard of."""


class Store:
    """The jobs below one home directory.

    Parameters
    ----------
    home
        Directory that keeps `jobs/`; made if missing.
    machine
        This machine's identity; tests give another one.
    """

    def __init__(self, home: Path, machine: MachineId | None = None) -> None:
        self.home = home
        self.machine = machine or machine_id()
        self.jobs: dict[str, StoredJob] = {}
        self._directory = home / "jobs"
        self._draft_prefix = f".new-{self.machine['hostname']}-"
        # Those to which something may still happen; the others cost nothing until the directory changes.
        self._lively: dict[str, StoredJob] = {}
        self._listed: tuple[int, int, int] | None = None
        self._list_again_at = 0.0
        self._outdated = False
        self._refreshed_at = 0.0
        self._changed: set[str] = set()
        self._children: list[subprocess.Popen[bytes]] = []

    def open(self) -> None:
        """Make the directories and load every job.

        Raises
        ------
        OSError
            If the home can't be written.
        """
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._exclusive():
            # Nobody else on this machine creates now, so what is half made stays half made.
            for path in (*self._directory.glob(f"{self._draft_prefix}*"), *self._directory.glob(".gone-*")):
                shutil.rmtree(path, ignore_errors=True)
        self.scan()

    def scan(self) -> set[str]:
        """Do what is due; return the uids of jobs that changed or went since the last scan."""
        self._list()
        if self._outdated and time.monotonic() - self._refreshed_at >= REFRESH_SECONDS:
            self._outdated = False
            for job in self.jobs.values():
                self._refresh(job)
            self._refreshed_at = time.monotonic()
        for job in list(self._lively.values()):
            self._try_to_look_at(job)
        self._children = [child for child in self._children if child.poll() is None]
        changed, self._changed = self._changed, set()
        return changed

    def get(self, uid: str) -> StoredJob:
        """Return a job.

        Raises
        ------
        NotFound
            If there is none with this uid.
        """
        try:
            return self.jobs[uid]
        except KeyError:
            raise NotFound("This job does not exist, or its record was removed.") from None

    def by_request(self, request_id: str) -> StoredJob | None:
        """Return the job that was created by this request, also if another server did it."""
        self._list(surely=True)
        return next((job for job in self.jobs.values() if job.request_id == request_id), None)

    def names(self) -> set[str]:
        """Return the names that are taken."""
        return {job.name for job in self.jobs.values() if not (job.record is not None and job.record["deleted"])}

    def create(self, spec: dict[str, Any], plan: RunPlan, record: Record, request_id: str) -> StoredJob:
        """Write a new job, whole or not at all, and start it.

        Raises
        ------
        Conflict
            If its name is taken.
        OSError
            If the disk is full or read-only; nothing is left behind then.
        """
        with self._exclusive():
            existing = self.by_request(request_id)
            if existing is not None:
                return existing
            if record["name"] in self.names():
                raise Conflict(
                    f"There is a job named “{record['name']}” already.",
                    code="NameTaken",
                    field="/spec/name",
                    hint="Choose another name, or delete that job.",
                )
            self._write(spec, plan, record, request_id)
        job = StoredJob(self._directory / plan["uid"])
        self.jobs[job.uid] = job
        self._refresh(job)
        if record["outcome"]["phase"] == "Pending":
            try:
                self._start(job)
            except OSError as error:  # it is created; the next scans try again
                log.warning("The supervisor of job %s can't be started: %s", job.uid, error.strerror)
        return job

    def want(self, uid: str, desired: str) -> StoredJob:
        """Write what is wanted of a job and do at once what can be done at once.

        A wish that ends the job gives way only to one that goes further: whoever stops a job that another server
        deletes must not keep it.
        """
        job = self.get(uid)
        with self._exclusive():
            if _FINALITY.get(desired, 0) >= _FINALITY.get(job.files.read_desired(), 0):
                job.files.write_desired(desired)
        job.starts = 0
        job.started_at = job.attended_at = 0.0
        self._try_to_look_at(job)  # what can't be done now is done as soon as it can
        return job

    def remove(self, uid: str) -> bool:
        """Drop a job's directory; False, and nothing done, while its supervisor lives."""
        job = self.get(uid)
        with held(self._lock(job)) as free:
            if not free:
                return False
            gone = self._directory / f".gone-{uid}"
            with contextlib.suppress(FileNotFoundError):  # another server was faster
                job.files.path.rename(gone)
        self._forget(uid)
        shutil.rmtree(gone, ignore_errors=True)  # what is left is taken at the next start
        return True

    def ended_before(self, when: float) -> list[str]:
        """Return the uids of this machine's jobs that had ended before a time."""
        records = [(job.uid, job.record) for job in self.jobs.values() if job.record is not None]
        return [
            uid
            for uid, record in records
            if record["machine"]["hostname"] == self.machine["hostname"] and (record["ended_at"] or when) < when
        ]

    def is_foreign(self, job: StoredJob) -> bool:
        """Return whether the job runs on another machine, so that only that one may judge it."""
        if job.record is None or not job.active:
            return False
        return job.record["machine"]["hostname"] != self.machine["hostname"]

    # --- watching ----------------------------------------------------------------------------

    def _list(self, *, surely: bool = False) -> None:
        """Find new and vanished jobs, if there are any; the others may have changed then as well.

        Parameters
        ----------
        surely
            Look also if the directory seems unchanged: a change in the same tick of the file system's clock as the
            last look does not show before `CLOCK_SECONDS` have passed.
        """
        stamp = stamp_of(self._directory)
        if not surely and stamp is not None and stamp == self._listed and time.monotonic() < self._list_again_at:
            return
        settled = stamp is not None and abs(time.time() - stamp[0] / 1e9) > CLOCK_SECONDS
        self._outdated = self._outdated or settled or stamp != self._listed
        self._list_again_at = math.inf if settled else time.monotonic() + CLOCK_SECONDS
        self._listed = stamp
        if stamp is None:  # removed while we ran, with all that was in it
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.scandir(self._directory) as entries:
            present = {entry.name for entry in entries if entry.name[0] != "."}
        for uid in set(self.jobs) - present:
            self._forget(uid)
        for uid in present - set(self.jobs):
            self.jobs[uid] = StoredJob(self._directory / uid)
            self._refresh(self.jobs[uid])

    def _refresh(self, job: StoredJob) -> bool:
        """Read what has changed of a job; return whether anything has."""
        if not job.refresh():
            return False
        if job.active or job.unfinished_wish:
            self._lively[job.uid] = job
        else:
            self._lively.pop(job.uid, None)
        self._changed.add(job.uid)
        return True

    def _forget(self, uid: str) -> None:
        del self.jobs[uid]
        self._lively.pop(uid, None)
        self._changed.add(uid)

    def _try_to_look_at(self, job: StoredJob) -> None:
        try:
            self._look_at(job)
        except OSError as error:  # of this job's directory or lock: the others are looked at
            trouble = trouble_of(error, job.files.path).sentence
            if trouble != job.trouble:  # once, however often it is tried again
                job.trouble = trouble
                log.warning("Job %s can't be looked after: %s", job.uid, trouble)

    def _look_at(self, job: StoredJob) -> None:
        now = time.monotonic()
        changed = self._refresh(job)
        if changed or now - job.attended_at >= ATTEND_SECONDS:
            job.attended_at = now
            if job.record is not None and not self.is_foreign(job):
                changed = self._look_at_disk(job) or changed
                self._attend(job, job.record)
                if job.uid not in self.jobs:
                    return  # removed, as was asked
                job.trouble = None
                changed = self._refresh(job) or changed
        phase = job.record["outcome"]["phase"] if job.record is not None else None
        if job.record is not None and self.is_foreign(job):
            changed = self._listen_for(job, job.record) or changed
        elif job.record is not None and phase == "Running":
            changed = job.progress.read(job.record, PROGRESS_SECONDS) or changed
        if changed:
            self._changed.add(job.uid)

    def _look_at_disk(self, job: StoredJob) -> bool:
        """Note whether the disk of an active job takes no writing; return whether that changed."""
        trouble = trouble_at(job.files.path) if job.active else None
        changed = trouble != job.disk_trouble
        job.disk_trouble = trouble
        return changed

    def _listen_for(self, job: StoredJob, record: Record) -> bool:
        """Note whether another machine's job is heard of; return whether that changed."""
        heard = job.last_heartbeat() or record["created_at"]
        silent = heard if time.time() - heard > SILENT_SECONDS else None
        changed = silent != job.silent_since
        job.silent_since = silent
        return changed

    def _attend(self, job: StoredJob, record: Record) -> None:
        """Do for a job what its supervisor does not do, if it has none."""
        phase = record["outcome"]["phase"]
        if job.desired == "remove" and phase not in ACTIVE:
            self.remove(job.uid)
            return
        lost = phase in ACTIVE and record["supervisor"] is not None
        if not lost and not self._differs(job, phase):
            return
        if lost and same_boot(record["machine"], self.machine) and alive(record["supervisor"]):
            return
        if lost or job.desired == "run":
            fresh = time.time() - record["created_at"] < STARTING_SECONDS
            theirs = job.started_at == 0 and fresh and phase == "Pending" and not lost
            if not theirs and time.monotonic() - job.started_at >= STARTING_SECONDS:
                self._revive(job)
            return
        with held(self._lock(job)) as free:
            if free and settle(job.files, job.files.read_record()):
                self._tell_others()

    def _differs(self, job: StoredJob, phase: str) -> bool:
        if job.unfinished_wish:
            return True
        if phase == "Pending":
            return True
        return phase == "Paused" and job.desired != "pause"

    def _revive(self, job: StoredJob) -> None:
        with held(self._lock(job)) as free:
            if not free:
                return
            if job.starts >= MOST_STARTS:
                words = job.files.words.read_text(errors="replace").strip()[-2000:]
                facts = {"words": words or "Its supervisor did not start."}
                failed = Outcome(phase="Failed", code="StartFailed", facts=facts, ended_by="platform")
                conclude(job.files, job.files.read_record(), failed)
                return
        self._start(job)

    def _start(self, job: StoredJob) -> None:
        """Start a supervisor; should there be one already, the new one ends at once."""
        job.starts += 1
        job.started_at = time.monotonic()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("T9KJOB_")}
        with open(job.files.words, "ab", opener=owners_only) as words:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(job.files.path)],
                cwd="/",
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                start_new_session=True,
            )
        self._children.append(child)

    # --- writing -----------------------------------------------------------------------------

    def _write(self, spec: dict[str, Any], plan: RunPlan, record: Record, request_id: str) -> None:
        draft = self._directory / f"{self._draft_prefix}{uuid.uuid4().hex}"
        draft.mkdir(mode=0o700)
        files = JobFiles(draft)
        try:
            files.logs.mkdir(mode=0o700)
            _write(files.spec, json.dumps(spec))
            _write(files.run, json.dumps(plan))
            _write(files.request_id, request_id)
            paused = record["outcome"]["phase"] == "Paused"
            _write(files.desired, "pause" if paused else "run")
            _write(files.record, json.dumps(record))
            files.reserve_space()
            # What is written over in place, or opened again, does not need an inode later.
            files.beat()
            files.words.touch(0o600)
            files.add_event(record["outcome"]["code"], "Created, paused." if paused else "Created.")
            _sync(draft)
            draft.rename(self._directory / plan["uid"])
            _sync(self._directory)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def _exclusive(self) -> _Exclusive:
        digest = hashlib.sha256(os.fsencode(self.home.resolve())).hexdigest()[:16]
        return _Exclusive(runtime_directory() / f"create-{digest}.lock")

    def _lock(self, job: StoredJob) -> Path:
        if job.plan is not None:
            return lock_path(job.plan["lock"])
        return runtime_directory() / f"{job.uid}.lock"

    def _tell_others(self) -> None:
        """Make other servers look at ended jobs, which they do when the directory's time changes."""
        os.utime(self._directory)


class _Exclusive:
    """Held by one server while it creates a job or writes down a wish, so that no two do so at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        self._descriptor = try_lock(self._path, wait=True)

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
