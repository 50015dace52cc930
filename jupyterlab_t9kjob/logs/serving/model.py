"""Log lines as the API gives them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...core.job import Time
from ...core.spec import Model

Cursor = Annotated[
    dict[str, int],
    Field(
        description="Stream id → byte offset; streams not named start at 0. An offset within a line stands for"
        " that line: pages on both sides of it have the line."
    ),
]


class LogLine(Model):
    """One line. `(stream, offset)` names it: a line sent again replaces the one before."""

    stream: str
    offset: int = Field(description="Byte offset of its first byte.")
    size: int = Field(description="Bytes, the newline included.")
    time: Time | None = None
    text: str = Field(description="Decoded; of a progress bar (\\r) only the last update.")
    updates: int = Field(1, description="Updates that a progress bar overwrote, itself included.")
    partial: bool = Field(False, description="No newline yet: it may grow.")
    cut: bool = Field(False, description="Longer than what is sent; the rest is at its offset.")
    removed: int = Field(
        0,
        description="This line stands for that many bytes which were cut out to keep the job's log below its cap; its"
        " text is empty.",
    )


class LogHit(Model):
    """A line that matches."""

    stream: str
    offset: int
    time: Time | None = None
    text: str
    spans: list[tuple[int, int]] = Field(
        description="Start and end of each match in `text`, in UTF-16 units as JavaScript counts."
    )
    before: list[LogLine] = Field(
        default_factory=list, description="The lines above it in its stream, as many as were asked for."
    )
    after: list[LogLine] = Field(default_factory=list, description="The lines below it.")
