"""Reads the script or notebook that a job's entrypoint names."""

from __future__ import annotations

from pathlib import Path

from ..contents_paths import ContentsRoot
from ..core.engine import Prepare
from ..core.errors import FieldError, NotFound
from ..core.spec import Entrypoint
from ..core.system.disk_threads import on_disk
from ..core.translation import Text, _
from .notebooks.notebook import write_script
from .source_file import Source, read_source


class Reader:
    """Reads scripts and notebooks in the contents root.

    Parameters
    ----------
    root
        Folder that must contain the files.
    """

    def __init__(self, root: ContentsRoot) -> None:
        self.root = root

    async def clicked(self, path: str | None) -> Source | None:
        """Read the file for which the user opened the form.

        Returns None if the form was opened without a file. `path` is a path of the contents API.
        """
        if path is None:
            return None
        file = self.root.disk(path)
        return await on_disk(file, read_source, self.root, file, "/path")

    async def module(self, name: str, path: str | None) -> Source | None:
        """Read the file for which the form was opened, if the module `name` is in that file.

        Parameters
        ----------
        name
            Name of the module, as for ``python -m``.
        path
            Path of the form's file in the contents API; None without a file.

        Returns
        -------
        source
            The file; None if the module is not in it or the file can't be read.
        """
        try:
            source = await self.clicked(path)
        except (FieldError, NotFound):  # The module may be installed elsewhere, so an unreadable file is no error.
            return None
        return source if source is not None and source.module == name else None

    async def read(self, entrypoint: Entrypoint, path: Path, field: str) -> Source:
        """Read a script or notebook.

        Parameters
        ----------
        entrypoint
            The entrypoint, whose kind the file must have.
        path
            Absolute path on this machine.
        field
            JSON pointer that an error names.

        Raises
        ------
        FieldError
            If the file does not exist, cannot run, or has the other kind. A file that Python cannot read is returned
            with its error.
        """
        try:
            source = await on_disk(path, read_source, self.root, path, field)
        except NotFound as problem:  # 422, not 404: the URL exists, a field of the request is wrong
            raise FieldError(problem.message, field=field, hint=problem.hint, code="ScriptGone") from problem
        if source.kind != entrypoint.kind:
            message, hint = _other_kind(path.name, source)
            raise FieldError(message, field=field.removesuffix("value") + "kind", hint=hint)
        return source

    @staticmethod
    def writer(source: Source | None) -> Prepare | None:
        """Return a function that writes a notebook's script; None for other sources."""
        if source is None or source.converted is None:
            return None
        path, converted = source.path, source.converted

        async def write() -> None:
            await on_disk(path, write_script, path, converted)

        return write


def _other_kind(file: str, source: Source) -> tuple[Text, Text]:
    """Return the message and hint for a file whose kind differs from the entrypoint's."""
    if source.kind == "notebook":
        return (
            _("{file} is a notebook, not a script.", file=file),
            _("Choose a script, or change the kind of the entrypoint to notebook."),
        )
    return (
        _("{file} is a script, not a notebook.", file=file),
        _("Choose a notebook, or change the kind of the entrypoint to script."),
    )
