"""Samples of a job in the cluster as an engine returns them, with the reason for what is missing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from ....core.job import Reason
from ....core.resources import Level, ResourceSource, Samples
from ....core.system.disk_threads import on_disk
from ....core.translation import Text, _, _n, sentences
from ....resources.amounts import number, size
from ....resources.storage.blocks import read
from ....resources.storage.writer import TIERS
from ..client.errors import ApiError, Unreachable
from ..jobs.snapshot import JobSnapshot
from .sampler import INTERVAL_SECONDS, ClusterSampler

SILENT_SECONDS: Final = 120.0


async def samples_of(sampler: ClusterSampler, seen: JobSnapshot) -> Samples:
    """Return all samples of a job that this lab has kept.

    Parameters
    ----------
    sampler
        The sampler.
    seen
        The job's state.
    """
    folder = sampler.folder(seen)
    if folder is None:
        return Samples(None)
    await sampler.fill(seen)
    tiers = await on_disk(folder, lambda: [(tier.seconds, read(folder / tier.name)) for tier in TIERS])
    newest = next((segments[-1] for _seconds, segments in tiers if segments), None)
    last = newest.times[-1] + newest.seconds[-1] if newest is not None else None
    facts = newest.facts if newest is not None else {}
    problem = _problem(sampler.problem(seen.job.namespace), seen.job.namespace)
    runs = seen.job.present and seen.state.phase == "Running"
    is_late = last is not None and time.time() - last > SILENT_SECONDS
    silent = sampler.prometheus_problem
    trouble = problem if is_late else None
    if silent is not None and (is_late or facts.get("source") != "prometheus"):
        trouble = _fallen_back(silent, problem)
    return Samples(
        source=_source(facts),
        tiers=tiers,
        levels=[*_levels(facts.get("limits")), *_gpu_levels(facts)],
        notes=_notes(facts),
        missing=_missing(seen, facts) if newest is not None else {},
        unavailable=(problem or _never(seen, silent, filled=sampler.is_filled(seen.job.uid)))
        if newest is None
        else None,
        trouble=trouble if runs else None,
    )


async def version_of(sampler: ClusterSampler, seen: JobSnapshot) -> str:
    """Return a text that changes with each new sample; the job is sampled from now on for some time.

    The parameters are those of `samples_of`.
    """
    sampler.watch(seen)
    folder = sampler.folder(seen)
    if folder is None:
        return ""
    stamp = await on_disk(folder, _stamp, folder / TIERS[0].name)
    problem, trouble = sampler.problem(seen.job.namespace), sampler.prometheus_problem
    return f"{stamp} {problem is not None} {trouble.code if trouble is not None else ''}"


def _stamp(path: Any) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns}-{found.st_size}"


def _source(facts: Mapping[str, Any]) -> ResourceSource:
    if facts.get("source") != "prometheus":
        label = _n("every {n} s, from the metrics API", "every {n} s, from the metrics API", round(INTERVAL_SECONDS))
        return ResourceSource("metrics_api", label, INTERVAL_SECONDS)
    seconds = _positive(facts.get("interval")) or INTERVAL_SECONDS
    if _cards(facts):
        label = _n("every {n} s, from Prometheus and DCGM", "every {n} s, from Prometheus and DCGM", round(seconds))
    else:
        label = _n("every {n} s, from Prometheus", "every {n} s, from Prometheus", round(seconds))
    return ResourceSource("prometheus", label, seconds)


def _notes(facts: Mapping[str, Any]) -> dict[str, Text]:
    notes = {"memory": _("working set: without page cache that can be freed")}
    if facts.get("source") != "prometheus":
        return notes
    window = round(_positive(facts.get("window")) or 0)
    notes["cpu"] = _n("mean of {n} s", "mean of {n} s", window)
    notes["network"] = _n(
        "sent and received by the pods, mean of {n} s; RDMA is not counted",
        "sent and received by the pods, mean of {n} s; RDMA is not counted",
        window,
    )
    notes["disk"] = _n(
        "read and written on block devices, mean of {n} s; network file systems are not counted",
        "read and written on block devices, mean of {n} s; network file systems are not counted",
        window,
    )
    names = {str(card["name"]) for card in _cards(facts) if card.get("name")}
    if len(names) == 1:
        notes["gpu_use"] = _("% of each {model}", model=next(iter(names)))
    return notes


def _missing(seen: JobSnapshot, facts: Mapping[str, Any]) -> dict[str, Text]:
    if facts.get("source") != "prometheus":
        return {"gpu_use": _("The metrics API of a cluster does not report GPUs, network and disk.")}
    size = seen.job.size
    if _cards(facts) or size is None or size.devices is None:
        return {}
    return {
        "gpu_use": _(
            "Prometheus has no values of the job's GPUs. NVIDIA's DCGM exporter reports them, with the names of pods."
        )
    }


def _fallen_back(problem: Reason, of_metrics: Reason | None) -> Reason:
    """Return why Prometheus can't be read, with the source that is read instead, or why that can't be read either."""
    meanwhile = _("CPU and memory come from the metrics API meanwhile.") if of_metrics is None else of_metrics.sentence
    return problem.model_copy(update={"hint": sentences(meanwhile, problem.hint)})


def _cards(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    cards = facts.get("gpus")
    return [card for card in cards.values() if isinstance(card, dict)] if isinstance(cards, dict) else []


def _gpu_levels(facts: Mapping[str, Any]) -> list[Level]:
    totals = {total for card in _cards(facts) if (total := _positive(card.get("memory"))) is not None}
    if len(totals) != 1:
        return []
    (total,) = totals
    label = _("{size} on the card", size=size(total))
    return [Level("gpu_memory", "limit", total, part, label) for part in ("job", "replica", "gpu")]


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 < value < 1e18 else None


def _never(seen: JobSnapshot, silent: Reason | None, *, filled: bool) -> Reason | None:
    if seen.job.present and seen.state.phase in ("Pending", "Running", "Paused", "Resuming"):
        return None
    if filled:
        return Reason(code="NoSamples", sentence=_("Prometheus has no samples of the job."))
    return Reason(
        code="NoSamples",
        sentence=_("This JupyterLab has no samples of the job."),
        hint=sentences(
            silent.sentence if silent is not None else None,
            _("Samples are taken while the job runs and a JupyterLab of its owner is open, or this tab is shown."),
        ),
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
        given = {kind: _positive(limits.get(f"{kind}s.{metric}")) for kind in ("limit", "request")}
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
