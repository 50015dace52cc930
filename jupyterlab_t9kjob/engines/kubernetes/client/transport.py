"""Transport of requests to an API server without a proxy; one read takes all that has arrived.

An API server sends logs and lists in TLS records of 2 KiB, or smaller ones. httpx's own transport reads one record at a
time, with a time limit for each, and each chunk of an answer by itself. This takes longer than all the rest that is
done with a log.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Final

import httpcore
import httpx

from .merged_chunks import MergedChunks

KEPT_CONNECTIONS: Final = 10
KEPT_SECONDS: Final = 5.0
"""Time for which a connection without a request is kept for the next one."""


class DirectTransport(httpx.AsyncBaseTransport):
    """Connections to one server. There may be any number: each watch and each followed log uses one of its own.

    Parameters
    ----------
    context
        How the server's certificate is verified, with the client's certificate.
    socket_options
        Options of the sockets: level, name and value.
    """

    def __init__(self, context: ssl.SSLContext, socket_options: Iterable[tuple[int, int, int]]) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=KEPT_CONNECTIONS,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=_Backend(),
            socket_options=socket_options,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the answer with unread content."""
        url = request.url
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _errors_of_httpx():
            answer = await self._pool.handle_async_request(asked)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=_Content(answer.stream), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Content(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream: AsyncIterable[bytes] = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()


@contextlib.contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raise errors of httpcore as those of httpx, which have the same names."""
    try:
        yield
    except Exception as error:
        for kind in type(error).__mro__:
            known = getattr(httpx, kind.__name__, None) if kind.__module__.startswith("httpcore") else None
            if isinstance(known, type) and issubclass(known, httpx.TransportError):
                raise known(str(error)) from error
        raise


class _Backend(httpcore.AsyncNetworkBackend):
    """Opens connections whose reads take all that has arrived."""

    def __init__(self) -> None:
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._sockets.connect_tcp(host, port, timeout, local_address, socket_options))

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._sockets.connect_unix_socket(path, timeout, socket_options))

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._tls: ssl.SSLObject | None = stream.get_extra_info("ssl_object")
        self._chunks = MergedChunks()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        while data := await self._arrived(max_bytes, timeout):
            if merged := self._chunks.feed(data):
                return merged
        return data

    async def _arrived(self, max_bytes: int, timeout: float | None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        if self._tls is None or not data:
            return data
        parts, left = [data], max_bytes - len(data)
        # An error, or the end of the stream, is there for the next read as well.
        with contextlib.suppress(ssl.SSLError):
            while left > 0 and (more := self._tls.read(left)):
                parts.append(more)
                left -= len(more)
        return b"".join(parts)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._chunks.begin()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
