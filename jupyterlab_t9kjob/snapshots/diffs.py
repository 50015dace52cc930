"""Differences between two versions of a file as a unified diff, and of a snapshot from a commit."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from .hashes import StoredFile

MOST_BYTES: Final = 512 * 1024
"""Largest file of which a difference is made."""
MOST_LINES: Final = 10_000
MOST_PATCH: Final = 4 * 1024 * 1024
"""Largest patch that is kept with a snapshot, in characters."""


def unified(name: str, old: bytes | None, new: bytes | None) -> str | None:
    """Return the unified diff of a file; None if the file is binary or too large.

    Parameters
    ----------
    name
        Path of the file.
    old, new
        Contents; None where the file does not exist.
    """
    sides = [_lines(content) for content in (old, new)]
    before, after = sides
    if before is None or after is None:
        return None
    one, other = ("/dev/null" if old is None else f"a/{name}"), ("/dev/null" if new is None else f"b/{name}")
    text = []
    for line in difflib.unified_diff(before, after, one, other):
        text.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(text)


def counts(diff: str) -> tuple[int, int]:
    """Return the numbers of added and removed lines of a unified diff."""
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def patch(
    files: Sequence[StoredFile],
    blobs: Mapping[str, str],
    read: Callable[[str], bytes | None],
    committed: Callable[[str], bytes | None],
) -> str:
    """Return the differences of a snapshot from a commit, `MOST_PATCH` characters at most.

    Parameters
    ----------
    files
        Files of the snapshot.
    blobs
        Blobs of the commit by path.
    read, committed
        Return the content of a file of the snapshot, and of a blob.
    """
    parts: list[str] = []
    left = MOST_PATCH
    for name, blob in changed(files, blobs):
        diff = unified(name, committed(blob) if blob else None, read(name))
        part = diff if diff is not None else f"Binary file {name} differs\n"
        left -= len(part)
        if left < 0:
            parts.append("The differences go on.\n")
            break
        parts.append(part)
    return "".join(parts)


def changed(files: Sequence[StoredFile], blobs: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield the files that differ from a commit: path, and blob in the commit (None: not in the commit).

    Parameters
    ----------
    files
        Files of the snapshot.
    blobs
        Ids of the commit's blobs, by path.
    """
    for file in files:
        blob = blobs.get(file.path)
        if blob != file.hash.blob:
            yield file.path, blob


def _lines(content: bytes | None) -> list[str] | None:
    if content is None:
        return []
    if len(content) > MOST_BYTES or b"\0" in content:
        return None
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    return lines if len(lines) <= MOST_LINES else None
