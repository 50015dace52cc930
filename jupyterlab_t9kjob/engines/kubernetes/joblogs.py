"""The logs of one job in a cluster: rank files on its volume, and what its pods print, kept in a spool on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.engine import LogFile
from .kinds import Place
from .transport import KubeApi


class JobLogs:
    """The logs of one job, as long as its engine knows it.

    Parameters
    ----------
    api
        The cluster; None when it can't be reached: what was kept can still be read.
    namespace
        The job's.
    folder
        Where its pods' logs are kept; made when the first line comes.
    ranks
        Folder below which each pod has one for its rank files, by its uid, as the lab sees it; None without.
    always
        Follow the pods also while nobody looks: own jobs of up to 16 replicas.
    """

    def __init__(self, api: KubeApi | None, namespace: str, folder: Path, *, ranks: Path | None, always: bool) -> None:
        raise NotImplementedError

    def update(self, places: Sequence[Place], *, ended: bool) -> None:
        """Take note of the job's pods; called at every change of them."""
        raise NotImplementedError

    def look(self) -> Callable[[], None]:
        """Follow as long as somebody looks; returns how to stop that."""
        raise NotImplementedError

    async def fetched(self) -> None:
        """Wait until all that can still be had of pods that have ended is here."""
        raise NotImplementedError

    async def files(self) -> list[LogFile]:
        """Return the streams that exist now, in a stable order."""
        raise NotImplementedError

    async def stop(self) -> None:
        """Let go of everything; what was kept stays."""
        raise NotImplementedError
