"""Reads manifests that users paste or edit: the job to submit, and the form's version of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..core.checks import Check
from ..core.engine.info import EngineFacts
from ..core.engine.protocol import Edited
from ..core.errors import FieldError, JobError, TooLarge
from ..core.job import EngineName
from ..core.manifests import (
    KINDS,
    ManifestError,
    Pasted,
    cross,
    leaks,
    not_in_spec,
    places_of,
    read_job,
    to_yaml,
)
from ..core.manifests.schema import differences, knows
from ..core.manifests.text.yaml_editor import edited
from ..core.manifests.text.yaml_reader import Place, read_documents
from ..core.spec import JobSpec
from ..core.translation import _
from ..jobs.service import JobService
from .model import SpecOrManifest

LISTED = 10

_IN_MANIFEST = {"/namespace": "/manifest/metadata/namespace", "/spec/name": "/manifest/metadata/name"}
"""Position in a manifest of the fields of a request that are not below ``/manifest``."""


@dataclass(frozen=True)
class Submission:
    """Job that a request submits.

    Attributes
    ----------
    spec
        The spec in the request, or the spec that was read from its manifest.
    namespace
        The manifest's namespace, else the request's.
    edited
        The manifest to submit instead of the one rendered from the spec.
    notes
        Corrections and assumptions made while the manifest was read.
    """

    spec: JobSpec
    namespace: str
    edited: Edited | None = None
    notes: tuple[Check, ...] = ()


def needs_image(facts: EngineFacts) -> bool:
    """Return True if jobs of an engine with these facts must name an image, because no template gives them one."""
    return facts.has_pods and (facts.manifest_kind is None or KINDS[facts.manifest_kind].needs_image)


async def submission(request: SpecOrManifest, jobs: JobService) -> Submission:
    """Return the job that a request submits.

    Parameters
    ----------
    request
        Request with a spec or a manifest.
    jobs
        All engines.

    Raises
    ------
    ManifestError
        If the manifest can't be read, or its kind belongs to another engine.
    """
    if request.manifest is None:
        assert request.spec is not None  # noqa: S101
        return Submission(request.spec, request.namespace)
    pasted, _dialect = await read(request.manifest, jobs)
    if jobs.engines.facts(request.engine).manifest_kind not in (pasted.kind, None):
        message = _(
            "The manifest is for the engine {kind}, and the job is submitted to {engine}.",
            kind=pasted.kind,
            engine=request.engine,
        )
        hint = _("Choose the engine of the manifest, or apply the manifest to the form.")
        raise ManifestError(message, code="WrongKind", field="/manifest/kind", hint=hint)
    edited = Edited(manifest=pasted.manifest or {}, text=request.manifest)
    notes = (*pasted.notes, *leaks(pasted.spec))
    return Submission(pasted.spec, pasted.namespace or request.namespace, edited, notes)


async def read(text: str, jobs: JobService) -> tuple[Pasted, Any]:
    """Read a manifest in the dialect of the cluster that runs its kind.

    Parameters
    ----------
    text
        YAML or JSON.
    jobs
        All engines.

    Returns
    -------
    pasted, dialect
        The job, and the cluster's dialect of its kind.

    Raises
    ------
    ManifestError
        If the manifest can't be read.
    """
    pasted = await asyncio.to_thread(read_job, text)
    usual = KINDS[pasted.kind].usual
    engine = next(iter(jobs.engines.with_manifest_kind(pasted.kind)), None)
    found = await jobs.engines.dialect(engine) if engine is not None else None
    dialect = usual if found is None else found
    if dialect != usual:
        pasted = await asyncio.to_thread(partial(read_job, text, dialect=dialect))
    return pasted, dialect


async def crossed(
    spec: JobSpec, source: EngineName, target: EngineName, jobs: JobService
) -> tuple[JobSpec, list[Check]]:
    """Return a spec adapted to another engine, and warnings about what is lost.

    Parameters
    ----------
    spec
        The job.
    source
        Engine for which the spec was written.
    target
        Engine that is to run it.
    jobs
        All engines.
    """
    infos = {info.name: info for info in await jobs.engines.infos()}
    kind, other = (infos[name].facts.manifest_kind if name in infos else name for name in (source, target))
    capabilities = infos[target].capabilities if target in infos else {}
    return cross(spec, kind, other, capabilities)


async def against_schema(
    found: list[Check], submitted: Submission, engine: EngineName, jobs: JobService
) -> list[Check]:
    """Return the checks of an edited manifest with those against the schema of its engine's cluster.

    Parameters
    ----------
    found
        Other checks. Warnings about fields that this package does not know, but the cluster does, are left out.
    submitted
        The job.
    engine
        Engine to which it is submitted.
    jobs
        All engines.
    """
    if submitted.edited is None or jobs.engines.facts(engine).manifest_kind is None:
        return found
    schema = await jobs.engines.manifest_schema(engine)
    if schema.source == "cluster":
        found = [one for one in found if one.code != "UnknownField" or not knows(schema, one.field or "")]
    said = {one.field for one in found}
    against = await asyncio.to_thread(differences, submitted.edited.manifest, schema)
    return [*found, *(one for one in against if one.field not in said or one.code == "FieldMissing")]


async def locate(problem: JobError, text: str) -> None:
    """Set line and column of an error about a manifest, if its field is found in the text.

    Parameters
    ----------
    problem
        The error; it is changed.
    text
        Text of the manifest.
    """
    for place in (await _places([problem], text)).values():
        problem.line, problem.column = place


async def located(checks: list[Check], text: str) -> list[Check]:
    """Return checks of a manifest with line and column added, where the field is found in the text.

    Parameters
    ----------
    checks
        Checks of a job that is submitted as a manifest.
    text
        Text of the manifest.
    """
    places = await _places(checks, text)
    return [
        check.model_copy(update=places[index]._asdict()) if index in places else check
        for index, check in enumerate(checks)
    ]


async def _places(found: Sequence[JobError | Check], text: str) -> dict[int, Place]:
    """Return the position of each error or check that has a field but no line, by index."""
    pointers = {
        index: pointer
        for index, one in enumerate(found)
        if one.line is None and (pointer := _IN_MANIFEST.get(one.field or "", one.field or "")).startswith("/manifest/")
    }
    if not pointers:
        return {}  # Without a pointer to find, parsing the text would be wasted.
    places = await asyncio.to_thread(places_of, text, list(pointers.values()))
    return {index: place for index, place in zip(pointers, places, strict=True) if place is not None}


def as_submitted(pasted: Pasted, text: str, dialect: Any) -> str:
    """Return the YAML to submit: the user's own text if it needs no change (blocking).

    Parameters
    ----------
    pasted
        The job that was read from the text.
    text
        The user's YAML or JSON.
    dialect
        The cluster's dialect of the manifest's kind.
    """
    manifest = pasted.manifest or {}
    wanted = KINDS[pasted.kind].translate(manifest, dialect)[0]
    try:
        documents = [document.value for document in read_documents(text)]
    except FieldError:  # The text was readable only after corrections.
        documents = []
    return text if documents == [wanted] else to_yaml(wanted)


def lost(pasted: Pasted) -> list[Check]:
    """Return warnings about parts of a manifest that the form has no field for and would drop (blocking).

    Parameters
    ----------
    pasted
        The job that was read from the text.
    """
    found: list[Check] = []
    for path in not_in_spec(pasted.manifest or {}, pasted.spec)[:LISTED]:
        message = _("The form has no field for {path}.", path=path)
        found.append(Check(level="warning", code="NotInForm", message=message, field="/manifest"))
    return found


def in_form_of(manifest: str, written: str) -> str:
    """Return a manifest in the form of a text that the user has written: with its comments and its order (blocking).

    Parameters
    ----------
    manifest
        YAML of the manifest.
    written
        The user's YAML. It has no effect if it is of another kind.
    """
    wanted = read_documents(manifest)[0].value
    try:
        documents = read_documents(written)
    except (ManifestError, TooLarge):
        return manifest
    value = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or value.get("kind") != wanted.get("kind"):
        return manifest
    return edited(written, wanted) or manifest
