"""The spools of a job, and how to write to them without blocking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ....core.system.disk import trouble_of
from ....core.system.disk_threads import lane_of
from ....logs.storage import cuts
from ....logs.storage.cap import CappedLog, shorten_to
from ....logs.storage.records import LOG_SUFFIX, SpoolRecord, key_of, write_record
from ..objects.container_runs import ContainerRun, ContainerState

T = TypeVar("T")


class Kept:
    """The records of a job's spools.

    Parameters
    ----------
    folder
        Where they lie.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: dict[str, SpoolRecord] = {}

    def has_all_of(self, state: ContainerState, life: ContainerRun) -> bool:
        """Whether a life's log is here as far as it could be had."""
        record = self.records.get(key_of(state.pod_uid, state.name, life.restart))
        return record is not None and record.complete

    def path(self, record: SpoolRecord) -> Path:
        """Return the log itself."""
        return self.folder / (record.key + LOG_SUFFIX)

    def shorten(self, cap: int) -> None:
        """Cut the middle out of the largest logs if all together have more bytes than that (blocking).

        Raises
        ------
        OSError
            If a cut can't be recorded or made.
        """
        logs = [CappedLog.of(path, cuts_path(path)) for path in map(self.path, list(self.records.values()))]
        found = [log for log in logs if log is not None]
        if sum(log.kept for log in found) > cap:
            shorten_to(found, cap)

    async def save(self, record: SpoolRecord) -> None:
        """Write a record.

        Raises
        ------
        OSError
            If the disk is full or gone.
        """
        self.records[record.key] = record
        await in_thread(self.folder, lambda: write_record(self.folder, record))


def cuts_path(log: Path) -> Path:
    """Return the record of what was cut out of a log."""
    return log.with_name(log.name + cuts.SUFFIX)


def not_kept(error: OSError, folder: Path) -> str:
    """Say that a log can't be written, and why."""
    trouble = trouble_of(error, folder)
    return f"Its log is not kept at the moment: {trouble.sentence}. {trouble.hint}"


async def in_thread(folder: Path, work: Callable[[], T]) -> T:
    """Run what writes files in a folder in a thread; when cancelled, wait for its end all the same."""
    lane = await lane_of(folder)
    task = asyncio.ensure_future(lane.run(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
