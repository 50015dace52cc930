"""Lines of a job's log that are encoded once for all pages that follow the log from the same position."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import TypeAdapter

from .model import LogLine
from .pages import Page

LINES: TypeAdapter[list[LogLine]] = TypeAdapter(list[LogLine])


class Batch:
    """Lines after a position, encoded once for all subscribers.

    Attributes
    ----------
    lines
        JSON list of `LogLine`.
    empty
        True if there are no lines.
    after
        Position after the lines: offset by stream.
    caught_up
        True if no lines were after these ones when they were read.
    growth
        Count of `follow.JobLogs.grown` before the lines were read.
    """

    def __init__(self, page: Page, cursor: Mapping[str, int], growth: int) -> None:
        self.growth = growth
        self.lines = LINES.dump_json(page.lines).decode()
        self.empty = not page.lines
        self.after = {**cursor, **page.after}
        self.caught_up = page.at_end
