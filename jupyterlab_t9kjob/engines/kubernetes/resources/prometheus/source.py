"""The samples of Prometheus for the jobs of one engine: which Prometheus, whether it answers, and its resolution."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from .....core.job import Reason
from .....core.translation import _
from ...client.api import KubeApi
from ...cluster.settings import Settings
from . import queries
from .answers import Series, scrape_interval, series_of
from .client import DirectPrometheus, Prometheus, checked_address
from .discovery import find
from .errors import PrometheusError

log = logging.getLogger(__name__)

OFF: Final = "off"
"""Value of the trait that switches Prometheus off."""
LEAST_STEP: Final = 15
"""Shortest time between two samples, also if Prometheus scrapes more often."""
SCRAPES: Final = 4
"""Scrapes in the time over which rates are computed; two are needed, and one may fail."""
RAW_SECONDS: Final = 300
MEASURED_SECONDS: Final = 3600.0
"""Time for which the measured interval between two scrapes is used."""
PAUSE_SECONDS: Final = 60.0
"""Time after a failure before Prometheus is asked again."""
ABSENT_SECONDS: Final = 600.0
"""Time before a Service of Prometheus is looked for again, and before one that was found is tried again."""
MOST_POINTS: Final = 480
"""Largest number of steps of one query."""
MOST_VALUES: Final = 8000
"""Largest number of pods times steps of one query. With 8 GPUs a pod has 48 values of about 25 bytes."""


@dataclass(frozen=True)
class Answer:
    """Series of some pods.

    Attributes
    ----------
    series
        The series.
    step
        Seconds between two values.
    window
        Seconds over which rates were computed.
    due
        False if no step has passed since the start of the time, so that nothing was asked.
    """

    series: list[Series]
    step: int
    window: int
    due: bool = True


class PrometheusSource:
    """Prometheus as a source of samples.

    Parameters
    ----------
    settings
        Settings of the Kubernetes engines.
    api
        Returns the client of the API server; None without a cluster.

    Attributes
    ----------
    interval
        Measured seconds between two scrapes; None before they were measured.
    """

    def __init__(self, settings: Settings, api: Callable[[], KubeApi | None]) -> None:
        self._settings = settings
        self._api = api
        self._server: Prometheus | None = None
        self._found_for: KubeApi | None = None
        self._error: PrometheusError | None = None
        self._pause_until = float("-inf")
        self._measured_at = float("-inf")
        self.interval: int | None = None

    @property
    def problem(self) -> Reason | None:
        """Why the Prometheus of the settings can't be read; None if it can, or if the settings name none.

        A Prometheus that was only found through its Service may be closed to this lab, which is no fault.
        """
        return self._error.reason if self._error is not None and self._settings.prometheus else None

    @property
    def step(self) -> int:
        """Seconds between two samples."""
        return max(LEAST_STEP, self.interval or LEAST_STEP)

    async def read(self, namespace: str, pods: Sequence[str], since: float, until: float) -> Answer | None:
        """Return the series of pods; None if Prometheus can't be read now, or has not scraped the pods twice.

        Parameters
        ----------
        namespace, pods
            The pods.
        since, until
            The time, in seconds since the epoch. A long time has few values; see `MOST_POINTS`.
        """
        if not pods or time.monotonic() < self._pause_until:
            return None
        try:
            server = await self._find()
            if server is None:
                return None
            answer = await self._read(server, namespace, pods, since, until)
        except PrometheusError as error:
            self._fail(error)
            return None
        except Exception as error:  # The metrics API is read then; no answer of a server may prevent that.
            log.exception("The answer of Prometheus was not understood")
            self._fail(
                PrometheusError(
                    "PrometheusWrong",
                    _("The answer of Prometheus was not understood: {error}.", error=type(error).__name__),
                )
            )
            return None
        if self._error is not None:
            log.info("Prometheus answers again")
        self._error = None
        return answer

    def _fail(self, error: PrometheusError) -> None:
        if self._error is None or self._error.reason.code != error.reason.code:
            log.warning("Samples of Prometheus: %s", error.reason.sentence)
        self._error = error
        self._pause_until = time.monotonic() + (PAUSE_SECONDS if self._settings.prometheus else ABSENT_SECONDS)

    async def _find(self) -> Prometheus | None:
        given, api = self._settings.prometheus.strip(), self._api()
        if given == OFF:
            return None
        if given:
            if self._server is None:
                self._server = DirectPrometheus(
                    checked_address(given), self._settings.prometheus_token_file, self._settings.prometheus_ca_file
                )
            return self._server
        if api is None:
            return None
        if self._server is None or self._found_for is not api:
            self._server, self._found_for = await find(api), api
            if self._server is None:
                self._pause_until = time.monotonic() + ABSENT_SECONDS
            else:
                log.info("Samples come from the Prometheus at %s", self._server.host)
        return self._server

    async def _read(
        self, server: Prometheus, namespace: str, pods: Sequence[str], since: float, until: float
    ) -> Answer | None:
        if self.interval is None or time.monotonic() - self._measured_at > MEASURED_SECONDS:
            await self._measure(server, namespace, pods, until)
        if self.interval is None:
            return None
        most = max(1, min(MOST_POINTS, MOST_VALUES // len(pods)))
        steps = queries.steps_between(since, until, self.step, most)
        if steps is None:
            return Answer([], self.step, SCRAPES * self.interval, due=False)
        first, last, step = steps
        window = max(SCRAPES * self.interval, step)
        mean = step if step >= 2 * self.step else None
        series: list[Series] = []
        for group in queries.in_groups(pods):
            query = queries.samples_query(namespace, group, window, mean)
            params = {"query": query, "start": str(first), "end": str(last), "step": str(step)}
            content = await server.ask("/api/v1/query_range", params)
            series += await asyncio.to_thread(series_of, content, server.host)
        return Answer(series, step, window)

    async def _measure(self, server: Prometheus, namespace: str, pods: Sequence[str], until: float) -> None:
        some = next(queries.in_groups(pods[:8]))
        params = {"query": queries.raw_scrapes(namespace, some, RAW_SECONDS), "time": f"{until:.3f}"}
        content = await server.ask("/api/v1/query", params)
        found = scrape_interval(await asyncio.to_thread(series_of, content, server.host))
        if found is not None:
            self.interval, self._measured_at = found, time.monotonic()
