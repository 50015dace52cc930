r"""The launcher's own lines, sifted out of a log in which torchrun repeats each rank's lines with a prefix.

torchrun with ``--tee`` prints ``[default0]:`` before a line of local rank 0 with the role ``default``. In our jobs with
several replicas, the prefix is ``[rank5.default0]:`` and names the global rank as well (`core.manifests.names`). If the
ranks have log files of their own, the launcher's lines become a stream of their own: the file ``<log>.launcher``. It is
made from the log; a record beside it, written after its bytes, says how much of the log has been sifted.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..storage import cuts
from ..storage.index import RECORD, TimeIndex
from ..storage.spool import INDEX_SUFFIX, SIFTED_SUFFIX

DONE_SUFFIX = ".done"
RANKS_SUFFIX = ".ranks"
CHUNK = 1024 * 1024
_DONE = struct.Struct("<QQQ")
_SEARCHED_BYTES = 256 * 1024
_MOST_CHANGES = 1000
_RANKS = re.compile(rb"\bglobal_ranks=\[(\d{1,6})")
_FAILED = re.compile(rb"\brank\s*: (\d{1,6}) \(local_rank: (\d{1,6})\)")
_REPEATED = re.compile(rb"\[[A-Za-z_][\w.-]*?\d+\]:")
_GLOBAL = re.compile(rb"\[rank(\d{1,6})\.[\w.-]*?(\d{1,6})\]:")


def sifted_path(log: Path) -> Path:
    """Return the path of the file with the launcher's own lines of a log."""
    return log.with_name(log.name + SIFTED_SUFFIX)


def sift(log: Path) -> None:
    """Append the launcher's own lines among the log's new complete lines to the sifted file (blocking).

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    out = sifted_path(log)
    index = out.with_name(out.name + INDEX_SUFFIX)
    done = out.with_name(out.name + DONE_SUFFIX)
    try:
        read, size, records = _DONE.unpack(done.read_bytes())
    except (FileNotFoundError, struct.error):
        read, size, records = 0, 0, 0
    whole = log.stat().st_size
    if whole == read:
        return
    if whole < read:  # The lines were those of another run, and have been replaced.
        read, size, records = 0, 0, 0
        out.with_name(out.name + RANKS_SUFFIX).unlink(missing_ok=True)
    ranks = first_ranks(out)
    known = len(ranks)
    times = TimeIndex(log.with_name(log.name + INDEX_SUFFIX))
    times.refresh()
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    with (
        log.open("rb") as source,
        open(os.open(out, flags, 0o600), "wb") as target,  # noqa: PTH123
        open(os.open(index, flags, 0o600), "wb") as marks,  # noqa: PTH123
    ):
        target.seek(size)
        marks.seek(records * RECORD.size)
        for start, end in _pieces(log, read):
            read = start
            for line in _lines(source, start, end):
                if _REPEATED.match(line):
                    _note_rank(line, ranks)
                else:
                    size += target.write(line)
                    time = times.time_at(read)
                    if time is not None:
                        marks.write(RECORD.pack(time, size))
                        records += 1
                read += len(line)
        target.truncate(size)
        marks.truncate(records * RECORD.size)
    if len(ranks) > known:
        out.with_name(out.name + RANKS_SUFFIX).write_text(" ".join(map(str, ranks)))
    fresh = done.with_name(done.name + ".new")
    fresh.write_bytes(_DONE.pack(read, size, records))
    fresh.replace(done)


def _note_rank(line: bytes, ranks: list[int]) -> None:
    """Add the global rank of local rank 0, computed from a line's prefix, if it differs from the last one."""
    prefix = _GLOBAL.match(line)
    if prefix is None:
        return
    first = int(prefix[1]) - int(prefix[2])
    if first >= 0 and ranks[-1:] != [first] and len(ranks) < _MOST_CHANGES:
        ranks.append(first)


def first_ranks(sifted: Path) -> list[int]:
    """Return the global ranks that local rank 0 had, in order of time, according to the prefixes (blocking)."""
    try:
        return [int(word) for word in sifted.with_name(sifted.name + RANKS_SUFFIX).read_text().split()]
    except (OSError, ValueError):
        return []


def first_rank(sifted: Path) -> int | None:
    """Return the global rank of local rank 0 from the launcher's own lines (blocking); None if it is not in them.

    torchrun logs it at level INFO, and in its report about a failed rank.
    """
    try:
        with sifted.open("rb") as file:
            start = file.read(_SEARCHED_BYTES)
            file.seek(max(file.tell(), file.seek(0, os.SEEK_END) - _SEARCHED_BYTES))
            end = file.read(_SEARCHED_BYTES)
    except OSError:
        return None
    ranks = _RANKS.findall(start + end)
    if ranks:
        return int(ranks[-1])
    failed = _FAILED.search(end or start)
    return max(0, int(failed[1]) - int(failed[2])) if failed is not None else None


def _pieces(log: Path, start: int) -> list[tuple[int, int]]:
    """Return start and end of each part of a log from an offset on, without the removed bytes."""
    cut = cuts.read(log.with_name(log.name + cuts.SUFFIX))
    size = log.stat().st_size
    if cut is None or cut.end <= start:
        return [(start, size)]
    pieces = [(start, min(cut.start, size)), (cut.end, size)]
    return [(begin, end) for begin, end in pieces if begin < end]


def _lines(source: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """Yield the complete lines between two offsets."""
    source.seek(start)
    rest = b""
    while start < end and (chunk := source.read(min(CHUNK, end - start))):
        start += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
