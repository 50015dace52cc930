"""Reads the file that a job is made from: a script, or a notebook that becomes a script."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from ..contents_paths import ContentsRoot, outside
from ..core.errors import FieldError, NotFound
from ..core.job import Link
from ..core.spec import EntrypointKind
from ..core.system.files import open_regular
from ..core.translation import Text, _
from .model import NotebookInfo
from .notebooks import outcomes
from .notebooks.arguments import installs
from .notebooks.notebook import Converted, Notebook, read_notebook
from .notebooks.script_file import script_path
from .options.texts import printable
from .scripts.facts import Facts
from .scripts.script import Script, read_script
from .scripts.source_text import MAX_BYTES, SourceError, decode
from .scripts.workspace import Workspace

MAX_NOTEBOOK = 64 * 1024 * 1024
"""Largest notebook in bytes: the server answers nothing else while Python's parser of JSON reads one."""


@dataclass
class Source:
    """A script or notebook after it was read.

    Attributes
    ----------
    path
        Absolute path of the file.
    api
        Path of the file in the contents API.
    kind
        Kind of the entrypoint that runs the file.
    script
        Facts from the text of the script; empty if the text has an error.
    notebook
        The notebook; None for a script.
    converted
        The cells that the job runs; None for a script, or if a cell has an error.
    installs
        True if the job runs the notebook's ``pip install`` commands.
    error
        Error because of which Python cannot read the file.
    workspace
        Folders that hold the modules of the user.
    module
        Name for ``python -m``, if the script is part of a package and works only as a module.
    """

    path: Path
    api: str
    kind: EntrypointKind
    script: Script = field(default_factory=Script)
    notebook: Notebook | None = None
    converted: Converted | None = None
    installs: bool = True
    error: SourceError | None = None
    workspace: Workspace | None = None
    module: str | None = None

    @property
    def folder(self) -> Path:
        """Working directory of a job: the script's folder, or the folder from which Python finds the module."""
        if self.module is None:
            return self.path.parent
        depth = self.module.count(".") + (2 if self.path.stem == "__main__" else 1)
        return self.path.parents[depth - 1]

    @property
    def kernel(self) -> str | None:
        """Name of the kernel in a notebook's metadata."""
        return self.notebook.kernel if self.notebook else None

    def link(self, line: int | None, module: str | None = None) -> Link | None:
        """Return a link to a line of the script, or to the cell of a notebook that has an error or the line.

        Parameters
        ----------
        line
            Number of the line, from 1.
        module
            Path of an imported module, if the line is in that module.
        """
        if module is not None:
            relative = os.path.relpath(module, self.path.parent)
            api = os.path.normpath(f"{os.path.dirname(self.api)}/{relative}").lstrip("/")  # noqa: PTH120
            label = Text.verbatim(f"{os.path.basename(module)}:{line}")  # noqa: PTH119
            return None if api.startswith("..") else Link(kind="file", label=label, path=api, line=line)
        if self.error is not None and self.error.cell is not None:
            return self.cell_link(self.error.cell, self.error.line)
        if self.converted is None or line is None:
            label = Text.verbatim(f"{self.path.name}:{line}" if line else self.path.name)
            return Link(kind="file", label=label, path=self.api, line=line)
        return self.cell_link(*self.converted.places[min(line, len(self.converted.places)) - 1])

    def cell_link(self, number: int, line: int | None = None) -> Link:
        """Return a link to a line of a cell.

        Parameters
        ----------
        number
            Number of the cell, from 1.
        line
            Line of the cell, from 1; None for the cell as a whole.
        """
        label = _("{file}, cell {number}", file=self.path.name, number=number)
        return Link(kind="file", label=label, path=self.api, line=line, cell=number)

    def notebook_info(self, root: ContentsRoot) -> NotebookInfo | None:
        """Return the facts about the notebook's conversion to a script; None for a script."""
        if self.notebook is None:
            return None
        return NotebookInfo(
            script_path=root.api(script_path(self.path)) or "",
            cells=outcomes.cells_of(self.notebook),
            text_cells=self.notebook.text_cells,
            kernel=self.notebook.kernel,
            parameters_cell=self.notebook.parameters.cell,
            installs=outcomes.install_steps(self.notebook.cells),
        )


def read_source(root: ContentsRoot, path: Path, field_: str, args: list[str] | None = None) -> Source:
    """Read a script or notebook. Blocks: call it in a thread.

    Python source that can't be parsed raises no error: see `Source.error`.

    Parameters
    ----------
    root
        The contents root, which must contain the file.
    path
        Absolute path of the file.
    field_
        JSON pointer of the field to report in an error.
    args
        Arguments of the job, which choose the cells of a notebook; None for the notebook's own choice.

    Raises
    ------
    NotFound
        If the file does not exist.
    FieldError
        If the file is outside the root, a directory, neither script nor notebook, or unreadable.
    """
    api = root.api(path)
    if api is None:
        raise outside(path, root.folder, field_)
    if printable(str(path)) != str(path):
        raise FieldError(
            _("The path {path} is not UTF-8, so a job cannot receive it.", path=printable(str(path))),
            code="NameNotUtf8",
            field=field_,
            hint=_("Rename the folders and files whose names are not UTF-8."),
        )
    data = _read(path, field_)
    workspace = Workspace(root.folder, path)
    if path.suffix == ".ipynb":
        try:
            return _notebook(path, api, data, workspace, args or [])
        except FieldError as problem:
            problem.field = field_
            raise
    source = Source(path, api, "script", workspace=workspace)
    try:
        source.script = read_script(decode(data, path.name), path.name, workspace)
        source.module = _module(source.script.closure.script, workspace)
    except SourceError as error:
        source.error = error
    return source


def _module(facts: Facts, workspace: Workspace) -> str | None:
    """Return the module name of a script that works only as part of its package; None for other scripts (blocking)."""
    script, top = workspace.script, workspace.top()
    relative = facts.relative
    package = top.joinpath(script.relative_to(top).parts[0])
    of_package = any(
        not found.level and found.module.partition(".")[0] == package.name and not found.guarded
        for found in facts.imports
    )
    if facts.package or not (relative or (of_package and package.is_dir())):
        return None
    if relative is not None and len(script.parents) > relative.level:
        top = min(top, script.parents[relative.level], key=lambda folder: len(folder.parts))
    parts = list(script.with_suffix("").relative_to(top).parts)
    if parts[-1] == "__main__":
        parts.pop()
    named = parts and all(part.isidentifier() for part in parts[:-1]) and "." not in parts[-1]
    return ".".join(parts) if named and not parts[-1].startswith("-") else None


def _notebook(path: Path, api: str, data: bytes, workspace: Workspace, args: list[str]) -> Source:
    if len(data) > MAX_NOTEBOOK:
        raise FieldError(
            _("{file} is larger than {most} MiB.", file=path.name, most=MAX_NOTEBOOK // 1024**2),
            code="TooLarge",
            hint=_("Clear its outputs and save it."),
        )
    notebook = read_notebook(data, path.name)
    source = Source(path, api, "notebook", workspace=workspace, notebook=notebook, installs=installs(args))
    try:
        source.converted = notebook.convert(args)
        source.script = read_script(source.converted.code, path.name, workspace, compiled=False)
    except SourceError as error:
        source.error = error
    info = source.script.info
    taken = {flag for option in info.options for flag in option.flags}
    notebook.parameters = notebook.parameters.without(taken)
    info.options = [*notebook.options(source.converted), *info.options]
    return source


def _read(path: Path, field_: str) -> bytes:
    most = {".py": MAX_BYTES, ".ipynb": MAX_NOTEBOOK}.get(path.suffix)
    if most is None and not os.path.isdir(path):  # noqa: PTH112 (raises at long names)
        raise FieldError(
            _("{file} is neither a Python script nor a notebook.", file=path.name),
            code="NotAScript",
            field=field_,
            hint=_("Choose a file that ends in .py or .ipynb."),
        )
    try:
        with open_regular(path) as file:
            return file.read((most or 0) + 1)  # One byte more than the limit shows that the file is too large.
    except FileNotFoundError as error:
        raise NotFound(
            _("{file} does not exist.", file=path.name),
            field=field_,
            hint=_("Choose another file, or save the new one first."),
        ) from error
    except IsADirectoryError as error:
        raise FieldError(
            _("{file} is a folder.", file=path.name),
            code="IsAFolder",
            field=field_,
            hint=_("Choose a script or notebook in the folder."),
        ) from error
    except OSError as error:
        raise FieldError(
            _("{file} can't be read.", file=path.name),
            code="Unreadable",
            field=field_,
            hint=_("Check the permissions of the file."),
            verbatim=error.strerror,
        ) from error
