"""Lines of a stream of bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator


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
