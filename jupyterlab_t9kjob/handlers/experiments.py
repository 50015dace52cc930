"""Handlers of experiments: the table of runs, a run, curves, removal."""

from __future__ import annotations

import asyncio

from ..core.errors import BadRequest
from ..core.translation import _
from .base import ApiHandler, guarded

MOST_NAMES = 200
MOST_VALUES = 10_000


class RunsHandler(ApiHandler):
    """``experiments/runs``."""

    @guarded
    async def get(self) -> None:
        """List the runs below a folder, or wait for changes."""
        folder = self.get_query_argument("folder", "", strip=False)
        given = self.get_query_argument("revision", "-1")
        revision = -1 if given == "-1" else self.query("revision", 0)
        metrics, curves = self._names("metrics"), self._names("curves")
        services = await self.app.services()
        self.finish(await services.experiments.runs(folder, revision, metrics, curves))

    def _names(self, parameter: str) -> list[str]:
        names = self.get_query_arguments(parameter, strip=False)
        if len(names) > MOST_NAMES:
            raise BadRequest(_("{name} has more than {most} values.", name=parameter, most=MOST_NAMES))
        return names


class RunHandler(ApiHandler):
    """``experiments/runs/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return a run in full."""
        services = await self.app.services()
        self.reply(await services.experiments.run(ident))

    @guarded
    async def patch(self, ident: str) -> None:
        """Change tags, note or archived state of a run."""
        from ..experiments.model import EditRun

        request = self.read(EditRun)
        services = await self.app.services()
        self.reply(await services.experiments.edit(ident, request))


class ValuesHandler(ApiHandler):
    """``experiments/runs/{id}/values``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the values of a metric."""
        metric = self.get_query_argument("metric", strip=False)
        first = self.query("first", 0)
        limit = self.query("limit", 1000, least=1, most=MOST_VALUES)
        services = await self.app.services()
        self.reply(await services.experiments.values(ident, metric, first, limit))


class CurvesHandler(ApiHandler):
    """``experiments/curves``."""

    @guarded
    async def post(self) -> None:
        """Return curves."""
        from ..experiments.model import CurvesRequest

        request = self.read(CurvesRequest)
        services = await self.app.services()
        curves = await services.experiments.curves(request)
        self.finish(await asyncio.to_thread(curves.model_dump_json))


class ValuesAtHandler(ApiHandler):
    """``experiments/values-at``."""

    @guarded
    async def post(self) -> None:
        """Return values of metrics at a step."""
        from ..experiments.model import ValuesAtRequest

        request = self.read(ValuesAtRequest)
        services = await self.app.services()
        self.reply(await services.experiments.values_at(request))


class RemovalHandler(ApiHandler):
    """``experiments/removal``."""

    @guarded
    async def post(self) -> None:
        """Delete the folders of runs and artifacts, or list what would be deleted."""
        from ..experiments.model import RemoveRuns

        request = self.read(RemoveRuns)
        services = await self.app.services()
        self.reply(await services.experiments.remove(request, services.artifacts.removal_target))
