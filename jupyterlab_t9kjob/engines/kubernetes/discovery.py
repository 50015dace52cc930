"""What a cluster offers: groups, their versions, kinds of objects, and how these are written."""

from __future__ import annotations

from urllib.parse import quote

from .transport import ApiError, Json, KubeApi


def path_of(group: str, version: str, plural: str, namespace: str | None = None, *rest: str) -> str:
    """Return the path of a collection, or of what is in it.

    Parameters
    ----------
    group
        ``kubeflow.org``; empty for the core's own, such as pods.
    rest
        Name of an object, and of a part of it, such as ``log``.
    """
    base = ("apis", group, version) if group else ("api", version)
    within = () if namespace is None else ("namespaces", namespace)
    return "/" + "/".join(quote(part, safe="") for part in (*base, *within, plural, *rest))


async def versions(api: KubeApi, group: str) -> list[str]:
    """Return the versions in which a group of the API is served, the preferred one first; none if it is not there."""
    answer = await _unless_missing(api, f"/apis/{quote(group, safe='')}")
    served = [str(entry["version"]) for entry in answer.get("versions") or []]
    preferred = (answer.get("preferredVersion") or {}).get("version")
    return sorted(served, key=lambda version: version != preferred)


async def resources(api: KubeApi, group: str, version: str) -> dict[str, Json]:
    """Return what a version of a group has, by its plural name; nothing if it is not served.

    The values are `APIResource` objects, with ``kind``, ``namespaced`` and ``verbs``. Parts of objects have a name
    with a slash: ``pods/log``.
    """
    base = f"/apis/{quote(group, safe='')}" if group else "/api"
    answer = await _unless_missing(api, f"{base}/{quote(version, safe='')}")
    return {str(entry["name"]): entry for entry in answer.get("resources") or []}


async def schema(api: KubeApi, group: str, version: str) -> Json:
    """Return the OpenAPI document of a version of a group; an empty one if the cluster has none.

    API servers before 1.24 have one document for everything.
    """
    document = await _unless_missing(api, f"/openapi/v3/apis/{quote(group, safe='')}/{quote(version, safe='')}")
    return document or await _unless_missing(api, "/openapi/v2")


async def _unless_missing(api: KubeApi, path: str) -> Json:
    try:
        return await api.get(path)
    except ApiError as error:
        if error.status == 404:
            return {}
        raise
