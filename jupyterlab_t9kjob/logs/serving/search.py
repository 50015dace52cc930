"""Search of logs by the program `grep` in a process of its own, so that a search does not block the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...core.errors import BadRequest, Unavailable
from ...core.translation import Text, _, _n
from .grep import Question
from .sources import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..failures.levels import Level

TIMEOUT = 20.0
"""Seconds after which a search ends with the hits found so far."""
LONGEST_HIT = 16 * 1024 * 1024
"""Largest size of a hit in bytes: a line and its context, if every character needs an escape."""

PACKAGES = Path(__file__).parents[3]

_MEND_PATTERN = _("Search for plain text instead, or correct the expression.")


class Found:
    """Result of a search.

    Attributes
    ----------
    hits
        Hits as JSON objects (`LogHit`), in order.
    complete
        True if there are no more hits.
    stopped
        Sentence that says why the search ended early; None if it did not.
    """

    def __init__(self) -> None:
        self.hits: list[str] = []
        self.complete = False
        self.stopped: Text | None = None


async def search(
    sources: Sequence[Source],
    pattern: str,
    *,
    regex: bool,
    case_sensitive: bool,
    limit: int,
    context: int,
    level: Level | None = None,
) -> Found:
    """Return the lines that match a pattern. Cancelling the call ends the search process.

    Parameters
    ----------
    sources
        The streams; their order decides between lines of the same time.
    pattern
        Text or regular expression.
    regex
        True if the pattern is a regular expression.
    case_sensitive
        True if upper and lower case differ.
    limit
        Largest number of hits.
    context
        Number of lines before and after each hit.
    level
        Lowest level of the hits; None for all lines.

    Raises
    ------
    BadRequest
        If the pattern is not a regular expression, or needs too much memory.
    Unavailable
        If the search process can't be started, or fails.
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
        level=level,
    )
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "jupyterlab_t9kjob.logs.serving.grep"),
            cwd=PACKAGES,  # `-m` looks for the module in this folder first, so it must not be the user's.
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_HIT,
        )
    except (OSError, RuntimeError) as error:  # The machine has too many open files, processes or threads.
        raise Unavailable(
            _("The log could not be searched: the server can't start a process for it."),
            code="NoProcess",
            hint=_("Close what is not needed, or raise the limits of this machine (ulimit -n, ulimit -u)."),
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
                    _("The log could not be searched."),
                    verbatim=(await process.stderr.read()).decode(errors="replace"),
                )
        except asyncio.TimeoutError:
            found.stopped = _n(
                "The search took longer than {n} second and was ended.",
                "The search took longer than {n} seconds and was ended.",
                round(TIMEOUT),
            )
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return found


def _text(path: Path | None) -> str | None:
    return str(path) if path is not None else None


async def _collect(output: asyncio.StreamReader, found: Found) -> bool:
    """Read the answer; return True if the process wrote its end."""
    async for line in output:
        kind, rest = line[:1], line[1:].decode().strip()
        if kind == b"h":
            found.hits.append(rest)
        elif kind == b"e":
            raise BadRequest(
                _("This is not a regular expression: {error}.", error=rest), code="BadPattern", hint=_MEND_PATTERN
            )
        elif kind == b"o":
            raise BadRequest(
                _("The search for this regular expression needs too much memory."),
                code="BadPattern",
                hint=_MEND_PATTERN,
            )
        else:
            found.complete = kind == b"c"
            return True
    return False
