"""A Jupyter server with the extension over a fake engine; every answer is held against the contract."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tornado.httpclient import HTTPClientError

from jupyterlab_t9kjob.app import T9kJobApp
from tests.patience import PATIENCE
from tests.server.contract import check_answer, check_message
from tests.server.fakes import FakeCapacity, FakeEngine, FakeLaunch, FakeTensorBoards, fake_services

if TYPE_CHECKING:
    from jupyterlab_t9kjob.services import Services

EXTENSIONS = {"jupyterlab_t9kjob": True, "jupyter_server_terminals": False}
"""pytest-jupyter adds the terminals to a server whose configuration does not name them."""

WAIT = PATIENCE

ENDED = ("Succeeded", "Failed")


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": dict(EXTENSIONS),
            "allow_unauthenticated_access": False,
        }
    }


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replaces the engine, launching and TensorBoards."""
    parts = SimpleNamespace(launch=FakeLaunch(), tensorboards=FakeTensorBoards(), capacity=FakeCapacity())
    parts.engine = FakeEngine(tmp_path / "jobs")
    (tmp_path / "jobs").mkdir()

    def make(app: T9kJobApp) -> Services:
        return fake_services(app, tmp_path, parts.engine, parts.launch, parts.tensorboards, parts.capacity)

    monkeypatch.setattr(T9kJobApp, "_make_services", make)
    return parts


@pytest.fixture
def engine(fakes: SimpleNamespace) -> FakeEngine:
    return fakes.engine


async def eventually(condition: Callable[[], Any]) -> None:
    """Return when `condition` holds; for what tells nobody of its changes."""
    deadline = asyncio.get_running_loop().time() + WAIT
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.01)


@dataclass
class Answer:
    status: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Api = Callable[..., Awaitable[Answer]]


@pytest.fixture
def app(jp_serverapp: Any) -> T9kJobApp:
    return next(iter(jp_serverapp.extension_manager.extension_apps["jupyterlab_t9kjob"]))


@pytest.fixture
def api(jp_base_url: str, jp_auth_header: dict[str, str], http_server_client: Any) -> Api:
    """Ask the API: ``await api("GET", "jobs", "a:b", phase="Running")``; path parts are encoded, query by keyword."""

    async def ask(
        method: str,
        *parts: str,
        body: Any = None,
        raw: bytes | None = None,
        headers: Any = None,
        contract: bool = True,
        **query: Any,
    ) -> Answer:
        path = "/t9kjob/" + "/".join(quote(part, safe="") for part in parts)
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if method == "POST" and data is None:
            data = b""
        words = "&".join(f"{key}={quote(str(value))}" for key, value in query.items())
        try:
            response = await http_server_client.fetch(
                jp_base_url.rstrip("/") + path + ("?" + words if words else ""),
                method=method,
                body=data,
                headers=jp_auth_header if headers is None else headers,
                allow_nonstandard_methods=True,
                follow_redirects=False,
                connect_timeout=WAIT,
                request_timeout=WAIT,
            )
        except HTTPClientError as error:
            assert error.response is not None, error
            response = error.response
        if contract:
            check_answer(method, path, response.code, response.headers, response.body)
        return Answer(response.code, response.body, response.headers)

    return ask


class Page:
    """The browser's end of a socket; it waits so many seconds for each message."""

    patience = WAIT

    def __init__(self, connection: Any, schema: str) -> None:
        self._connection = connection
        self._schema = schema

    async def send(self, **message: Any) -> None:
        await self._connection.write_message(json.dumps(message))

    async def send_raw(self, message: str | bytes) -> None:
        await self._connection.write_message(message, binary=isinstance(message, bytes))

    async def receive(self) -> dict[str, Any] | None:
        text = await asyncio.wait_for(self._connection.read_message(), self.patience)
        if text is None:
            return None
        message = json.loads(text)
        # of thousands of lines that are made in one way, the first ones speak for all
        check_message(
            {**message, **{key: message[key][:20] for key in ("lines", "hits") if key in message}}, self._schema
        )
        return message

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """Return the first message that has these fields; those before it are dropped."""
        while True:
            message = await self.receive()
            assert message is not None, f"the socket was closed before {wanted}"
            if all(message.get(key) == value for key, value in wanted.items()):
                return message

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def open_page(jp_ws_fetch: Any) -> Callable[..., Awaitable[Page]]:
    """Open a socket: ``await open_page("stream")``, ``await open_page("jobs", id, "logs")``."""
    pages: list[Page] = []

    async def connect(*parts: str, **options: Any) -> Page:
        connection = await jp_ws_fetch("t9kjob", *parts, **options)
        page = Page(connection, "StreamMessage" if parts == ("stream",) else "LogMessage")
        pages.append(page)
        return page

    yield connect
    for page in pages:
        page.close()


async def ended(page: Page, ident: str) -> dict[str, Any]:
    """Watch a job on the stream to its end; returns it in full."""
    await page.send(type="subscribe", details=[ident])
    while True:
        message = await page.until(type="job", id=ident)
        if message["job"]["phase"] in ENDED and message["job"]["pending_action"] is None:
            return message["job"]
