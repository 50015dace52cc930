"""Errors for actions that make no sense in a job's phase, and the reasons of an engine that is unavailable."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ....core.errors import Conflict, FieldError
from ....core.job import Action, JobSummary, PendingAction
from ....core.system.disk import trouble_of
from ....core.texts.wording import NOT_POSSIBLE, state_of
from ....core.translation import Text, _, sentences
from ..supervisor.records.record import ACTIVE

NEEDS_UNIX: Final = _(
    "Jobs on this machine need Linux or macOS: Windows has neither the signals nor the file locks that they rely on."
    " Run JupyterLab in WSL."
)
DESIRED: Final[dict[Action, str]] = {"pause": "pause", "resume": "run", "stop": "stop", "delete": "delete"}
"""State to ask for by action (`supervisor.record.DESIRED`)."""
_PENDING: Final[dict[Action, PendingAction]] = {"pause": "pausing", "resume": "resuming", "delete": "deleting"}
"""Pending action of each action. A request is allowed again while it is pending, and changes nothing."""


def demand_action(job: JobSummary, action: Action) -> None:
    """Demand that an action is one of the job's actions, or is pending.

    Parameters
    ----------
    job
        The job's row in the list.
    action
        The action that was asked for.

    Raises
    ------
    Conflict
        If the action is neither possible nor pending.
    """
    if action not in job.actions and (job.pending_action or "nothing") != _PENDING.get(action):
        raise refusal_of(job, action)


def refusal_of(job: JobSummary, action: Action) -> Conflict:
    """Return the error for an action that is not one of the job's actions.

    Parameters
    ----------
    job
        The job's row in the list.
    action
        The action that was asked for.
    """
    if job.read_only is not None:
        return Conflict(job.read_only, code="ReadOnly")
    name = job.name
    if action == "remove":
        message = _("{name} has not ended, so its record can't be removed.", name=name)
        return Conflict(message, hint=_("Stop or delete it first."))
    if job.phase == "Unknown":
        message = _("The record of {name} can't be read.", name=name)
        return Conflict(sentences(message, NOT_POSSIBLE[action]) or message, hint=_("Remove it."))
    if action in ("pause", "resume") and job.phase in ACTIVE and job.pending_action is None:
        return Conflict(_already(job))
    pending = job.pending_action if job.phase in ACTIVE else None
    state = state_of(name, job.phase, pending, deleted=job.deleted)
    return Conflict(sentences(state, NOT_POSSIBLE[action]) or state)


def unusable_home(error: OSError, home: Path) -> Text:
    """Return why the engine is unavailable.

    Parameters
    ----------
    error
        Error of the disk.
    home
        Directory of the jobs.
    """
    trouble = trouble_of(error, home)
    unusable = _("The folder for local jobs can't be used: {problem}.", problem=trouble.sentence)
    another = None
    if trouble.code in ("DiskReadOnly", "NotPermitted"):
        option = "--T9kJobApp.home=/path/to/folder"
        another = _("Or start JupyterLab with another folder: {option}.", option=option)
    return sentences(unusable, trouble.hint, another) or unusable


def _already(job: JobSummary) -> Text:
    match job.phase:
        case "Pending":
            return _("{name} is pending already.", name=job.name)
        case "Paused":
            return _("{name} is paused already.", name=job.name)
        case "Resuming":
            return _("{name} is resuming already.", name=job.name)
    return _("{name} is running already.", name=job.name)


def no_manifest() -> FieldError:
    """Return the error for a manifest that was sent to this engine."""
    return FieldError(
        _("A job on this machine has no manifest."),
        field="/manifest",
        hint=_("Go back to the form, or choose a cluster."),
    )
