"""`Launch` fills the form, previews a job and admits it; `launch.creation` creates it.

The handlers use no other part of this package.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ..contents_paths import ContentsRoot
from ..core.checks import Check
from ..core.engine.info import EngineInfo
from ..core.engine.protocol import Prepare
from ..core.errors import FieldError, JobError
from ..core.features import adapt
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.lab import Lab
from ..core.spec import JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.admission import Admission, agreed, nothing
from ..jobs.query import Query
from ..jobs.service import JobService
from ..presets.service import Presets
from ..snapshots.taking import Taking
from . import manifests, mounts, prefill
from .checks import check, log_directories, refuses, worst_first
from .entrypoint_reader import Reader
from .in_cluster.checks import ClusterChecks
from .in_cluster.diagnostics import place_hook
from .in_cluster.form import ClusterForm, Filled
from .kernels.kernels import Kernels
from .launched import Launched, launched_script
from .manifests import Submission
from .model import (
    Kernel,
    LaunchPreview,
    Prefill,
    PrefillRequest,
    ReadManifest,
    ReadManifestRequest,
    ScriptInfo,
    SpecOrManifest,
)
from .notebook_checks import unseen_notebook
from .option_checks import unfilled
from .options.texts import printable
from .recorder import Recorder
from .source_file import Source, read_source
from .sweeps.expansion import Sweeps
from .sweeps.model import ExpandSweep, SweepPreview
from .volumes import Volumes


class Launch:
    """Fills, previews and admits jobs on all engines.

    Parameters
    ----------
    root
        The contents root.
    kernels
        The lab's kernels.
    jobs
        All engines.
    snapshots
        Takes snapshots of code.
    presets
        The administrator's locks.
    sweep_limit
        Greatest number of jobs in a sweep.
    """

    def __init__(
        self,
        root: ContentsRoot,
        kernels: Kernels,
        jobs: JobService,
        snapshots: Taking,
        presets: Presets,
        sweep_limit: int = 24,
    ) -> None:
        self._root = root
        self._reader = Reader(root)
        self._kernels = kernels
        self._jobs = jobs
        self._snapshots = snapshots
        self._presets = presets
        self._volumes = Volumes(jobs)
        self._recorder = Recorder(jobs, kernels, snapshots.places.home)
        self._sweeps = Sweeps(root, jobs, sweep_limit)

    async def prefill(self, request: PrefillRequest) -> Prefill:
        """Return a filled form for a file, or for a spec that runs no file.

        A syntax error in a script is a check and no exception, so the form opens and shows it.

        Raises
        ------
        NotFound
            If the file does not exist.
        FieldError
            If the file is outside the contents root, a folder, unreadable, or neither script nor notebook; or if the
            request has neither a file nor a spec.
        Unavailable
            If the contents root is not on this machine.
        """
        source = await self._reader.clicked(request.path, request.spec.args if request.spec else None)
        if request.spec is None and source is None:
            raise FieldError(
                _("A form starts from a file or from the spec of a job."),
                field="/path",
                hint=_("Name a file, or the spec of a job."),
            )
        launched: Launched | None = None
        if source is not None and source.notebook is not None and request.spec is None and not request.whole_notebook:
            launched = await on_disk(source.path, launched_script, source)
        if launched is not None:
            source = await on_disk(launched.script, read_source, self._root, launched.script, "/path")
        kernels, engines = await asyncio.gather(self._kernels.all(), self._jobs.engines.infos())
        info = next((info for info in engines if info.name == request.engine), None)
        namespace = request.namespace or (info.default_namespace if info else "")
        facts = self._jobs.engines.facts(request.engine)
        if facts.shares_lab_filesystem:
            filled = (await self._fill(request, source, kernels, info)).with_launch(launched)
            filled = await self._recorder.offer(filled, source, request.engine, namespace, is_new=request.spec is None)
            kernel = next((kernel for kernel in kernels if kernel.name == filled.spec.runtime.kernel), None)
            checks = await check(filled.spec, source, kernel, self._kernels)
        else:
            if namespace and source is not None and (request.spec is None or not request.namespace):
                lab = await self._lab(request.engine, "")
                namespace = await asyncio.to_thread(lab.namespace_for, source.path, namespace)
            lab = await self._lab(request.engine, namespace)
            form = ClusterForm(self._reader, self._kernels, self._jobs, self._presets, request.engine, namespace, lab)
            filled = (await form.fill(source, request.spec, request.crossed_from)).with_launch(launched)
            filled = await self._recorder.offer(filled, source, request.engine, namespace, is_new=request.spec is None)
            if facts.has_pods:
                cluster = ClusterChecks(self._reader, self._volumes, request.engine, namespace, lab)
                checks = await cluster.check(filled.spec, source.api if source else None)
            else:
                checks = unseen_notebook(filled.spec)
        spec = await self._presets.fixed(filled.spec, request.engine, fresh=request.spec is None)
        script = source.script.info if source else ScriptInfo()
        empty = [option.key for option in unfilled(script.options, spec.args)]
        if manifests.needs_image(facts) and not spec.runtime.image:
            empty.append("/spec/runtime/image")
        return Prefill(
            path=source.api if source else None,
            engine=request.engine,
            namespace=namespace,
            spec=spec,
            script=script,
            notebook=source.notebook_info(self._root) if source else None,
            launched_by=launched.info if launched else None,
            kernels=kernels,
            engines=engines,
            root=filled.root,
            empty=empty,
            runs_dir=filled.runs,
            follow_name=prefill.follows_name(spec, script.options),
            checks=checks,
            notes=filled.notes,
            recorder=filled.recorder,
        )

    async def _fill(
        self, request: PrefillRequest, source: Source | None, kernels: list[Kernel], info: EngineInfo | None
    ) -> Filled:
        """Return a filled form for a job that sees the lab's files at the lab's paths."""
        base, notes = request.spec, list[Check]()
        keep_name = request.crossed_from is not None
        if base is not None and request.crossed_from not in (None, request.engine):
            base, notes = await self._brought_home(base, request.crossed_from, request.engine, request.namespace)
        jobs = await self._jobs.jobs(Query(engine=request.engine))
        runs = prefill.runs_folder(source, base, self._root.folder)
        taken = await on_disk(runs, prefill.taken_names, prefill.names_of(jobs), runs)
        if base is not None:
            spec = prefill.adapted_spec(base, source, kernels, taken, keep_name=keep_name)
        else:
            assert source is not None  # noqa: S101
            spec = prefill.fresh_spec(source, prefill.choose_kernel(kernels, source.kernel), info, taken)
            spec, _lost = adapt(spec, info.capabilities if info else {})  # the user chose no value, so no note
        root = str(self._root.folder)
        named = printable(root) == root  # JSON can't carry a path that is not UTF-8.
        return Filled(spec, printable(str(runs)), root if named else None, notes)

    async def _brought_home(
        self, spec: JobSpec, source: EngineName, target: EngineName, namespace: str
    ) -> tuple[JobSpec, list[Check]]:
        """Adapt another engine's spec to an engine that shares the lab's files, with the lab's paths."""
        spec, notes = await manifests.crossed(spec, source, target, self._jobs)
        known = self._jobs.engines.has(source)
        if known and self._jobs.engines.facts(source).shares_lab_filesystem:
            return spec, notes
        lab = await self._lab(source, "") if known else Lab()
        return await asyncio.to_thread(mounts.to_lab, spec, lab, await self._namespace(source, namespace)), notes

    async def _namespace(self, engine: EngineName, namespace: str) -> str:
        """Return the given namespace, or the engine's default if it is empty."""
        if namespace:
            return namespace
        infos = await self._jobs.engines.infos()
        return next((info.default_namespace for info in infos if info.name == engine), "")

    async def _lab(self, engine: EngineName, namespace: str) -> Lab:
        return await self._jobs.engines.lab(engine, namespace) or Lab()

    async def _cluster_checks(self, engine: EngineName, namespace: str) -> ClusterChecks:
        return ClusterChecks(self._reader, self._volumes, engine, namespace, await self._lab(engine, namespace))

    async def submission(self, request: SpecOrManifest) -> Submission:
        """Return the job that a request submits, read from its spec or its manifest.

        Raises
        ------
        ManifestError
            If the manifest can't be read, or its kind belongs to another engine.
        """
        wanted = await manifests.submission(request, self._jobs)
        return replace(wanted, namespace=await self._namespace(request.engine, wanted.namespace))

    async def expand(self, request: ExpandSweep) -> SweepPreview:
        """Return the jobs of a sweep with their checks. Nothing is created."""
        namespace = await self._namespace(request.engine, request.namespace)
        preview = await self._sweeps.preview(request.model_copy(update={"namespace": namespace}))
        for job in preview.jobs:
            if not job.left_out and (broken := await self._locked(job.spec, request.engine)):
                return preview.model_copy(update={"checks": worst_first([*preview.checks, *broken])})
        return preview

    async def sweep_specs(self, request: ExpandSweep, sweep_id: str) -> tuple[list[JobSpec], str]:
        """Return the specs of a sweep's jobs, each with its membership, and their namespace.

        Parameters
        ----------
        request
            The sweep.
        sweep_id
            Id of the sweep.

        Raises
        ------
        FieldError
            If the sweep has an error, too many jobs or no job, or a name is taken.
        """
        namespace = await self._namespace(request.engine, request.namespace)
        return await self._sweeps.specs(request.model_copy(update={"namespace": namespace}), sweep_id), namespace

    async def preview(self, request: SpecOrManifest) -> LaunchPreview:
        """Return the manifest or command of a job, with all checks of its script, kernel, volumes and engine."""
        wanted = await self.submission(request)
        spec, of_code = await self._snapshots.preview(wanted.spec, request.engine, wanted.namespace)
        engine = await self._jobs.engines.preview(
            spec, request.engine, wanted.namespace, edited=wanted.edited, dry_run=request.dry_run
        )
        if request.written and wanted.edited is None and engine.manifest:
            text = await asyncio.to_thread(manifests.in_form_of, engine.manifest, request.written)
            engine = engine.model_copy(update={"manifest": text})
        kernel: Kernel | None = None
        facts = self._jobs.engines.facts(request.engine)
        if facts.shares_lab_filesystem:
            kernel, found = await self._check(spec, request.path, in_kernel=facts.runs_in_kernel)
        elif not facts.has_pods:  # The server can't see the files of such an engine's jobs.
            found = [*wanted.notes, *unseen_notebook(spec)]
        else:
            checks = await self._cluster_checks(request.engine, wanted.namespace)
            found = [*wanted.notes, *await checks.check(spec, request.path)]
        found += of_code
        found += await self._locked(spec, request.engine)
        said = {(line.code, line.field) for line in found}
        found += [line for line in engine.checks if (line.code, line.field) not in said]
        if wanted.edited is not None:
            found = await manifests.against_schema(found, wanted, request.engine, self._jobs)
            found = await manifests.located(found, wanted.edited.text)
        return LaunchPreview(**{**dict(engine), "checks": worst_first(found), "kernel": kernel})

    async def _locked(self, spec: JobSpec, engine: EngineName) -> list[Check]:
        """Return an error for each lock of the administrator that a job breaks."""
        try:
            return await self._presets.checks(spec, engine)
        except FieldError as problem:
            return [Check.of(problem)]

    async def _check(self, spec: JobSpec, path: str | None, *, in_kernel: bool) -> tuple[Kernel | None, list[Check]]:
        """Return the kernel of a job that shares the lab's files, and the checks of its kernel and script."""
        found: list[Check] = []
        kernel: Kernel | None = None
        source: Source | None = None
        if in_kernel:
            try:
                kernel = await self._kernels.get(spec.runtime.kernel)
            except FieldError as problem:
                found.append(Check.of(problem))
        try:
            source = await self._reader.job(spec, path)
            await self._reader.check_types(spec)
        except JobError as problem:
            found.append(Check.of(problem))
        return kernel, found + await check(spec, source, kernel, self._kernels)

    async def admit(
        self, spec: JobSpec, engine: str = DEFAULT_ENGINE, namespace: str = "", *, path: str | None = None
    ) -> Admission:
        """Refuse a job that can't run; take the snapshot of its code if it wants one.

        The admission's `prepare` writes the notebook's script. A snapshot contains the script already.

        Parameters
        ----------
        spec, engine, namespace
            The job and its location.
        path
            Path of the form's file in the contents API; None without a file.

        Raises
        ------
        FieldError
            If a script does not exist, is outside the contents root, a folder, unreadable, or not Python; if a log
            directory can't be created. In a kernel: if the kernel was removed, is not local, or lacks torch. In a
            cluster: if the namespace or a PVC does not exist, or a file is on no volume of the job. On an engine whose
            jobs see none of the lab's files: if the job runs a notebook. If the job breaks a lock of the administrator.
        """
        await self._presets.admit(spec, engine)
        await self._recorder.place(spec, engine, namespace)
        await place_hook(self._jobs, spec, engine, namespace)
        if await self._snapshots.kept(spec, engine, namespace):  # The files were checked before the copy was made.
            return await agreed(await self._snapshots.take(spec, engine, namespace), self._presets.admit, engine)
        write: Prepare | None
        facts = self._jobs.engines.facts(engine)
        if facts.shares_lab_filesystem:
            write = await self._admit(spec, path, in_kernel=facts.runs_in_kernel)
        elif not facts.has_pods:
            write = None
            for line in unseen_notebook(spec):
                raise FieldError(line.message, field=line.field, hint=line.hint, code=line.code)
        else:
            write = await (await self._cluster_checks(engine, namespace)).admit(spec, path)
        if spec.source is None:
            return Admission(spec, write or nothing)
        if write is not None:
            await write()  # so that the snapshot has the script
        return await agreed(await self._snapshots.take(spec, engine, namespace), self._presets.admit, engine)

    async def _admit(self, spec: JobSpec, path: str | None, *, in_kernel: bool) -> Prepare | None:
        """Refuse a job that shares the lab's files and can't run."""
        kernel = (await self._kernels.usable(spec.runtime.kernel))[0] if in_kernel else None
        source = await self._reader.job(spec, path)
        if source is not None and source.error is not None and refuses(source.error, kernel):
            raise source.error
        await self._reader.check_types(spec)
        for line in await on_disk(spec.tensorboard.log_dirs, log_directories, spec):
            if line.level == "error":
                raise FieldError(line.message, field=line.field, hint=line.hint, code=line.code)
        return self._reader.writer(source)

    async def read_manifest(self, request: ReadManifestRequest) -> ReadManifest:
        """Return the form that corresponds to a manifest, and what the form would lose.

        Raises
        ------
        ManifestError
            If the manifest can't be read.
        """
        pasted, dialect = await manifests.read(request.text, self._jobs)
        home = next(iter(self._jobs.engines.with_manifest_kind(pasted.kind)), None)
        chosen = request.engine or (None if home else await self._jobs.engines.first_available())
        target = chosen or home or pasted.kind
        namespace = await self._namespace(home or pasted.kind, pasted.namespace or request.namespace)
        facts = self._jobs.engines.facts(chosen) if chosen else None
        if facts is None or facts.manifest_kind == pasted.kind:
            text, lost = await asyncio.gather(
                asyncio.to_thread(manifests.as_submitted, pasted, request.text, dialect),
                asyncio.to_thread(manifests.lost, pasted),
            )
            return ReadManifest(
                engine=target, namespace=namespace, spec=pasted.spec, manifest=text, notes=pasted.notes, lost=lost
            )
        if facts.shares_lab_filesystem and home is not None:
            spec, notes = await self._brought_home(pasted.spec, home, target, namespace)
        else:
            spec, notes = await manifests.crossed(pasted.spec, home or pasted.kind, target, self._jobs)
        preview = await self._jobs.engines.preview(spec, target, namespace)
        return ReadManifest(
            engine=target,
            namespace=namespace if facts.has_namespaces else "",
            spec=spec,
            manifest=preview.manifest,
            notes=[*pasted.notes, *notes],
            lost=[],
        )
