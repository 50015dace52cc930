"""From a file and options to a job: the same steps as the launch form, with the same code."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..core.checks import Check
from ..core.code.model import GitRepository
from ..core.engine.info import EngineFacts
from ..core.errors import FieldError
from ..core.job import DEFAULT_ENGINE, Job
from ..core.manifests.text.yaml_reader import read_documents
from ..core.spec import JobSpec
from ..core.system.disk_threads import on_disk
from ..core.texts.job_names import name_from
from ..core.translation import _, listing
from ..launch.model import LaunchPreview, PrefillRequest, ReadManifestRequest, SpecOrManifest
from ..presets.model import ApplyPreset
from .code_source import OWN, not_in_clone, with_repository
from .options import JobOptions, valid, valid_spec
from .pods import with_pod_options
from .session import Session


@dataclass(frozen=True)
class Target:
    """Program of a job, and its place; one of `file`, `module`, `command` and `manifest` is given.

    Attributes
    ----------
    file
        Path of a script or notebook.
    module
        Name of a module.
    command
        A shell command.
    manifest
        Text of a manifest.
    engine, namespace
        Where the job runs; None for the default ones.
    preset
        Name of a preset.
    """

    file: Path | None = None
    module: str | None = None
    command: str | None = None
    manifest: str | None = None
    engine: str | None = None
    namespace: str = ""
    preset: str | None = None


@dataclass
class FilledJob:
    """A job that is ready to be submitted.

    Attributes
    ----------
    request
        The job as the API takes it.
    notes
        Warnings about values that could not be used.
    """

    request: SpecOrManifest
    notes: list[Check] = field(default_factory=list)


async def fill(session: Session, target: Target, options: JobOptions) -> FilledJob:
    """Fill the form for a target, and set the given options.

    Parameters
    ----------
    session
        The services.
    target
        What the job runs, and where.
    options
        Values that replace those of the form.

    Raises
    ------
    JobError
        If the file can't run, or a value is not valid.
    """
    if target.manifest is not None:
        return await _from_manifest(session, target, options)
    engine = target.engine or DEFAULT_ENGINE
    facts = session.jobs.engines.facts(engine)
    file = target.file
    if target.command is not None and options.args:
        raise FieldError(
            _("A shell command takes no arguments."), field="/spec/args", hint=_("Write them into the command.")
        )
    if options.git not in (None, OWN) and file is not None and not await on_disk(file, file.is_file):
        return await _filled(session, target, options, engine, _spec_in_repository(file, options.git, facts))
    filled = await _filled(session, target, options, engine, None if file is not None else _spec_without_file(target))
    source = filled.request.spec.source if filled.request.spec is not None else None
    if options.git is not None and file is not None and not isinstance(source, GitRepository):
        # The file of this name is another one than that of the repository.
        return await _filled(session, target, options, engine, _spec_in_repository(file, options.git, facts))
    return filled


async def _filled(
    session: Session, target: Target, options: JobOptions, engine: str, base: JobSpec | None
) -> FilledJob:
    """Fill the form for the file of a target, or for the specification of a job without a file of this machine."""
    path = str(target.file.absolute()).lstrip("/") if target.file is not None and base is None else None
    filled = await session.launch.prefill(
        valid(PrefillRequest, path=path, engine=engine, namespace=target.namespace, spec=base)
    )
    spec, notes, path = filled.spec, list(filled.notes), filled.path
    if target.preset is not None:
        spec, unfit = await _with_preset(session, target.preset, spec, engine)
        notes += unfit
    spec = options.applied(spec, filled.script.options, namespace=filled.namespace)
    spec = with_pod_options(spec, options, session.jobs.engines.facts(engine))
    if options.git is not None:
        spec = await with_repository(session, spec, options, engine, filled.namespace) or spec
    spec = await session.presets.fixed(spec, engine)
    return FilledJob(valid(SpecOrManifest, engine=engine, namespace=filled.namespace, spec=spec, path=path), notes)


def _spec_in_repository(file: Path, address: str, facts: EngineFacts) -> JobSpec:
    """Return a specification for a script of a git repository, which this machine need not have."""
    path = posixpath.normpath(str(file))
    if file.is_absolute() or path.startswith(".."):
        raise not_in_clone(file, address)
    name, folder = _job_name(file.stem), Path.cwd()
    spec: dict[str, Any] = {"name": name, "entrypoint": {"kind": "script", "value": path}}
    if facts.shares_lab_filesystem:
        spec |= {"working_dir": str(folder), "tensorboard": {"log_dirs": [str(folder / "runs" / name)]}}
    return valid_spec(spec)


def _job_name(text: str) -> str:
    return f"{name_from(text)[:30].strip('-')}-0"


def _spec_without_file(target: Target) -> JobSpec:
    folder, args = Path.cwd(), list[str]()
    if target.module is not None:
        kind, value, name = "module", target.module, target.module.rpartition(".")[2]
    elif target.command is not None:
        # The command of a specification is one program; a shell reads the words.
        kind, value, args = "command", "sh", ["-c", target.command]
        name = Path(next(iter(target.command.split()), "")).stem
    else:
        raise FieldError(
            _("The job has no file."),
            code="NoFile",
            hint=_("Name a script or notebook, or use --module, --command or -f."),
        )
    name = _job_name(name)
    return valid_spec(
        {
            "name": name,
            "entrypoint": {"kind": kind, "value": value},
            "args": args,
            "working_dir": str(folder),
            "tensorboard": {"log_dirs": [str(folder / "runs" / name)]},
        }
    )


async def _with_preset(session: Session, name: str, spec: JobSpec, engine: str) -> tuple[JobSpec, list[Check]]:
    presets = (await session.presets.for_form(engine)).presets
    chosen = next((preset for preset in presets if name in (preset.name, preset.id)), None)
    if chosen is None:
        names = [preset.name for preset in presets]
        raise FieldError(
            _("There is no preset “{name}” for this engine.", name=name[:80]),
            code="NoSuchPreset",
            hint=_("Presets: {names}.", names=listing(names, 10)) if names else _("Save one in the launch form."),
        )
    applied = await session.presets.apply(ApplyPreset(engine=engine, spec=spec, values=chosen.values))
    arguments = [*applied.spec.args, *(chosen.args or [])]
    return applied.spec.model_copy(update={"args": arguments}), applied.notes


async def _from_manifest(session: Session, target: Target, options: JobOptions) -> FilledJob:
    """Return the job of a file: a manifest, or the fields of a specification."""
    assert target.manifest is not None  # noqa: S101
    document = await _specification(target.manifest)
    if document is not None:
        own = (document.pop("engine", None), document.pop("namespace", None))
        engine, namespace = target.engine or own[0], target.namespace or own[1] or ""
        if isinstance(document.get("manifest"), str):  # The output of a dry run with a manifest.
            inner = replace(target, manifest=document["manifest"], engine=engine, namespace=namespace)
            return await _from_manifest(session, inner, options)
        fields = document.get("spec", document)
        if not isinstance(fields, Mapping):
            raise FieldError(
                _("The file has no fields of a job under “spec”."),
                code="NoSpec",
                hint=_("`t9kjob submit FILE --dry-run -o yaml` prints an example."),
            )
        target = replace(target, engine=engine or DEFAULT_ENGINE, namespace=namespace)
        return await _changed(session, target, valid_spec(dict(fields)), options)
    read = await session.launch.read_manifest(
        valid(ReadManifestRequest, text=target.manifest, engine=target.engine, namespace=target.namespace)
    )
    if options.any or target.preset is not None or read.manifest is None:
        target = replace(target, engine=read.engine, namespace=read.namespace)
        job = await _changed(session, target, read.spec, options)
        return replace(job, notes=[*read.notes, *read.lost, *job.notes])
    request = SpecOrManifest(engine=read.engine, namespace=read.namespace, manifest=read.manifest)
    return FilledJob(request, list(read.notes))


async def _changed(session: Session, target: Target, spec: JobSpec, options: JobOptions) -> FilledJob:
    """Return the job of a file with the values that are given, and those of a preset; the target has its place."""
    engine, notes = target.engine or DEFAULT_ENGINE, list[Check]()
    own = target.namespace or (await session.jobs.engines.get(engine).info()).default_namespace
    if target.preset is not None:
        spec, notes = await _with_preset(session, target.preset, spec, engine)
    spec = with_pod_options(options.applied(spec, namespace=own), options, session.jobs.engines.facts(engine))
    if options.git is not None:
        found = await with_repository(session, spec, options, engine, target.namespace)
        if found is None:
            raise not_in_clone(Path(spec.entrypoint.value), options.git)
        spec = found
    return FilledJob(valid(SpecOrManifest, engine=engine, namespace=target.namespace, spec=spec), notes)


async def _specification(text: str) -> dict[str, Any] | None:
    """Return the fields of a specification; None for a manifest, which has an apiVersion."""
    documents = await on_disk("/", read_documents, text)
    content = documents[0].value if len(documents) == 1 else None
    if (
        isinstance(content, Mapping)
        and "apiVersion" not in content
        and {"entrypoint", "spec", "manifest"} & set(content)
    ):
        return dict(content)
    return None


async def preview(session: Session, job: FilledJob, *, dry_run: bool) -> LaunchPreview:
    """Return the command or manifest of a job, with all checks.

    Parameters
    ----------
    session
        The services.
    job
        The job.
    dry_run
        True to ask the cluster as well.
    """
    return await session.launch.preview(job.request.model_copy(update={"dry_run": dry_run}))


async def create(session: Session, job: FilledJob) -> Job:
    """Create a job.

    Parameters
    ----------
    session
        The services.
    job
        The job.

    Raises
    ------
    JobError
        If the job can't run.
    """
    from ..launch import creation

    return await creation.create(session.launch, session.jobs, job.request, request_id=uuid4().hex)


def worst(checks: Sequence[Check]) -> str | None:
    """Return the most severe level of checks; None if all passed."""
    found = {check.level for check in checks}
    return next((level for level in ("error", "warning", "hint") if level in found), None)
