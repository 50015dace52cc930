"""Deletes the folders of runs and artifacts: lists first what goes, and deletes exactly that."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ..core.errors import Conflict
from ..core.translation import _
from .library import Known
from .model import Removal, RemovalItem
from .sources.recorder import ALTERNATIVE_NAME

MOST_FILES: Final = 1_000_000


class Target(NamedTuple):
    """A folder to delete.

    Attributes
    ----------
    id
        Id of the run or artifact.
    path
        The folder in the contents API.
    ours
        True if the recorder wrote it.
    """

    id: str
    path: str
    folder: Path
    ours: bool


def run_target(known: Known) -> Target:
    """Return the folder of a run."""
    return Target(
        known.id, known.path or "", known.folder, known.source.origin == "recorder" and _is_ours(known.folder)
    )


def artifact_target(ident: str, path: str, folder: Path) -> Target:
    """Return the folder of an artifact.

    Parameters
    ----------
    ident
        Id of the artifact.
    path
        Its folder in the contents API.
    folder
        The folder.
    """
    return Target(ident, path, folder, _is_ours(folder))


def _is_ours(folder: Path) -> bool:
    return ALTERNATIVE_NAME.search(folder.name) is not None


def listed(targets: Sequence[Target]) -> Removal:
    """Return what is deleted with some runs and artifacts (blocking)."""
    items = []
    for ident, path, folder, ours in targets:
        size, files = measured(folder)
        items.append(RemovalItem(id=ident, path=path, size=size, files=files, ours=ours))
    return Removal(items=items, size=sum(item.size for item in items))


def removed(targets: Sequence[Target]) -> Removal:
    """Delete the folders of some runs and artifacts (blocking), and return what was deleted.

    Raises
    ------
    Conflict
        If a folder can't be deleted; those before it are gone.
    """
    items = listed(targets)
    for target in targets:
        delete_folder(target.folder)
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
