"""WS stream: a snapshot, then deltas; details of the jobs that a page looks at; slow pages."""

from __future__ import annotations

import asyncio
import gc
import json
import time
import weakref
from contextvars import ContextVar
from types import SimpleNamespace

import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core import translation
from jupyterlab_t9kjob.core.engine.info import EngineInfo, Machine
from jupyterlab_t9kjob.core.errors import Unavailable
from jupyterlab_t9kjob.core.job import Reason
from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.jobs.feed import feed
from jupyterlab_t9kjob.jobs.feed import messages as feed_messages
from jupyterlab_t9kjob.jobs.feed.revision_table import KEPT_REMOVALS
from tests.server.conftest import Api, eventually
from tests.server.fakes import FakeEngine


async def test_snapshot_then_deltas(fakes: SimpleNamespace, open_page):
    old = fakes.engine.put("train-1", created_at=1.0)
    fakes.engine.put("train-2", created_at=2.0)
    fakes.tensorboards.put("tb")
    page = await open_page("stream")
    await page.send(type="subscribe")
    first = await page.receive()
    assert first["type"] == "snapshot"
    assert [job["name"] for job in first["jobs"]] == ["train-2", "train-1"]
    assert [board["id"] for board in first["tensorboards"]] == ["tb"]
    assert [engine["name"] for engine in first["engines"]] == ["local"]

    fakes.engine.change(old.uid, phase="Succeeded")
    delta = await page.receive()
    assert (delta["type"], [job["phase"] for job in delta["jobs"]]) == ("delta", ["Succeeded"])
    assert delta["revision"] > first["revision"]
    assert not delta["tensorboards"] and delta["engines"] is None

    fakes.tensorboards.put("tb", None)
    await fakes.engine.remove(old.uid)
    gone: dict[str, list[str]] = {"removed_jobs": [], "removed_tensorboards": []}
    while not all(gone.values()):
        delta = await page.receive()
        for key, found in gone.items():
            found += delta[key]
    assert gone == {"removed_jobs": [old.id], "removed_tensorboards": ["tb"]}


async def test_a_snapshot_of_many_jobs_comes_in_parts_the_newest_first(
    engine: FakeEngine, open_page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feed_messages, "PART", 2)
    for number in range(5):
        engine.put(f"train-{number}", created_at=float(number))
    page = await open_page("stream")
    await page.send(type="subscribe")
    parts = [await page.receive() for _ in range(3)]
    assert [part["type"] for part in parts] == ["snapshot", "delta", "delta"]
    assert [part["complete"] for part in parts] == [False, False, True]
    assert len({part["revision"] for part in parts}) == 1
    names = [[job["name"] for job in part["jobs"]] for part in parts]
    assert names == [["train-4", "train-3"], ["train-2", "train-1"], ["train-0"]]


async def test_free_memory_is_pushed_when_it_has_changed_by_much(
    engine: FakeEngine, open_page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feed, "ENGINES_INTERVAL", 0.05)
    plain = await engine.info()
    free = 1000

    async def info() -> EngineInfo:
        machine = Machine(hostname="vm", cpus=2, memory_total=1000, memory_available=free)
        return plain.model_copy(update={"machine": machine})

    monkeypatch.setattr(engine, "info", info)
    page = await open_page("stream")
    await page.send(type="subscribe")
    assert (await page.receive())["engines"][0]["machine"]["memory_available"] == 1000
    free = 990
    engine.put("marker")
    delta = await page.receive()
    assert delta["jobs"] and delta["engines"] is None
    free = 700
    assert (await page.receive())["engines"][0]["machine"]["memory_available"] == 700


async def test_engines_that_changed_while_nobody_looked_are_right_for_the_next_page(
    engine: FakeEngine, open_page, app: T9kJobApp, monkeypatch: pytest.MonkeyPatch
):
    published = (await app.services()).feed
    found = (await engine.info()).model_copy(update={"namespaces": ["found"]})

    async def info() -> EngineInfo:
        return found

    monkeypatch.setattr(engine, "info", info)
    published.read_engines_soon()
    page = await open_page("stream")
    await page.send(type="subscribe")
    assert (await page.receive())["engines"][0]["namespaces"] == ["found"]


async def test_engines_are_as_the_latest_look_has_found_them(
    engine: FakeEngine, app: T9kJobApp, monkeypatch: pytest.MonkeyPatch
):
    published = (await app.services()).feed
    plain = await engine.info()
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def info() -> EngineInfo:
        if not asked.is_set():
            asked.set()
            await go_on.wait()
            return plain
        return plain.model_copy(update={"namespaces": ["found"]})

    monkeypatch.setattr(engine, "info", info)
    monkeypatch.setattr(feed, "ENGINES_INTERVAL", -1.0)  # every page that comes has them looked at
    first = asyncio.create_task(published.attach(asyncio.Event()))
    await asked.wait()
    await published.attach(asyncio.Event())
    go_on.set()
    await first
    (message,) = published.messages(feed.View(jobs=False, tensorboards=False), None)
    assert json.loads(message)["engines"][0]["namespaces"] == ["found"]


async def test_capacity_goes_to_the_pages_that_ask_and_is_counted_only_for_them(
    fakes: SimpleNamespace, open_page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feed, "CAPACITY_INTERVAL", 0.01)
    plain = await open_page("stream")
    await plain.send(type="subscribe")
    assert (await plain.receive())["capacity"] is None
    assert (fakes.capacity.lookers, fakes.capacity.asked) == ([], 0)

    page = await open_page("stream")
    await page.send(type="subscribe", capacity=True)
    first = await page.receive()
    told = first["capacity"] or (await page.receive())["capacity"]
    assert (told["nodes"], len(fakes.capacity.lookers)) == (1, 1)

    fakes.capacity.put(nodes=2)
    delta = await page.receive()
    assert (delta["type"], delta["capacity"]["nodes"], delta["jobs"]) == ("delta", 2, [])
    asked = fakes.capacity.asked
    fakes.capacity.put(nodes=2)
    await eventually(lambda: fakes.capacity.asked > asked)
    fakes.engine.put("marker")  # had anything else been told, it would come before
    for each in (page, plain):
        delta = await each.receive()
        assert [job["name"] for job in delta["jobs"]] == ["marker"] and delta["capacity"] is None

    counted = time.time()
    await plain.send(type="subscribe", capacity=True)
    late = await plain.receive()
    assert (late["type"], late["capacity"]["nodes"], late["jobs"]) == ("delta", 2, [])
    assert late["capacity"]["time"] >= counted
    assert len(fakes.capacity.lookers) == 1

    await page.send(type="subscribe", capacity=False)
    plain.close()
    await eventually(lambda: not fakes.capacity.lookers)


async def test_the_first_page_is_not_kept_as_long_as_others_look_at_capacity(fakes: SimpleNamespace):
    from jupyterlab_t9kjob.jobs.engines import Engines
    from jupyterlab_t9kjob.jobs.service import JobService

    class Request:
        """Stands for all that a request of a page keeps."""

    request: ContextVar[Request] = ContextVar("request")
    published = feed.Feed(JobService(Engines({"local": fakes.engine})), fakes.tensorboards, fakes.capacity)
    await published.start()

    async def look() -> weakref.ref[Request]:
        request.set(Request())
        published.subscribe_to_capacity()
        return weakref.ref(request.get())

    try:
        kept = await asyncio.create_task(look())
        await eventually(lambda: fakes.capacity.lookers)
        await asyncio.sleep(0)  # until then the loop itself keeps what has just ended
        gc.collect()
        assert kept() is None
    finally:
        await published.stop()


async def test_capacity_that_is_not_of_now_says_of_when_it_is(
    fakes: SimpleNamespace, open_page, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(feed, "CAPACITY_INTERVAL", 0.01)
    page = await open_page("stream")
    await page.send(type="subscribe", capacity=True)
    told = (await page.receive())["capacity"] or (await page.receive())["capacity"]
    fakes.capacity.put(time=told["time"] - 5)
    assert (await page.receive())["capacity"]["time"] == told["time"] - 5
    other = await open_page("stream")
    await other.send(type="subscribe", capacity=True)
    assert (await other.receive())["capacity"]["time"] == told["time"] - 5


async def test_deleted_jobs_leave_the_list_when_they_have_ended(engine: FakeEngine, open_page):
    job = engine.put()
    engine.put("old", deleted=True)
    page = await open_page("stream")
    await page.send(type="subscribe")
    assert [shown["id"] for shown in (await page.receive())["jobs"]] == [job.id]
    engine.change(job.uid, deleted=True, pending_action="deleting")
    assert (await page.receive())["jobs"][0]["pending_action"] == "deleting"
    engine.change(job.uid, pending_action=None)
    assert (await page.receive())["removed_jobs"] == [job.id]


async def test_nothing_is_said_before_the_page_has_subscribed(engine: FakeEngine, open_page):
    page = await open_page("stream")
    engine.put()
    await page.send(type="subscribe", jobs=False)
    snapshot = await page.receive()
    assert snapshot["type"] == "snapshot" and snapshot["jobs"] == []


async def test_a_burst_is_one_delta(engine: FakeEngine, open_page):
    job = engine.put()
    page = await open_page("stream")
    await page.send(type="subscribe")
    await page.receive()
    for restarts in range(1, 501):
        engine.change(job.uid, restarts=restarts)
    messages = 0
    while True:
        messages += 1
        if (await page.receive())["jobs"][0]["restarts"] == 500:
            break
    assert messages <= 2


async def test_details(engine: FakeEngine, open_page):
    job, other = engine.put("train-1"), engine.put("train-2")
    page = await open_page("stream")
    await page.send(type="subscribe", details=[job.id, "local::gone:x"])
    assert (await page.receive())["type"] == "snapshot"
    detail, gone = await page.receive(), await page.receive()
    assert (detail["id"], detail["job"]["name"], detail["replicas"][0]["name"]) == (job.id, "train-1", "worker-0")
    assert (gone["id"], gone["job"]) == ("local::gone:x", None)

    engine.change(job.uid, phase="Failed")
    assert (await page.receive())["type"] == "delta"
    assert (await page.receive())["job"]["phase"] == "Failed"

    # another list of details brings those that are new, and no snapshot
    await page.send(type="subscribe", details=[job.id, other.id])
    detail = await page.receive()
    assert (detail["type"], detail["id"]) == ("job", other.id)

    await page.send(type="subscribe", details=[])
    engine.change(job.uid, phase="Running")
    assert (await page.receive())["type"] == "delta"
    await engine_removal(engine, job.uid)
    assert (await page.receive())["removed_jobs"] == [job.id]


async def test_a_detail_that_can_not_be_had_stops_nothing_else(engine: FakeEngine, open_page):
    job = engine.put()
    engine.refusal = Unavailable("The cluster can't be reached.")
    page = await open_page("stream")
    await page.send(type="subscribe", details=[job.id])
    assert (await page.receive())["type"] == "snapshot"
    assert (await page.receive())["message"] == "The cluster can't be reached."
    engine.change(job.uid, restarts=1)
    assert (await page.receive())["jobs"][0]["restarts"] == 1
    assert (await page.receive())["type"] == "error"
    engine.refusal = None
    again = await open_page("stream")
    await again.send(type="subscribe", details=[job.id])
    assert (await again.until(type="job"))["job"]["restarts"] == 1


async def engine_removal(engine: FakeEngine, uid: str) -> None:
    engine.known[uid] = engine.known[uid].model_copy(update={"phase": "Failed"})
    await engine.remove(uid)


async def test_a_job_that_goes_while_it_is_looked_at(engine: FakeEngine, open_page):
    job = engine.put(phase="Failed")
    page = await open_page("stream")
    await page.send(type="subscribe", details=[job.id])
    await page.until(type="job")
    await engine.remove(job.uid)
    assert (await page.until(type="job"))["job"] is None


async def test_many_pages_share_one_encoding(engine: FakeEngine, open_page, app: T9kJobApp, monkeypatch):
    job = engine.put()
    encoded = 0
    original = feed.Feed._deltas

    def count(self, *asked):
        nonlocal encoded
        encoded += 1
        return original(self, *asked)

    monkeypatch.setattr(feed.Feed, "_deltas", count)
    pages = [await open_page("stream") for _ in range(30)]
    for page in pages:
        await page.send(type="subscribe")
        assert (await page.receive())["type"] == "snapshot"
    encoded = 0
    engine.change(job.uid, restarts=1)
    for page in pages:
        assert (await page.receive())["jobs"][0]["restarts"] == 1
    assert encoded <= 2


async def test_a_page_in_another_language_gets_its_own_messages(
    fakes: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    """The feed alone: the language of all pages changes while encoded messages are kept."""
    from jupyterlab_t9kjob.jobs.engines import Engines
    from jupyterlab_t9kjob.jobs.service import JobService

    class German:
        def gettext(self, message: str, /) -> str:
            return f"[{message}]" if message else "Language: de"

        def ngettext(self, _singular: str, plural: str, _number: int, /) -> str:
            return f"[{plural}]"

    job = fakes.engine.put("train-1")
    fakes.engine.change(job.uid, reason=Reason(code="Started", sentence=_("Running")))
    published = feed.Feed(JobService(Engines({"local": fakes.engine})), fakes.tensorboards, fakes.capacity)
    await published.start()
    try:
        view = feed.View(jobs=True, tensorboards=True)
        (english,) = published.messages(view, None)
        assert '"sentence":"Running"' in english and '"sentence":"Running"' in await published.detail(job.id)
        monkeypatch.setattr(translation, "_current", German)
        (german,) = published.messages(view, None)
        assert '"sentence":"[Running]"' in german and '"sentence":"[Running]"' in await published.detail(job.id)
    finally:
        await published.stop()


async def test_a_page_that_was_away_gets_what_it_missed_at_once(fakes: SimpleNamespace):
    """The feed alone: a page at an old revision gets one delta, or a snapshot if too much has gone since."""
    from jupyterlab_t9kjob.jobs.engines import Engines
    from jupyterlab_t9kjob.jobs.service import JobService

    jobs = JobService(Engines({"local": fakes.engine}))
    view = feed.View(jobs=True, tensorboards=True)
    published = feed.Feed(jobs, fakes.tensorboards, fakes.capacity)
    await published.start()
    try:
        old = published.revision
        job = fakes.engine.put("train-1")
        news = asyncio.Event()
        await published.attach(news)
        await news.wait()
        fakes.engine.change(job.uid, phase="Failed")
        news.clear()
        await news.wait()
        (delta,) = published.messages(view, old)
        assert '"type":"delta"' in delta
        assert not list(published.messages(view, published.revision))
        for number in range(KEPT_REMOVALS + 2):
            published._note_job(f"local::x:{number}", None)
        news.clear()
        await news.wait()
        (snapshot,) = published.messages(view, old)
        assert '"type":"snapshot"' in snapshot
    finally:
        await published.stop()


@pytest.mark.parametrize(
    "message", ["", "x", "[]", '{"type":"unknown"}', '{"type":"subscribe","details":[1]}', b"\xff"]
)
async def test_bad_messages_are_answered_and_the_socket_lives(engine: FakeEngine, open_page, message):
    page = await open_page("stream")
    await page.send_raw(message)
    answer = await page.receive()
    assert answer["type"] == "error" and answer["message"]
    await page.send(type="subscribe")
    assert (await page.receive())["type"] == "snapshot"


async def test_a_message_that_is_too_long_closes_the_socket(engine: FakeEngine, open_page):
    page = await open_page("stream")
    await page.send_raw("x" * 1_000_000)
    assert await page.receive() is None


async def test_nothing_is_left_when_pages_go(engine: FakeEngine, open_page, app: T9kJobApp):
    page = await open_page("stream")
    await page.send(type="subscribe")
    await page.receive()
    services = await app.services()
    assert len(services.feed._watchers) == 1 and len(app.sockets) == 1
    page.close()
    await eventually(lambda: not app.sockets and not services.feed._watchers)


async def test_a_plain_request_is_told_that_this_is_a_socket(engine: FakeEngine, api: Api):
    answer = await api("GET", "stream")
    assert (answer.status, answer.json["code"]) == (400, "NotAWebSocket")
