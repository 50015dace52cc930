"""Discovery of a cluster: its version, kinds of jobs with schemas, queueing systems, runtimes, namespaces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....core.engine.info import RuntimeImage
from ....core.manifests import KINDS
from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.errors import timed_out
from ..objects import training_runtimes
from ..objects.kinds import JobKind

STRICT_SINCE: Final = (1, 27)
"""First version of Kubernetes whose strict field validation is reliable (KEP-2885 is stable in it)."""
QUEUEING: Final[Mapping[str, tuple[str, ...]]] = {KUEUE: ("v1beta2", "v1beta1"), T9K_SCHEDULER: ("v1beta1",)}
"""API groups of the queueing systems, each with the supported versions, the preferred one first."""
SILENCE_SECONDS: Final = 10.0
"""Time that a health check may take before the cluster counts as lost."""
AGAIN_SECONDS: Final = 2.0
"""Interval between two requests of a health check."""
_MOST_NAMESPACES: Final = 5
_MOST_IMAGES: Final = 50
_PRESERVES: Final = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True)
class Found:
    """Result of the discovery of a kind of job that the cluster has.

    Attributes
    ----------
    dialect
        Spelling of the kind's fields; None for a kind with one spelling.
    strict
        True if a create with strict field validation refuses every field that the schema lacks. Otherwise a dry run
        comes first.
    schema
        Version of the schema: changes whenever the schema does. Empty if the API server names none.
    """

    dialect: Any = None
    strict: bool = True
    schema: str = ""


async def sign_of_life(api: KubeApi) -> str | None:
    """Return the API server's version (``v1.34.1``); None if this account may not read it.

    The request is repeated every `AGAIN_SECONDS` while no answer comes, because the connection of the first request
    may be dead without an error.

    Raises
    ------
    ApiError, Unreachable
        If the API server refuses, can't be reached, or does not answer within `SILENCE_SECONDS`.
    """
    requests: set[asyncio.Task[str | None]] = set()
    try:
        for _attempt in range(round(SILENCE_SECONDS / AGAIN_SECONDS)):
            requests.add(asyncio.create_task(_version_of(api)))
            answered, _pending = await asyncio.wait(requests, timeout=AGAIN_SECONDS, return_when="FIRST_COMPLETED")
            for request in answered:
                return request.result()
        raise Unreachable(timed_out(api.connection.host))
    finally:
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)


async def _version_of(api: KubeApi) -> str | None:
    try:
        version = (await api.get("/version")).get("gitVersion")
    except ApiError as error:
        if error.status != 403:
            raise
        return None
    return version if isinstance(version, str) else None


async def find_kind(api: KubeApi, kind: JobKind, version: str | None, known: Found | None) -> Found | None:
    """Discover a kind of job; return None if the cluster does not have it.

    Parameters
    ----------
    api
        Client of the API server.
    kind
        Kind of job.
    version
        Version of the API server.
    known
        Result of an earlier discovery. While the schema's version stays the same, the schema is not read again.

    Raises
    ------
    ApiError, Unreachable
        If the API server does not answer.
    """
    path = f"/apis/{kind.group}/{kind.version}"
    try:
        resources = (await api.get(path)).get("resources") or []
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    if not any(entry.get("name") == kind.plural and entry.get("kind") == kind.kind for entry in resources):
        return None
    address = await _schema_address(api, kind)
    if known is not None and address and known.schema == address:
        return known
    document = await read_schema(api, kind)
    dialect = KINDS[kind.manifests].dialect_of(document)
    strict = is_at_least(version, STRICT_SINCE) and document is not None and not _keeps_unknown(document, kind)
    return Found(dialect=dialect, strict=strict and (dialect is None or dialect.certain), schema=address)


async def served_groups(api: KubeApi) -> dict[str, list[str]]:
    """Return the API groups of the cluster with their versions.

    Raises
    ------
    ApiError, Unreachable
        If the API server does not answer. An account that may not list API groups gets an empty mapping.
    """
    try:
        listed = (await api.get("/apis")).get("groups") or []
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return {}
    return {group.get("name"): [entry.get("version") for entry in group.get("versions") or []] for group in listed}


def queueing_of(served: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the API groups of `QUEUEING` among the groups that a cluster has, each with the version to use."""
    chosen = {group: _version_for(served, group, versions) for group, versions in QUEUEING.items()}
    return {group: version for group, version in chosen.items() if version is not None}


def _version_for(served: Mapping[str, list[str]], group: str, versions: tuple[str, ...]) -> str | None:
    """Return the preferred version of an API group that a cluster has; None if it has none of them."""
    return next((version for version in versions if version in served.get(group, ())), None)


async def runtime_images(
    api: KubeApi, served: Mapping[str, list[str]], namespaces: Sequence[str]
) -> list[RuntimeImage]:
    """Return the images of the training runtimes that this account may list, those of the whole cluster last.

    Parameters
    ----------
    api
        Client of the API server.
    served
        API groups of the cluster with their versions.
    namespaces
        Namespaces whose runtimes are listed too.
    """
    version = _version_for(served, training_runtimes.GROUP, training_runtimes.VERSIONS)
    if version is None:
        return []
    base = f"/apis/{training_runtimes.GROUP}/{version}"
    own = [f"{base}/namespaces/{namespace}/{training_runtimes.OF_NAMESPACE}" for namespace in dict.fromkeys(namespaces)]
    found: list[RuntimeImage] = []
    for path in [*own[:_MOST_NAMESPACES], f"{base}/{training_runtimes.OF_CLUSTER}"]:
        try:
            items, _version = await api.list(path)
        except (ApiError, Unreachable):  # Images are suggestions: an account without the permission types one.
            continue
        found += [image for item in items for image in training_runtimes.images_of(item)]
    return found[:_MOST_IMAGES]


async def namespaces_of(api: KubeApi) -> list[str]:
    """Return the names of all namespaces; an empty list if this account may not list them."""
    try:
        items, _version = await api.list("/api/v1/namespaces")
    except ApiError as error:
        if error.status == 403:
            return []
        raise
    return sorted(item["metadata"]["name"] for item in items)


async def _schema_address(api: KubeApi, kind: JobKind) -> str:
    """Return the address of the kind's schema, which contains the schema's hash; empty if there is none."""
    try:
        paths = (await api.get("/openapi/v3")).get("paths") or {}
    except ApiError:
        return ""
    return str((paths.get(f"apis/{kind.group}/{kind.version}") or {}).get("serverRelativeURL") or "")


async def read_schema(api: KubeApi, kind: JobKind) -> Json | None:
    """Return the OpenAPI 3 document with a kind, or its definition; None if this account can read neither.

    Parameters
    ----------
    api
        Client of the API server.
    kind
        Kind of job.

    Raises
    ------
    Unreachable
        If the API server does not answer.
    """
    for path in (
        f"/openapi/v3/apis/{kind.group}/{kind.version}",
        f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.plural}.{kind.group}",
    ):
        try:
            return await api.get(path)
        except ApiError:
            continue  # Before 1.27 there may be no OpenAPI 3, and few accounts may read definitions.
    return None


def _keeps_unknown(document: Json, kind: JobKind) -> bool:
    """Return True if the kind's schema preserves unknown fields anywhere."""
    schemas = (document.get("components") or {}).get("schemas") or {}
    of_kind = [
        schema
        for schema in schemas.values()
        if any(entry.get("kind") == kind.kind for entry in schema.get("x-kubernetes-group-version-kind") or [])
    ]
    return _has(of_kind or document.get("spec"), _PRESERVES)


def _has(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return value.get(key) is True or any(_has(item, key) for item in value.values())
    return isinstance(value, list) and any(_has(item, key) for item in value)


def is_at_least(version: str | None, wanted: tuple[int, int]) -> bool:
    """Return True if a version of Kubernetes is at least another one; False if it is not known.

    Parameters
    ----------
    version
        The version, as the API server gives it: ``v1.34.1``.
    wanted
        Major and minor version.
    """
    match = re.match(r"v?(\d+)\.(\d+)", version or "")
    return match is not None and (int(match[1]), int(match[2])) >= wanted
