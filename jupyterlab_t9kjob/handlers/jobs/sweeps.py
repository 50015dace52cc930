"""Handlers of sweeps: expand, create, stop, retry, delete."""

from __future__ import annotations

from functools import partial

from ..base import ApiHandler, guarded


class SweepPreviewHandler(ApiHandler):
    """``launch/sweep``."""

    @guarded
    async def post(self) -> None:
        """Return the jobs of a sweep with their checks. Nothing is created."""
        from ...launch.sweeps.model import ExpandSweep

        request = self.read(ExpandSweep)
        services = await self.app.services()
        self.reply(await services.launch.expand(request))


class SweepsHandler(ApiHandler):
    """``sweeps``."""

    @guarded
    async def post(self) -> None:
        """Create the jobs of a sweep."""
        from ...jobs.sweeps.service import sweep_id
        from ..messages import CreateSweep

        request = self.read(CreateSweep)
        services = await self.app.services()
        specs, namespace = await services.launch.sweep_specs(request, sweep_id(request.request_id))
        admit = partial(services.launch.admit, path=request.path)
        self.reply(await services.sweeps.create(specs, engine=request.engine, namespace=namespace, admit=admit), 201)


class SweepHandler(ApiHandler):
    """``sweeps/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the metrics of the jobs of a sweep."""
        services = await self.app.services()
        self.reply(await services.sweeps.results(ident))

    @guarded
    async def delete(self, ident: str) -> None:
        """End and delete all jobs of a sweep."""
        remove = self.switch("remove")
        services = await self.app.services()
        self.reply(await services.sweeps.delete(ident, remove=remove), 202)


class SweepActionHandler(ApiHandler):
    """``sweeps/{id}/{sweep_action}``."""

    @guarded
    async def post(self, ident: str, action: str) -> None:
        """Stop the jobs of a sweep, or create new ones for those that failed.

        Parameters
        ----------
        ident
            Id of the sweep.
        action
            ``stop`` or ``retry``.
        """
        services = await self.app.services()
        if action == "stop":
            self.reply(await services.sweeps.stop(ident))
        else:
            self.reply(await services.sweeps.retry(ident, admit=services.launch.admit), 201)
