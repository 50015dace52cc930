"""Objects that a job needs beside its own, such as the Service of an Indexed Job.

The job owns them, so the cluster deletes them with the job. An owner must exist before, so they are created right after
the job, and a dry run beforehand tells whether they can be. The replicas wait for them in the meantime: a name that
does not resolve yet is looked up again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from ....core.checks import Capability, Check
from ....core.errors import Conflict, JobError, NotAllowed
from ....core.translation import _, sentences
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import parts, text
from ..objects.kinds import HasCompanions, JobKind
from ..objects.text import quoted
from ..reasons.job import refused
from .submission import NO_DRY_RUN, STRICT

RETRY_DELAYS: Final = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to create an object: the cluster may not answer for a moment, and it deletes the object
of an earlier job of the name after a while."""

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
    found = kind.companions(manifest) if isinstance(kind, HasCompanions) else []
    namespace = manifest["metadata"]["namespace"]
    return [{**one, "metadata": {**one["metadata"], "namespace": namespace}} for one in found]


def permission_check(
    kind: JobKind, manifest: Json, permissions: Mapping[str, Capability], *, edited: bool
) -> Check | None:
    """Return the error that the account may not create what a job needs beside its own object; None if it may.

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
    if permission is None or permission.supported or not companions_of(kind, manifest):
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
    for companion in companions_of(kind, manifest):
        try:
            await api.create(_path(companion), companion, {**STRICT, "dryRun": "All"})
        except ApiError as error:
            if error.status == 409 and companion["metadata"]["name"] in (await _owners(api, companion, "name") or ()):
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
        await _create(api, {**companion, "metadata": {**companion["metadata"], "ownerReferences": [reference]}}, uid)


async def _create(api: KubeApi, companion: Json, uid: str) -> None:
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
                owners = await _owners(api, companion, "uid")
                if owners is None or uid in owners:  # The dry run would have noticed that of somebody else.
                    return
            elif error.status < 500:
                raise problem from error
        except Unreachable as error:
            problem = refused(error)
    if problem is not None:
        raise problem


async def _owners(api: KubeApi, companion: Json, field: str) -> list[str | None] | None:
    """Return a field of the owners of the object that has a name; None if the object can't be read."""
    try:
        there = await api.get(f"{_path(companion)}/{companion['metadata']['name']}")
    except (ApiError, Unreachable):
        return None
    return [text(owner, field) for owner in parts(there, "metadata", "ownerReferences") if owner.get("kind") == "Job"]


def _refusal(error: ApiError, companion: Json) -> JobError:
    """Return the error for an object that the API server refuses."""
    name, namespace = companion["metadata"]["name"], companion["metadata"]["namespace"]
    if error.status == 409:
        return Conflict(
            _("There is already a Service named “{name}” in namespace {namespace}.", name=name, namespace=namespace),
            code="NameTaken",
            field="/spec/name",
            hint=_("The replicas find each other through a Service that has the job's name. Choose another name."),
            verbatim=quoted(error.message),
        )
    problem = refused(error)
    why = _("The job needs a Service, through which its replicas find each other.")
    problem.message, problem.field = sentences(problem.message, why) or problem.message, None
    if isinstance(problem, NotAllowed):
        problem.hint = _HINT
    return problem


def _path(companion: Json) -> str:
    """Return the API path of the Services of an object's namespace."""
    return f"/api/v1/namespaces/{companion['metadata']['namespace']}/services"
