"""Which of the jobs that we know of the connected cluster does not have."""

from __future__ import annotations

from collections.abc import Mapping

from ..client.informer import Informer
from ..cluster.connection import Cluster
from ..objects.kinds import JobKind
from .tracked_job import KnownJob


class Comparison:
    """Compares what is known of one kind with what was listed.

    Parameters
    ----------
    kind
        The kind.
    cluster
        Where the jobs are.
    """

    def __init__(self, kind: JobKind, cluster: Cluster) -> None:
        self._kind = kind
        self._cluster = cluster
        self._identity = ""
        self._compared: dict[str, Informer] = {}

    def again(self, namespace: str) -> None:
        """Compare a namespace once more, though its list is the same."""
        self._compared.pop(namespace, None)

    def elsewhere(self, jobs: Mapping[str, KnownJob]) -> list[KnownJob]:
        """Return the jobs of a cluster that is not connected any more; the watches tell which are in this one."""
        before, self._identity = self._identity, self._cluster.identity
        if before in ("", self._identity):
            return []
        watches = [space.jobs[self._kind.engine] for space in self._cluster.watching(self._kind)]
        here = {uid for watch in watches for uid in watch.objects}
        return [job for job in jobs.values() if job.present and job.uid not in here]

    def lost(self, jobs: Mapping[str, KnownJob]) -> list[KnownJob]:
        """Return the jobs that the cluster, once it has listed its jobs, does not have."""
        lost: list[KnownJob] = []
        for space in self._cluster.watching(self._kind):
            watch = space.jobs[self._kind.engine]
            if not watch.complete or self._compared.get(space.name) is watch:
                continue
            self._compared[space.name] = watch
            missing = [job for job in jobs.values() if job.namespace == space.name and job.uid not in watch.objects]
            newer = [job for job in missing if job.present and not watch.has_reached(job.revision)]
            if newer:  # than the list
                self.again(space.name)
            lost += [job for job in missing if job not in newer]
        return lost
