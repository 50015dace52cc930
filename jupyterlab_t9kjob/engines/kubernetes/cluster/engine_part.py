"""The part of the engine that reads the whole cluster: its nodes, what is free, and the namespaces that have jobs."""

from __future__ import annotations

from typing import Final

from ....core.capacity import Capacity, NodeList
from ....core.translation import Text, _, _n
from ..client.api import Json
from ..client.errors import ApiError, Unreachable
from ..objects.kinds import JobKind
from .connection import Cluster

MOST_NAMESPACES: Final = 200
"""Namespaces that are watched at most: each has its own watches."""


class ReadsCluster:
    """Base of the engine."""

    _kind: JobKind
    _cluster: Cluster

    async def capacity(self, namespace: str) -> Capacity:
        """Return what is free now, and the quotas of a namespace; of all watched namespaces if it is empty."""
        await self._cluster.api_for(self._kind)
        return await self._cluster.capacity.now(namespace)

    async def nodes(self) -> NodeList:
        """Return the nodes with their free amounts."""
        await self._cluster.api_for(self._kind)
        return await self._cluster.capacity.nodes()

    async def watch_all_namespaces(self) -> Text | None:
        """Watch all namespaces with jobs that the account may list; return why others are missing.

        See `core.engine.options.SpansNamespaces`.
        """
        cluster, kind = self._cluster, self._kind
        await cluster.discovered()
        if cluster.api is None or cluster.found(kind) is None:
            return None
        with_jobs: dict[str, None] = {}

        def take(manifest: Json) -> None:
            with_jobs[manifest["metadata"]["namespace"]] = None

        missing: Text | None = None
        try:
            await cluster.api.read(f"/apis/{kind.group}/{kind.version}/{kind.plural}", take)
        except Unreachable as error:
            return error.message
        except ApiError as error:
            if error.status != 403:
                return Text.verbatim(error.message)
            # Without that permission, the account may still list the jobs of each namespace that it sees.
            with_jobs = dict.fromkeys(cluster.namespaces)
            missing = _(
                "You don't have permission to list {kind} objects in all namespaces. Jobs of namespaces that you may"
                " not list are missing.",
                kind=kind.kind,
            )
        for namespace in list(with_jobs)[:MOST_NAMESPACES]:
            await cluster.use(namespace)
        if len(with_jobs) > MOST_NAMESPACES:
            left = len(with_jobs) - MOST_NAMESPACES
            return _n(
                "Jobs of {n} more namespace are not listed. Name it with --namespace.",
                "Jobs of {n} more namespaces are not listed. Name one with --namespace.",
                left,
            )
        return missing
