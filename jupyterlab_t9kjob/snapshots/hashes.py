"""Hashes of files, and the digest of a snapshot."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .listing import Entry

CHUNK: Final = 1024 * 1024
_MOST_CACHED: Final = 100_000


@dataclass(frozen=True)
class FileHash:
    """Hashes of one file.

    Attributes
    ----------
    sha256
        Hash of the content, for the digest.
    blob
        Id that git gives to the content.
    """

    sha256: str
    blob: str


@dataclass(frozen=True)
class StoredFile:
    """A file of a snapshot, as its digest counts it."""

    path: str
    size: int
    executable: bool
    hash: FileHash
    target: str | None = None


def digest_of(files: Iterable[StoredFile]) -> str:
    """Return the digest of a snapshot: the hash of names, kinds and contents of its files."""
    total = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.path):
        kind = "link" if file.target is not None else "executable" if file.executable else "file"
        total.update(f"{file.path}\0{kind}\0{file.hash.sha256}\n".encode())
    return total.hexdigest()[:40]


def read_file(path: Path, size: int, into: Callable[[bytes], object] = lambda _chunk: None) -> FileHash:
    """Return the hashes of a file, and pass its content on (blocking).

    Parameters
    ----------
    path
        The file. A link is not followed.
    size
        Expected size in bytes.
    into
        Called with each part of the content.

    Raises
    ------
    ChangedError
        If the file has another size, or is no file any more.
    OSError
        If the file can't be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    content = hashlib.sha256()
    blob = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    left = size
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        while chunk := file.read(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise ChangedError(path)
            content.update(chunk)
            blob.update(chunk)
            into(chunk)
        after = os.fstat(file.fileno())
    if left or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise ChangedError(path)
    return FileHash(content.hexdigest(), blob.hexdigest())


def link_hash(target: str) -> FileHash:
    """Return the hashes of a link, whose content is its target."""
    return stored_bytes("", target.encode()).hash


def stored_bytes(path: str, content: bytes) -> StoredFile:
    """Return a file of a snapshot whose content does not come from the copied folder.

    Parameters
    ----------
    path
        Path in the snapshot.
    content
        Content of the file.
    """
    blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False)
    return StoredFile(path, len(content), False, FileHash(hashlib.sha256(content).hexdigest(), blob.hexdigest()))


class ChangedError(Exception):
    """A file was written while it was read. The argument is its path."""


class HashCache:
    """Hashes of files that were read before, by path and stamp; for previews, which tolerate an outdated hash."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, tuple[int, int, int]], FileHash] = OrderedDict()

    def stored(self, folder: Path, entry: Entry) -> StoredFile:
        """Return an entry with its hashes (blocking).

        Parameters
        ----------
        folder
            The copied folder.
        entry
            A file or link in the folder.

        Raises
        ------
        ChangedError, OSError
            See `read_file`.
        """
        if entry.target is not None:
            return StoredFile(entry.path, 0, False, link_hash(entry.target), entry.target)
        key = (str(folder / entry.path), entry.stamp)
        found = self._known.pop(key, None) or read_file(folder / entry.path, entry.size)
        self._known[key] = found
        while len(self._known) > _MOST_CACHED:
            self._known.popitem(last=False)
        return StoredFile(entry.path, entry.size, entry.executable, found)
