"""Requests that try or create a job object in a cluster.

The API server validates strictly; a repeated request returns the first job; an object that lost a field is deleted.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from ....core.engine.protocol import Edited
from ....core.errors import Conflict, FieldError, JobError, Unavailable
from ....core.evictions.model import CONTINUED, CONTINUES
from ....core.manifests import KINDS, Context, ManifestError, vanished
from ....core.manifests.names import CONTINUE_LEASE, OWNER, PAUSED, REMINDED, REQUEST_ID, RERUN_OF, STOPPED
from ....core.translation import _, _n, listing, sentences
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..cluster.discovery import Found
from ..cluster.namespace_watch import jobs_path
from ..objects.kinds import JobKind, SharedKind
from ..objects.text import named, quoted
from ..reasons.job import refused

log = logging.getLogger(__name__)

# Fields and annotations of a manifest that was copied from a cluster; they belong to the old object. An owner that does
# not exist would make the garbage collector delete the new job; an annotation of a stop would stop it.
_OBJECT_FIELDS: Final = (
    "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink", "ownerReferences",
    "deletionTimestamp", "deletionGracePeriodSeconds",
)  # fmt: skip
_JOB_ANNOTATIONS: Final = (
    REQUEST_ID, OWNER, RERUN_OF, STOPPED, PAUSED, REMINDED, CONTINUES, CONTINUED, CONTINUE_LEASE,
)  # fmt: skip
STRICT: Final = {"fieldValidation": "Strict"}
LOOKUP_DELAYS: Final = (0.0, 1.0, 2.0, 4.0)
"""Seconds before each lookup of a job whose creation was not answered."""
WEBHOOK_DELAYS: Final = (1.0, 3.0)
"""Seconds before each further attempt of a creation that failed because an admission webhook did not answer."""
_WEBHOOK_SECONDS: Final = 10.0
"""Time after which such a creation is not attempted again: a webhook may take long to be given up."""
_MOST_NAMED: Final = 5
"""Number of dropped fields that a message lists."""
NO_DRY_RUN: Final = re.compile("does not support dry run", re.IGNORECASE)
"""Message of a refused dry run that an admission webhook does not support."""
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def edited_manifest(edited: Edited, kind: JobKind, found: Found, context: Context) -> Json:
    """Return a manifest that the user wrote, in the cluster's dialect and with our annotations.

    Parameters
    ----------
    edited
        The manifest.
    kind
        The kind of job that is created.
    found
        The kind's version and dialect in this cluster.
    context
        The job's namespace, and the values of our annotations.

    Raises
    ------
    ManifestError
        If the manifest is not a job of this kind, has no name, or names another namespace.
    """
    manifest: Json = deepcopy(edited.manifest)
    form = KINDS[kind.manifests]
    if manifest.get("kind") != kind.kind:
        raise ManifestError(
            _(
                "The kind of the manifest is {kind}, and this engine creates only {engine_kind} objects.",
                kind=named(str(manifest.get("kind"))),
                engine_kind=kind.kind,
            ),
            code="WrongKind",
            field="/manifest/kind",
            hint=_("Choose the other engine."),
        )
    manifest["apiVersion"] = form.api_version
    manifest.pop("status", None)
    metadata = manifest.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        raise ManifestError(_("{field} must be an object.", field="metadata"), field="/manifest/metadata")
    name = metadata.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        message = _("The job needs a name: small letters, digits and dashes, beginning with a letter.")
        raise ManifestError(message, code="NoName", field="/manifest/metadata/name")
    if metadata.setdefault("namespace", context.namespace) != context.namespace:
        raise ManifestError(
            _(
                "The manifest names the namespace {other}, but the chosen namespace is {namespace}.",
                other=named(str(metadata["namespace"])),
                namespace=context.namespace or "",
            ),
            code="OtherNamespace",
            field="/manifest/metadata/namespace",
            hint=_("Choose that namespace, or remove it from the manifest."),
        )
    for name in _OBJECT_FIELDS:
        metadata.pop(name, None)
    if isinstance(kind, SharedKind) and isinstance(labels := metadata.get("labels", {}), dict):
        metadata["labels"] = {**labels, kind.label_name: kind.label_value}
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        annotations = {key: value for key, value in annotations.items() if key not in _JOB_ANNOTATIONS}
    ours = {REQUEST_ID: context.request_id, OWNER: context.owner, RERUN_OF: context.rerun_of}
    metadata["annotations"] = {
        **(annotations if isinstance(annotations, dict) else {}),
        **{key: value for key, value in ours.items() if value is not None},
    }
    return form.translate(manifest, form.usual if found.dialect is None else found.dialect)[0]


async def dry_run(api: KubeApi, kind: JobKind, manifest: Json, *, edited: bool) -> bool:
    """Let the API server check a job object without creating anything.

    Parameters
    ----------
    api
        The connection to the cluster.
    kind
        The job's kind.
    manifest
        The job object, with its namespace.
    edited
        True if the user wrote the manifest: errors then point to fields of the manifest.

    Returns
    -------
    bool
        False if the check is not possible because an admission webhook does not support dry runs.

    Raises
    ------
    JobError
        If the API server would refuse the object, or drop a part of it.
    """
    path = jobs_path(kind, manifest["metadata"]["namespace"])
    try:
        answer = await api.create(path, manifest, {**STRICT, "dryRun": "All"})
    except (ApiError, Unreachable) as error:
        if isinstance(error, ApiError) and NO_DRY_RUN.search(error.message):
            return False
        raise refused(error, manifest, edited=edited) from error
    _demand_all(manifest, answer)
    return True


async def create(api: KubeApi, kind: JobKind, found: Found, manifest: Json, *, edited: bool) -> Json:
    """Create a job, or return the job that the same request has created before.

    Parameters
    ----------
    api
        The connection to the cluster.
    kind
        The job's kind.
    found
        Facts about the kind in this cluster.
    manifest
        The job object, with its namespace, and the request's id among the annotations.
    edited
        True if the user wrote the manifest: errors then point to fields of the manifest.

    Returns
    -------
    dict
        The object as the cluster has it.

    Raises
    ------
    Conflict
        If the name is taken.
    FieldError
        If the cluster refuses a field, or drops one; in the second case the object is deleted.
    Unavailable
        If the creation was not answered, and the job does not exist.
    """
    path = jobs_path(kind, manifest["metadata"]["namespace"])
    if not found.strict:
        await _dry_run_first(api, path, manifest, edited=edited)
    try:
        answer = await _create_past_webhooks(api, path, manifest)
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
        await take_back(api, path, answer, problem)
        raise
    return answer


async def _create_past_webhooks(api: KubeApi, path: str, manifest: Json) -> Json:
    """Create an object; attempt it again if a webhook does not answer, as while it restarts: nothing exists then."""
    end = time.monotonic() + _WEBHOOK_SECONDS
    for seconds in WEBHOOK_DELAYS:
        try:
            return await api.create(path, manifest, STRICT)
        except ApiError as error:
            if refused(error, manifest).code != "WebhookDown" or time.monotonic() > end:
                raise
        await asyncio.sleep(seconds)
    return await api.create(path, manifest, STRICT)


async def _dry_run_first(api: KubeApi, path: str, manifest: Json, *, edited: bool) -> None:
    try:
        answer = await api.create(path, manifest, {**STRICT, "dryRun": "All"})
    except ApiError as error:
        if NO_DRY_RUN.search(error.message) or error.status == 409:
            return  # `create` compares its own answer as well, and reports the name that is taken.
        raise refused(error, manifest, edited=edited) from error
    except Unreachable as error:
        raise refused(error, manifest) from error
    _demand_all(manifest, answer)


async def _existing(api: KubeApi, path: str, manifest: Json, error: ApiError | None) -> Json:
    """Return the job that has the manifest's name.

    Raises
    ------
    Conflict
        If another request created it.
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
    raise name_taken(name, manifest["metadata"]["namespace"], verbatim=error.message if error is not None else None)


def name_taken(name: str, namespace: str, *, verbatim: str | None = None) -> Conflict:
    """Return the error for a name that another job has.

    Parameters
    ----------
    name
        The name.
    namespace
        The namespace of both jobs.
    verbatim
        The API server's own words; None if it was not asked.
    """
    return Conflict(
        _("There is already a job named “{name}” in namespace {namespace}.", name=name, namespace=namespace),
        code="NameTaken",
        field="/spec/name",
        hint=_("Choose another name, or delete that job."),
        verbatim=quoted(verbatim),
    )


async def _after_silence(api: KubeApi, path: str, manifest: Json, error: ApiError | Unreachable) -> Json:
    """Return the job if its creation was carried out although it was not answered.

    Raises
    ------
    Conflict
        If another job has the name.
    Unavailable
        If the job does not exist, or the cluster does not answer.
    """
    for seconds in LOOKUP_DELAYS:
        await asyncio.sleep(seconds)
        try:
            return await _existing(api, path, manifest, None)
        except Conflict:
            raise
        except JobError:
            continue  # The job does not exist, or the cluster still does not answer.
    problem = refused(error, manifest)
    message = sentences(problem.message, _("The job was probably not created."))
    raise Unavailable(
        message or problem.message,
        code=problem.code,
        hint=_("Submit the job again. If it was created after all, you get that job and no second one."),
        verbatim=problem.verbatim,
    ) from error


async def take_back(api: KubeApi, path: str, answer: Json, problem: JobError) -> None:
    """Delete a job that was created without all that it needs; the error's hint says so if that fails.

    Parameters
    ----------
    api
        The connection to the cluster.
    path
        Path of the jobs of its kind and namespace.
    answer
        The job's object.
    problem
        The error that is about to be raised.
    """
    metadata = answer["metadata"]
    try:
        await api.delete(f"{path}/{metadata['name']}", uid=metadata["uid"])
    except (ApiError, Unreachable) as error:
        if isinstance(error, ApiError) and error.status == 404:
            return
        log.warning("A job that lacks a part could not be deleted: %s", error)
        name = metadata["name"]
        problem.hint = _("The job was created without it and could not be deleted. Delete {name}.", name=name)


def _demand_all(sent: Json, received: Json) -> None:
    """Raise `FieldError` if a field that was sent is missing in the answer."""
    lost = list(vanished(sent, received))
    if lost:
        kind, fields = sent["kind"], [named(pointer.strip("/").replace("/", ".")) for pointer in lost]
        raise FieldError(
            _n(
                "The cluster drops {fields}: its version of {kind} has no such field.",
                "The cluster drops {fields}: its version of {kind} has no such fields.",
                len(fields),
                fields=listing(fields, _MOST_NAMED),
                kind=kind,
            ),
            code="FieldDropped",
            field=f"/manifest{lost[0]}",
            hint=_(
                "Nothing was created. Remove it, or ask whoever runs the cluster to update {kind}.", kind=sent["kind"]
            ),
        )


def _annotations(manifest: Mapping[str, Any]) -> dict[str, Any]:
    found = manifest["metadata"].get("annotations")
    return found if isinstance(found, dict) else {}
