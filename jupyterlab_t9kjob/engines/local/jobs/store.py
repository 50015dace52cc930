"""All jobs of a home directory: finding, creating and watching them, and replacing supervisors that died.

All methods block, and the engine calls them in one thread at a time. The state of the jobs is on disk, and this module
keeps a cache of it, since several servers may use the same home.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....core.errors import Conflict, NotFound
from ....core.system.disk import trouble_at, trouble_of
from ....core.system.locks import held, lock_path, runtime_directory
from ....core.system.processes import MachineId, alive, machine_id, same_boot, same_machine
from ....core.translation import _
from ..supervisor.outcome import conclude, settle
from ..supervisor.records.job_files import owners_only
from ..supervisor.records.record import ACTIVE, Outcome, Record, RunPlan
from ..supervisor.sweep_turn import SweepTurn
from .job_directories import Exclusive, remove_job, remove_leftovers, write_job
from .stored_job import LOST_SECONDS, StoredJob, stamp_of

log = logging.getLogger(__name__)

SUPERVISOR = Path(__file__).parents[1] / "supervisor" / "__main__.py"
ATTEND_SECONDS = 0.5
"""Interval between checks of an active job's supervisor and disk."""
PROGRESS_SECONDS = 0.5
"""Interval between reads of a running job's progress."""
STARTING_SECONDS = 3.0
"""Time that a supervisor may take to appear in the record before another one is started."""
MOST_STARTS = 3
"""Number of supervisors that are started before the job fails."""
_FINALITY = {"stop": 1, "delete": 2, "remove": 3}
"""Order of the requests: a request that ends the job is replaced only by one that goes further."""
REFRESH_SECONDS = 1.0
"""Interval between reads of all jobs after changes of the directory, such as another server's delete."""
CLOCK_SECONDS = 2.0
"""Coarsest step of a file system's clock."""
SILENT_SECONDS = 60.0
"""Age of the last heartbeat from which a job of another machine counts as silent."""


class Store:
    """The jobs below one home directory.

    Parameters
    ----------
    home
        Directory that keeps `jobs/`; created if it is missing.
    machine
        Identity of this machine; tests pass another one.
    """

    def __init__(self, home: Path, machine: MachineId | None = None) -> None:
        self.home = home
        self.machine = machine or machine_id()
        self.jobs: dict[str, StoredJob] = {}
        self._directory = home / "jobs"
        self._draft_prefix = f".new-{self.machine['hostname']}-"
        # Jobs that may still change. The others are read again only when the directory changes.
        self._unsettled: dict[str, StoredJob] = {}
        self._listed: tuple[int, int, int] | None = None
        self._list_again_at = 0.0
        self._outdated = False
        self._refreshed_at = 0.0
        self._changed: set[str] = set()
        self._children: list[subprocess.Popen[bytes]] = []

    def open(self) -> None:
        """Create the directories and read every job.

        Raises
        ------
        OSError
            If the home can't be written.
        """
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._exclusive():
            # No other server on this machine creates a job now, so drafts that exist are abandoned.
            remove_leftovers(self._directory, self._draft_prefix)
        self.scan()

    def scan(self) -> set[str]:
        """Check the jobs that are due; return the uids of those that changed or went since the last scan."""
        self._list()
        if self._outdated and time.monotonic() - self._refreshed_at >= REFRESH_SECONDS:
            self._outdated = False
            for job in self.jobs.values():
                self._refresh(job)
            self._refreshed_at = time.monotonic()
        for job in list(self._unsettled.values()):
            self._try_to_check(job)
        self._children = [child for child in self._children if child.poll() is None]
        changed, self._changed = self._changed, set()
        return changed

    def get(self, uid: str) -> StoredJob:
        """Return the job with a uid.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        try:
            return self.jobs[uid]
        except KeyError:
            raise NotFound(_("This job does not exist, or its record was removed.")) from None

    def by_request(self, request_id: str) -> StoredJob | None:
        """Return the job that a request has created, also through another server; None if there is none."""
        self._list(always=True)
        return next((job for job in self.jobs.values() if job.request_id == request_id), None)

    def names(self) -> set[str]:
        """Return the names that are taken."""
        return {job.name for job in self.jobs.values() if job.holds_name}

    def create(self, spec: dict[str, Any], plan: RunPlan, record: Record, request_id: str) -> StoredJob:
        """Write a new job and start its supervisor. Nothing of the job is on disk if writing fails.

        Parameters
        ----------
        spec
            The spec as plain JSON.
        plan
            The job's plan.
        record
            The job's first record.
        request_id
            Id of the request; if a job with the same id exists, that job is returned.

        Raises
        ------
        Conflict
            If its name is taken.
        OSError
            If the disk is full or read-only.
        """
        with self._exclusive():
            existing = self.by_request(request_id)
            if existing is not None:
                return existing
            if record["name"] in self.names():
                raise Conflict(
                    _("There is a job named “{name}” already.", name=record["name"]),
                    code="NameTaken",
                    field="/spec/name",
                    hint=_("Choose another name, or delete that job."),
                )
            draft = self._directory / f"{self._draft_prefix}{uuid.uuid4().hex}"
            write_job(draft, spec, plan, record, request_id)
        job = StoredJob(self._directory / plan["uid"])
        self.jobs[job.uid] = job
        self._refresh(job)
        if record["outcome"]["phase"] == "Pending":
            SweepTurn(plan).enter()
            try:
                self._start(job)
            except OSError as error:  # The job exists; the next scans try again.
                log.warning("The supervisor of job %s can't be started: %s", job.uid, error.strerror)
        return job

    def end_for_sweep(self, uid: str, facts: Mapping[str, Any]) -> None:
        """End the job `uid` on account of its sweep; `facts` and the errors are those of `SweepTurn.demand_end`."""
        SweepTurn(self.get(uid).files.read_plan()).demand_end(facts)

    def want(self, uid: str, desired: str) -> StoredJob:
        """Write the state that the user asks for, and bring it about if no supervisor is needed.

        A request that ends the job is replaced only by one that goes further, so that a stop does not undo another
        server's delete.

        Parameters
        ----------
        uid
            The job's uid.
        desired
            One of `supervisor.record.DESIRED`.

        Raises
        ------
        NotFound
            If there is no such job.
        OSError
            If the request can't be written.
        """
        job = self.get(uid)
        with self._exclusive():
            if _FINALITY.get(desired, 0) >= _FINALITY.get(job.files.read_desired(), 0):
                job.files.write_desired(desired)
        job.starts = 0
        job.started_at = job.attended_at = 0.0
        self._try_to_check(job)  # A later scan tries again.
        return job

    def remove(self, uid: str) -> bool:
        """Remove a job's directory; return False, without removing it, while the job's supervisor runs."""
        job = self.get(uid)
        if not remove_job(job.files.path, self._lock(job)):
            return False
        self._forget(uid)
        return True

    def ended_before(self, when: float) -> list[str]:
        """Return the uids of this machine's jobs that ended before a time (seconds since the epoch)."""
        records = [(job.uid, job.record) for job in self.jobs.values() if job.record is not None]
        return [
            uid
            for uid, record in records
            if same_machine(record["machine"], self.machine) and (record["ended_at"] or when) < when
        ]

    def is_foreign(self, job: StoredJob) -> bool:
        """Return True if the active job runs on another machine, which alone can check on its processes."""
        if job.record is None or not job.active:
            return False
        return not same_machine(job.record["machine"], self.machine)

    # --- watching ----------------------------------------------------------------------------

    def _list(self, *, always: bool = False) -> None:
        """Find new and vanished jobs if the directory has changed; the other jobs are due for a refresh then.

        Parameters
        ----------
        always
            Read the directory also if its time is unchanged: a change in the same tick of the file system's clock as
            the last reading does not show before `CLOCK_SECONDS` have passed.
        """
        stamp = stamp_of(self._directory)
        if not always and stamp is not None and stamp == self._listed and time.monotonic() < self._list_again_at:
            return
        settled = stamp is not None and abs(time.time() - stamp[0] / 1e9) > CLOCK_SECONDS
        self._outdated = self._outdated or settled or stamp != self._listed
        self._list_again_at = math.inf if settled else time.monotonic() + CLOCK_SECONDS
        self._listed = stamp
        if stamp is None:  # The directory was removed with all jobs.
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.scandir(self._directory) as entries:
            present = {entry.name for entry in entries if entry.name[0] != "."}
        for uid in set(self.jobs) - present:
            self._forget(uid)
        for uid in present - set(self.jobs):
            self.jobs[uid] = StoredJob(self._directory / uid)
            self._refresh(self.jobs[uid])

    def _refresh(self, job: StoredJob) -> bool:
        """Read a job's files that have changed; return whether any has."""
        if not job.refresh():
            return False
        if job.active or job.to_be_deleted:
            self._unsettled[job.uid] = job
        else:
            self._unsettled.pop(job.uid, None)
        self._changed.add(job.uid)
        return True

    def _forget(self, uid: str) -> None:
        del self.jobs[uid]
        self._unsettled.pop(uid, None)
        self._changed.add(uid)

    def _try_to_check(self, job: StoredJob) -> None:
        try:
            self._check(job)
        except OSError as error:  # An error of this job must not keep the others from being checked.
            trouble = trouble_of(error, job.files.path).sentence
            if trouble != job.trouble:
                job.trouble = trouble
                log.warning("Job %s can't be checked: %s", job.uid, trouble)

    def _check(self, job: StoredJob) -> None:
        now = time.monotonic()
        changed = self._refresh(job)
        if changed or now - job.attended_at >= ATTEND_SECONDS:
            job.attended_at = now
            if job.record is not None and not self.is_foreign(job):
                changed = self._check_disk(job) or changed
                self._attend(job, job.record)
                if job.uid not in self.jobs:
                    return  # The job was removed, as the user asked.
                job.trouble = None
                changed = self._refresh(job) or changed
        phase = job.record["outcome"]["phase"] if job.record is not None else None
        if job.record is not None and self.is_foreign(job):
            changed = self._check_heartbeat(job, job.record) or changed
        elif job.record is not None and phase == "Running":
            changed = job.progress.read(job.record, PROGRESS_SECONDS) or changed
        if changed:
            self._changed.add(job.uid)

    def _check_disk(self, job: StoredJob) -> bool:
        """Check whether an active job's disk can be written; return whether that changed."""
        trouble = trouble_at(job.files.path) if job.active else None
        changed = trouble != job.disk_trouble
        job.disk_trouble = trouble
        return changed

    def _check_heartbeat(self, job: StoredJob, record: Record) -> bool:
        """Check whether another machine's job is silent, or lost; return whether that changed."""
        heartbeat = job.last_heartbeat() or record["created_at"]
        age = time.time() - heartbeat
        before = job.silent_since, job.lost
        job.silent_since, job.lost = heartbeat if age > SILENT_SECONDS else None, age > LOST_SECONDS
        return (job.silent_since, job.lost) != before

    def _attend(self, job: StoredJob, record: Record) -> None:
        """Start a supervisor for a job that needs one and has none, or change its state without one."""
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
            created_elsewhere = job.started_at == 0 and fresh and phase == "Pending" and not lost
            if not created_elsewhere and not job.is_starting(STARTING_SECONDS):
                self._revive(job)
            return
        with held(self._lock(job)) as free:
            if free and settle(job.files, job.files.read_record()):
                self._notify_others()

    def _differs(self, job: StoredJob, phase: str) -> bool:
        if job.to_be_deleted:
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
                facts = {"words": words} if words else {}
                failed = Outcome(phase="Failed", code="StartFailed", facts=facts, ended_by="platform")
                conclude(job.files, job.files.read_record(), failed)
                return
        self._start(job)

    def _start(self, job: StoredJob) -> None:
        """Start a supervisor, which ends at once if the job has one already."""
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
        job.child = child
        self._children.append(child)

    # --- locks -------------------------------------------------------------------------------

    def _exclusive(self) -> Exclusive:
        digest = hashlib.sha256(os.fsencode(self.home.resolve())).hexdigest()[:16]
        return Exclusive(runtime_directory() / f"create-{digest}.lock")

    def _lock(self, job: StoredJob) -> Path:
        if job.plan is not None:
            return lock_path(job.plan["lock"])
        return runtime_directory() / f"{job.uid}.lock"

    def _notify_others(self) -> None:
        """Make other servers read ended jobs again, which they do when the directory's time changes."""
        os.utime(self._directory)
