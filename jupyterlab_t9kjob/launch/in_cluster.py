"""Fills and checks the launch form of a job in a cluster.

A job in a cluster reads the lab's files from PVCs that the lab and the job both mount, at paths that may differ. By
default the job runs the lab's image.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from ..core.checks import Check
from ..core.engine import Prepare
from ..core.engine_info import Volume
from ..core.errors import FieldError, JobError, NotAllowed
from ..core.job import EngineName, JobSummary
from ..core.lab import Lab, on_volume
from ..core.spec import Entrypoint, JobSpec, Runtime, Torchrun, numbered
from ..core.system.disk_threads import DiskSilent, on_disk
from ..core.translation import Text, _
from ..jobs.query import Query
from ..jobs.service import JobService, renamed
from . import mounts
from .checks import log_directories, of_script, worst_first
from .entrypoint_reader import Reader
from .kernels.kernels import Kernels
from .manifests import crossed
from .prefill import RUNS, fresh_spec, taken_names
from .scripts.script import FIELD
from .source_file import Source
from .volumes import Volumes

LOOKED_AT = 20
"""How many earlier jobs are searched for an image."""


@dataclass(frozen=True)
class Filled:
    """Filled form of a job in a cluster.

    Attributes
    ----------
    spec
        The job.
    runs
        Parent folder of the log directories, as a path in the job.
    root
        The contents root as a path in the job; None if the job does not see it.
    notes
        Warnings about parts of the spec that were lost when it was adapted to this engine.
    """

    spec: JobSpec
    runs: str
    root: str | None
    notes: list[Check]


class InCluster:
    """Fills, checks and admits jobs of one engine in one namespace.

    Parameters
    ----------
    reader
        Reads scripts and notebooks.
    kernels
        Finds the version of torch in the lab's Python.
    jobs
        All engines.
    volumes
        Cache of the PVCs of namespaces.
    engine, namespace
        Location of the jobs.
    lab
        Volumes, image and security settings of JupyterLab's pod, which are a job's defaults.
    """

    def __init__(
        self,
        reader: Reader,
        kernels: Kernels,
        jobs: JobService,
        volumes: Volumes,
        engine: EngineName,
        namespace: str,
        lab: Lab,
    ) -> None:
        self._reader = reader
        self._kernels = kernels
        self._jobs = jobs
        self._volumes = volumes
        self._engine = engine
        self._namespace = namespace
        self._lab = lab

    # -- filling a form -----------------------------------------------------------------------------------------------

    async def fill(self, source: Source | None, base: JobSpec | None, crossed_from: EngineName | None) -> Filled:
        """Return a filled form.

        Parameters
        ----------
        source
            The file for which the form is opened; None if `base` runs no file.
        base
            A spec to start from; None for a new job.
        crossed_from
            Engine of the form that `base` comes from; None if `base` is an earlier job.
        """
        names = await self._names()
        notes: list[Check] = []
        if base is None:
            assert source is not None  # noqa: S101
            taken = await on_disk(source.folder, taken_names, names, source.folder / RUNS)
            spec = await self._inheriting(fresh_spec(source, None, None, taken))
        elif crossed_from in (None, self._engine):
            spec = await self._again(base, source, names, keep_name=crossed_from is not None)
        else:
            spec, notes = await crossed(base, crossed_from or self._engine, self._engine, self._jobs)
            if crossed_from and self._jobs.has(crossed_from) and self._jobs.facts(crossed_from).shares_lab_filesystem:
                spec = await self._inheriting(spec)
            if spec.name in names:
                name = numbered(spec.name, names)
                message = self._name_taken(spec.name, name)
                notes.append(Check(level="hint", code="NameTaken", message=message, field="/spec/name"))
                spec = renamed(spec, name)
        if self._lab.security.restricted and not spec.security.restricted:
            spec = spec.model_copy(update={"security": spec.security.model_copy(update={"restricted": True})})
        runs, root = await asyncio.to_thread(self._places, spec, source)
        return Filled(spec, runs, root, notes)

    async def _names(self) -> set[str]:
        """Return the names of the jobs in the namespace: those of this engine, and of all whose replicas are pods."""
        jobs = await self._jobs.jobs(Query())
        return {
            job.name
            for job in jobs
            if job.namespace == self._namespace
            and (job.engine == self._engine or self._jobs.facts(job.engine).has_pods)
        }

    def _name_taken(self, taken: str, name: str) -> Text:
        if not self._namespace:
            return _("There is a job named “{taken}” already. This job is named {name}.", taken=taken, name=name)
        return _(
            "Namespace {namespace} has a job named “{taken}” already. This job is named {name}.",
            namespace=self._namespace,
            taken=taken,
            name=name,
        )

    async def _jobs_of_clusters(self) -> list[JobSummary]:
        """Return the jobs whose replicas are pods."""
        return [job for job in await self._jobs.jobs(Query()) if self._jobs.facts(job.engine).has_pods]

    async def _inheriting(self, spec: JobSpec) -> JobSpec:
        """Adapt a spec of this machine to the cluster: add the lab's image, volumes and security settings."""
        lab = self._lab
        runtime = spec.runtime if spec.runtime.image else await self._runtime()
        changes: dict[str, object] = {"runtime": runtime.model_copy(update={"kernel": None})}
        if spec.security == type(spec.security)():
            changes["security"] = lab.security
        asked = any(group.resources.device_count for group in spec.replica_specs)
        if spec.torchrun is not None and spec.torchrun.proc_per_node == "gpu" and not asked:
            changes["torchrun"] = spec.torchrun.model_copy(update={"proc_per_node": Torchrun().proc_per_node})
        spec = spec.model_copy(update=changes)
        return await asyncio.to_thread(mounts.to_job, spec, lab, self._namespace)

    async def _runtime(self) -> Runtime:
        """Return the runtime of a new job.

        The image is the lab's own if torch is installed in it, else that of the user's most recent job, else none.
        """
        lab = self._lab
        if lab.image is not None:
            python = await self._python_of_image()
            torch = await self._kernels.torch_in(python) if python else None
            if torch is not None and torch.version is not None:
                runtime = {"image": lab.image, "pull_policy": lab.pull_policy, "pull_secrets": list(lab.pull_secrets)}
                return Runtime.model_validate(runtime)
        jobs = [job for job in await self._jobs_of_clusters() if job.mine]
        jobs.sort(key=lambda job: job.started_at is None)  # a pending job's image may not exist
        for summary in jobs[:LOOKED_AT]:
            try:
                used = (await self._jobs.job(summary.id)).spec.runtime
            except JobError:  # The job was deleted after it was listed, or it can't be read.
                continue
            if used.image:
                return used
        return Runtime()

    async def _python_of_image(self) -> str | None:
        """Return the first Python on the lab's PATH that is part of the lab's image, not on a volume."""
        for folder in os.get_exec_path():
            try:
                for path in await on_disk(folder, _pythons, folder):
                    if await asyncio.to_thread(self._lab.in_job, path, self._namespace) is None:
                        return str(path)
            except DiskSilent:  # An image's own disk always answers, so this folder is on a volume.
                continue
        return None

    async def _again(self, base: JobSpec, source: Source | None, names: set[str], *, keep_name: bool) -> JobSpec:
        """Return the spec of a job that repeats one of this cluster, with the file `source` if there is one."""
        spec = base
        if source is not None and base.entrypoint.kind in ("script", "notebook"):
            spec, value = await asyncio.to_thread(mounts.placed, spec, source.path, self._lab, self._namespace)
            spec = spec.model_copy(update={"entrypoint": Entrypoint(kind=source.kind, value=value)})
        if keep_name:
            return spec
        place, _root = await asyncio.to_thread(self._places, spec, source)
        runs = await asyncio.to_thread(self._lab.in_lab, place, spec.mounts, self._namespace)
        taken = await on_disk(runs, taken_names, names, runs) if runs is not None else names
        return renamed(spec, numbered(base.name, taken))

    def _places(self, spec: JobSpec, source: Source | None) -> tuple[str, str | None]:
        """Return the parent folder of the log directories and the contents root, as paths in the job."""
        own = next((path for path in spec.tensorboard.log_dirs if path.endswith(f"/{spec.name}")), None)
        if own is not None:
            runs = own.removesuffix(f"/{spec.name}")
        elif source is not None:
            runs = mounts.placed(spec, source.folder / RUNS, self._lab, self._namespace)[1]
        else:
            runs = f"{(spec.working_dir or '').rstrip('/')}/{RUNS}"
        folder = self._reader.root.folder
        root = self._lab.seen_by(folder, spec.mounts, self._namespace)
        same = all(str(mount.lab_path) == str(mount.mount_path) for mount in self._lab.mounts)
        return runs, str(root) if root is not None else str(folder) if self._lab.mounts and same else None

    # -- checks --------------------------------------------------------------------------------------------------------

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
        found += of_script(spec, source)
        if source is None and not any(line.field == FIELD for line in found):
            found += _unseen(spec)
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
        source = await self._reader.read(entrypoint, path, FIELD) if path is not None else None
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


def _pythons(folder: str) -> list[Path]:
    """Return the Python executables in a folder of PATH (blocking)."""
    return [path for name in ("python", "python3") if os.access(path := Path(folder) / name, os.X_OK)]


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
    if entrypoint.kind != "script":
        return []
    script = entrypoint.value
    if on_volume(script, spec.mounts):
        message = _(
            "JupyterLab does not see {script}, so it was not checked. A volume of the job must have it.", script=script
        )
    else:
        message = _("JupyterLab does not see {script}, so it was not checked. The image must have it.", script=script)
    return [Check(level="hint", code="ScriptNotSeen", message=message, field=FIELD)]
