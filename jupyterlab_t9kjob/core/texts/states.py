"""State of a job as one word, for the command line and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..translation import Text, _

if TYPE_CHECKING:
    from ..job import JobSummary, PendingAction, State

STATES: Final[Mapping[State, Text]] = {
    "Pending": _("Pending"),
    "Running": _("Running"),
    "Paused": _("Paused"),
    "Resuming": _("Resuming"),
    "Succeeded": _("Succeeded"),
    "Failed": _("Failed"),
    "Stopped": _("Stopped"),
    "Unknown": _("Unknown"),
}
"""The words of the states. In English, a word is the name of its state."""
_ACTIONS: Final[Mapping[PendingAction, Text]] = {
    "submitting": _("Submitting"),
    "stopping": _("Stopping"),
    "pausing": _("Pausing"),
    "resuming": _("Resuming"),
    "deleting": _("Deleting"),
}


def state_word(job: JobSummary) -> Text:
    """Return the word for an action of a job that has not taken effect yet, or else for the job's state."""
    return _ACTIONS[job.pending_action] if job.pending_action is not None else STATES[job.state]
