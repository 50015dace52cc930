"""Conversion between contents API paths and paths on this machine's disk."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .core.errors import FieldError, Unavailable
from .core.translation import _

# jupyter-collaboration puts a drive before its paths; old clients do not strip it.
DRIVE = re.compile(r"^[A-Za-z][A-Za-z0-9_-]+:")
NUL_BYTE = _("The path has a NUL byte in it.")


class ContentsRoot:
    """The folder that the contents API serves.

    Parameters
    ----------
    manager
        The server's contents manager, or a folder for a program without a server. If the manager does not keep its
        files on this machine's disk (S3, a database), there is no folder, and `folder` and the methods that need it
        raise `Unavailable`.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    @property
    def folder(self) -> Path:
        """The root's absolute path; symbolic links in it are kept.

        Raises
        ------
        Unavailable
            If the files are not on this machine's disk.
        """
        if isinstance(self._manager, Path):
            return self._manager
        from jupyter_server.services.contents.fileio import FileManagerMixin  # a program without a server is faster

        if not isinstance(self._manager, FileManagerMixin):
            raise Unavailable(
                _("The files of this JupyterLab are not on this machine's disk, so a job here can't read them."),
                code="NoLocalFiles",
                hint=_("Start JupyterLab with its files on a disk of this machine."),
            )
        return Path(os.path.abspath(self._manager.root_dir))  # type: ignore[attr-defined]  # noqa: PTH100

    def disk(self, path: str, field: str = "/path") -> Path:
        """Return the path on disk of a contents path; it need not exist.

        Parameters
        ----------
        path
            Contents API path; a drive before it is dropped.
        field
            JSON pointer of the request's field, for the error.

        Raises
        ------
        FieldError
            If the path leads out of the root, or is no valid path.
        Unavailable
            If the files are not on this machine's disk.
        """
        if "\0" in path:
            raise FieldError(NUL_BYTE, field=field)
        relative = DRIVE.sub("", path).strip("/")
        target = Path(os.path.normpath(self.folder / relative))
        if not self.contains(target):
            raise outside(path, self.folder, field)
        return target

    def contains(self, path: str | Path) -> bool:
        """Return True if an absolute path is in the root; symbolic links are not followed."""
        return Path(os.path.normpath(path)).is_relative_to(self.folder)

    def shown(self, path: Path) -> Path | None:
        """Return the path below `folder` of a real path (blocking); None if it is outside the root.

        The two differ if the root itself is a symbolic link.
        """
        if self.contains(path):
            return path
        try:
            return self.folder / path.relative_to(os.path.realpath(self.folder))
        except ValueError:
            return None

    def api(self, path: str | Path) -> str | None:
        """Return the contents API path of an absolute path; None if it is outside the root."""
        try:
            relative = Path(os.path.normpath(path)).relative_to(self.folder).as_posix()
        except (ValueError, Unavailable):
            return None
        return "" if relative == "." else relative


def printable(path: str) -> str:
    """Return a path as an answer can have it: a name on disk may have bytes that are no UTF-8."""
    return path.encode("utf-8", "replace").decode()


def outside(path: str | Path, folder: Path, field: str, target: Path | None = None) -> FieldError:
    """Return the error for a path outside the root.

    Parameters
    ----------
    path
        The path.
    folder
        The root's folder.
    field
        JSON pointer of the request's field.
    target
        Real path, if `path` is a symbolic link or has one in it.
    """
    if target is None:
        message = _(
            "{path} is outside the folder that JupyterLab shows ({folder}).", path=str(path), folder=str(folder)
        )
    else:
        message = _(
            "{path} (a link to {target}) is outside the folder that JupyterLab shows ({folder}).",
            path=str(path),
            target=str(target),
            folder=str(folder),
        )
    return FieldError(message, code="OutsideRoot", field=field, hint=_("Move or copy it into that folder."))
