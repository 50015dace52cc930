"""Fills the launch form of a job in a cluster.

A job in a cluster reads the lab's files from PVCs that the lab and the job both mount, at paths that may differ. By
default the job runs the lab's image.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.checks import Check
from ...core.errors import JobError
from ...core.job import EngineName, JobSummary
from ...core.lab import Lab
from ...core.spec import Entrypoint, JobSpec, Runtime, Torchrun
from ...core.system.disk_threads import DiskSilent, on_disk
from ...core.texts.job_names import numbered
from ...core.translation import Text, _
from ...jobs.query import Query
from ...jobs.renaming import renamed
from ...jobs.service import JobService
from ...presets.service import Presets
from .. import mounts
from ..entrypoint_reader import Reader
from ..kernels.kernels import Kernels
from ..launched import Launched
from ..manifests import crossed
from ..model import RecorderOffer
from ..options.resume import with_checkpoint_of
from ..prefill import RUNS, fresh_spec, names_of, taken_names
from ..source_file import Source

MOST_JOBS_READ = 20
"""Number of earlier jobs that are searched for an image."""


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
    recorder
        The recorder's folder, if the job may need it.
    """

    spec: JobSpec
    runs: str
    root: str | None
    notes: list[Check]
    recorder: RecorderOffer | None = None

    def with_launch(self, launched: Launched | None) -> Filled:
        """Return the form with the settings of the command that launches the script; unchanged for `launched` None."""
        if launched is None:
            return self
        return replace(self, spec=launched.applied(self.spec), notes=[*self.notes, *launched.notes()])


class ClusterForm:
    """Fills the form of jobs of one engine in one namespace.

    Parameters
    ----------
    reader
        Reads scripts and notebooks.
    kernels
        Finds the version of torch in the lab's Python.
    jobs
        All engines.
    presets
        Presets, which may have an image.
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
        presets: Presets,
        engine: EngineName,
        namespace: str,
        lab: Lab,
    ) -> None:
        self._reader = reader
        self._kernels = kernels
        self._jobs = jobs
        self._presets = presets
        self._engine = engine
        self._namespace = namespace
        self._lab = lab

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
            if (
                crossed_from
                and self._jobs.engines.has(crossed_from)
                and self._jobs.engines.facts(crossed_from).shares_lab_filesystem
            ):
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
        """Return the names of the namespace's jobs of this engine and of all engines whose replicas are pods."""
        jobs = await self._jobs.jobs(Query())
        return names_of(
            job
            for job in jobs
            if job.namespace == self._namespace
            and (job.engine == self._engine or self._jobs.engines.facts(job.engine).has_pods)
        )

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
        return [job for job in await self._jobs.jobs(Query()) if self._jobs.engines.facts(job.engine).has_pods]

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

        The image is the lab's own if torch is installed in it; else that of the user's most recent job, of a preset,
        or of a training runtime of the cluster; else none.
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
        for summary in jobs[:MOST_JOBS_READ]:
            try:
                used = (await self._jobs.job(summary.id)).spec.runtime
            except JobError:  # The job was deleted after it was listed, or it can't be read.
                continue
            if used.image:
                return used
        return Runtime.model_validate({"image": await self._offered_image()})

    async def _offered_image(self) -> str | None:
        """Return the image of a preset, or of a training runtime of the namespace or cluster."""
        try:
            image = await self._presets.image(self._engine)
            if image is not None:
                return image
            cluster = (await self._jobs.engines.get(self._engine).info()).cluster
        except JobError:  # The form opens without an image.
            return None
        offered = cluster.images if cluster is not None else []
        return next((each.image for each in offered if each.namespace in (None, self._namespace)), None)

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
        again = renamed(spec, numbered(base.name, taken))
        if source is not None:
            again.args = with_checkpoint_of(spec.args, again.args, source.script.info.options)
        return again

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


def _pythons(folder: str) -> list[Path]:
    """Return the Python executables in a folder of PATH (blocking)."""
    return [path for name in ("python", "python3") if os.access(path := Path(folder) / name, os.X_OK)]
