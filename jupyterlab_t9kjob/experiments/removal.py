"""Deletes the folders of runs: lists first what goes, and deletes exactly that."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..core.errors import Conflict
from ..core.translation import _
from .library import Known
from .model import Removal, RemovalItem
from .sources.recorder import ALTERNATIVE_NAME

MOST_FILES: Final = 1_000_000


def listed(runs: Sequence[Known]) -> Removal:
    """Return what is deleted with some runs (blocking)."""
    items = []
    for known in runs:
        size, files = measured(known.folder)
        ours = known.source.origin == "recorder" and ALTERNATIVE_NAME.search(known.folder.name) is not None
        items.append(RemovalItem(id=known.id, path=known.path or "", size=size, files=files, ours=ours))
    return Removal(items=items, size=sum(item.size for item in items))


def removed(runs: Sequence[Known]) -> Removal:
    """Delete the folders of some runs (blocking), and return what was deleted.

    Raises
    ------
    Conflict
        If a folder can't be deleted; those before it are gone.
    """
    items = listed(runs)
    for known in runs:
        delete_folder(known.folder)
    return items


def measured(folder: Path) -> tuple[int, int]:
    """Return size in bytes and number of the files in a folder; links count themselves."""
    size = files = 0
    for path, _folders, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118
            except OSError:
                continue
            files += 1
        if files > MOST_FILES:
            break
    return size, files


def delete_folder(folder: Path) -> None:
    """Delete a folder; a link in its place is refused.

    Raises
    ------
    Conflict
        If it can't be deleted.
    """
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise NotADirectoryError(20, os.strerror(20), str(folder))
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        problem = Conflict(_("{path} can't be deleted.", path=str(folder)), code="NotDeleted", verbatim=str(error))
        problem.hint = _("Check the permissions of the folder.")
        raise problem from error
