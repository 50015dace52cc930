"""Files of samples: thinned by age, bounded, readable after any cut."""

from __future__ import annotations

import math
from pathlib import Path

from jupyterlab_t9kjob.core.resources import Column, Segment
from jupyterlab_t9kjob.resources.reduction import reduce, span_of
from jupyterlab_t9kjob.resources.storage.blocks import columns_block, frame_block, read
from jupyterlab_t9kjob.resources.storage.writer import TIERS, SampleWriter

CPU, MEMORY = Column("worker-0", "rank", 0, "cpu"), Column("worker-0", "rank", 0, "memory")
BEGIN = 1_790_000_000.0


def tiers(folder: Path) -> list[tuple[float, list[Segment]]]:
    return [(tier.seconds, read(folder / tier.name)) for tier in TIERS]


def write(folder: Path, hours: float, step: float = 10.0) -> SampleWriter:
    writer = SampleWriter(folder)
    for number in range(round(hours * 3600 / step)):
        value = 8.0 if number == 100 else 1.0
        writer.write(BEGIN + number * step, step, {CPU: value, MEMORY: float(number)}, {"cpus": 8})
    return writer


def test_samples_get_coarser_with_age_and_keep_their_extremes(tmp_path: Path) -> None:
    write(tmp_path, 72, step=60).flush()
    files = tiers(tmp_path)
    counts = [sum(len(segment.times) for segment in segments) for _seconds, segments in files]
    assert counts[0] <= 2 * 60 + 1 and counts[1] <= 2 * 1440 + 1 and counts[2] in (72 * 6, 72 * 6 + 1)
    first, last = span_of(files) or (0, 0)
    assert (first, last) == (BEGIN, BEGIN + 72 * 3600)
    reduced = reduce(files, first, last, 300)
    assert len(reduced.times) <= 301
    assert max(high or 0 for high in reduced.highs(CPU)) == 8.0 and min(low or 9 for low in reduced.lows(CPU)) == 1.0
    fine = reduce(files, last - 600, last, 300)
    assert len(fine.times) >= 10, "the newest samples are as they were taken"


def test_a_file_that_was_cut_is_read_to_the_cut_and_goes_on(tmp_path: Path) -> None:
    write(tmp_path, 0.5)
    path = tmp_path / "samples"
    whole = path.read_bytes()
    for cut in (1, 7, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert sum(len(segment.times) for segment in read(path)) < 180
    SampleWriter(tmp_path).write(BEGIN + 5000, 10, {CPU: 2.0}, {})
    segments = read(path)
    assert segments[0].times[0] == BEGIN and segments[-1].times[-1] == BEGIN + 5000


def test_damaged_bytes_cost_one_frame(tmp_path: Path) -> None:
    write(tmp_path, 0.1)
    path = tmp_path / "samples"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))
    assert sum(len(segment.times) for segment in read(path)) == 35


def test_missing_values_and_gaps_stay_missing(tmp_path: Path) -> None:
    writer = SampleWriter(tmp_path)
    for number in range(120):
        writer.write(BEGIN + number * 10, 10, {CPU: math.nan if number < 60 else 3.0, MEMORY: 1.0}, {})
    reduced = reduce(tiers(tmp_path), BEGIN, BEGIN + 1200, 10)
    assert reduced.means(CPU)[:4] == [None] * 4 and reduced.means(CPU)[-1] == 3.0
    assert None not in reduced.means(MEMORY)


def test_a_point_takes_the_values_that_its_frames_have_in_all_segments() -> None:
    columns = [CPU, MEMORY]
    before, after = Segment(columns, 1, {}), Segment(columns[::-1], 3, {})
    for at, cpu, memory in ((0, 4.0, math.nan), (10, math.nan, math.nan), (20, 8.0, math.nan)):
        before.times.append(BEGIN + at)
        before.seconds.append(10)
        before.values.extend([cpu, memory])
    after.times.append(BEGIN + 30)
    after.seconds.append(10)
    after.values.extend([1, 2, 3, 0, 10, 20])
    reduced = reduce([(0, [before, after])], BEGIN, BEGIN + 40, 1)
    assert (reduced.times, reduced.ends, reduced.columns) == ([BEGIN], [BEGIN + 40], columns)
    assert (reduced.lows(CPU), reduced.means(CPU), reduced.highs(CPU)) == ([0.0], [8.0], [20.0])
    assert (reduced.lows(MEMORY), reduced.means(MEMORY), reduced.highs(MEMORY)) == ([1.0], [2.0], [3.0])


def test_new_ranks_begin_a_new_segment(tmp_path: Path) -> None:
    writer = SampleWriter(tmp_path)
    writer.write(BEGIN, 10, {CPU: 1.0}, {})
    writer.write(BEGIN + 10, 10, {CPU: 1.0, MEMORY: 5.0}, {})
    reduced = reduce(tiers(tmp_path), BEGIN, BEGIN + 20, 100)
    assert reduced.means(MEMORY) == [None, 5.0] and reduced.means(CPU) == [1.0, 1.0]


def test_columns_whose_parts_have_other_types_are_no_samples(tmp_path: Path) -> None:
    for column in ([["w"], "rank", 0, "cpu"], ["w", {}, 0, "cpu"], ["w", "rank", [], "cpu"], ["w", "rank", 0, None]):
        block = columns_block([CPU, column], 1, {}) + frame_block(BEGIN, 10, [1.0, 2.0])  # type: ignore[list-item]
        (tmp_path / "samples").write_bytes(block)
        assert read(tmp_path / "samples") == []


def test_other_files_are_no_samples(tmp_path: Path) -> None:
    for content in (b"", b"T9S1", b"{}", b"\0" * 1000, b"T9S1" * 1000):
        (tmp_path / "samples").write_bytes(content)
        assert read(tmp_path / "samples") == []
    assert read(tmp_path / "nothing") == []
