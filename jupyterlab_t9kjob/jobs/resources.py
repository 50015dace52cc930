"""Use of resources by jobs: the samples of their engines as rows, findings and totals."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from ..core.engine.options import HasResources
from ..core.engine.protocol import Engine
from ..core.job import Job, Reason
from ..core.resources import Samples, SampleSpan
from ..core.translation import _
from ..resources.findings.rules import findings_of
from ..resources.model import By, ResourceView
from ..resources.reduction import Reduced, reduce, span_of
from ..resources.usage import usage_of
from ..resources.view import gaps_of, replicas_of, rows_of
from .engines import Engines

HELD_SECONDS: Final = 15.0
"""Time that a request waits for newer samples."""
CHECK_SECONDS: Final = 1.0
WHOLE_POINTS: Final = 600
"""Points of the whole job from which single figures are computed."""


class ResourceService:
    """Answers requests about the use of resources.

    Parameters
    ----------
    engines
        All engines.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def view(self, ident: str, span: SampleSpan, by: By, version: str | None = None) -> ResourceView:
        """Return the use of resources by a job.

        Parameters
        ----------
        ident
            The job's id.
        span
            Range and number of points.
        by
            Parts that have curves.
        version
            Version of the last answer: the answer waits up to `HELD_SECONDS` for newer samples. None for no wait.
        """
        engine, uid = self._engines.find(ident)
        job = await engine.job(uid)
        if not isinstance(engine, HasResources):
            return _without(engine, job)
        current = await _newer(engine, uid, version)
        samples = await engine.samples(uid, span)
        return await asyncio.to_thread(_view, current, samples, span, by, job)


async def _newer(engine: HasResources, uid: str, version: str | None) -> str:
    end = time.monotonic() + HELD_SECONDS
    while True:
        current = await engine.samples_version(uid)
        if current != version or time.monotonic() > end:
            return current
        await asyncio.sleep(CHECK_SECONDS)


def _without(engine: Engine, job: Job) -> ResourceView:
    sentence = _("{engine} does not report the use of resources.", engine=engine.label)
    return ResourceView(
        version="",
        usage=usage_of(job, Reduced()),
        unavailable=Reason(code="NotReported", sentence=sentence),
    )


def _view(version: str, samples: Samples, span: SampleSpan, by: By, job: Job) -> ResourceView:
    known = span_of(samples.tiers)
    source = samples.source
    view = ResourceView.model_construct(
        version=version,
        source=source.code if source else None,
        source_label=source.label if source else None,
        interval=source.seconds if source else None,
        resolution=None,
        first=known[0] if known else None,
        last=known[1] if known else None,
        times=[],
        gaps=[],
        rows=[],
        replicas=[],
        findings=[],
        usage=usage_of(job, Reduced()),
        unavailable=samples.unavailable,
        trouble=samples.trouble,
    )
    if known is None:
        view.rows = rows_of(samples, Reduced(), Reduced(), by)
        return view
    whole = reduce(samples.tiers, known[0], known[1], WHOLE_POINTS)
    first = known[0] if span.first is None else max(span.first, known[0])
    last = known[1] if span.last is None else min(span.last, known[1])
    reduced = reduce(samples.tiers, first, max(first, last), span.points)
    seconds = [end - start for start, end in zip(reduced.times, reduced.ends, strict=True)]
    view.resolution = sum(seconds) / len(seconds) if seconds else None
    view.times = [round(start, 1) for start in reduced.times]
    view.gaps = gaps_of(reduced, source.seconds if source else 10.0)
    view.rows = rows_of(samples, reduced, whole, by)
    view.replicas = replicas_of(reduced)
    view.findings = findings_of(samples, job)
    view.usage = usage_of(job, whole)
    return view
