"""What a cluster has: kinds of jobs, their schema and dialect, its version, its namespaces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ....core.manifests import CURRENT, Dialect
from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..objects.kinds import JobKind

STRICT_SINCE: Final = (1, 27)
"""The first version whose field validation can be relied upon (KEP-2885 is stable in it)."""
QUEUEING: Final[Mapping[str, tuple[str, ...]]] = {KUEUE: ("v1beta2", "v1beta1"), T9K_SCHEDULER: ("v1beta1",)}
"""API groups of what queues jobs, each with the versions that are understood, the best first."""
SILENCE_SECONDS: Final = 10.0
"""How long an API server may leave the smallest question unanswered before it counts as lost."""
AGAIN_SECONDS: Final = 2.0
"""Between two such questions."""
_PRESERVES: Final = "x-kubernetes-preserve-unknown-fields"


@dataclass(frozen=True)
class Found:
    """A kind of job that a cluster has.

    Attributes
    ----------
    dialect
        How a PyTorchTrainingJob is spelled.
    strict
        Whether a create with strict field validation refuses whatever the schema lacks; where not, a dry run
        comes first.
    schema
        Tells one state of its schema from the next.
    """

    dialect: Dialect = CURRENT
    strict: bool = True
    schema: str = ""


async def sign_of_life(api: KubeApi) -> str | None:
    """Return the API server's version (``v1.34.1``) as soon as it answers; None if it does not tell that to everybody.

    It is asked again while an answer is awaited, for the connection that was used may be dead without anybody knowing.

    Raises
    ------
    ApiError, Unreachable
        If it refuses, can't be reached, or is silent for too long.
    """
    asked: set[asyncio.Task[str | None]] = set()
    try:
        for _ in range(round(SILENCE_SECONDS / AGAIN_SECONDS)):
            asked.add(asyncio.create_task(_version_of(api)))
            answers, _rest = await asyncio.wait(asked, timeout=AGAIN_SECONDS, return_when="FIRST_COMPLETED")
            for answer in answers:
                return answer.result()
        raise Unreachable(f"The cluster at {api.connection.host} does not answer in time.")
    finally:
        for question in asked:
            question.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


async def _version_of(api: KubeApi) -> str | None:
    try:
        version = (await api.get("/version")).get("gitVersion")
    except ApiError as error:
        if error.status != 403:
            raise
        return None
    return version if isinstance(version, str) else None


async def find_kind(api: KubeApi, kind: JobKind, version: str | None, known: Found | None) -> Found | None:
    """Return what there is to know of a kind; None if the cluster does not have it.

    Parameters
    ----------
    version
        The API server's.
    known
        What was found before: as long as the schema is the same, that is not read again.

    Raises
    ------
    ApiError, Unreachable
        If the cluster can't say.
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
    document = await _schema(api, kind)
    dialect = Dialect.from_schema(document) if kind.manifests == "t9k" else CURRENT
    strict = _at_least(version, STRICT_SINCE) and document is not None and not _keeps_unknown(document, kind)
    return Found(dialect=dialect, strict=strict and dialect.certain, schema=address)


async def queueing_of(api: KubeApi) -> dict[str, str]:
    """Return the API groups of `QUEUEING` that a cluster has, each with the version of it to speak."""
    try:
        listed = (await api.get("/apis")).get("groups") or []
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return {}
    offered = {group.get("name"): [entry.get("version") for entry in group.get("versions") or []] for group in listed}
    spoken = {
        group: next((version for version in versions if version in offered.get(group, ())), None)
        for group, versions in QUEUEING.items()
    }
    return {group: version for group, version in spoken.items() if version is not None}


async def namespaces_of(api: KubeApi) -> list[str]:
    """Return the names of all namespaces; none where this account may not list them."""
    try:
        items, _version = await api.list("/api/v1/namespaces")
    except ApiError as error:
        if error.status == 403:
            return []
        raise
    return sorted(item["metadata"]["name"] for item in items)


async def _schema_address(api: KubeApi, kind: JobKind) -> str:
    """Return the address of the kind's schema, which has a hash of it in it; empty where there is none."""
    try:
        paths = (await api.get("/openapi/v3")).get("paths") or {}
    except ApiError:
        return ""
    return str((paths.get(f"apis/{kind.group}/{kind.version}") or {}).get("serverRelativeURL") or "")


async def _schema(api: KubeApi, kind: JobKind) -> Json | None:
    for path in (
        f"/openapi/v3/apis/{kind.group}/{kind.version}",
        f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind.plural}.{kind.group}",
    ):
        try:
            return await api.get(path)
        except ApiError:
            continue  # before 1.27 there may be no OpenAPI 3, and few may read definitions
    return None


def _keeps_unknown(document: Json, kind: JobKind) -> bool:
    """Whether the kind's schema keeps fields that it does not know, anywhere."""
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


def _at_least(version: str | None, wanted: tuple[int, int]) -> bool:
    match = re.match(r"v?(\d+)\.(\d+)", version or "")
    return match is not None and (int(match[1]), int(match[2])) >= wanted
