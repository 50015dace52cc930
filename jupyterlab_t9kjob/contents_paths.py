"""Between paths as the contents API names them and paths on this machine's disk."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.fileio import FileManagerMixin

from .core.errors import FieldError, Unavailable

# jupyter-collaboration puts a drive before its paths; clients strip it, old ones may not.
DRIVE = re.compile(r"^[A-Za-z][A-Za-z0-9_-]+:")


class ContentsRoot:
    """The folder that the contents API serves.

    Parameters
    ----------
    manager
        The server's contents manager. One that keeps its files elsewhere than on this machine
        (S3, a database) has no folder: `folder` and all that needs it then raise `Unavailable`.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @property
    def folder(self) -> Path:
        """The root's absolute path, symbolic links kept.

        Raises
        ------
        Unavailable
            If files are not on this machine's disk.
        """
        if not isinstance(self._manager, FileManagerMixin):
            raise Unavailable(
                "The files of this JupyterLab are not on this machine's disk, so a job here can't read them.",
                code="NoLocalFiles",
                hint="Start JupyterLab with its files on a disk of this machine.",
            )
        return Path(os.path.abspath(self._manager.root_dir))  # type: ignore[attr-defined]  # noqa: PTH100

    def disk(self, path: str, field: str = "/path") -> Path:
        """Return where a contents path lies on disk, whether or not it exists.

        Parameters
        ----------
        path
            As the contents API names it; a drive before it is dropped.
        field
            JSON pointer that an error names.

        Raises
        ------
        FieldError
            If it leads out of the root, or can't be a path.
        Unavailable
            If files are not on this machine's disk.
        """
        if "\0" in path:
            raise FieldError("The path has a NUL byte in it.", field=field)
        relative = DRIVE.sub("", path).strip("/")
        target = Path(os.path.normpath(self.folder / relative))
        if not self.contains(target):
            raise outside(path, self.folder, field)
        return target

    def contains(self, path: str | Path) -> bool:
        """Whether an absolute path lies in the root, by its name: links are not followed."""
        return Path(os.path.normpath(path)).is_relative_to(self.folder)

    def shown(self, path: Path) -> Path | None:
        """Return a real path as the root has it, which may itself be a link; None if it lies elsewhere (blocking)."""
        if self.contains(path):
            return path
        try:
            return self.folder / path.relative_to(os.path.realpath(self.folder))
        except ValueError:
            return None

    def api(self, path: str | Path) -> str | None:
        """Return how the contents API names an absolute path; None if it lies elsewhere."""
        try:
            return Path(os.path.normpath(path)).relative_to(self.folder).as_posix().removeprefix(".")
        except (ValueError, Unavailable):
            return None


def outside(path: str | Path, folder: Path, field: str) -> FieldError:
    """Return the error for a path that is not in the root."""
    return FieldError(
        f"{path} is outside the folder that JupyterLab shows ({folder}).",
        code="OutsideRoot",
        field=field,
        hint="Move or copy it into that folder.",
    )
