"""Measures the CPU time of a process, and of the main thread of a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

TICKS = os.sysconf("SC_CLK_TCK")


def of_process(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def meter(page: Page) -> CDPSession:
    """Begin to measure a page."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return session


class Session(Protocol):
    """A DevTools session with a page, such as Playwright's `CDPSession`."""

    def send(self, method: str, /) -> dict[str, Any]:
        """Ask the page."""


def of_page(session: Session) -> float:
    """Return the CPU seconds that the page's main thread has used."""
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])
