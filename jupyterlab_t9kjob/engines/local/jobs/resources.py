"""Samples of a stored job: read from the files that its sampler wrote."""

from __future__ import annotations

import time
from typing import Any, Final

from ....core.job import Reason
from ....core.resources import Level, ResourceSource, Samples
from ....core.system.processes import LINUX
from ....core.translation import Text, _, _n
from ....resources.amounts import number, size
from ....resources.storage.blocks import read
from ....resources.storage.writer import TIERS
from ..supervisor.records.job_files import JobFiles
from .stored_job import StoredJob, stamp_of

FALLBACK_SECONDS: Final = 5.0
SILENT_SECONDS: Final = 60.0
"""A running job without a sample for this long has lost its sampler."""


def samples_of(job: StoredJob) -> Samples:
    """Return the samples of a job (blocking)."""
    tiers = [(tier.seconds, read(job.files.samples / tier.name)) for tier in TIERS]
    newest = next((segments[-1] for _seconds, segments in tiers if segments), None)
    facts = newest.facts if newest is not None else {}
    seconds = _positive(facts.get("interval")) or FALLBACK_SECONDS
    label = _n(
        "every {n} s, from the processes of the job", "every {n} s, from the processes of the job", round(seconds)
    )
    last = newest.times[-1] + newest.seconds[-1] if newest is not None else None
    return Samples(
        source=ResourceSource("processes", label, seconds),
        tiers=tiers,
        levels=_levels(facts),
        notes=_notes(facts),
        missing=_missing(job, facts) if newest is not None else {},
        unavailable=_unavailable(job) if newest is None else None,
        trouble=_trouble(job, last),
    )


def version_of(files: JobFiles) -> str:
    """Return a text that changes with each new sample (blocking)."""
    stamp = stamp_of(files.samples / TIERS[0].name)
    return "-".join(map(str, stamp)) if stamp is not None else ""


def _unavailable(job: StoredJob) -> Reason | None:
    if not LINUX:
        sentence = _("The use of resources is measured on Linux only.")
        return Reason(code="NotLinux", sentence=sentence)
    if job.active:
        return None
    return Reason(
        code="NoSamples",
        sentence=_("The job has no samples."),
        hint=_("The job ended before the first sample, or an earlier version of the extension ran it."),
    )


def _trouble(job: StoredJob, last: float | None) -> Reason | None:
    record = job.record
    if last is None or record is None or record["outcome"]["phase"] != "Running" or not record["started_at"]:
        return None
    if time.time() - last < SILENT_SECONDS or all(replica["pid"] is None for replica in record["replicas"]):
        return None
    return Reason(
        code="SourceLost",
        sentence=_("No samples have been written since then."),
        hint=_("The disk of the job's records may be full, or the process that takes the samples was ended."),
    )


def _levels(facts: dict[str, Any]) -> list[Level]:
    levels = []
    cpus, ranks = _positive(facts.get("cpus")), facts.get("ranks")
    if cpus:
        label = _n("{cores} core on this machine", "{cores} cores on this machine", round(cpus), cores=number(cpus))
        levels += [Level("cpu", "share", cpus, part, label) for part in ("job", "replica")]
        if isinstance(ranks, dict) and ranks:
            label = _(
                "{share} for each rank: {cores} cores, {ranks} ranks",
                share=number(cpus / len(ranks)),
                cores=number(cpus),
                ranks=len(ranks),
            )
            levels.append(Level("cpu", "share", cpus / len(ranks), "rank", label))
    memory = _positive(facts.get("memory"))
    if memory:
        label = _("{size} on this machine", size=size(memory))
        levels += [Level("memory", "limit", memory, part, label) for part in ("job", "replica")]
    shm = _positive(facts.get("shm"))
    if shm:
        levels.append(Level("shm", "limit", shm, "job", _("{size} of shared memory", size=size(shm))))
    cards = facts.get("gpus")
    totals = [_positive(card.get("memory")) for card in cards.values()] if isinstance(cards, dict) else []
    if totals and totals[0] and len(set(totals)) == 1:
        label = _("{size} on the card", size=size(totals[0]))
        levels += [Level("gpu_memory", "limit", totals[0], part, label) for part in ("job", "replica", "gpu")]
    return levels


def _notes(facts: dict[str, Any]) -> dict[str, Text]:
    notes = {
        "memory": _("resident; memory that processes share is divided among them"),
        "network": _("sent and received by this machine; traffic between the ranks on this machine is not in it"),
        "disk": _("read and written; without what the page cache answers"),
    }
    cards = facts.get("gpus")
    if isinstance(cards, dict) and cards:
        names = {str(card.get("name")) for card in cards.values()}
        if len(names) == 1:
            notes["gpu_use"] = _("% of each {model}", model=next(iter(names)))
    return notes


def _missing(job: StoredJob, facts: dict[str, Any]) -> dict[str, Text]:
    replicas = job.record["replicas"] if job.record is not None else []
    if facts.get("gpus") or not any(replica["devices"] for replica in replicas):
        return {}
    return {"gpu_use": _("The job's accelerators can't be read through NVIDIA's driver library.")}


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 < value < 1e18 else None
