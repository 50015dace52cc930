"""Reads names and shapes of tensors from the header of a file of the format safetensors.

The file begins with the length of the header (8 bytes, little endian), and the header is JSON. Nothing else is read.
"""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO, Final

from .model import MOST_TENSORS, Preview, Tensor

MOST_HEADER: Final = 32 * 1024 * 1024
_MOST_DIMENSIONS: Final = 64
_LONGEST_NAME: Final = 500
_MOST_FACTS: Final = 100


def read_header(file: BinaryIO, size: int) -> Preview:
    """Return the tensors of a file.

    Parameters
    ----------
    file
        The open file.
    size
        Its size in bytes.

    Raises
    ------
    ValueError
        If the file has no header that can be read.
    """
    prefix = file.read(8)
    length = int.from_bytes(prefix, "little")
    if len(prefix) < 8 or length > size - 8:
        raise ValueError("the header is longer than the file")
    if length > MOST_HEADER:
        raise ValueError(f"the header has more than {MOST_HEADER} bytes")
    try:
        header = json.loads(file.read(length))
    except RecursionError:
        raise ValueError("the header is nested too deeply") from None
    if not isinstance(header, dict):
        raise ValueError("the header is no mapping")
    facts = header.pop("__metadata__", None)
    tensors = [_tensor(name, entry) for name, entry in header.items()]
    return Preview(
        kind="tensors",
        size=size,
        truncated=len(tensors) > MOST_TENSORS,
        tensors=tensors[:MOST_TENSORS],
        tensor_count=len(tensors),
        parameter_count=sum(min(math.prod(tensor.shape), 2**53) for tensor in tensors),
        facts={printable(key): printable(str(value)) for key, value in list(facts.items())[:_MOST_FACTS]}
        if isinstance(facts, dict)
        else {},
    )


def _tensor(name: str, entry: Any) -> Tensor:
    """Return one tensor. Raises `ValueError` if the entry has another shape."""
    if not isinstance(entry, dict):
        raise ValueError(f"{name[:100]!r} is no tensor")
    shape, offsets = _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    if shape is None or len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"{name[:100]!r} has no shape")
    size = max(0, offsets[1] - offsets[0]) if offsets is not None and len(offsets) == 2 else 0
    return Tensor(name=printable(name), dtype=printable(str(entry.get("dtype"))), shape=shape, size=size)


def _counts(value: Any) -> list[int] | None:
    """Return a list of numbers that JavaScript can hold exactly; None for anything else."""
    fits = isinstance(value, list) and all(type(item) is int and 0 <= item <= 2**53 for item in value)
    return value if fits else None


def printable(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a text that can be encoded as UTF-8, of a limited length.

    Parameters
    ----------
    text
        The text, perhaps with lone surrogates.
    longest
        Largest length.
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut.encode("utf-8", "replace").decode()
