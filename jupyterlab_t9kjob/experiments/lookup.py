"""Finds a run by its id. No answer says that there is none before everything was searched once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot, outside
from ..core.errors import NotFound, Unavailable
from ..core.system.disk_threads import on_disk
from ..core.system.tasks import spawn
from ..core.translation import _
from .library.known import SEARCH_SECONDS, Known
from .library.library import Library
from .of_jobs.runs import JobRuns
from .places import real_folders

ANSWER_SECONDS: Final = 10.0
"""Time that a request waits for a search; the page asks again after it."""


class Lookup:
    """The runs and folders that requests name.

    Parameters
    ----------
    root
        The contents root.
    library
        The known runs.
    job_runs
        The runs of jobs.
    """

    def __init__(self, root: ContentsRoot, library: Library, job_runs: JobRuns) -> None:
        self._root, self._library, self._job_runs = root, library, job_runs
        self._search: asyncio.Task[None] | None = None
        self._searched_at: float | None = None
        self._tried_at = float("-inf")

    async def stop(self) -> None:
        """End the search."""
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    async def wait_for_all(self, wanted: str = "") -> None:
        """Return when all runs and their facts are known, as they are now or were some minutes ago.

        Parameters
        ----------
        wanted
            Id of a run that is enough.

        Raises
        ------
        Unavailable
            If the first search takes longer than `ANSWER_SECONDS`. It goes on.
        """
        if self._searched_at is None or time.monotonic() - self._tried_at > SEARCH_SECONDS:
            if self._search is None or self._search.done():
                self._search = spawn(self._search_all(), "search for all runs")
            end = time.monotonic() + ANSWER_SECONDS
            while not self._search.done() and (left := end - time.monotonic()) > 0:
                await self._library.wait(left)
                if wanted in self._library.by_id:
                    return
            if self._search.done() and self._searched_at is None:
                self._search.result()
        if self._searched_at is None:
            raise Unavailable(
                _("The lab's folders are still being searched for runs."),
                code="StillSearching",
                hint=_("Try again in a minute."),
            )

    async def _search_all(self) -> None:
        try:
            await self._library.find(self._root.folder)
            await self._job_runs.update()  # Runs of jobs, and those in folders outside the root that jobs name.
            self._searched_at = time.monotonic()
        finally:
            self._tried_at = time.monotonic()
            self._library.publish()

    async def known(self, ident: str) -> Known:
        """Return a run by its id.

        Raises
        ------
        NotFound
            If there is no such run.
        Unavailable
            If it is not found so far.
        """
        found = await self.find(ident)
        if found is None:
            raise NotFound(
                _("There is no run with this id."), code="NoSuchRun", hint=_("It may have been deleted or moved.")
            )
        return found

    async def find(self, ident: str) -> Known | None:
        """Return a run by its id; None if there is none. Raises `Unavailable` if it is not found so far."""
        if ident not in self._library.by_id:
            await self.wait_for_all(ident)
        return await self._read(ident)

    async def _read(self, ident: str) -> Known | None:
        known = self._library.by_id.get(ident)
        if known is not None and known.facts is None and known.has_files:  # A search has just found it.
            await self._library.refresh([known])
        return known if known is not None and known.facts is not None else None

    async def found(self, idents: Sequence[str]) -> list[Known]:
        """Return the runs that exist."""
        if any(ident not in self._library.by_id for ident in idents):
            await self.wait_for_all()
        return [known for ident in dict.fromkeys(idents) if (known := await self._read(ident)) is not None]

    async def folder(self, path: str) -> Path:
        """Return the folder of a contents path.

        Raises
        ------
        FieldError
            If it leads out of the root, also by a link.
        NotFound
            If there is no such folder.
        """
        top = self._root.disk(path, "/folder")
        real, base, exists = await on_disk(top, real_folders, top, self._root.folder)
        if not real.is_relative_to(base):
            raise outside(path, self._root.folder, "/folder", real)
        if not exists:
            raise NotFound(_("There is no folder {path}.", path=path), code="NoSuchFolder")
        return self._root.folder / real.relative_to(base)
