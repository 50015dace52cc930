"""`Launch` fills the form, previews a job and admits it. The handlers use no other part of this package."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from ..contents_paths import ContentsRoot
from ..core.checks import Check
from ..core.engine import Prepare
from ..core.engine_info import EngineInfo
from ..core.errors import FieldError, JobError
from ..core.features import adapt
from ..core.job import DEFAULT_ENGINE, EngineName
from ..core.lab import Lab
from ..core.spec import Entrypoint, JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.query import Query
from ..jobs.service import JobService
from . import manifests, mounts, prefill
from .checks import check, log_directories, refuses, worst_first
from .entrypoint_reader import Reader
from .in_cluster import Filled, InCluster
from .kernels.kernels import Kernels
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
from .option_checks import unfilled
from .scripts.options import printable
from .scripts.script import FIELD
from .source_file import Source
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
    """

    def __init__(self, root: ContentsRoot, kernels: Kernels, jobs: JobService) -> None:
        self._root = root
        self._reader = Reader(root)
        self._kernels = kernels
        self._jobs = jobs
        self._volumes = Volumes(jobs)

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
        source = await self._reader.clicked(request.path)
        if request.spec is None and source is None:
            raise FieldError(
                _("A form starts from a file or from the spec of a job."),
                field="/path",
                hint=_("Name a file, or the spec of a job."),
            )
        kernels, engines = await asyncio.gather(self._kernels.all(), self._jobs.engines())
        info = next((info for info in engines if info.name == request.engine), None)
        namespace = request.namespace or (info.default_namespace if info else "")
        facts = self._jobs.facts(request.engine)
        if facts.shares_lab_filesystem:
            filled = await self._fill(request, source, kernels, info)
            kernel = next((kernel for kernel in kernels if kernel.name == filled.spec.runtime.kernel), None)
            checks = await check(filled.spec, source, kernel, self._kernels)
        else:
            place = await self._in_cluster(request.engine, namespace)
            filled = await place.fill(source, request.spec, request.crossed_from)
            checks = await place.check(filled.spec, request.path) if facts.has_pods else _unseen_notebook(filled.spec)
        spec = filled.spec
        script = source.script.info if source else ScriptInfo()
        empty = [(option.flags or [option.dest])[0] for option in unfilled(script.options, spec.args)]
        if facts.has_pods and not spec.runtime.image:
            empty.append("/spec/runtime/image")
        return Prefill(
            path=source.api if source else None,
            engine=request.engine,
            namespace=namespace,
            spec=spec,
            script=script,
            notebook=source.notebook_info(self._root) if source else None,
            kernels=kernels,
            engines=engines,
            root=filled.root,
            empty=empty,
            runs_dir=filled.runs,
            follow_name=prefill.follows_name(spec, script.options),
            checks=checks,
            notes=filled.notes,
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
        taken = await on_disk(runs, prefill.taken_names, {job.name for job in jobs}, runs)
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
        lab: Lab | None = None
        if self._jobs.has(source):
            if self._jobs.facts(source).shares_lab_filesystem:
                return spec, notes
            lab = await self._jobs.lab(source)
        lab, namespace = lab or Lab(), await self._namespace(source, namespace)
        return await asyncio.to_thread(mounts.to_lab, spec, lab, namespace), notes

    async def _namespace(self, engine: EngineName, namespace: str) -> str:
        """Return the given namespace, or the engine's default if it is empty."""
        if namespace:
            return namespace
        infos = await self._jobs.engines()
        return next((info.default_namespace for info in infos if info.name == engine), "")

    async def _in_cluster(self, engine: EngineName, namespace: str) -> InCluster:
        lab = await self._jobs.lab(engine, namespace) or Lab()
        return InCluster(self._reader, self._kernels, self._jobs, self._volumes, engine, namespace, lab)

    async def submission(self, request: SpecOrManifest) -> Submission:
        """Return the job that a request submits, read from its spec or its manifest.

        Raises
        ------
        ManifestError
            If the manifest can't be read, or its kind belongs to another engine.
        """
        wanted = await manifests.submission(request, self._jobs)
        return replace(wanted, namespace=await self._namespace(request.engine, wanted.namespace))

    async def locate(self, problem: JobError, text: str) -> None:
        """Set line and column of an error about a manifest, if its field is found in the text.

        Parameters
        ----------
        problem
            The error; it is changed.
        text
            Text of the manifest.
        """
        await manifests.locate(problem, text)

    async def preview(self, request: SpecOrManifest) -> LaunchPreview:
        """Return the manifest or command of a job, with all checks of its script, kernel, volumes and engine."""
        wanted = await self.submission(request)
        spec = wanted.spec
        engine = await self._jobs.preview(
            spec, request.engine, wanted.namespace, edited=wanted.edited, dry_run=request.dry_run
        )
        kernel: Kernel | None = None
        facts = self._jobs.facts(request.engine)
        if facts.shares_lab_filesystem:
            kernel, found = await self._check(spec, request.path, in_kernel=facts.runs_in_kernel)
        elif not facts.has_pods:  # The server can't see the files of such an engine's jobs.
            found = [*wanted.notes, *_unseen_notebook(spec)]
        else:
            place = await self._in_cluster(request.engine, wanted.namespace)
            found = [*wanted.notes, *await place.check(spec, request.path)]
        said = {(line.code, line.field) for line in found}
        found += [line for line in engine.checks if (line.code, line.field) not in said]
        if wanted.edited is not None:
            found = await manifests.located(found, wanted.edited.text)
        return LaunchPreview(**{**dict(engine), "checks": worst_first(found), "kernel": kernel})

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
            source = await self._source(spec, path)
            await self._check_types(spec)
        except JobError as problem:
            found.append(Check.of(problem))
        return kernel, found + await check(spec, source, kernel, self._kernels)

    async def admit(
        self, spec: JobSpec, engine: str = DEFAULT_ENGINE, namespace: str = "", *, path: str | None = None
    ) -> Prepare:
        """Refuse a job that can't run; return a function that writes the notebook's script, if the job runs one.

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
            jobs see none of the lab's files: if the job runs a notebook.
        """
        write: Prepare | None
        facts = self._jobs.facts(engine)
        if facts.shares_lab_filesystem:
            write = await self._admit(spec, path, in_kernel=facts.runs_in_kernel)
        elif not facts.has_pods:
            write = None
            for line in _unseen_notebook(spec):
                raise FieldError(line.message, field=line.field, hint=line.hint, code=line.code)
        else:
            place = await self._in_cluster(engine, namespace)
            write = await place.admit(spec, path)

        async def prepare() -> None:
            if write is not None:
                await write()

        return prepare

    async def _admit(self, spec: JobSpec, path: str | None, *, in_kernel: bool) -> Prepare | None:
        """Refuse a job that shares the lab's files and can't run."""
        kernel = (await self._kernels.usable(spec.runtime.kernel))[0] if in_kernel else None
        source = await self._source(spec, path)
        if source is not None and source.error is not None and refuses(source.error, kernel):
            raise source.error
        await self._check_types(spec)
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
        home = next(iter(self._jobs.engines_of(pasted.kind)), None)
        target = request.engine or home or pasted.kind
        namespace = await self._namespace(home or pasted.kind, pasted.namespace or request.namespace)
        facts = self._jobs.facts(target) if request.engine else None
        if facts is None or facts.manifest_kind == pasted.kind:
            text, lost = await asyncio.gather(
                asyncio.to_thread(manifests.as_submitted, pasted, request.text, dialect),
                asyncio.to_thread(manifests.lost, pasted, request.text),
            )
            return ReadManifest(
                engine=target, namespace=namespace, spec=pasted.spec, manifest=text, notes=pasted.notes, lost=lost
            )
        if facts.shares_lab_filesystem and home is not None:
            spec, notes = await self._brought_home(pasted.spec, home, target, namespace)
        else:
            spec, notes = await manifests.crossed(pasted.spec, home or pasted.kind, target, self._jobs)
        preview = await self._jobs.preview(spec, target, namespace)
        return ReadManifest(
            engine=target,
            namespace=namespace if facts.has_namespaces else "",
            spec=spec,
            manifest=preview.manifest,
            notes=[*pasted.notes, *notes],
            lost=[],
        )

    async def _source(self, spec: JobSpec, path: str | None) -> Source | None:
        """Read the file that a job runs.

        Returns None for a command, and for a module that is not in the form's file `path`.
        """
        if spec.entrypoint.kind == "module":
            return await self._reader.module(spec.entrypoint.value, path)
        return await self._read(spec.entrypoint, FIELD)

    async def _check_types(self, spec: JobSpec) -> None:
        """Read the scripts of replica types that have their own; raise the first error."""
        for index, group in enumerate(spec.replica_specs):
            if group.entrypoint is not None and group.entrypoint.kind == "script":
                field = f"/spec/replica_specs/{index}/entrypoint/value"
                source = await self._read(group.entrypoint, field)
                if source is not None and source.error is not None:
                    source.error.field = field
                    raise source.error

    async def _read(self, entrypoint: Entrypoint, field: str) -> Source | None:
        if entrypoint.kind not in ("script", "notebook"):
            return None
        path = Path(entrypoint.value)
        if not path.is_absolute():
            message = _("The entrypoint must be an absolute path.")
            raise FieldError(message, field=field, hint=_("Begin the path with a slash."))
        return await self._reader.read(entrypoint, path, field)


def _unseen_notebook(spec: JobSpec) -> list[Check]:
    """Return an error for a notebook whose script could not be written where the job finds it."""
    if spec.entrypoint.kind != "notebook":
        return []
    message = _(
        "The job sees none of JupyterLab's files, so the script made from {notebook} can't be written for it.",
        notebook=spec.entrypoint.value.rpartition("/")[2],
    )
    hint = _("Save the notebook as a script that the job can read, and run that script.")
    return [Check(level="error", code="NotebookNotSeen", message=message, hint=hint, field=FIELD)]
