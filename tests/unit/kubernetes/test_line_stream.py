"""A stream that is read ahead of its consumer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.line_stream import gathered

pytestmark = pytest.mark.asyncio


class Stream:
    """A stream of single bytes, which counts how many of them were read.

    Parameters
    ----------
    size
        Number of bytes before the end, or before the error.
    error
        Raised after the bytes.
    """

    def __init__(self, size: int, error: Exception | None = None) -> None:
        self.read = 0
        self._size = size
        self._error = error

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes."""
        while self.read < self._size:
            self.read += 1
            yield b"%d" % (self.read % 10)
        if self._error is not None:
            raise self._error


async def test_what_arrives_meanwhile_is_one_item_and_no_more_than_a_limit_is_read_ahead() -> None:
    stream, found = Stream(10_000), list[bytes]()
    async with gathered(stream.chunks(), 100) as parts:
        async for part in parts:
            found.append(part)
            assert stream.read - sum(map(len, found)) <= 101
            await asyncio.sleep(0)
    assert b"".join(found) == b"1234567890" * 1000
    assert len(found) <= 100


async def test_the_bytes_before_an_error_come_first() -> None:
    found = list[bytes]()
    with pytest.raises(OSError, match="broken"):
        async with gathered(Stream(5, OSError("broken")).chunks()) as parts:
            async for part in parts:
                found.append(part)
    assert found == [b"12345"]


async def test_a_consumer_that_leaves_ends_the_reading() -> None:
    stream = Stream(10_000)
    async with gathered(stream.chunks(), 10) as parts:
        assert await anext(parts) == b"12345678901"
    read = stream.read
    assert {task.get_name() for task in asyncio.all_tasks()}.isdisjoint({"read ahead"})
    await asyncio.sleep(0)
    assert stream.read == read
