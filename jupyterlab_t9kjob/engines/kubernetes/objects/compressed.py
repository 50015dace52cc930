"""Compressed values in memory: a job's object takes five times the size of its text as Python dicts."""

from __future__ import annotations

import pickle
import zlib
from typing import Final, Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

SAMPLE_BYTES: Final = 16 * 1024
"""Size of the dictionary that packed values share. A larger one takes longer; zlib's window is twice this size."""
ALIKE: Final = 4
"""A value that shrinks by at least this factor resembles the values in the dictionary."""


class Held(Protocol[T_co]):
    """A value in memory, whichever form it has there."""

    @property
    def value(self) -> T_co:
        """The value, which must not be changed."""


class Holds(Protocol[T]):
    """Gives values the form that they have in memory."""

    def pack(self, value: T) -> Held[T]:
        """Return plain data or a model in that form."""


class Packed(Generic[T]):
    """One compressed value; each access decompresses it, which takes about 20 µs for a job's object.

    Parameters
    ----------
    pickled
        The pickled value.
    sample
        Bytes that other values have in common with this one: zlib's dictionary.
    """

    __slots__ = ("_bytes", "_sample")

    def __init__(self, pickled: bytes, sample: bytes) -> None:
        self._sample = sample
        # memLevel 7: to allocate zlib's usual tables of 256 KiB would take longer than the compression.
        packer = zlib.compressobj(level=1, memLevel=7, zdict=sample)
        self._bytes = packer.compress(pickled) + packer.flush()

    def __len__(self) -> int:
        return len(self._bytes)

    @property
    def value(self) -> T:
        """A new copy of the value."""
        pickled = zlib.decompressobj(zdict=self._sample).decompress(self._bytes)
        found: T = pickle.loads(pickled)  # noqa: S301 (the bytes never leave this process)
        return found


class Packer(Generic[T]):
    """Compresses similar values, such as the jobs of a namespace: their common parts are kept once."""

    def __init__(self) -> None:
        self._sample = b""

    def pack(self, value: T) -> Packed[T]:
        """Return plain data or a model as a compressed value."""
        pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        packed: Packed[T] = Packed(pickled, self._sample)
        if ALIKE * len(packed) > len(pickled) and len(self._sample) + len(pickled) <= SAMPLE_BYTES:
            self._sample += pickled
        return packed


class Plain(Generic[T]):
    """One value as it is.

    Parameters
    ----------
    value
        The value.
    """

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


class Unpacked(Generic[T]):
    """Leaves values as they are: to compress them takes a short command longer than the rest of its work on them."""

    def pack(self, value: T) -> Plain[T]:
        """Return a value as it is."""
        return Plain(value)
