"""Lists the files of a folder that a snapshot copies, and those that it leaves out."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .patterns import Ignore

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 200_000_000
"""Largest number and size of copied files. Counting ends above them."""
MOST_SECONDS: Final = 5.0
"""Longest time for the files that are copied."""
COUNT_SECONDS: Final = 1.0
"""Longest time for counting all files that are left out."""
NOT_UTF8: Final = "name"
LINK: Final = "link"
SPECIAL: Final = "special"
"""Reasons other than a rule for which a file is left out."""


@dataclass(frozen=True)
class Entry:
    """A file or link that is copied.

    Attributes
    ----------
    path
        Path relative to the copied folder.
    size
        Size in bytes.
    executable
        True if its owner may execute it.
    stamp
        Modification time in ns, inode and size; equal as long as nobody writes the file.
    target
        Relative target of a link inside the folder; None for a file.
    """

    path: str
    size: int
    executable: bool
    stamp: tuple[int, int, int]
    target: str | None = None


@dataclass
class LeftOut:
    """A file or folder that is not copied.

    Attributes
    ----------
    path
        Path relative to the copied folder. The path of a folder ends with a slash.
    rule
        Pattern or ignore file; one of `NOT_UTF8`, `LINK`, `SPECIAL` with an empty `rule`.
    reason
        Why a file without a rule is left out.
    files, size
        Number and size of its files.
    complete
        False if counting ended early.
    """

    path: str
    rule: str
    reason: str = ""
    files: int = 1
    size: int = 0
    complete: bool = True


@dataclass
class Listing:
    """Content of a folder.

    Attributes
    ----------
    files
        Files that are copied, sorted by path.
    left_out
        Files and folders that are not copied.
    size
        Size of the copied files in bytes.
    over
        The limit that ended the listing: ``files``, ``size`` or ``time``; empty if the listing is complete.
    largest
        Folders of the first level with the most bytes, largest first: path and size.
    repository
        Folder with `.git`; None without git.
    """

    files: list[Entry] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    size: int = 0
    over: str = ""
    largest: list[tuple[str, int]] = field(default_factory=list)
    repository: Path | None = None


def list_files(folder: Path, leave_out: Sequence[str], *, most_bytes: int = MOST_BYTES, count: bool = False) -> Listing:
    """List the content of a folder (blocking; `MOST_SECONDS` and `COUNT_SECONDS` at most if the disk answers).

    Parameters
    ----------
    folder
        Absolute path of the folder.
    leave_out
        Patterns of the form.
    most_bytes
        Largest size of the copy.
    count
        True to count the files in folders that are left out.

    Raises
    ------
    OSError
        If the folder itself can't be read.
    ValueError
        If a pattern is invalid.
    """
    folder = Path(os.path.realpath(folder))
    ignore = Ignore(folder, leave_out)
    found = Listing(repository=ignore.repository)
    end = time.monotonic() + MOST_SECONDS
    sizes: dict[str, int] = {}
    for entry in _walk(folder, ignore, found, end):
        found.files.append(entry)
        found.size += entry.size
        top = entry.path.partition("/")[0]
        sizes[top] = sizes.get(top, 0) + entry.size
        if len(found.files) > MOST_FILES:
            found.over = found.over or "files"
            break
        # Counting goes on for a while above the limit, so that the largest folders are the right ones.
        if found.size > most_bytes:
            found.over = found.over or "size"
    found.files.sort(key=lambda entry: entry.path)
    found.left_out.sort(key=lambda entry: entry.path)
    found.largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    if count:
        _count(folder, found)
    return found


def _walk(folder: Path, ignore: Ignore, found: Listing, end: float) -> Iterator[Entry]:
    pending = [""]
    while pending:
        prefix = pending.pop()
        path = folder / prefix
        ignore.enter(prefix, path)
        try:
            entries = os.scandir(path)
        except OSError:
            if not prefix:
                raise
            found.left_out.append(LeftOut(prefix, "", SPECIAL))
            continue
        with entries:
            for entry in entries:
                if time.monotonic() > end:
                    found.over = "time"
                    return
                made = _entry(folder, prefix, entry, ignore, found, pending)
                if made is not None:
                    yield made
    yield from _tracked(folder, ignore, found, end)


def _tracked(folder: Path, ignore: Ignore, found: Listing, end: float) -> Iterator[Entry]:
    """Yield the files that git tracks in the folders that are left out."""
    known: dict[str, bool] = {}

    def is_walked(prefix: str) -> bool:
        """Return True for a folder that is neither a link nor an environment, and is in no such folder."""
        if prefix and prefix not in known:
            path = os.path.join(folder, prefix)  # noqa: PTH118
            is_plain = stat.S_ISDIR(os.lstat(path).st_mode) and not _is_environment(path)
            known[prefix] = is_plain and is_walked(prefix.rpartition("/")[0])
        return known.get(prefix, True)

    for name in [name for each in found.left_out if each.path.endswith("/") for name in ignore.tracked_in(each.path)]:
        if time.monotonic() > end:
            found.over = "time"
            return
        path = os.path.join(folder, name)  # noqa: PTH118
        try:
            name.encode()
            made = _file(folder, name, path, os.lstat(path)) if is_walked(name.rpartition("/")[0]) else None
        except (OSError, UnicodeEncodeError):  # It was removed, or has a name that is not copied.
            continue
        if made is not None:
            yield made


def _entry(
    folder: Path, prefix: str, entry: os.DirEntry[str], ignore: Ignore, found: Listing, pending: list[str]
) -> Entry | None:
    """Return a file that is copied; note a folder to walk, or a file that is left out."""
    name = prefix + entry.name
    try:
        name.encode()
    except UnicodeEncodeError:
        found.left_out.append(LeftOut(name.encode("utf-8", "replace").decode(), "", NOT_UTF8))
        return None
    try:
        is_folder = entry.is_dir(follow_symlinks=False)
        status = entry.stat(follow_symlinks=False)
    except OSError:  # The file was removed meanwhile.
        return None
    shown = f"{name}/" if is_folder else name
    rule = ignore.rule_for(shown)
    if rule is None and is_folder and _is_environment(entry.path):
        rule = "pyvenv.cfg"
    if rule is not None:
        found.left_out.append(LeftOut(shown, rule, size=status.st_size))
        return None
    if is_folder:
        pending.append(shown)
        return None
    made = _file(folder, name, entry.path, status)
    if made is None:
        found.left_out.append(LeftOut(name, "", LINK if stat.S_ISLNK(status.st_mode) else SPECIAL))
    return made


def _file(folder: Path, name: str, path: str, status: os.stat_result) -> Entry | None:
    """Return a file or link that is copied; None for a link out of the folder, and for anything else."""
    stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
    if stat.S_ISREG(status.st_mode):
        return Entry(name, status.st_size, bool(status.st_mode & stat.S_IXUSR), stamp)
    target = _target(folder, path) if stat.S_ISLNK(status.st_mode) else None
    return Entry(name, 0, False, stamp, target) if target is not None else None


def _target(folder: Path, link: str) -> str | None:
    """Return the target of a link relative to the link's folder; None if it leads out of the copied folder."""
    real = os.path.realpath(link)
    if not Path(real).is_relative_to(folder) or not os.path.exists(real):  # noqa: PTH110
        return None
    return os.path.relpath(real, os.path.dirname(link))  # noqa: PTH120


def _is_environment(path: str) -> bool:
    """Return True for the folder of a virtual or conda environment."""
    return any(os.path.lexists(f"{path}/{name}") for name in ("pyvenv.cfg", "conda-meta"))


def _count(folder: Path, found: Listing) -> None:
    """Count the files in folders that are left out, until `COUNT_SECONDS` are over."""
    end = time.monotonic() + COUNT_SECONDS
    copied = {entry.path for entry in found.files}
    found.left_out = [each for each in found.left_out if not _is_copied(folder, each, copied, end)]


def _is_copied(folder: Path, left_out: LeftOut, copied: set[str], end: float) -> bool:
    """Count the files of a folder that are left out; return True if all are copied, since git tracks them."""
    pending = [left_out.path] if left_out.path.endswith("/") else []
    if pending:
        left_out.files = left_out.size = tracked = 0
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                for entry in entries:
                    if time.monotonic() > end:
                        left_out.complete = False
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(f"{prefix}{entry.name}/")
                    elif f"{prefix}{entry.name}" in copied:
                        tracked += 1
                    else:
                        left_out.files += 1
                        left_out.size += entry.stat(follow_symlinks=False).st_size
        except OSError:  # The folder was removed, or can't be read.
            left_out.complete = False
    return left_out.path.endswith("/") and tracked > 0 and left_out.files == 0 and left_out.complete
