"""Texts for the facts that records of local jobs keep, for reasons and events alike.

Supervisors write facts instead of sentences. Records of earlier versions have sentences, which are shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....core.code.git_address import short_name
from ....core.code.git_errors import git_code, git_texts
from ....core.system.disk import DiskTrouble
from ....core.texts.wording import failure, waits_for_sweep
from ....core.translation import Text, _, _n, listing

ODD_RECORD: Final = (AttributeError, KeyError, TypeError, ValueError)
"""Errors of making a text from a record with missing or unexpected parts. The text is then the record's code."""

_MOST_NAMES: Final = 2
"""Number of jobs that a text names before the others are counted."""


def disk_texts(facts: Mapping[str, Any]) -> tuple[str, Text, Text]:
    """Return code, problem and hint of a recorded `DiskTrouble`. The problem can follow a colon."""
    if "sentence" in facts:
        return facts["code"], Text.verbatim(facts["sentence"]), Text.verbatim(facts["hint"])
    trouble = DiskTrouble(facts["cause"], facts["path"], facts["words"])
    return trouble.code, trouble.sentence, trouble.hint


def killed_text(facts: Mapping[str, Any]) -> Text:
    """Return the sentence about processes that had to be killed (`process_tree.Killed`)."""
    return _n(
        "{n} process did not end within {seconds} s and was killed.",
        "{n} processes did not end within {seconds} s and were killed.",
        facts["count"],
        seconds=f"{facts['grace_seconds']:g}",
    )


def wait_text(facts: Mapping[str, Any]) -> Text:
    """Return why a job waits for devices (`device_claims.Wait`, or an error of the disk with the queue)."""
    if "words" in facts:
        return Text.verbatim(facts["words"])
    if "error" in facts:
        return _("The queue for GPUs can't be used: {error}", error=facts["error"])
    if "needs" not in facts:
        return _("Waiting for a GPU")
    needs, free = facts["needs"], facts["free"]
    if not facts["behind"]:
        return _n("Needs {n} GPU, {free} free", "Needs {n} GPUs, {free} free", needs, free=free)
    jobs = listing([name or _("another job") for name in facts["behind"]], _MOST_NAMES)
    return _n(
        "Needs {n} GPU, {free} free; queued behind {jobs}",
        "Needs {n} GPUs, {free} free; queued behind {jobs}",
        needs,
        free=free,
        jobs=jobs,
    )


def sweep_text(facts: Mapping[str, Any]) -> Text:
    """Return why a job waits for its turn in its sweep (`sweep_turn.SweepWait`)."""
    return waits_for_sweep(facts["at_a_time"])


def holders_text(facts: Mapping[str, Any]) -> Text | None:
    """Return which jobs have the devices that a job waits for; None if no job has one."""
    holders = facts.get("holders") or (listing(facts["held_by"], _MOST_NAMES) if facts.get("held_by") else None)
    return _("In use by {jobs}.", jobs=holders) if holders else None


def failure_text(failed: Mapping[str, Any], replicas: int) -> Text:
    """Return the sentence about a failure, without a full stop: “Rank 3 failed with exit code 1: ValueError: …”.

    Parameters
    ----------
    failed
        The recorded failure, or its facts (`supervisor.failure.facts_of`).
    replicas
        Number of the job's replicas.
    """
    disk = failed.get("disk")
    error = disk_texts(disk)[1] if disk else failed["error"]
    return failure(_who(failed, replicas), failed["exit_code"], error, signaled=failed.get("signaled"))


def _who(failed: Mapping[str, Any], replicas: int) -> str:
    if failed["rank"] is not None:
        return _("Rank {rank}", rank=failed["rank"])
    launched = ".launcher." in (failed["stream"] or "")
    if replicas == 1:
        return "torchrun" if launched else _("The script")
    if launched:
        return _("torchrun of {replica}", replica=failed["replica"])
    return str(failed["replica"])


def clone_text(code: str, facts: Mapping[str, Any]) -> Text:
    """Return the state of the clone that a job waits for, or why it failed.

    Parameters
    ----------
    code
        Code of the reason: ``CloningCode``, or ``CodeNotCloned`` after a failure.
    facts
        ``address`` and ``commit`` of the repository; after a failure also git's ``words``.
    """
    name, commit = short_name(facts["address"]), facts["commit"][:7]
    if code == "CloningCode":
        return _("Cloning the repository {name} at {commit}", name=name, commit=commit)
    return git_texts(git_code(facts["words"]), facts["address"], facts["commit"])[0]


def clone_hint(facts: Mapping[str, Any]) -> Text | None:
    """Return what the user can do about a clone that failed."""
    return git_texts(git_code(facts["words"]), facts["address"], facts["commit"])[1]
