"""An API server and a proxy that do what real ones can't be made to do: break off, hang, answer nonsense.

They speak over real TCP, and TLS where `Certificates` are given. What a healthy API server does is tested with one.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import ssl
import struct
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import trustme
import yaml

PODS = "/api/v1/namespaces/lab/pods"
Json = dict[str, Any]


class Certificates:
    """An authority of its own, a server's certificate and those of clients, in files."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.authority = trustme.CA()
        self._names = names or ("127.0.0.1",)
        self.renew()
        folder.mkdir(exist_ok=True)
        self.ca_file = folder / "ca.crt"
        self.authority.cert_pem.write_to_path(str(self.ca_file))

    def renew(self) -> None:
        """Give the server another certificate."""
        self.server = self.authority.issue_cert(*self._names)

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.server.configure_cert(context)
        self.authority.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # from Python 3.13 on; trustme's are not as strict
        return context

    def client(self, name: str) -> tuple[bytes, bytes]:
        """Return a certificate for a user, and its key, PEM."""
        issued = self.authority.issue_cert(common_name=name)
        return b"".join(blob.bytes() for blob in issued.cert_chain_pems), issued.private_key_pem.bytes()


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    certificate: str | None
    connection: int

    @property
    def kind(self) -> str:
        return "watch" if self.query.get("watch") == "true" else "list" if self.path == PODS else "other"

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization")


@dataclass(eq=False)
class Call:
    """A request, and the connection to answer it by."""

    request: Request
    writer: asyncio.StreamWriter

    async def answer(self, status: int, body: Json | str | bytes, **headers: str) -> None:
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        head = {"Content-Length": str(len(content)), "Content-Type": "application/json"}
        head.update((key.replace("_", "-"), value) for key, value in headers.items())
        await self.send(self._head(status, head) + content)

    async def begin(self, **headers: str) -> None:
        """Begin an answer of unknown length."""
        await self.send(self._head(200, {"Transfer-Encoding": "chunked", **headers}))

    async def chunk(self, content: bytes) -> None:
        await self.send(b"%x\r\n%b\r\n" % (len(content), content))

    async def event(self, kind: str, item: Json) -> None:
        await self.chunk(json.dumps({"type": kind, "object": item}).encode() + b"\n")

    async def end(self) -> None:
        await self.send(b"0\r\n\r\n")

    def cut(self) -> None:
        """Break the connection off, as a dying machine does."""
        sock = self.writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # which is closed already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    @staticmethod
    def _head(status: int, headers: dict[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {status} {'OK' if status < 300 else 'Refused'}"]
        return "\r\n".join([*lines, *(f"{key}: {value}" for key, value in headers.items()), "", ""]).encode()


Act = Callable[[Call], Awaitable[None]]


def refuse(status: int, reason: str = "", message: str = "", **headers: str) -> Act:
    body = {"kind": "Status", "status": "Failure", "reason": reason, "message": message or reason, "code": status}
    return lambda call: call.answer(status, body, **headers)


async def cut(call: Call) -> None:
    call.cut()


async def hang(call: Call) -> None:
    await asyncio.Event().wait()


def pod(name: str, version: int = 1, **metadata: Any) -> Json:
    own = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), "managedFields": [{"manager": "x"}]}
    return {"metadata": {**own, **metadata}}


@dataclass
class FakeApi:
    """One collection of pods, with lists and watches.

    Attributes
    ----------
    requests
        All that came.
    faults
        What is done instead of answering, in order: (the kind of request, what).
    allowed
        Whether a request has the right credentials; else it is answered with 401.
    streams_lists
        Whether a watch may begin with a list (KEP-3157).
    mute, frozen
        Connections up to this one stay open, and bring nothing any more: no events, or no answers either.
    """

    certificates: Certificates | None = None
    allowed: Callable[[Request], bool] = lambda request: True
    requests: list[Request] = field(default_factory=list)
    faults: deque[tuple[str, Act]] = field(default_factory=deque)
    objects: dict[str, Json] = field(default_factory=dict)
    version: int = 1
    port: int = 0
    streams_lists: bool = False

    def __post_init__(self) -> None:
        self.oldest = 0
        self.mute = 0
        self.frozen = 0
        self.watches: dict[int, Call] = {}
        self._history: list[tuple[int, str, Json]] = []
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # -- running ------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> FakeApi:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def start(self) -> None:
        context = self.certificates.context() if self.certificates else None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=context, limit=1 << 22)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"{'https' if self.certificates else 'http'}://127.0.0.1:{self.port}"

    def of(self, kind: str) -> list[Request]:
        return [request for request in self.requests if request.kind == kind]

    # -- the collection -----------------------------------------------------------------------------------------------

    async def put(self, name: str, **metadata: Any) -> None:
        self.version += 1
        item = pod(name, self.version, **metadata)
        await self._change("MODIFIED" if name in self.objects else "ADDED", item)
        self.objects[name] = item

    async def remove(self, name: str) -> None:
        self.version += 1
        item = self.objects.pop(name)
        await self._change("DELETED", {"metadata": {**item["metadata"], "resourceVersion": str(self.version)}})

    async def bookmark(self) -> None:
        self.version += 1
        await self._change("BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})

    async def forget(self) -> None:
        """Forget the history, as etcd's compaction does."""
        self.version += 1
        self.oldest = self.version

    async def _change(self, kind: str, item: Json) -> None:
        async with self._changed:
            self._history.append((self.version, kind, item))
            self._changed.notify_all()

    # -- answers ------------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        connection = self._connections
        try:
            while True:
                call = Call(await self._request(reader, writer, connection), writer)
                self.requests.append(call.request)
                async with self._changed:
                    self._changed.notify_all()
                if connection <= self.frozen:
                    await hang(call)
                await self._handle(call)
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, target, _version = head[0].split(" ")
        headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in head[1:] if line)}
        peer = writer.get_extra_info("peercert") or {}
        names = dict(entry for part in peer.get("subject", ()) for entry in part)
        return Request(
            method=method,
            path=urlsplit(target).path,
            query=dict(parse_qsl(urlsplit(target).query)),
            headers=headers,
            body=await reader.readexactly(int(headers.get("content-length", 0))),
            certificate=names.get("commonName"),
            connection=connection,
        )

    async def _handle(self, call: Call) -> None:
        kind = call.request.kind
        if self.faults and self.faults[0][0] in (kind, "any"):
            _kind, act = self.faults.popleft()
            await act(call)
        elif not self.allowed(call.request):
            await refuse(401, "Unauthorized", "Unauthorized")(call)
        elif kind == "watch":
            await self._watch(call)
        elif kind == "list":
            await self._list(call)
        else:
            await call.answer(200, {"path": call.request.path})

    async def _list(self, call: Call) -> None:
        name = dict(parse_qsl(call.request.query.get("fieldSelector", ""))).get("metadata.name")
        items = [item for item in self.objects.values() if name in (None, item["metadata"]["name"])]
        await call.answer(200, {"kind": "PodList", "items": items, "metadata": {"resourceVersion": str(self.version)}})

    async def _watch(self, call: Call) -> None:
        with anyio.move_on_after(float(call.request.query.get("timeoutSeconds", "inf"))):
            await self._send_changes(call)
            return
        await call.end()

    async def _send_changes(self, call: Call) -> None:
        query = call.request.query
        seen = int(query["resourceVersion"])
        if "sendInitialEvents" in query and not self.streams_lists:
            message = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            await refuse(422, "Invalid", message)(call)
            return
        await call.begin()
        if "sendInitialEvents" in query:
            for item in self.objects.values():
                await call.event("ADDED", item)
            seen = self.version
            annotations = {"k8s.io/initial-events-end": "true"}
            await call.event("BOOKMARK", {"metadata": {"resourceVersion": str(seen), "annotations": annotations}})
        if seen < self.oldest:
            await call.event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
            await call.end()
            return
        number = len(self.requests)
        self.watches[number] = call
        async with self._changed:
            self._changed.notify_all()
        try:
            while True:
                async with self._changed:
                    news = [entry for entry in self._history if entry[0] > seen]
                    if not news:
                        await self._changed.wait()
                        continue
                for version, kind, item in news:
                    if call.request.connection <= self.mute:
                        await hang(call)
                    await call.event(kind, item)
                    seen = version
        finally:
            self.watches.pop(number, None)

    async def watched(self, count: int = 1) -> None:
        """Wait until that many watches stand."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.watches) >= count)

    async def asked(self, kind: str, count: int) -> None:
        """Wait until that many requests of a kind have come."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.of(kind)) >= count)

    def fall_silent(self) -> None:
        """Let no event through any more on the connections that are open, without closing them."""
        self.mute = self._connections

    def freeze(self) -> None:
        """Let nothing at all through any more on the connections that are open, without closing them."""
        self.mute = self.frozen = self._connections

    def cut_watches(self) -> None:
        for call in list(self.watches.values()):
            call.cut()


@dataclass
class FakeProxy:
    """An HTTP proxy that makes tunnels (CONNECT).

    Attributes
    ----------
    tunnels
        Addresses that were asked for.
    password
        `user:password`, without which it refuses.
    to
        Where every tunnel leads, whatever was asked for: names in tests have no address.
    """

    to: int
    password: str | None = None
    tunnels: list[str] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> FakeProxy:
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.tunnels.append(head.split(" ")[1])
        wanted = base64.b64encode((self.password or "").encode()).decode()
        if self.password is not None and f"Basic {wanted}" not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def write_kubeconfig(
    path: Path,
    cluster: Json,
    user: Json | None = None,
    *,
    name: str = "lab",
    namespace: str | None = "lab",
    **more: Any,
) -> Path:
    """Write a kubeconfig with one context."""
    context = {"cluster": name, "user": name, **({"namespace": namespace} if namespace else {})}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "contexts": [{"name": name, "context": context}],
        "users": [{"name": name, "user": user or {}}],
        **more,
    }
    path.write_text(yaml.safe_dump(document))
    return path
