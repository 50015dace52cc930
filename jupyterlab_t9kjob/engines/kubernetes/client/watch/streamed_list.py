"""Lists that the API server sends as the beginning of a watch, which costs it less memory (KEP-3157)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio

from .....core.translation import _
from ..errors import Unreachable
from ..json_access import value
from ..json_text import Json

STREAM_SECONDS: Final = 15.0
"""Longest silence of such a list before the list is read in the ordinary way."""


class BrokenList(Unreachable):
    """A list broke off or fell silent before its end."""

    def __init__(self) -> None:
        super().__init__(_("The cluster's answer ended in the middle of a list."))


async def read_streamed_list(
    events: AsyncIterator[Json], put: Callable[[str, Json | None], None]
) -> tuple[set[str], str]:
    """Take in the list at the beginning of a watch; return the uids in it and its resource version.

    Parameters
    ----------
    events
        Events of the watch. Those after the list stay unread.
    put
        Called with the uid and the object of each event; with None for a deleted object.

    Raises
    ------
    BrokenList
        If the list breaks off or falls silent.
    """
    found = set[str]()
    try:
        while True:
            with anyio.fail_after(STREAM_SECONDS):
                event = await anext(events)
            item = event["object"]
            if event["type"] == "BOOKMARK":
                if value(item, "metadata", "annotations", "k8s.io/initial-events-end") == "true":
                    return found, item["metadata"]["resourceVersion"]
                continue
            uid = item["metadata"]["uid"]
            if event["type"] == "DELETED":
                found.discard(uid)
                put(uid, None)
            else:
                found.add(uid)
                put(uid, item)
    except (TimeoutError, StopAsyncIteration):
        raise BrokenList from None
