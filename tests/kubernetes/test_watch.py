"""A collection that is followed through everything that may happen to a watch."""

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio

from jupyterlab_t9kjob.engines.kubernetes.client import api as transport
from jupyterlab_t9kjob.engines.kubernetes.client import list_parser
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.watch import backoff, informer, probe
from jupyterlab_t9kjob.engines.kubernetes.client.watch.informer import Informer
from tests.kubernetes.fakeapi import PODS, Act, Call, FakeApi, cut, hang, pod, refuse
from tests.kubernetes.test_transport import connect
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

Json = dict[str, Any]


class Follower:
    """A collection, and all that it tells."""

    def __init__(self, api: KubeApi, **more: Any) -> None:
        self.api = api
        self.changes: list[tuple[str | None, str | None]] = []
        self.states: list[float | None] = []
        self.news = asyncio.Event()
        self.collection = Informer(api, PODS, self._changed, state_changed=self._state_changed, **more)

    def _changed(self, before: Json | None, after: Json | None) -> None:
        self.changes.append((_name(before), _name(after)))
        self.news.set()

    def _state_changed(self) -> None:
        if self.collection.stale_since != (self.states[-1] if self.states else None):
            self.states.append(self.collection.stale_since)
        self.news.set()

    @property
    def names(self) -> list[str]:
        return sorted(item["metadata"]["name"] for item in self.collection.objects.values())

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self.news.clear()
            await self.news.wait()

    async def has(self, *names: str) -> None:
        await self.until(lambda: self.names == sorted(names))


def _name(item: Json | None) -> str | None:
    return item["metadata"]["name"] if item else None


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "FIRST_DELAY", 0.02)
    monkeypatch.setattr(informer, "LONGEST_DELAY", 0.2)
    monkeypatch.setattr(informer, "INSTANT_SECONDS", 0.3)
    monkeypatch.setattr(informer, "SPREAD_SECONDS", 0.2)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        await server.put("a")
        await server.put("b")
        yield server


@pytest_asyncio.fixture
async def follower(server: FakeApi) -> AsyncIterator[Follower]:
    api = KubeApi(connect(server))
    follower = Follower(api)
    yield follower
    await follower.collection.stop()
    await api.close()


async def stands(server: FakeApi, follower: Follower) -> None:
    follower.collection.start()
    await follower.collection.listed()
    await server.watched()


async def test_a_list_and_its_changes(server: FakeApi, follower: Follower) -> None:
    await stands(server, follower)
    assert follower.changes == [(None, "a"), (None, "b")]
    assert follower.collection.complete
    await server.put("c")
    await server.put("a", labels={"x": "y"})
    await server.remove("b")
    await follower.has("a", "c")
    assert follower.changes[2:] == [(None, "c"), ("a", "a"), ("b", None)]
    assert follower.collection.objects["uid-a"]["metadata"]["labels"] == {"x": "y"}
    # what nobody looks at is not kept
    assert not any("managedFields" in item["metadata"] for item in follower.collection.objects.values())
    assert (follower.states, follower.collection.stale_since, follower.collection.error) == ([], None, None)
    assert [request.kind for request in server.requests] == ["list", "watch"]
    assert server.requests[1].query["allowWatchBookmarks"] == "true"
    assert informer.WATCH_SECONDS[0] <= int(server.requests[1].query["timeoutSeconds"]) <= informer.WATCH_SECONDS[1]


async def test_a_watch_that_breaks_goes_on_where_it_was(server: FakeApi, follower: Follower) -> None:
    await stands(server, follower)
    await server.put("c")
    await follower.has("a", "b", "c")
    version = str(server.version)
    server.cut_watches()
    await server.put("d")
    await follower.has("a", "b", "c", "d")
    assert [request.kind for request in server.requests] == ["list", "watch", "watch"]
    assert server.requests[-1].query["resourceVersion"] == version
    assert follower.changes == [(None, name) for name in "abcd"]
    assert follower.states == []


async def test_a_bookmark_is_where_a_watch_goes_on(server: FakeApi, follower: Follower) -> None:
    await stands(server, follower)
    await server.bookmark()
    version = str(server.version)
    await server.put("c")
    await follower.has("a", "b", "c")
    await server.bookmark()
    bookmarked = str(server.version)
    assert bookmarked > version
    # the bookmark has no news of its own, so it is awaited by what comes after
    await server.put("c", again=True)
    await follower.until(lambda: follower.changes[-1] == ("c", "c"))
    server.cut_watches()
    await server.put("d")
    await follower.has("a", "b", "c", "d")
    assert int(server.of("watch")[-1].query["resourceVersion"]) > int(bookmarked)
    assert len(server.of("list")) == 1


async def end(call: Call) -> None:
    await call.begin()
    await call.end()


async def gone_in_stream(call: Call) -> None:
    await call.begin()
    await call.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
    await call.end()


@pytest.mark.parametrize("gone", [gone_in_stream, refuse(410, "Expired")])
async def test_a_history_that_is_gone_is_made_up_for_by_a_list(gone: Act, server: FakeApi, follower: Follower) -> None:
    """Also what was deleted and what was changed meanwhile is told, and nothing twice."""
    await stands(server, follower)
    server.faults.append(("watch", gone))
    server.cut_watches()
    await server.remove("a")
    await server.put("b", labels={"new": "yes"})
    await server.put("c")
    await server.forget()
    await follower.has("b", "c")
    await server.put("d")
    await follower.has("b", "c", "d")
    # what is gone is known when all of the list is
    assert follower.changes == [(None, "a"), (None, "b"), ("b", "b"), (None, "c"), ("a", None), (None, "d")]
    assert [request.kind for request in server.requests[:5]] == ["list", "watch", "watch", "list", "watch"]
    assert follower.states == []


async def test_a_watch_that_ends_at_once_again_and_again_is_made_up_for_by_a_list(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kubernetes#137089: watches of a version that is lost end without 410."""
    monkeypatch.setattr(informer, "INSTANT_SECONDS", 60.0)  # at once, however slow this machine is
    server.faults += [("watch", end)] * 3
    follower.collection.start()
    await server.watched()
    assert [request.kind for request in server.requests] == ["list", "watch", "watch", "watch", "list", "watch"]
    await server.put("c")
    await follower.has("a", "b", "c")


async def test_a_watch_that_flaps_for_ever_is_no_storm(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer, "LONGEST_DELAY", 0.5)

    async def bookmark_and_end(call: Call) -> None:
        server.faults.append(("watch", bookmark_and_end))
        await call.begin()
        await call.event("BOOKMARK", {"metadata": {"resourceVersion": "3"}})
        await call.end()

    server.faults.append(("watch", bookmark_and_end))
    begun = time.monotonic()
    follower.collection.start()
    await server.asked("watch", 8)
    # doubling delays from 0.02 to 0.5 s, at least half of each
    assert time.monotonic() - begun >= (0.02 + 0.04 + 0.08 + 0.16 + 0.32 + 0.5 + 0.5) / 2
    server.faults.clear()
    await server.put("c")
    await follower.has("a", "b", "c")


FAULTS = {
    "cut": cut,
    "forbidden": refuse(403, "Forbidden", "may not list pods"),
    "not there": refuse(404, "NotFound", "no such kind"),
    "text": lambda call: call.answer(404, "404 page not found"),
    "broken": refuse(500, "InternalError", "boom"),
    "busy": refuse(429, "TooManyRequests", "slow down"),
    "HTML": lambda call: call.answer(200, "<html>"),
    "no list": lambda call: call.answer(200, {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {}}]}),
    "nonsense": lambda call: call.answer(200, {"metadata": {"resourceVersion": "1"}, "items": [3]}),
}


@pytest.mark.parametrize(
    ("kind", "case"),
    [*(("list", case) for case in FAULTS), *(("watch", case) for case in list(FAULTS)[:6])],
)
async def test_what_fails_is_told_and_tried_again(
    kind: str, case: str, server: FakeApi, follower: Follower, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults += [(kind, FAULTS[case])] * 4
    begun = time.time()
    follower.collection.start()
    await follower.collection.listed()
    await follower.until(lambda: follower.states)
    assert follower.collection.stale_since is not None
    assert abs(follower.collection.stale_since - begun) < 30
    assert isinstance(follower.collection.error, ApiError if case in ("forbidden", "not there") else Exception)
    await server.watched()
    await follower.until(lambda: follower.collection.stale_since is None)
    assert follower.collection.error is None
    await server.put("c")
    await follower.has("a", "b", "c")
    # one line, however often it fails
    assert sum("Watching" in record.message and record.levelname == "WARNING" for record in caplog.records) <= 1


async def test_it_is_stale_since_the_cluster_was_last_heard_of(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer, "SILENCE_SECONDS", 3.0)
    await stands(server, follower)
    before = time.time()
    await server.put("c")
    await follower.has("a", "b", "c")
    heard = time.time()
    server.faults += [("any", cut)] * 3
    await follower.until(lambda: follower.states)
    # the silence of some seconds was no news; what then failed shows that it was not heard of since
    assert follower.states[0] is not None
    assert before - 1.0 <= follower.states[0] <= heard + 1.0
    assert time.time() - before >= 3.0
    await follower.until(lambda: follower.states[-1] is None)


async def test_silence_alone_is_no_failure(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are API servers without bookmarks, and collections in which nothing happens."""
    monkeypatch.setattr(informer, "SILENCE_SECONDS", 0.5)
    await stands(server, follower)
    await server.asked("watch", 2)
    await server.put("c")
    await follower.has("a", "b", "c")
    assert len(server.of("list")) == 1
    assert follower.states == []


async def begin_and_hang(call: Call) -> None:
    await call.begin()
    await asyncio.Event().wait()


async def test_where_no_watch_comes_through_the_list_is_taken_again(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy buffers each answer until its end."""
    monkeypatch.setattr(informer, "SILENCE_SECONDS", 0.3)
    server.faults += [("watch", begin_and_hang)] * 4
    follower.collection.start()
    await follower.has("a", "b")
    await server.put("c")
    await server.remove("a")
    await follower.has("b", "c")
    assert follower.states == []


async def test_a_list_that_answers_410_is_told(server: FakeApi, follower: Follower) -> None:
    server.faults += [("list", refuse(410, "Expired", "it is gone"))] * 3
    follower.collection.start()
    await follower.until(lambda: follower.states)
    await follower.until(lambda: follower.collection.error is None)
    assert follower.names == ["a", "b"]


async def test_a_server_that_hangs_is_left(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "ANSWER_SECONDS", 5.0)
    server.faults += [("list", hang), ("watch", hang)]
    follower.collection.start()
    await follower.has("a", "b")
    await server.watched()
    assert [request.kind for request in server.requests] == ["list", "list", "watch", "watch"]
    assert isinstance(follower.states[0], float)
    await follower.until(lambda: follower.collection.error is None)


async def test_a_kind_that_comes_and_goes(server: FakeApi, follower: Follower) -> None:
    """Its objects stay: that a kind is gone, and does not only seem to be, is for discovery to tell."""
    missing = refuse(404, "NotFound", "the server could not find the requested resource")
    server.faults += [("list", missing)] * 2
    follower.collection.start()
    await follower.has("a", "b")
    await server.watched()
    follower.changes.clear()

    server.faults += [("watch", missing), *[("list", missing)] * 3]
    server.cut_watches()
    await follower.until(lambda: isinstance(follower.collection.error, ApiError))
    assert not follower.collection.complete
    await follower.until(lambda: follower.collection.error is None)
    assert follower.changes == []


async def test_a_right_that_comes_later(server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal waits longer and longer, but not for one who asks again."""
    monkeypatch.setattr(backoff, "FIRST_DELAY", 600.0)
    monkeypatch.setattr(informer, "LONGEST_DELAY", 600.0)
    server.faults.append(("list", refuse(403, "Forbidden", "may not list pods")))
    follower.collection.start()
    await follower.collection.listed()
    error = follower.collection.error
    assert isinstance(error, ApiError)
    assert error.message == "may not list pods"
    assert not follower.collection.complete
    assert follower.collection.objects == {}
    follower.collection.retry()
    await follower.has("a", "b")
    await follower.until(lambda: follower.collection.complete)


@pytest.mark.parametrize("outage", [[cut, cut], [refuse(503, "ServiceUnavailable")], [refuse(401, "Unauthorized")]])
async def test_a_right_that_is_missing_is_missing_during_an_outage_too(
    outage: list[Act], server: FakeApi, follower: Follower
) -> None:
    seen: list[ApiError | Unreachable | None] = []

    async def see(call: Call) -> None:
        seen.append(follower.collection.error)
        await refuse(403, "Forbidden", "still not")(call)

    server.faults += [("list", act) for act in [refuse(403, "Forbidden", "may not list pods"), *outage, see]]
    follower.collection.start()
    await follower.collection.listed()
    assert follower.collection.denied
    await follower.has("a", "b")
    assert [str(error) for error in seen] == ["403 Forbidden: may not list pods"]
    await follower.until(lambda: follower.collection.complete)
    assert follower.collection.error is None


async def test_who_asks_again_while_it_is_tried_is_not_forgotten(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "FIRST_DELAY", 600.0)

    async def slow_refusal(call: Call) -> None:
        follower.collection.retry()
        await asyncio.sleep(0.1)
        await refuse(403, "Forbidden")(call)

    server.faults.append(("list", slow_refusal))
    follower.collection.start()
    await follower.has("a", "b")


async def test_a_busy_server_is_left_alone_as_long_as_it_says(server: FakeApi, follower: Follower) -> None:
    busy = refuse(500, "ServerTimeout", "try later", Retry_After="1")
    server.faults.append(("list", busy))
    begun = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(informer, "LONGEST_DELAY", 1.0)
        follower.collection.start()
        await follower.has("a", "b")
    assert time.monotonic() - begun >= 1.0


async def test_a_server_that_restarts(server: FakeApi, follower: Follower) -> None:
    await stands(server, follower)
    await server.stop()
    await follower.until(lambda: isinstance(follower.collection.error, Unreachable))
    assert "Connection refused" in str(follower.collection.error)
    assert not follower.collection.complete
    assert follower.names == ["a", "b"]
    await server.put("c")
    await server.remove("a")
    await server.start()
    await follower.has("b", "c")
    await follower.until(lambda: follower.collection.error is None)


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON\n",
        b"[1]\n",
        b'{"type":"ADDED"}\n',
        b'{"type":"ADDED","object":{"metadata":{}}}\n',
        b'{"type":"ADDED","object":null}\n',
        b"[" * 100_000 + b"\n",
    ],
)
async def test_nonsense_in_a_watch_is_left_behind(line: bytes, server: FakeApi, follower: Follower) -> None:
    async def nonsense(call: Call) -> None:
        await call.begin()
        await call.chunk(line)
        await call.end()

    server.faults.append(("watch", nonsense))
    follower.collection.start()
    await follower.until(lambda: follower.states)
    assert "not understood" in str(follower.collection.error)
    await server.watched()
    await server.put("c")
    await follower.has("a", "b", "c")


async def test_an_event_that_comes_in_pieces_and_one_that_is_cut(server: FakeApi, follower: Follower) -> None:
    event = json.dumps({"type": "ADDED", "object": pod("c", 4, text="\u2028\r é")}).encode() + b"\n"

    async def pieces(call: Call) -> None:
        await call.begin()
        for byte in event:
            await call.chunk(bytes([byte]))
        await call.chunk(b'{"type":"ADDED","object":{"metadata":{"name":"half')
        call.writer.close()  # unlike a cut, this loses nothing of what was sent

    server.faults.append(("watch", pieces))
    follower.collection.start()
    await follower.has("a", "b", "c")
    await server.watched()
    assert server.of("watch")[-1].query["resourceVersion"] == "4"
    assert follower.states == []


async def test_a_listener_that_fails_is_told_of_the_next_change(server: FakeApi) -> None:
    api = KubeApi(connect(server))
    told: list[str | None] = []
    news = asyncio.Event()

    def changed(before: Json | None, after: Json | None) -> None:
        told.append(_name(after))
        news.set()
        if _name(after) == "b":
            raise KeyError("of the listener")

    collection = Informer(api, PODS, changed)
    collection.start()
    await server.watched()
    await server.put("c")
    while told != ["a", "b", "c"]:
        news.clear()
        await news.wait()
    assert len(server.of("list")) == 1
    await collection.stop()
    await api.close()


async def test_a_list_that_breaks_off_once_is_no_outage(server: FakeApi, follower: Follower) -> None:
    server.objects = {"a": pod("a")}
    server.faults.append(("list", cut))
    follower.collection.start()
    await follower.collection.listed()
    assert follower.collection.known
    assert (follower.collection.error, follower.collection.stale_since) == (None, None)


async def test_a_long_list_lets_others_work(server: FakeApi, follower: Follower) -> None:
    """Also one that comes at once, for it was packed well."""
    items = [pod(f"p{number}", number) for number in range(3000)]
    whole = json.dumps({"kind": "PodList", "items": items, "metadata": {"resourceVersion": "3000"}}).encode()
    server.faults.append(("list", lambda call: call.answer(200, gzip.compress(whole), Content_Encoding="gzip")))
    server.version = 3000
    at: list[int] = []

    async def somebody_else() -> None:
        while True:
            await asyncio.sleep(0)
            at.append(len(follower.changes))

    other = asyncio.create_task(somebody_else())
    follower.collection.start()
    await follower.collection.listed()
    other.cancel()
    assert len(follower.changes) == 3000
    at_once = list_parser.TURN_BYTES // len(json.dumps(pod("p0", 0))) + 2
    assert max(later - earlier for earlier, later in pairwise(at)) <= at_once < 3000


async def test_stopping_ends_everything_in_any_state(server: FakeApi) -> None:
    api = KubeApi(connect(server))
    before = asyncio.all_tasks()
    for faults in ([], [("list", hang)], [("watch", hang)], [("list", refuse(403))], [("watch", gone_in_stream)]):
        server.faults.clear()
        server.faults += faults
        follower = Follower(api)
        follower.collection.start()
        await asyncio.sleep(0.1)
        await asyncio.wait_for(follower.collection.stop(), PATIENCE)
        await follower.collection.stop()  # again is no error
    await api.close()
    assert not [task for task in asyncio.all_tasks() - before if task.get_name().startswith("watch ")]


async def test_stopping_ends_it_at_any_moment(server: FakeApi) -> None:
    """Before Python 3.12 `asyncio.wait_for` loses a cancellation that comes just when an answer does."""
    api = KubeApi(connect(server))
    for turns in range(300):
        collection = Informer(api, PODS, lambda before, after: None)
        collection.start()
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.wait({stop := asyncio.create_task(collection.stop())}, timeout=PATIENCE)
        assert stop.done(), f"after {turns} turns of the loop"
    await api.close()


async def test_one_list_and_one_watch_for_everybody(server: FakeApi, follower: Follower) -> None:
    await stands(server, follower)
    for number in range(50):
        await server.put(f"p{number}")
    await follower.until(lambda: len(follower.names) == 52)
    assert len(server.requests) == 2


# -- probes: while a page is open a stream that has fallen silent is told from a quiet one ----------------------------


@pytest.fixture
def page(follower: Follower, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open a page, and let time pass more quickly; a server that answers may take its time."""
    monkeypatch.setattr(informer, "PROBE_SECONDS", 0.3)
    monkeypatch.setattr(informer, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(probe, "ANSWER_SECONDS", 30.0)
    follower.api.attended.set()


def probes(server: FakeApi) -> list[str]:
    """Return the kinds of requests that were probes."""
    is_probe = {"list": lambda query: "fieldSelector" in query, "watch": lambda query: query["timeoutSeconds"] == "1"}
    return [each.kind for each in server.requests if is_probe[each.kind](each.query)]


async def test_a_stream_that_falls_silent_is_found_while_a_page_is_open(
    page: None, server: FakeApi, follower: Follower
) -> None:
    await stands(server, follower)
    version = str(server.version)
    server.fall_silent()
    await server.remove("a")
    await server.put("c")
    await follower.has("b", "c")
    await follower.until(lambda: follower.states[-1] is None)
    # it was said that the state was old; the watch went on from where it was, without a list
    assert isinstance(follower.states[0], float)
    assert [request.kind for request in server.requests if "fieldSelector" not in request.query] == [
        "list", "watch", "watch", "watch",
    ]  # fmt: skip
    assert server.of("watch")[-1].query["resourceVersion"] == version
    assert server.of("watch")[-1].query["timeoutSeconds"] != "1"
    assert follower.collection.error is None


async def test_a_quiet_stream_is_proved_right_by_the_smallest_list(
    page: None, server: FakeApi, follower: Follower
) -> None:
    await stands(server, follower)
    await server.asked("list", 5)
    assert set(probes(server)) == {"list"}
    assert server.of("list")[-1].query == {"resourceVersion": "0", "fieldSelector": "metadata.name=t9kjob-probe"}
    assert len(server.watches) == 1
    assert follower.states == []


async def test_changes_elsewhere_move_the_version_and_are_no_silence(
    page: None, server: FakeApi, follower: Follower
) -> None:
    """A collection's version is that of all namespaces; a second watch tells whether this one has changed."""
    await stands(server, follower)
    server.version += 10  # as at a change in another namespace
    await server.asked("watch", 2)
    await server.asked("list", len(server.of("list")) + 3)
    # that version was looked into once
    assert probes(server).count("watch") == 1
    assert follower.states == []
    await server.put("c")
    await follower.has("a", "b", "c")
    assert len(server.of("watch")) == 2


async def test_no_page_no_probe(page: None, server: FakeApi, follower: Follower) -> None:
    follower.api.attended.clear()
    await stands(server, follower)
    await asyncio.sleep(1.0)
    assert probes(server) == []


async def test_where_the_network_lets_no_watch_through_the_list_is_taken(
    page: None, server: FakeApi, follower: Follower
) -> None:
    await stands(server, follower)
    server.fall_silent()
    server.faults += [("watch", hang)]
    await server.put("c")
    await follower.has("a", "b", "c")
    assert server.of("list")[-1].query == {}
    await follower.until(lambda: follower.states[-1] is None)


async def test_a_cluster_that_answers_no_probe_is_said_to_be_silent(
    page: None, server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stands(server, follower)
    with monkeypatch.context() as impatient:
        impatient.setattr(probe, "ANSWER_SECONDS", 0.5)
        server.faults += [("list", hang)] * 2
        await follower.until(lambda: follower.states)
    assert "does not answer in time" in str(follower.collection.error)
    assert not follower.collection.complete
    # the next probe is answered: the stream was well all the time
    await follower.until(lambda: follower.states[-1] is None)
    assert len(server.of("watch")) == 1


async def test_connections_that_are_kept_for_the_next_request_may_be_dead_too(
    page: None, server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first request without an answer makes the client leave them; the next one finds the silent stream."""
    follower.api.attended.clear()
    await stands(server, follower)
    await asyncio.gather(*(follower.api.get("/version") for _ in range(5)))
    server.freeze()
    monkeypatch.setattr(probe, "ANSWER_SECONDS", 2.0)
    follower.api.attended.set()
    await server.put("c")
    await server.remove("a")
    begun = time.monotonic()
    await follower.has("b", "c")
    assert time.monotonic() - begun < 4 * probe.ANSWER_SECONDS + 2 * informer.PROBE_SECONDS
    await follower.until(lambda: follower.states[-1] is None)


@pytest.mark.parametrize("answer", [refuse(429, "TooManyRequests", Retry_After="1"), refuse(403, "Forbidden")])
async def test_a_probe_that_is_refused_proves_nothing(
    answer: Act, page: None, server: FakeApi, follower: Follower
) -> None:
    await stands(server, follower)
    server.faults += [("list", answer)] * 3
    await server.asked("list", 5)
    assert follower.states == []
    assert len(server.of("watch")) == 1


async def test_a_silent_stream_whose_history_is_gone(page: None, server: FakeApi, follower: Follower) -> None:
    """A load balancer keeps the connections to an API server that was restarted."""
    await stands(server, follower)
    server.fall_silent()
    await server.remove("a")
    await server.forget()
    await follower.has("b")
    await follower.until(lambda: follower.states[-1] is None)


# -- lists are asked for as seldom, and as cheaply, as possible -------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_after_a_gateways_error_a_watch_goes_on_without_a_list(
    status: int, server: FakeApi, follower: Follower
) -> None:
    await stands(server, follower)
    version = str(server.version)
    html = "<html>Bad Gateway</html>"
    server.faults += [("watch", lambda call: call.answer(status, html, Content_Type="text/html"))] * 3
    server.cut_watches()
    await follower.until(lambda: follower.states)
    await server.put("c")
    await follower.has("a", "b", "c")
    assert len(server.of("list")) == 1
    assert server.of("watch")[-1].query["resourceVersion"] == version


async def test_a_version_that_a_server_only_knows_to_fail_on_is_left(
    server: FakeApi, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer, "MOST_BROKEN", 2)
    await stands(server, follower)
    server.faults += [("watch", refuse(500, "InternalError", "required revision has been compacted"))] * 2
    server.cut_watches()
    await server.put("c")
    await follower.has("a", "b", "c")
    assert len(server.of("list")) == 2


@pytest_asyncio.fixture
async def cached(server: FakeApi) -> AsyncIterator[Follower]:
    """Follow pods, whose list may come from the API server's cache."""
    api = KubeApi(connect(server))
    follower = Follower(api, from_cache=True)
    yield follower
    await follower.collection.stop()
    await api.close()


async def test_a_list_comes_from_the_cache_and_never_from_before_what_was_seen(
    server: FakeApi, cached: Follower
) -> None:
    await stands(server, cached)
    assert [request.query.get("resourceVersion") for request in server.of("list")] == ["0"]
    version = str(server.version)
    server.faults.append(("watch", gone_in_stream))
    server.cut_watches()
    await server.put("c")
    await cached.has("a", "b", "c")
    assert [request.query["resourceVersion"] for request in server.of("list")] == ["0", version]
    # a server that does not send lists as watches is asked once
    assert sum("sendInitialEvents" in request.query for request in server.requests) == 1
    assert cached.states == []


async def test_a_list_is_sent_as_a_watch_where_the_server_does_so(server: FakeApi, cached: Follower) -> None:
    server.streams_lists = True
    await stands(server, cached)
    assert cached.changes == [(None, "a"), (None, "b")]
    assert cached.collection.complete
    assert [request.kind for request in server.requests] == ["watch"]
    query = server.requests[0].query
    assert (query["sendInitialEvents"], query["resourceVersionMatch"]) == ("true", "NotOlderThan")
    assert query["resourceVersion"] == "0"
    version = str(server.version)
    server.faults.append(("watch", gone_in_stream))
    server.cut_watches()
    await server.remove("a")
    await server.put("c")
    await cached.has("b", "c")
    assert [request.kind for request in server.requests] == ["watch"] * 3
    assert server.requests[-1].query["resourceVersion"] == version
    assert cached.states == []


async def test_a_list_that_ends_in_the_middle_is_read_in_the_ordinary_way(server: FakeApi, cached: Follower) -> None:
    async def half(call: Call) -> None:
        await call.begin()
        await call.event("ADDED", server.objects["a"])
        await call.end()

    server.streams_lists = True
    server.faults.append(("watch", half))
    cached.collection.start()
    await cached.has("a", "b")
    await cached.until(lambda: cached.collection.complete)
    assert [request.kind for request in server.requests] == ["watch", "list", "watch"]
