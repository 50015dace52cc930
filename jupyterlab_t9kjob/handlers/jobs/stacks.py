"""Handlers of the stacks of jobs."""

from __future__ import annotations

from ..base import ApiHandler, guarded


class StacksHandler(ApiHandler):
    """``jobs/{id}/stacks``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the kept stacks of a job, and whether new ones can be taken."""
        services = await self.app.services()
        self.reply(await services.stacks.kept(ident))

    @guarded
    async def post(self, ident: str) -> None:
        """Take the stacks of all ranks of a job."""
        from ...stacks.model import TakeStacks

        request = self.read(TakeStacks)
        services = await self.app.services()
        self.reply(await services.stacks.take(ident, native=request.native), 201)
