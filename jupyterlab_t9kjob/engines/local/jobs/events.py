"""Events of a local job, with the texts that their codes and facts stand for."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from ....core.job import Event
from ....core.texts.wording import worse_than_median
from ....core.translation import Text, _, _n, sentences
from ....logs.storage.cap import size_in_words
from ..supervisor.records.record import EventRecord
from .fact_texts import ODD_RECORD, clone_text, disk_texts, failure_text, killed_text, sweep_text, wait_text

log = logging.getLogger(__name__)

_MESSAGES: Final = {
    "Created": _("Created."),
    "ResumedByUser": _("Resumed by you."),
    "PortTaken": _("The rendezvous port was taken; trying another one."),
    "Succeeded": _("The job succeeded."),
    "Stopped": _("Stopped by you."),
    "PausedByUser": _("Paused by you."),
    "DeadlineExceeded": _("The job ran longer than its deadline allows."),
    "BackoffLimitExceeded": _("The job failed: its restarts are used up."),
    "ExitCode": _("The job failed."),
    "SupervisorLost": _("The job's supervisor ended before the job did."),
    "MachineRestarted": _("The machine was restarted while the job ran."),
    "DirectoryRemoved": _("The job's directory was removed while it ran."),
    "Deleted": _("Deleted by you. The record and the logs are kept."),
}


def events_of(records: list[EventRecord], replicas: int) -> list[Event]:
    """Return events newest first; repeats of an event without another one in between are folded.

    Parameters
    ----------
    records
        The records, oldest first.
    replicas
        Number of the job's replicas.
    """
    folded: list[Event] = []
    for record in reversed(records):
        event = Event(
            time=record["time"],
            type=record["type"],
            reason=record["reason"],
            message=_message(record, replicas),
            replica=record["replica"],
        )
        last = folded[-1] if folded else None
        if last and (last.reason, last.message, last.replica) == (event.reason, event.message, event.replica):
            last.count += 1
        else:
            folded.append(event)
    return folded


def _message(record: EventRecord, replicas: int) -> Text:
    try:
        return _of_facts(record, replicas)
    except ODD_RECORD:
        log.warning("The event %s of a local job has unexpected facts", record["reason"], exc_info=True)
        return Text.verbatim(record["reason"])


def _of_facts(record: EventRecord, replicas: int) -> Text:
    if "message" in record:  # Earlier versions wrote sentences.
        return Text.verbatim(record["message"])
    code, facts = record["reason"], record["facts"]
    if "disk" in facts and code != "StartFailed":
        return _("The job's record can't be written: {problem}.", problem=disk_texts(facts["disk"])[1])
    match code:
        case "PausedByUser" if facts.get("created"):
            return _("Created, paused.")
        case "WaitingForDevices":
            return _("{state}.", state=wait_text(facts))
        case "CloningCode" | "CodeNotCloned":
            return _("{state}.", state=clone_text(code, facts))
        case "WaitingForSweep":
            return _("{state}.", state=sweep_text(facts))
        case "SweepStopped":
            return _("Stopped because {job} of its sweep failed.", job=facts["job"])
        case "SweepPruned":
            return _("{state}.", state=worse_than_median(facts))
        case "Started":
            if facts["replicas"] == 1:
                return _("Running on this machine.")
            return _n("{n} replica is running.", "All {n} replicas are running.", facts["replicas"])
        case "WorkerRestart":
            name = str(record["replica"])
            return _("torchrun started the ranks of {name} again ({number}).", name=name, number=facts["number"])
        case "Restarting":
            return _restarting(facts, replicas)
        case "ReplicaFailed":
            return _("{failure}.", failure=failure_text(facts["failure"], replicas))
        case "ProcessesKilled":
            return killed_text(facts)
        case "LogCut" | "LogNotCut":
            return _log_cut(facts)
        case "StartFailed":
            return _start_failed(facts)
        case "SupervisorLost" if facts.get("asked"):
            return _("The job's supervisor was asked to end before the job did.")
    return _MESSAGES.get(code) or Text.verbatim(code)


def _restarting(facts: Mapping[str, Any], replicas: int) -> Text:
    return _(
        "{failure}. Restart {number} of {limit} in {seconds} s.",
        failure=failure_text(facts["failure"], replicas),
        number=facts["restart"],
        limit=facts["limit"],
        seconds=f"{facts['delay']:g}",
    )


def _log_cut(facts: Mapping[str, Any]) -> Text:
    size = size_in_words(facts["cap"])
    if "error" in facts:
        return _(
            "The log is larger than {size}, but its file system can't remove parts of a file ({error}), so the log is"
            " left as it is.",
            size=size,
            error=facts["error"],
        )
    return _(
        "The log became larger than {size}, so lines from the middle of its largest files were removed, and will be"
        " whenever it does. Beginnings and ends are kept.",
        size=size,
    )


def _start_failed(facts: Mapping[str, Any]) -> Text:
    failed = _("The job could not be started.")
    return sentences(failed, facts.get("words")) or failed
