"""Answers of an API server: their content, refusals, the events of a watch, and the repetition of broken ones."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import httpx

from .errors import ApiError, BrokenOff
from .json_text import Json
from .line_stream import lines

T = TypeVar("T")
Params = Mapping[str, str | int | bool | None]

LARGEST_EVENT = 32 * 1024 * 1024
"""Greatest size of one object in bytes. etcd keeps objects of at most 1.5 MiB, so no API server sends a larger one."""
LARGEST_REFUSAL = 1024 * 1024
_SECONDS = re.compile(r"[0-9]{1,6}")


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    """Yield the events of a watch.

    Raises
    ------
    ApiError
        For an event of the type ``ERROR``, such as 410 when the history is gone.
    """
    async for line in lines(chunks, LARGEST_EVENT):
        event: Json = json.loads(line)
        if event.get("type") == "ERROR":
            status = event.get("object")
            code = status.get("code") if isinstance(status, dict) else None
            raise ApiError(code if isinstance(code, int) else 500, status if isinstance(status, dict) else {})
        yield event


async def refusal_of(response: httpx.Response) -> ApiError:
    """Read an answer with an error status, and return it as an error."""
    content = await content_of(response, LARGEST_REFUSAL)
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None  # Such as the plain text "404 page not found", the answer for a missing API group.
    if not isinstance(body, dict):
        text = content.decode(errors="replace").strip()
        html = text.startswith("<")  # A gateway before the API server answers so.
        body = {"message": f"HTTP {response.status_code} {response.reason_phrase}" if html else text}
    after = response.headers.get("Retry-After", "")
    return ApiError(response.status_code, body, int(after) if _SECONDS.fullmatch(after) else None)


async def content_of(response: httpx.Response, limit: int) -> bytes:
    """Return the content of an answer; of a larger one than the limit, a little more than the limit.

    Parameters
    ----------
    response
        An answer with unread content.
    limit
        Size in bytes above which the rest of the content is not read.

    Raises
    ------
    httpx.RequestError, httpx.StreamError
        If the connection breaks before the content is complete.
    """
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            break
    return b"".join(pieces)


async def once_more(ask: Callable[[], Awaitable[T]]) -> T:
    """Return an answer; request it again if the connection broke off. Only for requests that change nothing."""
    try:
        return await ask()
    except BrokenOff:
        return await ask()


def plain_params(params: Params | Sequence[tuple[str, str]] | None) -> list[tuple[str, str]]:
    """Return query parameters as strings, without those that are None."""
    return [
        (key, str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in (params.items() if isinstance(params, Mapping) else params or ())
        if value is not None
    ]
