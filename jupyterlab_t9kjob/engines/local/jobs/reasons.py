"""Reasons of local jobs, made from the codes and facts of their records."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from ....core.job import Link, Reason
from ....core.system.disk import DiskTrouble
from ....core.system.processes import machine_id, same_boot
from ....core.texts.command_lines import typed
from ....core.texts.wording import best_metric, duration, worse_than_median
from ....core.translation import Text, _, _n, sentences
from ....logs.failures.advice import SHORT_OF_MEMORY, advice, next_step
from ..supervisor.failure import readable
from ..supervisor.records.record import AttemptRecord, Record, RunPlan
from .fact_texts import (
    ODD_RECORD,
    clone_hint,
    clone_text,
    disk_texts,
    failure_text,
    holders_text,
    killed_text,
    sweep_text,
    wait_text,
)

log = logging.getLogger(__name__)

_UNGUARDED: Final = _(
    "The processes that were found were ended. A background process that the job had just started may still run. Run"
    " the job again."
)


def running_time(record: Record) -> tuple[float, float | None]:
    """Return how long the first replica's ended attempts ran (seconds), and the start of the one that runs now.

    The start is None if no attempt runs. It follows changes of the time of day: it is given as if the clock had always
    been set as it is now.
    """
    attempts = record["replicas"][0]["attempts"] if record["replicas"] else []
    seconds = sum(_seconds_of(attempt, attempt["ended_at"]) for attempt in attempts if attempt["ended_at"] is not None)
    return seconds, next((_start(attempt, record) for attempt in attempts if attempt["ended_at"] is None), None)


def _seconds_of(attempt: AttemptRecord, ended_at: float) -> float:
    """Return how long an ended attempt ran: by its times, unless the time of day was changed meanwhile."""
    by_times = ended_at - attempt["started_at"]
    ran = attempt.get("ran_seconds", by_times)
    return max(0.0, ran if round(ran - by_times) else by_times)  # Small corrections of the clock are no change.


def _start(attempt: AttemptRecord, record: Record) -> float:
    if "clock" not in attempt or not same_boot(record["machine"], _this_machine()):
        return attempt["started_at"]
    changed = time.time() - attempt["started_at"] - (time.monotonic() - attempt["clock"])
    return attempt["started_at"] + round(changed)  # Whole seconds hide the small corrections of the clock.


_this_machine = cache(machine_id)


def reason_of(record: Record, replicas_running: int, processes: int | None) -> Reason:
    """Return the reason of a job.

    Parameters
    ----------
    record
        The job's record.
    replicas_running
        Number of replicas that run now.
    processes
        Number of the whole job's ranks; None if it is not known.
    """
    try:
        return _of_outcome(record, replicas_running, processes)
    except ODD_RECORD:
        code = record["outcome"]["code"]
        log.warning("The reason %s of a local job has unexpected facts", code, exc_info=True)
        return Reason(code=code, sentence=Text.verbatim(code))


def _of_outcome(record: Record, replicas_running: int, processes: int | None) -> Reason:
    code, facts = record["outcome"]["code"], record["outcome"]["facts"]
    if code in ("ExitCode", "BackoffLimitExceeded"):
        return _failed(code, record)
    if code == "StartFailed":
        return _not_started(facts)
    killed = killed_text(facts["killed_processes"]) if "killed_processes" in facts else facts.get("killed")
    return Reason(
        code=code,
        sentence=_sentence(record, replicas_running, processes),
        hint=sentences(killed, _hint(code, facts)),
        verbatim=facts.get("words") if code != "WaitingForDevices" else None,
    )


def debugged(plan: RunPlan, processes: int | None) -> Reason:
    """Return the reason of a job that runs in debug mode.

    Parameters
    ----------
    plan
        The job's plan.
    processes
        Number of the job's ranks; None if torchrun decides.
    """
    commands = {typed(each["program"]) for each in plan["replicas"]}
    if len(commands) == 1 and processes is not None:
        sentence = _n(
            "Debug mode: its process runs “{command}” in place of the training",
            "Debug mode: each of its {n} processes runs “{command}” in place of the training",
            processes,
            command=commands.pop(),
        )
    else:
        sentence = _("Debug mode: its processes run other commands in place of the training")
    hint = _("Open a terminal to run the training by hand. Run the job again without debug mode to train.")
    return Reason(code="Debug", sentence=sentence, hint=hint)


def unwritable(trouble: DiskTrouble, reason: Reason) -> Reason:
    """Return the reason of an active job whose directory can't be written at present.

    Parameters
    ----------
    trouble
        Why the directory can't be written.
    reason
        Reason that the job has otherwise.
    """
    return Reason(
        code=trouble.code,
        sentence=_("{state}, but {problem}", state=reason.sentence, problem=trouble.sentence),
        hint=sentences(
            trouble.hint, _("The job goes on as long as it can. Its record is updated when the disk can be written.")
        ),
    )


def not_heard_of(record: Record, since: float, *, lost: bool) -> Reason:
    """Return the reason of a job on another machine that sends no heartbeat.

    Parameters
    ----------
    record
        The job's record.
    since
        Time of the last heartbeat, in seconds since the epoch.
    lost
        True if that machine may no longer exist.
    """
    host = record["machine"]["hostname"]
    shown = _("The job's state is shown again when {host} responds.", host=host)
    remove = _("If {host} no longer exists, remove the job's record and logs.", host=host) if lost else None
    return Reason(
        code="NotHeardOf",
        sentence=_("No sign of life from {host} for {time}", host=host, time=duration(time.time() - since)),
        hint=sentences(shown, remove),
    )


def bad_record(problem: str | None) -> Reason:
    """Return the reason of a job whose record can't be read."""
    return Reason(
        code="BadRecord",
        sentence=_("The job's record can't be read"),
        hint=_("Its logs can still be read; remove the job when they are no longer needed."),
        verbatim=problem,
    )


def link_to(failure: Mapping[str, Any]) -> Link | None:
    """Return a link to the failure's position in the log; None if the log does not show the failure."""
    if failure["stream"] is None:
        return None
    return Link(kind="log", label=_("Show in log"), stream=failure["stream"], offset=failure["offset"] or 0)


def _sentence(record: Record, replicas_running: int, processes: int | None) -> Text:
    code, facts = record["outcome"]["code"], record["outcome"]["facts"]
    match code:
        case "Created":
            return _("Starting on this machine")
        case "Started":
            return _running(record, replicas_running, processes)
        case "WaitingForDevices":
            return wait_text(facts)
        case "CloningCode" | "CodeNotCloned":
            return clone_text(code, facts)
        case "WaitingForSweep":
            return sweep_text(facts)
        case "SweepStopped":
            return _("Stopped because {job} of its sweep failed", job=facts["job"])
        case "SweepPruned":
            return worse_than_median(facts)
        case "PausedByUser":
            return _("Paused by you")
        case "ResumedByUser":
            total = len(record["replicas"])
            return _n(
                "{n} of {total} replicas is back", "{n} of {total} replicas are back", replicas_running, total=total
            )
        case "Succeeded":
            return _succeeded(record)
        case "Stopped":
            if record["started_at"]:
                return _("Stopped by you after {time}", time=_ran(record))
            return _("Stopped by you before it started")
        case "DeadlineExceeded":
            if facts.get("allowed"):
                return _("Ended at its deadline of {time}", time=duration(facts["allowed"]))
            return _("Ended at its deadline")
        case "SupervisorLost":
            return _("The job's supervisor ended before the job did, so its processes were ended")
        case "MachineRestarted":
            return _("The machine, or this lab on it, was restarted while the job ran")
        case "DirectoryRemoved":
            return _("The job's directory was removed while it ran")
    return Text.verbatim(code)


def _hint(code: str, facts: Mapping[str, Any]) -> Text | None:
    match code:
        case "CodeNotCloned":
            return clone_hint(facts)
        case "WaitingForDevices":
            return holders_text(facts)
        case "PausedByUser":
            return _("Resume starts it from the beginning, as its next attempt.")
        case "DeadlineExceeded":
            return _("Give it a longer deadline, or none, and run it again.")
        case "SupervisorLost":
            asked = _("Another process asked the supervisor to end.") if facts.get("asked") else None
            return sentences(asked, _("Nothing is left running. Run it again.") if facts.get("guarded") else _UNGUARDED)
        case "MachineRestarted":
            return _("Run it again.")
    return None


def _ran(record: Record) -> Text:
    seconds, since = running_time(record)
    if since is not None:
        seconds += (record["ended_at"] or time.time()) - since
    return duration(seconds)


def _succeeded(record: Record) -> Text:
    best = best_metric((record["progress"] or {}).get("metrics", {}))
    if best is None:
        return _("Ran {time}", time=_ran(record))
    return _("Ran {time} · {metric}", time=_ran(record), metric=best)


def _running(record: Record, running: int, processes: int | None) -> Text:
    total = len(record["replicas"])
    if running == total and total > 1:
        return _n("{n} replica is running", "All {n} replicas are running", total)
    if running == total and processes is None:
        return _("Running")
    if running == total:
        return _n("{n} process is running", "{n} processes are running", processes or 0)
    if record["ending"] is not None:
        return _("Its processes are ending")
    if any(replica["status"] == "Restarting" for replica in record["replicas"]):
        if running == 0:
            return _("Its processes will start again")
        return _n(
            "{n} of {total} replicas is running, the rest starts again",
            "{n} of {total} replicas are running, the rest starts again",
            running,
            total=total,
        )
    return _n("{n} of {total} replicas is running", "{n} of {total} replicas are running", running, total=total)


def _not_started(facts: Mapping[str, Any]) -> Reason:
    sentence = _("The job could not be started")
    hint = _("Check the working directory and the kernel's Python, then run it again.")
    if "disk" in facts:
        _code, problem, hint = disk_texts(facts["disk"])
        sentence = _("The job could not be started: {problem}", problem=problem)
    elif "working_dir" in facts:
        folder = facts["working_dir"]
        sentence = _("The job could not be started: its working directory {path} is gone", path=folder)
        hint = _("Choose a folder that exists, and run it again.")
    elif not facts.get("words"):
        sentence = _("The job could not be started: its supervisor did not start")
    return Reason(code="StartFailed", sentence=sentence, hint=hint, verbatim=facts.get("words"))


def _failed(code: str, record: Record) -> Reason:
    if record["failure"] is None:
        return Reason(code=code, sentence=_("The job failed"))
    failure = readable(record["failure"])
    hint = _advice(code, record["restarts"], failure)
    if failure.get("disk"):
        code, _problem, remedy = disk_texts(failure["disk"])
        hint = sentences(remedy, _("Then run it again."))
    link = link_to(failure)
    return Reason(
        code=code,
        sentence=failure_text(failure, len(record["replicas"])),
        hint=hint,
        verbatim=failure["error"],
        links=[link] if link is not None else [],
    )


def _advice(code: str, restarts: int, failure: Mapping[str, Any]) -> Text | None:
    """Return what more is known of a failure, and what the user can do."""
    exit_code, error, signaled = failure["exit_code"], failure["error"], failure.get("signaled")
    note = Text.restored(failure["note"]) if failure["note"] else None
    what_to_do: str | None = SHORT_OF_MEMORY
    if exit_code != 137 or signaled is False:
        what_to_do = advice(exit_code, error, note, signaled=signaled)
        what_to_do = what_to_do or next_step(exit_code, error, traceback=bool(failure["frames"]), signaled=signaled)
    used_up = None
    if code == "BackoffLimitExceeded" and restarts:
        used_up = _n("Its one restart is used up.", "All {n} restarts are used up.", restarts)
    return sentences(note, used_up, what_to_do)
