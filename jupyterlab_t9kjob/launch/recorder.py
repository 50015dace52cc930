"""Offers the recorder to jobs whose script imports it, and puts it where the job finds it.

The recorder is a folder on the job's `PYTHONPATH` (`core.running.recorder`): below our records on this machine, below
`.t9kjob/em` on a volume in a cluster. Its name has a hash of its files, so jobs of older versions keep theirs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from ..core.errors import FieldError
from ..core.manifests.entrypoints import record_directory
from ..core.running.recorder import MODULES, PREFIX, recorder_folder, with_recorder
from ..core.spec import JobSpec
from ..core.system.disk import trouble_of
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..em_distribution import digest, files
from ..jobs.service import JobService
from .in_cluster.form import Filled
from .kernels.kernels import Kernels
from .model import RecorderOffer
from .source_file import Source

FIELD: Final = "/spec/env"
_ON_VOLUME: Final = ".t9kjob/em"
_AT_HOME: Final = "em"


class Recorder:
    """Offers the recorder and puts it on disk.

    Parameters
    ----------
    jobs
        All engines.
    kernels
        The lab's kernels.
    home
        Folder of our records.
    """

    def __init__(self, jobs: JobService, kernels: Kernels, home: Path) -> None:
        self._jobs = jobs
        self._kernels = kernels
        self._home = home / _AT_HOME
        self._files = files()
        self._name = PREFIX + digest(self._files)

    async def offer(
        self, filled: Filled, source: Source | None, engine: str, namespace: str, *, is_new: bool
    ) -> Filled:
        """Return the form with an offer of the recorder if the script imports it and the job may lack it.

        A new job takes the offer. A repeated job that had the recorder gets the present one.

        Parameters
        ----------
        filled
            The form.
        source
            The script; None if it can't be read.
        engine, namespace
            Location of the job.
        is_new
            True unless the form repeats a job.
        """
        spec = filled.spec
        imported = [module.name for module in source.script.info.imports] if source is not None else []
        wanted = next((name for name in imported if name in MODULES), None)
        had = recorder_folder(spec.env) is not None
        if wanted is None and not had:
            return filled
        folder = await self._folder(spec, engine, namespace)
        if wanted is not None and not had and self._jobs.engines.facts(engine).runs_in_kernel:
            try:
                lacking = await self._kernels.missing(spec.runtime.kernel, [wanted])
            except FieldError:  # The kernel was removed. Its own field reports that.
                lacking = []
            folder = folder if lacking else None
        spec = spec.model_copy(update={"env": with_recorder(spec.env, folder if had or is_new else None)})
        offer = RecorderOffer(module=MODULES[wanted or "jupyterlab_t9kjob"], folder=folder) if folder else None
        return replace(filled, spec=spec, recorder=offer)

    async def place(self, spec: JobSpec, engine: str, namespace: str) -> None:
        """Write the recorder's folder if a job has it on its path and it does not exist.

        Parameters
        ----------
        spec, engine, namespace
            The job and its location.

        Raises
        ------
        FieldError
            If the folder can't be written.
        """
        folder = recorder_folder(spec.env)
        if folder is None or PurePosixPath(folder).name != self._name:
            return  # The folder of another version is where that version has put it.
        if folder != await self._folder(spec, engine, namespace):
            return  # The user's own copy.
        here: Path | None = Path(folder)
        if not self._jobs.engines.facts(engine).shares_lab_filesystem:
            here = await self._jobs.engines.path_in_lab(engine, namespace, folder, spec)
        if here is None:
            return
        try:
            await on_disk(here, self._write, here)
        except OSError as error:
            trouble = trouble_of(error, here)
            message = _("The recorder can't be put on the job's path: {problem}.", problem=trouble.sentence)
            raise FieldError(
                message, code=trouble.code, field=FIELD, hint=trouble.hint, verbatim=error.strerror
            ) from error

    async def _folder(self, spec: JobSpec, engine: str, namespace: str) -> str | None:
        """Return the recorder's folder as the job sees it; None if this lab can't write to where the job reads."""
        facts = self._jobs.engines.facts(engine)
        if facts.shares_lab_filesystem:
            return str(self._home / self._name)
        record = record_directory(spec) if facts.has_pods else None
        if record is None:
            return None
        folder = str(PurePosixPath(record).parent / _ON_VOLUME / self._name)
        return folder if await self._jobs.engines.path_in_lab(engine, namespace, folder, spec) is not None else None

    def _write(self, folder: Path) -> None:
        if folder.is_dir():
            return
        building = folder.with_name(f".{folder.name}.{os.getpid()}")
        try:
            for path, content in self._files.items():
                file = building / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            with contextlib.suppress(FileExistsError):
                building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
