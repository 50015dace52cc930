"""Proxy of HTTP requests to a TensorBoard process; answers are passed on as they arrive."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlsplit

from tornado import httputil
from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.iostream import IOStream, StreamClosedError

from ..core.texts.wording import duration
from ..core.translation import Text, _

if TYPE_CHECKING:
    from .process import Endpoint

MAX_ANSWER = 1024**3
# How long neither TensorBoard nor the browser may move a byte.
SILENCE_SECONDS = 120.0
# Headers that are passed on: none of a request that identifies the user, none of an answer about the connection.
REQUEST_HEADERS = ("Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "Range", "User-Agent")
ANSWER_HEADERS = (
    *("Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Length", "Content-Range"),
    *("Content-Security-Policy", "Content-Type", "Expires", "Location", "X-Content-Type-Options"),
)
OWN_ARGUMENTS = frozenset({"token", "_xsrf", "no_track_activity"})
_INCOMPLETE = _("TensorBoard broke off its answer.")

Begin = Callable[[int, httputil.HTTPHeaders], None]
Pass = Callable[[bytes], Awaitable[None]]


class UnreachableError(Exception):
    """The process does not answer, or does not answer in HTTP.

    Attributes
    ----------
    message
        Sentence that says what happened.
    """

    def __init__(self, message: Text) -> None:
        super().__init__(message)
        self.message = message


class GoneError(Exception):
    """The browser has closed the connection."""


class _Receiver(httputil.HTTPMessageDelegate):
    """Receiver of an answer, which reads the next part when the previous one has been passed on."""

    def __init__(self, begin: Begin, send: Pass) -> None:
        self._begin = begin
        self._send = send
        self.complete = False
        self.parts = 0
        self.stream: IOStream | None = None

    def headers_received(self, start_line: Any, headers: httputil.HTTPHeaders) -> None:
        if start_line.code < 200:  # An interim answer; the final one follows.
            return
        self.parts += 1
        kept = httputil.HTTPHeaders()
        for name in ANSWER_HEADERS:
            for value in headers.get_list(name):
                kept.add(name, value)
        self._begin(start_line.code, kept)

    async def data_received(self, chunk: bytes) -> None:
        try:
            await self._send(chunk)
        except GoneError:  # tornado would log it as an error of this server.
            if self.stream is not None:
                self.stream.close()
        self.parts += 1

    def finish(self) -> None:
        self.complete = True


async def pass_on(
    endpoint: Endpoint, request: httputil.HTTPServerRequest, path: str, body: bytes, begin: Begin, send: Pass
) -> None:
    """Send a request to a TensorBoard and pass its answer on.

    Parameters
    ----------
    endpoint
        Endpoint of the TensorBoard; the request can reach no other address.
    request
        The browser's request.
    path
        Path below TensorBoard's root, still percent-encoded.
    body
        Body of the request.
    begin
        Called with the answer's status and headers.
    send
        Called with each part of the answer's body, and awaited before the next part is read. Raises `GoneError` if the
        browser has closed the connection.

    Raises
    ------
    UnreachableError
        If the process does not answer, or does not complete its answer.
    """
    headers = httputil.HTTPHeaders()
    for name in REQUEST_HEADERS:
        if name in request.headers:
            headers[name] = request.headers[name]
    if request.method == "POST":
        headers["Content-Length"] = str(len(body))
    query = _query(request.query)
    target = f"{path}{'?' if query else ''}{query}"
    receiver = _Receiver(begin, send)
    work = asyncio.ensure_future(_exchange(endpoint, request.method or "GET", target, headers, body, receiver))
    try:
        before = -1
        while not work.done():
            if before == receiver.parts:
                raise UnreachableError(
                    _("TensorBoard did not answer within {duration}.", duration=duration(SILENCE_SECONDS))
                )
            before = receiver.parts
            await asyncio.wait({work}, timeout=SILENCE_SECONDS)
        await work
    finally:
        work.cancel()


async def ask(endpoint: Endpoint, path: str) -> None:
    """Send a GET request to a TensorBoard, and wait for any answer.

    Parameters
    ----------
    endpoint
        Endpoint of the TensorBoard.
    path
        Path below TensorBoard's root.

    Raises
    ------
    UnreachableError
        If the process does not answer, or does not complete its answer.
    """

    async def drop(_chunk: bytes) -> None:
        pass

    receiver = _Receiver(lambda _code, _headers: None, drop)
    await _exchange(endpoint, "GET", path, httputil.HTTPHeaders(), b"", receiver)


async def _exchange(
    endpoint: Endpoint, method: str, target: str, headers: httputil.HTTPHeaders, body: bytes, receiver: _Receiver
) -> None:
    """Send a request on a connection of its own, and receive the answer."""
    stream = await _connect(endpoint)
    endpoint.streams.add(stream)
    receiver.stream = stream
    try:
        connection = HTTP1Connection(
            stream, True, HTTP1ConnectionParameters(no_keep_alive=True, max_body_size=MAX_ANSWER)
        )
        headers["Host"] = "localhost"
        headers["Connection"] = "close"
        start = httputil.RequestStartLine(method, f"{endpoint.prefix}/{target}", "HTTP/1.1")
        await connection.write_headers(start, headers, body or None)
        connection.finish()
        await connection.read_response(receiver)
        if not receiver.complete:
            raise UnreachableError(endpoint.fault or _INCOMPLETE)
    except (StreamClosedError, httputil.HTTPInputError) as error:
        raise UnreachableError(endpoint.fault or _INCOMPLETE) from error
    finally:
        endpoint.streams.discard(stream)
        stream.close()


def browser_headers(headers: httputil.HTTPHeaders, prefix: str, base: str) -> httputil.HTTPHeaders:
    """Return the headers of an answer as the browser gets them.

    Parameters
    ----------
    headers
        TensorBoard's headers.
    prefix
        Prefix of the endpoint.
    base
        Path of TensorBoard's root for the browser, with a slash at the end.
    """
    result = httputil.HTTPHeaders()
    for name, value in headers.get_all():
        result.add(name, below(value, prefix, base) if name == "Location" else value)
    if headers.get("Content-Type", "").startswith("image/"):
        # A logged SVG must not run scripts with the permissions of the page's origin.
        result.add("Content-Security-Policy", "sandbox")
    return result


def below(location: str, prefix: str, base: str) -> str:
    """Return the target of a redirect for the browser, which is always below `base`.

    Parameters
    ----------
    location
        TensorBoard's target: relative, or from its own root.
    prefix
        Prefix of the endpoint.
    base
        Path of TensorBoard's root for the browser, with a slash at the end.
    """
    parts = urlsplit(location)
    path = parts.path
    if path.startswith("/"):
        path = base + path.removeprefix(prefix).lstrip("/")
    return parts._replace(scheme="", netloc="", path=path).geturl()


async def _connect(endpoint: Endpoint) -> IOStream:
    if isinstance(endpoint.address, str):
        stream = IOStream(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    else:
        stream = IOStream(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
    try:
        await stream.connect(endpoint.address)
    except (OSError, StreamClosedError) as error:
        stream.close()
        raise UnreachableError(_("TensorBoard can't be reached.")) from error
    return stream


def _query(query: str) -> str:
    return "&".join(part for part in query.split("&") if unquote_plus(part.partition("=")[0]) not in OWN_ARGUMENTS)
