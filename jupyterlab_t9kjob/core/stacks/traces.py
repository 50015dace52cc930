"""Collectives of a rank in PyTorch's flight recorder. They are checked, since the processes of a job write them.

The format is that of version 2 of the recorder, as JSON and as a pickle (``torch/distributed/flight_recorder``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

MOST_ENTRIES: Final = 4000
MOST_GROUPS: Final = 1000
MOST_RANKS: Final = 4096
MOST_RANKS_OF_ALL_GROUPS: Final = 100_000
MOST_TENSORS: Final = 4
MOST_DIMENSIONS: Final = 8
LONGEST_NAME: Final = 100
LARGEST: Final = 2**63

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A collective as one rank called it.

    Attributes
    ----------
    group, description
        Name of the process group, and its description, such as ``default_pg``.
    sequence
        Number of the collective in its group, from 1.
    backend, name
        ``gloo`` and ``all_reduce``.
    done
        True if the collective has ended.
    """

    group: str
    description: str
    sequence: int
    backend: str
    name: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    dtype: str
    done: bool


@dataclass(frozen=True)
class Trace:
    """The collectives of a rank, oldest first, and the ranks of the process groups by name."""

    rank: int
    calls: list[Call] = field(default_factory=list)
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)


def trace_of(dump: Any, rank: int) -> Trace:
    """Return the collectives in a dump of the recorder. Entries of another form are left out.

    Parameters
    ----------
    dump
        Parsed JSON or pickle.
    rank
        Rank of the process.
    """
    if not isinstance(dump, dict):
        return Trace(rank)
    entries = dump.get("entries")
    calls = [_call(entry) for entry in (entries[-MOST_ENTRIES:] if isinstance(entries, list) else [])]
    return Trace(rank, [call for call in calls if call is not None], _groups(dump.get("pg_config")))


def _call(entry: Any) -> Call | None:
    if not isinstance(entry, dict) or entry.get("is_p2p") is True:
        return None
    sequence, full = entry.get("collective_seq_id"), entry.get("profiling_name")
    if not isinstance(sequence, int) or not _is_number(sequence) or not isinstance(full, str):
        return None
    backend, _colon, name = full[:LONGEST_NAME].rpartition(":")
    names = [*_texts(entry.get("process_group"), 2), "", ""]
    # Gloo's work has no state of its own; with NCCL a retired collective may have timed out.
    done = entry.get("state") == "completed" or (entry.get("retired") is True and backend == "gloo")
    return Call(
        group=names[0],
        description=names[1],
        sequence=sequence,
        backend=backend,
        name=name,
        inputs=_shapes(entry.get("input_sizes")),
        outputs=_shapes(entry.get("output_sizes")),
        dtype=next(iter(_texts(entry.get("input_dtypes"), 1)), ""),
        done=done,
    )


def _groups(config: Any) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    left = MOST_RANKS_OF_ALL_GROUPS
    for name, group in islice(config.items(), MOST_GROUPS) if isinstance(config, dict) else ():
        ranks = group.get("ranks") if isinstance(group, dict) else None
        # The groups of a pickle may share their ranks; a text is at least as long as the list in it.
        left -= min(len(ranks), MOST_RANKS) if isinstance(ranks, str | list | tuple) else 0
        if left < 0:
            break
        if isinstance(ranks, str) and len(ranks) < 10 * MOST_RANKS:
            try:
                ranks = json.loads(ranks)
            except (ValueError, RecursionError):
                continue
        if isinstance(ranks, list | tuple) and isinstance(name, str):
            found[name[:LONGEST_NAME]] = tuple(rank for rank in ranks[:MOST_RANKS] if _is_number(rank))
    return found


def _shapes(value: Any) -> tuple[Shape, ...]:
    return tuple(
        tuple(size for size in shape[:MOST_DIMENSIONS] if _is_number(size)) for shape in _items(value, MOST_TENSORS)
        if isinstance(shape, list | tuple)
    )  # fmt: skip


def _texts(value: Any, most: int) -> list[str]:
    return [item[:LONGEST_NAME] for item in _items(value, most) if isinstance(item, str)]


def _items(value: Any, most: int) -> Iterable[Any]:
    return value[:most] if isinstance(value, list | tuple) else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST
