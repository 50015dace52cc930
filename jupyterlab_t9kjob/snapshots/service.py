"""`Snapshots`: what the handlers ask about the code of forms and jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.code.model import CodeSnapshot, GitRepository
from ..core.errors import FieldError, JobError, NotFound
from ..core.spec import JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.service import JobService
from . import diffs
from .checks import SOURCE, reason_text
from .git import commits
from .git.clones import no_such_commit
from .hashes import ChangedError, HashCache
from .job_code import CodeOfJobs
from .job_notes import JobNotes
from .limits import Limits
from .listing import Entry, Listing
from .model import (
    CodeFile,
    FileDiff,
    LeftOutFiles,
    RepositoryFacts,
    RepositoryRequest,
    SnapshotDiffRequest,
    SnapshotPreview,
    SnapshotRequest,
)
from .patterns import GITIGNORE
from .places import Place
from .store import read_copy
from .taking import Taking

_MOST_FILES: Final = 500
_MOST_LEFT_OUT: Final = 200
_MOST_NAMES: Final = 500


class Snapshots:
    """Snapshots of the code of jobs.

    Parameters
    ----------
    jobs
        All engines.
    root
        The contents root.
    home
        Folder of our records.
    limits
        Settings of the administrator.
    """

    def __init__(self, jobs: JobService, root: ContentsRoot, home: Path, limits: Limits) -> None:
        self._notes = JobNotes(jobs, home)
        self._root = root
        self._cache = HashCache()
        self.taking = Taking(jobs, root, home, self._notes, limits)
        self.of_jobs = CodeOfJobs(jobs, root, self.taking.places)

    async def start(self) -> None:
        """Remove the snapshots of jobs that were removed meanwhile, and watch for removed jobs."""
        await self._notes.start()

    async def stop(self) -> None:
        """Stop watching."""
        await self._notes.stop()

    async def preview(self, request: SnapshotRequest) -> SnapshotPreview:
        """Return the content of the snapshot that a form would take.

        Raises
        ------
        FieldError
            If the form takes no snapshot, or the folder can't be copied.
        """
        place, found = await self._list(request)
        return await on_disk(place.folder, self._preview, place, found)

    async def diff(self, request: SnapshotDiffRequest) -> FileDiff:
        """Return the difference of a file from the commit that is checked out.

        Raises
        ------
        NotFound
            If the file is not part of the snapshot.
        """
        place, found = await self._list(request)
        if request.file not in {entry.path for entry in found.files}:
            raise NotFound(_("{file} is not copied.", file=request.file))
        return await on_disk(place.folder, self._diff, place.folder, request.file)

    async def repository(self, request: RepositoryRequest) -> RepositoryFacts:
        """Return facts about the user's clone, and about the repository that a form names."""
        spec = request.spec
        facts = RepositoryFacts(own=await self.taking.repositories.facts(spec, request.engine, request.namespace))
        if isinstance(spec.source, GitRepository):
            try:
                remote, commit = await self.taking.clones.ask(spec.source)
            except JobError as problem:
                return facts.model_copy(update={"reason": problem.message, "hint": problem.hint})
            names = [*remote.branches, *remote.tags][:_MOST_NAMES]
            found = {"commit": commit, "default_branch": remote.default, "branches": names}
            if commit is None:
                found["reason"] = no_such_commit(spec.source).message
            return facts.model_copy(update=found)
        return facts

    async def _list(self, request: SnapshotRequest) -> tuple[Place, Listing]:
        spec: JobSpec = request.spec
        if not isinstance(spec.source, CodeSnapshot):
            raise FieldError(_("The job runs the files as they are."), field=SOURCE, code="NoSnapshot")
        return await self.taking.listing(spec, request.engine, request.namespace, count=True)

    def _preview(self, place: Place, found: Listing) -> SnapshotPreview:
        folder = place.folder
        commit = commits.head_of(folder) if found.repository is not None else None
        blobs = commits.blobs_of(folder, commit.id) if commit is not None else None
        listed: list[CodeFile] = []
        same = same_size = 0
        for entry in found.files:
            blob = None if blobs is None else blobs.get(entry.path)
            if blobs is not None and blob is not None and self._hash(folder, entry) == blob:
                same, same_size = same + 1, same_size + entry.size
                continue
            change = None if blobs is None else "new" if blob is None else "changed"
            listed.append(CodeFile(path=entry.path, size=entry.size, change=change))  # type: ignore[arg-type]
        listed.sort(key=lambda file: file.change == "new")
        if commit is not None and blobs is not None:
            commit = commit.model_copy(update={"changed": len(listed)})
        ignore = folder / GITIGNORE
        return SnapshotPreview(
            folder=self._root.api(folder),
            ignore_file=self._root.api(ignore) if ignore.is_file() else None,
            commit=commit if blobs is not None else None,
            files=listed[:_MOST_FILES],
            more=max(0, len(listed) - _MOST_FILES),
            same=same,
            same_size=same_size,
            left_out=[
                LeftOutFiles(
                    path=each.path, files=each.files, size=each.size, complete=each.complete, reason=reason_text(each)
                )
                for each in found.left_out[:_MOST_LEFT_OUT]
            ],
            count=len(found.files),
            size=found.size,
            store=place.store_in_job,
        )

    def _hash(self, folder: Path, entry: Entry) -> str | None:
        try:
            return self._cache.stored(folder, entry).hash.blob
        except (OSError, ChangedError):
            return None

    def _diff(self, folder: Path, name: str) -> FileDiff:
        commit = commits.head_of(folder)
        blobs = commits.blobs_of(folder, commit.id) if commit is not None else None
        blob = blobs.get(name) if blobs is not None else None
        old = commits.contents(folder, blob, diffs.MOST_BYTES) if blob is not None else None
        new = read_copy(folder, name)
        if new is None or (blob is not None and old is None):
            return FileDiff(path=name)
        return FileDiff(path=name, diff=diffs.unified(name, old, new))
