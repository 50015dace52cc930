"""Incremental parser of a Kubernetes list: yields its objects while the list arrives.

A list of ten thousand jobs is never in memory as a whole.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import re
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any, Final

from ....core.system.garbage import without_gc
from .json_text import Json

TURN_BYTES: Final = 128 * 1024
"""Bytes of a list that are parsed before the event loop serves other tasks. One chunk may unpack to far more."""
TURN_OBJECTS: Final = 100
"""Objects of a list that are taken in before the event loop serves other tasks; one takes up to 0.1 ms."""

_Steps = Generator[Json | None, None, Any]
"""Yields the objects of the list, and None when more text is needed."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


class NoList(ValueError):
    """The text is not a list of a Kubernetes API."""


class ListReader:
    """Parser of one list.

    Parameters
    ----------
    largest
        Greatest number of characters of one object.

    Attributes
    ----------
    version
        Resource version of the list; empty until `end`.
    """

    def __init__(self, largest: int) -> None:
        self.version = ""
        self._largest = largest
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._parse_from = 0  # length of the text at which the next attempt to parse is worth while
        self._metadata: Any = None
        self._complete = False
        self._steps = self._list()

    def feed(self, data: bytes) -> Iterator[Json]:
        """Add bytes; yield the objects that are complete now, in order. Each is parsed when the caller takes it.

        Raises
        ------
        NoList
            If the text is not a list.
        """
        self._add(data)
        # An object that arrives in many pieces is parsed again only when its text has doubled.
        if len(self._text) >= self._parse_from:
            yield from self._parse()

    def end(self) -> Iterator[Json]:
        """Yield the last objects.

        Raises
        ------
        NoList
            If the text is not a list, or not a whole one.
        """
        self._add(b"", final=True)
        yield from self._parse()
        if not self._complete or self._text[self._at :].strip() or not isinstance(self._metadata, dict):
            raise NoList
        self.version = str(self._metadata.get("resourceVersion") or "")

    def _add(self, data: bytes, *, final: bool = False) -> None:
        try:
            self._text = self._text[self._at :] + self._decode(data, final)
        except UnicodeDecodeError as error:
            raise NoList from error
        self._at = 0

    def _parse(self) -> Iterator[Json]:
        try:
            while (item := next(self._steps, None)) is not None:
                yield item
        except RecursionError as error:
            raise NoList from error
        left = len(self._text) - self._at
        if left > self._largest:
            raise NoList
        self._parse_from = 2 * left

    # -- the grammar --------------------------------------------------------------------------------------------------

    def _list(self) -> _Steps:
        following = yield from self._one_of("{")
        while following != "}":
            name = yield from self._value()
            yield from self._one_of(":")
            if name == "items" and (yield from self._peek()) == "[":
                yield from self._items()
            else:
                value = yield from self._value()
                if name == "metadata":
                    self._metadata = value
                elif name == "items" and value is not None:
                    raise NoList
            following = yield from self._one_of(",}")
        self._complete = True

    def _items(self) -> _Steps:
        yield from self._one_of("[")
        if (yield from self._peek()) == "]":
            self._at += 1
            return
        following = ","
        while following == ",":
            item = yield from self._value()
            if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
                raise NoList
            yield item
            following = yield from self._one_of(",]")

    def _value(self) -> _Steps:
        """Parse a value. It is complete only if text follows, because more digits of a number may arrive."""
        while True:
            yield from self._peek()
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                end = len(self._text)
            except ValueError as error:  # Python refuses a number of thousands of digits.
                raise NoList from error
            if end < len(self._text):
                self._at = end
                return value
            yield None

    def _one_of(self, expected: str) -> _Steps:
        """Parse a character that must be one of these."""
        found = yield from self._peek()
        if found not in expected:
            raise NoList
        self._at += 1
        return found

    def _peek(self) -> _Steps:
        """Skip white space; return the next character."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            yield None


async def in_turns(items: Iterator[Json], take: Callable[[Json], None]) -> None:
    """Call `take` with the objects of a list, with pauses in which the event loop serves other tasks.

    Parameters
    ----------
    items
        The objects, such as an iterator of `ListReader.feed`, which parses each object when it is taken.
    take
        Called with each object. A pause follows after `TURN_OBJECTS` calls.

    Raises
    ------
    NoList
        If `items` is an iterator of a `ListReader` whose text is not a list.
    """
    left = 0
    while left == 0:
        left = TURN_OBJECTS
        with without_gc():
            for item in islice(items, TURN_OBJECTS):
                take(item)
                left -= 1
        await asyncio.sleep(0)
