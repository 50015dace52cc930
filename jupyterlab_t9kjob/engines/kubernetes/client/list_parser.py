"""A list of the cluster's objects, taken apart while it comes: ten thousand jobs are never in memory as a whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator
from typing import Any, Final

from .json_text import Json

_Steps = Generator[Json | None, None, Any]
"""Yields the objects of the list, and None where more of the text is needed."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


class NoList(ValueError):
    """What comes is no list of a Kubernetes API."""


class ListReader:
    """Reads one list.

    Parameters
    ----------
    largest
        Characters that a single object may have.

    Attributes
    ----------
    version
        The collection's resource version, once all was read.
    """

    def __init__(self, largest: int) -> None:
        self.version = ""
        self._largest = largest
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._at = 0
        self._enough = 0
        self._metadata: Any = None
        self._whole = False
        self._steps = self._list()

    def feed(self, data: bytes) -> Iterator[Json]:
        """Take the next bytes; yield objects that are whole now, in their order, each read when it is asked for.

        Raises
        ------
        NoList
            If it is none.
        """
        self._take(data)
        # An object that comes in many pieces is looked at again only when there is twice as much of it.
        if len(self._text) >= self._enough:
            yield from self._go_on()

    def end(self) -> Iterator[Json]:
        """Yield the last objects.

        Raises
        ------
        NoList
            If it was none, or not all of it.
        """
        self._take(b"", final=True)
        yield from self._go_on()
        if not self._whole or self._text[self._at :].strip() or not isinstance(self._metadata, dict):
            raise NoList
        self.version = str(self._metadata.get("resourceVersion") or "")

    def _take(self, data: bytes, *, final: bool = False) -> None:
        try:
            self._text = self._text[self._at :] + self._decode(data, final)
        except UnicodeDecodeError as error:
            raise NoList from error
        self._at = 0

    def _go_on(self) -> Iterator[Json]:
        try:
            while (item := next(self._steps, None)) is not None:
                yield item
        except RecursionError as error:
            raise NoList from error
        left = len(self._text) - self._at
        if left > self._largest:
            raise NoList
        self._enough = 2 * left

    # -- the text -----------------------------------------------------------------------------------------------------

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
        self._whole = True

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
        """Take a value; it is whole only if something follows it, for an integer's digits might go on."""
        while True:
            yield from self._peek()
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                end = len(self._text)
            except ValueError as error:  # a number of thousands of digits
                raise NoList from error
            if end < len(self._text):
                self._at = end
                return value
            yield None

    def _one_of(self, expected: str) -> _Steps:
        """Take a character that is one of these."""
        found = yield from self._peek()
        if found not in expected:
            raise NoList
        self._at += 1
        return found

    def _peek(self) -> _Steps:
        """Pass over space; return the character behind it."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            yield None
