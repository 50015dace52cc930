"""What the form needs to know of a cluster."""

from __future__ import annotations

import re

from ..core.errors import BadRequest
from .base import ApiHandler, guarded


class VolumesHandler(ApiHandler):
    """``cluster/volumes``."""

    @guarded
    async def get(self) -> None:
        """List the PVCs that a job can have."""
        from ..core.spec import NAMESPACE_PATTERN
        from .messages import VolumeList

        engine = self.get_query_argument("engine", "")
        namespace = self.get_query_argument("namespace", "")
        if not re.fullmatch(NAMESPACE_PATTERN, namespace):
            raise BadRequest(f"{namespace[:80]!r} can't be a namespace.", hint="Small letters, digits and dashes.")
        services = await self.app.services()
        self.reply(VolumeList(volumes=await services.jobs.volumes(engine, namespace)))
