"""What jobs in a cluster inherit from the lab: its volumes, image and ids; and paths as both sides see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .engine import Check
from .spec import Mount, Security


@dataclass(frozen=True)
class LabMount:
    """A PVC, or a folder of one, that the lab has on its disk.

    Attributes
    ----------
    claim, sub_path
        The PVC, and the folder of it; None for its root.
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
    lab_path: Path
    mount_path: PurePosixPath
    sub_path: str | None = None
    read_only: bool = False
    access_modes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lab:
    """The lab, as far as it concerns its jobs in a cluster.

    Attributes
    ----------
    mounts
        What of it jobs can have.
    image, pull_policy, pull_secrets
        Of the lab's own container; None and empty outside a pod.
    security
        The ids that it runs as.
    user
        Its name, for ``USER`` and ``LOGNAME``.
    home
        Its ``HOME`` as a job sees it, where that is on one of the mounts.
    problems
        What could not be found out, and what that means.
    """

    mounts: tuple[LabMount, ...] = ()
    image: str | None = None
    pull_policy: str | None = None
    pull_secrets: tuple[str, ...] = ()
    security: Security = field(default_factory=Security)
    user: str | None = None
    home: str | None = None
    problems: tuple[Check, ...] = ()

    def in_job(self, path: Path) -> tuple[LabMount, PurePosixPath] | None:
        """Return the mount that a file of the lab lies on and how a job sees it; links are followed (blocking)."""
        raise NotImplementedError

    def in_lab(self, path: str, mounts: list[Mount]) -> Path | None:
        """Return where the lab sees a path of a job that has these mounts; None if it does not."""
        raise NotImplementedError
