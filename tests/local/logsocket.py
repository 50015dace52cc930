"""The browser's end of the log socket of a real server, and what it can hold the lines against."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.local.lab import TOKEN, Lab
from tests.patience import PATIENCE

WAIT = PATIENCE


class LogSocket:
    """One connection; `follow` acknowledges what it has read, as a page does."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, lab: Lab, ident: str) -> LogSocket:
        url = f"ws://{lab.url}/t9kjob/jobs/{quote(ident, safe='')}/logs"
        request = HTTPRequest(
            url, headers={"Authorization": f"token {TOKEN}"}, connect_timeout=WAIT, request_timeout=WAIT
        )
        return cls(await websocket_connect(request, max_message_size=2**26))

    async def send(self, **message: Any) -> None:
        await self._connection.write_message(json.dumps(message))

    async def receive(self, *kinds: str) -> dict[str, Any]:
        """Return the next message of one of these types."""
        while True:
            text = await asyncio.wait_for(self._connection.read_message(), WAIT)
            assert text is not None, "the server has closed the socket"
            message: dict[str, Any] = json.loads(text)
            assert message["type"] != "error", message
            if message["type"] in kinds:
                return message

    async def read(self, **request: Any) -> dict[str, Any]:
        await self.send(type="read", request=1, **request)
        return await self.receive("page")

    async def find(self, **request: Any) -> dict[str, Any]:
        await self.send(type="search", request=2, **request)
        return await self.receive("hits")

    async def follow(self, take: Callable[[list[dict[str, Any]]], bool], **request: Any) -> None:
        """Give lines to `take` as they come until it is content."""
        await self.send(type="follow", **{"cursor": {}, **request})
        while True:
            message = await self.receive("append")
            await self.send(type="ack", sequence=message["sequence"])
            if take(message["lines"]):
                return

    def close(self) -> None:
        self._connection.close()


class Ledger:
    """Takes in lines, each stream's in order, and holds them against what was written.

    Parameters
    ----------
    written
        Stream → text of its line with this number.
    count
        Lines that each of these streams has.
    """

    def __init__(self, written: dict[str, Callable[[int], str]], count: int) -> None:
        self._written = written
        self._count = count
        self._ends = dict.fromkeys(written, 0)
        self.seen = dict.fromkeys(written, 0)
        self.times: dict[tuple[str, int], float] = {}

    def take(self, lines: list[dict[str, Any]]) -> bool:
        """Check the lines; return whether all have come."""
        for line in lines:
            stream = line["stream"]
            if stream not in self.seen or line["partial"]:
                continue  # a line without its end is sent again
            assert line["offset"] == self._ends[stream], (line, self._ends)
            assert line["text"] == self._written[stream](self.seen[stream])
            self._ends[stream] += line["size"]
            self.seen[stream] += 1
            self.times[stream, line["offset"]] = line["time"]
        return all(count == self._count for count in self.seen.values())
