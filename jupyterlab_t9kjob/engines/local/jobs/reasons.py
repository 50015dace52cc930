"""Why a local job is as it is, in words."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

from ....core.job import Link, Reason
from ....core.system.disk import DiskTrouble
from ....core.system.processes import machine_id, same_boot
from ....core.wording import best_metric, duration, failed
from ....logs.failures.advice import SHORT_OF_MEMORY, advice, next_step
from ..supervisor.failure import readable
from ..supervisor.record import AttemptRecord, Record

_UNGUARDED = (
    "What was found of the job was ended. A background process that it had just started may still run, as nothing was"
    " left that would have seen it. Run the job again."
)


def running_time(record: Record) -> tuple[float, float | None]:
    """Return how long the first replica's ended attempts ran (seconds), and since when one runs now.

    Both hold also where the time of day was changed meanwhile: then the start is given as if it had always been what it
    is now.
    """
    attempts = record["replicas"][0]["attempts"] if record["replicas"] else []
    seconds = sum(
        one.get("ran_seconds", max(0.0, one["ended_at"] - one["started_at"]))
        for one in attempts
        if one["ended_at"] is not None
    )
    return seconds, next((_start(one, record) for one in attempts if one["ended_at"] is None), None)


def _start(attempt: AttemptRecord, record: Record) -> float:
    if "clock" not in attempt or not same_boot(record["machine"], _this_machine()):
        return attempt["started_at"]
    changed = time.time() - attempt["started_at"] - (time.monotonic() - attempt["clock"])
    return attempt["started_at"] + round(changed)  # whole seconds, so that the clock's small corrections do not show


_this_machine = cache(machine_id)


def reason_of(record: Record, replicas_running: int, processes: int | None) -> Reason:
    """Return why a job with a readable record is as it is.

    Parameters
    ----------
    record
        The job's record.
    replicas_running
        Number of replicas that run now.
    processes
        Number of the whole job's ranks; None if it is not known.
    """
    outcome = record["outcome"]
    code, facts = outcome["code"], outcome["facts"]
    seconds, since = running_time(record)
    if since is not None:
        seconds += (record["ended_at"] or time.time()) - since
    ran = duration(seconds)
    best = best_metric((record["progress"] or {}).get("metrics", {}))
    total, allowed = len(record["replicas"]), facts.get("allowed")
    if code in ("ExitCode", "BackoffLimitExceeded"):
        return _failed(code, record)
    if code == "StartFailed":
        return _not_started(facts)
    if code == "Started":
        return Reason(code=code, sentence=_running(record, replicas_running, processes))
    sentences = {
        "Created": "Starting on this machine",
        "WaitingForDevices": facts.get("words", "Waiting for a GPU"),
        "PausedByUser": "Paused by you",
        "ResumedByUser": f"{replicas_running} of {total} replicas are back",
        "Succeeded": f"Ran {ran} · {best}" if best else f"Ran {ran}",
        "Stopped": f"Stopped by you after {ran}" if record["started_at"] else "Stopped by you before it started",
        "DeadlineExceeded": f"Ended at its deadline of {duration(allowed)}" if allowed else "Ended at its deadline",
        "SupervisorLost": "The job's supervisor ended before the job did, so its processes were ended",
        "MachineRestarted": "The machine, or this lab on it, was restarted while the job ran",
        "DirectoryRemoved": "The job's directory was removed while it ran",
    }
    hints = {
        "WaitingForDevices": f"In use by {facts['holders']}." if facts.get("holders") else None,
        "PausedByUser": "Resume starts it from the beginning, as its next attempt.",
        "DeadlineExceeded": "Give it a longer deadline, or none, and run it again.",
        "SupervisorLost": "Nothing is left running. Run it again." if facts.get("guarded") else _UNGUARDED,
        "MachineRestarted": "Run it again.",
    }
    words = facts.get("words") if code != "WaitingForDevices" else None
    hint = _joined(facts.get("killed"), hints.get(code))
    return Reason(code=code, sentence=sentences.get(code, code), hint=hint, verbatim=words)


def unwritable(trouble: DiskTrouble, reason: Reason) -> Reason:
    """Return the reason of an active job whose directory takes no writing at present."""
    return Reason(
        code=trouble.code,
        sentence=f"{reason.sentence}, but {trouble.sentence}",
        hint=f"{trouble.hint} The job goes on as long as it can, and its record when there is a way.",
    )


def not_heard_of(record: Record, since: float) -> Reason:
    """Return the reason of a job on another machine that has gone silent."""
    host = record["machine"]["hostname"]
    return Reason(
        code="NotHeardOf",
        sentence=f"No sign of life from {host} for {duration(time.time() - since)}",
        hint=f"Its state is shown again when {host} is heard of.",
    )


def bad_record(problem: str | None) -> Reason:
    """Return the reason of a job whose record can't be read."""
    return Reason(
        code="BadRecord",
        sentence="The job's record can't be read",
        hint="Its logs can still be read; remove the job when they are no longer needed.",
        verbatim=problem,
    )


def _not_started(facts: dict[str, Any]) -> Reason:
    why, hint = "", "Check the working directory and the kernel's Python, then run it again."
    if "disk" in facts:
        why, hint = f": {facts['disk']['sentence']}", facts["disk"]["hint"]
    elif "working_dir" in facts:
        why = f": its working directory {facts['working_dir']} is gone"
        hint = "Choose a folder that exists, and run it again."
    sentence = f"The job could not be started{why}"
    return Reason(code="StartFailed", sentence=sentence, hint=hint, verbatim=facts.get("words"))


def link_to(failure: dict[str, Any]) -> Link | None:
    """Return where the failure is in the log."""
    if failure["stream"] is None:
        return None
    return Link(
        kind="log",
        label="Show in log",
        stream=failure["stream"],
        offset=failure["offset"] or 0,
    )


def _failed(code: str, record: Record) -> Reason:
    restarts = record["restarts"]
    if record["failure"] is None:
        return Reason(code=code, sentence="The job failed")
    failure = readable(record["failure"])
    who = _who(failure, len(record["replicas"]))
    exit_code = failure["exit_code"]
    trouble = failure.get("disk")
    error, note = failure["error"], failure["note"]
    signaled = failure.get("signaled")
    words = failed(exit_code, trouble["sentence"] if trouble else error, signaled=signaled)
    what_to_do = advice(exit_code, error, note, signaled=signaled)
    if exit_code == 137 and signaled is not False:
        what_to_do = SHORT_OF_MEMORY
    what_to_do = what_to_do or next_step(exit_code, error, traceback=bool(failure["frames"]), signaled=signaled)
    used_up = None
    if code == "BackoffLimitExceeded" and restarts:
        used_up = f"All {restarts} restarts are used up." if restarts != 1 else "Its one restart is used up."
    hint = _joined(note, used_up, what_to_do)
    if trouble:
        hint = f"{trouble['hint']} Then run it again."
    link = link_to(failure)
    return Reason(
        code=trouble["code"] if trouble else code,
        sentence=f"{who} {words}",
        hint=hint,
        verbatim=failure["error"],
        links=[link] if link is not None else [],
    )


def _joined(*sentences: str | None) -> str | None:
    return " ".join(filter(None, sentences)) or None


def _who(failure: dict[str, Any], replicas: int) -> str:
    if failure["rank"] is not None:
        return f"Rank {failure['rank']}"
    launcher = "torchrun" if ".launcher." in (failure["stream"] or "") else None
    if replicas == 1:
        return launcher or "The script"
    return f"{launcher} of {failure['replica']}" if launcher else str(failure["replica"])


def _running(record: Record, running: int, processes: int | None) -> str:
    total = len(record["replicas"])
    if running == total and total > 1:
        return f"All {total} replicas are running"
    if running == total:
        return {None: "Running", 1: "1 process is running"}.get(processes, f"{processes} processes are running")
    if record["ending"] is not None:
        return "Its processes are ending"
    if any(replica["status"] == "Restarting" for replica in record["replicas"]):
        if running == 0:
            return "Its processes will start again"
        return f"{running} of {total} replicas are running, the rest starts again"
    return f"{running} of {total} replicas are running"
