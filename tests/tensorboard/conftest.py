"""A Jupyter server with the extension, real TensorBoards and a fake engine; event files as a script writes them."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import psutil
import pytest
import pytest_asyncio
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPResponse

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.services import Services
from jupyterlab_t9kjob.tensorboard.board import Settings
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from jupyterlab_t9kjob.tensorboard.model import TensorBoard
from tests.patience import PATIENCE
from tests.server.conftest import EXTENSIONS
from tests.server.contract import check_answer
from tests.server.fakes import FakeCapacity, FakeEngine, FakeLaunch, fake_services

WAIT = PATIENCE


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": dict(EXTENSIONS),
            "allow_unauthenticated_access": False,
        }
    }


class Events:
    """Writes scalars as a training script does."""

    def __init__(self, log_dir: Path) -> None:
        self._writer = EventFileWriter(str(log_dir))
        self._step = 0

    def add(self, tag: str, values: Iterable[float]) -> None:
        for value in values:
            self._step += 1
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            self._writer.add_event(Event(step=self._step, wall_time=time.time(), summary=summary))
        self._writer.flush()


class News:
    """Notifications that a manager sends to its listeners."""

    def __init__(self, manager: TensorBoardManager) -> None:
        self.seen: list[tuple[str, TensorBoard | None]] = []
        self._new = asyncio.Event()
        manager.listen(self._take)

    def _take(self, ident: str, board: TensorBoard | None) -> None:
        self.seen.append((ident, board))
        self._new.set()

    async def until(self, wanted: Callable[[TensorBoard], bool]) -> TensorBoard:
        """Return the first news from now on, or the last one before, that is as wanted."""
        position = max(0, len(self.seen) - 1)
        while True:
            for _, board in self.seen[position:]:
                if board is not None and wanted(board):
                    return board
            position = len(self.seen)
            self._new.clear()
            await asyncio.wait_for(self._new.wait(), WAIT)


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the manager and of its boards; a test may change them."""
    return {"reload_interval": 0.5}


def managed(root: ContentsRoot, settings: dict[str, Any]) -> TensorBoardManager:
    """Make a manager from flat settings."""
    own = {name: value for name, value in settings.items() if name in ("idle_seconds", "limit")}
    return TensorBoardManager(root, **own, settings=Settings(**{k: v for k, v in settings.items() if k not in own}))


@pytest.fixture
def parts(tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    (tmp_path / "jobs").mkdir()
    found = SimpleNamespace(engine=FakeEngine(tmp_path / "jobs"))

    def make(app: T9kJobApp) -> Services:
        assert app.serverapp is not None
        found.manager = managed(ContentsRoot(app.serverapp.contents_manager), settings)
        found.news = News(found.manager)
        return fake_services(app, tmp_path, found.engine, FakeLaunch(), found.manager, FakeCapacity())

    monkeypatch.setattr(T9kJobApp, "_make_services", make)
    return found


@pytest.fixture
def manager(
    parts: SimpleNamespace, jp_serverapp: Any, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> TensorBoardManager:
    app = next(iter(jp_serverapp.extension_manager.extension_apps["jupyterlab_t9kjob"]))
    jp_asyncio_loop.run_until_complete(app.services())
    return parts.manager


@pytest.fixture
def news(parts: SimpleNamespace, manager: TensorBoardManager) -> News:
    return parts.news


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for sockets of this test's own, with a short path; nothing may be left in it."""
    with tempfile.TemporaryDirectory(prefix="t9k") as path:
        monkeypatch.setenv("XDG_RUNTIME_DIR", path)
        yield Path(path)
        assert list(Path(path).rglob("tb-*")) == []


@pytest_asyncio.fixture
async def alone(runtime: Path, tmp_path: Path, settings: dict[str, Any]) -> AsyncIterator[TensorBoardManager]:
    """A manager without a server."""
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    (tmp_path / "root").mkdir()
    made = managed(ContentsRoot(AsyncLargeFileManager(root_dir=str(tmp_path / "root"))), settings)
    await made.start()
    yield made
    await made.stop()
    assert children() == []


Ask = Callable[..., Awaitable[HTTPResponse]]


@pytest.fixture
def ask(jp_base_url: str, jp_auth_header: dict[str, str], http_server_client: AsyncHTTPClient) -> Ask:
    """Ask the server: ``await ask("tensorboards")``, ``await ask(board["url"] + "data/runs")``; any status will do."""

    async def fetch(path: str, method: str = "GET", body: Any = None, headers: Any = None, **more: Any) -> HTTPResponse:
        data = json.dumps(body) if isinstance(body, dict) else body
        if method == "POST" and data is None:
            data = ""
        path = path if path.startswith("t9kjob/") else f"t9kjob/{path}"
        try:
            return await http_server_client.fetch(
                jp_base_url + path,
                method=method,
                body=data,
                headers={**jp_auth_header, **(headers or {})},
                follow_redirects=False,
                connect_timeout=WAIT,
                request_timeout=WAIT,
                **more,
            )
        except HTTPClientError as error:
            assert error.response is not None, error
            return error.response

    return fetch


async def opened(ask: Ask, **request: Any) -> dict[str, Any]:
    response = await ask("tensorboards", "POST", request)
    assert response.code in (200, 201), response.body
    check_answer("POST", "/t9kjob/tensorboards", response.code, response.headers, response.body)
    return json.loads(response.body)


async def scalars(ask: Ask, board: dict[str, Any], run: str, tag: str, least: int) -> list[tuple[int, float]]:
    """Return a curve as soon as it has `least` points: TensorBoard reads by itself, and tells nobody."""

    async def look() -> list[tuple[int, float]]:
        while True:
            path = f"data/plugin/scalars/scalars?run={quote(run)}&tag={quote(tag)}"
            response = await ask(board["url"] + path)
            if response.code == 200 and len(points := json.loads(response.body)) >= least:
                return [(step, round(value, 3)) for _time, step, value in points]
            await asyncio.sleep(0.1)

    return await asyncio.wait_for(look(), WAIT)


async def until(true: Callable[[], bool]) -> None:
    """Wait for another process, which tells nobody."""

    async def look() -> None:
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    await asyncio.wait_for(look(), WAIT)


def children() -> list[psutil.Process]:
    """TensorBoard processes that this process started and that still run."""
    return [child for child in psutil.Process().children(recursive=True) if "child.py" in command_of(child)]


def command_of(process: psutil.Process) -> str:
    """Return the command of a process; empty if it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # also of one that nobody has waited for
        return ""


def has_own_network(process: psutil.Process) -> bool:
    """Return True if a process has a network namespace of its own."""
    return Path(f"/proc/{process.pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
