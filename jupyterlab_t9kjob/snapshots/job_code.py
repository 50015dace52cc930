"""The code of a job: its copy, how the current files differ from it, and writing it to a new folder."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.code.model import DEFAULT_LEAVE_OUT, GitRepository
from ..core.errors import Conflict, FieldError, NotFound, Unavailable
from ..core.job import Job
from ..core.system.disk import trouble_of
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.service import JobService
from . import diffs
from .git import commits
from .git.blobs import Blobs
from .hashes import ChangedError, HashCache, StoredFile
from .listing import list_files
from .model import CodeFile, CodeText, JobCode, Restored
from .places import Places
from .store import FILES, read_copy

_MOST_FILES: Final = 1000
_MOST_TEXT: Final = 1024 * 1024
_MOST_FILE: Final = 256 * 1024 * 1024
_ORDER: Final = ("changed", "gone", "new", "same")


@dataclass(frozen=True)
class Copy:
    """The code that a job runs.

    Attributes
    ----------
    files
        Its files.
    here
        Folder from which they are read.
    opened
        Opens the code, for a context in which the function that it gives returns the content of each file; None if a
        file can't be read.
    now
        The user's current folder; None if the lab does not see it.
    leave_out
        Patterns of files in the current folder that do not count.
    """

    files: list[StoredFile]
    here: Path
    opened: Callable[[], AbstractContextManager[Callable[[str], bytes | None]]]
    now: Path | None
    leave_out: list[str]

    def read(self, name: str) -> bytes | None:
        """Return the content of one file; None if it can't be read."""
        with self.opened() as read:
            return read(name)


class CodeOfJobs:
    """Shows and restores the copies that jobs run.

    Parameters
    ----------
    jobs
        All engines.
    root
        The contents root.
    places
        Finds the place of a job's copy.
    """

    def __init__(self, jobs: JobService, root: ContentsRoot, places: Places) -> None:
        self._jobs = jobs
        self._root = root
        self._places = places
        self._cache = HashCache()

    async def code(self, ident: str) -> JobCode:
        """Return the code of a job, compared with the current files."""
        source = (await self._jobs.job(ident)).spec.source
        if source is None:
            return JobCode(source=None)
        try:
            copy = await self._copy(ident)
        except NotFound as problem:
            return JobCode(source=source, reason=problem.message)
        now = await self._files_of_now(copy)
        listed = _compared(copy.files, now)
        changed = sum(file.change not in ("same", None) for file in listed)
        return JobCode(source=source, kept=True, files=listed[:_MOST_FILES], changed=changed, compared=now is not None)

    async def text(self, ident: str, name: str) -> CodeText:
        """Return a file of a job's copy, and how the current file differs from it.

        Parameters
        ----------
        ident
            Id of the job.
        name
            Path of the file in the copy.

        Raises
        ------
        NotFound
            If the file is neither in the copy nor in the current folder, or the copy is gone.
        """
        copy = await self._copy(ident)
        now = await self._files_of_now(copy) or {}
        is_copied = name in {file.path for file in copy.files}
        if not is_copied and name not in now:
            raise NotFound(_("{file} is not part of the job's code.", file=name))
        old = await on_disk(copy.here, copy.read, name) if is_copied else None
        new = await on_disk(copy.now, read_copy, copy.now, name) if copy.now is not None and name in now else None
        text = None if old is None or b"\0" in old or len(old) > _MOST_TEXT else old.decode("utf-8", "replace")
        unknown = (is_copied and old is None) or (name in now and new is None)
        return CodeText(path=name, text=text, diff=None if unknown else diffs.unified(name, old, new))

    async def _files_of_now(self, copy: Copy) -> dict[str, StoredFile] | None:
        if copy.now is None:
            return None
        if await on_disk([copy.now, self._root.folder], self._root.shown, copy.now) is None:
            return None
        return await on_disk(copy.now, self._now, copy.now, copy.leave_out)

    async def restore(self, ident: str, folder: str) -> Restored:
        """Write a job's copy to a new folder in the contents root.

        Parameters
        ----------
        ident
            Id of the job.
        folder
            Path of the new folder in the contents root.

        Raises
        ------
        NotFound
            If the copy is gone.
        Conflict
            If the folder exists.
        FieldError
            If the folder is outside the contents root.
        Unavailable
            If the folder can't be written.
        """
        copy = await self._copy(ident)
        target = self._root.disk(folder, "/folder")
        parent = await on_disk(target.parent, os.path.realpath, target.parent)
        if await on_disk(parent, self._root.shown, Path(parent)) is None:
            message = _("The folder is not in JupyterLab's root folder.")
            raise FieldError(message, field="/folder", hint=_("Choose another folder."))
        try:
            await on_disk([target.parent, copy.here], _restore, copy, target)
        except FileExistsError as error:
            message = _("{folder} exists already.", folder=folder)
            raise Conflict(message, code="Exists", field="/folder", hint=_("Choose another name.")) from error
        except OSError as error:
            trouble = trouble_of(error, target.parent)
            message = _("The folder can't be written: {problem}.", problem=trouble.sentence)
            raise Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=error.strerror) from error
        return Restored(folder=self._root.api(target) or folder, files=len(copy.files))

    async def _copy(self, ident: str) -> Copy:
        """Return the code that a job runs.

        Raises
        ------
        NotFound
            If the job has no copy, or the copy is gone or not visible.
        """
        job = await self._jobs.job(ident)
        source = job.spec.source
        if isinstance(source, GitRepository):
            return await self._clone(job, source)
        taken = source.taken if source is not None else None
        if source is None or taken is None:
            raise NotFound(_("The job runs the files as they are."))
        try:
            place = await self._places.of(job.spec, job.engine, job.namespace, shown=False)
        except FieldError as problem:
            raise NotFound(problem.message) from problem
        if f"{place.store_in_job}/{taken.digest}/{FILES}" != taken.path:
            raise NotFound(_("JupyterLab does not see the copy."))
        files = await on_disk(place.store.folder, place.store.files, taken.digest)
        if files is None and await on_disk(place.store.folder, place.store.has, taken.digest):
            raise NotFound(_("The list of the copied files is damaged."), code="SnapshotDamaged")
        if files is None:
            raise NotFound(_("The copy was removed to make room for newer ones."), code="SnapshotGone")
        copied = place.store.path(taken.digest)
        read = partial(read_copy, copied)
        return Copy(files, copied, lambda: nullcontext(read), place.folder, source.leave_out)

    async def _clone(self, job: Job, source: GitRepository) -> Copy:
        """Return the commit that a job runs, from the job's clone or else from the user's own."""
        if source.commit is None:
            raise NotFound(_("The commit is known to the job's pods only."))
        now = None
        if source.worktree is not None:
            now = await self._places.in_root(source.worktree, job.spec, job.engine, job.namespace)
        is_local = self._jobs.engines.facts(job.engine).shares_lab_filesystem
        for folder in (Path(source.path) if is_local and source.path else None, now):
            if folder is None:
                continue
            files = await on_disk(folder, commits.files_of, folder, source.commit.id)
            if files is not None:
                by_name = {file.path: file for file in files}
                return Copy(files, folder, partial(_committed, folder, by_name), now, DEFAULT_LEAVE_OUT)
        message = _("JupyterLab does not have the commit {commit}.", commit=source.commit.id[:7])
        raise NotFound(message, code="CommitNotFound")

    def _now(self, folder: Path, leave_out: list[str]) -> dict[str, StoredFile] | None:
        """Return the current files by path; None if the folder is gone or too large."""
        try:
            found = list_files(folder, leave_out)
        except (OSError, ValueError):
            return None
        if found.over:
            return None
        now = {}
        for entry in found.files:
            try:
                now[entry.path] = self._cache.stored(folder, entry)
            except (OSError, ChangedError):
                continue
        return now


def _compared(files: list[StoredFile], now: dict[str, StoredFile] | None) -> list[CodeFile]:
    """Return the files of a copy and the current files, those that differ first."""
    if now is None:
        return [CodeFile(path=file.path, size=file.size) for file in files]
    listed = []
    for file in files:
        current = now.get(file.path)
        if current is None:
            listed.append(CodeFile(path=file.path, size=file.size, change="gone"))
        else:
            is_same = current.hash.blob == file.hash.blob
            listed.append(CodeFile(path=file.path, size=file.size, change="same" if is_same else "changed"))
    copied = {file.path for file in files}
    listed += [CodeFile(path=name, size=file.size, change="new") for name, file in now.items() if name not in copied]
    return sorted(listed, key=lambda file: (_ORDER.index(file.change or "same"), file.path))


@contextmanager
def _committed(folder: Path, files: dict[str, StoredFile]) -> Iterator[Callable[[str], bytes | None]]:
    """Open the files of a commit. One process of git reads all of them."""
    with Blobs(folder) as blobs:

        def read(name: str) -> bytes | None:
            content = blobs.read(files[name].hash.blob, _MOST_FILE)
            return content if content is not None and len(content) == files[name].size else None

        yield read


def _restore(copy: Copy, target: Path) -> None:
    """Write the files of a copy, writable for the user; remove the folder if that fails."""
    target.mkdir()
    try:
        with copy.opened() as read:
            # Links come last, so that no file is written through one.
            for file in sorted(copy.files, key=lambda file: file.target is not None):
                path = target / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                content = read(file.path) if file.target is None else None
                if file.target is not None:
                    path.symlink_to(file.target)
                elif content is None:
                    raise OSError(errno.EIO, os.strerror(errno.EIO), file.path)
                else:
                    path.write_bytes(content)
                    path.chmod(0o755 if file.executable else 0o644)
    except OSError:
        shutil.rmtree(target, ignore_errors=True)
        raise
