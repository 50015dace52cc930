"""The one door to launching, for the handlers: fill a form, preview it, let a job in."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..core.engine import Check, Prepare
from ..core.errors import FieldError, JobError, NotFound
from ..core.spec import Entrypoint, JobSpec
from ..jobs import JobService, Query
from ..paths import ContentsRoot
from . import manifests, prefill
from .checks import check, log_directories, unfilled
from .kernels import Kernels
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
from .notebook import write_script
from .script import FIELD
from .source import Source, read_source


class Launch:
    """From a file to a job.

    Parameters
    ----------
    root
        Where files lie.
    kernels
        Where jobs can run.
    jobs
        The engines.
    """

    def __init__(self, root: ContentsRoot, kernels: Kernels, jobs: JobService) -> None:
        self._root = root
        self._kernels = kernels
        self._jobs = jobs

    async def prefill(self, request: PrefillRequest) -> Prefill:
        """Return a filled form for a file, or for a spec that runs none.

        Raises
        ------
        NotFound
            If there is no such file.
        FieldError
            If it can't be a job: outside the root, a folder, neither script nor notebook,
            unreadable; or if there is neither a file nor a spec. A syntax error is a check, so
            that the form opens and shows it.
        Unavailable
            If files are not on this machine.
        """
        source = await self._clicked(request.path)
        kernels, engines, jobs = await asyncio.gather(
            self._kernels.all(),
            self._jobs.engines(),
            self._jobs.jobs(Query(engine=request.engine)),
        )
        runs = prefill.runs_folder(source, request.spec, self._root.folder)
        taken = await asyncio.to_thread(prefill.taken_names, {job.name for job in jobs}, runs)
        if request.spec is not None:
            spec = prefill.adapted_spec(request.spec, source, kernels, taken)
        elif source is not None:
            kernel = prefill.choose_kernel(kernels, source.kernel)
            engine = next((info for info in engines if info.name == request.engine), None)
            spec = prefill.fresh_spec(source, kernel, engine, taken)
        else:
            raise FieldError(
                "A form needs something to start from.", field="/path", hint="Name a file, or the spec of a job."
            )
        chosen = next((kernel for kernel in kernels if kernel.name == spec.runtime.kernel), None)
        script = source.script.info if source else ScriptInfo()
        return Prefill(
            path=source.api if source else None,
            engine=request.engine,
            namespace=request.namespace,
            spec=spec,
            script=script,
            notebook=source.notebook_info(self._root) if source else None,
            kernels=kernels,
            engines=engines,
            root=str(self._root.folder),
            empty=[(option.flags or [option.dest])[0] for option in unfilled(script.options, spec.args)],
            runs_dir=str(runs),
            follow_name=prefill.follows_name(spec, script.options),
            checks=await check(spec, source, chosen, self._kernels),
        )

    async def submission(self, request: SpecOrManifest) -> Submission:
        """Return what a request asks for: its spec, or what its manifest says.

        Raises
        ------
        ManifestError
            If its manifest can't be read, or is of another engine's kind.
        """
        return await manifests.submission(request, self._jobs)

    async def preview(self, request: SpecOrManifest) -> LaunchPreview:
        """Return what a form or a manifest amounts to, with everything that can be said about it."""
        wanted = await self.submission(request)
        spec = wanted.spec
        engine = await self._jobs.preview(
            spec, request.engine, wanted.namespace, edited=wanted.edited, dry_run=request.dry_run
        )
        found = list(wanted.notes)
        kernel: Kernel | None = None
        source: Source | None = None
        try:
            kernel = await self._kernels.get(spec.runtime.kernel)
        except FieldError as problem:
            found.append(Check.of(problem))
        try:
            source = await self._source(spec)
            await self._check_types(spec)
        except JobError as problem:
            found.append(Check.of(problem))
        found += await check(spec, source, kernel, self._kernels)
        said = {(line.code, line.field) for line in found}
        found += [line for line in engine.checks if (line.code, line.field) not in said]
        order = ("error", "warning", "hint", "passed")
        found.sort(key=lambda line: order.index(line.level))
        return LaunchPreview(**{**dict(engine), "checks": found, "kernel": kernel})

    async def admit(
        self, spec: JobSpec, engine: str = "local", namespace: str = "", *, path: str | None = None
    ) -> Prepare:
        """Refuse a job that certainly can't run; what is returned writes a notebook's script.

        Parameters
        ----------
        spec, engine, namespace
            The job.
        path
            The file that its form was opened for.

        Raises
        ------
        FieldError
            If a script is not there, outside the root, a folder, unreadable, or not Python; if the kernel is gone,
            not local, or lacks torch; if a log directory can't be one.
        """
        await self._kernels.usable(spec.runtime.kernel)
        source = await self._source(spec)
        if source is not None and source.error is not None:
            raise source.error
        await self._check_types(spec)
        for line in await asyncio.to_thread(log_directories, spec):
            if line.level == "error":
                raise FieldError(line.message, field=line.field, hint=line.hint, reason=line.code)

        async def prepare() -> None:
            if source is not None and source.converted is not None:
                await asyncio.to_thread(write_script, source.path, source.converted)

        return prepare

    async def read_manifest(self, request: ReadManifestRequest) -> ReadManifest:
        """Return the form that a manifest amounts to, and what it would lose.

        Raises
        ------
        ManifestError
            If it can't be read.
        """
        pasted, dialect = await manifests.read(request.text, self._jobs)
        target = request.engine or pasted.kind
        namespace = pasted.namespace or request.namespace
        if target == pasted.kind:
            text, lost = await asyncio.gather(
                asyncio.to_thread(manifests.as_submitted, pasted, request.text, dialect),
                asyncio.to_thread(manifests.lost, pasted, request.text),
            )
            return ReadManifest(
                engine=target, namespace=namespace, spec=pasted.spec, manifest=text, notes=pasted.notes, lost=lost
            )
        spec, notes = await manifests.crossed(pasted.spec, pasted.kind, target, self._jobs)
        preview = await self._jobs.preview(spec, target, namespace)
        return ReadManifest(
            engine=target,
            namespace=namespace,
            spec=spec,
            manifest=preview.manifest,
            notes=[*pasted.notes, *notes],
            lost=[],
        )

    async def _clicked(self, path: str | None) -> Source | None:
        """Read the file that a form is for, if it is for one."""
        if path is None:
            return None
        return await asyncio.to_thread(read_source, self._root, self._root.disk(path), "/path")

    async def _source(self, spec: JobSpec) -> Source | None:
        """Read the file that a spec runs; None for a module or a command."""
        return await self._read(spec.entrypoint, FIELD)

    async def _check_types(self, spec: JobSpec) -> None:
        """Read the scripts that replica types have of their own; raises what is wrong with the first."""
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
            raise FieldError("The entrypoint must be an absolute path.", field=field, hint="Begin it with a slash.")
        try:
            source = await asyncio.to_thread(read_source, self._root, path, field)
        except NotFound as problem:  # the address exists; a field of the request is wrong
            raise FieldError(problem.message, field=field, hint=problem.hint, reason="ScriptGone") from problem
        if source.kind != entrypoint.kind:
            raise FieldError(
                f"{path.name} is a {source.kind}, not a {entrypoint.kind}.",
                field=field.removesuffix("value") + "kind",
                hint=f"Choose a {entrypoint.kind}, or say that it is a {source.kind}.",
            )
        return source
