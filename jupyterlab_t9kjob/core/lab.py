"""Volumes, image and ids of the lab, which jobs in a cluster inherit, and paths in the lab and in jobs.

A file on a PVC is identified by the PVC and the path on it. With that, a path of the lab is converted to a path of a
job and back, wherever lab and job mount the PVC.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .checks import Check
from .spec import Mount, Security
from .system.disk_threads import real_path


@dataclass(frozen=True)
class LabMount:
    """A PVC, or a folder of one, that the lab has mounted.

    Attributes
    ----------
    claim
        Name of the PVC.
    sub_path
        Folder of the PVC; None for its root.
    namespace
        Namespace of the PVC; jobs of other namespaces can't mount it.
    lab_path
        Path in the lab.
    mount_path
        Path in jobs: the lab's own in a pod, otherwise the one that a trait gives.
    read_only
        True if the lab can only read it.
    access_modes
        Access modes of the PVC (``ReadWriteMany`` …); empty if the account may not read the PVC.
    """

    claim: str
    namespace: str
    lab_path: Path
    mount_path: PurePosixPath
    sub_path: str | None = None
    read_only: bool = False
    access_modes: tuple[str, ...] = ()

    @property
    def mount(self) -> Mount:
        """Mount of the same PVC in a job's spec."""
        return Mount(
            claim=self.claim, mount_path=str(self.mount_path), sub_path=self.sub_path, read_only=self.read_only
        )


@dataclass(frozen=True)
class Lab:
    """Properties of the lab that its jobs in a cluster inherit.

    Attributes
    ----------
    mounts
        PVCs of the lab that jobs can mount.
    elsewhere
        Mount points of volumes that are no PVCs.
    image, pull_policy, pull_secrets
        Image of the lab's own container and how it is pulled; None and empty outside a pod.
    security
        Ids that the lab runs as; empty outside a pod.
    user
        Name of the user, for ``USER`` and ``LOGNAME``.
    home
        The lab's ``HOME``, see `home_in_job`.
    problems
        Checks that say which of this could not be read, and what follows from that.
    """

    mounts: tuple[LabMount, ...] = ()
    elsewhere: tuple[Path, ...] = ()
    image: str | None = None
    pull_policy: str | None = None
    pull_secrets: tuple[str, ...] = ()
    security: Security = field(default_factory=Security)
    user: str | None = None
    home: Path | None = None
    problems: tuple[Check, ...] = ()

    def in_job(self, path: Path, namespace: str) -> tuple[LabMount, PurePosixPath] | None:
        """Return the mount that holds a file of the lab, and the file's path in a job with that mount.

        Links are followed (blocking).

        Parameters
        ----------
        path
            Absolute path in the lab; it need not exist.
        namespace
            Namespace of the job.

        Returns
        -------
        mount, path
            None if the file does not lie on a PVC of the namespace.
        """
        found = self._on_mount(path, namespace)
        return (found[0], found[0].mount_path / found[1]) if found else None

    def namespace_for(self, path: Path, preferred: str) -> str:
        """Return the namespace whose jobs can mount the PVC that holds a file of the lab (blocking).

        Parameters
        ----------
        path
            Absolute path in the lab.
        preferred
            Namespace to return if its jobs can mount the PVC, or if no namespace's jobs can.
        """
        namespaces = dict.fromkeys([preferred, *(mount.namespace for mount in self.mounts)])
        return next((name for name in namespaces if self.in_job(path, name) is not None), preferred)

    def seen_by(self, path: Path, mounts: Sequence[Mount], namespace: str) -> PurePosixPath | None:
        """Return the path of a lab's file in a job; None if no mount of the job holds the file (blocking).

        Parameters
        ----------
        path
            Absolute path in the lab, whose links are followed.
        mounts
            Mounts of the job.
        namespace
            Namespace of the job.
        """
        found = self._on_mount(path, namespace)
        if found is None:
            return None
        mount, inside = found
        on_claim = (_folder(mount.sub_path) or PurePosixPath()) / inside
        for other in mounts:
            below = _below(on_claim, _folder(other.sub_path)) if other.claim == mount.claim else None
            # Another mount of the job may hide this part of the volume.
            if below is not None and on_volume(f"{other.mount_path}/{below}", mounts) == (mount.claim, on_claim):
                return PurePosixPath(other.mount_path) / below
        return None

    def in_lab(self, path: str, mounts: Sequence[Mount], namespace: str) -> Path | None:
        """Return the path in the lab of a job's file; None if the lab does not have it.

        Links are followed (blocking). A path that leaves its volume by ``..`` or a link gives None.

        Parameters
        ----------
        path
            Absolute path in the job; it need not exist.
        mounts
            Mounts of the job.
        namespace
            Namespace of the job.
        """
        found = on_volume(path, mounts)
        if found is None:
            return None
        claim, on_claim = found
        for mount in self.mounts:
            inside = _below(on_claim, _folder(mount.sub_path))
            if (mount.claim, mount.namespace) != (claim, namespace) or inside is None:
                continue
            real = _real(mount.lab_path / inside)
            held = self._on_mount(real, namespace)
            if held is not None and held[0] is mount:
                return real
        return None

    def home_in_job(self, mounts: Sequence[Mount], namespace: str) -> str | None:
        """Return the ``HOME`` of a job: the lab's if a mount of the job holds it, otherwise None (blocking).

        Parameters
        ----------
        mounts
            Mounts of the job.
        namespace
            Namespace of the job.
        """
        home = self.seen_by(self.home, mounts, namespace) if self.home is not None else None
        return None if home is None else str(home)

    def _on_mount(self, path: Path, namespace: str) -> tuple[LabMount, PurePosixPath] | None:
        """Return the mount of the namespace that holds a file, and the path on it, with links followed."""
        if "\0" in str(path):
            return None
        real = _real(path)
        points: list[tuple[Path, LabMount | None]] = [(mount.lab_path, mount) for mount in self.mounts]
        points += [(folder, None) for folder in self.elsewhere]
        resolved = [(_real(folder), mount) for folder, mount in points]
        around = [(root, mount) for root, mount in resolved if real.is_relative_to(root)]

        def depth(point: tuple[Path, LabMount | None]) -> tuple[int, bool]:
            root, mount = point
            return len(root.parts), mount is not None and mount.namespace == namespace

        # The deepest mount hides the others; of several PVCs at one path, that of the namespace is used.
        root, mount = max(around, key=depth, default=(real, None))
        if mount is None or mount.namespace != namespace:
            return None
        return mount, PurePosixPath(real.relative_to(root).as_posix())


def _real(path: Path) -> Path:
    """Return a path with its links followed (blocking); raises `Unavailable` if its disk does not answer."""
    return Path(real_path(str(path)))


def on_volume(path: str, mounts: Sequence[Mount]) -> tuple[str, PurePosixPath] | None:
    """Return the PVC that holds a path of a job, and the path on the PVC; None if no PVC holds it.

    Parameters
    ----------
    path
        Absolute path in the job.
    mounts
        Mounts of the job; the deepest one that holds the path is used.
    """
    if not path.startswith("/") or "\0" in path:
        return None
    wanted = PurePosixPath(_absolute(path))
    around = [(PurePosixPath(_absolute(mount.mount_path)), mount) for mount in mounts]
    around = [(root, mount) for root, mount in around if wanted.is_relative_to(root)]
    if not around:
        return None
    root, mount = max(around, key=lambda entry: len(entry[0].parts))
    folder = _folder(mount.sub_path)
    return None if folder is None else (mount.claim, folder / wanted.relative_to(root))


def _absolute(path: str) -> str:
    """Return a path without ``..`` and with one slash at its beginning."""
    return "/" + posixpath.normpath(f"/{path}").lstrip("/")


def _folder(sub_path: str | None) -> PurePosixPath | None:
    """Return a folder of a volume as a relative path; None if it lies outside of the volume."""
    folder = PurePosixPath(posixpath.normpath((sub_path or "").lstrip("/") or "."))
    return None if ".." in folder.parts[:1] else folder


def _below(path: PurePosixPath, folder: PurePosixPath | None) -> PurePosixPath | None:
    """Return a path on a volume relative to a folder of the volume; None if it does not lie below the folder."""
    return path.relative_to(folder) if folder is not None and path.is_relative_to(folder) else None
