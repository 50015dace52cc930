"""TensorBoards as the API gives them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.job import Reason, Time
from ..core.spec import Model


class TensorBoard(Model):
    """One TensorBoard process, or what became of it."""

    id: str
    log_dirs: list[str] = Field(description="Absolute paths.")
    paths: list[str | None] = Field(description="The same as the contents API names them.")
    label: str = Field(description="Short name for tabs and lists.")
    status: Literal["starting", "running", "unresponsive", "idle", "failed"]
    since: Time | None = Field(None, description="Since when it is in this status.")
    reason: Reason | None = Field(None, description="Why it is so, or what is wrong with a log directory.")
    url: str = Field(description="Path of the proxied page, below the server's base URL.")
    started_at: Time | None = None
    last_data_at: Time | None = Field(None, description="Newest event file's modification time.")
    has_data: bool = Field(False, description="There are event files, or too many files to tell.")
    runs: int | None = Field(None, description="Folders with event files; null if not all were looked at.")
    points: int | None = Field(None, description="Values of all curves; null as long as they are not counted.")
    job_id: str | None = None


class OpenTensorBoard(Model):
    """Open a TensorBoard on a job's log directories, or on given ones; reuses a running one."""

    job_id: str | None = None
    paths: list[str] = Field(default_factory=list, description="Contents API or absolute paths.")
