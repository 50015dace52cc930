"""Samples of a job in the cluster as an engine returns them, with the reason for what is missing."""

from __future__ import annotations

import time
from typing import Any, Final

from ....core.job import Reason
from ....core.resources import Level, ResourceSource, Samples, SampleSpan
from ....core.system.disk_threads import on_disk
from ....core.translation import _, _n
from ....resources.amounts import number, size
from ....resources.storage.blocks import read
from ....resources.storage.writer import TIERS
from ..client.errors import ApiError, Unreachable
from ..jobs.snapshot import JobSnapshot
from .sampler import INTERVAL_SECONDS, ClusterSampler

SILENT_SECONDS: Final = 120.0


class ReadsSamples:
    """Base of the engine; see `core.engine.options.HasResources`."""

    _resources: ClusterSampler

    async def _open(self, uid: str) -> JobSnapshot:
        raise NotImplementedError

    async def samples(self, uid: str, span: SampleSpan) -> Samples:
        """Return all samples of the job that this lab has kept.

        The parameters are those of `core.engine.options.HasResources.samples`.
        """
        seen = await self._open(uid)
        folder = self._resources.folder(seen)
        if folder is None:
            return Samples(None)
        tiers = await on_disk(folder, lambda: [(tier.seconds, read(folder / tier.name)) for tier in TIERS])
        newest = next((segments[-1] for _seconds, segments in tiers if segments), None)
        last = newest.times[-1] + newest.seconds[-1] if newest is not None else None
        problem = _problem(self._resources.problem(seen.job.namespace), seen.job.namespace)
        runs = seen.job.present and seen.state.phase == "Running"
        label = _n("every {n} s, from the metrics API", "every {n} s, from the metrics API", round(INTERVAL_SECONDS))
        return Samples(
            source=ResourceSource("metrics_api", label, INTERVAL_SECONDS),
            tiers=tiers,
            levels=_levels(newest.facts.get("limits") if newest is not None else None),
            notes={"memory": _("working set: without page cache that can be freed")},
            missing={"gpu_use": _("The metrics API of a cluster does not report GPUs, network and disk.")}
            if newest is not None
            else {},
            unavailable=(problem or _never(seen)) if newest is None else None,
            trouble=problem if last is not None and runs and time.time() - last > SILENT_SECONDS else None,
        )

    async def samples_version(self, uid: str) -> str:
        """Return a text that changes with each new sample; the job is sampled while pages ask for it."""
        seen = await self._open(uid)
        self._resources.watch(seen)
        folder = self._resources.folder(seen)
        if folder is None:
            return ""
        stamp = await on_disk(folder, _stamp, folder / TIERS[0].name)
        return f"{stamp} {self._resources.problem(seen.job.namespace) is not None}"


def _stamp(path: Any) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def _never(seen: JobSnapshot) -> Reason | None:
    if seen.job.present and seen.state.phase in ("Pending", "Running", "Paused", "Resuming"):
        return None
    return Reason(
        code="NoSamples",
        sentence=_("This JupyterLab has no samples of the job."),
        hint=_("Samples are taken while the job runs and a JupyterLab of its owner is open, or this tab is shown."),
    )


def _problem(error: ApiError | Unreachable | None, namespace: str) -> Reason | None:
    if error is None:
        return None
    if isinstance(error, Unreachable):
        return Reason(code="Unreachable", sentence=_("The cluster does not answer."), verbatim=str(error))
    if error.status == 403:
        return Reason(
            code="Forbidden",
            sentence=_("You don't have permission to read the metrics of pods in namespace “{ns}”.", ns=namespace),
            hint=_("An administrator can allow list of pods in the API group metrics.k8s.io."),
            verbatim=str(error),
        )
    if error.status in (404, 503):
        return Reason(
            code="NoMetricsApi",
            sentence=_("The cluster has no metrics API that answers."),
            hint=_("An administrator can install metrics-server, or repair it."),
            verbatim=str(error),
        )
    return Reason(code="Refused", sentence=_("The metrics API can't be read."), verbatim=str(error))


def _levels(limits: Any) -> list[Level]:
    if not isinstance(limits, dict):
        return []
    levels = []
    for metric in ("cpu", "memory"):
        given = {kind: limits.get(f"{kind}s.{metric}") for kind in ("limit", "request")}
        shown = {kind: number(value) if metric == "cpu" else size(value) for kind, value in given.items() if value}
        if given["limit"] and given["limit"] == given["request"]:
            label = _("limit and request {amount}", amount=shown["limit"])
            levels.append(Level(metric, "limit", given["limit"], "replica", label))
            continue
        if given["limit"]:
            label = _("limit {amount}", amount=shown["limit"])
            levels.append(Level(metric, "limit", given["limit"], "replica", label))
        if given["request"]:
            label = _("request {amount}", amount=shown["request"])
            levels.append(Level(metric, "request", given["request"], "replica", label))
    return levels
