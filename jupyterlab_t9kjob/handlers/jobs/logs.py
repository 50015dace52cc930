"""Handler of a job's logs: the list of streams, and a WebSocket for their lines."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from ...core.errors import JobError
from ...core.translation import _, translated
from ..base import Socket, guarded_socket

if TYPE_CHECKING:
    from ...logs.serving.follow import JobLogs
    from ..messages import FindErrors, FollowLog, LogRequest, ReadLog, SearchLog


class LogsHandler(Socket):
    """``jobs/{id}/logs``.

    Requests for pages are answered one after the other. At the same time, one follow and one search may run; a new one
    ends the earlier one.
    """

    _logs: JobLogs
    _follow: asyncio.Task[None] | None = None
    _search: asyncio.Task[None] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._subscribed = asyncio.Event()
        self._search_request = 0
        self._sequence = 0
        self._unacknowledged: dict[int, int] = {}
        self._acknowledged = asyncio.Event()

    @guarded_socket
    async def get(self, ident: str) -> None:
        """List the streams, or open the WebSocket."""
        from ..messages import LogStreamList

        streams = await (await self.app.services()).jobs.log_streams(ident)
        if "Upgrade" in self.request.headers:
            await self.connect(ident)
        else:
            self.set_header("Content-Type", "application/json")
            self.finish(LogStreamList(streams=streams).model_dump_json())

    def open(self, ident: str) -> None:
        """Subscribe to the job's logs."""
        super().open()
        self.spawn(self._subscribe(ident))

    async def _subscribe(self, ident: str) -> None:
        """Send the list of streams, at the start and after changes, until the connection ends."""
        from ..messages import LogStreams

        services = await self.app.services()
        try:
            async with services.logs.subscribe(ident) as self._logs:
                while True:
                    listing = self._logs.listed.count
                    await self.send(LogStreams(streams=self._logs.streams).model_dump_json())
                    self._subscribed.set()
                    await self._logs.listed.wait(listing)
        except JobError as error:  # The job was removed in the meantime.
            await self.refuse(error)
        finally:
            self.close()  # Without the subscription, no request can be answered.
            self._subscribed.set()

    async def answer(self, message: str | bytes) -> None:
        """Answer one message."""
        from ...core.texts.validation import parse_message
        from ..messages import LOG_REQUEST, AckLog, FindErrors, FollowLog, ReadLog, SearchLog

        request: LogRequest = parse_message(LOG_REQUEST, message)
        await self._subscribed.wait()
        if self.ws_connection is None or not hasattr(self, "_logs"):
            return
        if isinstance(request, ReadLog):
            await self._read(request)
        elif isinstance(request, AckLog):
            self._acknowledge(request.sequence)
        elif isinstance(request, SearchLog):
            await self._begin_search(request)
        elif isinstance(request, FindErrors):
            await self._find_errors(request)
        else:
            if self._follow is not None:
                self._follow.cancel()
            if isinstance(request, FollowLog):
                self._unacknowledged.clear()
                self._follow = self.spawn(self._send_growth(request))

    # -- pages --------------------------------------------------------------------------------------------------------

    async def _read(self, request: ReadLog) -> None:
        from ..messages import LogPage

        page = await self._logs.page(request.streams, request.anchor, request.direction, request.lines, request.level)
        answer = LogPage(
            request=request.request,
            lines=page.lines,
            before=page.before,
            after=page.after,
            at_start=page.at_start,
            at_end=page.at_end,
        )
        await self.send(answer.model_dump_json())

    # -- following ----------------------------------------------------------------------------------------------------

    async def _send_growth(self, request: FollowLog) -> None:
        streams = None if request.streams is None else frozenset(request.streams)
        cursor, told = request.cursor, False
        while True:
            await self._wait_for_ack()
            growth = self._logs.grown.count
            batch = await self._logs.batch(streams, cursor, request.level)
            caught_up = batch.caught_up and batch.growth == growth
            if not batch.empty or (caught_up and not told):
                self._sequence += 1
                message = (
                    f'{{"type":"append","sequence":{self._sequence},"lines":{batch.lines},'
                    f'"after":{json.dumps(batch.after)},"caught_up":{json.dumps(caught_up)}}}'
                )
                self._unacknowledged[self._sequence] = len(message)
                told = caught_up
                await self.send(message)
            # With a level, a batch may have no line and yet not be at the end.
            cursor = batch.after
            if caught_up:
                await self._logs.wait_for_growth(growth)

    async def _wait_for_ack(self) -> None:
        """Wait until less than `log_bytes_in_flight` bytes have been sent ahead of the acknowledged message."""
        while sum(self._unacknowledged.values()) >= self.app.log_bytes_in_flight:
            self._acknowledged.clear()
            await self._acknowledged.wait()

    def _acknowledge(self, sequence: int) -> None:
        for sent in [number for number in self._unacknowledged if number <= sequence]:
            del self._unacknowledged[sent]
        self._acknowledged.set()

    # -- errors -------------------------------------------------------------------------------------------------------

    async def _find_errors(self, request: FindErrors) -> None:
        from ...logs.serving.model import LogError
        from ..messages import LogErrors

        found = await self._logs.first_errors(request.streams)
        answer = LogErrors(
            request=request.request,
            errors=[LogError(**vars(error)) for error in found.errors],
            searched=found.searched,
            size=found.size,
            complete=found.complete,
        )
        await self.send(answer.model_dump_json())

    # -- searching ----------------------------------------------------------------------------------------------------

    async def _begin_search(self, request: SearchLog) -> None:
        if self._search is not None and not self._search.done():
            self._search.cancel()
            await self.refuse(Superseded(_("Another search has begun.")), self._search_request)
        self._search_request = request.request
        self._search = self.spawn(self._send_hits(request))

    async def _send_hits(self, request: SearchLog) -> None:
        from ...logs.serving.search import search

        try:
            found = await search(
                self._logs.sources(request.streams),
                request.pattern,
                regex=request.regex,
                case_sensitive=request.case_sensitive,
                limit=request.limit,
                context=request.context,
                level=request.level,
            )
        except JobError as error:
            await self.refuse(error, request.request)
            return
        stopped = translated(found.stopped) if found.stopped is not None else None
        await self.send(
            f'{{"type":"hits","request":{request.request},"hits":[{",".join(found.hits)}],'
            f'"complete":{json.dumps(found.complete)},"stopped":{json.dumps(stopped)}}}'
        )


class Superseded(JobError):
    """A new request of the client has replaced this one."""

    status = 409
    code = "Superseded"
