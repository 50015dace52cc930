"""Reading log lines: every byte of a file in one line, whichever way it is read; merged pages; the time index."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.logs.serving import line_reader, pages, sources
from jupyterlab_t9kjob.logs.serving.line_reader import LineReader
from jupyterlab_t9kjob.logs.serving.pages import read_page
from jupyterlab_t9kjob.logs.serving.sources import Source
from jupyterlab_t9kjob.logs.storage.index import RECORD, TimeIndex


@contextmanager
def reader(path: Path, data: bytes, size: int | None = None, tail: object = None, hole: tuple[int, int] | None = None):
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield LineReader(descriptor, len(data) if size is None else size, tail, hole)
    finally:
        os.close(descriptor)


def expected(data: bytes) -> list[tuple[int, bytes]]:
    """Offsets and bytes of a file's lines."""
    result, place = [], 0
    for line in data.split(b"\n"):
        line += b"\n"
        if place + len(line) > len(data):
            line = line[:-1]
        if line:
            result.append((place, line))
        place += len(line)
    return result


CONTENT = st.lists(
    st.one_of(
        st.binary(max_size=8),
        st.sampled_from(
            [b"\n", b"\n\n", b"\r", b"\r\n", b"epoch 1\n", "世界\n".encode(), b"x" * 60, b"\r10%", b"\x1b[K"]
        ),
    ),
    max_size=30,
).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(data=CONTENT, place=st.floats(0, 1))
def test_every_byte_is_in_one_line_both_ways(tmp_path_factory, data: bytes, place: float):
    path = tmp_path_factory.getbasetemp() / "lines.log"
    wanted = expected(data)
    for block, long_block in ((16, 24), (1, 1), (64 * 1024, 1024 * 1024)):
        line_reader.BLOCK, line_reader.LONG_BLOCK = block, long_block
        try:
            with reader(path, data) as file:
                forward = list(file.forward(0))
                assert [(line.offset, line.size) for line in forward] == [(at, len(line)) for at, line in wanted]
                assert list(file.backward(len(data)))[::-1] == forward
                offset = int(place * len(data))
                # a line that has bytes on both sides of the offset is in both parts
                assert [line for line in forward if line.offset < offset] == list(file.backward(offset))[::-1]
                after = [line for line in forward if line.offset + line.size > offset] if offset < len(data) else []
                assert list(file.forward(offset)) == after
        finally:
            line_reader.BLOCK, line_reader.LONG_BLOCK = 64 * 1024, 1024 * 1024


@settings(max_examples=300, deadline=None)
@given(data=CONTENT, places=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)))
def test_one_line_stands_for_what_was_removed(tmp_path_factory, data: bytes, places: tuple[float, float, float]):
    path = tmp_path_factory.getbasetemp() / "hole.log"
    start, end = sorted(int(place * len(data)) for place in places[:2])
    holed = data[:start] + b"\0" * (end - start) + data[end:]
    wanted = [(at, len(line), 0) for at, line in expected(data[:start])]
    wanted += [(start, end - start, end - start)] if start < end else []
    if start < end:
        wanted += [(end + at, len(line), 0) for at, line in expected(data[end:])]
    else:
        wanted = [(at, len(line), 0) for at, line in expected(data)]
    for block in (16, 1, 64 * 1024):
        line_reader.BLOCK, line_reader.LONG_BLOCK = block, block + 8
        try:
            with reader(path, holed, hole=(start, end) if start < end else None) as file:
                forward = list(file.forward(0))
                assert [(line.offset, line.size, line.removed) for line in forward] == wanted
                assert [line.text for line in forward if line.removed] == [""] * (start < end)
                assert [line for line in forward if line.partial] == [
                    line for line in forward[-1:] if not line.removed and data[-1:] != b"\n"
                ]
                assert list(file.backward(len(data)))[::-1] == forward
                offset = int(places[2] * len(data))
                assert [line for line in forward if line.offset < offset] == list(file.backward(offset))[::-1]
                after = [line for line in forward if line.offset + line.size > offset] if offset < len(data) else []
                assert list(file.forward(offset)) == after
        finally:
            line_reader.BLOCK, line_reader.LONG_BLOCK = 64 * 1024, 1024 * 1024


@settings(max_examples=300, deadline=None)
@given(data=CONTENT)
def test_text_does_not_depend_on_blocks(tmp_path_factory, data: bytes):
    path = tmp_path_factory.getbasetemp() / "blocks.log"
    with reader(path, data) as file:
        whole = list(file.forward(0))
    line_reader.BLOCK = line_reader.LONG_BLOCK = 7
    try:
        with reader(path, data) as file:
            assert list(file.forward(0)) == whole
    finally:
        line_reader.BLOCK, line_reader.LONG_BLOCK = 64 * 1024, 1024 * 1024


@pytest.mark.parametrize(
    ("data", "text", "updates"),
    [
        (b"plain\n", "plain", 1),
        (b"windows\r\n", "windows", 1),
        (b"\r 10%\r 50%\r100%\n", "100%", 3),
        (b" 10%\r 50%\r100%\r\n", "100%", 3),
        (b"\r 10%\r 50%\r        \r\n", " 50%", 2),
        (b"10%\r\x1b[K20%\r\x1b[2K\n", "\x1b[K20%", 2),
        (b"\r\r\r\n", "", 1),
        (b"\n", "", 1),
        (b"nul\0 bell\x07 \x1b[31mred\x1b[0m\n", "nul\0 bell\x07 \x1b[31mred\x1b[0m", 1),
        ("ünïcödé 世界 🎉\n".encode(), "ünïcödé 世界 🎉", 1),
        (b"bad \xff\xfe utf8\n", "bad \ufffd\ufffd utf8", 1),
        (b"<b>html</b>\n", "<b>html</b>", 1),
    ],
)
def test_what_is_shown(tmp_path: Path, data: bytes, text: str, updates: int):
    with reader(tmp_path / "log", data) as file:
        (line,) = file.forward(0)
    assert (line.text, line.updates, line.partial, line.cut) == (text, updates, False, False)


def test_a_last_line_without_newline_is_partial(tmp_path: Path):
    with reader(tmp_path / "log", b"one\ntwo") as file:
        assert [(line.text, line.partial) for line in file.forward(0)] == [("one", False), ("two", True)]


def test_a_character_that_is_not_yet_written_to_its_end_is_left_out(tmp_path: Path):
    data = "loss: 世界".encode()
    with reader(tmp_path / "log", data[:-1]) as file:
        (line,) = file.forward(0)
    assert line.text == "loss: 世"
    with reader(tmp_path / "log", data[:-1] + b"\n") as file:  # now it will never come
        (line,) = file.forward(0)
    assert line.text == "loss: 世\ufffd"


@pytest.mark.parametrize("size", [line_reader.MAX_TEXT + 2, 100_000, 20_000_000])
def test_a_long_line_is_cut_and_those_around_it_are_not(tmp_path: Path, size: int):
    data = b"before\n" + "é".encode() * (size // 2) + b"\nafter\n"
    with reader(tmp_path / "log", data) as file:
        found = list(file.forward(0))
        assert list(file.backward(len(data)))[::-1] == found
    assert [line.text for line in (found[0], found[2])] == ["before", "after"]
    assert found[1].cut
    assert found[1].text == "é" * (line_reader.MAX_TEXT // 2)
    assert found[1].size == size // 2 * 2 + 1


def test_a_progress_bar_of_megabytes_is_read_once_while_it_grows(tmp_path: Path):
    data = b"".join(b"\r%06d/999999 done" % number for number in range(300_000))
    with reader(tmp_path / "log", data) as file:
        (line,) = file.forward(0)
        tail = file.tail
    assert (line.text, line.updates, line.partial) == ("299999/999999 done", 300_000, True)
    with reader(tmp_path / "log", data + b"\r300000/999999 done", tail=tail) as file:
        (line,) = file.forward(len(data))
        assert (line.offset, line.text, line.updates) == (0, "300000/999999 done", 300_001)
        assert file.bytes_read < 200_000


def test_a_file_that_was_cut_ends_there(tmp_path: Path):
    with reader(tmp_path / "log", b"one\ntwo\n", size=10_000_000) as file:
        assert [line.text for line in file.forward(0)] == ["one", "two"]
        assert list(file.backward(10_000_000)) == []


# -- several streams --------------------------------------------------------------------------------------------------


def make_source(folder: Path, name: str, chunks: list[tuple[float, bytes]], indexed: bool = True) -> Source:
    path = folder / name
    size, records = 0, b""
    with path.open("wb") as file:
        for time, data in chunks:
            file.write(data)
            size += len(data)
            records += RECORD.pack(time, size)
    index = path.with_suffix(".index")
    index.write_bytes(records)
    return Source(name, path, TimeIndex(index if indexed else None))


CHUNKS = st.lists(
    st.tuples(
        st.integers(0, 20).map(float), st.sampled_from([b"a\n", b"b\nc\n", b"half", b"\n", b"rest\r\n", b"\xe4"])
    ),
    max_size=15,
).map(lambda chunks: [(time, data) for time, (_, data) in zip(sorted(time for time, _ in chunks), chunks, strict=True)])


@settings(max_examples=150, deadline=None)
@given(streams=st.lists(CHUNKS, min_size=1, max_size=4), limit=st.integers(1, 7))
def test_pages_forward_and_backward_are_the_same_lines(tmp_path_factory, streams, limit: int):
    folder = tmp_path_factory.mktemp("pages")
    found = [make_source(folder, f"s{number}", chunks) for number, chunks in enumerate(streams)]

    forward, cursor = [], "start"
    while True:
        page = read_page(found, cursor, "forward", limit)
        forward += page.lines
        cursor = page.after
        if page.at_end:
            break
    backward, cursor = [], "end"
    while True:
        page = read_page(found, cursor, "backward", limit)
        backward = page.lines + backward
        cursor = page.before
        if page.at_start:
            break
    assert forward == backward
    times = [line.time for line in forward]
    assert times == sorted(times)
    for number, chunks in enumerate(streams):
        data = b"".join(data for _, data in chunks)
        own = [line for line in forward if line.stream == f"s{number}"]
        assert [(line.offset, line.size) for line in own] == [(at, len(line)) for at, line in expected(data)]


@settings(max_examples=100, deadline=None)
@given(streams=st.lists(CHUNKS, min_size=1, max_size=3), time=st.integers(-1, 21))
def test_a_time_as_anchor(tmp_path_factory, streams, time: int):
    folder = tmp_path_factory.mktemp("times")
    found = [make_source(folder, f"s{number}", chunks) for number, chunks in enumerate(streams)]
    everything = read_page(found, "start", "forward", 1000).lines
    assert read_page(found, float(time), "forward", 1000).lines == [line for line in everything if line.time >= time]
    assert read_page(found, float(time), "backward", 1000).lines == [line for line in everything if line.time < time]


def test_ties_go_by_stream(tmp_path: Path):
    found = [make_source(tmp_path, name, [(5.0, b"1\n2\n")]) for name in ("rank-1", "rank-0")]
    page = read_page(found, "start", "forward", 100)
    assert [(line.stream, line.text) for line in page.lines] == [
        ("rank-1", "1"),
        ("rank-1", "2"),
        ("rank-0", "1"),
        ("rank-0", "2"),
    ]


def test_lines_that_are_not_indexed_yet_come_last(tmp_path: Path):
    old = make_source(tmp_path, "old", [(5.0, b"old\n")])
    new = make_source(tmp_path, "new", [(4.0, b"first\n")])
    with new.path.open("ab") as file:
        file.write(b"fresh\n")
    os.utime(new.path, (1000.0, 1000.0))  # long ago: nobody keeps the index
    page = read_page([new, old], "start", "forward", 100)
    assert [line.text for line in page.lines] == ["first", "old", "fresh"]
    assert page.lines[-1].time == pytest.approx(new.path.stat().st_mtime)


def test_without_an_index_there_is_no_time(tmp_path: Path):
    page = read_page([make_source(tmp_path, "s", [(1.0, b"x\n")], indexed=False)], "start", "forward", 100)
    assert [(line.text, line.time) for line in page.lines] == [("x", None)]


def test_a_page_is_bounded_by_its_text(tmp_path: Path):
    found = [make_source(tmp_path, "s", [(1.0, (b"x" * 5000 + b"\n") * 1000)])]
    page = read_page(found, "start", "forward", 5000)
    assert 0 < len(page.lines) * 5000 <= pages.MAX_PAGE_TEXT + 5000
    assert not page.at_end


def test_files_that_are_not_there_or_no_files_have_no_lines(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    odd = [Source(name, tmp_path / name, TimeIndex(None)) for name in ("gone", "pipe", "folder")]
    page = read_page([*odd, make_source(tmp_path, "s", [(1.0, b"x\n")])], "start", "forward", 10)
    assert [line.text for line in page.lines] == ["x"]
    assert page.at_end and page.at_start


def test_odd_cursors(tmp_path: Path):
    found = [make_source(tmp_path, "s", [(1.0, b"one\ntwo\n")])]
    assert not read_page(found, {"s": 10**18}, "forward", 10).lines
    assert [line.text for line in read_page(found, {"s": -5}, "forward", 10).lines] == ["one", "two"]
    assert [line.text for line in read_page(found, {"other": 5}, "forward", 10).lines] == ["one", "two"]
    assert [line.text for line in read_page(found, {"s": 5}, "forward", 10).lines] == ["two"]


# -- the index --------------------------------------------------------------------------------------------------------


def test_index_grows_and_ignores_a_torn_record(tmp_path: Path):
    path = tmp_path / "index"
    index = TimeIndex(path)
    index.refresh()
    assert index.span is None and index.time_at(0) is None and index.offset_at(5.0) == 0
    path.write_bytes(RECORD.pack(10.0, 100) + RECORD.pack(11.0, 200)[:9])
    index.refresh()
    assert (index.span, index.size) == ((10.0, 10.0), 100)
    path.write_bytes(RECORD.pack(10.0, 100) + RECORD.pack(11.0, 200))
    index.refresh()
    assert (index.time_at(99), index.time_at(100), index.time_at(500)) == (10.0, 11.0, 11.0)
    assert (index.offset_at(10.0), index.offset_at(10.5), index.offset_at(12.0)) == (0, 100, 200)


def test_index_times_never_go_back(tmp_path: Path):
    path = tmp_path / "index"
    path.write_bytes(RECORD.pack(10.0, 100) + RECORD.pack(3.0, 200) + RECORD.pack(12.0, 300))
    index = TimeIndex(path)
    index.refresh()
    assert [index.time_at(offset) for offset in (0, 150, 250)] == [10.0, 10.0, 12.0]


def test_a_large_file_opens_at_once_at_any_place(tmp_path: Path):
    """By what is read of it, for time depends on the machine."""
    path = tmp_path / "big"
    with path.open("wb") as file:
        file.truncate(1024**3)
        file.seek(0)
        file.write(b"first line\n")
        file.seek(500_000_000)
        file.write(b"\nmiddle\n")
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast\n")
    source = Source("s", path, TimeIndex(None))
    with sources.opened([source]) as (file,):
        assert next(file.reader.forward(0)).text == "first line"
        assert next(file.reader.forward(500_000_001)).text == "middle"
        assert next(file.reader.backward(file.size)).text == "last"
        assert file.reader.bytes_read < 1_000_000
