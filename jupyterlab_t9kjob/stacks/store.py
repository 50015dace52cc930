"""Keeps the stacks of jobs on disk: the newest ones of each job, and a limited number of jobs."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shutil
from pathlib import Path
from typing import Final

from ..core.system.files import open_regular, write_atomically
from ..core.translation import STORED
from .model import StackDump

log = logging.getLogger(__name__)

MOST_DUMPS: Final = 5
MOST_JOBS: Final = 500
LARGEST_DUMP: Final = 16 * 1024 * 1024


class StackStore:
    """Files of stacks. All methods block.

    Parameters
    ----------
    folder
        Folder of all jobs' stacks; created when it is needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, ident: str, dump: StackDump) -> None:
        """Keep the stacks of a job, and remove the oldest stacks above the limits.

        Parameters
        ----------
        ident
            Id of the job.
        dump
            The stacks.

        Raises
        ------
        OSError
            If they can't be written.
        """
        folder = self.folder_of(ident)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = dump.model_dump_json(context=STORED).encode()
        if len(data) <= LARGEST_DUMP:
            write_atomically(folder / f"{dump.id}.json", data)
        for old in self._files(folder)[MOST_DUMPS:]:
            old.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # Another server removes the same folders.
            folders = sorted(self.folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
            for each in folders[MOST_JOBS:]:
                shutil.rmtree(each, ignore_errors=True)

    def dumps(self, ident: str) -> list[StackDump]:
        """Return the kept stacks of a job, the newest first. Files that can't be read are left out."""
        found = []
        for path in self._files(self.folder_of(ident))[:MOST_DUMPS]:
            try:
                with open_regular(path, follow=False) as file:
                    found.append(StackDump.model_validate_json(file.read(LARGEST_DUMP)))
            except (OSError, ValueError):
                log.warning("The stacks in %s can't be read", path)
        return found

    def remove(self, ident: str) -> None:
        """Remove the stacks of a job."""
        shutil.rmtree(self.folder_of(ident), ignore_errors=True)

    def folder_of(self, ident: str) -> Path:
        """Return the folder of a job's stacks, which need not exist."""
        # An id of another package's engine may contain anything.
        return self.folder / hashlib.sha256(ident.encode()).hexdigest()[:32]

    def _files(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.glob("*.json"), reverse=True)
        except OSError:
            return []
