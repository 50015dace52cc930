"""Makes samples of a job's replicas from series of Prometheus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .....core.resources import Column
from .answers import Series

MIB: Final = 1024.0 * 1024.0
MOST_WATTS: Final = 1e5
MOST_GPUS: Final = 128
_SUMMED: Final = ("cpu", "memory", "disk", "disk_read", "network", "gpu_power")
_PER_CONTAINER: Final = ("cpu", "memory", "throttled", "disk_read", "disk_write")

Moment = dict[tuple[str, ...], float]
"""Values at one time, by metric and part."""
Frames = dict[float, dict[Column, float]]
"""Values by the end of their time, in seconds since the epoch."""


@dataclass(frozen=True)
class SampledReplica:
    """A replica whose pod is sampled.

    Attributes
    ----------
    name
        Name of the replica: “worker-0”.
    pod
        Name of its pod.
    container
        Name of the training container; None to add up all containers.
    has_own_network
        False if the pod has the network of its node, whose traffic is not the job's alone.
    """

    name: str
    pod: str
    container: str | None = None
    has_own_network: bool = True


@dataclass
class GpuNumbers:
    """Numbers of the GPUs of a job's replicas, which stay the same while a replica stays on its node.

    Attributes
    ----------
    by_replica
        Number by the GPU's identity, by replica.
    cards
        Name of the model and memory in bytes, by ``replica/number``; plain JSON.
    """

    by_replica: dict[str, dict[tuple[str, ...], int]] = field(default_factory=dict)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, replica: str, gpus: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
        """Return the numbers of the GPUs that a replica uses now.

        Parameters
        ----------
        replica
            Name of the replica.
        gpus
            Identities of the GPUs.
        """
        known = self.by_replica.get(replica, {})
        if gpus and not any(gpu in known for gpu in gpus):
            known = {}  # The replica runs on another node.
        free = (number for number in range(MOST_GPUS) if number not in known.values())
        added = dict(zip(sorted(gpu for gpu in gpus if gpu not in known), list(free), strict=False))
        self.by_replica[replica] = known | added
        return self.by_replica[replica]


def frames_of(series: Sequence[Series], replicas: Sequence[SampledReplica], numbers: GpuNumbers) -> Frames:
    """Return the values of a job's replicas and of the whole job (blocking if there are many).

    Parameters
    ----------
    series
        The answer to `queries.samples_query`, which may contain other jobs.
    replicas
        The replicas of the job.
    numbers
        Numbers of the GPUs; new GPUs are added.
    """
    by_pod = {replica.pod: replica for replica in replicas}
    moments: dict[float, dict[str, Moment]] = defaultdict(lambda: defaultdict(dict))
    labels: dict[tuple[str, ...], Mapping[str, str]] = {}
    for each in series:
        replica, metric = by_pod.get(each.pod), each.labels.get("metric", "")
        if replica is None:
            continue
        if metric.startswith("gpu_"):
            gpu = _identity(each.labels)
            labels[gpu] = each.labels
            key = (metric, *gpu)
        elif metric in _PER_CONTAINER:
            container = each.labels.get("container", "")
            if replica.container is not None and container not in (replica.container, ""):
                continue
            key = (metric, container)
        else:
            key = (metric,)
        for time, value in each.values.items():
            moments[time][replica.name][key] = value
    found = {}
    for time in sorted(moments):
        values: dict[Column, float] = {}
        for replica in replicas:
            moment = moments[time].get(replica.name)
            if moment:
                _add_replica(values, replica, moment, labels, numbers)
        if values:
            _add_job(values)
            found[time] = values
    return found


def _identity(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return what tells a GPU, or a part of one, from others; in the order of their indexes on the node."""
    index = labels.get("gpu", "")
    return (index.zfill(4), labels.get("GPU_I_ID", "").zfill(4), labels.get("UUID", ""))


def _add_replica(
    values: dict[Column, float],
    replica: SampledReplica,
    moment: Moment,
    labels: Mapping[tuple[str, ...], Mapping[str, str]],
    numbers: GpuNumbers,
) -> None:
    totals: dict[str, float] = {}
    for metric in _PER_CONTAINER:
        of_containers = [value for key, value in moment.items() if key[0] == metric and key[1] != ""]
        # A kubelet whose cAdvisor does not know the container runtime has the whole pod only.
        found = of_containers or [value for key, value in moment.items() if key == (metric, "")]
        if found:
            totals[metric] = max(found) if metric == "throttled" else sum(found)
    if "disk_read" in totals or "disk_write" in totals:
        totals["disk"] = totals.get("disk_read", 0.0) + totals.pop("disk_write", 0.0)
    traffic = [moment[metric,] for metric in ("received", "sent") if (metric,) in moment]
    if traffic and replica.has_own_network:
        totals["network"] = sum(traffic)
    gpus = sorted({tuple(part) for (metric, *part) in moment if metric.startswith("gpu_")})
    uses: dict[str, list[float]] = defaultdict(list)
    assigned = numbers.of(replica.name, gpus)
    for gpu in gpus:
        if (number := assigned.get(gpu)) is None:
            continue
        for metric, value in _of_gpu(moment, gpu).items():
            values[Column(replica.name, "gpu", number, metric)] = value
            uses[metric].append(value)
        total = sum(moment.get((metric, *gpu), 0.0) for metric in ("gpu_memory", "gpu_free", "gpu_reserved"))
        has_total = ("gpu_memory", *gpu) in moment and ("gpu_free", *gpu) in moment
        card = {"name": labels[gpu].get("modelName"), "memory": total * MIB if has_total else None}
        known = numbers.cards.get(f"{replica.name}/{number}")
        # Rounding makes the sum differ by some MiB from time to time; the first one stays.
        if known is None or known["name"] != card["name"] or known["memory"] is None:
            numbers.cards[f"{replica.name}/{number}"] = card
    if "gpu_use" in uses:
        totals["gpu_use"] = sum(uses["gpu_use"]) / len(uses["gpu_use"])
    if "gpu_memory" in uses:
        totals["gpu_memory"] = max(uses["gpu_memory"])
    if "gpu_power" in uses:
        totals["gpu_power"] = sum(uses["gpu_power"])
    for metric, value in totals.items():
        values[Column(replica.name, "replica", None, metric)] = value


def _of_gpu(moment: Moment, gpu: tuple[str, ...]) -> dict[str, float]:
    found = {}
    use, memory = moment.get(("gpu_use", *gpu)), moment.get(("gpu_memory", *gpu))
    if use is not None and use <= 100:
        found["gpu_use"] = use
    if memory is not None:
        found["gpu_memory"] = memory * MIB
    is_part = bool(gpu[1].strip("0")) or gpu[2].startswith("MIG-")
    if is_part:
        return found  # The exporter reports the power of the whole GPU for each of its parts.
    energy, power = moment.get(("gpu_energy", *gpu)), moment.get(("gpu_power", *gpu))
    watts = energy / 1000 if energy is not None else power
    if watts is not None and watts < MOST_WATTS:
        found["gpu_power"] = watts
    return found


def _add_job(values: dict[Column, float]) -> None:
    """Add the values of the whole job."""
    parts: dict[str, list[float]] = defaultdict(list)
    gpus: list[float] = []
    for column, value in values.items():
        if column.kind == "replica":
            parts[column.metric].append(value)
        elif column.metric == "gpu_use":
            gpus.append(value)
    for metric, found in parts.items():
        if metric in _SUMMED:
            value = sum(found)
        elif metric == "gpu_memory":
            value = max(found)
        elif metric == "gpu_use":
            value = sum(gpus) / len(gpus)
        else:
            value = sum(found) / len(found)
        values[Column(None, "job", None, metric)] = value
