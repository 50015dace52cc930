"""PersistentVolumeClaims of a namespace, as the form offers them."""

from __future__ import annotations

from typing import Any

from ....core.engine.info import Volume
from ....core.errors import FieldError, NotAllowed
from ....core.lab import Lab, LabMount
from ....core.translation import _
from ..client.api import ApiError, KubeApi, Unreachable
from ..objects.text import named, quoted
from ..reasons.job import refused


async def volumes(api: KubeApi, namespace: str, lab: Lab | None = None) -> list[Volume]:
    """Return the PVCs of a namespace, those that the lab mounts first.

    Parameters
    ----------
    api
        Client of the API server.
    namespace
        The namespace.
    lab
        The lab and its mounts; a PVC that the lab mounts several times is listed once for each mount.

    Raises
    ------
    NotAllowed
        If this account has no permission to list PVCs.
    FieldError
        If there is no such namespace.
    Unavailable
        If the API server does not answer.
    """
    try:
        claims = await _claims(api, namespace)
    except (ApiError, Unreachable) as error:
        raise refused(error) from error
    mounts = [mount for mount in lab.mounts if mount.namespace == namespace] if lab is not None else []
    found = []
    for claim in claims:
        name = claim["metadata"]["name"]
        own = [mount for mount in mounts if mount.claim == name]
        found += [_volume(claim, mount) for mount in own] or [_volume(claim, None)]
    return sorted(found, key=lambda volume: (volume.lab_path is None, volume.claim, volume.sub_path or ""))


async def _claims(api: KubeApi, namespace: str) -> list[dict[str, Any]]:
    try:
        claims, _version = await api.list(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")
    except ApiError as error:
        if error.status != 403:
            raise
        await _require_namespace(api, namespace)  # The API server also answers 403 for a namespace that does not exist.
        raise NotAllowed(
            _("You don't have permission to list the PVCs of namespace {namespace}.", namespace=named(namespace)),
            hint=_("Type the PVC's name, or ask for permission to list persistentvolumeclaims."),
            verbatim=quoted(error.message),
        ) from error
    if not claims:
        await _require_namespace(api, namespace)
    return claims


async def _require_namespace(api: KubeApi, namespace: str) -> None:
    """Raise `FieldError` if a namespace does not exist. The API server lists such a namespace as an empty one."""
    try:
        await api.get(f"/api/v1/namespaces/{namespace}")
    except ApiError as error:
        if error.status == 404:
            raise FieldError(
                _("There is no namespace {namespace}.", namespace=named(namespace)),
                code="NoSuchNamespace",
                field="/namespace",
                hint=_("Choose another one."),
                verbatim=quoted(error.message),
            ) from error
        if error.status != 403:  # An account that may not read the namespace may still create jobs there.
            raise


def _volume(claim: dict[str, Any], mount: LabMount | None) -> Volume:
    name, spec, status = claim["metadata"]["name"], claim.get("spec") or {}, claim.get("status") or {}
    return Volume(
        claim=name,
        access_modes=list(status.get("accessModes") or spec.get("accessModes") or []),
        capacity=(status.get("capacity") or (spec.get("resources") or {}).get("requests") or {}).get("storage"),
        phase=status.get("phase"),
        storage_class=spec.get("storageClassName") or None,
        lab_path=str(mount.lab_path) if mount else None,
        mount_path=str(mount.mount_path) if mount else f"/mnt/{name}",
        sub_path=mount.sub_path if mount else None,
    )
