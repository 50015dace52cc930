"""Log files as they are: bytes, ranges, archives, names."""

from __future__ import annotations

import dataclasses
import io
import os
import zipfile

import pytest

from jupyterlab_t9kjob.core.job import MissingSpan
from jupyterlab_t9kjob.logs.storage import cuts
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine

OUT = "worker-0.1.rank-0.out"
BYTES = bytes(range(256)) * 5000 + b"\r\n\0\xff" + "世界".encode()


async def test_bytes_are_as_they_were_written(engine: FakeEngine, api: Api):
    job = engine.put()
    engine.stream(job, OUT).write(BYTES)
    answer = await api("GET", "jobs", job.id, "logs", OUT)
    assert answer.body == BYTES
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Disposition" not in answer.headers


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"offset": 10}, BYTES[10:]),
        ({"offset": 10, "limit": 5}, BYTES[10:15]),
        ({"limit": 10**15}, BYTES),
        ({"offset": len(BYTES) + 5}, b""),
    ],
)
async def test_parts(engine: FakeEngine, api: Api, query: dict[str, int], part: bytes):
    job = engine.put()
    engine.stream(job, OUT).write(BYTES)
    answer = await api("GET", "jobs", job.id, "logs", OUT, **query)
    assert answer.body == part
    assert int(answer.headers["Content-Length"]) == len(part)


@pytest.mark.parametrize("query", [{"offset": "-1"}, {"limit": "0"}, {"offset": "x"}, {"download": "1"}])
async def test_bad_queries(engine: FakeEngine, api: Api, query: dict[str, str]):
    job = engine.put()
    engine.stream(job, OUT)
    assert (await api("GET", "jobs", job.id, "logs", OUT, **query)).status == 400


async def test_download_has_a_name(engine: FakeEngine, api: Api):
    job = engine.put()
    engine.stream(job, OUT).write(b"x")
    answer = await api("GET", "jobs", job.id, "logs", OUT, download="true")
    assert 'filename="train-1.worker-0.1.rank-0.out.log"' in answer.headers["Content-Disposition"]


@pytest.mark.parametrize("stream", ["nothing", "../../../../etc/passwd", "..", "%2e%2e", "a\nb", "\0"])
async def test_unknown_streams(engine: FakeEngine, api: Api, stream: str):
    job = engine.put()
    engine.stream(job, OUT).write(b"x")
    assert (await api("GET", "jobs", job.id, "logs", stream)).status == 404


async def test_a_file_that_has_gone(engine: FakeEngine, api: Api):
    job = engine.put()
    engine.stream(job, OUT).path.unlink()
    assert (await api("GET", "jobs", job.id, "logs", OUT)).status == 404
    archive = await api("GET", "jobs", job.id, "log-archive")
    assert zipfile.ZipFile(io.BytesIO(archive.body)).namelist() == []


async def test_a_pipe_in_a_files_place_does_not_hang(engine: FakeEngine, api: Api):
    job = engine.put()
    log = engine.stream(job, OUT)
    log.path.unlink()
    os.mkfifo(log.path)
    assert (await api("GET", "jobs", job.id, "logs", OUT)).body == b""
    assert (await api("GET", "jobs", job.id, "log-archive")).status == 200


async def test_where_bytes_were_removed_a_download_says_so(engine: FakeEngine, api: Api):
    """Offsets stay those of the file as it was written; there, zeros are in their place."""
    job = engine.put()
    data = b"0123456789abcde\n" * 100_000
    log = engine.stream(job, OUT, complete=True, removed=1_199_200).write(data)
    log.cut(160_000, 1_359_200, cap=400_000)
    told = b"[jupyterlab_t9kjob: 1199200 bytes were removed here to keep the log below 400000 bytes]\n"
    wanted = data[:160_000] + told + data[1_359_200:]
    assert (await api("GET", "jobs", job.id, "logs", OUT, download="true")).body == wanted
    archive = zipfile.ZipFile(io.BytesIO((await api("GET", "jobs", job.id, "log-archive")).body))
    assert archive.read(f"train-1/{OUT}.log") == wanted
    raw = await api("GET", "jobs", job.id, "logs", OUT, offset=159_990, limit=20)
    assert raw.body == data[159_990:160_000] + b"\0" * 10
    assert (await api("GET", "jobs", job.id, "logs", OUT, offset=1_359_200)).body == data[1_359_200:]


async def test_a_download_while_bytes_are_removed(tmp_path):
    """No zeros are sent for lines: what goes before it could be read is told, whatever was sent already."""
    data = b"".join(b"%014d\n" % number for number in range(200_000))
    path, record = tmp_path / "log", tmp_path / "log.cuts"
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDWR)
    pieces = cuts.whole(descriptor, len(data), record)
    sent = next(pieces)
    cuts.append(record, cuts.Cut(15, 1_500_000, 10))
    os.pwrite(descriptor, b"\0" * (1_500_000 - 15), 15)
    rest = b"".join(pieces)
    os.close(descriptor)
    assert sent == data[: len(sent)]
    told, _, behind = rest.partition(b"\n")
    assert told.startswith(b"[jupyterlab_t9kjob: %d bytes were removed" % (1_500_000 - len(sent)))
    assert behind == data[1_500_000:]


async def test_archive(engine: FakeEngine, api: Api):
    job = engine.put()
    other = "worker-0.1.rank-1.err"
    engine.stream(job, OUT).write(BYTES)
    engine.stream(job, other).write(b"error\n")
    os.utime(engine.streams[job.uid][other].path, (0, 0))  # before a ZIP file's calendar begins
    answer = await api("GET", "jobs", job.id, "log-archive")
    assert answer.headers["Content-Type"] == "application/zip"
    assert 'filename="train-1-logs.zip"' in answer.headers["Content-Disposition"]
    archive = zipfile.ZipFile(io.BytesIO(answer.body))
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == {
        f"train-1/{OUT}.log": BYTES,
        f"train-1/{other}.log": b"error\n",
    }
    assert len(answer.body) < len(BYTES) / 10


async def test_a_download_says_where_something_is_missing(engine: FakeEngine, api: Api):
    job = engine.put()
    log = engine.stream(job, OUT)
    log.write(b"one\ntwo\nthree\n")
    file = engine.streams[job.uid][OUT]
    spans = [
        MissingSpan(sentence="The rest is gone.", offset=14),
        MissingSpan(sentence="Lines may be missing here.", offset=4, since=0.0, until=61.0),
    ]
    stream = file.stream.model_copy(update={"missing": spans, "complete": True})
    engine.streams[job.uid][OUT] = dataclasses.replace(file, stream=stream)
    expected = (
        b"one\n[jupyterlab_t9kjob: 1970-01-01 00:00:00 UTC to 1970-01-01 00:01:01 UTC: Lines may be missing here.]\n"
        b"two\nthree\n[jupyterlab_t9kjob: The rest is gone.]\n"
    )
    assert (await api("GET", "jobs", job.id, "logs", OUT, download="true")).body == expected
    assert (await api("GET", "jobs", job.id, "logs", OUT)).body == b"one\ntwo\nthree\n"
    archive = await api("GET", "jobs", job.id, "log-archive")
    assert zipfile.ZipFile(io.BytesIO(archive.body)).read(f"train-1/{OUT}.log") == expected
