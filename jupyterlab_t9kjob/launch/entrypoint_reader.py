"""Reads the script or notebook that a job's entrypoint names."""

from __future__ import annotations

from pathlib import Path

from ..contents_paths import ContentsRoot
from ..core.engine.protocol import Prepare
from ..core.errors import FieldError, NotFound
from ..core.running.source import is_in_repository
from ..core.spec import Entrypoint, JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import Text, _
from .notebooks.script_file import write_script
from .scripts.source_text import FIELD
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

    async def clicked(self, path: str | None, args: list[str] | None = None) -> Source | None:
        """Read the file for which the user opened the form.

        Parameters
        ----------
        path
            Path of the contents API; None if the form was opened without a file.
        args
            Arguments of the job, which choose the cells of a notebook; None for the notebook's own choice.
        """
        if path is None:
            return None
        file = self.root.disk(path)
        return await on_disk(file, read_source, self.root, file, "/path", args)

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

    async def read(self, entrypoint: Entrypoint, path: Path, field: str, args: list[str] | None = None) -> Source:
        """Read a script or notebook.

        Parameters
        ----------
        entrypoint
            The entrypoint, whose kind the file must have.
        path
            Absolute path on this machine.
        field
            JSON pointer that an error names.
        args
            Arguments of the job.

        Raises
        ------
        FieldError
            If the file does not exist, cannot run, or has the other kind. A file that Python cannot read is returned
            with its error.
        """
        try:
            source = await on_disk(path, read_source, self.root, path, field, args)
        except NotFound as problem:  # 422, not 404: the URL exists, a field of the request is wrong
            raise FieldError(problem.message, field=field, hint=problem.hint, code="ScriptGone") from problem
        if source.kind != entrypoint.kind:
            message, hint = _other_kind(path.name, source)
            raise FieldError(message, field=field.removesuffix("value") + "kind", hint=hint)
        return source

    async def job(self, spec: JobSpec, path: str | None) -> Source | None:
        """Read the file that a job runs.

        Parameters
        ----------
        spec
            The job.
        path
            Path of the form's file in the contents API; None without a file.

        Returns
        -------
        source
            The file, as it was read; None for a command, for a script of the job's repository, and for a module that is
            not in the form's file.

        Raises
        ------
        FieldError
            If the path is not absolute, or `read` refuses the file.
        """
        if spec.entrypoint.kind == "module":
            return await self.module(spec.entrypoint.value, path)
        if not spec.entrypoint.value.startswith("/") and is_in_repository(spec, spec.entrypoint.value):
            return None
        return await self._absolute(spec.entrypoint, FIELD, spec.args)

    async def check_types(self, spec: JobSpec) -> None:
        """Read the scripts of replica types that have their own; raise the first error."""
        for index, group in enumerate(spec.replica_specs):
            if group.entrypoint is not None and group.entrypoint.kind == "script":
                field = f"/spec/replica_specs/{index}/entrypoint/value"
                source = await self._absolute(group.entrypoint, field)
                if source is not None and source.error is not None:
                    source.error.field = field
                    raise source.error

    async def _absolute(self, entrypoint: Entrypoint, field: str, args: list[str] | None = None) -> Source | None:
        if entrypoint.kind not in ("script", "notebook"):
            return None
        path = Path(entrypoint.value)
        if not path.is_absolute():
            message = _("The entrypoint must be an absolute path.")
            raise FieldError(message, field=field, hint=_("Begin the path with a slash."))
        return await self.read(entrypoint, path, field, args)

    @staticmethod
    def writer(source: Source | None) -> Prepare | None:
        """Return a function that writes a notebook's script; None for other sources."""
        if source is None or source.notebook is None:
            return None
        path, notebook = source.path, source.notebook

        async def write() -> None:
            await on_disk(path, write_script, path, notebook.script())

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
