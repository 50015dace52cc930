"""Schema of a kind's manifests in the cluster, for completion and validation while a user edits a manifest."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from ....core.manifests import KINDS
from ....core.manifests.schema import KindSchema, bundled_schema, read_openapi
from ....core.translation import _
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..objects.kinds import JobKind
from .connection import Cluster
from .discovery import read_schema

UNREADABLE: Final = _("The cluster's schema can't be read. The fields are those that this extension knows.")


class ManifestSchemas:
    """Schema of one kind, read once for each version that the cluster has of it.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster.
    """

    def __init__(self, kind: JobKind, cluster: Cluster) -> None:
        self._kind = kind
        self._cluster = cluster
        self._lock = asyncio.Lock()
        self._key: tuple[str, str] | None = None
        self._schema: KindSchema | None = None

    async def schema(self) -> KindSchema:
        """Return the cluster's schema; that of the known fields if the cluster's can't be read."""
        await self._cluster.discovered()
        api, found = self._cluster.api, self._cluster.found(self._kind)
        form = KINDS[self._kind.manifests]
        if api is None or found is None:
            return bundled_schema(form, UNREADABLE)
        async with self._lock:
            key = (self._cluster.identity, found.schema)
            if self._schema is None or self._key != key or not found.schema:
                self._schema = await self._read(api) or bundled_schema(form, UNREADABLE)
                # A schema that could not be read is asked for again.
                self._key = key if self._schema.source == "cluster" else None
            return self._schema

    async def _read(self, api: KubeApi) -> KindSchema | None:
        """Read the schema from the cluster; None if this account can't."""
        try:
            document, core = await asyncio.gather(read_schema(api, self._kind), _core(api))
        except Unreachable:
            return None
        kind, shape = self._kind, KINDS[self._kind.manifests].shape
        read = partial(read_openapi, document, group=kind.group, kind=kind.kind, core=core, shape=shape)
        return await asyncio.to_thread(read)


async def _core(api: KubeApi) -> Json | None:
    """Return the document of the API group ``core``, which describes pod templates; None if it can't be read."""
    try:
        return await api.get("/openapi/v3/api/v1")
    except (ApiError, Unreachable):
        return None
