"""The records of a job's spools, and functions that write to them without blocking the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from ....core.system.disk import trouble_of
from ....core.system.disk_threads import lane_of
from ....core.translation import Text, _, sentences
from ....logs.storage import cuts
from ....logs.storage.cap import CappedLog, shorten_to
from ....logs.storage.records import LOG_SUFFIX, SpoolRecord, key_of, write_record
from ..objects.pods.container_runs import ContainerRun, ContainerState

T = TypeVar("T")


class SpoolStore:
    """The records of a job's spools.

    Parameters
    ----------
    folder
        Folder of the spools.

    Attributes
    ----------
    records
        The records by key.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: dict[str, SpoolRecord] = {}

    def has_all_of(self, state: ContainerState, run: ContainerRun) -> bool:
        """Return True if the spool of a run has everything that could be read.

        Parameters
        ----------
        state
            The container.
        run
            The run.
        """
        record = self.records.get(key_of(state.pod_uid, state.name, run.restart))
        return record is not None and record.complete

    def path(self, record: SpoolRecord) -> Path:
        """Return the path of a record's log."""
        return self.folder / (record.key + LOG_SUFFIX)

    def shorten(self, cap: int) -> None:
        """Cut the middle out of the largest logs if all logs together are larger than `cap` bytes (blocking).

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
    """Return the path of the record of what was cut out of a log."""
    return log.with_name(log.name + cuts.SUFFIX)


def not_kept(error: OSError, folder: Path) -> Text:
    """Return that a log can't be written, with the reason and what to do.

    Parameters
    ----------
    error
        Error of the write.
    folder
        Folder of the log.
    """
    trouble = trouble_of(error, folder)
    message = _("The log is not kept at the moment: {trouble}.", trouble=trouble.sentence)
    return sentences(message, trouble.hint) or message


async def in_thread(folder: Path, work: Callable[[], T]) -> T:
    """Run work that writes to a folder in a thread; a cancelled call does the work, too, and waits for its end.

    Parameters
    ----------
    folder
        The folder; all work on the same disk shares a few threads.
    work
        The work (blocking).
    """

    async def run() -> T:
        return await (await lane_of(folder)).run(work)

    task = asyncio.ensure_future(run())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
