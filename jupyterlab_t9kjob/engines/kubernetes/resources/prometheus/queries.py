"""Queries in PromQL for the pods of jobs. Names of pods and namespaces are data: all of them are escaped.

Metrics of containers are those of cAdvisor in the kubelet, as kube-prometheus collects them; metrics of GPUs are those
of NVIDIA's DCGM exporter. Its series have the labels ``exported_namespace`` and ``exported_pod`` of the pod that uses
the GPU, or ``namespace`` and ``pod`` if Prometheus honours the exporter's labels.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

MOST_SELECTOR: Final = 1000
"""Characters of the pods' names in a query, which has them many times; a proxy may refuse long addresses."""
GPU_LABELS: Final = "exported_pod, pod, UUID, gpu, GPU_I_ID, modelName"


def quoted(text: str) -> str:
    """Return a text as a string of PromQL, whose escapes are those of Go and include JSON's."""
    return json.dumps(text, ensure_ascii=False)


def matching(names: Iterable[str]) -> str:
    """Return an expression (RE2) that matches these names and no others; names with the same beginning share it."""
    ends: dict[str, list[str]] = defaultdict(list)
    for name in sorted(set(names)):
        head, dash, end = name.rpartition("-")
        ends[head + dash].append(end)
    return "|".join(
        _literal(head) + (_literal(found[0]) if len(found) == 1 else f"({'|'.join(map(_literal, found))})")
        for head, found in ends.items()
    )


def in_groups(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the names in groups whose expressions are not much longer than `MOST_SELECTOR`."""
    group: list[str] = []
    heads: set[str] = set()
    length = 0
    for name in sorted(set(names)):
        head, _dash, end = name.rpartition("-")
        added = len(_literal(end)) + 1 + (0 if head in heads else len(_literal(head)) + 4)
        if group and length + added > MOST_SELECTOR:
            yield group
            group, heads, length = [], set(), 0
            added = len(_literal(name)) + 5
        group.append(name)
        heads.add(head)
        length += added
    if group:
        yield group


def raw_scrapes(namespace: str, pods: Iterable[str], seconds: int) -> str:
    """Return the query for the values of the last seconds as they were scraped; their times tell the interval.

    Parameters
    ----------
    namespace, pods
        The pods.
    seconds
        The time.
    """
    return f"container_memory_working_set_bytes{{{_pods(namespace, pods)}}}[{seconds}s]"


def samples_query(namespace: str, pods: Iterable[str], window: int, mean: int | None = None) -> str:
    """Return one query for all metrics; its series have the metric's name in the label ``metric``.

    Parameters
    ----------
    namespace, pods
        The pods.
    window
        Seconds over which rates are computed; at least two scrapes must be in them.
    mean
        Seconds over which other values are averaged; None for the values as they are.
    """
    own = _pods(namespace, pods)
    containers = f'{own},container!="POD"'
    throttled, periods = (f"container_cpu_cfs_{name}periods_total" for name in ("throttled_", ""))
    metrics = {
        "cpu": _by_container(_rate("container_cpu_usage_seconds_total", containers, window)),
        "memory": _by_container(_value("container_memory_working_set_bytes", containers, mean, "max")),
        "throttled": _by_container(f"{_rate(throttled, containers, window)} / {_rate(periods, containers, window)}"),
        "disk_read": _of_devices("container_fs_reads_bytes_total", containers, window),
        "disk_write": _of_devices("container_fs_writes_bytes_total", containers, window),
        "received": _of_interfaces("container_network_receive_bytes_total", own, window),
        "sent": _of_interfaces("container_network_transmit_bytes_total", own, window),
        "gpu_use": _of_gpus("DCGM_FI_DEV_GPU_UTIL", namespace, pods, mean),
        "gpu_memory": _of_gpus("DCGM_FI_DEV_FB_USED", namespace, pods, mean),
        "gpu_free": _of_gpus("DCGM_FI_DEV_FB_FREE", namespace, pods, mean),
        "gpu_reserved": _of_gpus("DCGM_FI_DEV_FB_RESERVED", namespace, pods, mean),
        "gpu_power": _of_gpus("DCGM_FI_DEV_POWER_USAGE", namespace, pods, mean),
        "gpu_energy": _of_gpus("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", namespace, pods, window, rate=True),
    }
    return " or ".join(f'label_replace({query}, "metric", "{name}", "", "")' for name, query in metrics.items())


def _literal(text: str) -> str:
    return re.escape(text)


def _pods(namespace: str, pods: Iterable[str], prefix: str = "") -> str:
    return f"{prefix}namespace={quoted(namespace)},{prefix}pod=~{quoted(matching(pods))}"


def _rate(metric: str, selector: str, window: int) -> str:
    return f"rate({metric}{{{selector}}}[{window}s])"


def _value(metric: str, selector: str, mean: int | None, function: str = "avg") -> str:
    plain = f"{metric}{{{selector}}}"
    return plain if mean is None else f"{function}_over_time({plain}[{mean}s])"


def _by_container(query: str) -> str:
    # `max`, because a restarted container has a second series for some minutes, and a second collector doubles all.
    return f"max by (pod, container) ({query})"


def _of_devices(metric: str, selector: str, window: int) -> str:
    return f"sum by (pod, container) (max by (pod, container, device) ({_rate(metric, selector, window)}))"


def _of_interfaces(metric: str, selector: str, window: int) -> str:
    outside = selector + ',interface!="lo"'
    return f"sum by (pod) (max by (pod, interface) ({_rate(metric, outside, window)}))"


def _of_gpus(metric: str, namespace: str, pods: Iterable[str], seconds: int | None, *, rate: bool = False) -> str:
    both = [
        _rate(metric, selector, seconds) if rate and seconds is not None else _value(metric, selector, seconds)
        for selector in (_pods(namespace, pods, "exported_"), _pods(namespace, pods))
    ]
    return f"max by ({GPU_LABELS}) ({' or '.join(both)})"


def steps_between(since: float, until: float, step: int, most: int) -> tuple[int, int, int] | None:
    """Return the first and the last time of a range query and its step; None if no step has passed.

    The times are multiples of the step, so that jobs share queries.

    Parameters
    ----------
    since, until
        The time to cover, in seconds since the epoch.
    step
        Seconds between two values.
    most
        Largest number of steps; a longer time has longer steps.
    """
    span = until - since
    if span > step * most:
        step = step * math.ceil(span / most / step)
    last = int(until // step) * step
    first = int(since // step) * step + step
    return (first, last, step) if first <= last else None
