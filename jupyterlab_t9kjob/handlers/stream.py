"""Handler of the WebSocket ``stream``: changes of jobs, TensorBoards, engines and capacity."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..core.errors import JobError
from .base import Socket, guarded_socket

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..jobs.feed.feed import Feed
    from .messages import Subscribe


class StreamHandler(Socket):
    """The WebSocket ``stream``.

    The page sends a subscription (`Subscribe`), then gets a snapshot, then changes. After a new subscription, it gets
    another snapshot if the lists have changed, and the details of each job that was added.
    """

    _subscription: Subscribe | None = None
    _feed: Feed

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._news = asyncio.Event()
        self._leave_capacity: Callable[[], None] | None = None

    @guarded_socket
    async def get(self) -> None:
        """Open the WebSocket."""
        self._feed = (await self.app.services()).feed
        await self.connect()

    async def answer(self, message: str | bytes) -> None:
        """Replace the page's subscription."""
        from pydantic import TypeAdapter

        from ..core.texts.validation import parse_message
        from .messages import Subscribe

        first = self._subscription is None
        self._subscription = parse_message(TypeAdapter(Subscribe), message)
        self._news.set()
        if first:
            self.spawn(self._push())

    async def _push(self) -> None:
        try:
            await self._feed.attach(self._news)
            await self._push_news(self._feed)
        finally:
            self._feed.detach(self._news)
            self._subscribe_to_capacity(wanted=False)

    async def _push_news(self, feed: Feed) -> None:
        from ..jobs.feed.feed import View

        shown, revision, capacity, details = None, 0, 0, dict[str, int]()
        while True:
            await self._news.wait()
            self._news.clear()
            wanted = self._subscription
            assert wanted is not None  # noqa: S101
            view = View(wanted.jobs, wanted.tensorboards)
            self._subscribe_to_capacity(wanted=wanted.capacity)
            messages = feed.messages(view, revision if view == shown else None, capacity if wanted.capacity else None)
            shown, revision, capacity = view, feed.revision, feed.revision if wanted.capacity else 0
            for message in messages:
                await self.send(message)
            details = {ident: details[ident] for ident in wanted.details if ident in details}
            for ident in wanted.details:
                changed = feed.job_revision(ident)
                if details.get(ident) != changed:
                    details[ident] = changed
                    await self._send_detail(feed, ident)

    def _subscribe_to_capacity(self, *, wanted: bool) -> None:
        if wanted and self._leave_capacity is None:
            self._leave_capacity = self._feed.subscribe_to_capacity()
        elif not wanted and self._leave_capacity is not None:
            self._leave_capacity()
            self._leave_capacity = None

    async def _send_detail(self, feed: Feed, ident: str) -> None:
        try:
            await self.send(await feed.detail(ident))
        except JobError as error:  # The error is about this job; the page still gets all others.
            await self.refuse(error)
