"""Models of TensorBoards in the API."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.job import Reason, Time
from ..core.spec import Model
from ..core.translation import Text


class TensorBoard(Model):
    """A TensorBoard: log directories and the status of the process that shows them."""

    id: str
    log_dirs: list[str] = Field(description="Absolute paths of the log directories.")
    paths: list[str | None] = Field(
        description="Contents API paths of the log directories; null for a directory outside the root."
    )
    label: Text = Field(description="Short name for tabs and lists.")
    status: Literal["starting", "running", "unresponsive", "idle", "failed"]
    since: Time | None = Field(None, description="When the status last changed, in seconds since the epoch (UTC).")
    reason: Reason | None = Field(None, description="Reason of the status, or a problem with a log directory.")
    url: str = Field(description="Path of the TensorBoard's page, below the server's base URL.")
    started_at: Time | None = Field(None, description="When the process was started, in seconds since the epoch (UTC).")
    last_data_at: Time | None = Field(
        None, description="When the newest event file was last written to, in seconds since the epoch (UTC)."
    )
    has_data: bool = Field(False, description="True if there are event files, or too many files to search them all.")
    runs: int | None = Field(None, description="Number of folders with event files; null if the search was incomplete.")
    points: int | None = Field(None, description="Number of points of all curves; null until all have been counted.")
    job_id: str | None = Field(None, description="Id of the job that writes to the log directories.")


class OpenTensorBoard(Model):
    """Open a TensorBoard for the log directories of a job, or for given ones; an existing one is used again."""

    job_id: str | None = Field(None, description="Id of the job whose log directories are opened.")
    paths: list[str] = Field(
        default_factory=list, description="Log directories as contents API paths or absolute paths, without a job."
    )
