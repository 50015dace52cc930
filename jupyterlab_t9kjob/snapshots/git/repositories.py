"""The user's own clone of a repository: its address and commit, and how its files differ from another commit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ...core.code.git_address import check_address
from ...core.code.model import DEFAULT_LEAVE_OUT, Commit
from ...core.running.source import folder_of, inside
from ...core.spec import JobSpec
from ...core.system import local_git
from ...core.system.disk_threads import on_disk
from .. import diffs
from ..hashes import ChangedError, HashCache, StoredFile
from ..listing import list_files
from ..model import OwnRepository
from ..patterns import repository_of
from ..places import Places
from . import commits


@dataclass(frozen=True)
class Repository:
    """A clone of the user, in which the form's file lies.

    Attributes
    ----------
    top
        Folder of the clone.
    worktree
        The same folder as the job sees it.
    address
        Address from which it was cloned, without credentials; None if it has none that git-sync could use.
    commit
        Commit that is checked out; None before the first one.
    pushed
        True if the commit is known to be in the repository elsewhere.
    """

    top: Path
    worktree: str
    address: str | None
    commit: Commit | None
    pushed: bool


@dataclass(frozen=True)
class Comparison:
    """Files of a clone against one of its commits.

    Attributes
    ----------
    changed
        Number of files that differ; None if they can't be compared.
    lacks_entrypoint
        True if the commit does not have the file that the job runs.
    """

    changed: int | None = None
    lacks_entrypoint: bool = False


class Repositories:
    """Reads the user's own clones.

    Parameters
    ----------
    places
        Finds folders of jobs in the lab.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._cache = HashCache()

    async def of(self, spec: JobSpec, engine: str, namespace: str) -> Repository | None:
        """Return the clone in which the file of a job lies; None without one in the contents root.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        """
        folder = folder_of(spec.entrypoint) or spec.working_dir
        here = await self._places.in_root(folder, spec, engine, namespace) if folder else None
        return await on_disk(here, _read, folder, here) if folder and here is not None else None

    async def facts(self, spec: JobSpec, engine: str, namespace: str) -> OwnRepository | None:
        """Return facts about the clone in which the file of a job lies, for the form.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.
        namespace
            Namespace of the job; blank on this machine.
        """
        own = await self.of(spec, engine, namespace)
        if own is None:
            return None
        compared = await self.compare(own, spec, own.commit)
        commit = own.commit and own.commit.model_copy(update={"changed": compared.changed or 0})
        folder = inside(folder_of(spec.entrypoint) or spec.working_dir or own.worktree, own.worktree) or ""
        return OwnRepository(
            worktree=own.worktree, folder=folder, address=own.address, commit=commit, pushed=own.pushed
        )

    async def compare(self, own: Repository | None, spec: JobSpec, commit: Commit | None) -> Comparison:
        """Compare the files of a clone with a commit, which the clone need not have.

        Parameters
        ----------
        own
            The user's clone; None if there is none.
        spec
            The job's specification, which names the entrypoint.
        commit
            The commit; None if it is unknown.
        """
        if own is None or commit is None:
            return Comparison()
        return await on_disk(own.top, self._compare, own, spec, commit.id)

    def _compare(self, own: Repository, spec: JobSpec, commit: str) -> Comparison:
        blobs = commits.blobs_of(own.top, commit)
        if blobs is None:
            return Comparison()
        name = inside(spec.entrypoint.value, own.worktree) if folder_of(spec.entrypoint) else None
        lacks = name is not None and name not in blobs
        found = list_files(own.top, DEFAULT_LEAVE_OUT)
        if found.over:
            return Comparison(None, lacks)
        files: list[StoredFile] = []
        for entry in found.files:
            try:
                files.append(self._cache.stored(own.top, entry))
            except (OSError, ChangedError):
                continue
        return Comparison(sum(1 for _each in diffs.changed(files, blobs)), lacks)


def _read(folder: str, here: Path) -> Repository | None:
    real = Path(os.path.realpath(here))
    top = repository_of(real)
    if top is None:
        return None
    below = real.relative_to(top).as_posix()
    worktree = folder.rstrip("/")
    if below != ".":
        if not worktree.endswith(f"/{below}"):  # A link leads into the clone.
            return None
        worktree = worktree[: -len(below) - 1]
    commit = commits.head_of(top)
    pushed = commit is not None and bool(
        local_git.git(
            top, "for-each-ref", "--count=1", f"--contains={commit.id}", "--format=%(refname)", "refs/remotes"
        )
    )
    return Repository(top, worktree or "/", _address(top, commit), commit, pushed)


def _address(top: Path, commit: Commit | None) -> str | None:
    """Return the address of the branch's remote, or of ``origin``; without user and password of an HTTP address."""
    name = None
    if commit is not None and commit.branch:
        name = local_git.git(top, "config", "--local", "--get", f"branch.{commit.branch}.remote")
    remote = (name or b"origin").decode("utf-8", "replace").strip()
    answer = local_git.git(top, "config", "--local", "--get", f"remote.{remote}.url")
    address = (answer or b"").decode("utf-8", "replace").strip()
    if address.startswith(("http://", "https://")):
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    elif address.startswith("/"):
        address = f"file://{address}"
    try:
        return check_address(address)
    except ValueError:
        return None
