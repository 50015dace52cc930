"""`Notice`: something about a job that its user may want to be told, such as its end."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from .job import Time
from .spec import Model
from .translation import Text

NoticeKind = Literal["failed", "no_progress", "paused", "succeeded_late", "succeeded_soon", "waiting", "sweep_ended"]
"""Kinds of notices about jobs. `succeeded_late` is a success after more than the user's number of minutes."""
NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)


class Notice(Model):
    """A notice about a job, or about a message that could not be delivered."""

    id: str = Field(description="The same for the same event in every lab; a receiver can drop repeats by it.")
    kind: NoticeKind | Literal["undelivered"]
    job: str | None = Field(None, description="Id of the job; null if the notice is about none.")
    time: Time
    title: Text = Field(description="“train-3 failed”.")
    text: Text | None = Field(None, description="The cause, and the next step where it is known.")
