"""Handlers of presets."""

from __future__ import annotations

from .base import ApiHandler, guarded


class PresetsHandler(ApiHandler):
    """``launch/presets``."""

    @guarded
    async def get(self) -> None:
        """List the presets and locks for a form."""
        engine = self.get_query_argument("engine", "")
        services = await self.app.services()
        self.reply(await services.presets.for_form(engine))

    @guarded
    async def post(self) -> None:
        """Save a preset of the user."""
        from ..presets.model import SavePreset

        request = self.read(SavePreset)
        services = await self.app.services()
        self.reply(await services.presets.save(request), 201)


class PresetHandler(ApiHandler):
    """``launch/presets/{id}``."""

    @guarded
    async def post(self, ident: str) -> None:
        """Rename a preset of the user."""
        from ..presets.model import RenamePreset

        request = self.read(RenamePreset)
        services = await self.app.services()
        self.reply(await services.presets.rename(ident, request.name))

    @guarded
    async def delete(self, ident: str) -> None:
        """Delete a preset of the user."""
        services = await self.app.services()
        await services.presets.delete(ident)
        self.set_status(204)


class ApplyPresetHandler(ApiHandler):
    """``launch/applied-preset``."""

    @guarded
    async def post(self) -> None:
        """Return a spec with the values of a preset."""
        from ..presets.model import ApplyPreset

        request = self.read(ApplyPreset)
        services = await self.app.services()
        self.reply(await services.presets.apply(request))
