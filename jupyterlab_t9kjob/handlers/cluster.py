"""Handlers of the routes ``cluster/…``: capacity, nodes, queues, volumes, schemas."""

from __future__ import annotations

import re

from ..core.errors import BadRequest
from ..core.translation import _
from .base import ApiHandler, guarded


class ClusterHandler(ApiHandler):
    """Base of the handlers, with the query's engine and namespace."""

    @property
    def engine(self) -> str:
        """Name of the engine in the query."""
        return self.get_query_argument("engine", "")

    @property
    def namespace(self) -> str:
        """Namespace in the query; empty if it has none.

        Raises
        ------
        BadRequest
            If it is not a valid name of a namespace.
        """
        from ..core.spec import NAMESPACE_PATTERN

        namespace = self.get_query_argument("namespace", "")
        if not re.fullmatch(NAMESPACE_PATTERN, namespace):
            raise BadRequest(
                _("{namespace} can't be a namespace.", namespace=repr(namespace[:80])),
                hint=_("Use lower-case letters, digits and hyphens."),
            )
        return namespace


class CapacityHandler(ClusterHandler):
    """``cluster/capacity``."""

    @guarded
    async def get(self) -> None:
        """Return the free resources."""
        services = await self.app.services()
        self.reply(await services.jobs.engines.capacity(self.engine, self.namespace))


class NodesHandler(ClusterHandler):
    """``cluster/nodes``."""

    @guarded
    async def get(self) -> None:
        """List the nodes with the free resources of each."""
        services = await self.app.services()
        self.reply(await services.jobs.engines.nodes(self.engine))


class QueuesHandler(ClusterHandler):
    """``cluster/queues``."""

    @guarded
    async def get(self) -> None:
        """List the queues that take jobs of a namespace."""
        services = await self.app.services()
        self.reply(await services.jobs.engines.queues(self.engine, self.namespace))


class VolumesHandler(ClusterHandler):
    """``cluster/volumes``."""

    @guarded
    async def get(self) -> None:
        """List the PVCs that a job of a namespace can mount."""
        from .messages import VolumeList

        services = await self.app.services()
        self.reply(VolumeList(volumes=await services.jobs.engines.volumes(self.engine, self.namespace)))


class ManifestSchemaHandler(ClusterHandler):
    """``cluster/manifest-schema``."""

    @guarded
    async def get(self) -> None:
        """Return the fields of the engine's manifests."""
        services = await self.app.services()
        self.reply(await services.jobs.engines.manifest_schema(self.engine))
