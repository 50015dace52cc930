"""A cluster's API over HTTP, in raw JSON: connection, credentials, errors and streams; nothing else."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx

from .credentials import Connection

Json = dict[str, Any]
Params = Mapping[str, str | int | bool | None]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 30.0
PAGE = 500
"""Objects in one part of a list, as kubectl asks for them."""
MERGE_PATCH = "application/merge-patch+json"
_MOST_OF_AN_ERROR = 4096


class Unreachable(Exception):
    """No answer came from the API server; the text says why."""


class ApiError(Exception):
    """An answer of the API server that is no success.

    Parameters
    ----------
    status
        The HTTP status.
    body
        The `Status` object that came with it, or what was made of a text.

    Attributes
    ----------
    reason
        For programs: ``NotFound``, ``Forbidden``, ``AlreadyExists``, ``Expired`` …
    message
        The server's own words.
    causes
        Its list of (field, message), where a field is wrong.
    retry_after
        Seconds after which to ask again; None if it did not say.
    """

    def __init__(self, status: int, body: Json, retry_after: float | None = None) -> None:
        self.status = status
        self.reason = str(body.get("reason") or "")
        self.message = str(body.get("message") or f"HTTP {status}")
        details = body.get("details") or {}
        self.causes = [
            (str(cause.get("field") or ""), str(cause.get("message") or "")) for cause in details.get("causes") or []
        ]
        self.retry_after = retry_after if retry_after is not None else details.get("retryAfterSeconds")
        super().__init__(f"{status} {self.reason}: {self.message}")


class KubeApi:
    """One cluster's API.

    Every method is a coroutine that raises `ApiError` for a refusal and `Unreachable` where no answer came.

    Parameters
    ----------
    connection
        The cluster, and as whom to speak to it.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._extensions = {"sni_hostname": connection.server_name} if connection.server_name else {}
        self._client = httpx.AsyncClient(
            base_url=connection.server,
            timeout=httpx.Timeout(CONNECT_SECONDS, read=ANSWER_SECONDS, pool=None),
            # how an environment's proxies are meant is known to the one who made the connection
            trust_env=False,
            transport=httpx.AsyncHTTPTransport(
                verify=connection.tls,
                proxy=connection.proxy,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=10),
                socket_options=_KEEP_ALIVE,
            ),
        )

    async def close(self) -> None:
        """Let go of all connections."""
        await self._client.aclose()

    # -- requests -----------------------------------------------------------------------------------------------------

    async def get(self, path: str, params: Params | None = None) -> Json:
        """Return an object."""
        return await self._json("GET", path, params)

    async def get_text(self, path: str, params: Params | None = None) -> str:
        """Return a text, such as a container's log or the answer of `/version`."""
        response = await self._answer("GET", path, params)
        return response.text

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
        """Return all objects of a collection, asked for in parts, and its resource version.

        An `ApiError` 410 says that the collection changed too much meanwhile: ask again.
        """
        items: list[Json] = []
        following: str | None = None
        while True:
            page = await self.get(path, {**(params or {}), "limit": PAGE, "continue": following})
            items += page.get("items") or []
            following = page["metadata"].get("continue") or None
            if following is None:
                return items, str(page["metadata"].get("resourceVersion") or "")

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
        self, path: str, params: Params | None = None, *, silence: float | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open an answer that goes on; gives its bytes as they come.

        Parameters
        ----------
        silence
            Seconds without a byte after which the connection counts as dead (`Unreachable`); None for no such limit.
        """
        timeout = httpx.Timeout(CONNECT_SECONDS, read=silence, pool=None)
        request = self._client.build_request(
            "GET",
            path,
            params=_plain(params),
            headers=await self._headers(),
            timeout=timeout,
            extensions=self._extensions,
        )
        try:
            response = await asyncio.wait_for(self._client.send(request, stream=True), ANSWER_SECONDS)
        except (httpx.TransportError, asyncio.TimeoutError) as error:
            raise Unreachable(_words(error)) from error
        try:
            if not response.is_success:
                await response.aread()
                raise _refusal(response)
            yield response.aiter_bytes()
        except (httpx.TransportError, httpx.StreamError) as error:
            raise Unreachable(_words(error)) from error
        finally:
            await response.aclose()

    @asynccontextmanager
    async def watch(
        self, path: str, params: Params | None = None, *, silence: float
    ) -> AsyncIterator[AsyncIterator[Json]]:
        """Open a watch; gives its events until the server ends it.

        An error that comes as an event, such as 410 when the history is gone, is raised as an `ApiError` as well.
        """
        async with self.stream(path, {**(params or {}), "watch": True}, silence=silence) as chunks:
            yield _events(chunks)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _json(
        self, method: Method, path: str, params: Params | None, body: Json | None = None, kind: str = "application/json"
    ) -> Json:
        response = await self._answer(method, path, params, body, kind)
        try:
            answer: Json = response.json()
        except ValueError as error:
            raise Unreachable(f"What answers at {self.connection.server} is not a Kubernetes API.") from error
        return answer

    async def _answer(
        self, method: Method, path: str, params: Params | None, body: Json | None = None, kind: str = "application/json"
    ) -> httpx.Response:
        headers = await self._headers()
        if body is not None:
            headers["Content-Type"] = kind
        try:
            response = await self._client.request(
                method,
                path,
                params=_plain(params),
                content=None if body is None else json.dumps(body).encode(),
                headers=headers,
                extensions=self._extensions,
            )
        except httpx.TransportError as error:
            raise Unreachable(_words(error)) from error
        if not response.is_success:
            raise _refusal(response)
        return response

    async def _headers(self) -> dict[str, str]:
        headers = await asyncio.to_thread(self.connection.headers)
        return {"Accept": "application/json", **headers}


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    r"""Return the lines of a stream of bytes, without their ``\n``; nothing else ends a line.

    A last line that has no end is left out: the stream broke off within it.
    """
    pieces: list[bytes] = []
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        pieces.append(first)
        for piece in rest:
            yield b"".join(pieces)
            pieces = [piece]


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    async for line in lines(chunks):
        event: Json = json.loads(line)
        if event.get("type") == "ERROR":
            status = event.get("object") or {}
            raise ApiError(int(status.get("code") or 500), status)
        yield event


def _refusal(response: httpx.Response) -> ApiError:
    try:
        body = response.json()
    except ValueError:
        body = None  # such as "404 page not found", a plain text, for a group that is not there
    if not isinstance(body, dict):
        body = {"message": response.text.strip()[:_MOST_OF_AN_ERROR]}
    after = response.headers.get("Retry-After", "")
    return ApiError(response.status_code, body, float(after) if after.isdecimal() else None)


def _plain(params: Params | None) -> dict[str, str]:
    """Return the parameters as text, without those that are None."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in (params or {}).items()
        if value is not None
    }


def _words(error: Exception) -> str:
    if isinstance(error, (httpx.TimeoutException, asyncio.TimeoutError)):
        return "The cluster does not answer in time."
    return f"The cluster can't be reached: {str(error) or type(error).__name__}."


def _keep_alive() -> list[tuple[int, int, int]]:
    """Return socket options that find a connection that nobody holds any more, within two minutes."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 6)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


_KEEP_ALIVE = _keep_alive()
