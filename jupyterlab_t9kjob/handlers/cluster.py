"""What the form, and whoever looks at capacity, need to know of a cluster."""

from __future__ import annotations

import re

from ..core.errors import BadRequest
from .base import ApiHandler, guarded


class ClusterHandler(ApiHandler):
    """One part of ``cluster``, as an engine sees it."""

    @property
    def engine(self) -> str:
        """The engine that is asked."""
        return self.get_query_argument("engine", "")

    @property
    def namespace(self) -> str:
        """The namespace that is meant; empty if none is said.

        Raises
        ------
        BadRequest
            If it can't be one.
        """
        from ..core.spec import NAMESPACE_PATTERN

        namespace = self.get_query_argument("namespace", "")
        if not re.fullmatch(NAMESPACE_PATTERN, namespace):
            raise BadRequest(f"{namespace[:80]!r} can't be a namespace.", hint="Small letters, digits and dashes.")
        return namespace


class CapacityHandler(ClusterHandler):
    """``cluster/capacity``."""

    @guarded
    async def get(self) -> None:
        """Say what is free."""
        services = await self.app.services()
        self.reply(await services.jobs.capacity(self.engine, self.namespace))


class NodesHandler(ClusterHandler):
    """``cluster/nodes``."""

    @guarded
    async def get(self) -> None:
        """List the nodes with what is free on each."""
        services = await self.app.services()
        self.reply(await services.jobs.nodes(self.engine))


class QueuesHandler(ClusterHandler):
    """``cluster/queues``."""

    @guarded
    async def get(self) -> None:
        """List the queues that a job can be put into."""
        services = await self.app.services()
        self.reply(await services.jobs.queues(self.engine, self.namespace))


class VolumesHandler(ClusterHandler):
    """``cluster/volumes``."""

    @guarded
    async def get(self) -> None:
        """List the PVCs that a job can have."""
        from .messages import VolumeList

        services = await self.app.services()
        self.reply(VolumeList(volumes=await services.jobs.volumes(self.engine, self.namespace)))
