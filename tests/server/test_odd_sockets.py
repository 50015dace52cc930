"""Sockets: whatever a client sends, it is told, or the socket is closed; the server goes on."""

from __future__ import annotations

import asyncio
import base64
import os
import resource
import struct
from typing import Any
from urllib.parse import quote

import pytest
from tornado.websocket import WebSocketClosedError

from jupyterlab_t9kjob.app import T9kJobApp
from tests.patience import PATIENCE
from tests.server.conftest import Api, eventually
from tests.server.fakes import FakeEngine

OUT = "worker-0.1.rank-0.out"
GOOD = {
    "stream": '{"type":"subscribe"}',
    "logs": '{"type":"read","request":7,"anchor":"start"}',
}
ODD = [
    "{",
    "[" * 10_000,
    '{"type":' * 10_000 + "1" + "}" * 10_000,
    '{"type":"subscribe","jobs":NaN}',
    '{"type":"subscribe","jobs":1}',
    '{"type":"subscribe","details":["' + "x" * 100_000 + '"]}',
    '{"type":"read","request":' + "9" * 4000 + ',"anchor":"start"}',
    '{"type":"read","request":1e400,"anchor":"start"}',
    '{"type":"read","request":"1","anchor":"start"}',
    '{"type":"ack","sequence":-1, "more":1}',
    '{"type":"search","request":1,"pattern":"(","regex":true}',
    '{"type":"search","request":1,"pattern":""}',
    "\x00",
    "﻿{}",
    "null",
    b"\xff\x00\xfe",
    b"",
]


def parts_of(kind: str, engine: FakeEngine) -> tuple[str, ...]:
    if kind == "stream":
        return ("stream",)
    job = engine.put()
    engine.stream(job, OUT).write(b"x\n", time=1.0)
    return ("jobs", job.id, "logs")


@pytest.mark.parametrize("kind", GOOD)
async def test_odd_messages(engine: FakeEngine, open_page: Any, kind: str):
    page = await open_page(*parts_of(kind, engine))
    for message in ODD:
        await page.send_raw(message)
        while (answer := await page.receive())["type"] not in ("error", "snapshot"):
            pass
        details = isinstance(message, str) and "details" in message and kind == "stream"
        assert answer["type"] == ("snapshot" if details else "error"), message[:60]
        assert details or (answer["message"] and len(answer["message"]) < 2000)
        if details:  # what was asked for is gone at once
            assert (await page.receive())["job"] is None
    # a binary frame with text in it is as good as text
    await page.send_raw(GOOD[kind].encode())
    if kind == "logs":
        assert (await page.until(type="page"))["request"] == 7


async def handshake(port: int, base: str, token: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET {base}t9kjob/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode()
    )
    assert b" 101 " in await asyncio.wait_for(reader.readline(), PATIENCE)
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def frame(opcode: int, length: int, data: bytes = b"") -> bytes:
    """Return a masked frame's beginning, whatever length it says."""
    return struct.pack("!BBQ", opcode, 0x80 | 127, length) + b"\0\0\0\0" + data


@pytest.mark.parametrize("kind", GOOD)
async def test_frames_without_end(
    engine: FakeEngine, app: T9kJobApp, api: Api, jp_http_port: int, jp_base_url: str, jp_auth_header: Any, kind: str
):
    """A frame of 100 MB, and a message of endless pieces, close the socket before they are taken in."""
    path = "/".join(quote(part, safe="") for part in parts_of(kind, engine))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for beginning, more in (
        (frame(0x81, 100 * 1024**2), b" " * 65_536),
        (frame(0x01, 65_536, b" " * 65_536), frame(0x00, 65_536, b" " * 65_536)),
        (frame(0x89, 65_536), b" " * 65_536),  # a ping may have 125 bytes
        (frame(0x83, 1, b"x"), b""),  # there is no such opcode
    ):
        reader, writer = await handshake(jp_http_port, jp_base_url, jp_auth_header["Authorization"], path)
        writer.write(beginning)
        try:
            for _ in range(200):
                writer.write(more)
                await writer.drain()
        except ConnectionError:
            pass
        try:
            while await asyncio.wait_for(reader.read(65_536), PATIENCE):
                pass
        except ConnectionError:
            pass
        writer.close()
    await eventually(lambda: not app.sockets)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024  # KiB
    assert (await api("GET", "engines")).status == 200


async def test_requests_that_are_almost_sockets(engine: FakeEngine, api: Api, jp_auth_header: Any, app: T9kJobApp):
    for parts in (parts_of("stream", engine), parts_of("logs", engine)):
        for headers in (
            {"Upgrade": "websocket"},
            {"Upgrade": "h2c", "Connection": "Upgrade"},
            {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "1"},
            {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"},
        ):
            answer = await api("GET", *parts, headers={**jp_auth_header, **headers}, contract=False)
            assert answer.status in (400, 426), (headers, answer.status)
    assert not app.sockets


async def test_a_page_that_is_gone_is_written_to_no_more(engine: FakeEngine, open_page: Any, app: T9kJobApp):
    page = await open_page("stream")
    await page.send(type="subscribe")
    await page.receive()
    page.close()
    with pytest.raises((WebSocketClosedError, AssertionError)):
        while True:
            engine.put(f"job-{len(engine.known)}")
            await page.send(type="subscribe")
            assert await page.receive() is not None
    await eventually(lambda: not app.sockets)
