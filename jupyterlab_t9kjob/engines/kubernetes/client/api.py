"""HTTP client of a cluster's API: requests, lists, streams and watches in raw JSON.

Requests are retried where that is safe, credentials are renewed when they expire, and every failure is a typed error.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Literal

import anyio
import httpx

from ....core.system.garbage import without_gc
from ....core.system.signals import Signal
from ....core.translation import _
from .answers import LARGEST_EVENT, Params, content_of, events_of, once_more, plain_params, refusal_of
from .credentials.connection import Connection
from .errors import ApiError, Unreachable, timed_out
from .failures import is_of_tls, not_kubernetes, redirects, unreachable
from .json_text import Json, without_managed_fields
from .line_stream import gathered, lines
from .list_parser import TURN_BYTES, ListReader, NoList, in_turns
from .pool import ByteStream, Pools

__all__ = ["MERGE_PATCH", "ApiError", "Json", "KubeApi", "Params", "Unreachable", "lines"]

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

ANSWER_SECONDS = 30.0
"""Longest silence of the API server within an answer, and before it opens a stream."""
WHOLE_ANSWER_SECONDS = 120.0
"""Longest duration of a whole answer."""
PATIENCE_SECONDS = 10.0
"""Time for which a request is repeated while a busy API server answers with ``Retry-After``; then it fails."""
SHORTEST_PAUSE = 0.1
LARGEST_ANSWER = 256 * 1024 * 1024
MERGE_PATCH = "application/merge-patch+json"


class KubeApi:
    """Client of one cluster's API.

    Each request raises `ApiError` for a refusal and `Unreachable` if no answer comes. Credentials are renewed when they
    expire or are refused.

    Parameters
    ----------
    connection
        The cluster and the account.
    attended
        Event that is set while a page is open; None for one that is never set.

    Attributes
    ----------
    lost
        True while the cluster does not answer. The health check retries for all, see `lose` and `find`.
    attended
        Set while a page is open; watches are probed then, see `Probe`.
    silence
        Sent when an open watch has fallen silent, see `Probe`; other streams of the same age may be silent as well.
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
        """The cluster and the account with the current credentials."""
        return self._pools.connection

    @property
    def moved(self) -> bool:
        """True if the renewed credentials are those of another cluster at the same address, see `Pools`."""
        return self._pools.moved

    async def use(self, connection: Connection) -> None:
        """Use other credentials for the same cluster from now on."""
        await self._pools.use(connection)

    async def close(self) -> None:
        """Close all connections."""
        await self._pools.close()

    # -- outages ------------------------------------------------------------------------------------------------------

    def on_wake(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` when a lost cluster answers again or `wake` is called; return how to end that."""
        return self._wakes.listen(wake)

    async def lose(self) -> None:
        """Mark the cluster as lost; later requests open new connections."""
        if not self.lost:
            self.lost = True
            await self._pools.leave()

    async def leave_connections(self, asked_at: float) -> None:
        """Open new connections from now on because a request got no answer; open streams continue.

        The idle connections that are kept for the next request may be dead without an error.

        Parameters
        ----------
        asked_at
            Time of the request by the monotonic clock. Connections that are newer stay.
        """
        if self._left_at < asked_at:
            self._left_at = time.monotonic()
            await self._pools.leave()

    async def find(self) -> None:
        """Mark a lost cluster as found: close the streams from before the outage and wake all waiting tasks."""
        if self.lost:
            self.lost = False
            await self._pools.abandon()
            self.wake()

    def wake(self) -> None:
        """Let all tasks that wait for their next attempt try now."""
        self._wakes.send()

    # -- requests -----------------------------------------------------------------------------------------------------

    async def get(self, path: str, params: Params | None = None) -> Json:
        """Return an object; the parameters are those of `stream`."""
        return await self._json("GET", path, params)

    async def get_text(self, path: str, params: Params | None = None) -> str:
        """Return an answer as text, such as a container's log; the parameters are those of `stream`."""
        return (await self._answer("GET", path, params)).decode(errors="replace")

    async def create(self, path: str, body: Json, params: Params | None = None) -> Json:
        """Create an object in a collection; return the created object.

        Parameters
        ----------
        path, body, params
            Path of the collection, the object, and query parameters.
        """
        return await self._json("POST", path, params, body)

    async def patch(self, path: str, body: Json, params: Params | None = None) -> Json:
        """Merge the JSON patch `body` into the object at `path`; return it; the parameters are those of `create`."""
        return await self._json("PATCH", path, params, body, MERGE_PATCH)

    async def delete(self, path: str, *, propagation: str = "Background", uid: str | None = None) -> Json:
        """Delete an object.

        Parameters
        ----------
        path
            Path of the object.
        propagation
            How dependents are deleted: ``Background``, ``Foreground`` or ``Orphan``.
        uid
            Uid that the object must have; None for any.
        """
        body: Json = {"propagationPolicy": propagation}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        return await self._json("DELETE", path, None, body)

    async def list(self, path: str, params: Params | None = None) -> tuple[list[Json], str]:
        """Return all objects of a collection, and its resource version; the parameters are those of `read`."""

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
        """Call `take` with each object of a collection while the list arrives; return the list's resource version.

        The list is never in memory as a whole. It is requested without pages, because the API server serves a whole
        list from its cache but pages from etcd, which takes five times as long [10 000 jobs, 1.34].

        Parameters
        ----------
        path
            Path of the collection.
        take
            Called with each object.
        params
            Query parameters.
        patience
            How long a request is repeated for a busy API server, in seconds; None for `PATIENCE_SECONDS`.
        """
        reader, begun = ListReader(LARGEST_EVENT), time.monotonic()
        try:
            async with (
                self.stream(path, params, silence=ANSWER_SECONDS, patience=patience) as stream,
                gathered(stream) as chunks,  # Each ends within an object, which is parsed in vain.
            ):
                async for chunk in chunks:
                    for at in range(0, len(chunk), TURN_BYTES):
                        await in_turns(reader.feed(chunk[at : at + TURN_BYTES]), take)
                    if time.monotonic() - begun > WHOLE_ANSWER_SECONDS:
                        raise Unreachable(timed_out(self.connection.host))
            await in_turns(reader.end(), take)
        except NoList:
            raise not_kubernetes(self.connection.host) from None
        return reader.version

    async def may(self, verb: str, group: str, resource: str, namespace: str, subresource: str = "") -> bool:
        """Return True if the API server would permit this account a request (SelfSubjectAccessReview).

        Parameters
        ----------
        verb, group, resource, subresource
            The request, as a rule of a Role names it.
        namespace
            The namespace; empty for the whole cluster.
        """
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

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        params: Params | None = None,
        *,
        silence: float | None = None,
        patience: float | None = None,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a streamed answer; yield an iterator of its bytes.

        Parameters
        ----------
        path
            Path of the request.
        params
            Query parameters.
        silence
            Seconds without a byte after which the connection counts as dead (`Unreachable`); None for no limit.
        patience
            How long a request is repeated for a busy API server, in seconds; None for `PATIENCE_SECONDS`.
        """
        async with AsyncExitStack() as stack:
            response = await self._opened(stack, "GET", path, params, silence=silence, patience=patience)
            try:
                yield response.aiter_bytes()
            except (httpx.RequestError, httpx.StreamError) as error:
                raise unreachable(error, self.connection.host) from error

    @asynccontextmanager
    async def watch(
        self, path: str, params: Params | None = None, *, silence: float, patience: float | None = None
    ) -> AsyncIterator[AsyncIterator[Json]]:
        """Open a watch; yield an iterator of its events, which ends when the API server ends the watch.

        An event of the type ``ERROR``, such as 410 when the history is gone, is raised as `ApiError`.

        Parameters
        ----------
        path, params, silence, patience
            See `stream`.
        """
        params = {**(params or {}), "watch": True}
        async with self.stream(path, params, silence=silence, patience=patience) as chunks:
            yield events_of(chunks)

    @asynccontextmanager
    async def upgraded(
        self, path: str, params: Sequence[tuple[str, str]], headers: Mapping[str, str]
    ) -> AsyncIterator[tuple[ByteStream, Mapping[str, str]]]:
        """Open a connection with another protocol; yield its bytes in both directions and the headers of the answer.

        Parameters
        ----------
        path, params
            Path and query parameters of the request; a parameter may come several times.
        headers
            Headers that ask for the other protocol.
        """
        async with AsyncExitStack() as stack:
            response = await self._opened(stack, "GET", path, params, headers=headers, silence=ANSWER_SECONDS)
            stream = response.extensions.get("network_stream")
            if response.status_code != httpx.codes.SWITCHING_PROTOCOLS or stream is None:
                raise Unreachable(_("No WebSocket reaches the cluster at {host}.", host=self.connection.host))
            yield stream, response.headers

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
            raise not_kubernetes(self.connection.host)
        return answer

    async def _answer(
        self, method: Method, path: str, params: Params | None, body: Json | None = None, kind: str = "application/json"
    ) -> bytes:
        ask = partial(self._once, method, path, params, body, kind)
        # The API server may have carried out any other request although its answer was lost.
        return await (once_more(ask) if method == "GET" else ask())

    async def _once(self, method: Method, path: str, params: Params | None, body: Json | None, kind: str) -> bytes:
        try:
            # Not `asyncio.wait_for`, which may swallow a cancellation before Python 3.12.
            with anyio.fail_after(WHOLE_ANSWER_SECONDS):
                async with AsyncExitStack() as stack:
                    response = await self._opened(stack, method, path, params, body, kind, silence=ANSWER_SECONDS)
                    content = await content_of(response, LARGEST_ANSWER)
        except (httpx.RequestError, httpx.StreamError, TimeoutError) as error:
            raise unreachable(error, self.connection.host) from error
        if len(content) > LARGEST_ANSWER:
            raise Unreachable(
                _(
                    "{host} answers with more than {size} MiB.",
                    host=self.connection.host,
                    size=LARGEST_ANSWER >> 20,
                )
            )
        return content

    async def _opened(
        self,
        stack: AsyncExitStack,
        method: Method,
        path: str,
        params: Params | Sequence[tuple[str, str]] | None,
        body: Json | None = None,
        kind: str = "application/json",
        *,
        headers: Mapping[str, str] | None = None,
        silence: float | None,
        patience: float | None = None,
    ) -> httpx.Response:
        """Return a successful answer with unread content, which stays open as long as the stack."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", **(headers or {}), **({} if body is None else {"Content-Type": kind})}
        patience = PATIENCE_SECONDS if patience is None else patience
        renewed, waited = False, 0.0
        while True:
            connection = await self._pools.fresh()
            attempt = AsyncExitStack()
            stack.push_async_exit(attempt)
            request = self._pools.send(
                method, path, params=plain_params(params), content=content, headers=headers, silence=silence
            )
            try:
                with anyio.fail_after(ANSWER_SECONDS):
                    response = await attempt.enter_async_context(request)
                    if response.is_success or response.status_code == httpx.codes.SWITCHING_PROTOCOLS:
                        return response
                    refusal = await refusal_of(response)
            except (httpx.RequestError, httpx.StreamError, TimeoutError) as error:
                if is_of_tls(error) and not renewed and await self._pools.renewed(connection):
                    renewed = True
                    continue
                raise unreachable(error, connection.host) from error
            await attempt.aclose()
            if response.has_redirect_location:
                raise redirects(connection.host)
            if refusal.status == 401 and not renewed and await self._pools.renewed(connection):
                renewed = True
                continue
            pause = None if refusal.retry_after is None else max(refusal.retry_after, SHORTEST_PAUSE)
            if refusal.status not in (429, 503) or pause is None or waited + pause > patience:
                raise refusal
            waited += pause
            await asyncio.sleep(pause)
