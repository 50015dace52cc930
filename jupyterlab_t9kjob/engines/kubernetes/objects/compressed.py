"""Values that are kept small while nobody looks at them: a job's object as Python's dicts takes five times its text."""

from __future__ import annotations

import pickle
import zlib
from typing import Final, Generic, TypeVar

T = TypeVar("T")

SAMPLE_BYTES: Final = 16 * 1024
"""How much of what values have in common is kept: more would take longer, and zlib looks no further than twice that."""
ALIKE: Final = 4
"""What has become so many times smaller is like what was packed before."""


class Packed(Generic[T]):
    """One value, as bytes; every look at it makes it anew, which takes some 20 µs for a job's object.

    Parameters
    ----------
    pickled
        The value.
    sample
        What it may have in common with others.
    """

    __slots__ = ("_bytes", "_sample")

    def __init__(self, pickled: bytes, sample: bytes) -> None:
        self._sample = sample
        # smaller tables than usual: those of 256 KiB would take longer to get than to use
        packer = zlib.compressobj(level=1, memLevel=7, zdict=sample)
        self._bytes = packer.compress(pickled) + packer.flush()

    def __len__(self) -> int:
        return len(self._bytes)

    @property
    def value(self) -> T:
        """The value; a copy that is the caller's own."""
        pickled = zlib.decompressobj(zdict=self._sample).decompress(self._bytes)
        found: T = pickle.loads(pickled)  # noqa: S301 (never leaves this process)
        return found


class Packer(Generic[T]):
    """Packs values that are much alike, as a namespace's jobs are: what they have in common is kept once."""

    def __init__(self) -> None:
        self._sample = b""

    def pack(self, value: T) -> Packed[T]:
        """Pack plain data, or a model; it is not kept."""
        pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        packed: Packed[T] = Packed(pickled, self._sample)
        if ALIKE * len(packed) > len(pickled) and len(self._sample) + len(pickled) <= SAMPLE_BYTES:
            self._sample += pickled
        return packed
