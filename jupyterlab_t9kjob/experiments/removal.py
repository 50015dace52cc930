"""Deletes the folders of runs and artifacts, or a run's event files: lists them first, and deletes only these."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ..contents_paths import printable
from ..core.errors import Conflict
from ..core.translation import _
from .facts import Source
from .library.known import Known
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
    whole
        False if the folder may have other files than the run's.
    """

    id: str
    path: str
    folder: Path
    ours: bool
    whole: bool = True
    source: Source | None = None

    def files(self) -> dict[str, int]:
        """Return the sizes of the run's own files by their paths in the folder (blocking)."""
        found = self.source.files(self.folder) if self.source is not None else {}
        return {name: size for name, (_modified, size) in found.items()}


def run_target(known: Known) -> Target:
    """Return the folder of a run."""
    ours = known.source.origin == "recorder" and _is_ours(known.folder)
    return Target(known.id, known.path or "", known.folder, ours, known.source.closed, known.source)


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


def refusal(outside: Path | None) -> Conflict:
    """Return the error for a run or artifact that is not deleted.

    Parameters
    ----------
    outside
        Its folder outside the contents root; None for a run without a folder.
    """
    if outside is None:
        return Conflict(
            _("The run of a job without recorder has no folder of its own."),
            code="NoFolder",
            hint=_("Remove the job instead."),
        )
    return Conflict(
        _("{folder} is outside the folder that JupyterLab shows.", folder=printable(str(outside))),
        code="OutsideRoot",
        hint=_("Delete the folder in a terminal, or archive it."),
    )


def _is_ours(folder: Path) -> bool:
    return ALTERNATIVE_NAME.search(folder.name) is not None


def listed(targets: Sequence[Target]) -> Removal:
    """Return the folders of some runs and artifacts, which `removed` deletes (blocking)."""
    items = []
    for target in targets:
        if target.whole:
            _check_root(target)
            size, files = measured(target.folder)
        else:
            sizes = target.files().values()
            size, files = sum(sizes), len(sizes)
        items.append(RemovalItem(id=target.id, path=printable(target.path), size=size, files=files, ours=target.ours))
    return Removal(items=items, size=sum(item.size for item in items))


def removed(targets: Sequence[Target]) -> Removal:
    """Delete the folders of some runs and artifacts (blocking), and return the folders.

    Raises
    ------
    Conflict
        If a folder can't be deleted; the folders before it were deleted.
    """
    items = listed(targets)
    for target in targets:
        if target.whole:
            delete_folder(target.folder)
        else:
            _delete_files(target)
    return items


def _check_root(target: Target) -> None:
    """Refuse to delete the folder that JupyterLab shows."""
    if not target.path:
        raise Conflict(
            _("The run is in the folder that JupyterLab shows, which is not deleted."),
            code="IsRoot",
            hint=_("Delete the files of the run one by one."),
        )


def _delete_files(target: Target) -> None:
    """Delete the own files of a run, and its folders if nothing else is in them.

    Raises
    ------
    Conflict
        If a file can't be deleted.
    """
    names = target.files()
    try:
        for name in names:
            (target.folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise _not_deleted(target.folder, error) from error
    inner = {(target.folder / name).parent for name in names} - {target.folder}
    for folder in [*inner, *([target.folder] if target.path else [])]:
        with contextlib.suppress(OSError):  # The folder has other files.
            folder.rmdir()


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
        raise _not_deleted(folder, error) from error


def _not_deleted(folder: Path, error: OSError) -> Conflict:
    problem = Conflict(_("{path} can't be deleted.", path=str(folder)), code="NotDeleted", verbatim=str(error))
    problem.hint = _("Check the permissions of the folder.")
    return problem
