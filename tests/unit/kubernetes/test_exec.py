"""Commands in containers over a WebSocket, against tornado's implementation of the server's side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import pytest_asyncio
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import Connection
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.tls import Tls
from jupyterlab_t9kjob.engines.kubernetes.client.errors import BrokenOff
from jupyterlab_t9kjob.engines.kubernetes.client.exec import websocket
from jupyterlab_t9kjob.engines.kubernetes.client.exec.remote_command import NotStarted, Target, opened, run
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio
TARGET = Target("lab", "train-0", "pytorch")
Script = Callable[["Exec"], Coroutine[Any, Any, None]]


class Exec(WebSocketHandler):
    """One command, which a test plays."""

    def initialize(self, script: Script, protocols: list[str], calls: list[Any]) -> None:
        self.script, self.protocols = script, protocols
        self.calls, self.got, self.pings = calls, asyncio.Queue[bytes](), asyncio.Event()
        self.pongs = asyncio.Queue[bytes]()

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return next((name for name in subprotocols if name in self.protocols), None)

    async def open(self, *_parts: str) -> None:
        self.calls.append(self.request.arguments)
        self.task = asyncio.create_task(self.script(self))

    def on_message(self, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        self.got.put_nowait(message)

    def on_ping(self, data: bytes) -> None:
        self.pings.set()

    def on_pong(self, data: bytes) -> None:
        self.pongs.put_nowait(data)

    async def says(self, channel: int, data: bytes) -> None:
        await self.write_message(bytes([channel]) + data, binary=True)

    async def ends(self, code: int) -> None:
        causes = {"causes": [{"reason": "ExitCode", "message": str(code)}]}
        failed = {"status": "Failure", "reason": "NonZeroExitCode", "details": causes}
        await self.says(3, json.dumps({"status": "Success"} if code == 0 else failed).encode())
        self.close()


class Refused(RequestHandler):
    """An account without the permission."""

    def get(self) -> None:
        self.set_status(403)
        self.write({"kind": "Status", "reason": "Forbidden", "message": "pods is forbidden"})


class Cluster:
    """An API server that knows only exec."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.protocols = ["v5.channel.k8s.io"]
        self.script: Script = self.nothing

    async def nothing(self, command: Exec) -> None:
        await command.ends(0)

    async def start(self, handler: type[RequestHandler] = Exec) -> KubeApi:
        play = {"script": lambda command: self.script(command), "protocols": self.protocols, "calls": self.calls}
        app = Application([(r"/api/v1/namespaces/lab/pods/train-0/exec", handler, play if handler is Exec else {})])
        socket, port = bind_unused_port()
        self.server = HTTPServer(app)
        self.server.add_socket(socket)
        self.api = KubeApi(
            Connection(
                server=f"http://127.0.0.1:{port}",
                namespace="lab",
                context="lab",
                tls=Tls(),
                proxy=None,
                headers=(("Authorization", "Bearer of-the-test"),),
                expires_at=None,
                renew=lambda: self.api.connection,
            )
        )
        return self.api


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    cluster = Cluster()
    yield cluster
    await cluster.api.close()
    cluster.server.stop()
    await cluster.server.close_all_connections()


async def test_output_input_and_exit_code(cluster: Cluster) -> None:
    large = bytes(range(256)) * 400

    async def cat(command: Exec) -> None:
        got = b""
        while (message := await command.got.get()) != b"\xff\x00":
            assert message[0] == 0
            got += message[1:]
        await command.says(1, b"")  # As the API server does for each channel.
        await command.says(1, got[:70_000])
        await command.says(2, b"warning")
        await command.says(1, got[70_000:])
        await command.ends(3)

    cluster.script = cat
    done = await run(await cluster.start(), TARGET, ["cat", "-", "a b"], stdin=large, seconds=PATIENCE)
    assert (done.exit_code, done.stdout, done.stderr, done.truncated) == (3, large, b"warning", False)
    (arguments,) = cluster.calls
    assert arguments["command"] == [b"cat", b"-", b"a b"]
    assert arguments["container"] == [b"pytorch"]


async def test_a_terminal_is_resized_and_pinged_while_silent(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "PING_SECONDS", 0.05)

    async def shell(command: Exec) -> None:
        assert json.loads((await command.got.get())[1:]) == {"Width": 80, "Height": 24}
        await command.pings.wait()
        await command.says(1, b"$ ")
        await command.ends(0)

    cluster.script = shell
    async with opened(await cluster.start(), TARGET, ["sh"], stdin=True, tty=True) as remote:
        await remote.resize(80, 24)
        assert await remote.receive() == ("stdout", b"$ ")
        assert await remote.receive() is None
        assert remote.exit_code == 0
    assert "stderr" not in cluster.calls[0] or cluster.calls[0]["stderr"] == [b"false"]


async def test_pings_are_answered_while_input_is_sent(cluster: Cluster) -> None:
    size, parts = 1_000_000, 5

    async def shell(command: Exec) -> None:
        got = 0
        while got < size * parts:
            command.ping(b"there?")
            got += len(await command.got.get()) - 1
        await command.pongs.get()
        await command.says(1, b"$ ")
        await command.ends(0)

    cluster.script = shell
    async with opened(await cluster.start(), TARGET, ["sh"], stdin=True, tty=True) as remote:
        sending = [asyncio.create_task(remote.send(b"x" * size)) for _ in range(parts)]
        assert await remote.receive() == ("stdout", b"$ ")
        await asyncio.gather(*sending)
        assert await remote.receive() is None


async def test_more_output_than_is_kept_is_cut(cluster: Cluster) -> None:
    async def noise(command: Exec) -> None:
        for _number in range(10):
            await command.says(1, b"x" * 1000)
        await command.ends(0)

    cluster.script = noise
    done = await run(await cluster.start(), TARGET, ["yes"], seconds=PATIENCE, most_bytes=2500)
    assert (len(done.stdout), done.truncated, done.exit_code) == (2500, True, 0)


async def test_faults_are_errors(cluster: Cluster) -> None:
    """A cut, a command that is missing, a command that hangs, and an answer in no known form."""

    async def cut(command: Exec) -> None:
        await command.says(1, b"so far")
        command.ws_connection.stream.close()  # type: ignore[union-attr]

    async def missing(command: Exec) -> None:
        failed = {"status": "Failure", "reason": "InternalError", "message": 'exec: "py-spy": not found in $PATH'}
        await command.says(3, json.dumps(failed).encode())
        command.close()

    async def hangs(command: Exec) -> None:
        await command.got.get()

    async def nonsense(command: Exec) -> None:
        await command.says(3, b"[" * 10_000)

    async def no_status(command: Exec) -> None:
        command.close()

    api = await cluster.start()
    for script, error in ((cut, BrokenOff), (missing, NotStarted), (nonsense, ApiError), (no_status, BrokenOff)):
        cluster.script = script
        with pytest.raises(error):
            await run(api, TARGET, ["py-spy"], seconds=PATIENCE)
    cluster.script = hangs
    with pytest.raises(TimeoutError):
        await run(api, TARGET, ["py-spy"], seconds=0.2)


async def test_a_missing_permission_is_the_api_servers_refusal(cluster: Cluster) -> None:
    with pytest.raises(ApiError) as refused:
        await run(await cluster.start(Refused), TARGET, ["ls"], seconds=PATIENCE)
    assert (refused.value.status, refused.value.reason) == (403, "Forbidden")


async def test_a_server_without_the_protocol_is_unreachable(cluster: Cluster) -> None:
    cluster.protocols = ["base64.channel.k8s.io"]
    with pytest.raises(Unreachable):
        await run(await cluster.start(), TARGET, ["ls"], seconds=PATIENCE)
