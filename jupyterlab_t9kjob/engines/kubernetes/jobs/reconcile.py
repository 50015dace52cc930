"""Finds the known jobs that the connected cluster does not have."""

from __future__ import annotations

from collections.abc import Mapping

from ..client.watch.informer import Informer
from ..cluster.connection import Cluster
from ..objects.kinds import JobKind
from .tracked_job import TrackedJob


class Reconciler:
    """Compares the known jobs of one kind with the lists of the cluster.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs.
    """

    def __init__(self, kind: JobKind, cluster: Cluster) -> None:
        self._kind = kind
        self._cluster = cluster
        self._identity = ""
        self._compared: dict[str, Informer] = {}

    def again(self, namespace: str) -> None:
        """Compare a namespace once more although its list has not changed."""
        self._compared.pop(namespace, None)

    def elsewhere(self, jobs: Mapping[str, TrackedJob]) -> list[TrackedJob]:
        """Return the jobs of a cluster that is no longer connected; empty if the connected cluster is the same.

        Jobs that are in the lists of the new cluster are left out.
        """
        before, self._identity = self._identity, self._cluster.identity
        if before in ("", self._identity):
            return []
        watches = [space.jobs[self._kind.engine] for space in self._cluster.watching(self._kind)]
        here = {uid for watch in watches for uid in watch.objects}
        return [job for job in jobs.values() if job.present and job.uid not in here]

    def lost(self, jobs: Mapping[str, TrackedJob]) -> list[TrackedJob]:
        """Return the jobs that are missing in the complete lists of their namespaces.

        Each list is compared once.
        """
        lost: list[TrackedJob] = []
        for space in self._cluster.watching(self._kind):
            watch = space.jobs[self._kind.engine]
            if not watch.complete or self._compared.get(space.name) is watch:
                continue
            self._compared[space.name] = watch
            missing = [job for job in jobs.values() if job.namespace == space.name and job.uid not in watch.objects]
            newer = [job for job in missing if job.present and not watch.has_reached(job.revision)]
            if newer:  # The list is older than these jobs.
                self.again(space.name)
            lost += [job for job in missing if job not in newer]
        return lost
