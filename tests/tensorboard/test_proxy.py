"""Requests that the proxy passes on, and those that it refuses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream, StreamClosedError
from tornado.netutil import bind_unix_socket
from tornado.simple_httpclient import HTTPStreamClosedError
from tornado.web import Application, RequestHandler

from jupyterlab_t9kjob.tensorboard import proxy
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from jupyterlab_t9kjob.tensorboard.process import Endpoint
from jupyterlab_t9kjob.tensorboard.proxy import below
from tests.patience import PATIENCE
from tests.tensorboard.conftest import Ask

IDENT = "0123456789abcdef01234567"
PAGE = f"tensorboards/{IDENT}/ui/"
LARGE = 64 * 1024 * 1024


class Backend(RequestHandler):
    """Stands in for TensorBoard: says what it was asked, or does what the path says."""

    sent = 0

    async def get(self) -> None:
        path = self.request.path
        if path == "/large":
            Backend.sent = 0
            while Backend.sent < LARGE:
                self.write(b"x" * 65536)
                Backend.sent += 65536
                try:
                    await self.flush()
                except StreamClosedError:
                    return
        elif path == "/moved":
            self.redirect(self.get_argument("to"))
        elif path == "/svg":
            self.set_header("Content-Type", "image/svg+xml")
            self.write("<svg/>")
        elif path == "/cookie":
            self.set_cookie("stolen", "1")
            self.set_header("Access-Control-Allow-Origin", "*")
        elif path == "/half":
            self.set_header("Content-Length", "1000")
            self.write("half")
            await self.flush()
            self.request.connection.stream.close()  # type: ignore[union-attr]
        elif path == "/nothing":
            self.request.connection.stream.close()  # type: ignore[union-attr]
        elif path == "/slow":
            await asyncio.sleep(600)
        else:
            self.write(
                {
                    "method": self.request.method,
                    "uri": self.request.uri,
                    "headers": dict(self.request.headers),
                    "body": self.request.body.decode(),
                }
            )

    post = get


@pytest.fixture
def backend(
    manager: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jp_asyncio_loop: Any
) -> Callable[[], None]:
    path = str(tmp_path / "s")

    async def listen() -> HTTPServer:
        server = HTTPServer(Application([(".*", Backend)]))
        server.add_socket(bind_unix_socket(path))
        return server

    async def endpoint(_ident: str) -> Endpoint:
        return Endpoint(path)

    def stop() -> None:
        server.stop()
        Path(path).unlink(missing_ok=True)

    server = jp_asyncio_loop.run_until_complete(listen())
    monkeypatch.setattr(manager, "endpoint", endpoint)
    yield stop
    stop()


async def seen(ask: Ask, path: str, *arguments: Any, **more: Any) -> dict[str, Any]:
    response: HTTPResponse = await ask(PAGE + path, *arguments, **more)
    assert response.code == 200, response.body
    return json.loads(response.body)


async def test_nothing_tells_who_the_user_is(ask: Ask, backend: Any, jp_serverapp: Any) -> None:
    token = jp_serverapp.identity_provider.token
    headers = {
        "Cookie": "username=secret",
        "X-XSRFToken": "secret",
        "X-Forwarded-User": "secret",
        "Proxy-Authorization": "secret",
        "Referer": "http://lab/?token=secret",
        "Accept": "application/json",
    }
    own = f"token={token}&_xsrf=secret&%74oken={token}"
    found = await seen(ask, f"data/runs?{own}&a=%20b&token={token}&run=%2E%2F", headers=headers)
    assert found["uri"] == "/data/runs?a=%20b&run=%2E%2F"
    assert found["headers"]["Accept"] == "application/json"
    assert found["headers"]["Host"] == "localhost"
    everything = json.dumps(found)
    assert "secret" not in everything
    assert "Authorization" not in found["headers"]
    assert token not in everything


async def test_any_address_leads_to_its_own_page(ask: Ask, manager: TensorBoardManager, jp_base_url: str) -> None:
    for ident in (IDENT, "~Q%13Z%3ES%C3%A6%09", "%0d%0aSet-Cookie:%20a=b", "%2F%2Fevil.example"):
        answer = await ask(f"tensorboards/{ident}/ui?darkMode=true")
        assert answer.code == 302
        assert answer.headers["Location"] == f"{jp_base_url}t9kjob/tensorboards/{ident}/ui/?darkMode=true"


async def test_paths_pass_as_they_are(ask: Ask, backend: Any) -> None:
    for path in ("data/plugin/x%2Fy/%E8%AE%AD?tag=a%2Bb+c", "", "a//b", "..%2f..%2fetc", "ui/x/ui/y"):
        assert (await seen(ask, path))["uri"] == "/" + path


async def test_posts_pass_with_their_bodies(ask: Ask, backend: Any) -> None:
    found = await seen(ask, "data", "POST", "requests=[1]", headers={"Content-Type": "text/x"})
    assert (found["method"], found["body"], found["headers"]["Content-Type"]) == ("POST", "requests=[1]", "text/x")
    assert (await seen(ask, "data", "POST"))["body"] == ""
    assert (await ask(PAGE + "data", "POST", "x" * 1024 * 1024 + "x")).code == 413


async def test_no_other_verbs(ask: Ask, backend: Any) -> None:
    for verb in ("PUT", "DELETE", "PATCH"):
        response = await ask(PAGE + "data", verb, "x" if verb != "DELETE" else None)
        assert response.code in (403, 405), verb


async def test_answers_keep_only_what_is_theirs(ask: Ask, backend: Any) -> None:
    answer = await ask(PAGE + "cookie")
    assert "stolen" not in str(answer.headers.get_list("Set-Cookie"))
    assert answer.headers.get("Access-Control-Allow-Origin") != "*"
    picture = await ask(PAGE + "svg")
    assert "sandbox" in picture.headers.get_list("Content-Security-Policy")


@pytest.mark.parametrize(
    ("location", "seen_as"),
    [
        ("/", "/base/ui/"),
        ("/a/b?c=d#e", "/base/ui/a/b?c=d#e"),
        ("../x.json", "../x.json"),
        ("http://localhost/a", "/base/ui/a"),
        ("//evil.example/a", "/base/ui/a"),
        ("https://evil.example", ""),
        ("/secret/a", "/base/ui/a"),
        ("//", ""),
    ],
)
def test_redirects_stay_below(location: str, seen_as: str) -> None:
    assert below(location, "/secret", "/base/ui/") == seen_as


async def test_a_redirect(ask: Ask, backend: Any, jp_base_url: str) -> None:
    answer = await ask(PAGE + "moved?to=http://evil.example/x")
    assert (answer.code, answer.headers["Location"]) == (302, f"{jp_base_url}t9kjob/{PAGE}x")


async def test_what_does_not_answer(ask: Ask, backend: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "SILENCE_SECONDS", 0.5)
    for path in ("nothing", "slow"):
        answer = await ask(PAGE + path)
        assert answer.code == 502, path
        assert json.loads(answer.body)["hint"] == "Restart it."
    backend()
    assert (await ask(PAGE + "data")).code == 502


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        (b"\x00\xff\x16\x03\x01 no HTTP\r\n\r\n", {502}),
        (b"HTTP/1.1 200\r\n\r\n", {502}),
        (b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", {999}),
        (b"HTTP/1.1 200 <script>\xff\r\nContent-Length: 2\r\n\r\nok", {200}),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nok", {200}),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000, {502}),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi", {502}),
        (HEAD + b"X-Long: " + b"x" * 2**20 + b"\r\n\r\n", {502}),
        (HEAD + b"X: y\r\n" * 2**17, {502}),
        (HEAD + b"Content-Length: -5\r\n\r\nhello", {502}),
        (HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", {502}),
        (HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {502}),
        (HEAD + b"Content-Length: 99999999999\r\n\r\nhello", {502}),
        (HEAD + b"Content-Length: 2\r\n\r\nok, and what was not announced", {200}),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello", {502, 599}),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nno length\r\nhello", {502, 599}),
        (HEAD + b"Location: /a\x01\x7fb\r\nContent-Length: 0\r\n\r\n", {200, 502}),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", {204, 502}),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", {304}),
        (b"", {502}),
    ],
)
async def test_hostile_answers(
    ask: Ask, backend: Any, manager: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: Any, answer: bytes, codes: set[int],
) -> None:  # fmt: skip
    monkeypatch.setattr(proxy, "SILENCE_SECONDS", 20.0)
    path = str(tmp_path / "hostile")

    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            writer.write(answer)
            await writer.drain()
        writer.close()

    async def endpoint(_ident: str) -> Endpoint:
        return Endpoint(path)

    async with await asyncio.start_unix_server(say, path):
        with monkeypatch.context() as patch:
            patch.setattr(manager, "endpoint", endpoint)
            try:
                code = (await ask(PAGE + "data")).code
            except (HTTPClientError, HTTPStreamClosedError, AssertionError):
                code = 599  # it broke off on the way
    assert code in codes
    # who asks next is not harmed, and the log has no traceback
    assert (await seen(ask, "data"))["uri"] == "/data"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_no_websocket(ask: Ask, backend: Any) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x"}
    found = await seen(ask, "data", headers=headers)
    assert not {"Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version"} & set(found["headers"])
    assert found["headers"]["Connection"] == "close"


async def test_only_what_is_below_is_asked_for(
    ask: Ask, backend: Any, jp_base_url: str, jp_http_port: int, jp_auth_header: dict[str, str]
) -> None:
    """Targets of requests as only a hand-made client sends them."""

    async def get(target: str) -> bytes:
        stream = IOStream(socket.create_connection(("127.0.0.1", jp_http_port)))
        request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        request += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
        await stream.write(f"{request}\r\n".encode())
        return await asyncio.wait_for(stream.read_until_close(), PATIENCE)

    page = f"{jp_base_url}t9kjob/{PAGE}"
    for path in (
        "../../secret",
        "%2e%2e/%2e%2e/secret",
        "..%2f..%2fsecret",
        "./x/../y",
        "//evil.example/x",
        "http://evil/",
    ):
        answer = await get(page + path)
        assert b" 200 OK" in answer
        assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["uri"] == "/" + path
    for target in (f"http://evil.example{page}data", "http://evil.example/", "*", f"{page}../../../../api/status x"):
        assert b" 200 OK" not in await get(target)


async def test_a_browser_that_goes_away_leaves_no_trace(
    backend: Any, jp_base_url: str, jp_http_port: int, jp_auth_header: dict[str, str], ask: Ask, caplog: Any
) -> None:
    for _ in range(5):
        stream = IOStream(socket.create_connection(("127.0.0.1", jp_http_port)))
        request = f"GET {jp_base_url}t9kjob/{PAGE}large HTTP/1.1\r\nHost: localhost\r\n"
        request += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
        await stream.write(f"{request}\r\n".encode())
        await stream.read_bytes(65536)
        stream.close()
        before = -1
        while Backend.sent != before:  # until it has been noticed
            before = Backend.sent
            await seen(ask, "data")
            await asyncio.sleep(0.2)
        assert Backend.sent < LARGE
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_slow_browser_gets_all(
    backend: Any, jp_base_url: str, jp_http_port: int, jp_auth_header: dict[str, str], ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Only a standstill ends an answer, however long it takes."""
    monkeypatch.setattr(proxy, "SILENCE_SECONDS", 5.0)
    stream = IOStream(socket.create_connection(("127.0.0.1", jp_http_port)), max_buffer_size=2 * LARGE)
    request = f"GET {jp_base_url}t9kjob/{PAGE}large HTTP/1.1\r\nHost: localhost\r\n"
    request += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
    await stream.write(f"{request}\r\n".encode())
    total = 0
    for _ in range(12):
        await asyncio.sleep(0.5)
        total += len(await stream.read_bytes(4 * 1024 * 1024))
    while total < LARGE:
        total += len(await stream.read_bytes(1024 * 1024, partial=True))
    stream.close()


async def test_an_answer_that_breaks_off(
    backend: Any, jp_base_url: str, jp_http_port: int, jp_auth_header: dict[str, str], ask: Ask
) -> None:
    stream = IOStream(socket.create_connection(("127.0.0.1", jp_http_port)))
    request = f"GET {jp_base_url}t9kjob/{PAGE}half HTTP/1.1\r\nHost: localhost\r\n"
    request += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
    await stream.write(f"{request}\r\n".encode())
    answer = await asyncio.wait_for(stream.read_until_close(), PATIENCE)
    assert b"200 OK" in answer
    assert b"Content-Length: 1000" in answer
    assert answer.endswith(b"half")


async def test_a_browser_that_stops_reading_costs_little(
    backend: Any, jp_base_url: str, jp_http_port: int, jp_auth_header: dict[str, str], ask: Ask
) -> None:
    stream = IOStream(socket.create_connection(("127.0.0.1", jp_http_port)), max_buffer_size=2 * LARGE)
    request = f"GET {jp_base_url}t9kjob/{PAGE}large HTTP/1.1\r\nHost: localhost\r\n"
    request += "".join(f"{name}: {value}\r\n" for name, value in jp_auth_header.items())
    await stream.write(f"{request}\r\n".encode())
    await stream.read_bytes(65536)
    sent = -1
    while Backend.sent != sent:  # until everything that may be under way is
        sent = Backend.sent
        await seen(ask, "data")
        await asyncio.sleep(0.3)
    assert sent < LARGE / 4
    total = 65536
    while total < LARGE:
        total += len(await stream.read_bytes(1024 * 1024, partial=True))
    stream.close()


async def test_who_may(
    backend: Any, ask: Ask, jp_base_url: str, jp_auth_header: dict[str, str], http_server_client: AsyncHTTPClient
) -> None:
    async def fetch(method: str, **headers: str) -> int:
        answer = await http_server_client.fetch(
            f"{jp_base_url}t9kjob/{PAGE}data",
            method=method,
            headers=headers,
            body="x" if method == "POST" else None,
            raise_error=False,
            follow_redirects=False,
        )
        return answer.code

    assert await fetch("GET") == 403
    assert await fetch("POST", Origin="http://localhost") == 403
    # a browser with its cookie, which TensorBoard's page sends without a token
    token = jp_auth_header["Authorization"].removeprefix("token ")
    login = await http_server_client.fetch(
        f"{jp_base_url}tree?token={token}", raise_error=False, follow_redirects=False
    )
    cookie = "; ".join(value.partition(";")[0] for value in login.headers.get_list("Set-Cookie"))
    host = urlsplit(login.effective_url).netloc
    assert await fetch("GET", Cookie=cookie) == 200
    assert await fetch("POST", Cookie=cookie, Origin=f"http://{host}") == 200
    assert await fetch("POST", Cookie=cookie, Origin=f"http://{host}", **{"Sec-Fetch-Site": "same-site"}) == 403
    for origin in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {}):
        assert await fetch("POST", Cookie=cookie, **origin) == 403


async def test_a_look_is_no_activity(ask: Ask, backend: Any, jp_serverapp: Any) -> None:
    before = jp_serverapp.web_app.last_activity()
    assert (await ask(PAGE + "data")).code == 200
    assert (await ask("tensorboards")).code == 200
    assert jp_serverapp.web_app.last_activity() == before
