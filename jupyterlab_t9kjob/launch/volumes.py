"""Cache of the PVCs of namespaces. The form is checked at every edit, so a list is kept for a few seconds."""

from __future__ import annotations

import time

from ..core.engine.info import Volume
from ..core.errors import JobError, Unavailable
from ..jobs.service import JobService

REMEMBERED_SECONDS = 10.0


class Volumes:
    """PVCs by engine and namespace.

    Parameters
    ----------
    jobs
        All engines.
    """

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs
        self._known: dict[tuple[str, str], tuple[float, list[Volume] | JobError]] = {}

    async def of(self, engine: str, namespace: str, *, fresh: bool = False) -> list[Volume]:
        """Return the PVCs of a namespace.

        Parameters
        ----------
        engine, namespace
            Location of the PVCs.
        fresh
            Ask the cluster even if a recent list is known.

        Raises
        ------
        NotAllowed
            If the account has no permission to list PVCs.
        FieldError
            If the namespace does not exist.
        Unavailable
            If the cluster does not answer.
        """
        key = (engine, namespace)
        since, known = self._known.get(key, (0.0, None))
        if fresh or known is None or time.monotonic() - since > REMEMBERED_SECONDS:
            try:
                known = await self._jobs.engines.volumes(engine, namespace)
            except Unavailable:
                raise
            except JobError as problem:
                known = problem
            self._known = {key: (time.monotonic(), known)}
        if isinstance(known, JobError):
            raise known.with_traceback(None)
        return known
