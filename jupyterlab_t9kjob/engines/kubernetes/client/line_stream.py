"""Chunks and lines of a stream of bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

READ_AHEAD_BYTES: Final = 256 * 1024


@asynccontextmanager
async def gathered(chunks: AsyncIterator[bytes], most: int = READ_AHEAD_BYTES) -> AsyncIterator[AsyncIterator[bytes]]:
    """Read a stream ahead of its consumer; yield an iterator of the bytes that have arrived since its last item.

    An API server sends a log in chunks as small as a line. A consumer that writes each of them in a thread of its disk
    is many times slower than the stream.

    Parameters
    ----------
    chunks
        The stream. Its error is raised by the iterator, after the bytes before it.
    most
        Number of bytes above which nothing more is read ahead.
    """
    waiting: list[bytes] = []
    size = 0
    news, room = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        nonlocal size
        async for chunk in chunks:
            waiting.append(chunk)
            size += len(chunk)
            news.set()
            if size > most:
                room.clear()
                await room.wait()

    async def parts() -> AsyncIterator[bytes]:
        nonlocal size
        while waiting or not reading.done():
            await news.wait()
            news.clear()
            if waiting:
                data, size = b"".join(waiting), 0
                waiting.clear()
                room.set()
                yield data
        await reading

    reading = asyncio.create_task(read(), name="read ahead")
    reading.add_done_callback(lambda _reading: news.set())
    try:
        yield parts()
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def lines(chunks: AsyncIterator[bytes], longest: int | None = None) -> AsyncIterator[bytes]:
    r"""Yield the lines of a stream without their ``\n``; no other character ends a line.

    A last line without an end is left out, because the stream broke off within it.

    Parameters
    ----------
    chunks
        The stream.
    longest
        Greatest length of a line in bytes; None for no limit.

    Raises
    ------
    ValueError
        If a line is longer.
    """
    pieces: list[bytes] = []
    size = 0
    async for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        pieces.append(first)
        size += len(first)
        if longest is not None and size > longest:
            raise ValueError(f"A line is longer than {longest} bytes.")
        for piece in rest:
            yield b"".join(pieces)
            pieces, size = [piece], len(piece)
