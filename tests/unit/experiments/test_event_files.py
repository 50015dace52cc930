"""Event files: records that are read many at once are those that TensorBoard's own parser finds."""

from __future__ import annotations

import io
import math
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.summary.writer.record_writer import RecordWriter

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments import series as series_module
from jupyterlab_t9kjob.experiments.curves import curves_of, values_of
from jupyterlab_t9kjob.experiments.facts import MetricLog
from jupyterlab_t9kjob.experiments.library.known import Known
from jupyterlab_t9kjob.experiments.library.library import Library
from jupyterlab_t9kjob.experiments.model import CurvesRequest
from jupyterlab_t9kjob.experiments.sources import event_folder
from jupyterlab_t9kjob.experiments.sources.event_file import read_events
from jupyterlab_t9kjob.experiments.sources.event_folder import EventSource
from tests.patience import PATIENCE

Points = dict[str, list[tuple[float, int, float]]]
SOURCE = EventSource()
NAME = "events.out.tfevents.1700000000.node-1.42.0"


def record(event: Event) -> bytes:
    file = io.BytesIO()
    RecordWriter(file).write(event.SerializeToString())
    return file.getvalue()


def value(tag: str, number: float, form: str) -> Summary.Value:
    if form == "simple":
        return Summary.Value(tag=tag, simple_value=number)
    if form == "histogram":
        return Summary.Value(tag=tag, histo=HistogramProto(min=number))
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    content = {"float_val": [number]} if form == "floats" else {"tensor_content": struct.pack("<f", number)}
    return Summary.Value(tag=tag, tensor=TensorProto(dtype=1, **content), metadata=metadata)


def expected(content: bytes) -> tuple[Points, int]:
    """Return the scalars as TensorBoard's protobuf classes have them, and the end of the last complete record."""
    found: Points = {}
    at = 0
    while at + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        if at + length + 16 > len(content):
            break
        event = Event.FromString(content[at + 12 : at + 12 + length])
        for each in event.summary.value:
            kind = each.WhichOneof("value")
            if kind == "simple_value":
                number = each.simple_value
            elif kind == "tensor":
                packed = each.tensor.tensor_content
                number = struct.unpack("<f", packed)[0] if packed else each.tensor.float_val[0]
            else:
                continue
            found.setdefault(each.tag, []).append((number, event.step, event.wall_time))
        at += length + 16
    return found, at


def read(content: bytes) -> Points:
    events = read_events(content)
    assert not events.damaged
    found: Points = {}
    for tag, scalars in events.scalars.items():
        positions = [events.position(tag, index) for index in range(len(scalars.values))]
        found[tag] = [
            (number, int(step or 0), moment or 0.0)
            for number, (step, _epoch, moment) in zip(scalars.values, positions, strict=True)
        ]
        low, high = events.bounds(tag)
        for position in positions:
            for axis in (0, 2):
                at, least, greatest = position[axis], low[axis], high[axis]
                assert least is None or at is None or least <= at
                assert greatest is None or at is None or at <= greatest
    return found


def same(one: Points, other: Points) -> bool:
    # A tag that only a histogram has is in none of them.
    return repr(one) == repr(other)


tags = st.sampled_from(["loss", "a", "val/acc", "é", "B\x08\x01x", "t\x15aaaa", "x" * 130])
forms = st.sampled_from(["simple", "simple", "simple", "content", "floats", "histogram"])
rounds = st.lists(st.tuples(tags, forms), min_size=1, max_size=4)
stretches = st.lists(
    st.tuples(
        rounds,
        st.integers(1, 60),
        st.one_of(st.integers(0, 300), st.integers(0, 2**40), st.integers(-5, -1)),
        st.sampled_from([0, 1, 1, 7, -3]),
    ),
    max_size=6,
)


@given(stretches, st.floats(width=32), st.floats(0, 2e9), st.data())
@settings(max_examples=150, deadline=None)
def test_reads_what_tensorboard_reads(written: list[Any], number: float, begun: float, data: st.DataObject) -> None:
    content = record(Event(wall_time=begun, file_version="brain.Event:2"))
    for inner, times, first, stride in written:
        for turn in range(times):
            for tag, form in inner:
                step = max(-(2**62), min(2**62, first + turn * stride))
                summary = Summary(value=[value(tag, number if turn % 9 == 4 else turn / 7, form)])
                content += record(Event(wall_time=begun + turn / 3, step=step, summary=summary))
    if written and data.draw(st.booleans()):
        two = Summary(value=[value("loss", 1.0, "simple"), value("a", 2.0, "content")])
        content += record(Event(wall_time=1.0, step=3, summary=two)) * 3
    content = content[: data.draw(st.integers(len(content) // 2, len(content)))]
    wanted, end = expected(content)
    for tag, points in wanted.items():  # Negative steps are not shown.
        wanted[tag] = [(each, max(0, step), moment) for each, step, moment in points]
    assert same(read(content), wanted)
    assert read_events(content).end == end


def test_reads_records_in_no_order() -> None:
    order = [(number * 7919 % 13) % 5 for number in range(1000)]
    content = b"".join(
        record(Event(wall_time=2.0 + number, step=number, summary=Summary(value=[value(f"m{tag}", number, "simple")])))
        for number, tag in enumerate(sorted(order, key=lambda tag: hash((tag, len(order)))) + order[::-1] + order)
    )
    assert same(read(content), expected(content)[0])


@pytest.mark.parametrize("column", [0, 12, 21, 24, 26, 28, 30])
def test_a_damaged_record_ends_what_is_read_at_once(column: int) -> None:
    each = [
        record(Event(wall_time=9.0, step=200 + step, summary=Summary(value=[value("loss", step, "simple")])))
        for step in range(600)
    ]
    spoiled = bytearray(each[500])
    spoiled[column] ^= 0x55
    events = read_events(b"".join([*each[:500], bytes(spoiled), *each[501:]]))
    assert events.scalars["loss"].values[:500].tolist() == list(map(float, range(500)))
    clean = [events.position("loss", index).step for index in range(500)]
    assert clean == [200.0 + step for step in range(500)]


def a_run(folder: Path, content: bytes) -> tuple[Library, Known]:
    (folder / NAME).write_bytes(content)
    library = Library(ContentsRoot(LargeFileManager(root_dir=str(folder))), None)
    log = MetricLog()
    files = SOURCE.files(folder)
    assert SOURCE.metrics(folder, files, log, time.monotonic() + PATIENCE)
    return library, Known("x", folder, "", SOURCE, files, log=log, read=True)


def test_a_range_is_read_from_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_folder, "PART_BYTES", 20_000)
    monkeypatch.setattr(event_folder, "BOUNDED_BYTES", 20_000)
    monkeypatch.setattr(series_module, "PART_BYTES", 20_000)
    steps = [*range(9000), *range(4000, 12_000)]  # The training was begun again at an older checkpoint.
    content = b"".join(
        record(
            Event(
                wall_time=1.7e9 + number,
                step=step,
                summary=Summary(value=[value("loss", math.sin(number) + (number == 11_111), "simple")]),
            )
        )
        for number, step in enumerate(steps)
    )
    library, known = a_run(tmp_path, content)
    wanted = read(content)["loss"]
    reads: list[int] = []
    of_file = event_folder.read_part

    def read_part(path: Path, offset: int, most: int) -> bytes:
        found = of_file(path, offset, most)
        reads.append(len(found))
        return found

    monkeypatch.setattr(event_folder, "read_part", read_part)
    for axis, first, last in (("step", 6000, 6200), ("step", 0, 10), ("step", 3000, 9999), ("time", 1.7e9, 1.7e9 + 99)):
        reads.clear()
        request = CurvesRequest(runs=["x"], metrics=["loss"], x=axis, first=first, last=last, width=4000)
        [curve] = curves_of([known], request, library)
        inside = [
            (float(step) if axis == "step" else moment, number)
            for number, step, moment in wanted
            if first <= (step if axis == "step" else moment) <= last
        ]
        if len(inside) <= 8000:
            assert list(zip(curve.x, curve.y, strict=True)) == inside
        assert (min(curve.y), max(curve.y)) == (min(y for _x, y in inside), max(y for _x, y in inside))
        assert sum(reads) < len(content) / (5 if last - first < 1000 else 1)
    reads.clear()
    points = values_of(known, "loss", 15_000, 5, library)
    assert [(point.value, point.step) for point in points.points] == [each[:2] for each in wanted[15_000:15_005]]
    assert (points.count, len(reads)) == (17_000, 1)
