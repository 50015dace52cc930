"""Reads the files that PyTorch's flight recorder has written when a collective timed out."""

from __future__ import annotations

import json
import logging
import re
import stat
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
_NAME: Final = re.compile(re.escape(TRACE_PREFIX) + r"(\d{1,6})")


def recording_in(folder: Path, expected: int | None) -> Recording | None:
    """Return the recording in the files of a folder; None if there are no files (blocking).

    Parameters
    ----------
    folder
        Folder of one job, which the job's processes can change.
    expected
        Number of ranks of the job; None if unknown.
    """
    found: list[tuple[float, int, Path]] = []
    try:
        for path in islice(folder.iterdir(), 10 * MOST_FILES):
            name = _NAME.fullmatch(path.name)
            if name is not None and len(found) < MOST_FILES:
                about = path.lstat()
                if stat.S_ISREG(about.st_mode):
                    found.append((about.st_mtime, int(name[1]), path))
    except OSError:  # The job has not begun, or its volume was removed.
        return None
    if not found:
        return None
    newest = max(time for time, _rank, _path in found)
    files = [(rank, path) for time, rank, path in sorted(found) if newest - time <= SAME_TIMEOUT_SECONDS]
    traces = [trace for rank, path in files if (trace := _read(path, rank)) is not None]
    return Recording(
        time=newest,
        ranks=len(traces),
        unreadable=len(files) - len(traces),
        collectives=collectives_of(traces, expected),
    )


def _read(path: Path, rank: int) -> Trace | None:
    try:
        with open_regular(path, follow=False) as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise ValueError("the file is too large")
        dump: Any = json.loads(data) if data[:1] == b"{" else read_pickle(data)
        return trace_of(dump, rank)
    except (OSError, ValueError, RecursionError) as error:
        log.warning("The flight recorder's file %s can't be read: %s", path, error)
        return None
