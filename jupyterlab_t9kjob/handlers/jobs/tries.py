"""Handlers of tries: start, follow, stop."""

from __future__ import annotations

from ..base import ApiHandler, guarded


class TriesHandler(ApiHandler):
    """``tries``."""

    @guarded
    async def post(self) -> None:
        """Try a job on this machine."""
        from ...tries.model import TryRequest

        request = self.read(TryRequest)
        services = await self.app.services()
        wanted = await services.launch.submission(request)
        await services.presets.admit(wanted.spec, request.engine)
        self.reply(await services.tries.create(wanted, request), 201)


class TryHandler(ApiHandler):
    """``tries/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return a try; with `after`, as soon as it has changed."""
        text = self.get_query_argument("after", None)
        after = -1 if text is None else self.query("after", 0)
        services = await self.app.services()
        self.reply(await services.tries.get(ident, after))

    @guarded
    async def delete(self, ident: str) -> None:
        """Stop a try."""
        services = await self.app.services()
        self.reply(await services.tries.end(ident), 202)
