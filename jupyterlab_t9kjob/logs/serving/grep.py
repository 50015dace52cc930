"""The program that searches logs: ``python -m jupyterlab_t9kjob.logs.serving.grep``.

It is a process of its own, so that neither a large file nor a slow regular expression blocks the server; the server
kills it when the answer is no longer needed. It imports little, so that it starts quickly.

It reads one JSON object (`Question`) from standard input and writes lines. Each line begins with a letter:

``h``
    A hit as JSON; hits come in order.
``c``, ``m``
    The end: the hits are complete, or there are more of them.
``e``
    The pattern is wrong; the rest of the line is the error of the `re` module.
``o``
    The search ran out of memory.
"""

from __future__ import annotations

import heapq
import json
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ...core.errors import Unavailable
from ..failures.levels import Level
from ..storage.index import TimeIndex
from . import level_lines
from .line_reader import LONG_BLOCK, Line, line_of
from .prefilter import Prefilter
from .sources import OpenSource, Source, opened

MAX_SPANS = 100
MAX_TEXT_OF_ALL = 4 * 1024 * 1024
MAX_MEMORY = 1024**3
MAX_SECONDS = 60
"""Limit of processor time, which ends a search whose server was killed."""


class Question(TypedDict):
    """A search, as JSON.

    Attributes
    ----------
    files
        The streams in order: id, path of the file, path of its index, path of the record of its cut, and the folder
        below which no symbolic link is followed; each of the last three may be None.
    pattern, regex, case_sensitive
        Text or regular expression that is searched for.
    limit
        Largest number of hits.
    context
        Number of lines before and after each hit.
    level
        Lowest level of the hits; None for all lines.
    """

    files: list[tuple[str, str, str | None, str | None, str | None]]
    pattern: str
    regex: bool
    case_sensitive: bool
    limit: int
    context: int
    level: Level | None


class Hit(NamedTuple):
    """A matching line, with its file and the spans of the matches in its text; hits are sorted by `order`."""

    order: tuple[float, int, int]
    file: OpenSource
    line: Line
    spans: list[tuple[int, int]]


class Searcher:
    """Search for the lines of a file whose shown text matches.

    Parameters
    ----------
    question
        Pattern and options of the search.

    Raises
    ------
    re.error
        If the pattern is not a regular expression.
    """

    def __init__(self, question: Question) -> None:
        pattern = question["pattern"] if question["regex"] else re.escape(question["pattern"])
        self._pattern = re.compile(pattern, 0 if question["case_sensitive"] else re.IGNORECASE)
        self._prefilter = Prefilter(self._pattern)
        self._level = question["level"]

    def hits(self, file: OpenSource) -> Iterator[Hit]:
        """Yield the matching lines of a file."""
        for line in self._lines(file):
            matches = list(islice(self._pattern.finditer(line.text), MAX_SPANS))
            if matches:
                order = (file.time(line.offset) or 0.0, file.order, line.offset)
                yield Hit(order, file, line, [match.span() for match in matches if match[0]])

    def _lines(self, file: OpenSource) -> Iterator[Line]:
        """Yield the lines of a file that may match."""
        if self._level is not None:
            steps = level_lines.forward(file.reader, 0, self._level, level_lines.step_sizes(1))
            yield from (line for step in steps for line, _level in step.found)
            return
        for first, last in file.reader.pieces:
            yield from self._between(file, first, last)

    def _between(self, file: OpenSource, start: int, last: int) -> Iterator[Line]:
        """Yield the lines between `start` and `last` that may match."""
        while start < last:
            data = file.reader.read(start, min(start + LONG_BLOCK, last))
            if not data:
                return
            end = data.rfind(b"\n") + 1 if start + len(data) < last else len(data)
            for begin, stop in self._prefilter.lines(data[:end]):
                yield line_of(start + begin, data[begin:stop])
            start += end
            if end == 0:
                line = file.reader.long_line(start, last)
                yield line
                start += line.size


def _described(hit: Hit, context: int) -> dict[str, Any]:
    """Return a hit as fields of `LogHit`, with `context` lines before and after it."""
    file, line = hit.file, hit.line
    before = islice(file.reader.backward(line.offset), context)
    after = islice(file.reader.forward(line.offset + line.size), context)
    ascii_only = line.text.isascii()
    return {
        "stream": file.stream,
        "offset": line.offset,
        "time": file.time(line.offset),
        "text": line.text,
        "spans": hit.spans if ascii_only else [_utf16(line.text, span) for span in hit.spans],
        "before": [_shown(file, other) for other in before][::-1],
        "after": [_shown(file, other) for other in after],
    }


def _shown(file: OpenSource, line: Line) -> dict[str, Any]:
    """Return a line as fields of `LogLine`."""
    return {"stream": file.stream, "time": file.time(line.offset), **line._asdict()}


def _utf16(text: str, span: tuple[int, int]) -> tuple[int, int]:
    begin, end = (len(text[:position].encode("utf-16-le")) // 2 for position in span)
    return begin, end


def search(question: Question) -> Iterator[str]:
    """Yield the lines of the answer.

    Raises
    ------
    re.error
        If the pattern is not a regular expression.
    """
    searcher = Searcher(question)
    sources = [
        Source(stream, Path(path), TimeIndex(_path(index)), _path(cut), _path(within))
        for stream, path, index, cut, within in question["files"]
    ]
    size = 0
    with opened(sources) as files:
        found = heapq.merge(*map(searcher.hits, files), key=lambda hit: hit.order)
        for number, hit in enumerate(found):
            if number == question["limit"] or size > MAX_TEXT_OF_ALL:
                yield "m"
                return
            described = json.dumps(_described(hit, question["context"]))
            size += len(described)
            yield "h" + described
    yield "c"


def _path(text: str | None) -> Path | None:
    return Path(text) if text is not None else None


def _limit() -> None:
    """Limit memory and processor time of this process, since some patterns need very much of both."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


def main() -> None:
    """Answer the question on standard input."""
    _limit()
    try:
        for line in search(json.load(sys.stdin)):
            print(line, flush=True)  # noqa: T201
    except (re.error, OverflowError, RecursionError) as error:
        print(f"e{error}")  # noqa: T201
    except (Unavailable, OSError) as error:
        sys.exit(str(error))
    except MemoryError:
        print("o")  # noqa: T201


if __name__ == "__main__":
    main()
