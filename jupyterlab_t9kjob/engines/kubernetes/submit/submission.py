"""Creating a job in a cluster: strictly, once, and nothing half-created."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from ....core.engine import Edited
from ....core.errors import Conflict, FieldError, JobError, Unavailable
from ....core.manifests import Context, ManifestError, translate, vanished
from ....core.manifests.kinds.formats import FORMATS
from ....core.manifests.names import OWNER, PAUSED, REMINDED, REQUEST_ID, RERUN_OF, STOPPED
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..cluster.discovery import Found
from ..cluster.namespace_watch import jobs_path
from ..objects.kinds import JobKind
from ..objects.text import quoted
from ..reasons.job import refused

log = logging.getLogger(__name__)

# What a manifest that was copied from a cluster says of the job that it was, not of the one that it is to be: its
# owner would be missed, and the new job be collected as garbage; a job that was stopped would make one that is.
_OF_THE_OBJECT: Final = (
    "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "ownerReferences",
    "deletionTimestamp", "deletionGracePeriodSeconds",
)  # fmt: skip
_OF_THE_JOB: Final = (REQUEST_ID, OWNER, RERUN_OF, STOPPED, PAUSED, REMINDED)
STRICT: Final = {"fieldValidation": "Strict"}
LOOKS: Final = (0.0, 1.0, 2.0, 4.0)
"""Seconds before each look for a job whose creation was not answered."""
_NO_DRY_RUN: Final = re.compile("does not support dry run", re.IGNORECASE)
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def edited_manifest(edited: Edited, kind: JobKind, found: Found, context: Context) -> Json:
    """Return a manifest as its user wrote it, in the cluster's spelling, with our annotations.

    Raises
    ------
    ManifestError
        If it is no job of this kind, has no name, or names another namespace.
    """
    manifest: Json = deepcopy(edited.manifest)
    form = FORMATS[kind.manifests]
    if manifest.get("kind") != kind.kind:
        message = f"The manifest is a {str(manifest.get('kind'))[:80]}, and this engine creates {kind.kind}s."
        raise ManifestError(message, code="WrongKind", field="/manifest/kind", hint="Choose the other engine.")
    manifest["apiVersion"] = form.api_version
    manifest.pop("status", None)
    metadata = manifest.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise ManifestError("metadata must be an object.", field="/manifest/metadata")
    name = metadata.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = "The job needs a name: small letters, digits and dashes, beginning with a letter."
        raise ManifestError(message, code="NoName", field="/manifest/metadata/name")
    if metadata.setdefault("namespace", context.namespace) != context.namespace:
        message = f"The manifest says namespace {str(metadata['namespace'])[:80]}, and {context.namespace} is chosen."
        hint = "Choose that namespace, or take it out of the manifest."
        raise ManifestError(message, code="OtherNamespace", field="/manifest/metadata/namespace", hint=hint)
    for name in _OF_THE_OBJECT:
        metadata.pop(name, None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        annotations = {key: value for key, value in annotations.items() if key not in _OF_THE_JOB}
    said = {REQUEST_ID: context.request_id, OWNER: context.owner, RERUN_OF: context.rerun_of}
    metadata["annotations"] = {
        **(annotations if isinstance(annotations, dict) else {}),
        **{key: value for key, value in said.items() if value is not None},
    }
    return translate(manifest, found.dialect)[0] if kind.manifests == "t9k" else manifest


async def dry_run(api: KubeApi, kind: JobKind, manifest: Json, *, edited: bool) -> bool:
    """Let the API server check a job object without creating anything.

    Returns
    -------
    bool
        False if it can't: an admission webhook of the cluster does not support dry runs.

    Raises
    ------
    JobError
        If it would refuse it, or drop a part of it.
    """
    path = jobs_path(kind, manifest["metadata"]["namespace"])
    try:
        answer = await api.create(path, manifest, {**STRICT, "dryRun": "All"})
    except (ApiError, Unreachable) as error:
        if isinstance(error, ApiError) and _NO_DRY_RUN.search(error.message):
            return False
        raise refused(error, manifest, edited=edited) from error
    _demand_all(manifest, answer)
    return True


async def create(api: KubeApi, kind: JobKind, found: Found, manifest: Json, *, edited: bool) -> Json:
    """Create a job; what has been created already by the same request is returned.

    Parameters
    ----------
    manifest
        With its namespace, and the request's id among the annotations.
    edited
        Whether its user wrote it: errors are at its fields then, else at the spec's.

    Raises
    ------
    Conflict
        If the name is taken.
    FieldError
        If the cluster refuses a field, or drops one: then the job is taken back.
    Unavailable
        If no answer came, and the job is not there.
    """
    path = jobs_path(kind, manifest["metadata"]["namespace"])
    if not found.strict:
        await _dry_run_first(api, path, manifest, edited=edited)
    try:
        answer = await api.create(path, manifest, STRICT)
    except ApiError as error:
        if error.status == 409 and error.reason == "AlreadyExists":
            return await _existing(api, path, manifest, error)
        problem = refused(error, manifest, edited=edited)
        if error.status < 500 or problem.code == "WebhookDown":
            raise problem from error
        return await _after_silence(api, path, manifest, error)
    except Unreachable as error:
        return await _after_silence(api, path, manifest, error)
    try:
        _demand_all(manifest, answer)
    except FieldError as problem:
        await _take_back(api, path, answer, problem)
        raise
    return answer


async def _dry_run_first(api: KubeApi, path: str, manifest: Json, *, edited: bool) -> None:
    try:
        answer = await api.create(path, manifest, {**STRICT, "dryRun": "All"})
    except ApiError as error:
        if _NO_DRY_RUN.search(error.message) or error.status == 409:
            return  # a webhook with side effects; what comes back from the creation is compared as well
        raise refused(error, manifest, edited=edited) from error
    except Unreachable as error:
        raise refused(error, manifest) from error
    _demand_all(manifest, answer)


async def _existing(api: KubeApi, path: str, manifest: Json, error: ApiError | None) -> Json:
    """Return the job that has the name if it is of the same request.

    Raises
    ------
    Conflict
        If it is another one.
    """
    name = manifest["metadata"]["name"]
    try:
        there = await api.get(f"{path}/{name}")
    except ApiError as problem:
        raise refused(error if problem.status == 404 and error is not None else problem, manifest) from problem
    except Unreachable as problem:
        raise refused(problem, manifest) from problem
    request = manifest["metadata"]["annotations"].get(REQUEST_ID)
    if request is not None and _annotations(there).get(REQUEST_ID) == request:
        return there
    raise Conflict(
        f"There is a job named “{name}” in namespace {manifest['metadata']['namespace']} already.",
        code="NameTaken",
        field="/spec/name",
        hint="Choose another name, or delete that job.",
        verbatim=quoted(error.message) if error is not None else None,
    )


async def _after_silence(api: KubeApi, path: str, manifest: Json, error: ApiError | Unreachable) -> Json:
    """Find out whether a job was created whose creation was not answered."""
    for seconds in LOOKS:
        await asyncio.sleep(seconds)
        try:
            return await _existing(api, path, manifest, None)
        except Conflict:
            raise
        except JobError:
            continue  # it is not there, or there is still no answer
    problem = refused(error, manifest)
    raise Unavailable(
        f"{problem.message} The job was not created, as far as can be seen.",
        code=problem.code,
        hint="Submit it again: should it have been created after all, that finds it, and there is no second one.",
        verbatim=problem.verbatim,
    ) from error


async def _take_back(api: KubeApi, path: str, answer: Json, problem: FieldError) -> None:
    metadata = answer["metadata"]
    try:
        await api.delete(f"{path}/{metadata['name']}", uid=metadata["uid"])
    except (ApiError, Unreachable) as error:
        if isinstance(error, ApiError) and error.status == 404:
            return
        log.warning("A job that lost a field could not be taken back: %s", error)
        problem.hint = f"It was created even so, and could not be taken back: delete {metadata['name']}."


def _demand_all(sent: Json, received: Json) -> None:
    """Raise `FieldError` if a part of what was sent did not come back."""
    lost = list(vanished(sent, received))
    if lost:
        named = ", ".join(pointer.strip("/").replace("/", ".") for pointer in lost[:5])
        raise FieldError(
            f"The cluster drops {named}: its version of {sent['kind']} has no such field.",
            code="FieldDropped",
            field=f"/manifest{lost[0]}",
            hint="Nothing was created. Leave it out, or ask whoever looks after the cluster about its version.",
        )


def _annotations(manifest: Mapping[str, Any]) -> dict[str, Any]:
    found = manifest["metadata"].get("annotations")
    return found if isinstance(found, dict) else {}
