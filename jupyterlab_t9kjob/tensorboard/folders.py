"""Which folders TensorBoard may be opened on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..contents_paths import DRIVE, ContentsRoot, outside
from ..core.errors import FieldError

MAX_FOLDERS = 50


def resolve(root: ContentsRoot, paths: Sequence[str], own: Iterable[str] = ()) -> list[Path]:
    """Return log directories as absolute paths. Blocks: call it in a thread.

    Parameters
    ----------
    root
        The contents root, in which they must lie, links followed.
    paths
        As the contents API names them, or absolute. They need not exist yet.
    own
        Log directories of jobs, which may lie anywhere.

    Raises
    ------
    FieldError
        If one is outside the root, a file, or can't be a path; if there are none, or too many.
    Unavailable
        If files are not on this machine's disk.
    """
    field = "/paths"
    if not 0 < len(paths) <= MAX_FOLDERS:
        raise FieldError(f"Give 1 to {MAX_FOLDERS} log directories.", field=field)
    allowed = {os.path.normpath(path) for path in own}
    found: list[Path] = []
    for index, text in enumerate(paths):
        field = f"/paths/{index}"
        text = text.strip()
        if "\0" in text:
            raise FieldError("The path has a NUL byte in it.", field=field)
        path = Path(os.path.normpath(text)) if text.startswith("/") else root.disk(text, field)
        if str(path) not in allowed:
            check(root, [path], field)
        if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112 (Path raises at long names)
            raise FieldError(
                f"{path} is a file.",
                code="NotAFolder",
                field=field,
                hint="Choose the folder that the event files are in.",
            )
        found.append(path)
    return list(dict.fromkeys(found))


def disks(root: ContentsRoot, paths: Sequence[str]) -> list[Path]:
    """Return the folders on whose disks `resolve` looks; no disk is asked.

    Raises
    ------
    Unavailable
        If files are not on this machine's disk.
    """
    texts = [text.strip() for text in paths[:MAX_FOLDERS] if "\0" not in text]
    found = [text if text.startswith("/") else f"{root.folder}/{DRIVE.sub('', text)}" for text in texts]
    return [root.folder, *(Path(os.path.normpath(text)) for text in found)]


def canonical(paths: Iterable[Path]) -> frozenset[str]:
    """Return what makes two sets of log directories the same. Blocks: call it in a thread."""
    return frozenset(os.path.realpath(path) for path in paths)


def check(root: ContentsRoot, paths: Iterable[Path], field: str = "/paths") -> None:
    """Check that log directories lie in the root, links followed. Blocks: call it in a thread.

    What links inside of them lead to is not checked: TensorBoard follows them, as the file browser
    does, for runs are often kept on another disk.

    Raises
    ------
    FieldError
        If one does not.
    """
    for path in paths:
        real = Path(os.path.realpath(path))
        if not root.contains(path) or not real.is_relative_to(os.path.realpath(root.folder)):
            raise outside(path if real == path else f"{path} (a link to {real})", root.folder, field)
