"""Handlers of the routes ``launch/…``: the filled form, its preview, and manifests that are read into it."""

from __future__ import annotations

from .base import ApiHandler, guarded


class PrefillHandler(ApiHandler):
    """``launch/prefill``."""

    @guarded
    async def post(self) -> None:
        """Return a filled form for a path or a spec."""
        from ..launch.model import PrefillRequest

        request = self.read(PrefillRequest)
        services = await self.app.services()
        self.reply(await services.launch.prefill(request))


class PreviewHandler(ApiHandler):
    """``launch/preview``."""

    @guarded
    async def post(self) -> None:
        """Return command or manifest of a form, with its checks."""
        from ..launch.model import PreviewRequest

        request = self.read(PreviewRequest)
        services = await self.app.services()
        self.reply(await services.launch.preview(request))


class ManifestTextHandler(ApiHandler):
    """``launch/manifest``."""

    @guarded
    async def post(self) -> None:
        """Return the form that is filled from a manifest."""
        from ..launch.model import ReadManifestRequest

        request = self.read(ReadManifestRequest)
        services = await self.app.services()
        self.reply(await services.launch.read_manifest(request))
