"""The file that a job is made from: a script, or a notebook as a script."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import FieldError, NotFound
from ..core.job import Link
from ..core.spec import EntrypointKind
from ..paths import ContentsRoot, outside
from .model import NotebookInfo
from .notebook import Converted, convert, script_path
from .script import MAX_BYTES, Script, SourceError, decode, read_script

MAX_NOTEBOOK = 256 * 1024 * 1024
MAX_SIBLINGS = 5000


@dataclass
class Source:
    """A file as read.

    Attributes
    ----------
    path
        Where it lies.
    api
        How the contents API names it.
    kind
        What it is as an entrypoint.
    script
        What its text tells; empty if it has an error.
    converted
        A notebook as a script.
    error
        Why Python can't read it.
    """

    path: Path
    api: str
    kind: EntrypointKind
    script: Script = field(default_factory=Script)
    converted: Converted | None = None
    error: SourceError | None = None

    @property
    def kernel(self) -> str | None:
        """The kernel that a notebook names."""
        return self.converted.kernel if self.converted else None

    def link(self, line: int | None) -> Link:
        """Return where a line of the script, or its error, lies: a notebook's is found by its cell."""
        if self.error is not None and self.error.cell is not None:
            return Link(kind="file", label=f"{self.path.name}, cell {self.error.cell}", path=self.api)
        if self.converted is None or line is None:
            label = f"{self.path.name}:{line}" if line else self.path.name
            return Link(kind="file", label=label, path=self.api, line=line)
        cell, _ = self.converted.places[min(line, len(self.converted.places)) - 1]
        return Link(kind="file", label=f"{self.path.name}, cell {cell}", path=self.api)

    def notebook_info(self, root: ContentsRoot) -> NotebookInfo | None:
        """Return how a notebook becomes a script."""
        if self.kind != "notebook":
            return None
        script = root.api(script_path(self.path)) or ""
        if self.converted is None:
            return NotebookInfo(script_path=script, cells=0)
        return NotebookInfo(
            script_path=script,
            cells=self.converted.cells,
            skipped=self.converted.skipped,
            kernel=self.converted.kernel,
        )


def read_source(root: ContentsRoot, path: Path, field_: str) -> Source:
    """Read a script or notebook. Blocks: call it in a thread.

    Parameters
    ----------
    root
        The contents root, in which the file must lie.
    path
        Its absolute path.
    field_
        JSON pointer that an error names.

    Raises
    ------
    NotFound
        If it does not exist.
    FieldError
        If it is outside the root, a directory, neither script nor notebook, or unreadable. One
        that Python can't read is no error here: see `Source.error`.
    """
    api = root.api(path)
    if api is None:
        raise outside(path, root.folder, field_)
    data = _read(path, field_)
    if path.suffix == ".ipynb":
        try:
            return _notebook(path, api, data)
        except FieldError as problem:
            problem.field = field_
            raise
    source = Source(path, api, "script")
    try:
        source.script = read_script(decode(data, path.name), path.name, _siblings(path.parent))
    except SourceError as error:
        source.error = error
    return source


def _notebook(path: Path, api: str, data: bytes) -> Source:
    if len(data) > MAX_NOTEBOOK:
        raise FieldError(
            f"{path.name} is larger than {MAX_NOTEBOOK // 1024**2} MiB.",
            reason="TooLarge",
            hint="Clear its outputs and save it.",
        )
    source = Source(path, api, "notebook")
    try:
        source.converted = convert(data, path.name)
        source.script = read_script(source.converted.text, path.name, _siblings(path.parent))
    except SourceError as error:
        source.error = error
    return source


def _read(path: Path, field_: str) -> bytes:
    most = {".py": MAX_BYTES, ".ipynb": MAX_NOTEBOOK}.get(path.suffix)
    if most is None and not os.path.isdir(path):  # noqa: PTH112 (raises at long names)
        raise FieldError(
            f"{path.name} is neither a Python script nor a notebook.",
            reason="NotAScript",
            field=field_,
            hint="Choose a file that ends in .py or .ipynb.",
        )
    try:
        # Opening a named pipe would wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read((most or 0) + 1)  # one more, which says that it is too large
        raise OSError(errno.EINVAL, "Not a regular file")
    except FileNotFoundError as error:
        raise NotFound(
            f"{path.name} does not exist, or no longer.",
            field=field_,
            hint="Choose another file; a new one must be saved first.",
        ) from error
    except IsADirectoryError as error:
        raise FieldError(
            f"{path.name} is a folder.",
            reason="IsAFolder",
            field=field_,
            hint="Choose the script or notebook in it that is to run.",
        ) from error
    except OSError as error:
        raise FieldError(
            f"{path.name} can't be read.",
            reason="Unreadable",
            field=field_,
            hint="See who may read the file.",
            verbatim=error.strerror,
        ) from error


def _siblings(folder: Path) -> set[str]:
    """Return the modules that lie beside a script, so need no installing."""
    found: set[str] = set()
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(MAX_SIBLINGS), entries, strict=False):
                found.add(entry.name.partition(".")[0])
    except OSError:
        return found
    return found
