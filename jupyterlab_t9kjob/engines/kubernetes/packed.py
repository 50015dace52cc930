"""Values that are kept small while nobody looks at them: a job's object as Python's dicts takes five times its text."""

from __future__ import annotations

import pickle
import zlib
from typing import Generic, TypeVar

T = TypeVar("T")


class Packed(Generic[T]):
    """One value, as bytes; every look at it makes it anew, which takes some 40 µs for a job's object.

    Parameters
    ----------
    value
        Plain data, or a model; it is not kept.
    """

    __slots__ = ("_bytes",)

    def __init__(self, value: T) -> None:
        # level 1 halves it, and takes as long as pickling
        self._bytes = zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)

    @property
    def value(self) -> T:
        """The value; a copy that is the caller's own."""
        found: T = pickle.loads(zlib.decompress(self._bytes))  # noqa: S301 (never leaves this process)
        return found
