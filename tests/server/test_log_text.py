"""The text of several streams, merged: what is copied, and what is downloaded as one file."""

from __future__ import annotations

import dataclasses
import os

import pytest

from jupyterlab_t9kjob.core.job import Job, MissingSpan
from jupyterlab_t9kjob.logs.serving import text
from jupyterlab_t9kjob.logs.serving.sources import Source
from jupyterlab_t9kjob.logs.storage.index import TimeIndex
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine, Log

ZERO, ONE, SAYS = "worker-0.1.rank-0.out", "worker-0.1.rank-1.out", "worker-0.1.launcher.out"


def written(engine: FakeEngine, job: Job, stream: str, *lines: tuple[float, bytes], **fields: object) -> Log:
    """Write lines, each at its time, long ago, so that none waits for its place in the index."""
    log = engine.stream(job, stream, **fields)
    for time, data in lines:
        log.write(data, time)
    os.utime(log.path, (100, 100))
    return log


@pytest.fixture
def job(engine: FakeEngine) -> Job:
    job = engine.put()
    written(engine, job, ZERO, (1, b"a\n"), (3, b"\x1b[31mc\x1b[0m\n"), (5, b"10%\r100%\r\ne\n"))
    written(engine, job, ONE, (2, b"b\n"), (4, "d 世界\n".encode()), (6, b"no newline"), attempt=2)
    written(engine, job, SAYS, (7, b"launched\n"), source="launcher")
    return job


ALL = "a\nb\n\x1b[31mc\x1b[0m\nd 世界\n100%\ne\nno newline\nlaunched\n"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ALL),
        ({"streams": f"{ZERO},nothing"}, "a\n\x1b[31mc\x1b[0m\n100%\ne\n"),
        ({"except": f"{ZERO},{SAYS}"}, "b\nd 世界\nno newline\n"),
        ({"sources": "launcher,container"}, "launched\n"),
        ({"attempt": "2"}, "b\nd 世界\nno newline\n"),
        ({"from_stream": ONE, "from_time": "2", "to_stream": ZERO, "to_offset": "2", "to_time": "3"},
         "b\n\x1b[31mc\x1b[0m\n"),
        ({"from_stream": ZERO, "from_offset": "23", "from_time": "5"}, "e\nno newline\nlaunched\n"),
        # of bytes that are just written the time may change: in its own stream an end is where its offset is
        ({"to_stream": ONE, "to_offset": "2", "to_time": "2"}, "a\nb\nd 世界\n"),
        ({"to_stream": "gone", "to_offset": "2", "to_time": "3"}, "a\nb\n"),
        ({"from_stream": ZERO, "from_offset": "999"}, "b\nd 世界\nno newline\nlaunched\n"),
    ],
)  # fmt: skip
async def test_which_lines_and_streams(job: Job, api: Api, query: dict[str, str], expected: str):
    answer = await api("GET", "jobs", job.id, "log-text", **query)
    assert answer.body.decode() == expected
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_labels_and_a_name(job: Job, api: Api):
    answer = await api("GET", "jobs", job.id, "log-text", attempt=2, labels="true", download="true")
    assert answer.body.decode().splitlines() == [
        f"{ONE}\t1970-01-01T00:00:02.000Z\tb",
        f"{ONE}\t1970-01-01T00:00:04.000Z\td 世界",
        f"{ONE}\t1970-01-01T00:00:06.000Z\tno newline",
    ]
    assert 'filename="train-1.log"' in answer.headers["Content-Disposition"]


@pytest.mark.parametrize(
    "query",
    [
        {"labels": "1"},
        {"limit": "0"},
        {"from_stream": ZERO, "from_time": "nan"},
        {"from_time": "false"},
        {"to_stream": ZERO, "to_offset": "-1"},
    ],
)
async def test_bad_queries(job: Job, api: Api, query: dict[str, str]):
    assert (await api("GET", "jobs", job.id, "log-text", **query)).status == 400


async def test_more_than_may_be_copied_is_refused_with_its_size(engine: FakeEngine, api: Api):
    job = engine.put()
    written(engine, job, ZERO, (1, b"x" * 99 + b"\n"), (2, (b"y" * 99 + b"\n") * 30_000))
    answer = await api("GET", "jobs", job.id, "log-text", limit=1_000_000)
    assert answer.status == 413
    assert answer.json["message"] == "These lines have 3 MB. At most 1 MB can be copied."
    part = {"to_stream": ZERO, "to_offset": 0, "to_time": 1}
    assert (await api("GET", "jobs", job.id, "log-text", limit=1_000_000, **part)).body == b"x" * 99 + b"\n"
    # Lines of a level are not all counted.
    written(engine, job, ONE, (3, b"ERROR: it broke\n" * 100_000))
    answer = await api("GET", "jobs", job.id, "log-text", limit=1_000_000, level="error")
    assert answer.json["message"] == "These lines have more than 1 MB, the most that can be copied."


async def test_lines_are_whole_and_what_is_missing_is_said(engine: FakeEngine, api: Api):
    job = engine.put()
    long = b"z" * 1_000_000
    log = written(engine, job, ZERO, (1, b"0123456789\n" * 1000), (2, long + b"\n"), (3, b"50%\r" + long + b"\rdone\n"))
    log.cut(11, 10_989)
    file = engine.streams[job.uid][ZERO]
    missing = [MissingSpan(sentence="Lines may be missing here.", offset=11_000)]
    stream = file.stream.model_copy(update={"missing": missing})
    engine.streams[job.uid][ZERO] = dataclasses.replace(file, stream=stream)
    lines = (await api("GET", "jobs", job.id, "log-text")).body.split(b"\n")
    assert lines == [
        b"0123456789",
        b"[jupyterlab_t9kjob: 10978 bytes were removed here to keep the log below 1000 bytes]",
        b"0123456789",
        b"[jupyterlab_t9kjob: Lines may be missing here.]",
        long,
        b"done",
        b"",
    ]


async def test_bytes_that_are_removed_meanwhile(engine: FakeEngine):
    """No zeros are sent for lines, whatever was sent already."""
    job = engine.put()
    log = written(engine, job, ZERO, (1, b"".join(b"%014d\n" % number for number in range(100_000))))
    source = Source(ZERO, log.path, TimeIndex(log.index), log.path.with_suffix(".cuts"))
    pieces = text.passage_text([source], text.Passage())
    sent = next(pieces).splitlines()
    log.cut(15, 1_200_000)
    rest = b"".join(pieces).splitlines()
    assert sent == [b"%014d" % number for number in range(len(sent))]
    assert rest[0].startswith(b"[jupyterlab_t9kjob: 1199985 bytes were removed here")
    assert rest[1:] == [b"%014d" % number for number in range(80_000, 100_000)]
