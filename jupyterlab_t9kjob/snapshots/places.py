"""Folders of snapshots: in our home on one machine, in a cluster below `.t9kjob/` on the volume of the code."""

from __future__ import annotations

import asyncio
import os
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from ..contents_paths import ContentsRoot, outside
from ..core.code.model import CodeSnapshot
from ..core.errors import FieldError
from ..core.lab import Lab
from ..core.spec import JobSpec, Mount
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.service import JobService
from .checks import FOLDER
from .store import SnapshotStore

FOLDER_ON_VOLUME: Final = ".t9kjob/code"
FOLDER_AT_HOME: Final = "code"


@dataclass(frozen=True)
class Place:
    """The copied folder and the store of a job's snapshot.

    Attributes
    ----------
    folder
        The copied folder, as a path of this server.
    store
        The store of the copies.
    store_in_job
        Path of the store in the job.
    """

    folder: Path
    store: SnapshotStore
    store_in_job: str


class Places:
    """Finds the place of a job's snapshot.

    Parameters
    ----------
    jobs
        All engines.
    root
        The contents root, in which the copied folder must be.
    home
        Folder of our records.
    """

    def __init__(self, jobs: JobService, root: ContentsRoot, home: Path) -> None:
        self._jobs = jobs
        self._root = root
        self.home = home

    async def of(self, spec: JobSpec, engine: str, namespace: str, *, shown: bool = True) -> Place:
        """Return the place of the snapshot of a job.

        Parameters
        ----------
        spec, engine, namespace
            The job, whose source is a snapshot.
        shown
            True to demand that the copied folder exists in the contents root.

        Raises
        ------
        FieldError
            If this lab does not see the folder, or the folder is on no volume of the job.
        """
        source = spec.source
        assert isinstance(source, CodeSnapshot)  # noqa: S101
        if self._jobs.engines.facts(engine).shares_lab_filesystem:
            store = self.home / FOLDER_AT_HOME
            folder = Path(posixpath.normpath(source.folder))
            place = Place(folder, SnapshotStore(store), str(store))
        else:
            lab = await self._jobs.engines.lab(engine, namespace) or Lab()
            place = await asyncio.to_thread(self._on_volume, spec, source, lab, namespace)
        if shown:
            await self._demand_shown(place.folder)
        return place

    async def in_root(self, path: str, spec: JobSpec, engine: str, namespace: str) -> Path | None:
        """Return the path in the lab of a job's folder; None if it is not in the contents root.

        Parameters
        ----------
        path
            Absolute path in the job.
        spec, engine, namespace
            The job.
        """
        here: Path | None = Path(posixpath.normpath(path))
        if not self._jobs.engines.facts(engine).shares_lab_filesystem:
            there = await self._jobs.engines.path_in_lab(engine, namespace, path, spec)
            here = there or (here if self._root.contains(path) and mount_of(path, spec.mounts) is None else None)
        if here is None or await on_disk([here, self._root.folder], self._root.shown, here) is None:
            return None
        return here

    def _on_volume(self, spec: JobSpec, source: CodeSnapshot, lab: Lab, namespace: str) -> Place:
        mount = mount_of(source.folder, spec.mounts)
        folder = lab.in_lab(source.folder, spec.mounts, namespace)
        if mount is None:
            message = _("The folder {folder} is on no volume of the job, so it can't be copied.", folder=source.folder)
            hint = _("Choose a folder below one of the mounts.")
            raise FieldError(message, code="SnapshotNotMounted", field=FOLDER, hint=hint)
        store = str(PurePosixPath(mount.mount_path) / FOLDER_ON_VOLUME)
        here = lab.in_lab(store, spec.mounts, namespace)
        named = _store_of(source, store)
        if named is not None:
            store, here = named, lab.in_lab(named, spec.mounts, namespace)
        elif here is not None and not _is_ours(here):
            store = f"{store}-{os.geteuid()}"
            here = lab.in_lab(store, spec.mounts, namespace)
            if here is not None and not _is_ours(here):
                message = _("{folder} belongs to another user or can't be read, so no copy can be kept.", folder=store)
                hint = _("Remove it, or use the files as they are.")
                raise FieldError(message, code="SnapshotStoreNotOwned", field=FOLDER, hint=hint)
        if folder is None or here is None:
            message = _("JupyterLab does not see {folder}, so it can't copy the folder.", folder=source.folder)
            hint = _("Use the files as they are.")
            raise FieldError(message, code="SnapshotNotSeen", field=FOLDER, hint=hint)
        return Place(folder, SnapshotStore(here), store)

    async def _demand_shown(self, folder: Path) -> None:
        """Raise `FieldError` unless a folder is a folder in the contents root."""
        if await on_disk([folder, self._root.folder], self._root.shown, folder) is None:
            raise outside(folder, self._root.folder, FOLDER)
        if not await on_disk(folder, folder.is_dir):
            message = _("{folder} is not a folder.", folder=str(folder))
            raise FieldError(message, code="NotADirectory", field=FOLDER, hint=_("Choose another folder."))


def _store_of(source: CodeSnapshot, store: str) -> str | None:
    """Return the store of the copy that a source names, if it is a store of this volume, of any user."""
    named = str(PurePosixPath(source.taken.path).parent.parent) if source.taken is not None else ""
    return named if re.fullmatch(rf"{re.escape(store)}(-[0-9]+)?", named) else None


def _is_ours(folder: Path) -> bool:
    """Return True if we own a folder, and also the link if it is one, or if it does not exist.

    Files of another user's folder could be anything, and we can't write there.
    """
    try:
        return {folder.lstat().st_uid, folder.stat().st_uid} == {os.geteuid()}
    except FileNotFoundError:
        return not folder.is_symlink()
    except OSError:
        return False


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """Return the deepest mount that holds a path of the job; None if it is on no volume.

    Parameters
    ----------
    path
        Absolute path in the job's pods.
    mounts
        Volumes that the job mounts.
    """
    around = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount.mount_path)]
    return max(around, key=lambda mount: len(PurePosixPath(mount.mount_path).parts), default=None)
