"""The API's models of a stored job: row, details, replicas and log streams."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ....core.errors import Unavailable
from ....core.job import (
    Action,
    Attempt,
    EndedBy,
    Failure,
    Frame,
    Job,
    JobSummary,
    LogStream,
    PendingAction,
    Phase,
    Progress,
    Reason,
    Replica,
    job_id,
)
from ....core.log_sources import LogFile
from ....core.spec import Device, JobSpec, Model
from ....core.sweep import member_of
from ....core.system.disk_threads import real_path
from ....core.texts.wording import code_in_words, end_in_words
from ....core.translation import _
from ....logs.storage import cuts, index
from ..plan.command import command_of, working_directory
from ..supervisor.failure import readable
from ..supervisor.logs.log_files import FoundLog, find_logs
from ..supervisor.records.record import ACTIVE, AttemptRecord, Record, ReplicaRecord
from .fact_texts import ODD_RECORD
from .reasons import bad_record, debugged, link_to, not_heard_of, reason_of, running_time, unwritable
from .stored_job import StoredJob

log = logging.getLogger(__name__)

_PENDING: dict[tuple[str, str], PendingAction] = {
    ("Paused", "run"): "resuming",
    **{(phase, "pause"): "pausing" for phase in ("Pending", "Running", "Resuming")},
    **{(phase, "stop"): "stopping" for phase in ACTIVE},
}
_LINK_SECONDS = 1.0
"""Time limit for following the links of a path."""


class Views:
    """Makes the API's models of stored jobs.

    Parameters
    ----------
    root
        Root folder of the contents API, to which paths in the models are relative.
    """

    def __init__(self, root: Path | None) -> None:
        self._roots = [root, Path(os.path.realpath(root))] if root is not None else []

    def id_of(self, job: StoredJob) -> str:
        """Return the id of a job."""
        return job_id("local", "", job.name, job.uid)

    def contents_path(self, path: str | Path | None) -> str | None:
        """Return an absolute path as a path of the contents API; None if it does not lie below the root."""
        if path is None or "\0" in str(path):
            return None
        absolute = os.path.abspath(path)  # noqa: PTH100 (`Path` raises at loops of links)
        shown = self._below_root(absolute)
        return shown if shown is not None else self._below_root(self._real(absolute))

    def _below_root(self, path: str) -> str | None:
        for root in self._roots:
            if Path(path).is_relative_to(root):
                relative = Path(path).relative_to(root).as_posix()
                return "" if relative == "." else relative
        return None

    def _real(self, path: str) -> str:
        """Return a path with its links followed, or the path itself if its disk does not answer in time."""
        try:
            return real_path(path, _LINK_SECONDS)
        except Unavailable:
            return path

    def summary(self, job: StoredJob, *, foreign: bool) -> JobSummary:
        """Return the job's row in the list.

        Parameters
        ----------
        job
            The job.
        foreign
            True if the job runs on another machine.
        """
        return JobSummary(**self._fields(job, foreign))

    def job(self, job: StoredJob, *, foreign: bool) -> Job:
        """Return the job in full; the parameters are those of `summary`."""
        spec = JobSpec.model_validate(job.spec or _placeholder(job))
        cwd = working_directory(spec, next(iter(self._roots), None))
        plan = job.plan
        failure = job.record["failure"] if job.record is not None else None
        return Job(
            **self._fields(job, foreign),
            spec=spec,
            command=command_of(plan["replicas"][0], len(plan["replicas"])) if plan is not None else [],
            working_dir=str(cwd),
            working_dir_path=self.contents_path(cwd),
            log_dir_paths=[self.contents_path(path) for path in spec.tensorboard.log_dirs],
            log_location=str(job.files.logs),
            failure=self._failure(failure, spec, cwd) if failure is not None else None,
            rerun_of=job.record["rerun_of"] if job.record is not None else None,
        )

    def replicas(self, job: StoredJob) -> list[Replica]:
        """Return the job's replicas with their attempts."""
        if job.record is None or job.plan is None:
            return []
        plans = {plan["name"]: plan for plan in job.plan["replicas"]}
        host = job.record["machine"]["hostname"]
        return [_replica(replica, plans[replica["name"]]["processes"], host) for replica in job.record["replicas"]]

    def log_files(self, job: StoredJob) -> list[LogFile]:
        """Return the log streams that exist (blocking)."""
        attempts: dict[tuple[str, int], AttemptRecord] = {}
        for replica in job.record["replicas"] if job.record is not None else []:
            for attempt in replica["attempts"]:
                attempts[replica["name"], attempt["number"]] = attempt
        found = []
        for log in find_logs(job.files):
            stream = _stream(log, attempts.get((log.replica, log.attempt)))
            if stream is not None:
                found.append(LogFile(stream, log.path, log.index_path, log.cuts_path))
        return found

    def _fields(self, job: StoredJob, foreign: bool) -> dict[str, Any]:
        spec = job.spec or {}
        fields: dict[str, Any] = {
            "id": self.id_of(job),
            "engine": "local",
            "namespace": "",
            "name": job.name,
            "uid": job.uid,
            "display_name": spec.get("display_name"),
            "devices": _devices(spec),
            "log_dirs": spec.get("tensorboard", {}).get("log_dirs", []),
            "sweep": member_of(spec.get("annotations", {})),
            "request_id": job.request_id,
        }
        if spec.get("entrypoint", {}).get("kind") in ("script", "notebook"):
            fields["entrypoint_path"] = self.contents_path(spec["entrypoint"]["value"])
        if job.record is None:
            return fields | _unreadable(job)
        fields |= _state(job, job.record, foreign)
        if job.spec is None:
            fields["actions"].remove("rerun")
        return fields

    def _failure(self, failure: dict[str, Any], spec: JobSpec, cwd: Path) -> Failure | None:
        try:
            return self._of_recorded(readable(failure), spec, cwd)
        except ODD_RECORD:
            log.warning("The failure of a local job has unexpected parts", exc_info=True)
            return None

    def _of_recorded(self, failure: dict[str, Any], spec: JobSpec, cwd: Path) -> Failure:
        frames = [
            Frame(**_known(Frame, frame) | {"path": self._frame_path(frame["file"], spec, cwd)})
            for frame in failure["frames"]
        ]
        ended = code_in_words(failure["exit_code"], signaled=failure.get("signaled"))
        return Failure(**_known(Failure, failure) | {"ended": ended, "frames": frames, "link": link_to(failure)})

    def _frame_path(self, file: str, spec: JobSpec, cwd: Path) -> str | None:
        """Return the file of a frame as the contents API names it; a notebook's cells are called “n.ipynb, cell 2”."""
        name, cell, _number = file.rpartition(".ipynb, cell ")
        if cell:
            notebook = Path(spec.entrypoint.value)
            known = spec.entrypoint.kind == "notebook" and notebook.name == f"{name}.ipynb"
            return self.contents_path(notebook) if known else None
        return None if file.startswith("<") or "\0" in file else self.contents_path(cwd / file)


def _known(model: type[Model], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a record that a model has.

    After an upgrade, a server that still runs reads records of newer supervisors, which may have more fields.
    """
    return {name: value for name, value in record.items() if name in model.model_fields}


def actions_of(record: Record, desired: str, *, foreign: bool, lost: bool) -> list[Action]:
    """Return the actions that make sense in a job's phase.

    Parameters
    ----------
    record
        The job's record.
    desired
        State that the user asked for.
    foreign
        True if the job runs on another machine.
    lost
        True if that machine may no longer exist.
    """
    if foreign:
        return ["rerun", "remove"] if lost else ["rerun"]
    phase = record["outcome"]["phase"]
    if record["deleted"]:
        return ["rerun", "remove"]
    if phase not in ACTIVE:
        return ["rerun", "delete", "remove"]
    if desired not in ("run", "pause"):
        return ["stop", "rerun", "delete"]
    # A later request replaces the one before, also while that is being carried out.
    return ["resume" if desired == "pause" else "pause", "stop", "rerun", "delete"]


def _state(job: StoredJob, record: Record, foreign: bool) -> dict[str, Any]:
    outcome = record["outcome"]
    phase: Phase = outcome["phase"]
    running = sum(replica["status"] == "Running" for replica in record["replicas"])
    plans = [plan["processes"] for plan in job.plan["replicas"]] if job.plan else [None]
    processes = None if None in plans else sum(filter(None, plans))
    reason: Reason = reason_of(record, running, processes)
    if job.plan and reason.code == "Started" and "debugged_program" in job.plan["replicas"][0]:
        reason = debugged(job.plan, processes)
    host = record["machine"]["hostname"]
    if foreign and phase != "Paused" and job.silent_since is not None:
        phase, reason = "Unknown", not_heard_of(record, job.silent_since, lost=job.lost)
    elif job.disk_trouble is not None and phase in ("Pending", "Running", "Resuming"):
        reason = unwritable(job.disk_trouble, reason)
    ran_seconds, running_since = running_time(record)
    attempts = [len(replica["attempts"]) for replica in record["replicas"]]
    progress = record["progress"]
    if progress is None and phase == "Running" and job.progress.reading is not None:
        progress = asdict(job.progress.reading)
    ended_by: EndedBy | None = outcome["ended_by"]
    return {
        "phase": phase,
        "reason": reason,
        "pending_action": _pending_action(job, record),
        "ended_by": ended_by if record["ended_at"] is not None else None,
        "created_at": record["created_at"],
        "started_at": record["started_at"],
        "ended_at": record["ended_at"],
        "ran_seconds": ran_seconds,
        "running_since": running_since,
        "attempt": max(1, *attempts),
        "restarts": record["restarts"],
        "replicas": len(record["replicas"]),
        "replicas_running": running,
        "nodes": [host],
        "devices_held": _held(record, phase) if job.plan and job.plan["devices"] is not None else None,
        "processes": processes,
        "progress": _progress(progress) if progress is not None else None,
        "read_only": _("This job runs on {host}, so it can only be changed there.", host=host) if foreign else None,
        "deleted": record["deleted"],
        "actions": actions_of(record, job.desired, foreign=foreign, lost=job.lost),
    }


def _progress(recorded: dict[str, Any]) -> Progress | None:
    try:
        return Progress(**_known(Progress, recorded))
    except ODD_RECORD:
        log.warning("The progress of a local job has unexpected parts", exc_info=True)
        return None


def _pending_action(job: StoredJob, record: Record) -> PendingAction | None:
    if job.to_be_deleted:
        return "deleting"
    if job.desired == "run" and record["ending"] is not None and record["ending"]["phase"] == "Paused":
        return "resuming"  # The supervisor resumes the job as soon as its processes have ended.
    return _PENDING.get((record["outcome"]["phase"], job.desired))


def _unreadable(job: StoredJob) -> dict[str, Any]:
    return {
        "phase": "Unknown",
        "reason": bad_record(job.problem),
        "created_at": job.files.path.stat().st_mtime if job.files.path.exists() else 0.0,
        "actions": ["remove"],
    }


def _placeholder(job: StoredJob) -> dict[str, Any]:
    return {"name": job.name, "entrypoint": {"kind": "command", "value": "unknown"}}


def _devices(spec: dict[str, Any]) -> Device | None:
    total, name = 0, "nvidia.com/gpu"
    for group in spec.get("replica_specs", []):
        device = (group.get("resources") or {}).get("device")
        if device:
            total += device["count"] * group.get("replicas", 1)
            name = device["name"]
    return Device(name=name, count=total) if total else None


def _held(record: Record, phase: Phase) -> int:
    """Return the number of accelerators that a job has claimed; it keeps them between two attempts."""
    return sum(len(replica["devices"]) for replica in record["replicas"]) if phase == "Running" else 0


def _restarts(attempts: list[AttemptRecord]) -> list[int | None]:
    """Return the number of the restart that began each attempt; None for the first and for resumed attempts."""
    count = 0
    restarts: list[int | None] = [None]
    for before in attempts[:-1]:
        paused = before["cause"] == "PausedByUser"
        count += not paused
        restarts.append(None if paused else count)
    return restarts


def _replica(record: ReplicaRecord, processes: int | None, host: str) -> Replica:
    attempts = [
        Attempt(
            number=attempt["number"],
            started_at=attempt["started_at"],
            ended_at=attempt["ended_at"],
            exit_code=attempt["exit_code"],
            ended=end_in_words(attempt["exit_code"], attempt["cause"], signaled=attempt.get("signaled")),
            worker_restarts=attempt["worker_restarts"],
            restart=restart,
        )
        for attempt, restart in zip(record["attempts"], _restarts(record["attempts"]), strict=False)
    ]
    last = record["attempts"][-1] if record["attempts"] else None
    kind, _dash, index = record["name"].rpartition("-")
    first = last["first_rank"] if last is not None else None
    return Replica(
        name=record["name"],
        type=kind,
        index=int(index),
        status=record["status"],
        ready=record["status"] == "Running",
        node=host,
        pid=record["pid"],
        ranks=list(range(first, first + processes)) if first is not None and processes else [],
        processes=processes,
        devices=record["devices"],
        restarts=record["restarts"],
        started_at=last["started_at"] if last is not None else None,
        ended_at=last["ended_at"] if last is not None else None,
        exit_code=last["exit_code"] if last is not None else None,
        attempts=attempts,
    )


def _stream(log: FoundLog, attempt: AttemptRecord | None) -> LogStream | None:
    try:
        size = log.path.stat().st_size
    except OSError:
        return None  # The file was removed after it was listed.
    first, last = index.span(log.index_path) or (None, None)
    cut = cuts.read(log.cuts_path)
    rank = None
    if log.local_rank is not None and attempt is not None and attempt["first_rank"] is not None:
        rank = attempt["first_rank"] + log.local_rank
    return LogStream(
        id=log.id,
        replica=log.replica,
        attempt=log.attempt,
        source=log.source,
        output=log.output,
        local_rank=log.local_rank,
        rank=rank,
        worker_restart=log.worker_restart,
        size=size,
        removed=cut.end - cut.start if cut is not None else 0,
        first_time=first,
        last_time=last,
        complete=attempt is not None and attempt["ended_at"] is not None,
    )
