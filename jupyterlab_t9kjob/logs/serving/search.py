"""Searching logs without holding up the server: see `grep`, which does it in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import BadRequest, Unavailable
from .grep import Question
from .sources import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT = 20.0
"""Seconds after which a search ends with what it has found."""
LONGEST_HIT = 16 * 1024 * 1024
"""Bytes: a line and its context, where every character needs an escape."""

PACKAGES = Path(__file__).parents[3]


class Found:
    """What a search found.

    Attributes
    ----------
    hits
        JSON objects like `LogHit`, in order.
    complete
        There are no others.
    stopped
        Why not all was searched, a sentence.
    """

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.complete = False
        self.stopped: str | None = None


async def search(
    sources: Sequence[Source], pattern: str, *, regex: bool, case_sensitive: bool, limit: int, context: int
) -> Found:
    """Find the lines that match. When the caller is cancelled, so is the search.

    Raises
    ------
    BadRequest
        If the pattern is not a regular expression.
    Unavailable
        If the search process can't be run.
    """
    question = Question(
        files=[
            (
                source.stream,
                str(source.path),
                _text(source.index.path),
                _text(source.cuts),
                _text(source.within),
            )
            for source in sources
        ],
        pattern=pattern,
        regex=regex,
        case_sensitive=case_sensitive,
        limit=limit,
        context=context,
    )
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "jupyterlab_t9kjob.logs.serving.grep"),
            cwd=PACKAGES,  # `-m` looks there first: never into a folder of the user's
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_HIT,
        )
    except (OSError, RuntimeError) as error:  # too many open files, processes or threads
        raise Unavailable(
            "The log could not be searched: the server can't start a process for it.",
            code="NoProcess",
            hint="Close what is not needed, or raise the limits of this machine (ulimit -n, ulimit -u).",
            verbatim=getattr(error, "strerror", None) or str(error),
        ) from error
    assert process.stdin and process.stdout and process.stderr  # noqa: S101
    found = Found()
    try:
        process.stdin.write(json.dumps(question).encode())
        process.stdin.close()
        try:
            if not await asyncio.wait_for(_collect(process.stdout, found), TIMEOUT):
                raise Unavailable(
                    "The log could not be searched.", verbatim=(await process.stderr.read()).decode(errors="replace")
                )
        except asyncio.TimeoutError:
            found.stopped = f"The search took longer than {TIMEOUT:.0f} seconds and was ended."
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return found


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None


async def _collect(output: asyncio.StreamReader, found: Found) -> bool:
    """Read the answer; returns whether it came to its end."""
    async for line in output:
        kind, rest = line[:1], line[1:].decode().strip()
        if kind == b"h":
            found.hits.append(rest)
        elif kind == b"e":
            raise BadRequest(
                f"This is not a regular expression: {rest}.",
                code="BadPattern",
                hint="Search for plain text instead, or mend the expression.",
            )
        else:
            found.complete = kind == b"c"
            return True
    return False
