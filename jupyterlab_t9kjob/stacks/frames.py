"""Frames of stacks as the pages show them: with the file as JupyterLab names it, and the line of code."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.errors import JobError
from ..core.job import Job
from ..core.stacks.raw import RawFrame
from ..core.system.files import open_regular
from .known_frames import is_library
from .model import StackFrame

LARGEST_FILE: Final = 1024 * 1024
MOST_FILES: Final = 200
LONGEST_LINE: Final = 200


class Sources:
    """Makes frames for one job (blocking: it reads the source files).

    Parameters
    ----------
    job
        The job, whose working directory the lab may see under another path.
    root
        The contents root.
    shares_files
        True if the job sees the lab's files at the same paths.
    """

    def __init__(self, job: Job, root: ContentsRoot, *, shares_files: bool) -> None:
        self._working = job.working_dir
        self._working_path = job.working_dir_path
        self._root = root
        self._shares = shares_files
        self._lines: dict[str, list[str]] = {}

    def shown(self, raw: RawFrame) -> StackFrame:
        """Return a frame with its path and line of code; both only for files that the lab shows."""
        library = is_library(raw)
        path = None if raw.native or raw.file.startswith("<") else self._path(raw.file)
        return StackFrame(
            function=raw.function,
            file=raw.file,
            path=path,
            line=raw.line,
            code=self._code(path, raw.line) if path is not None and not library else None,
            library=library,
            native=raw.native,
        )

    def _path(self, file: str) -> str | None:
        absolute = file if posixpath.isabs(file) or self._working is None else posixpath.join(self._working, file)
        if self._shares and posixpath.isabs(absolute):
            return self._root.api(absolute)
        if self._working is None or self._working_path is None:
            return None
        relative = posixpath.relpath(absolute, self._working)
        if relative.startswith("../") or posixpath.isabs(relative):
            return None
        return posixpath.join(self._working_path, relative) if self._working_path else relative

    def _code(self, path: str, line: int) -> str | None:
        """Return a line of a file, without its indentation; None if the file can't be read or has fewer lines."""
        if path not in self._lines:
            self._lines[path] = self._read(path) if len(self._lines) < MOST_FILES else []
        lines = self._lines[path]
        return lines[line - 1].strip()[:LONGEST_LINE] if 0 < line <= len(lines) else None

    def _read(self, path: str) -> list[str]:
        try:
            with open_regular(Path(self._root.disk(path))) as file:
                return file.read(LARGEST_FILE).decode(errors="replace").split("\n")
        except (OSError, ValueError, JobError):
            return []
