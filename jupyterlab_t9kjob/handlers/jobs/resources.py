"""Handlers of the use of resources by jobs."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, cast

from ...core.errors import BadRequest
from ...core.translation import _, alternatives
from ..base import ApiHandler, guarded

if TYPE_CHECKING:
    from ...resources.model import By

POINTS = 240
MOST_POINTS = 2000
PARTS = ("sum", "replica", "unit")


class ResourcesHandler(ApiHandler):
    """``jobs/{id}/resources``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the use of resources, or wait for newer samples."""
        from ...core.resources import SampleSpan

        span = SampleSpan(self._time("from"), self._time("to"), self.query("points", POINTS, least=1, most=MOST_POINTS))
        by = self.get_query_argument("by", "replica")
        if by not in PARTS:
            raise BadRequest(_("by must be {values}.", values=alternatives(PARTS)))
        version = self.get_query_argument("version", None)
        services = await self.app.services()
        view = await services.resources.view(ident, span, cast("By", by), version)
        # Many points would hold up the server's other requests.
        self.finish(await asyncio.to_thread(view.model_dump_json))

    def _time(self, name: str) -> float | None:
        text = self.get_query_argument(name, None)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < 1e12:
            raise BadRequest(_("{name} must be a time in seconds since the epoch.", name=name))
        return value


class CurvesHandler(ApiHandler):
    """``jobs/{id}/curves``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the curves of the metrics that a job reported."""
        from ...jobs.metrics.curves import curves_of

        services = await self.app.services()
        metrics = await services.metrics.of(await services.jobs.job(ident))
        self.reply(await asyncio.to_thread(curves_of, metrics))


class LogMarkersHandler(ApiHandler):
    """``jobs/{id}/log-markers``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the lines of the log for the axis of time."""
        from ...jobs.log_markers import markers_of

        services = await self.app.services()
        self.reply(await markers_of(services.jobs, ident))
