"""Checks and admits jobs in a cluster: scripts, volumes and log directories, as the job sees them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from ...core.checks import Check
from ...core.engine.info import Volume
from ...core.engine.protocol import Prepare
from ...core.errors import FieldError, JobError, NotAllowed
from ...core.job import EngineName
from ...core.lab import Lab, on_volume
from ...core.running.source import is_in_repository
from ...core.spec import Entrypoint, JobSpec
from ...core.system.disk_threads import on_disk
from ...core.texts.quantity import amount
from ...core.translation import _
from .. import mounts
from ..checks import log_directories, of_script, worst_first
from ..entrypoint_reader import Reader
from ..option_checks import resume_checks
from ..scripts.source_text import FIELD
from ..source_file import Source
from ..training_checks import JobPlace, absolute_paths
from ..volumes import Volumes


class ClusterChecks:
    """Checks and admits jobs of one engine in one namespace.

    Parameters
    ----------
    reader
        Reads scripts and notebooks.
    volumes
        Cache of the PVCs of namespaces.
    engine, namespace
        Location of the jobs.
    lab
        Volumes, image and security settings of JupyterLab's pod.
    """

    def __init__(self, reader: Reader, volumes: Volumes, engine: EngineName, namespace: str, lab: Lab) -> None:
        self._reader = reader
        self._volumes = volumes
        self._engine = engine
        self._namespace = namespace
        self._lab = lab

    async def check(self, spec: JobSpec, clicked: str | None = None) -> list[Check]:
        """Return the checks of a job's script, volumes and log directories.

        Parameters
        ----------
        spec
            The job.
        clicked
            Path of the form's file in the contents API; None without a file.
        """
        found = list(self._lab.problems)
        source: Source | None = None
        try:
            source = await self._source(spec, clicked)
            await self._check_types(spec)
        except JobError as problem:
            found.append(Check.of(problem))
        found += of_script(spec, source, place=_place(spec, source))
        if source is None and not any(line.field == FIELD for line in found):
            found += _unseen(spec)
        found += resume_checks(spec, source)
        found += _working_directory(spec)
        found += await self._log_directories(spec)
        volumes = await self._known_volumes(found)
        unknown = mounts.unknown_claim(spec, self._namespace, volumes) if volumes is not None else None
        if unknown is not None:
            found.append(Check.of(unknown))
        found += mounts.mount_checks(spec, self._lab, self._namespace, volumes or [])
        return worst_first(found)

    async def admit(self, spec: JobSpec, clicked: str | None = None) -> Prepare | None:
        """Refuse a job that can't run.

        Parameters
        ----------
        spec
            The job.
        clicked
            Path of the form's file in the contents API; None without a file.

        Returns
        -------
        prepare
            Function that writes the notebook's script; None if the job runs no notebook.

        Raises
        ------
        FieldError
            If the namespace or a PVC does not exist; if a script does not exist, is on no volume of the job, or
            can't be read by Python; if a log directory can't be created.
        """
        try:
            volumes = await self._volumes.of(self._engine, self._namespace, fresh=True)
        except NotAllowed:
            volumes = None
        unknown = mounts.unknown_claim(spec, self._namespace, volumes) if volumes is not None else None
        if unknown is not None:
            raise unknown
        source = await self._source(spec, clicked)
        if source is not None and source.error is not None:
            raise source.error
        await self._check_types(spec)
        for line in await self._log_directories(spec):
            if line.level == "error":
                raise FieldError(line.message, field=line.field, hint=line.hint, code=line.code)
        return self._reader.writer(source)

    async def _known_volumes(self, found: list[Check]) -> list[Volume] | None:
        """Return the namespace's PVCs; None if they can't be listed. A missing namespace is added to `found`."""
        try:
            return await self._volumes.of(self._engine, self._namespace)
        except FieldError as problem:
            found.append(Check.of(problem))
        except JobError:  # The engine itself reports that the cluster does not answer.
            return None
        return None

    async def _source(self, spec: JobSpec, clicked: str | None) -> Source | None:
        """Read the file that a job runs.

        Returns
        -------
        source
            The file; None if the job runs no file or the lab does not see it.

        Raises
        ------
        FieldError
            If the file does not exist, can't be run, or is on no volume of the job.
        """
        entrypoint = spec.entrypoint
        if entrypoint.kind == "module":
            return await self._reader.module(entrypoint.value, clicked)
        if entrypoint.kind not in ("script", "notebook") or not entrypoint.value.startswith("/"):
            return None
        path = await self._in_lab(spec, entrypoint.value, clicked)
        source = await self._reader.read(entrypoint, path, FIELD, spec.args) if path is not None else None
        if entrypoint.kind == "notebook":
            await self._demand_notebook(entrypoint, path if source is not None else None)
        return source

    async def _in_lab(self, spec: JobSpec, value: str, clicked: str | None) -> Path | None:
        """Return the path in the lab of a job's file.

        Returns
        -------
        path
            Path below the contents root; None if the lab does not see the file.

        Raises
        ------
        FieldError
            If the file exists in the lab but is on no volume of the job.
        """
        root, lab, namespace = self._reader.root, self._lab, self._namespace
        if clicked is not None:
            path = root.disk(clicked)
            if str(await asyncio.to_thread(lab.seen_by, path, spec.mounts, namespace)) == value:
                return path
        path_there = await asyncio.to_thread(lab.in_lab, value, spec.mounts, namespace)
        if path_there is not None:
            return await on_disk([path_there, root.folder], root.shown, path_there)
        if is_in_repository(spec, value) and root.contains(value):
            return await on_disk([value, root.folder], root.shown, Path(value))
        elsewhere = on_volume(value, spec.mounts) is None and root.contains(value)
        if elsewhere and await on_disk(value, os.path.lexists, value):
            raise await asyncio.to_thread(mounts.outside, value, lab, namespace, spec.mounts, FIELD)
        return None

    async def _demand_notebook(self, entrypoint: Entrypoint, path: Path | None) -> None:
        """Raise `FieldError` unless the notebook's script can be written beside the notebook."""
        name = entrypoint.value.rpartition("/")[2]
        if path is None:
            raise FieldError(
                _("JupyterLab does not see {notebook}, so it can't convert it to a script for the job.", notebook=name),
                code="NotebookNotSeen",
                field=FIELD,
                hint=_("Choose a notebook on one of JupyterLab's volumes, or save it as a script."),
            )
        found = await asyncio.to_thread(self._lab.in_job, path, self._namespace)
        if found is None:
            return
        if found[0].read_only or not await on_disk(path.parent, os.access, path.parent, os.W_OK):
            raise FieldError(
                _(
                    "The script made from {notebook} is written beside it, and {folder} is read-only.",
                    notebook=name,
                    folder=str(path.parent),
                ),
                code="NotWritable",
                field=FIELD,
                hint=_("Copy the notebook to a folder in which you can write."),
            )

    async def _check_types(self, spec: JobSpec) -> None:
        """Read the scripts of replica types that have their own; raise the first error."""
        for index, group in enumerate(spec.replica_specs):
            own = group.entrypoint
            if own is None or own.kind != "script" or not own.value.startswith("/"):
                continue
            field = f"/spec/replica_specs/{index}/entrypoint/value"
            path = await self._in_lab(spec, own.value, None)
            source = await self._reader.read(own, path, field) if path is not None else None
            if source is not None and source.error is not None:
                source.error.field = field
                raise source.error

    async def _log_directories(self, spec: JobSpec) -> list[Check]:
        def here(path: str) -> str | None:
            if not path.startswith("/"):
                return path  # `log_directories` reports a relative path as an error.
            place = self._lab.in_lab(path, spec.mounts, self._namespace)
            return None if place is None else str(place)

        def all_here() -> dict[str, str | None]:
            return {path: here(path) for path in spec.tensorboard.log_dirs}

        for index, path in enumerate(spec.tensorboard.log_dirs):
            if path.startswith("/") and on_volume(path, spec.mounts) is None:
                message = _(
                    "The log directory {path} is on no volume of the job, so its curves are lost with the pods.",
                    path=path,
                )
                field = f"/spec/tensorboard/log_dirs/{index}"
                hint = _("Choose a folder below one of the mounts.")
                return [Check(level="warning", code="LogDirectoryNotMounted", message=message, hint=hint, field=field)]
        known = await asyncio.to_thread(all_here)
        return await on_disk([path for path in known.values() if path], log_directories, spec, known.get)


def _place(spec: JobSpec, source: Source | None) -> JobPlace:
    """Return what is known about the pods: paths in the image are not, so only common data folders are looked up."""
    resources = spec.replica_specs[0].resources
    paths = absolute_paths(spec, source) if source is not None else set()
    return JobPlace(
        has_gpu=resources.device is not None,
        cpus=amount(resources.cpu.limit),
        unseen=frozenset(path for path in paths if on_volume(path, spec.mounts) is None),
    )


def _working_directory(spec: JobSpec) -> list[Check]:
    """Warn if a script on a volume runs in a working directory that is on no volume."""
    entrypoint, folder = spec.entrypoint, spec.working_dir
    if folder is None or not folder.startswith("/") or on_volume(folder, spec.mounts) is not None:
        return []
    if entrypoint.kind not in ("script", "notebook") or on_volume(entrypoint.value, spec.mounts) is None:
        return []
    message = _(
        "The working directory {folder} is on no volume of the job, so files that the job writes there are lost with"
        " the pods.",
        folder=folder,
    )
    hint = _("Choose a folder below one of the mounts.")
    code, field = "WorkingDirectoryNotMounted", "/spec/working_dir"
    return [Check(level="warning", code=code, message=message, hint=hint, field=field)]


def _unseen(spec: JobSpec) -> list[Check]:
    entrypoint = spec.entrypoint
    if entrypoint.kind != "script" or is_in_repository(spec, entrypoint.value):
        return []
    script = entrypoint.value
    if on_volume(script, spec.mounts):
        message = _(
            "JupyterLab does not see {script}, so it was not checked. A volume of the job must have it.", script=script
        )
    else:
        message = _("JupyterLab does not see {script}, so it was not checked. The image must have it.", script=script)
    return [Check(level="hint", code="ScriptNotSeen", message=message, field=FIELD)]
