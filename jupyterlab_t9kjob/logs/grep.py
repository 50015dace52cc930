"""The program that searches logs: ``python -m jupyterlab_t9kjob.logs.grep``.

It is a process of its own so that neither a large file nor a regular expression that never comes to an end holds up the
server, which kills it when nobody wants the answer any more. Standard library only.

It reads one JSON object from standard input (`Question`) and writes lines: ``h`` and a hit as JSON, in order; at the
end ``c`` if that was all, ``m`` if there are more; or ``e`` and what is wrong with the pattern.
"""

from __future__ import annotations

import heapq
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

from .index import TimeIndex
from .lines import LONG_BLOCK, Line, line_of
from .sources import OpenSource, Source, opened

MAX_SPANS = 100
MAX_TEXT_OF_ALL = 4 * 1024 * 1024
MAX_MEMORY = 1024**3

Hit = tuple[tuple[float, int, int], dict[str, Any]]


class Question(TypedDict):
    """What is searched: (stream, path, path of the index or None) in order, and for what."""

    files: list[tuple[str, str, str | None]]
    pattern: str
    regex: bool
    case_sensitive: bool
    limit: int


class Searcher:
    """Finds the lines of a file that match, as they are shown.

    Parameters
    ----------
    question
        What is searched for.

    Raises
    ------
    re.error
        If the pattern is not a regular expression.
    """

    def __init__(self, question: Question) -> None:
        pattern = question["pattern"]
        self._sensitive = question["case_sensitive"]
        self._pattern = re.compile(
            pattern if question["regex"] else re.escape(pattern), 0 if self._sensitive else re.IGNORECASE
        )
        self._bytes_pattern = _for_bytes(self._pattern)
        # Where the pattern is plain, most of a file need not be looked at line by line.
        plain = not question["regex"] and (self._sensitive or pattern.isascii())
        self._needle = (pattern if self._sensitive else pattern.lower()).encode() if plain else None

    def hits(self, file: OpenSource) -> Iterator[Hit]:
        """Return the lines that match, with what they are ordered by."""
        for line in self._lines(file):
            matches = list(islice(self._pattern.finditer(line.text), MAX_SPANS))
            if matches:
                time = file.time(line.offset)
                spans = [match.span() for match in matches if match[0]]
                yield (
                    (time or 0.0, file.order, line.offset),
                    {
                        "stream": file.stream,
                        "offset": line.offset,
                        "time": time,
                        "text": line.text,
                        "spans": spans if line.text.isascii() else [_utf16(line.text, span) for span in spans],
                    },
                )

    def _lines(self, file: OpenSource) -> Iterator[Line]:
        """Return the lines that may match."""
        start = 0
        while start < file.size:
            data = file.reader.read(start, min(start + LONG_BLOCK, file.size))
            if not data:
                return
            end = data.rfind(b"\n") + 1 if start + len(data) < file.size else len(data)
            for begin, stop in self._candidates(data[:end]):
                yield line_of(start + begin, data[begin:stop])
            start += end
            if end == 0:
                line = file.reader.long_line(start)
                yield line
                start += line.size

    def _candidates(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Return begin and end of the lines in `data` that may match."""
        if self._needle is not None:
            folded = data if self._sensitive else data.lower()
            place = folded.find(self._needle)
            while place >= 0:
                begin = data.rfind(b"\n", 0, place) + 1
                stop = data.find(b"\n", place) + 1 or len(data)
                yield begin, stop
                place = folded.find(self._needle, stop)
            return
        matches = self._matcher(data)
        begin = 0
        for line in data.split(b"\n"):
            stop = min(begin + len(line) + 1, len(data))
            if matches(line) and begin < stop:
                yield begin, stop
            begin = stop

    def _matcher(self, data: bytes) -> Callable[[bytes], object]:
        """Return a quick test of lines in `data`, which may say yes too often."""
        if self._bytes_pattern is not None and data.isascii() and b"\r" not in data:
            return self._bytes_pattern.search
        # of a progress bar only the last update is shown
        return lambda line: b"\r" in line or self._pattern.search(line.decode("utf-8", "replace"))


def _for_bytes(pattern: re.Pattern[str]) -> re.Pattern[bytes] | None:
    """Return the pattern for bytes that are ASCII; None for one that has a meaning in text only."""
    try:
        return re.compile(pattern.pattern.encode("ascii"), pattern.flags & re.IGNORECASE)
    except (ValueError, re.error):
        return None


def _utf16(text: str, span: tuple[int, int]) -> tuple[int, int]:
    begin, end = (len(text[:place].encode("utf-16-le")) // 2 for place in span)
    return begin, end


def search(question: Question) -> Iterator[str]:
    """Return the lines of the answer."""
    searcher = Searcher(question)
    sources = [
        Source(stream, Path(path), TimeIndex(Path(index) if index else None))
        for stream, path, index in question["files"]
    ]
    text = 0
    with opened(sources) as files:
        found = heapq.merge(*map(searcher.hits, files), key=lambda hit: hit[0])
        for number, (_, hit) in enumerate(found):
            if number == question["limit"] or text > MAX_TEXT_OF_ALL:
                yield "m"
                return
            text += len(hit["text"])
            yield "h" + json.dumps(hit)
    yield "c"


def _limit_memory() -> None:
    """Let a pattern that eats memory fail rather than the machine."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


def main() -> None:
    """Answer the question on standard input."""
    _limit_memory()
    try:
        for line in search(json.load(sys.stdin)):
            print(line, flush=True)  # noqa: T201
    except (re.error, OverflowError, RecursionError) as error:
        print(f"e{error}")  # noqa: T201
    except MemoryError:
        print("eit needs too much memory")  # noqa: T201


if __name__ == "__main__":
    main()
