"""WebSocket (RFC 6455) over a connection that the API client has upgraded: frames, pings and the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
from typing import Final

import httpcore

from .....core.translation import _
from ..errors import BrokenOff, Unreachable
from ..pool import ByteStream

LARGEST_MESSAGE: Final = 16 * 1024 * 1024
PING_SECONDS: Final = 20.0
"""Seconds of silence after which the other side is pinged; after as many more the connection counts as dead."""
WRITE_SECONDS: Final = 30.0
_READ_BYTES: Final = 64 * 1024
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_NORMAL_CLOSURE: Final = struct.pack("!H", 1000)


class WebSocket:
    """The client's side of one WebSocket. One task reads; any task writes.

    Parameters
    ----------
    stream
        The upgraded connection.
    host
        Host and port of the API server, for sentences.
    """

    def __init__(self, stream: ByteStream, host: str) -> None:
        self._stream, self._host = stream, host
        self._buffer = bytearray()
        self._closed = False
        self._writing = asyncio.Lock()
        self._owed: list[tuple[int, bytes]] = []

    async def send(self, data: bytes) -> None:
        """Send a binary message.

        Raises
        ------
        BrokenOff
            If the connection has ended.
        """
        await self._write(_BINARY, data)

    async def receive(self) -> bytes | None:
        """Return the next message; None after the other side has closed the WebSocket.

        Raises
        ------
        Unreachable
            If the connection breaks, falls silent, or carries something else than a WebSocket.
        """
        message = bytearray()
        while True:
            final, opcode, payload = await self._frame()
            if opcode == _PING:
                await self._control(_PONG, payload)
            elif opcode == _CLOSE:
                await self.close()
                return None
            elif opcode in (_CONTINUATION, _TEXT, _BINARY):
                message += payload
                if len(message) > LARGEST_MESSAGE:
                    raise self._not_understood()
                if final:
                    return bytes(message)
            elif opcode != _PONG:
                raise self._not_understood()

    async def close(self) -> None:
        """Send the closing frame, once; a connection that has ended is no error."""
        if self._closed:
            return
        with contextlib.suppress(Unreachable):
            await self._write(_CLOSE, _NORMAL_CLOSURE)
        self._closed = True

    async def _write(self, opcode: int, payload: bytes) -> None:
        if self._closed:
            raise self._broken()
        async with self._writing:  # The stream refuses a second writer.
            try:
                await self._stream.write(frame(opcode, payload, os.urandom(4)), WRITE_SECONDS)
                while self._owed:
                    await self._stream.write(frame(*self._owed.pop(0), os.urandom(4)), WRITE_SECONDS)
            except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
                raise self._broken() from error

    async def _control(self, opcode: int, payload: bytes) -> None:
        """Send a ping or pong; the reader must not wait for a writer, whose data is taken once the output is read."""
        if self._writing.locked():
            self._owed = [*self._owed[-1:], (opcode, payload)]
        else:
            await self._write(opcode, payload)

    async def _frame(self) -> tuple[bool, int, bytes]:
        first, second = await self._exactly(2)
        if first & 0x70 or second & 0x80:  # No extension was negotiated, and a server never masks.
            raise self._not_understood()
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", await self._exactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self._exactly(8))
        if length > LARGEST_MESSAGE:
            raise self._not_understood()
        return bool(first & 0x80), first & 0x0F, await self._exactly(length)

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._buffer += await self._read()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    async def _read(self) -> bytes:
        """Return the next bytes; ping a side that has fallen silent."""
        for attempt in range(2):
            try:
                data = await self._stream.read(_READ_BYTES, PING_SECONDS)
            except httpcore.TimeoutException:
                if attempt == 0:
                    await self._control(_PING, b"")
            except (httpcore.NetworkError, httpcore.ProtocolError) as error:
                raise self._broken() from error
            else:
                if data:
                    return data
                break
        raise self._broken()

    def _broken(self) -> BrokenOff:
        return BrokenOff(_("The connection to the container through {host} has ended.", host=self._host))

    def _not_understood(self) -> Unreachable:
        return Unreachable(_("{host} sends something else than a WebSocket.", host=self._host))


def frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """Return one final frame as a client sends it.

    Parameters
    ----------
    opcode, payload
        Kind and content of the frame.
    mask
        Four random bytes; a client has to mask what it sends.
    """
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
    return head + mask + _masked(payload, mask)


def _masked(payload: bytes, mask: bytes) -> bytes:
    """Return the payload XORed with the repeated mask, as one operation on large integers."""
    size = len(payload)
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
