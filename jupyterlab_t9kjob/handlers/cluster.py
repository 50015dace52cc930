"""What the form needs to know of a cluster."""

from __future__ import annotations

from .base import ApiHandler, guarded


class VolumesHandler(ApiHandler):
    """``cluster/volumes``."""

    @guarded
    async def get(self) -> None:
        """List the PVCs that a job can have."""
        from .messages import VolumeList

        engine = self.get_query_argument("engine", "")
        namespace = self.get_query_argument("namespace", "")
        services = await self.app.services()
        self.reply(VolumeList(volumes=await services.jobs.volumes(engine, namespace)))
