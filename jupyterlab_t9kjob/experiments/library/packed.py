"""Metrics of a run as bytes, for the index."""

from __future__ import annotations

import json
from array import array
from typing import Any, Final

from ..facts import MetricLog
from ..series import Part, Position, Sample, Series

_SAMPLE: Final = 5
_HEADER: Final = 9
_FIXED: Final = _HEADER + 3 * _SAMPLE
_PART: Final = 11
_NAN: Final = float("nan")
_NAN_BYTES: Final = array("d", [_NAN]).tobytes()


def packed(metrics: MetricLog) -> bytes:
    """Return metrics as bytes: a head in JSON, the fixed numbers of all metrics, then the columns of each."""
    files = list(metrics.offsets)
    head = {"offsets": metrics.offsets, "unreadable": metrics.unreadable, "names": list(metrics.series)}
    numbers, rest = array("d"), []
    for series in metrics.series.values():
        columns = [column.tobytes() for column in series.kept.columns()]
        unknown = _NAN_BYTES * len(series.kept)
        present = [column != unknown for column in columns]
        parts = _stored_parts(series, metrics)
        mask = sum(bit << number for number, bit in enumerate(present))
        header = (series.count, series.size, series.bad, series.first_bad, series.last_bad)
        lengths = len(series.lengths), len(series.kept), len(parts), mask
        numbers.extend(_NAN if value is None else value for value in (*header, *lengths))
        for sample in (series.last, series.low, series.high):
            numbers.extend(_numbers(sample))
        rest.append(bytes(series.lengths))
        if series.size > 1:
            rest += [series.sums.tobytes(), series.finite.tobytes()]
        rest += [column for column, wanted in zip(columns, present, strict=True) if wanted]
        flat = array("d")
        for part in parts:
            bounds = (_NAN if bound is None else bound for bound in (*part.low, *part.high))
            flat.extend((files.index(part.file), part.begin, part.end, part.first, part.values, *bounds))
        rest.append(flat.tobytes())
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, numbers.tobytes(), *rest])


def _stored_parts(series: Series, metrics: MetricLog) -> list[Part]:
    """Return the parts of a metric, or nothing if it has one, which `unpacked` makes again."""
    known = all(part.file in metrics.offsets for part in series.parts)
    return series.parts if known and not (len(series.parts) == len(metrics.offsets) == 1) else []


def unpacked(data: bytes) -> MetricLog:
    """Return the metrics that `packed` wrote."""
    begin = 4 + int.from_bytes(data[:4], "little")
    head: dict[str, Any] = json.loads(data[4:begin])
    files, names = list(head["offsets"]), head["names"]
    at = begin + 8 * _FIXED * len(names)
    fixed = array("d", data[begin:at])
    found = MetricLog(head["offsets"], {}, head["unreadable"])
    for number, name in enumerate(names):
        numbers = fixed[number * _FIXED : (number + 1) * _FIXED]
        count, size, bad, first_bad, last_bad = numbers[:5]
        buckets, samples, parts, mask = map(int, numbers[5:_HEADER])
        last, low, high = (_sample(numbers, _HEADER + _SAMPLE * each) for each in range(3))
        series = Series(int(count), last, low, high, int(bad), _known(first_bad), _known(last_bad), int(size))
        series.lengths, at = bytearray(data[at : at + buckets]), at + buckets
        for sums in (series.sums, series.finite) if size > 1 else ():
            sums.frombytes(data[at : at + 8 * buckets])
            at += 8 * buckets
        for bit, column in enumerate(series.kept.columns()):
            if mask >> bit & 1:
                column.frombytes(data[at : at + 8 * samples])
                at += 8 * samples
            else:
                column.frombytes(_NAN_BYTES * samples)
        flat, at = array("d", data[at : at + 8 * _PART * parts]), at + 8 * _PART * parts
        series.parts = [_part(flat[begin : begin + _PART], files) for begin in range(0, len(flat), _PART)]
        if not parts and len(files) == 1:
            series.parts = [Part(files[0], 0, head["offsets"][files[0]], 0, series.count)]
        found.series[name] = series
    return found


def _part(numbers: array[float], files: list[str]) -> Part:
    file, begin, end, first, count = map(int, numbers[:5])
    bounds = [_known(bound) for bound in numbers[5:]]
    return Part(files[file], begin, end, first, count, Position(*bounds[:3]), Position(*bounds[3:]))


def _numbers(sample: Sample | None) -> tuple[float, ...]:
    if sample is None:
        return (-1.0, _NAN, _NAN, _NAN, _NAN)
    return (sample.number, *(_NAN if value is None else value for value in sample.position), sample.value)


def _sample(numbers: array[float], at: int) -> Sample | None:
    number, step, epoch, time, value = numbers[at : at + _SAMPLE]
    return None if number < 0 else Sample(int(number), Position(_known(step), _known(epoch), _known(time)), value)


def _known(number: float) -> float | None:
    return None if number != number else number
