"""The spool of a log that comes over the network: nothing is lost and nothing comes twice, wherever it breaks off."""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.logs.storage import spool as spools
from jupyterlab_t9kjob.logs.storage.index import RECORD, TimeIndex
from jupyterlab_t9kjob.logs.storage.spool import Apart, Spool

SECOND = 10**9
START = 1_790_000_000 * SECOND


class Server:
    """Gives a container's log as a kubelet does: records, of which those of one line may have several times."""

    def __init__(self, records: list[tuple[int, bytes]], zone: bytes = b"Z") -> None:
        self.records = records
        self.zone = zone

    def answer(self, since: int | None) -> bytes:
        out = []
        at_start = True
        for time, data in self.records:
            if since is None or time >= since * SECOND:
                out.append((self.stamp(time) + b" " if at_start else b"") + data)
            at_start = data.endswith(b"\n") or not data
        return b"".join(out)

    def stamp(self, time: int) -> bytes:
        seconds, rest = divmod(time, SECOND)
        if self.zone != b"Z":
            seconds += 8 * 3600
        moment = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S").encode()
        return moment + b".%09d" % rest + self.zone

    @property
    def log(self) -> bytes:
        return b"".join(data for _, data in self.records)


def fetch(spool: Spool, server: Server, pieces: int = 1 << 30, stop: int | None = None) -> None:
    """Take an answer, or what comes of it before it breaks off, in pieces of one size."""
    spool.begin()
    answer = server.answer(spool.since)[:stop]
    for start in range(0, len(answer), pieces):
        spool.feed(answer[start : start + pieces])


line = st.binary(max_size=60).map(lambda data: data.replace(b"\n", b"\r") + b"\n")
text = st.one_of(line, st.just(b"same\n"), st.just(b"\n"), line.map(lambda data: data[:-1] or b"-"))
gaps = st.sampled_from([0, 1, 1000, SECOND // 3, SECOND, 90 * SECOND])
logs = st.lists(st.tuples(gaps, text), min_size=1, max_size=40)


def records_of(log: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    time, records = START + 999_999_000, []
    for gap, data in log:
        time += max(gap, 1)
        records.append((time, data))
    return records


@settings(deadline=None, max_examples=300)
@given(
    log=logs,
    breaks=st.lists(
        st.tuples(
            st.integers(0, 3000),
            st.integers(1, 200),
            st.integers(0, 4),
            st.integers(0, 4),
            st.floats(0, 1),
            st.booleans(),
        ),
        max_size=6,
    ),
    zone=st.sampled_from([b"Z", b"+08:00"]),
)
def test_what_breaks_off_anywhere_comes_once(log, breaks, zone):
    server = Server(records_of(log), zone)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.log")
        for stop, pieces, lines_lost, records_lost, torn, grown in breaks:
            shown = Server(server.records[: len(server.records) // 2] if grown else server.records, zone)
            spool = Spool(path)
            fetch(spool, shown, pieces, stop)
            spool.close()
            # what a kill between two writes leaves: bytes whose lines and times are not written yet
            indexed = cut(path.with_name("a.log.index"), records_lost, RECORD, torn)
            lines = path.with_name("a.log.lines")
            cut(lines, lines_lost, spools._LINE, torn)
            while lines.stat().st_size and cut(lines, 0, spools._LINE, 0) > indexed:
                cut(lines, 1, spools._LINE, torn)
        spool = Spool(path)
        fetch(spool, server, 7)
        assert spool.gaps() == []
        spool.close()
        assert path.read_bytes() == server.log
        times = TimeIndex(path.with_name("a.log.index"))
        times.refresh()
        assert times.size == len(server.log)
        offset = 0
        for time, data in server.records:
            if data and (offset == 0 or server.log[offset - 1 : offset] == b"\n"):
                assert times.time_at(offset) == pytest.approx(time / SECOND, abs=spools.GRAIN / SECOND + 1e-3)
            offset += len(data)


def cut(path: Path, records: int, kind: struct.Struct, torn: float) -> int:
    """Remove the last records of a file, the first of them perhaps not wholly; return the last one's size."""
    have = path.stat().st_size // kind.size
    left = max(0, have - records)
    os.truncate(path, left * kind.size + int(torn * (kind.size - 1)) * (left < have))
    return list(kind.iter_unpack(path.read_bytes()[: left * kind.size]))[-1][1] if left else 0


def test_a_line_of_300_kb_across_seconds_and_pieces(tmp_path: Path):
    part = b"x" * 16384
    records = [(START + n * SECOND // 3, part) for n in range(20)] + [(START + 7 * SECOND, b"end\n")]
    server = Server([(START - 5, b"before\n"), *records, (START + 7 * SECOND + 5, b"after\n")])
    spool = Spool(tmp_path / "a.log")
    for stop in (100, 50_000, 200_000, None):
        fetch(spool, server, 1000, stop)
    assert (tmp_path / "a.log").read_bytes() == server.log
    assert spool.gaps() == []


def test_lines_that_a_rotation_took_are_a_gap(tmp_path: Path):
    spool = Spool(tmp_path / "a.log")
    fetch(spool, Server([(START, b"one\n"), (START + 5, b"two\n"), (START + 9, b"unfinished")]))
    later = Server([(START + 60 * SECOND, b"nine\n"), (START + 61 * SECOND, b"ten\n")])
    with pytest.raises(Apart):
        fetch(spool, later)
    assert (tmp_path / "a.log").read_bytes() == b"one\ntwo\nunfinished"
    spool.join()
    assert (tmp_path / "a.log").read_bytes() == b"one\ntwo\nunfinished\nnine\nten\n"
    assert spool.gaps() == [(len(b"one\ntwo\nunfinished\n"), START + 5, START + 60 * SECOND)]
    fetch(spool, later)
    assert (tmp_path / "a.log").read_bytes() == b"one\ntwo\nunfinished\nnine\nten\n"
    assert spool.gaps() == []


def test_a_line_that_was_cut_in_two_by_a_rotation(tmp_path: Path):
    # as seen with containerd 1.6: the first half is written last, and has a later time than the second
    lines = [(START + n, b"%d\n" % n) for n in range(5)]
    halves = [(START + 900, b"first "), (START + 100, b"second\n")]
    after = [(START + 200 + n, b"%d\n" % n) for n in range(5)]
    spool = Spool(tmp_path / "a.log")
    fetch(spool, Server([*lines, *halves, *after[:3]]))
    fetch(spool, Server([halves[1], *after]))
    assert (tmp_path / "a.log").read_bytes() == Server([*lines, *halves, *after]).log
    assert spool.gaps() == []


def test_words_of_the_kubelets_are_not_the_containers(tmp_path: Path):
    spool = Spool(tmp_path / "a.log")
    spool.feed(b"unable to retrieve container logs for containerd://abc")
    assert spool.size == 0
    assert spool.notice == "unable to retrieve container logs for containerd://abc"


def test_many_lines_of_one_second_stay_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spools, "MOST_LINES", 100)
    server = Server([(START + n * SECOND // 300, b"%d\n" % n) for n in range(1000)])
    spool = Spool(tmp_path / "a.log")
    for stop in range(0, 50_000, 997):
        fetch(spool, server, 333, stop)
    assert (tmp_path / "a.log").read_bytes() == server.log
    assert (tmp_path / "a.log.lines").stat().st_size < 16 * 700


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    server = Server([(START + n * SECOND // 5, b"%d\n" % n) for n in range(200)])
    spool = Spool(tmp_path / "a.log")
    real, left = os.write, [100]

    def write(descriptor: int, data: bytes) -> int:
        if left[0] <= 0:
            raise OSError(28, "No space left on device")
        written = real(descriptor, data[: left[0]])
        left[0] -= written
        return written

    for room in range(0, 1500, 61):
        left[0] = room
        with monkeypatch.context() as patches:
            patches.setattr(os, "write", write)
            with contextlib.suppress(OSError):
                fetch(spool, server, 50)
    fetch(spool, server)
    assert (tmp_path / "a.log").read_bytes() == server.log
