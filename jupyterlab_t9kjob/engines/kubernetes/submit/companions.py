"""Objects that a job needs beside its own: the Service of an Indexed Job, and the ConfigMap of config files.

The job owns them, so the cluster deletes them with the job. An owner must exist before, so they are created right after
the job, and a dry run beforehand tells whether they can be. The replicas wait for them in the meantime: a name that
does not resolve yet is looked up again, and a pod starts when its ConfigMap is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from ....core.checks import Capability, Check
from ....core.errors import Conflict, JobError, NotAllowed
from ....core.manifests.names import CONFIG, CONFIG_FILES
from ....core.manifests.own_fields import read_files
from ....core.translation import _, sentences
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import parts, text, value
from ..objects.kinds import HasCompanions, JobKind
from ..objects.text import quoted
from ..reasons.job import refused
from .submission import NO_DRY_RUN, STRICT

RETRY_DELAYS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to create an object: the cluster may not answer for a moment, and it deletes the object
of an earlier job of the name after a while."""

_PLURALS: Final = {"Service": "services", "ConfigMap": "configmaps"}
_CONFIG_HINT: Final = _(
    "Put the files on a volume of the job, or ask whoever manages the namespace for this permission."
)
_HINT: Final = _("Use one node, choose another engine, or ask whoever manages the namespace for this permission.")


def companions_of(kind: JobKind, manifest: Json) -> list[Json]:
    """Return the objects that a job needs beside its own, with their namespace.

    Parameters
    ----------
    kind
        The job's kind.
    manifest
        The job object, with its namespace.
    """
    found = [*(kind.companions(manifest) if isinstance(kind, HasCompanions) else []), *_config_maps(manifest)]
    namespace = manifest["metadata"]["namespace"]
    return [{**one, "metadata": {**one["metadata"], "namespace": namespace}} for one in found]


def _config_maps(manifest: Json) -> list[Json]:
    """Return the ConfigMap of a job's config files, in a list; none if its pods don't mount it."""
    files = read_files(value(manifest, "metadata", "annotations", CONFIG_FILES))
    name = _config_map_in(manifest) if files else None
    if name is None:
        return []
    data = {str(index): file.text for index, file in enumerate(files)}
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}]


def _config_map_in(part: Any) -> str | None:
    """Return the name of the ConfigMap in the volume of config files, which each kind has at another place."""
    if isinstance(part, dict):
        if part.get("name") == CONFIG and "configMap" in part:
            return text(part, "configMap", "name")
        part = list(part.values())
    found = (_config_map_in(item) for item in part) if isinstance(part, list) else ()
    return next((name for name in found if name is not None), None)


def permission_check(
    kind: JobKind, manifest: Json, permissions: Mapping[str, Capability], *, edited: bool
) -> Check | None:
    """Return the error that the account may not create the Service that a job needs; None if it may.

    Parameters
    ----------
    kind, manifest
        See `companions_of`.
    permissions
        The account's permissions in the job's namespace.
    edited
        True if the user wrote the manifest: the error is at one of its fields then.
    """
    permission = permissions.get("create_services")
    if permission is None or permission.supported:
        return None
    if not any(one["kind"] == "Service" for one in companions_of(kind, manifest)):
        return None
    message = permission.reason or _("You don't have permission to create Services in this namespace.")
    field = "/manifest/spec" if edited else "/spec/replica_specs/0/replicas"
    return Check(level="error", code="Forbidden", message=message, field=field, hint=_HINT)


async def try_companions(api: KubeApi, kind: JobKind, manifest: Json) -> None:
    """Let the API server check what a job needs beside its own object, without creating anything.

    Parameters
    ----------
    api
        The connection to the cluster.
    kind, manifest
        See `companions_of`.

    Raises
    ------
    JobError
        If the API server would refuse an object.
    """
    job = manifest["metadata"]["name"]
    for companion in companions_of(kind, manifest):
        try:
            await api.create(_path(companion), companion, {**STRICT, "dryRun": "All"})
        except ApiError as error:
            if error.status == 409 and job in (await _owners(api, kind, companion, "name") or ()):
                continue  # The request is repeated, or the cluster is about to delete that of an earlier job.
            if not NO_DRY_RUN.search(error.message):
                raise _refusal(error, companion) from error
        except Unreachable as error:
            raise refused(error) from error


async def create_companions(api: KubeApi, kind: JobKind, job: Json) -> None:
    """Create what a job needs beside its own object, unless it exists.

    Parameters
    ----------
    api
        The connection to the cluster.
    kind
        The job's kind.
    job
        The job's object, as the cluster has it.

    Raises
    ------
    JobError
        If an object can't be created.
    """
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    reference = {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.kind, "name": name, "uid": uid}
    for companion in companions_of(kind, job):
        owned = {**companion, "metadata": {**companion["metadata"], "ownerReferences": [reference]}}
        await _create(api, kind, owned, uid)


async def _create(api: KubeApi, kind: JobKind, companion: Json, uid: str) -> None:
    """Create an object that the job `uid` owns.

    Raises
    ------
    JobError
        If all attempts have failed.
    """
    problem: JobError | None = None
    for seconds in RETRY_DELAYS:
        await asyncio.sleep(seconds)
        try:
            await api.create(_path(companion), companion, STRICT)
            return
        except ApiError as error:
            problem = _refusal(error, companion)
            if error.status == 409:
                owners = await _owners(api, kind, companion, "uid")
                if owners is None or uid in owners:  # The dry run would have noticed that of somebody else.
                    return
            elif error.status < 500:
                raise problem from error
        except Unreachable as error:
            problem = refused(error)
    if problem is not None:
        raise problem


async def _owners(api: KubeApi, kind: JobKind, companion: Json, field: str) -> list[str | None] | None:
    """Return a field of the jobs that own the object of a name; None if the object can't be read."""
    try:
        there = await api.get(f"{_path(companion)}/{companion['metadata']['name']}")
    except (ApiError, Unreachable):
        return None
    return [
        text(owner, field) for owner in parts(there, "metadata", "ownerReferences") if owner.get("kind") == kind.kind
    ]


def _refusal(error: ApiError, companion: Json) -> JobError:
    """Return the error for an object that the API server refuses."""
    is_service = companion["kind"] == "Service"
    if error.status == 409:
        where = {"name": companion["metadata"]["name"], "namespace": companion["metadata"]["namespace"]}
        taken = _("There is already a ConfigMap named “{name}” in namespace {namespace}.", **where)
        hint = _("The job's config files would be in a ConfigMap of this name. Choose another name for the job.")
        if is_service:
            taken = _("There is already a Service named “{name}” in namespace {namespace}.", **where)
            hint = _("The replicas find each other through a Service that has the job's name. Choose another name.")
        return Conflict(taken, code="NameTaken", field="/spec/name", hint=hint, verbatim=quoted(error.message))
    problem = refused(error)
    why = _("The job needs a ConfigMap, in which its config files are.")
    if is_service:
        why = _("The job needs a Service, through which its replicas find each other.")
    problem.message = sentences(problem.message, why) or problem.message
    problem.field = None if is_service else "/spec/config_files"
    if isinstance(problem, NotAllowed):
        problem.hint = _HINT if is_service else _CONFIG_HINT
    return problem


def _path(companion: Json) -> str:
    """Return the API path of the objects of a companion's kind in its namespace."""
    return f"/api/v1/namespaces/{companion['metadata']['namespace']}/{_PLURALS[companion['kind']]}"
