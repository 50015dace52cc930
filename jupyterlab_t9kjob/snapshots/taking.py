"""Takes the code of jobs at submission: lists, checks and copies a folder, or hands a repository to `Clones`."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.checks import Check
from ..core.code.model import CodeSnapshot, Commit, GitRepository, TakenSnapshot
from ..core.errors import FieldError, JobError, Unavailable
from ..core.spec import JobSpec
from ..core.system.disk import trouble_of
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.admission import Admission
from ..jobs.service import JobService
from . import diffs
from .checks import FOLDER, LEAVE_OUT, SOURCE, checks
from .git import commits
from .git.clones import Clones
from .git.repositories import Repositories
from .hashes import ChangedError, HashCache, StoredFile, digest_of
from .job_notes import JobNotes, new_token
from .limits import Limits
from .listing import Listing, list_files
from .places import Place, Places
from .store import FILES, read_copy

_TRIES: Final = 3
"""How often a copy is attempted while files change."""


class Taking:
    """Takes snapshots for all engines.

    Parameters
    ----------
    jobs
        All engines.
    root
        The contents root.
    home
        Folder of the extension's records.
    notes
        Records which job uses which snapshot.
    limits
        Settings of the administrator.
    """

    def __init__(self, jobs: JobService, root: ContentsRoot, home: Path, notes: JobNotes, limits: Limits) -> None:
        self.places = Places(jobs, root, home)
        self._notes = notes
        self._limits = limits
        self.repositories = Repositories(self.places)
        self.clones = Clones(jobs, home, notes, limits, self.repositories)
        self._cache = HashCache()

    # -- before the submission ----------------------------------------------------------------------------------------

    async def listing(self, spec: JobSpec, engine: str, namespace: str, *, count: bool) -> tuple[Place, Listing]:
        """Return place and content of the folder that a job copies.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        count
            True to count the files in folders that are left out.

        Raises
        ------
        FieldError
            If the folder can't be copied.
        """
        place = await self.places.of(spec, engine, namespace)
        return place, await on_disk(place.folder, self._list, place.folder, _source(spec), count)

    def _list(self, folder: Path, source: CodeSnapshot, count: bool) -> Listing:
        try:
            return list_files(folder, source.leave_out, most_bytes=self._limits.most_bytes, count=count)
        except ValueError as error:
            message, hint = _("A pattern can't be read."), _("Write patterns as in .gitignore.")
            raise FieldError(message, code="BadPattern", field=LEAVE_OUT, hint=hint, verbatim=str(error)) from error
        except OSError as error:
            message = _("The folder {folder} can't be read.", folder=str(folder))
            raise FieldError(message, code="Unreadable", field=FOLDER, verbatim=error.strerror) from error

    async def preview(self, spec: JobSpec, engine: str, namespace: str) -> tuple[JobSpec, list[Check]]:
        """Return the spec with the snapshot or commit that would run now, and its checks. Nothing is written.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        """
        if isinstance(spec.source, GitRepository):
            return await self.clones.preview(spec, engine, namespace)
        if spec.source is None or await self._kept(spec, engine, namespace) is not None:
            return spec, []
        try:
            place, found = await self.listing(spec, engine, namespace, count=False)
            lines = list(checks(spec, _source(spec), found, self._limits.most_bytes))
            if found.over:
                return spec, lines
            files = await on_disk(place.folder, self._hashed, place.folder, found)
            commit = await on_disk(place.folder, self._commit, place.folder, found, files)
        except JobError as problem:
            return spec, [Check.of(problem)]
        return _sealed(spec, place, digest_of(files), files, commit), lines

    def _hashed(self, folder: Path, found: Listing) -> list[StoredFile]:
        files = []
        for entry in found.files:
            try:
                files.append(self._cache.stored(folder, entry))
            except (OSError, ChangedError):  # The submission reads the file again and reports the error.
                continue
        return files

    def _commit(self, folder: Path, found: Listing, files: list[StoredFile]) -> Commit | None:
        if found.repository is None:
            return None
        commit = commits.head_of(folder)
        blobs = commits.blobs_of(folder, commit.id) if commit is not None else None
        if commit is None or blobs is None:
            return None
        return commit.model_copy(update={"changed": sum(1 for _each in diffs.changed(files, blobs))})

    # -- at the submission --------------------------------------------------------------------------------------------

    async def take(self, spec: JobSpec, engine: str, namespace: str) -> Admission:
        """Copy the code of a job, unless the copy exists; keep the copy until the admission is finished.

        A git repository is not copied: only the commit that the job checks out is determined.

        Parameters
        ----------
        spec, engine, namespace
            The job, whose source is a snapshot or a git repository.

        Raises
        ------
        FieldError
            If a check fails, a file can't be read, files keep changing, or the snapshot that the spec names is gone.
        Unavailable
            If the copy can't be written.
        """
        if isinstance(spec.source, GitRepository):
            return await self.clones.take(spec, engine)
        kept = await self._kept(spec, engine, namespace)
        if kept is not None:
            return await self._held(spec, kept, _source(spec))
        # The copy that the spec names may lie in another user's store, where we can't write.
        fresh = spec.model_copy(update={"source": _source(spec).model_copy(update={"taken": None})})
        place, found = await self.listing(fresh, engine, namespace, count=False)
        for line in checks(spec, _source(spec), found, self._limits.most_bytes):
            if line.level == "error":
                raise FieldError(line.message, code=line.code, field=line.field, hint=line.hint)
        token = new_token()
        files = await self._copied(place, found, _source(spec), token)
        digest = digest_of(files)
        wanted = _source(spec).taken
        if wanted is not None and wanted.digest != digest:
            await on_disk(place.store.folder, place.store.release, digest, token)
            message = _("The copy that the job names is gone, and the files have changed since it was made.")
            hint = _("Apply the manifest to the form, or submit the job as a new one.")
            raise FieldError(message, code="SnapshotGone", field=SOURCE, hint=hint)
        commit = await on_disk(place.folder, self._commit, place.folder, found, files)
        if commit is not None:
            await on_disk([place.store.folder, place.folder], self._write_patch, place, commit, files)
        return self._admission(_sealed(spec, place, digest, files, commit), place, digest, token)

    async def _copied(self, place: Place, found: Listing, source: CodeSnapshot, token: str) -> list[StoredFile]:
        paths = [place.store.folder, place.folder]
        for attempt in range(_TRIES):
            try:
                return await on_disk(paths, place.store.add, place.folder, found.files, token)
            except ChangedError as error:
                if attempt == _TRIES - 1:
                    message = _("{file} changes while it is copied.", file=str(error.args[0]))
                    hint = _("Leave it out, or submit the job when no program writes it.")
                    raise FieldError(message, code="FileChanges", field=LEAVE_OUT, hint=hint) from error
                found = await on_disk(place.folder, self._list, place.folder, source, False)
            except OSError as error:
                raise _not_copied(error, place) from error
        raise AssertionError

    def _write_patch(self, place: Place, commit: Commit, files: list[StoredFile]) -> None:
        """Store the differences from the commit beside the copy. Without them, only the list of files is known."""
        blobs = commits.blobs_of(place.folder, commit.id)
        if blobs is None:
            return
        copied = place.store.path(digest_of(files))

        def read(name: str) -> bytes | None:
            return read_copy(copied, name)

        def committed(blob: str) -> bytes | None:
            return commits.contents(place.folder, blob, diffs.MOST_BYTES)

        with contextlib.suppress(OSError):
            text = diffs.patch(files, blobs, read, committed)
            place.store.write_patch(digest_of(files), commit.id, text)

    async def kept(self, spec: JobSpec, engine: str, namespace: str) -> bool:
        """Return True if the spec names a snapshot that is stored, or a commit, as in a rerun.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        """
        if isinstance(spec.source, GitRepository):
            return self.clones.is_sealed(spec)
        return await self._kept(spec, engine, namespace) is not None

    async def _kept(self, spec: JobSpec, engine: str, namespace: str) -> Place | None:
        """Return the place of the snapshot that a spec names; None if it names none or the snapshot is gone."""
        taken = spec.source.taken if isinstance(spec.source, CodeSnapshot) else None
        if taken is None:
            return None
        try:
            place = await self.places.of(spec, engine, namespace, shown=False)
        except FieldError:
            return None
        if f"{place.store_in_job}/{taken.digest}/{FILES}" != taken.path:
            return None
        return place if await on_disk(place.store.folder, place.store.shares, taken.digest) else None

    async def _held(self, spec: JobSpec, place: Place, source: CodeSnapshot) -> Admission:
        assert source.taken is not None  # noqa: S101
        digest = source.taken.digest
        token = new_token()
        try:
            await on_disk(place.store.folder, place.store.use, digest, token)
        except OSError as error:
            raise _not_copied(error, place) from error
        return self._admission(spec, place, digest, token)

    def _admission(self, spec: JobSpec, place: Place, digest: str, token: str) -> Admission:
        finish = partial(self._notes.hand_over, place.store, digest, token, self._limits.store_bytes)
        return Admission(spec, finish=finish)


def _source(spec: JobSpec) -> CodeSnapshot:
    assert isinstance(spec.source, CodeSnapshot)  # noqa: S101
    return spec.source


def _sealed(spec: JobSpec, place: Place, digest: str, files: list[StoredFile], commit: Commit | None) -> JobSpec:
    """Return a spec that names the snapshot that it runs."""
    path, size = f"{place.store_in_job}/{digest}/{FILES}", sum(file.size for file in files)
    taken = TakenSnapshot(digest=digest, path=path, files=len(files), size=size, commit=commit)
    return spec.model_copy(update={"source": _source(spec).model_copy(update={"taken": taken})})


def _not_copied(error: OSError, place: Place) -> JobError:
    """Return the error for a file that can't be read, or a copy that can't be written."""
    name = error.filename
    if isinstance(name, str) and Path(name).is_relative_to(place.folder):
        message = _("{file} can't be read, so it can't be copied.", file=name)
        hint = _("Leave it out, or check the permissions of the file.")
        return FieldError(message, code="Unreadable", field=LEAVE_OUT, hint=hint, verbatim=error.strerror)
    trouble = trouble_of(error, place.store.folder)
    message = _("The copy of the code can't be written: {problem}.", problem=trouble.sentence)
    return Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=error.strerror)
