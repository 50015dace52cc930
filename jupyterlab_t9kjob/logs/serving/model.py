"""Models of log lines and search hits in the API."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.job import Time
from ...core.spec import Model

Cursor = Annotated[
    dict[str, int],
    Field(
        description="Stream id → byte offset; streams that are not named start at 0. If an offset is within a line,"
        " the pages on both sides of the offset have the line."
    ),
]


class LogLine(Model):
    """One line, identified by `stream` and `offset`: a line that is sent again replaces the earlier one."""

    stream: str = Field(description="Id of the log stream.")
    offset: int = Field(description="Offset of the line's first byte in the stream.")
    size: int = Field(description="Size in bytes, with the newline.")
    time: Time | None = Field(None, description="When the line was written, in seconds since the epoch (UTC).")
    text: str = Field(description="Decoded text; of a progress bar (\\r) only the last update.")
    updates: int = Field(1, description="Number of updates of a progress bar, with the shown one.")
    partial: bool = Field(False, description="The line has no newline yet and may grow.")
    cut: bool = Field(False, description="The text is only the beginning of the line.")
    removed: int = Field(
        0,
        description="Number of bytes that were removed here to keep the job's log below its cap. The line stands for"
        " these bytes; its text is empty.",
    )


class LogHit(Model):
    """A line that matches a search."""

    stream: str = Field(description="Id of the log stream.")
    offset: int = Field(description="Offset of the line's first byte in the stream.")
    time: Time | None = Field(None, description="When the line was written, in seconds since the epoch (UTC).")
    text: str = Field(description="Decoded text, as of a `LogLine`.")
    spans: list[tuple[int, int]] = Field(
        description="Start and end of each match in `text`, in UTF-16 code units, as JavaScript counts."
    )
    before: list[LogLine] = Field(
        default_factory=list, description="Lines before the hit in its stream, as many as were requested."
    )
    after: list[LogLine] = Field(
        default_factory=list, description="Lines after the hit in its stream, as many as were requested."
    )


class LogError(Model):
    """The first error in a stream."""

    stream: str = Field(description="Id of the log stream.")
    offset: int = Field(description="Offset of the error's first line in the stream.")
    time: Time | None = Field(None, description="When the line was written, in seconds since the epoch (UTC).")
    text: str = Field(description="The line that states the error: of a traceback the last line, else the first.")
    traceback: bool = Field(description="The error begins with a traceback.")
