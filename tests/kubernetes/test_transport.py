"""Requests to an API server that is busy, broken, hung, or none at all."""

import asyncio
import contextlib
import gzip
import json
import time
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyterlab_t9kjob.engines.kubernetes.client import api as transport
from jupyterlab_t9kjob.engines.kubernetes.client import list_parser
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, KubeApi, Unreachable, lines
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import Connection, NoCluster
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.tls import Tls
from jupyterlab_t9kjob.engines.kubernetes.reasons.api_refusals import refused
from tests.kubernetes.fakeapi import PODS, Act, Call, Certificates, FakeApi, cut, hang, pod, refuse
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


WITHOUT_TLS = Tls()  # which is slow to make: it has the system's authorities


def connect(fake: FakeApi, **more: Any) -> Connection:
    """Return a connection that nothing renews."""
    tls = Tls(authority=fake.certificates.ca_file.read_bytes()) if fake.certificates else WITHOUT_TLS
    values = {"namespace": "lab", "context": "lab", "tls": tls, "proxy": None, "headers": (), "expires_at": None}
    connection = Connection(**{**values, "server": fake.url, "renew": lambda: connection, **more})
    return connection


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeApi]:
    async with FakeApi() as server:
        yield server


@pytest_asyncio.fixture
async def api(server: FakeApi) -> AsyncIterator[KubeApi]:
    api = KubeApi(connect(server))
    yield api
    await api.close()


def shorten_patience(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(transport, "ANSWER_SECONDS", 0.5)
    patch.setattr(transport, "WHOLE_ANSWER_SECONDS", 1.0)


def text(status: int, content: str, **headers: str) -> Act:
    return lambda call: call.answer(status, content, Content_Type="text/plain", **headers)


async def reset_later(call: Call) -> None:
    """Answer half, then break off."""
    await call.send(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"kind":')
    call.cut()


async def drip(call: Call) -> None:
    """Answer a byte at a time, for ever."""
    await call.begin()
    with contextlib.suppress(ConnectionError):
        while True:
            await call.chunk(b" ")
            await asyncio.sleep(0.05)


async def half(call: Call) -> None:
    """Begin an error and never end it."""
    await call.send(b"HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n{")
    await asyncio.Event().wait()


async def nonsense(call: Call) -> None:
    await call.send(b"SSH-2.0-OpenSSH_9.2\r\n")
    call.writer.close()


async def bad_gzip(call: Call) -> None:
    await call.answer(200, b"not gzip", Content_Encoding="gzip")


NO_ANSWER = {
    "cut": (cut, r"can't be reached"),
    "cut in the middle": (reset_later, "can't be reached"),
    "hung": (hang, "does not answer in time"),
    "hung in an error": (half, "does not answer in time"),
    "a byte at a time": (drip, "does not answer in time"),
    "another protocol": (nonsense, "can't be reached"),
    "HTML": (text(200, "<html>Log in</html>"), "not a Kubernetes API"),
    "a list": (text(200, "[1]"), "not a Kubernetes API"),
    "nothing": (text(200, ""), "not a Kubernetes API"),
    "too deep": (text(200, "[" * 200_000), "not a Kubernetes API"),
    "not text": (lambda call: call.answer(200, b'{"\xff"'), "not a Kubernetes API"),
    "bad gzip": (bad_gzip, "can't be reached"),
    "a page to log in": (text(302, "", Location="https://login.example/?token=x"), "redirects to another address"),
}


BROKEN = ("cut", "cut in the middle", "another protocol")


@pytest.mark.parametrize("case", BROKEN)
async def test_what_breaks_off_is_asked_once_more_where_that_does_nothing(
    case: str, server: FakeApi, api: KubeApi
) -> None:
    server.faults.append(("other", NO_ANSWER[case][0]))
    assert await api.get("/version") == {"path": "/version"}
    server.faults.append(("other", NO_ANSWER[case][0]))
    with pytest.raises(Unreachable):
        await api.create("/version", {})


@pytest.mark.parametrize("case", NO_ANSWER)
async def test_what_is_no_answer_is_unreachable_in_words(
    case: str, server: FakeApi, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    act, words = NO_ANSWER[case]
    server.faults += [("other", act)] * (2 if case in BROKEN else 1)
    with monkeypatch.context() as patch:
        if words == "does not answer in time":  # any other answer may take its time
            shorten_patience(patch)
        with pytest.raises(Unreachable, match=words) as caught:
            await api.get("/version")
    assert f"127.0.0.1:{server.port}" in str(caught.value)
    assert "token" not in str(caught.value)
    # the next request is as if nothing had been
    assert await api.get("/version") == {"path": "/version"}


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("http://127.0.0.1:1", r"The cluster at 127\.0\.0\.1:1 can't be reached: Connection refused\."),
        (
            "https://no-such-host.invalid",
            r"The address of the cluster at no-such-host\.invalid can't be found: .*(not known|resolution|address)",
        ),
    ],
)
async def test_a_server_that_is_not_there(host: str, words: str, server: FakeApi) -> None:
    api = KubeApi(connect(server, server=host))
    with pytest.raises(Unreachable, match=words):
        await api.get("/version")
    await api.close()


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", r"No secure connection to the cluster at \S+ can be made: \w+ \w+"),
        (b"", r"can't be reached: (The connection was closed|Connection reset by peer)\."),
    ],
)
async def test_a_server_without_a_secure_connection(says: bytes, words: str, server: FakeApi) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        api = KubeApi(connect(server, server=f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}"))
        with pytest.raises(Unreachable, match=words):
            await api.get("/version")
        await api.close()


async def test_a_header_that_cannot_be_sent_is_not_quoted(server: FakeApi) -> None:
    api = KubeApi(connect(server, headers=(("authorization", "Bearer s3cret\nx: y"),)))
    with pytest.raises(Unreachable) as caught:
        await api.get("/version")
    assert "s3cret" not in str(caught.value)
    await api.close()


async def test_a_refusal_is_taken_apart(server: FakeApi, api: KubeApi) -> None:
    body = {
        "reason": "Invalid",
        "message": "it is invalid",
        "details": {"causes": [{"field": "spec.x", "message": "Required"}, "nonsense"], "retryAfterSeconds": 7},
    }
    server.faults.append(("other", lambda call: call.answer(422, body)))
    with pytest.raises(ApiError) as caught:
        await api.create("/api/v1/things", {"kind": "Thing"}, {"dryRun": "All"})
    error = caught.value
    assert (error.status, error.reason, error.message) == (422, "Invalid", "it is invalid")
    assert error.causes == [("spec.x", "Required")]
    assert error.retry_after == 7
    assert server.requests[-1].query == {"dryRun": "All"}
    assert json.loads(server.requests[-1].body) == {"kind": "Thing"}


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (text(404, "404 page not found\n"), "404 page not found"),
        (text(502, "<html><h1>Bad gateway</h1>"), "HTTP 502 Refused"),
        (text(500, ""), "HTTP 500"),
        (text(500, "[1]"), "[1]"),
        (text(500, '{"message": null, "details": 3, "reason": {}}'), "HTTP 500"),
        (text(500, '{"message": "x", "details": {"causes": 1, "retryAfterSeconds": "soon"}}'), "x"),
        (text(500, "long " * 1_000_000), ("long " * 1000)[:4096]),
        (lambda call: call.answer(500, b"\xff\xfe"), "��"),
    ],
)
async def test_an_error_need_not_be_json(act: Act, message: str, server: FakeApi, api: KubeApi) -> None:
    server.faults.append(("other", act))
    with pytest.raises(ApiError) as caught:
        await api.get("/apis/x/y")
    assert caught.value.message == message
    assert caught.value.causes == []
    assert caught.value.retry_after is None
    server.faults.append(("other", act))
    with pytest.raises(ApiError):
        async with api.stream("/apis/x/y"):
            pass


@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_server_is_asked_again_when_it_says(status: int, server: FakeApi, api: KubeApi) -> None:
    busy = refuse(status, "TooManyRequests", "slow down", Retry_After="1")
    server.faults += [("other", busy), ("other", busy)]
    begun = time.monotonic()
    await api.create("/api/v1/things", {"kind": "Thing"})
    assert time.monotonic() - begun >= 2.0
    assert [json.loads(request.body) for request in server.requests] == [{"kind": "Thing"}] * 3


@pytest.mark.parametrize("after", [{}, {"Retry_After": "3600"}, {"Retry_After": "Fri, 31 Dec 2027 23:59:59 GMT"}])
async def test_a_server_that_is_busy_for_long_is_not_waited_for(
    after: dict[str, str], server: FakeApi, api: KubeApi
) -> None:
    server.faults.append(("other", refuse(429, "TooManyRequests", "slow down", **after)))
    with pytest.raises(ApiError, match="slow down"):
        await api.get("/version")
    assert len(server.requests) == 1


async def test_a_server_that_is_busy_for_no_time_is_not_pressed(
    server: FakeApi, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "PATIENCE_SECONDS", 0.55)
    server.faults += [("other", refuse(429, "TooManyRequests", "slow down", Retry_After="0"))] * 20
    begun = time.monotonic()
    with pytest.raises(ApiError, match="slow down"):
        await api.get("/version")
    assert time.monotonic() - begun >= 0.1 * (len(server.requests) - 1)


@pytest.mark.parametrize(
    ("act", "seconds"),
    [
        (refuse(429, "", "slow down", Retry_After="86400"), 3600),
        (refuse(429, "", "slow down", Retry_After="9" * 400), None),
        (refuse(429, "", "slow down", Retry_After="²"), None),
        (text(500, json.dumps({"message": "slow down", "details": {"retryAfterSeconds": 10**400}})), 3600),
    ],
)
async def test_no_server_says_when_to_come_back_that_is_never(
    act: Act, seconds: float | None, server: FakeApi, api: KubeApi
) -> None:
    server.faults.append(("other", act))
    with pytest.raises(ApiError, match="slow down") as caught:
        await api.get("/version")
    assert caught.value.retry_after == seconds
    assert "slow down" in (refused(caught.value).verbatim or "")


async def test_a_huge_answer_is_not_read(server: FakeApi, api: KubeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LARGEST_ANSWER", 1 << 20)
    bomb = gzip.compress(b" " * (64 << 20))
    server.faults += [
        ("other", lambda call: call.answer(200, b" " * (3 << 20))),
        ("other", lambda call: call.answer(200, bomb, Content_Encoding="gzip")),
    ]
    for _ in range(2):
        with pytest.raises(Unreachable, match="more than 1 MiB"):
            await api.get("/version")


# -- lists ------------------------------------------------------------------------------------------------------------


async def test_a_list_is_whole(server: FakeApi, api: KubeApi) -> None:
    server.objects = {f"p{number}": pod(f"p{number}") for number in range(1234)}
    items, version = await api.list(PODS, {"labelSelector": "a=b"})
    assert [item["metadata"]["name"] for item in items] == list(server.objects)
    assert version == "1"
    assert not any("managedFields" in item["metadata"] for item in items)
    assert [request.query for request in server.requests] == [{"labelSelector": "a=b"}]


def begin_of_list(*names: str) -> bytes:
    return json.dumps({"items": [pod(name) for name in names]}).encode()[:-2]


async def test_a_list_is_read_while_it_comes(server: FakeApi, api: KubeApi) -> None:
    seen = asyncio.Event()

    async def in_two_parts(call: Call) -> None:
        await call.begin()
        await call.chunk(begin_of_list("a", "b") + b", ")
        await seen.wait()
        await call.chunk(json.dumps(pod("c")).encode() + b'], "metadata": {"resourceVersion": "7"}}')
        await call.end()

    server.faults.append(("list", in_two_parts))
    names: list[str] = []

    def take(item: dict[str, Any]) -> None:
        names.append(item["metadata"]["name"])
        if names == ["a", "b"]:
            seen.set()

    assert await api.read(PODS, take) == "7"
    assert names == ["a", "b", "c"]


@pytest.mark.parametrize("after", [5_000, 40_000], ids=["taken-at-its-end", "taken-before"])
async def test_others_get_their_turn_while_the_objects_behind_a_large_one_are_taken(
    after: int, server: FakeApi, api: KubeApi
) -> None:
    """A large object is looked at again only when there is twice as much, so very many may be whole at once."""
    taken, turns = 0, [0]

    def take(_item: dict[str, Any]) -> None:
        nonlocal taken
        taken += 1

    async def others() -> None:
        while True:
            await asyncio.sleep(0)
            turns.append(taken)

    items = [
        {"metadata": {"name": "a" * 1_100_000}},
        *({"metadata": {"name": f"p{number}"}} for number in range(after)),
    ]
    whole = json.dumps({"metadata": {"resourceVersion": "7"}, "items": items})
    server.faults.append(("list", lambda call: call.answer(200, whole)))
    other = asyncio.create_task(others())
    assert await api.read(PODS, take) == "7"
    other.cancel()
    assert taken == 1 + after
    assert max(now - before for before, now in pairwise([*turns, taken])) <= list_parser.TURN_OBJECTS


async def test_half_a_list_is_none(server: FakeApi, api: KubeApi) -> None:
    """Or its other half would count as deleted."""

    async def half(call: Call) -> None:
        await call.begin()
        await call.chunk(begin_of_list("a", "b"))
        await call.end()

    server.faults.append(("list", half))
    with pytest.raises(Unreachable, match="not a Kubernetes API"):
        await api.list(PODS)


async def test_a_list_that_breaks_off_is_asked_for_once_more(server: FakeApi, api: KubeApi) -> None:
    async def breaks(call: Call) -> None:
        await call.begin()
        await call.chunk(begin_of_list("a"))
        call.cut()

    server.faults += [("list", breaks), ("list", breaks), ("list", breaks)]
    server.objects = {name: pod(name) for name in "ab"}
    with pytest.raises(Unreachable):
        await api.list(PODS)
    items, _version = await api.list(PODS)
    assert [item["metadata"]["name"] for item in items] == ["a", "b"]


async def test_a_list_that_is_given_up_is_closed(server: FakeApi, api: KubeApi) -> None:
    closed = asyncio.Event()

    async def goes_on(call: Call) -> None:
        await call.begin()
        await call.chunk(begin_of_list("a", "b") + b", ")
        with contextlib.suppress(ConnectionError):
            while not call.writer.is_closing():
                await call.chunk(b" ")
                await asyncio.sleep(0)
        closed.set()

    server.faults.append(("list", goes_on))
    came = asyncio.Event()
    reading = asyncio.create_task(api.read(PODS, lambda _item: came.set()))
    await asyncio.wait_for(came.wait(), PATIENCE)
    reading.cancel()
    await asyncio.wait_for(closed.wait(), PATIENCE)
    with pytest.raises(asyncio.CancelledError):
        await reading


@pytest.mark.parametrize("body", [{}, {"metadata": None}, {"metadata": {}, "items": 3}, {"metadata": {}, "items": [3]}])
async def test_a_list_that_is_none(body: dict[str, Any], server: FakeApi, api: KubeApi) -> None:
    server.faults.append(("list", lambda call: call.answer(200, body)))
    with pytest.raises(Unreachable, match="not a Kubernetes API"):
        await api.list(PODS)


# -- streams ----------------------------------------------------------------------------------------------------------


async def test_many_streams_leave_room_for_requests(server: FakeApi, api: KubeApi) -> None:
    async with contextlib.AsyncExitStack() as stack:
        streams = [
            await stack.enter_async_context(api.watch(PODS, {"resourceVersion": "1"}, silence=60)) for _ in range(200)
        ]
        await server.watched(200)
        assert await api.get("/version")
        await server.put("p")
        assert [(await anext(stream))["type"] for stream in streams] == ["ADDED"] * 200
    # what was left is closed
    await asyncio.wait_for(_none(server), PATIENCE)


async def _none(server: FakeApi) -> None:
    while server.watches:
        await server.put("more")  # a writer notices a closed connection when it writes
        await asyncio.sleep(0.05)


async def test_a_stream_brings_all_that_has_arrived_at_once(tmp_path: Path) -> None:
    line, records, sent = b"x" * 99 + b"\n", 200, asyncio.Event()

    async def in_small_records(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (len(line) * records))
        for _ in range(records):
            call.writer.write(line)  # each is a record of TLS
        await call.writer.drain()
        sent.set()
        await asyncio.Event().wait()

    async with FakeApi(Certificates(tmp_path / "tls")) as server:
        server.faults.append(("list", in_small_records))
        api = KubeApi(connect(server))
        parts: list[bytes] = []
        async with api.stream(PODS) as chunks:
            await sent.wait()
            async for chunk in chunks:
                parts.append(chunk)
        await api.close()
    assert b"".join(parts) == line * records
    assert len(parts) < records / 10


async def test_a_stream_that_is_cancelled_is_closed(server: FakeApi, api: KubeApi) -> None:
    async def follow() -> None:
        async with api.watch(PODS, {"resourceVersion": "1"}, silence=60) as events:
            async for _event in events:
                pass

    task = asyncio.create_task(follow())
    await server.watched()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(_none(server), PATIENCE)


async def test_a_stream_that_is_silent_or_cut_is_unreachable(server: FakeApi, api: KubeApi) -> None:
    with pytest.raises(Unreachable, match="in time"):
        async with api.stream(PODS, {"watch": True, "resourceVersion": "1"}, silence=0.2) as chunks:
            async for _chunk in chunks:
                pass
    with pytest.raises(Unreachable, match="can't be reached"):
        async with api.stream(PODS, {"watch": True, "resourceVersion": "1"}) as chunks:
            await server.watched()
            server.cut_watches()
            async for _chunk in chunks:
                pass


async def test_a_stream_that_does_not_begin_is_unreachable(
    server: FakeApi, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten_patience(monkeypatch)
    for act in (hang, half):
        server.faults.append(("other", act))
        with pytest.raises(Unreachable, match="in time"):
            async with api.stream("/api/v1/log"):
                pass


async def test_the_callers_own_errors_are_passed_on(server: FakeApi, api: KubeApi) -> None:
    with pytest.raises(KeyError):
        async with api.stream("/api/v1/log"):
            raise KeyError("mine")


async def test_an_error_may_come_as_an_event(server: FakeApi, api: KubeApi) -> None:
    for status in ({"code": 410, "reason": "Expired"}, {"code": "x"}, None):

        async def begin(call: Call, status: Any = status) -> None:
            await call.begin()
            await call.event("ERROR", status)
            await call.end()

        server.faults.append(("watch", begin))
        with pytest.raises(ApiError) as caught:
            async with api.watch(PODS, {"resourceVersion": "1"}, silence=10) as events:
                async for _event in events:
                    pass
        assert caught.value.status == (410 if status and status["code"] == 410 else 500)


async def _chunks(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n"], [b"ab", b"c"]),
        ([b"a\r\xe2\x80\xa8\x0cb\n"], [b"a\r\xe2\x80\xa8\x0cb"]),
        ([b"\n\n"], [b"", b""]),
        ([b"cut in the mid"], []),
        ([], []),
    ],
)
async def test_only_a_line_feed_ends_a_line(chunks: list[bytes], expected: list[bytes]) -> None:
    assert [line async for line in lines(_chunks(*chunks))] == expected


async def test_a_line_without_end_is_not_collected() -> None:
    with pytest.raises(ValueError, match="longer than 100"):
        _ = [line async for line in lines(_chunks(*[b"x" * 60] * 2), 100)]
    assert [len(line) async for line in lines(_chunks(b"x" * 60 + b"\n" + b"y" * 60 + b"\n"), 100)] == [60, 60]


# -- pools ------------------------------------------------------------------------------------------------------------


async def test_connections_are_used_again(tmp_path: Path) -> None:
    async with FakeApi(Certificates(tmp_path)) as server:
        api = KubeApi(connect(server))
        for _ in range(10):
            await api.get("/version")
        assert len({request.connection for request in server.requests}) == 1
        await api.close()


async def test_a_connection_that_the_server_has_left_is_not_used(server: FakeApi, api: KubeApi) -> None:
    """An idle connection dies with a restart of the server; that is no error of the next request."""
    await api.get("/version")
    await server.stop()
    await server.start()
    assert await api.get("/version")


async def test_renewals_do_not_pile_up(server: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many requests wait for credentials, and even if those that wait are given up."""
    loads = 0

    def renew() -> Connection:
        nonlocal loads
        loads += 1
        time.sleep(0.5)
        return connect(server, headers=(("authorization", "new"),))

    server.allowed = lambda request: request.authorization == "new"
    api = KubeApi(connect(server, headers=(("authorization", "old"),), renew=renew))
    first = [asyncio.create_task(api.get("/version")) for _ in range(5)]
    await asyncio.sleep(0.2)
    for task in first:
        task.cancel()
    await asyncio.gather(*first, return_exceptions=True)
    await asyncio.gather(*(api.get("/version") for _ in range(5)))
    assert loads == 1
    await api.close()


async def test_a_cancellation_is_never_lost(server: FakeApi) -> None:
    """Whenever it comes, also just when a connection or an answer does; on Python 3.10 anyio loses some."""
    for turns in range(150):
        api = KubeApi(connect(server))  # which has no connection yet
        task = asyncio.create_task(api.get("/version"))
        for _ in range(turns):
            await asyncio.sleep(0)
        if task.cancel():
            await asyncio.wait({task})
            assert task.cancelled(), f"after {turns} turns of the loop"
        await api.close()


async def test_closing_while_credentials_are_renewed(server: FakeApi) -> None:
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def renew() -> Connection:
        loop.call_soon_threadsafe(started.set)
        time.sleep(0.3)
        raise NoCluster("too late")

    server.allowed = lambda request: False
    api = KubeApi(connect(server, renew=renew))
    task = asyncio.create_task(api.get("/version"))
    await started.wait()
    await api.close()
    with pytest.raises((asyncio.CancelledError, Unreachable)):
        await task
