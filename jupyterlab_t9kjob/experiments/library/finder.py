"""Finds the folders of runs below a folder, with limits of time, depth and number of files. Links are not followed."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from ..facts import Source

MOST_RUNS: Final = 50_000
_LEFT_OUT: Final = frozenset({"node_modules", "site-packages", "__pycache__", "checkpoints", "lost+found"})
_HIDDEN: Final = frozenset({".em"})
"""Hidden folders that are searched."""


class Limits(NamedTuple):
    """Limits of a search: number of files, seconds, and depth."""

    entries: int = 500_000
    seconds: float = 40.0
    deepest: int = 12


FEW: Final = Limits(20_000, 5.0, 4)
"""Limits of the search of a folder that only a job names."""


@dataclass
class Found:
    """Result of a search.

    Attributes
    ----------
    runs
        Folders of runs, with the sources that can read them.
    parents
        Folders that were listed, with their modification times in nanoseconds.
    links
        Links in place of runs.
    complete
        False if a limit ended the search.
    """

    runs: dict[Path, Source] = field(default_factory=dict)
    parents: dict[Path, int] = field(default_factory=dict)
    links: list[Path] = field(default_factory=list)
    complete: bool = True


def find(top: Path, sources: Sequence[Source], limits: Limits = Limits()) -> Found:  # noqa: B008 (a tuple)
    """Search a folder and those below it (blocking).

    Parameters
    ----------
    top
        The folder.
    sources
        Readers of runs; the first that knows a folder reads it.
    limits
        Limits of the search.
    """
    found = Found()
    end = time.monotonic() + limits.seconds
    left = limits.entries
    queue = deque([(top, 0)])
    while queue:
        folder, depth = queue.popleft()
        names, folders, links, modified = listed(folder, left)
        left -= len(names)
        if left <= 0 or time.monotonic() > end or len(found.runs) >= MOST_RUNS:
            found.complete = False
            break
        found.parents[folder] = modified
        source = next((source for source in sources if source.is_run(folder, names)), None)
        own: frozenset[str] = frozenset()
        if source is not None:
            found.runs[folder] = source
            if source.closed:
                continue
            own = source.own_folders(names)
        if folder.name == "runs":
            found.links += [folder / name for name in links]
        inner = [name for name in folders if name not in own and not _left_out(name, folder)]
        if inner and depth >= limits.deepest:
            found.complete = False
            continue
        queue.extend((folder / name, depth + 1) for name in inner)
    return found


def listed(folder: Path, most: int) -> tuple[frozenset[str], list[str], list[str], int]:
    """Return the names in a folder, its folders, its links to folders, and its modification time; empty on errors.

    Parameters
    ----------
    folder
        The folder.
    most
        Number of names after which the list ends.
    """
    names, folders, links = [], [], []
    try:
        modified = folder.lstat().st_mtime_ns
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_symlink() and entry.is_dir():
                    links.append(entry.name)
                if len(names) >= most:
                    break
    except OSError:
        return frozenset(), [], [], 0
    return frozenset(names), sorted(folders), links, modified


def changed_folders(folders: Sequence[Path], times: Mapping[Path, int]) -> list[Path]:
    """Return the folders whose content has changed (blocking).

    Parameters
    ----------
    folders
        The folders.
    times
        Their modification times when they were listed, in nanoseconds.
    """
    changed = []
    for folder in folders:
        try:
            modified = folder.lstat().st_mtime_ns
        except OSError:
            modified = 0
        if modified != times.get(folder):
            changed.append(folder)
    return changed


def _left_out(name: str, folder: Path) -> bool:
    if name.startswith("."):
        return name not in _HIDDEN
    if folder.name == ".em" and name == "uploads":  # Copies of the runs beside it.
        return True
    # A virtual environment has tens of thousands of files.
    return name in _LEFT_OUT or os.path.lexists(folder / name / "pyvenv.cfg")
