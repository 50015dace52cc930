"""Reads the files that PyTorch's flight recorder has written when a collective timed out."""

from __future__ import annotations

import json
import logging
import re
import stat
import threading
from collections import OrderedDict
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ..core.stacks.diagnostics import TRACE_PREFIX
from ..core.stacks.pickle_reader import read_pickle
from ..core.stacks.traces import Trace, trace_of
from ..core.system.files import open_regular
from .collectives import collectives_of
from .model import Recording

log = logging.getLogger(__name__)

MOST_FILES: Final = 1024
LARGEST_FILE: Final = 16 * 1024 * 1024
SAME_TIMEOUT_SECONDS: Final = 900.0
"""Files that are older than the newest one by more are of an earlier attempt."""
MOST_KEPT: Final = 32
"""Recordings that are kept in memory, so that files are parsed once."""
_NAME: Final = re.compile(re.escape(TRACE_PREFIX) + r"(\d{1,6})")

_File = tuple[int, int, Path, int]
"""Time of change in nanoseconds, rank, path and size."""
_kept: OrderedDict[tuple[int | None, tuple[_File, ...]], Recording] = OrderedDict()
_lock = threading.Lock()


def recording_in(folder: Path, expected: int | None) -> Recording | None:
    """Return the recording in the files of a folder; None if there are no files (blocking).

    Parameters
    ----------
    folder
        Folder of one job, which the job's processes can change.
    expected
        Number of ranks of the job; None if unknown.
    """
    found: list[_File] = []
    try:
        for path in islice(folder.iterdir(), 10 * MOST_FILES):
            name = _NAME.fullmatch(path.name)
            if name is not None and len(found) < MOST_FILES:
                about = path.lstat()
                if stat.S_ISREG(about.st_mode):
                    found.append((about.st_mtime_ns, int(name[1]), path, about.st_size))
    except OSError:  # The job has not begun, or its volume was removed.
        return None
    if not found:
        return None
    newest = max(found)[0] / 1e9
    files = tuple(file for file in sorted(found) if newest - file[0] / 1e9 <= SAME_TIMEOUT_SECONDS)
    with _lock:
        kept = _kept.get((expected, files))
        if kept is not None:
            _kept.move_to_end((expected, files))
            return kept
    return _read_all(newest, files, expected)


def _read_all(newest: float, files: tuple[_File, ...], expected: int | None) -> Recording:
    """Read files; keep the recording unless the disk had an error, which may pass."""
    traces, errors = [], 0
    for _time, rank, path, _size in files:
        try:
            trace = _read(path, rank)
        except OSError as error:
            log.warning("The flight recorder's file %s can't be read: %s", path, error)
            errors += 1
        else:
            traces += [] if trace is None else [trace]
    recording = Recording(
        time=newest,
        ranks=len(traces),
        unreadable=len(files) - len(traces),
        collectives=collectives_of(traces, expected),
    )
    if not errors:
        with _lock:
            _kept[expected, files] = recording
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return recording


def _read(path: Path, rank: int) -> Trace | None:
    """Return the content of a file; None if it is no recording."""
    with open_regular(path, follow=False) as file:
        data = file.read(LARGEST_FILE + 1)
    try:
        if len(data) > LARGEST_FILE:
            raise ValueError("the file is too large")
        dump: Any = json.loads(data) if data[:1] == b"{" else read_pickle(data)
        return trace_of(dump, rank)
    except (ValueError, RecursionError) as error:
        log.warning("The flight recorder's file %s can't be read: %s", path, error)
        return None
