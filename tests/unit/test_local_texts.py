"""Texts of local jobs: made from codes and facts when a record is read; sentences of older records stay readable."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.system.disk import trouble_of
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.engines.local.jobs.api_views import Views
from jupyterlab_t9kjob.engines.local.jobs.events import events_of
from jupyterlab_t9kjob.engines.local.jobs.reasons import reason_of
from jupyterlab_t9kjob.engines.local.jobs.stored_job import StoredJob
from jupyterlab_t9kjob.engines.local.supervisor.records.record import EventRecord, Record, new_record

FULL = trouble_of(OSError(errno.EROFS, "Read-only file system"), Path("/data"))._asdict()
OLD_FULL = {"code": "DiskReadOnly", "sentence": "the disk that holds /data is read-only", "hint": "Ask."}
FAILURE = {
    "replica": "worker-1", "rank": 1, "exit_code": 1, "signaled": False, "error": "ValueError: no", "stream": None,
    "disk": None,
}  # fmt: skip


def recorded() -> Record:
    plan: Any = {"uid": "u", "name": "n", "replicas": [{"name": "worker-0"}]}
    return new_record(plan, {"hostname": "h", "boot_id": "b", "pid_namespace": "p"}, paused=False, rerun_of=None)


def event(code: str, **more: Any) -> EventRecord:
    return {"time": 1.0, "type": "Normal", "reason": code, "replica": "worker-1"} | more  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("code", "facts", "message"),
    [
        ("Created", {"created": True}, "Created."),
        ("PausedByUser", {"created": True}, "Created, paused."),
        ("PausedByUser", {}, "Paused by you."),
        ("Started", {"replicas": 2}, "All 2 replicas are running."),
        ("WorkerRestart", {"number": 1}, "torchrun started the ranks of worker-1 again (1)."),
        ("ReplicaFailed", {"failure": FAILURE}, "Rank 1 failed with exit code 1: ValueError: no."),
        (
            "Restarting",
            {"failure": FAILURE | {"rank": None, "error": None}, "restart": 1, "limit": 3, "delay": 0.5},
            "worker-1 ended with exit code 1. Restart 1 of 3 in 0.5 s.",
        ),
        ("ProcessesKilled", {"count": 1, "grace_seconds": 1.0}, "1 process did not end within 1 s and was killed."),
        ("DiskReadOnly", {"disk": FULL}, "The job's record can't be written: the disk that holds /data is read-only."),
        ("WaitingForDevices", {"needs": 2, "free": 1, "behind": [], "held_by": []}, "Needs 2 GPUs, 1 free."),
        ("StartFailed", {"words": "No such file"}, "The job could not be started. No such file"),
        ("FromALaterVersion", {}, "FromALaterVersion"),
    ],
)
def test_an_event_of_facts(code: str, facts: dict[str, Any], message: str) -> None:
    (found,) = events_of([event(code, facts=facts)], 2)
    assert found.message == message
    assert isinstance(found.message, Text)


@pytest.mark.parametrize("more", [{}, {"facts": {}}, {"facts": {"cap": None}}, {"facts": []}])
def test_an_event_without_its_facts_shows_its_code(more: dict[str, Any]) -> None:
    found = events_of([event("LogCut", **more), event("Created", facts={})], 2)
    assert [one.message for one in found] == ["Created.", "LogCut"]


def test_an_event_of_an_older_record() -> None:
    older = event("Started", message="Running on this machine.")
    (found,) = events_of([older, older], 1)
    assert (found.message, found.count) == ("Running on this machine.", 2)


def test_an_error_of_a_disk_without_words() -> None:
    assert trouble_of(OSError(), Path("/data")).sentence == "the disk that holds /data has an error"


@pytest.mark.parametrize(
    ("code", "facts", "sentence", "hint"),
    [
        ("WaitingForDevices", {"needs": 2}, "WaitingForDevices", None),
        (
            "WaitingForDevices",
            {"needs": 2, "free": 1, "ahead": 0, "words": "Needs 2 GPUs, 1 is free", "holders": "a and b"},
            "Needs 2 GPUs, 1 is free",
            "In use by a and b.",
        ),
        (
            "WaitingForDevices",
            {"needs": 1, "free": 0, "behind": ["a", None, "c"], "held_by": ["d"]},
            "Needs 1 GPU, 0 free; queued behind a, another job and 1 other",
            "In use by d.",
        ),
        ("Stopped", {"killed": "1 process was killed."}, "Stopped by you before it started", "1 process was killed."),
        ("StartFailed", {"disk": OLD_FULL}, f"The job could not be started: {OLD_FULL['sentence']}", "Ask."),
        (
            "StartFailed",
            {"disk": FULL},
            f"The job could not be started: {OLD_FULL['sentence']}",
            "A disk that was writable before may have an error: ask the administrator of this machine.",
        ),
    ],
)
def test_a_reason_of_facts_and_of_older_words(
    code: str, facts: dict[str, Any], sentence: str, hint: str | None
) -> None:
    record = recorded()
    record["outcome"] = {"phase": "Pending", "code": code, "facts": facts, "ended_by": None}
    reason = reason_of(record, 0, None)
    assert (reason.sentence, reason.hint) == (sentence, hint)


def test_a_job_with_odd_progress_and_failure_is_shown_without_them(tmp_path: Path) -> None:
    job = StoredJob(tmp_path / "u")
    job.record = recorded()
    job.record["progress"] = {"text": {"params": {}}, "updated_at": 1.0}
    job.record["failure"] = FAILURE | {"attempt": 1, "note": {"message": 3}, "last_output": None, "frames": []}
    job.record["outcome"] = {"phase": "Failed", "code": "ExitCode", "facts": {}, "ended_by": None}
    shown = Views(None).job(job, foreign=False)
    assert (shown.progress, shown.failure) == (None, None)
    assert shown.reason is not None and shown.reason.sentence == "ExitCode"
