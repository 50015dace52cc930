"""Finds the folders of runs below a folder, with limits of time, depth and number of files. Links are not followed."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
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


class Folder(NamedTuple):
    """A folder that was searched.

    Attributes
    ----------
    modified
        Its modification time when it was listed, in nanoseconds; 0 if it is gone.
    inner
        Names of the folders in it that are searched, too.
    """

    modified: int
    inner: tuple[str, ...]


@dataclass
class Found:
    """Result of a search.

    Attributes
    ----------
    runs
        Folders of runs, with the sources that can read them.
    folders
        Folders that were searched.
    links
        Links in place of runs.
    complete
        False if a limit ended the search.
    """

    runs: dict[Path, Source] = field(default_factory=dict)
    folders: dict[Path, Folder] = field(default_factory=dict)
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
    return find_changes(top, sources, limits, [top], {})


def find_changes(
    top: Path, sources: Sequence[Source], limits: Limits, changed: Iterable[Path], known: Mapping[Path, Folder]
) -> Found:
    """Search folders that have changed, and the folders in them that are not known (blocking).

    Parameters
    ----------
    top
        Folder from which the depth counts.
    sources, limits
        Those of `find`.
    changed
        The folders.
    known
        Folders that were searched before. They are searched again only if they are among those that have changed.
    """
    found = Found()
    end = time.monotonic() + limits.seconds
    left = limits.entries
    queue = deque((folder, len(folder.relative_to(top).parts)) for folder in changed)
    while queue:
        folder, depth = queue.popleft()
        names, folders, links, modified = listed(folder, left)
        left -= len(names)
        if left <= 0 or time.monotonic() > end or len(found.runs) >= MOST_RUNS:
            found.complete = False
            break
        found.folders[folder] = Folder(modified, ())
        source = next((source for source in sources if source.is_run(folder, names)), None)
        own: frozenset[str] = frozenset()
        if source is not None:
            found.runs[folder] = source
            if source.closed:
                continue
            own = source.own_folders(names)
        if folder.name == "runs":
            found.links += [folder / name for name in links]
        before = {name for name in folders if folder / name in known} if folder in known else set()
        inner = [name for name in folders if name not in own and (name in before or not _left_out(name, folder))]
        if inner and depth >= limits.deepest:
            found.complete = False
            continue
        found.folders[folder] = Folder(modified, tuple(inner))
        queue.extend((folder / name, depth + 1) for name in inner if name not in before)
    return found


def listed(folder: Path, most: int) -> tuple[frozenset[str], list[str], list[str], int]:
    """Return the names in a folder, its folders, its links to folders, and its modification time.

    The lists are empty if the folder can't be listed. The time is 0 if the folder is gone.

    Parameters
    ----------
    folder
        The folder.
    most
        Number of names after which the list ends.
    """
    names, folders, links = [], [], []
    modified = _modified(folder)
    try:
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
        return frozenset(), [], [], modified
    return frozenset(names), sorted(folders), links, modified


def changed_folders(folders: Sequence[Path], known: Mapping[Path, Folder]) -> list[Path]:
    """Return the folders whose content has changed (blocking).

    Parameters
    ----------
    folders
        The folders.
    known
        What they were when they were searched.
    """
    return [folder for folder in folders if folder not in known or _modified(folder) != known[folder].modified]


def _modified(folder: Path) -> int:
    try:
        return folder.lstat().st_mtime_ns
    except OSError:
        return 0


def _left_out(name: str, folder: Path) -> bool:
    if name.startswith("."):
        return name not in _HIDDEN
    if folder.name == ".em" and name == "uploads":  # Copies of the runs beside it.
        return True
    # A virtual environment has tens of thousands of files.
    return name in _LEFT_OUT or os.path.lexists(folder / name / "pyvenv.cfg")
