"""A folder of snapshots: each copy lies in a folder named by its digest, and is shared by the jobs of one state.

``<store>/<digest>/`` holds

- ``files/``: the copy, read-only;
- ``snapshot.json``: the list of files with their hashes, the copied folder, and the time;
- ``<commit>.patch``: differences from the commit that was checked out;
- ``jobs/``: one file for each job that uses the copy, and for each creation that is under way.

The clone of a git repository lies in a folder named by a hash of address and commit. It has ``repository.json`` instead
of ``snapshot.json``, and gets its ``files/`` from the first job that runs it.

A copy is made in ``<store>/.new-…`` and renamed, so that a folder with a digest's name is always complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ..core.system.files import open_regular
from ..core.system.trees import protect_tree, remove_tree, size_of_tree
from .file_list import are_inside, as_json, from_json
from .hashes import FileHash, StoredFile, digest_of, link_hash, read_file
from .listing import Entry

FILES: Final = "files"
_FACTS: Final = "snapshot.json"
_REPOSITORY: Final = "repository.json"
_JOBS: Final = "jobs"
_NEW: Final = ".new-"
_DIGEST: Final = re.compile(r"[0-9a-f]{40}")
_MOST_FACTS: Final = 64 * 1024 * 1024
_MOST_NOTE: Final = 4096
"""Largest size in bytes of a list of files, and of a job's note."""
_STALE_SECONDS: Final = 3600.0
"""Age in seconds after which the remains of a copy or creation that was cut short are removed."""
CREATION: Final = "creation:"
"""Beginning of the name of a creation, which stands for a job's id until the job exists."""


class SnapshotStore:
    """Snapshots in one folder. All methods block.

    Parameters
    ----------
    folder
        The folder, which is created for the first snapshot.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Return the folder of the copied files of a snapshot."""
        return self.folder / digest / FILES

    def has(self, digest: str) -> bool:
        """Return True if a snapshot is stored."""
        return (self.folder / digest / _FACTS).is_file()

    def shares(self, digest: str) -> bool:
        """Return True if a snapshot is stored and this user can note jobs that use it."""
        return self.has(digest) and os.access(self.folder / digest / _JOBS, os.W_OK)

    def add(self, source: Path, entries: Sequence[Entry], job: str) -> list[StoredFile]:
        """Copy files into the store, unless the store has them; note that a job uses the copy; return its files.

        Parameters
        ----------
        source
            The copied folder.
        entries
            Its files.
        job
            The job, or a creation that is under way.

        Raises
        ------
        ChangedError
            If a file was written meanwhile.
        OSError
            If a file can't be read, or the copy can't be written.
        """
        known = self._read(source, entries, None)
        if self.has(digest_of(known)):
            with contextlib.suppress(FileNotFoundError):  # The copy was removed with its last job meanwhile.
                self.use(digest_of(known), job)
                return known
        new = self.folder / f"{_NEW}{secrets.token_hex(8)}"
        self._remove_stale()
        try:
            (new / FILES).mkdir(parents=True)
            files = self._read(source, entries, new / FILES)
            facts = {"folder": str(source), "time": time.time(), "files": [as_json(file) for file in files]}
            (new / _FACTS).write_text(json.dumps(facts), "utf-8")
            (new / _JOBS).mkdir()
            (new / _JOBS / _key(job)).write_text(job, "utf-8")
            protect_tree(new / FILES)
            target = self.folder / digest_of(files)
            try:
                new.rename(target)
            except OSError:  # Another process was faster: the folder is not empty.
                if not self.has(target.name):
                    raise
                self.use(target.name, job)
        finally:
            remove_tree(new)
        return files

    def _read(self, source: Path, entries: Sequence[Entry], target: Path | None) -> list[StoredFile]:
        """Read all files, and write them to `target` if it is given."""
        found = []
        for entry in entries:
            if entry.target is not None:
                found.append(StoredFile(entry.path, 0, False, link_hash(entry.target), entry.target))
                if target is not None:
                    _parent(target / entry.path).joinpath(Path(entry.path).name).symlink_to(entry.target)
                continue
            hashes = _copy(source / entry.path, entry, None if target is None else target / entry.path)
            found.append(StoredFile(entry.path, entry.size, entry.executable, hashes))
        return sorted(found, key=lambda file: file.path)

    def files(self, digest: str) -> list[StoredFile] | None:
        """Return the files of a snapshot; None if it is not stored or its list is damaged.

        Other users may write to a shared volume. A list counts as damaged if it does not have the snapshot's digest,
        or if a path or link in it leads out of the copy.
        """
        facts = self._facts(digest)
        try:
            files = [from_json(item) for item in facts["files"]] if facts is not None else None
            return files if files is not None and digest_of(files) == digest and are_inside(files) else None
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def _facts(self, digest: str) -> dict[str, Any] | None:
        if not _DIGEST.fullmatch(digest):
            return None
        try:
            with open_regular(self.folder / digest / _FACTS) as file:
                facts = json.loads(file.read(_MOST_FACTS))
        except (OSError, ValueError, RecursionError):
            return None
        return facts if isinstance(facts, dict) else None

    def write_patch(self, digest: str, commit: str, text: str) -> None:
        """Keep the differences from a commit with a snapshot.

        Parameters
        ----------
        digest, commit
            The snapshot, and the commit that was checked out.
        text
            The differences, as git prints them. A patch that is there stays.

        Raises
        ------
        OSError
            If the patch can't be written.
        """
        path = self.folder / digest / f"{commit}.patch"
        if not path.exists():
            temporary = path.with_name(f".{secrets.token_hex(4)}")
            temporary.write_text(text, "utf-8", errors="surrogateescape")
            temporary.replace(path)

    def patch(self, digest: str, commit: str) -> str | None:
        """Return the differences from a commit; None if they were not kept.

        Parameters
        ----------
        digest, commit
            The snapshot, and the commit that was checked out.
        """
        try:
            return (self.folder / digest / f"{commit}.patch").read_text("utf-8", errors="replace")
        except OSError:
            return None

    def reserve(self, digest: str, facts: dict[str, Any], job: str) -> None:
        """Make the folder of a clone, unless it exists, and note that a job uses it.

        Parameters
        ----------
        digest
            Name of the folder.
        facts
            Description of the clone.
        job
            The job, or a creation that is under way.

        Raises
        ------
        OSError
            If the folder can't be written.
        """
        folder = self.folder / digest
        self._remove_stale()
        (folder / _JOBS).mkdir(parents=True, exist_ok=True)
        self.use(digest, job)
        if not (folder / _REPOSITORY).exists():
            temporary = folder / f".{secrets.token_hex(4)}"
            temporary.write_text(json.dumps({**facts, "time": time.time()}), "utf-8")
            temporary.replace(folder / _REPOSITORY)

    # -- jobs that use a snapshot -------------------------------------------------------------------------------------

    def use(self, digest: str, job: str) -> None:
        """Note that a job uses a snapshot.

        Parameters
        ----------
        digest, job
            Digest of the snapshot, and id of the job.

        Raises
        ------
        OSError
            If the snapshot was removed, or the note can't be written.
        """
        (self.folder / digest / _JOBS / _key(job)).write_text(job, "utf-8")

    def release(self, digest: str, job: str) -> bool:
        """Remove a job's note, and the snapshot if no other job uses it; return True if the snapshot was removed.

        Parameters
        ----------
        digest, job
            Digest of the snapshot, and id of the job.

        Raises
        ------
        OSError
            If the notes of other jobs can't be read.
        """
        with contextlib.suppress(OSError):
            (self.folder / digest / _JOBS / _key(job)).unlink()
        if self.users(digest):
            return False
        return self._remove(digest, [])

    def users(self, digest: str) -> list[str]:
        """Return the ids of the jobs that use a snapshot.

        Raises
        ------
        OSError
            If the notes can't be read, so that nobody takes the snapshot for unused.
        """
        return _users(self.folder / digest)

    def _remove(self, digest: str, users: list[str]) -> bool:
        """Remove a snapshot that has no other users than these; return True if it was removed.

        It disappears at once, even if the removal of its files fails.
        """
        if not _DIGEST.fullmatch(digest):
            return False
        gone = self.folder / f"{_NEW}{secrets.token_hex(8)}"
        try:
            os.utime(self.folder / digest)  # Otherwise another process may take an old copy for remains.
            (self.folder / digest).rename(gone)
        except OSError:
            return False
        if not set(_users(gone)) <= set(users):  # A job was noted meanwhile.
            gone.rename(self.folder / digest)
            return False
        remove_tree(gone)
        with contextlib.suppress(OSError):  # It has other snapshots.
            self.folder.rmdir()
        return True

    def make_room(self, most_bytes: int, is_busy: Callable[[str], bool], keep: str) -> list[str]:
        """Remove the oldest snapshots that no active job uses while all together exceed a size.

        Parameters
        ----------
        most_bytes
            Size of all snapshots in bytes.
        is_busy
            Returns True for a job that may still read its snapshot.
        keep
            Digest of the snapshot that was just taken.

        Returns
        -------
        list of str
            Digests of the removed snapshots.
        """
        known = sorted(self._all(), key=lambda item: item[1])
        total = sum(size for _digest, _time, size in known)
        removed = []
        for digest, _time, size in known:
            if total <= most_bytes:
                break
            users = self.users(digest)
            if digest != keep and not any(map(is_busy, users)) and self._remove(digest, users):
                total -= size
                removed.append(digest)
        return removed

    def _all(self) -> Iterator[tuple[str, float, int]]:
        """Yield digest, time and size of all snapshots."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                files = self.files(path.name)
                if files is not None:
                    at = (self._facts(path.name) or {}).get("time")
                    yield path.name, at if isinstance(at, float) else 0.0, sum(file.size for file in files)
                elif (path / _REPOSITORY).is_file():
                    yield path.name, (path / _REPOSITORY).stat().st_mtime, size_of_tree(path / FILES)

    def _remove_stale(self) -> None:
        """Remove the remains of copies that were cut short."""
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                if path.name.startswith(_NEW) and path.stat().st_mtime < time.time() - _STALE_SECONDS:
                    remove_tree(path)


def read_copy(folder: Path, name: str, most: int = 8 * 1024 * 1024) -> bytes | None:
    """Return the content of a file of a copy or of the copied folder; None if it is no file, or larger than `most`.

    Parameters
    ----------
    folder
        Folder of the files.
    name
        Path of the file in the folder, from the list of a snapshot's files.
    most
        Largest size in bytes.
    """
    try:
        with open_regular(folder / name, follow=False) as file:
            content = file.read(most + 1)
    except OSError:
        return None
    return content if len(content) <= most else None


def _copy(path: Path, entry: Entry, target: Path | None) -> FileHash:
    if target is None:
        return read_file(path, entry.size)
    _parent(target)
    with target.open("xb") as file:
        hashes = read_file(path, entry.size, file.write)
    if entry.executable:
        target.chmod(0o755)
    return hashes


def _parent(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.parent


def _users(folder: Path) -> list[str]:
    """Return the ids of the jobs in the notes of a snapshot's folder, without creations that were cut off long ago."""
    try:
        notes = list((folder / _JOBS).iterdir())
    except FileNotFoundError:
        return []
    found = []
    for note in notes:
        with contextlib.suppress(FileNotFoundError, ValueError):
            with open_regular(note) as file:
                job = file.read(_MOST_NOTE).decode("utf-8")
                changed = os.fstat(file.fileno()).st_mtime
            if not job.startswith(CREATION) or changed > time.time() - _STALE_SECONDS:
                found.append(job)
    return found


def _key(job: str) -> str:
    return hashlib.sha256(job.encode()).hexdigest()[:40]
