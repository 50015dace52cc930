"""Notes of the user about runs: tags, a text, archived. A file of the extension keeps them, not the runs' folders."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..core.errors import Conflict
from ..core.system.files import open_regular, write_atomically
from ..core.system.locks import try_lock
from ..core.translation import _

FILE: Final = "experiments.json"
MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Note:
    """Tags, note and archived state of a run."""

    tags: list[str] = field(default_factory=list)
    note: str = ""
    archived: bool = False


class Notes:
    """The notes about all runs, by the run's id. All methods block.

    Parameters
    ----------
    home
        Directory of the extension's records.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self._read: tuple[tuple[int, int] | None, dict[str, Note]] = None, {}

    def all(self) -> dict[str, Note]:
        """Return all notes; a file that can't be read has none."""
        try:
            status = self.path.stat()
        except OSError:
            return {}
        version = status.st_mtime_ns, status.st_size
        if self._read[0] != version:
            try:
                self._read = version, _notes(self._content())
            except (OSError, ValueError):
                self._read = version, {}
        return self._read[1]

    def change(self, ident: str, change: Callable[[Note], Note]) -> Note:
        """Change the note about a run.

        Parameters
        ----------
        ident
            Id of the run.
        change
            Returns the new note.

        Raises
        ------
        Conflict
            If the file can't be read or written.
        """
        try:
            descriptor = try_lock(self.path.with_name(f".{FILE}.lock"), wait=True)
            try:
                content = self._content() if self.path.exists() else {}
                new = change(_notes(content).get(ident, Note()))
                if new == Note():
                    content.pop(ident, None)
                else:
                    content[ident] = asdict(new)
                write_atomically(self.path, (json.dumps(content, indent=1) + "\n").encode())
            finally:
                if descriptor is not None:
                    os.close(descriptor)
        except (OSError, ValueError) as error:
            problem = Conflict(_("The note can't be saved in {path}.", path=str(self.path)), code="NoteNotSaved")
            problem.verbatim = str(error)
            problem.hint = _("Check the file, the free space and the permissions of the folder.")
            raise problem from error
        return new

    def _content(self) -> dict[str, Any]:
        with open_regular(self.path) as file:
            content = json.loads(file.read(MOST_BYTES))
        if not isinstance(content, dict):
            raise ValueError("no object")
        return content


def _notes(content: dict[str, Any]) -> dict[str, Note]:
    found = {}
    for ident, entry in content.items():
        if isinstance(entry, dict):
            tags = entry.get("tags")
            found[ident] = Note(
                [str(tag) for tag in tags] if isinstance(tags, list) else [],
                str(entry.get("note") or ""),
                bool(entry.get("archived")),
            )
    return found
