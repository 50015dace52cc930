"""What the form needs to know of a cluster."""

from __future__ import annotations

import re

from ..core.errors import BadRequest
from .base import ApiHandler, guarded


def namespace_of(handler: ApiHandler) -> str:
    """Return the namespace that a request asks about; raises `BadRequest` if it can't be one."""
    from ..core.spec import NAMESPACE_PATTERN

    namespace = handler.get_query_argument("namespace", "")
    if not re.fullmatch(NAMESPACE_PATTERN, namespace):
        raise BadRequest(f"{namespace[:80]!r} can't be a namespace.", hint="Small letters, digits and dashes.")
    return namespace


class QueuesHandler(ApiHandler):
    """``cluster/queues``."""

    @guarded
    async def get(self) -> None:
        """List the queues that a job can be put into."""
        engine, namespace = self.get_query_argument("engine", ""), namespace_of(self)
        services = await self.app.services()
        self.reply(await services.jobs.queues(engine, namespace))


class VolumesHandler(ApiHandler):
    """``cluster/volumes``."""

    @guarded
    async def get(self) -> None:
        """List the PVCs that a job can have."""
        from .messages import VolumeList

        engine, namespace = self.get_query_argument("engine", ""), namespace_of(self)
        services = await self.app.services()
        self.reply(VolumeList(volumes=await services.jobs.volumes(engine, namespace)))
