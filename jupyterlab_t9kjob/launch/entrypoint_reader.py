"""Reading the file that a job runs, as its entrypoint names it."""

from __future__ import annotations

from pathlib import Path

from ..contents_paths import ContentsRoot
from ..core.engine import Prepare
from ..core.errors import FieldError, NotFound
from ..core.spec import Entrypoint
from ..core.system.disk_threads import on_disk
from .notebooks.notebook import write_script
from .source_file import Source, read_source


class Reader:
    """Reads scripts and notebooks in the contents root.

    Parameters
    ----------
    root
        Where they must lie.
    """

    def __init__(self, root: ContentsRoot) -> None:
        self.root = root

    async def clicked(self, path: str | None) -> Source | None:
        """Read the file that a form is for, if it is for one; `path` is as the contents API names it."""
        if path is None:
            return None
        file = self.root.disk(path)
        return await on_disk(file, read_source, self.root, file, "/path")

    async def module(self, name: str, path: str | None) -> Source | None:
        """Read the file that a form is for if the module `name` is that file; None if it is not."""
        try:
            source = await self.clicked(path)
        except (FieldError, NotFound):  # the module may be another one, which nobody here sees
            return None
        return source if source is not None and source.module == name else None

    async def read(self, entrypoint: Entrypoint, path: Path, field: str) -> Source:
        """Read a script or notebook.

        Parameters
        ----------
        entrypoint
            Which of both it is to be.
        path
            Where it lies on this machine.
        field
            JSON pointer that an error names.

        Raises
        ------
        FieldError
            If it is not there, can't be run, or is the other one. What Python can't read is no error here.
        """
        try:
            source = await on_disk(path, read_source, self.root, path, field)
        except NotFound as problem:  # the address exists; a field of the request is wrong
            raise FieldError(problem.message, field=field, hint=problem.hint, code="ScriptGone") from problem
        if source.kind != entrypoint.kind:
            raise FieldError(
                f"{path.name} is a {source.kind}, not a {entrypoint.kind}.",
                field=field.removesuffix("value") + "kind",
                hint=f"Choose a {entrypoint.kind}, or say that it is a {source.kind}.",
            )
        return source

    @staticmethod
    def writer(source: Source | None) -> Prepare | None:
        """Return what writes a notebook's script; None for anything else."""
        if source is None or source.converted is None:
            return None
        path, converted = source.path, source.converted

        async def write() -> None:
            await on_disk(path, write_script, path, converted)

        return write
