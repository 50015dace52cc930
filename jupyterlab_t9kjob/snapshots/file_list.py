"""List of a snapshot's files as JSON, checked when it is read: other users may write to a shared volume."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .hashes import FileHash, StoredFile, link_hash


def are_inside(files: Sequence[StoredFile]) -> bool:
    """Return True if paths and links of a list lead to the copy's own files, as those of `list_files` do."""
    paths = {file.path for file in files}
    return len(paths) == len(files) and all(_is_inside(file, paths) for file in files)


def _is_inside(file: StoredFile, paths: set[str]) -> bool:
    parts = file.path.split("/")
    if {"", ".", ".."}.intersection(parts) or "\0" in file.path:
        return False
    if len(parts) > 1 and any("/".join(parts[:depth]) in paths for depth in range(1, len(parts))):
        return False  # The folder of the file is a file or a link.
    if file.target is None:
        return True
    if "\0" in file.target or link_hash(file.target) != file.hash:
        return False
    folder = posixpath.dirname(file.path)
    real = posixpath.normpath(posixpath.join(folder, file.target))
    # The shortest path between two places goes through no link.
    is_out = real == ".." or real.startswith(("/", "../"))
    return not is_out and file.target == posixpath.relpath(real, folder or ".")


def as_json(file: StoredFile) -> dict[str, Any]:
    """Return a file as an entry of the list."""
    return asdict(file)


def from_json(item: dict[str, Any]) -> StoredFile:
    """Return a file from an entry of the list.

    Raises
    ------
    TypeError, ValueError, KeyError
        If a value is missing or has another type.
    """
    file = StoredFile(**{**item, "hash": FileHash(**item["hash"])})
    texts = (file.path, file.hash.sha256, file.hash.blob, *([] if file.target is None else [file.target]))
    if not all(isinstance(text, str) for text in texts) or type(file.executable) is not bool:
        raise TypeError
    if type(file.size) is not int or not 0 <= file.size < 2**53:
        raise ValueError
    return file
