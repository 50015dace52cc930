"""A cluster's API over HTTP, in raw JSON: connection, credentials, errors and streams; nothing else."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import islice
from typing import Literal, TypeVar

import anyio
import httpx

from ....core.system.signals import Signal
from .credentials import Connection
from .errors import ApiError, BrokenOff, Unreachable
from .json_text import Json, without_gc
from .line_stream import lines
from .list_parser import ListReader, NoList
from .pool import Pools, code_of, is_of_tls, words_of

__all__ = [
    "MERGE_PATCH",
    "ApiError",
    "Json",
    "KubeApi",
    "Params",
    "Unreachable",
    "lines",
    "once_more",
    "without_managed_fields",
]

T = TypeVar("T")
Params = Mapping[str, str | int | bool | None]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

ANSWER_SECONDS = 30.0
"""How long the server may be silent within an answer, and before it opens a stream."""
WHOLE_ANSWER_SECONDS = 120.0
"""How long an answer may take in all."""
PATIENCE_SECONDS = 10.0
"""How long a busy server's request to come again later is followed here, before it is an error."""
SHORTEST_PAUSE = 0.1
TURN_BYTES = 128 * 1024
"""How much of a list is read before others get their turn; what comes at once, unpacked, may be far more."""
TURN_OBJECTS = 100
"""How many objects of it: to read, pack and tell of one takes up to a tenth of a millisecond."""
LARGEST_ANSWER = 256 * 1024 * 1024
LARGEST_EVENT = 32 * 1024 * 1024
"""An object is at most 1.5 MiB in etcd's own terms; what is far larger is no API server's."""
LARGEST_REFUSAL = 1024 * 1024
_SECONDS = re.compile(r"[0-9]{1,6}")
MERGE_PATCH = "application/merge-patch+json"


def without_managed_fields(item: Json) -> Json:
    """Return an object without what nobody looks at, and what is half of it."""
    item["metadata"].pop("managedFields", None)
    return item


class KubeApi:
    """One cluster's API.

    Every method is a coroutine that raises `ApiError` for a refusal and `Unreachable` where no answer came.
    Credentials that run out, or are refused, are loaded anew.

    Parameters
    ----------
    connection
        The cluster, and as whom to speak to it.

    Attributes
    ----------
    lost
        Whether somebody has found that the cluster does not answer, and asks it again and again for all others.
    attended
        Set while a page is open: watches are probed then, see `Probe`.
    silence
        Sent when a watch has fallen silent, see `Probe`: other streams from before may have as well.
    streams_lists
        False once the API server has refused to send a list as a watch (KEP-3157).
    """

    def __init__(self, connection: Connection, attended: asyncio.Event | None = None) -> None:
        self.lost = False
        self.attended = attended if attended is not None else asyncio.Event()
        self.streams_lists = True
        self._pools = Pools(connection)
        self.silence = Signal()
        self._wakes = Signal()
        self._left_at = 0.0

    @property
    def connection(self) -> Connection:
        """The cluster, with the credentials that are used now."""
        return self._pools.connection

    @property
    def moved(self) -> bool:
        """Whether the credentials have become those of another cluster at the same address, see `Pools`."""
        return self._pools.moved

    async def use(self, connection: Connection) -> None:
        """Go on with other credentials for the same cluster."""
        await self._pools.use(connection)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._pools.close()

    # -- outages ------------------------------------------------------------------------------------------------------

    def on_wake(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` when a cluster that was lost answers again, or all are to try again; return how to end that."""
        return self._wakes.listen(wake)

    async def lose(self) -> None:
        """Take note that the cluster does not answer."""
        if not self.lost:
            self.lost = True
            await self._pools.leave()

    async def leave_connections(self, asked_at: float) -> None:
        """Make new connections from now on, for a request of `asked_at` (by the monotonic clock) got no answer.

        Connections that were kept open for the next request may be dead without anybody knowing. Open streams stay.
        """
        if self._left_at < asked_at:
            self._left_at = time.monotonic()
            await self._pools.leave()

    async def find(self) -> None:
        """Take note that it answers: streams from before are broken off, and everybody tries again."""
        if self.lost:
            self.lost = False
            await self._pools.abandon()
            self.wake()

    def wake(self) -> None:
        """Let everybody who waits for a better time try again now."""
        self._wakes.send()

    # -- requests -----------------------------------------------------------------------------------------------------

    async def get(self, path: str, params: Params | None = None) -> Json:
        """Return an object."""
        return await self._json("GET", path, params)

    async def get_text(self, path: str, params: Params | None = None) -> str:
        """Return a text, such as a container's log or the answer of `/version`."""
        return (await self._answer("GET", path, params)).decode(errors="replace")

    async def create(self, path: str, body: Json, params: Params | None = None) -> Json:
        """Create an object in a collection."""
        return await self._json("POST", path, params, body)

    async def patch(self, path: str, body: Json, params: Params | None = None) -> Json:
        """Change an object by a JSON merge patch."""
        return await self._json("PATCH", path, params, body, MERGE_PATCH)

    async def delete(self, path: str, *, propagation: str = "Background", uid: str | None = None) -> Json:
        """Delete an object; with `uid` only if it still is that one."""
        body: Json = {"propagationPolicy": propagation}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        return await self._json("DELETE", path, None, body)

    async def list(self, path: str, params: Params | None = None) -> tuple[list[Json], str]:
        """Return all objects of a collection and its resource version."""

        async def whole() -> tuple[list[Json], str]:
            items: list[Json] = []
            version = await self.read(path, lambda item: items.append(without_managed_fields(item)), params)
            return items, version

        return await once_more(whole)

    async def read(
        self,
        path: str,
        take: Callable[[Json], None],
        params: Params | None = None,
        *,
        patience: float | None = None,
    ) -> str:
        """Give every object of a collection to `take` as it comes; return the collection's resource version.

        They never are here as a whole, unless `take` keeps them. The list is asked for at once: API servers have it at
        hand, but ask etcd for pages, which takes five times as long [10 000 jobs, 1.34]. All of it may take
        `WHOLE_ANSWER_SECONDS`.
        """
        reader, begun = ListReader(LARGEST_EVENT), time.monotonic()
        try:
            async with self.stream(path, params, silence=ANSWER_SECONDS, patience=patience) as chunks:
                async for chunk in chunks:
                    for at in range(0, len(chunk), TURN_BYTES):
                        await _in_turns(reader.feed(chunk[at : at + TURN_BYTES]), take)
                    if time.monotonic() - begun > WHOLE_ANSWER_SECONDS:
                        raise Unreachable(words_of(TimeoutError(), self.connection))
            await _in_turns(reader.end(), take)
        except NoList:
            raise _stranger(self.connection) from None
        return reader.version

    async def may(self, verb: str, group: str, resource: str, namespace: str, subresource: str = "") -> bool:
        """Whether this account may do a thing, as the API server sees it."""
        attributes = {"verb": verb, "group": group, "resource": resource, "subresource": subresource}
        review = await self.create(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {**attributes, "namespace": namespace}},
            },
        )
        return bool(review.get("status", {}).get("allowed"))

    # -- streams ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        params: Params | None = None,
        *,
        silence: float | None = None,
        patience: float | None = None,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open an answer that goes on; gives its bytes as they come.

        Parameters
        ----------
        silence
            Seconds without a byte after which the connection counts as dead (`Unreachable`); None for no such limit.
        patience
            Seconds for which a busy server's request to come again later is followed; None for the usual ones.
        """
        async with AsyncExitStack() as stack:
            response = await self._opened(stack, "GET", path, params, silence=silence, patience=patience)
            try:
                yield response.aiter_bytes()
            except (httpx.RequestError, httpx.StreamError) as error:
                raise _unreachable(error, self.connection) from error

    @asynccontextmanager
    async def watch(
        self, path: str, params: Params | None = None, *, silence: float, patience: float | None = None
    ) -> AsyncIterator[AsyncIterator[Json]]:
        """Open a watch; gives its events until the server ends it.

        An error that comes as an event, such as 410 when the history is gone, is raised as an `ApiError` as well.
        """
        params = {**(params or {}), "watch": True}
        async with self.stream(path, params, silence=silence, patience=patience) as chunks:
            yield _events(chunks)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _json(
        self, method: Method, path: str, params: Params | None, body: Json | None = None, kind: str = "application/json"
    ) -> Json:
        content = await self._answer(method, path, params, body, kind)
        try:
            with without_gc():
                answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise _stranger(self.connection)
        return answer

    async def _answer(
        self, method: Method, path: str, params: Params | None, body: Json | None = None, kind: str = "application/json"
    ) -> bytes:
        ask = partial(self._asked, method, path, params, body, kind)
        return await (once_more(ask) if method == "GET" else ask())  # others may have been done

    async def _asked(self, method: Method, path: str, params: Params | None, body: Json | None, kind: str) -> bytes:
        try:
            # not `asyncio.wait_for`, which before Python 3.12 may swallow a cancellation
            with anyio.fail_after(WHOLE_ANSWER_SECONDS):
                async with AsyncExitStack() as stack:
                    response = await self._opened(stack, method, path, params, body, kind, silence=ANSWER_SECONDS)
                    content = await _read(response, LARGEST_ANSWER)
        except (httpx.RequestError, httpx.StreamError, TimeoutError) as error:
            raise _unreachable(error, self.connection) from error
        if len(content) > LARGEST_ANSWER:
            raise Unreachable(f"{self.connection.host} answers with more than {LARGEST_ANSWER >> 20} MiB.")
        return content

    async def _opened(
        self,
        stack: AsyncExitStack,
        method: Method,
        path: str,
        params: Params | None,
        body: Json | None = None,
        kind: str = "application/json",
        *,
        silence: float | None,
        patience: float | None = None,
    ) -> httpx.Response:
        """Return a success whose content is still to be read, as long as the stack is open."""
        content = None if body is None else json.dumps(body).encode()
        headers = (
            {"Accept": "application/json"} if body is None else {"Accept": "application/json", "Content-Type": kind}
        )
        patience = PATIENCE_SECONDS if patience is None else patience
        renewed, waited = False, 0.0
        while True:
            connection = await self._pools.fresh()
            attempt = AsyncExitStack()
            stack.push_async_exit(attempt)
            request = self._pools.send(
                method, path, params=_plain(params), content=content, headers=headers, silence=silence
            )
            try:
                with anyio.fail_after(ANSWER_SECONDS):
                    response = await attempt.enter_async_context(request)
                    if response.is_success:
                        return response
                    refusal = await _refusal(response)
            except (httpx.RequestError, httpx.StreamError, TimeoutError) as error:
                if is_of_tls(error) and not renewed and await self._pools.renewed(connection):
                    renewed = True
                    continue
                raise _unreachable(error, connection) from error
            await attempt.aclose()
            if response.has_redirect_location:
                raise _stranger(connection, ": it leads elsewhere")
            if refusal.status == 401 and not renewed and await self._pools.renewed(connection):
                renewed = True
                continue
            pause = None if refusal.retry_after is None else max(refusal.retry_after, SHORTEST_PAUSE)
            if refusal.status not in (429, 503) or pause is None or waited + pause > patience:
                raise refusal
            waited += pause
            await asyncio.sleep(pause)


async def once_more(ask: Callable[[], Awaitable[T]]) -> T:
    """Return an answer, asked for again if the connection breaks off: only for what changes nothing."""
    try:
        return await ask()
    except BrokenOff:
        return await ask()


async def _in_turns(items: Iterator[Json], take: Callable[[Json], None]) -> None:
    """Give objects of a list to `take` as they are read, and others their turn."""
    left = 0
    while left == 0:
        left = TURN_OBJECTS
        with without_gc():
            for item in islice(items, TURN_OBJECTS):
                take(item)
                left -= 1
        await asyncio.sleep(0)


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    async for line in lines(chunks, LARGEST_EVENT):
        event: Json = json.loads(line)
        if event.get("type") == "ERROR":
            status = event.get("object")
            code = status.get("code") if isinstance(status, dict) else None
            raise ApiError(code if isinstance(code, int) else 500, status if isinstance(status, dict) else {})
        yield event


def _stranger(connection: Connection, why: str = "") -> Unreachable:
    return Unreachable(f"What answers at {connection.host} is not a Kubernetes API{why}.")


def _unreachable(error: Exception, connection: Connection) -> Unreachable:
    broke = isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError))
    return (BrokenOff if broke else Unreachable)(words_of(error, connection), code_of(error))


async def _refusal(response: httpx.Response) -> ApiError:
    content = await _read(response, LARGEST_REFUSAL)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None  # such as "404 page not found", a plain text, for a group that is not there
    if not isinstance(body, dict):
        text = content.decode(errors="replace").strip()
        html = text.startswith("<")  # from what stands before the API server
        body = {"message": f"HTTP {response.status_code} {response.reason_phrase}" if html else text}
    after = response.headers.get("Retry-After", "")
    return ApiError(response.status_code, body, int(after) if _SECONDS.fullmatch(after) else None)


async def _read(response: httpx.Response, limit: int) -> bytes:
    """Return the content, or a little more than the limit of it."""
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            break
    return b"".join(pieces)


def _plain(params: Params | None) -> dict[str, str]:
    """Return the parameters as text, without those that are None."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (params or {}).items()
        if value is not None
    }
