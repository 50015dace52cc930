"""A server that speaks Prometheus' API: it replays the series of a text file, or does what no Prometheus should do.

It does not know PromQL: the real program answers our queries in `test_prometheus.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from tests.kubernetes.fakeapi import Call, FakeApi, Json

MADE_UP = Path(__file__).parent / "prometheus" / "made-up.txt"
STEP = 30
GAUGES = {
    "container_memory_working_set_bytes": "memory",
    "DCGM_FI_DEV_GPU_UTIL": "gpu_use",
    "DCGM_FI_DEV_FB_USED": "gpu_memory",
    "DCGM_FI_DEV_FB_FREE": "gpu_free",
    "DCGM_FI_DEV_FB_RESERVED": "gpu_reserved",
    "DCGM_FI_DEV_POWER_USAGE": "gpu_power",
}
COUNTERS = {
    "container_cpu_usage_seconds_total": "cpu",
    "container_fs_reads_bytes_total": "disk_read",
    "container_fs_writes_bytes_total": "disk_write",
    "container_network_receive_bytes_total": "received",
    "container_network_transmit_bytes_total": "sent",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "gpu_energy",
}


@dataclass
class Replayed:
    """A series of the file.

    Attributes
    ----------
    name, labels, values
        One value each `STEP` seconds.
    """

    name: str
    labels: dict[str, str]
    values: list[float]


def replayed(path: Path = MADE_UP) -> Iterator[Replayed]:
    """Yield the series of a file in the notation of promtool's unit tests."""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        head, _brace, rest = line.partition("{")
        labels, _brace, written = rest.partition("} ")
        values: list[float] = []
        for part in written.split():
            match = re.fullmatch(r"(\d+)(?:\+(\d+))?x(\d+)", part)
            assert match is not None, part
            start, step = float(match[1]), float(match[2] or 0)
            values += [start + step * number for number in range(int(match[3]) + 1)]
        yield Replayed(head, dict(re.findall(r'(\w+)="([^"]*)"', labels)), values)


@dataclass
class FakePrometheus(FakeApi):
    """Replays the series of `MADE_UP`.

    Attributes
    ----------
    begin
        Time of the first value, in seconds since the epoch.
    asked
        Parameters of all queries, with their path.
    """

    begin: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)

    async def _handle(self, call: Call) -> None:
        params = dict(parse_qsl(call.request.body.decode()))
        self.asked.append({"path": call.request.path, **params})
        if self.faults:
            _kind, act = self.faults[0]  # It lasts.
            await act(call)
        elif not self.allowed(call.request):
            await call.answer(401, "no")
        elif call.request.path == "/api/v1/query":
            await call.answer(200, matrix(list(self._raw())))
        else:
            start, end, step = (int(params[name]) for name in ("start", "end", "step"))
            await call.answer(200, matrix(list(self._range(start, end, step))))

    def _raw(self) -> Iterator[Json]:
        for series in replayed():
            if series.name == "container_memory_working_set_bytes":
                values = [[self.begin + STEP * number, "1"] for number in range(5)]
                yield {"metric": series.labels, "values": values}

    def _range(self, start: int, end: int, step: int) -> Iterator[Json]:
        for series in replayed():
            metric = GAUGES.get(series.name) or COUNTERS.get(series.name)
            if metric is None or series.labels.get("interface") == "lo" or series.labels["namespace"] == "team-b":
                continue
            values: list[list[Any]] = []
            for time in range(start, end + 1, step):
                at = (time - self.begin) // STEP
                if not 1 <= at < len(series.values):
                    continue
                rate = (series.values[at] - series.values[at - 1]) / STEP
                values.append([time, str(series.values[at] if series.name in GAUGES else rate)])
            if values:
                yield {"metric": {**series.labels, "metric": metric}, "values": values}


def matrix(result: list[Json]) -> Json:
    """Return an answer of Prometheus."""
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}
