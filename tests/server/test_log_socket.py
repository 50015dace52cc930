"""WS jobs/{id}/logs: pages, following, back-pressure, new streams."""

from __future__ import annotations

import asyncio
import errno
import io
import itertools
import os
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tornado.httpclient import HTTPClientError

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.errors import NotFound
from jupyterlab_t9kjob.handlers.jobs.logs import LogsHandler
from jupyterlab_t9kjob.logs.serving import archive, follow, pages, sources
from tests.patience import PATIENCE
from tests.server.conftest import Page, eventually
from tests.server.fakes import FakeEngine

OUT, ERR = "worker-0.1.rank-0.out", "worker-0.1.rank-1.out"


async def appended(page: Page, count: int) -> list[dict[str, Any]]:
    """Return the next `count` lines that are appended, each acknowledged; a line sent again replaces the one before."""
    lines: dict[tuple[str, int], dict[str, Any]] = {}
    while sum(not line["partial"] for line in lines.values()) < count:
        message = await page.until(type="append")
        lines.update({(line["stream"], line["offset"]): line for line in message["lines"]})
        await page.send(type="ack", sequence=message["sequence"])
    return list(lines.values())


async def test_streams_are_told_first_and_when_there_are_new_ones(engine: FakeEngine, open_page):
    job = engine.put()
    engine.stream(job, OUT)
    page = await open_page("jobs", job.id, "logs")
    assert [stream["id"] for stream in (await page.receive())["streams"]] == [OUT]
    engine.stream(job, ERR, attempt=2)
    assert [stream["id"] for stream in (await page.receive())["streams"]] == [OUT, ERR]


class SlowLogs:
    """An engine's logs of one job, for which whoever opens them has to wait."""

    def __init__(self, engine: FakeEngine, slow: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked, self.gone_on, self.given_up = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.begun = self.ended = 0
        plain = engine.follow_logs

        async def follow_logs(uid: str, grown: Callable[[], None]) -> Callable[[], None]:
            if uid != slow:
                return await plain(uid, grown)
            self.begun += 1
            self.asked.set()
            try:
                await self.gone_on.wait()
            except asyncio.CancelledError:
                self.given_up.set()
                raise
            return self._end

        monkeypatch.setattr(engine, "follow_logs", follow_logs)

    def _end(self) -> None:
        self.ended += 1


async def test_a_log_that_takes_long_to_open_holds_up_no_other(
    engine: FakeEngine, app: T9kJobApp, monkeypatch: pytest.MonkeyPatch
):
    slow, quick = engine.put("slow"), engine.put("quick")
    logs, opening = (await app.services()).logs, SlowLogs(engine, slow.uid, monkeypatch)

    async def look(ident: str) -> None:
        async with logs.subscribe(ident):
            pass

    waiting = asyncio.create_task(look(slow.id))
    await opening.asked.wait()
    with anyio.fail_after(PATIENCE):
        await look(quick.id)
    opening.gone_on.set()
    await waiting
    assert (opening.begun, opening.ended) == (1, 1)


async def test_who_goes_while_a_log_is_opened_takes_it_from_nobody(
    engine: FakeEngine, app: T9kJobApp, monkeypatch: pytest.MonkeyPatch
):
    job = engine.put()
    logs, opening = (await app.services()).logs, SlowLogs(engine, job.uid, monkeypatch)
    opened, leave = asyncio.Event(), asyncio.Event()

    async def look() -> None:
        async with logs.subscribe(job.id):
            opened.set()
            await leave.wait()

    goes, stays = asyncio.create_task(look()), asyncio.create_task(look())
    await opening.asked.wait()
    goes.cancel()
    await asyncio.wait({goes})
    opening.gone_on.set()
    await opened.wait()
    assert (opening.begun, opening.ended) == (1, 0)
    leave.set()
    await stays
    assert opening.ended == 1

    opening.gone_on.clear()
    opening.asked.clear()
    alone = asyncio.create_task(look())
    await opening.asked.wait()
    alone.cancel()
    await asyncio.wait({alone})
    assert opening.given_up.is_set()


async def test_a_log_that_could_not_be_opened_is_opened_anew(engine: FakeEngine, app: T9kJobApp):
    job = engine.put()
    logs = (await app.services()).logs
    engine.refusal = NotFound("It is not there yet.")
    for _ in range(2):
        with pytest.raises(NotFound):
            async with logs.subscribe(job.id):
                pass
    engine.refusal = None
    async with logs.subscribe(job.id) as found:
        assert found.streams == []


async def test_no_such_job(engine: FakeEngine, jp_ws_fetch):
    engine.put()
    with pytest.raises(HTTPClientError) as caught:
        await jp_ws_fetch("t9kjob", "jobs", "local::train-1:gone", "logs")
    assert caught.value.code == 404


async def test_pages(engine: FakeEngine, open_page):
    job = engine.put()
    out, err = engine.stream(job, OUT), engine.stream(job, ERR)
    for number in range(10):
        (out if number % 2 else err).write(f"line {number}\n".encode(), time=float(number))
    page = await open_page("jobs", job.id, "logs")

    async def read(**request: Any) -> dict[str, Any]:
        await page.send(type="read", request=7, **request)
        return await page.until(type="page", request=7)

    last = await read(anchor="end", direction="backward", lines=4)
    assert [line["text"] for line in last["lines"]] == [f"line {number}" for number in range(6, 10)]
    assert (last["at_start"], last["at_end"]) == (False, True)
    before = await read(anchor=last["before"], direction="backward", lines=1000)
    assert [line["text"] for line in before["lines"]] == [f"line {number}" for number in range(6)]
    assert (before["at_start"], before["at_end"]) == (True, False)
    assert before["after"] == last["before"]
    since = await read(anchor=7.0, lines=1000)
    assert [line["text"] for line in since["lines"]] == ["line 7", "line 8", "line 9"]
    one = await read(anchor="start", streams=[ERR])
    assert [line["time"] for line in one["lines"]] == [0.0, 2.0, 4.0, 6.0, 8.0]
    none = await read(anchor="start", streams=["nothing"])
    assert (none["lines"], none["at_start"], none["at_end"]) == ([], True, True)


async def test_follow_sends_every_line_once_as_it_is_written(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT).write(b"old\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    first = await page.until(type="append")
    assert ([line["text"] for line in first["lines"]], first["caught_up"]) == (["old"], True)
    await page.send(type="ack", sequence=first["sequence"])
    for number in range(200):
        log.write(f"{number}\n".encode(), time=2.0 + number)
        if number % 50 == 0:
            await page.send(type="ack", sequence=(await page.until(type="append"))["sequence"])
    log.write(b"end\n", time=300.0)
    seen = []
    while "end" not in seen:
        seen += [line["text"] for line in await appended(page, 1)]
    assert seen[-1] == "end"
    assert seen[:-1] == [str(number) for number in range(200)][-len(seen) + 1 :]


async def test_errors_are_followed_through_pages_without_any(engine: FakeEngine, open_page, api, monkeypatch):
    monkeypatch.setattr(pages, "MAX_PAGE_READ", 1024)
    job = engine.put()
    log = engine.stream(job, OUT)
    for number in range(200):
        log.write(b"step %d loss: 0.3\n" % number * 1000, time=float(number))
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={}, level="error")
    assert ((first := await page.until(type="append"))["lines"], first["caught_up"]) == ([], True)
    assert first["after"] == {OUT: log.path.stat().st_size}
    log.write(b"ERROR:root:it broke\n", time=300.0)
    assert [line["text"] for line in await appended(page, 1)] == ["ERROR:root:it broke"]
    assert (await api("GET", "jobs", job.id)).status == 200


@pytest.mark.parametrize("door", [(follow.JobLogs, "_sizes"), (follow, "read_page")], ids=["look", "read"])
async def test_what_is_told_is_sent_though_nobody_subscriptions(door: Any, engine: FakeEngine, open_page, monkeypatch):
    """Every line is written just when the sizes have been looked at, or lines have been read."""
    monkeypatch.setattr(follow, "INTERVAL", 3600.0)
    monkeypatch.setattr(follow, "SOON", 3600.0)
    job = engine.put()
    log = engine.stream(job, OUT).write(b"old\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    assert [line["text"] for line in await appended(page, 1)] == ["old"]
    numbers, loop, original = iter(range(100)), asyncio.get_running_loop(), getattr(*door)

    def write_then(*arguments: Any) -> Any:
        found = original(*arguments)
        for number in itertools.islice(numbers, 1):
            log.write(f"{number}\n".encode(), time=2.0 + number)
            loop.call_soon_threadsafe(engine.grown[job.uid])
        return found

    monkeypatch.setattr(*door, write_then)
    log.write(b"begin\n", time=2.0)
    engine.grown[job.uid]()
    lines = await appended(page, 101)
    assert [line["text"] for line in lines] == ["begin", *map(str, range(100))]


async def test_follow_from_a_page(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT).write(b"one\ntwo\npart", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="read", request=1, anchor="end", direction="backward")
    read = await page.until(type="page")
    assert [(line["text"], line["partial"]) for line in read["lines"]][-1] == ("part", True)
    await page.send(type="follow", cursor=read["after"])
    first = await page.until(type="append")
    assert (first["lines"], first["caught_up"], first["after"]) == ([], True, read["after"])
    log.write(b"ial\nnext\n", time=2.0)
    lines = await appended(page, 2)
    assert [(line["text"], line["offset"], line["partial"]) for line in lines] == [
        ("partial", 8, False),
        ("next", 16, False),
    ]


async def test_a_line_stands_for_what_was_removed(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT)
    for number in range(10):
        log.write(b"line %d\n" % number, time=float(number))
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    message = await page.until(type="append")
    assert len(message["lines"]) == 10
    log.cut(14, 63)

    async def read(**request: Any) -> list[tuple[str, int]]:
        await page.send(type="read", request=7, **request)
        answer = await page.until(type="page", request=7)
        return [(line["text"], line["removed"]) for line in answer["lines"]]

    start, hole, end = [("line 0", 0), ("line 1", 0)], ("", 49), [("line 9", 0)]
    assert await read(anchor="start") == [*start, hole, *end]
    assert await read(anchor="end", direction="backward") == [*start, hole, *end]
    assert await read(anchor={OUT: 30}) == [hole, *end]
    assert await read(anchor={OUT: 30}, direction="backward") == [*start, hole]
    assert await read(anchor={OUT: 63}) == end
    # by time: the hole begins with what was written at 2
    assert await read(anchor=2.0) == [hole, *end]
    assert await read(anchor=5.0) == end
    assert await read(anchor=5.0, direction="backward") == [*start, hole]
    # who follows sees it when their place was cut away, else what is written next
    log.write(b"more\n", time=11.0)
    await page.send(type="ack", sequence=message["sequence"])
    assert [line["text"] for line in await appended(page, 1)] == ["more"]
    await page.send(type="follow", cursor={OUT: 35})
    late = await page.until(type="append")
    assert [(line["offset"], line["removed"]) for line in late["lines"]] == [(14, 49), (63, 0), (70, 0)]


async def test_a_line_that_grows_is_sent_again(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    world = "世界".encode()
    texts = []
    for piece in (b"hello ", world[:4], world[4:], b"\r 10%", b"\r 20%", b"\n"):
        log.write(piece, time=1.0)
        while True:
            message = await page.until(type="append")
            await page.send(type="ack", sequence=message["sequence"])
            if message["lines"]:
                break
        (line,) = message["lines"]
        assert line["offset"] == 0
        texts.append((line["text"], line["updates"], line["partial"]))
    assert texts == [
        ("hello ", 1, True),
        ("hello 世", 1, True),
        ("hello 世界", 1, True),
        (" 10%", 2, True),
        (" 20%", 3, True),
        (" 20%", 3, False),
    ]


async def test_follow_takes_in_new_streams(engine: FakeEngine, open_page):
    job = engine.put()
    engine.stream(job, OUT).write(b"first attempt\n", time=1.0)
    everything, chosen = await open_page("jobs", job.id, "logs"), await open_page("jobs", job.id, "logs")
    await everything.send(type="follow", cursor={})
    await chosen.send(type="follow", cursor={}, streams=[OUT])
    for page in (everything, chosen):
        assert (await appended(page, 1))[0]["text"] == "first attempt"
    new = engine.stream(job, "worker-0.2.rank-0.out", attempt=2).write(b"second attempt\n", time=2.0)
    assert (await appended(everything, 1))[0]["text"] == "second attempt"
    new.write(b"more\n", time=3.0)
    engine.streams[job.uid][OUT].path.open("ab").write(b"late\n")
    assert (await appended(chosen, 1))[0]["text"] == "late"


async def test_unfollow_and_another_follow(engine: FakeEngine, open_page):
    job = engine.put()
    log = engine.stream(job, OUT).write(b"one\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    assert (await appended(page, 1))[0]["text"] == "one"
    await page.send(type="unfollow")
    log.write(b"two\n", time=2.0)
    await page.send(type="read", request=1, anchor="start")
    answer = None
    while answer is None or answer["type"] != "page":
        answer = await page.receive()
        assert answer["type"] in ("page", "streams")
    await page.send(type="follow", cursor={OUT: 4})
    assert (await appended(page, 1))[0]["text"] == "two"


async def test_a_page_that_does_not_acknowledge_gets_no_more_than_the_window(
    engine: FakeEngine, open_page, app: T9kJobApp
):
    app.log_bytes_in_flight = 200_000
    job = engine.put()
    engine.stream(job, OUT).write((b"x" * 999 + b"\n") * 10_000, time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    message = await page.until(type="append")
    received = len(message["lines"])
    # the answer to a read comes, so it is the window alone that holds back the rest
    await page.send(type="read", request=1, anchor="start", lines=1)
    while (other := await page.receive())["type"] == "append":
        received += len(other["lines"])
    assert other["type"] == "page"
    assert received * 1000 <= 200_000 + 600_000
    # acknowledged, it goes on to the end
    while not message["caught_up"]:
        await page.send(type="ack", sequence=message["sequence"])
        message = await page.until(type="append")
        received += len(message["lines"])
    assert received == 10_000


async def test_a_browser_that_stops_reading_costs_little(engine: FakeEngine, open_page, app: T9kJobApp):
    """Messages are not read at all here: what the server holds is the window, not the log."""
    job = engine.put()
    log = engine.stream(job, OUT)
    for _ in range(10):
        log.write((b"y" * 3999 + b"\n") * 2_500, time=1.0)
    pages = [await open_page("jobs", job.id, "logs") for _ in range(5)]
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for page in pages:
        await page.send(type="follow", cursor={})
    # an attentive page beside them is served to the end
    reader = await open_page("jobs", job.id, "logs")
    await reader.send(type="follow", cursor={})
    offset = 0
    while offset < 100_000_000:
        message = await reader.until(type="append")
        await reader.send(type="ack", sequence=message["sequence"])
        offset = message["after"][OUT]
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - usage) / 1024 < 6 * 20


async def test_many_sockets_cost_one_reader(engine: FakeEngine, open_page, app: T9kJobApp, monkeypatch):
    job = engine.put()
    log = engine.stream(job, OUT).write(b"start\n", time=1.0)
    reads = looks = 0
    original_read, original_sizes = follow.read_page, follow.JobLogs._sizes

    def read(*arguments):
        nonlocal reads
        reads += 1
        return original_read(*arguments)

    def sizes(*arguments):
        nonlocal looks
        looks += 1
        return original_sizes(*arguments)

    pages = [await open_page("jobs", job.id, "logs") for _ in range(100)]
    for page in pages:
        await page.send(type="follow", cursor={})
        assert (await appended(page, 1))[0]["text"] == "start"
    assert len((await app.services()).logs._subscriptions) == 1
    monkeypatch.setattr(follow, "read_page", read)
    monkeypatch.setattr(follow.JobLogs, "_sizes", sizes)
    started = asyncio.get_running_loop().time()
    log.write(b"news\n", time=2.0)
    for page in pages:
        assert (await appended(page, 1))[0]["text"] == "news"
    elapsed = asyncio.get_running_loop().time() - started
    assert looks <= elapsed / follow.INTERVAL + 2
    assert reads <= 4 + 2 * elapsed / follow.STREAMS_INTERVAL


async def test_nothing_is_left_when_pages_go(engine: FakeEngine, open_page, app: T9kJobApp):
    job = engine.put()
    engine.stream(job, OUT).write(b"x\n" * 1000, time=1.0)
    pages = [await open_page("jobs", job.id, "logs") for _ in range(3)]
    for page in pages:
        await page.send(type="follow", cursor={})
        await page.until(type="append")
        page.close()
    logs = (await app.services()).logs
    await eventually(lambda: not app.sockets and not logs._subscriptions)
    names = {task.get_coro().__qualname__ for task in asyncio.all_tasks()}
    assert not any("JobLogs" in name or "LogsHandler" in name for name in names), names


async def test_a_job_that_is_removed_while_it_is_looked_at(engine: FakeEngine, open_page):
    job = engine.put(phase="Failed")
    engine.stream(job, OUT).write(b"x\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    assert (await page.receive())["streams"]
    await engine.remove(job.uid)
    assert (await page.receive())["streams"] == []


async def test_a_job_that_goes_while_its_socket_opens(engine: FakeEngine, open_page, app: T9kJobApp, monkeypatch):
    """A message that came meanwhile is not waited with for ever."""
    job, found, gone, came = engine.put(phase="Failed"), engine.log_sources, asyncio.Event(), asyncio.Event()
    answer = LogsHandler.answer

    async def note(self: LogsHandler, message: str) -> None:
        came.set()
        await answer(self, message)

    async def once(uid: str):
        engine.log_sources = vanished
        return await found(uid)

    async def vanished(uid: str):
        await gone.wait()
        raise NotFound("This job does not exist.")

    monkeypatch.setattr(LogsHandler, "answer", note)
    engine.log_sources = once
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="read", request=1, anchor="start")
    await asyncio.wait_for(came.wait(), PATIENCE)
    gone.set()
    assert (await page.receive())["code"] == "NotFound"
    assert await page.receive() is None
    await eventually(lambda: not app.sockets)
    await eventually(lambda: not [task for task in asyncio.all_tasks() if "receive_frame" in repr(task.get_coro())])


@pytest.mark.parametrize(
    "message",
    [
        "x",
        '{"type":"read"}',
        '{"type":"read","request":1,"anchor":"middle"}',
        '{"type":"read","request":1,"anchor":"start","lines":0}',
        '{"type":"read","request":1,"anchor":"start","lines":1000000}',
        '{"type":"follow","cursor":{"a":"b"}}',
        '{"type":"jump"}',
        "[1]",
    ],
)
async def test_bad_messages(engine: FakeEngine, open_page, message: str):
    job = engine.put()
    page = await open_page("jobs", job.id, "logs")
    await page.send_raw(message)
    answer = await page.until(type="error")
    assert answer["message"] and answer["code"] == "BadRequest"
    await page.send(type="read", request=2, anchor="start")
    assert (await page.until(type="page"))["request"] == 2


@pytest.mark.parametrize("cursor", [{OUT: -1}, {OUT: 10**30}, {"": 0}, {OUT: 2**63}])
async def test_odd_cursors(engine: FakeEngine, open_page, cursor: dict[str, int]):
    job = engine.put()
    engine.stream(job, OUT).write(b"x\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor=cursor)
    assert (await page.receive())["type"] == "streams"
    assert (await page.receive())["type"] in ("append", "error")
    await page.send(type="read", request=2, anchor="start")
    assert [line["text"] for line in (await page.until(type="page"))["lines"]] == ["x"]


HOSTILE = {
    "nul": b"a\0b",
    "invalid": b"\xff\xfe\xc3( \xed\xa0\x80 \xf0\x9f",
    "title": b"\x1b]0;owned\x07after",
    "link": b"\x1b]8;;javascript:alert(1)\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": b"\x1b]52;c;cm0gLXJmIH4=\x07",
    "device": b"\x1bP1$r0m\x1b\\\x1b[6n\x1b[c",
    "cursor": b"\x1b[2J\x1b[H\x1b[999D\x1b[1A\x1b[?1049h",
    "html": b"<img src=x onerror=alert(1)><script>alert(2)</script>&amp;",
    "bidi": "\u202egnp.exe\u202c \u2028 \u2029 \x85 \x0b \x0c".encode(),
    "json": b'","type":"error"}\\u0000\x7f',
}


async def test_hostile_lines_are_text(engine: FakeEngine, open_page, api):
    """Nothing is interpreted, lost or joined: a line each, of the same text however it is read; bytes as written."""
    job = engine.put()
    log = engine.stream(job, OUT)
    data = b"".join(line + b"\n" for line in HOSTILE.values())
    data += b"x" * 20_000_000 + b"\n" + b"\xff" * 30_000 + b"\n" + b"after all of it\n"
    log.write(data, time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="read", request=1, anchor="start")
    read = (await page.until(type="page"))["lines"]
    texts = [line["text"] for line in read]
    assert texts[: len(HOSTILE)] == [line.decode("utf-8", "replace") for line in HOSTILE.values()]
    assert texts[-1] == "after all of it"
    assert [(line["text"][:3], line["size"], line["cut"]) for line in read[-3:-1]] == [
        ("xxx", 20_000_001, True),
        ("\ufffd" * 3, 30_001, True),
    ]
    assert all(len(text) <= 8192 for text in texts)
    await page.send(type="read", request=1, anchor="end", direction="backward")
    assert (await page.until(type="page"))["lines"] == read
    await page.send(type="follow", cursor={})
    assert (await page.until(type="append"))["lines"] == read
    # from the middle of the long line: that line, and what follows
    await page.send(type="read", request=1, anchor={OUT: 10_000_000})
    assert (await page.until(type="page"))["lines"] == read[-3:]

    await page.send(type="search", request=2, pattern="after")
    assert [hit["text"] for hit in (await page.until(type="hits"))["hits"]] == [texts[2], "after all of it"]
    await page.send(type="search", request=3, pattern=r"\x1b\]|<script>", regex=True)
    hits = (await page.until(type="hits"))["hits"]
    assert [hit["text"] for hit in hits] == [texts[2], texts[3], texts[4], texts[7]]

    assert (await api("GET", "jobs", job.id, "logs", OUT)).body == data
    assert (await api("GET", "jobs", job.id, "logs", OUT, download="true")).body == data
    part = await api("GET", "jobs", job.id, "logs", OUT, offset=read[-3]["offset"], limit=1000)
    assert part.body == b"x" * 1000
    archive = zipfile.ZipFile(io.BytesIO((await api("GET", "jobs", job.id, "log-archive")).body))
    assert archive.read(f"train-1/{OUT}.log") == data


async def test_a_line_keeps_its_time(engine: FakeEngine, open_page, monkeypatch):
    """A followed line has the same time as when it is read later; a line without a time waits for it."""
    monkeypatch.setattr(sources, "SETTLING", 600.0)
    job = engine.put()
    log = engine.stream(job, OUT).write(b"zero\n", time=1000.0)
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    followed = (await page.until(type="append"))["lines"]
    for number in range(5):
        log.write(f"line {number}\n".encode())
        await page.send(type="read", request=1, anchor="end", direction="backward", lines=1)
        shown = (await page.until(type="page"))["lines"]
        assert [line["text"] for line in shown] == [f"line {number - 1}" if number else "zero"]
        log.write(b"", time=1001.0 + number)
        followed += await appended(page, 1)
    await page.send(type="read", request=2, anchor="start")
    assert (await page.until(type="page", request=2))["lines"] == followed
    assert [line["time"] for line in followed] == [1000.0, 1001.0, 1002.0, 1003.0, 1004.0, 1005.0]


async def test_what_nobody_gives_a_time_is_shown_all_the_same(engine: FakeEngine, open_page):
    """The supervisor of the job has died; later writes do not remove the line."""
    job = engine.put()
    log = engine.stream(job, OUT).write(b"last words\n")
    page = await open_page("jobs", job.id, "logs")
    await page.send(type="follow", cursor={})
    assert (await appended(page, 1))[0]["text"] == "last words"
    log.write(b"more\n")
    other = await open_page("jobs", job.id, "logs")
    await other.send(type="read", request=1, anchor="start")
    assert (await other.until(type="page"))["lines"][0]["text"] == "last words"
    assert (await appended(page, 1))[0]["text"] == "more"


async def test_no_stream_is_left_out_where_no_more_files_may_be_opened(engine: FakeEngine, open_page, api):
    job = engine.put()
    names = [f"worker-0.1.rank-{rank}.out" for rank in range(60)]
    for name in names:
        engine.stream(job, name).write(b"here\n", time=1.0)
    page = await open_page("jobs", job.id, "logs")
    await page.until(type="streams")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}  # noqa: ASYNC240
    some = next(number for number in itertools.count() if len(set(range(number)) - used) == 30)
    resource.setrlimit(resource.RLIMIT_NOFILE, (some, limits[1]))
    try:
        for request in ({"type": "read", "request": 1, "anchor": "start"}, {"type": "follow", "cursor": {}}):
            await page.send(**request)
            told = await page.receive()
            assert (told["type"], told.get("code")) == ("error", "TooManyFiles"), told
            assert told["message"].startswith("The log has 60 streams") and "ulimit -n" in told["hint"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    await page.send(type="read", request=2, anchor="start", lines=100)
    assert {line["stream"] for line in (await page.until(type="page"))["lines"]} == set(names)


async def test_a_download_says_which_log_can_not_be_read(engine: FakeEngine, api, monkeypatch):
    job = engine.put()
    for name in (OUT, ERR):
        engine.stream(job, name).write(b"here\n", time=1.0)
    plain = sources.open_log

    def open_log(path: Path, within: Path | None = None) -> int:
        if ERR in path.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return plain(path, within)

    monkeypatch.setattr(archive, "open_log", open_log)
    files = zipfile.ZipFile(io.BytesIO((await api("GET", "jobs", job.id, "log-archive")).body))
    assert files.read(f"{job.name}/{OUT}.log") == b"here\n"
    assert files.read(f"{job.name}/{ERR}.log") == b"[jupyterlab_t9kjob: this log can't be read: Input/output error]\n"
