"""Lines of a stream of bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator


async def lines(chunks: AsyncIterator[bytes], longest: int | None = None) -> AsyncIterator[bytes]:
    r"""Return the lines of a stream of bytes, without their ``\n``; nothing else ends a line.

    A last line that has no end is left out: the stream broke off within it.

    Parameters
    ----------
    longest
        Bytes that a line may have (`ValueError`); None for no such limit.
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
