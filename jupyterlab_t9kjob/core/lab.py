"""What jobs in a cluster inherit from the lab: its volumes, image and ids; and paths as both sides see them.

A file that both see is told by where it lies: the PVC, and the path on it. That leads from a path of the lab to one of
the job and back, wherever either has the PVC mounted.
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
    """A PVC, or a folder of one, that the lab has on its disk.

    Attributes
    ----------
    claim, sub_path
        The PVC, and the folder of it; None for its root.
    namespace
        Where the PVC is: jobs of another namespace can't have it.
    lab_path
        Where the lab sees it.
    mount_path
        Where jobs get it: the same path in a pod, whatever a trait says elsewhere.
    read_only
        Whether the lab may only read it.
    access_modes
        The PVC's: ``ReadWriteMany`` …; empty where the account may not read it.
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
        """The same for a job."""
        return Mount(
            claim=self.claim, mount_path=str(self.mount_path), sub_path=self.sub_path, read_only=self.read_only
        )


@dataclass(frozen=True)
class Lab:
    """The lab, as far as it concerns its jobs in a cluster.

    Attributes
    ----------
    mounts
        What of it jobs can have.
    elsewhere
        Where something is mounted that is no PVC: what lies below is on none.
    image, pull_policy, pull_secrets
        Of the lab's own container; None and empty outside a pod.
    security
        The ids that it runs as; none outside a pod.
    user
        Its name, for ``USER`` and ``LOGNAME``.
    home
        Its ``HOME``, see `home_in_job`.
    problems
        What could not be found out, and what that means.
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
        """Return the mount that a file of the lab lies on, and how a job that has it sees the file.

        Links are followed (blocking): of a file that is reached by one, its own place counts.

        Parameters
        ----------
        path
            An absolute path, whether or not there is anything.
        namespace
            The job's.

        Returns
        -------
        mount, path
            None where the file lies on no PVC of that namespace.
        """
        found = self._place(path, namespace)
        return (found[0], found[0].mount_path / found[1]) if found else None

    def seen_by(self, path: Path, mounts: Sequence[Mount], namespace: str) -> PurePosixPath | None:
        """Return how a job with these mounts sees a file of the lab; None if it does not. Links are followed."""
        found = self._place(path, namespace)
        if found is None:
            return None
        mount, inside = found
        place = (_folder(mount.sub_path) or PurePosixPath()) / inside
        for other in mounts:
            below = _below(place, _folder(other.sub_path)) if other.claim == mount.claim else None
            # another mount may lie over that part of this one
            if below is not None and on_volume(f"{other.mount_path}/{below}", mounts) == (mount.claim, place):
                return PurePosixPath(other.mount_path) / below
        return None

    def in_lab(self, path: str, mounts: Sequence[Mount], namespace: str) -> Path | None:
        """Return where the lab sees a path of a job; None if it does not.

        Neither ``..`` nor a link leads out of the volume that the path is on (blocking: links are followed).

        Parameters
        ----------
        path
            As the job sees it, whether or not there is anything.
        mounts, namespace
            The job's.
        """
        found = on_volume(path, mounts)
        if found is None:
            return None
        claim, place = found
        for mount in self.mounts:
            inside = _below(place, _folder(mount.sub_path))
            if (mount.claim, mount.namespace) != (claim, namespace) or inside is None:
                continue
            real = _real(mount.lab_path / inside)
            there = self._place(real, namespace)
            if there is not None and there[0] is mount:
                return real
        return None

    def home_in_job(self, mounts: Sequence[Mount], namespace: str) -> str | None:
        """Return the ``HOME`` of a job with these mounts: the lab's where the job has it, else None (blocking)."""
        home = self.seen_by(self.home, mounts, namespace) if self.home is not None else None
        return None if home is None else str(home)

    def _place(self, path: Path, namespace: str) -> tuple[LabMount, PurePosixPath] | None:
        """Return the mount of the namespace that a file really lies on, and where on it."""
        if "\0" in str(path):
            return None
        real = _real(path)
        places: list[tuple[Path, LabMount | None]] = [(mount.lab_path, mount) for mount in self.mounts]
        places += [(folder, None) for folder in self.elsewhere]
        resolved = [(_real(folder), mount) for folder, mount in places]
        around = [(root, mount) for root, mount in resolved if real.is_relative_to(root)]

        def depth(place: tuple[Path, LabMount | None]) -> tuple[int, bool]:
            root, mount = place
            return len(root.parts), mount is not None and mount.namespace == namespace

        # the deepest one is what the lab sees; of several PVCs at one place that of the namespace
        root, mount = max(around, key=depth, default=(real, None))
        if mount is None or mount.namespace != namespace:
            return None
        return mount, PurePosixPath(real.relative_to(root).as_posix())


def _real(path: Path) -> Path:
    """Return a path with its links followed (blocking); raises `Unavailable` if its disk does not answer."""
    return Path(real_path(str(path)))


def on_volume(path: str, mounts: Sequence[Mount]) -> tuple[str, PurePosixPath] | None:
    """Return the PVC that holds a path of a job, and the path on it; None if none does.

    Parameters
    ----------
    path
        An absolute path as the job sees it.
    mounts
        The job's; of several that are around the path the deepest one counts.
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
    """Return a path without ``..`` in it and with one slash before it."""
    return "/" + posixpath.normpath(f"/{path}").lstrip("/")


def _folder(sub_path: str | None) -> PurePosixPath | None:
    """Return a folder of a volume as a relative path; None if it leads out of the volume."""
    folder = PurePosixPath(posixpath.normpath((sub_path or "").lstrip("/") or "."))
    return None if ".." in folder.parts[:1] else folder


def _below(place: PurePosixPath, folder: PurePosixPath | None) -> PurePosixPath | None:
    """Return a place on a volume as seen from a folder of it; None if it is not below that."""
    return place.relative_to(folder) if folder is not None and place.is_relative_to(folder) else None
