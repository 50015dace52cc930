"""Properties of this lab that jobs inherit: volumes, image, ids and home directory.

In a pod they come from the pod's object; outside a pod the volumes come from the trait ``kubernetes_volumes``.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ....core.checks import Check
from ....core.lab import Lab, LabMount
from ....core.spec import Security
from ....core.translation import Text, _, sentences
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..objects.text import answer_of
from .configured_volumes import lab_mounts
from .process_environment import Surroundings, surroundings

USUAL_CONTAINER: Final = "notebook"
"""Name of the container in notebook pods of T9k (t9k-facts.md, Lab pods) and Kubeflow."""
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
_POD_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_REFERENCE: Final = re.compile(r"\$\$|\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")


async def find_lab_or_problem(api: KubeApi, namespace: str, volumes: Sequence[Any]) -> tuple[Lab, bool]:
    """Return the lab, or one that only says what is wrong; and True if a later call may find more.

    Parameters
    ----------
    api
        Client of the API server.
    namespace
        Namespace of the connection.
    volumes
        Entries of the trait ``kubernetes_volumes``.
    """
    try:
        return await find_lab(api, namespace, lab_mounts(volumes, namespace)), False
    except ValueError as error:
        message = _("This JupyterLab's settings of its volumes are wrong: {error}.", error=str(error))
        return Lab(problems=(_unknown(message, _("Until that is mended, choose volumes in the form.")),)), False
    except (ApiError, Unreachable) as error:
        message = _("JupyterLab's own pod could not be read, so its volumes and image are not known.")
        return Lab(problems=(_unknown(message, answer_of(error)),)), True


async def find_lab(
    api: KubeApi, namespace: str, mounts: Sequence[LabMount] = (), here: Surroundings | None = None
) -> Lab:
    """Return the properties of this lab that jobs inherit.

    Parameters
    ----------
    api
        Client of the API server.
    namespace
        Namespace of the connection.
    mounts
        Volumes that an administrator names, see `.configured_volumes`; they replace the pod's.
    here
        Surroundings of this process; read by default.

    Raises
    ------
    ApiError, Unreachable
        If the API server does not answer. A missing permission raises nothing; the lab's `problems` say it.
    """
    if here is None:
        here = await asyncio.to_thread(surroundings)
    outside = Lab(mounts=tuple(mounts), elsewhere=_not_of(here, mounts), user=here.user, home=here.home)
    if not api.connection.in_cluster:
        return outside
    pod, problem = await _own_pod(api, namespace, here)
    if pod is None:
        return replace(outside, problems=(problem,) if problem else ())
    lab = await asyncio.to_thread(_lab_of, pod, namespace, here)
    if mounts:
        lab = replace(lab, mounts=outside.mounts, elsewhere=outside.elsewhere)
    modes = dict(zip(*await _access_modes(api, namespace, lab.mounts), strict=True))
    return replace(lab, mounts=tuple(replace(m, access_modes=modes.get(m.claim, ())) for m in lab.mounts))


# -- the pod -----------------------------------------------------------------------------------------------------------


async def _own_pod(api: KubeApi, namespace: str, here: Surroundings) -> tuple[Json | None, Check | None]:
    """Return the pod that this process runs in, or the check that says that it is not known.

    The pod is found by the name in the service account's token or by the host name, else by its network address.
    """
    path = f"/api/v1/namespaces/{namespace}/pods"
    refusal: ApiError | None = None
    for name in filter(_POD_NAME.fullmatch, here.names):
        try:
            pod = await api.get(f"{path}/{name}")
        except ApiError as error:
            if error.status not in (403, 404):
                raise
            refusal = error if error.status == 403 else refusal
            continue
        if _is_ours(pod, here):
            return pod, None
    for address in here.addresses:
        try:
            pods, _version = await api.list(path, {"fieldSelector": f"status.podIP={address}"})
        except ApiError as error:
            if error.status != 403:
                raise
            refusal = error
            break
        own = [pod for pod in pods if _is_ours(pod, here)]
        if len(own) == 1:
            return own[0], None
    if refusal is not None:
        message = _("You don't have permission to read JupyterLab's own pod, so its volumes and image are not known.")
        hint = _(
            "Ask for permission to get pods in namespace {namespace}; until then choose volumes and image in the form.",
            namespace=namespace,
        )
        return None, _unknown(message, sentences(hint, answer_of(refusal)))
    message = _(
        "JupyterLab's own pod was not found in namespace {namespace}, so its volumes and image are not known.",
        namespace=namespace,
    )
    return None, _unknown(message, _("Choose volumes and image in the form, or set T9kJobApp.kubernetes_volumes."))


def _unknown(message: Text, hint: Text | None) -> Check:
    return Check(level="warning", code="LabUnknown", message=message, hint=hint)


def _is_ours(pod: Json, here: Surroundings) -> bool:
    """Return True if this process may run in the pod; two pods can share a host name or an address."""
    if here.pod_uid is not None:
        return bool(pod["metadata"]["uid"] == here.pod_uid)
    addresses = {entry.get("ip") for entry in (pod.get("status") or {}).get("podIPs") or []}
    if here.addresses and addresses and not addresses.intersection(here.addresses):
        return False
    return any(_fit(container, here)[0] == 0 for container in pod["spec"]["containers"])


def _fit(container: Json, here: Surroundings) -> tuple[int, int]:
    """Return how many of a container's mounts are missing here, and the negated number of those that are here."""
    paths = {os.path.realpath(str(mount["mountPath"])) for mount in container.get("volumeMounts") or []}
    seen = paths.intersection(here.mount_points)
    return len(paths - seen), -len(seen)


# -- its properties ----------------------------------------------------------------------------------------------------


def _lab_of(pod: Json, namespace: str, here: Surroundings) -> Lab:
    """Return the properties of a pod that jobs inherit (blocking: resolves links)."""
    spec = pod["spec"]
    container = _own_container(pod, here)
    volumes = {volume["name"]: volume for volume in spec.get("volumes") or []}
    mounts: list[LabMount] = []
    problems: list[Check] = []
    for entry in container.get("volumeMounts") or []:
        claim = volumes.get(entry["name"], {}).get("persistentVolumeClaim")
        if claim is None:
            continue
        path = str(entry["mountPath"])
        folder: str | None = entry.get("subPath") or None
        if expression := entry.get("subPathExpr"):
            folder = _expanded(expression, _variables(container, pod, here))
            if folder is None:
                problems.append(_unknown_folder(path, expression))
                continue
        mounts.append(
            LabMount(
                claim=str(claim["claimName"]),
                namespace=namespace,
                lab_path=Path(path),
                mount_path=PurePosixPath(path),
                sub_path=folder,
                read_only=bool(entry.get("readOnly") or claim.get("readOnly")),
            )
        )
    policy = container.get("imagePullPolicy")
    return Lab(
        mounts=tuple(mounts),
        elsewhere=_not_of(here, mounts),
        image=container.get("image"),
        pull_policy=policy if policy in ("Always", "IfNotPresent", "Never") else None,
        pull_secrets=tuple(entry["name"] for entry in spec.get("imagePullSecrets") or [] if entry.get("name")),
        security=Security(uid=here.uid, gid=here.gid, fs_group=(spec.get("securityContext") or {}).get("fsGroup")),
        user=here.user,
        home=here.home,
        problems=tuple(problems),
    )


def _own_container(pod: Json, here: Surroundings) -> Json:
    """Return the container that this process runs in, found by its name, else by its mounts, else the usual one."""
    containers: list[Json] = pod["spec"]["containers"]
    by_name = {container["name"]: container for container in containers}
    if here.container in by_name:
        return by_name[here.container]
    best = min(_fit(container, here) for container in containers)
    fitting = [container for container in containers if _fit(container, here) == best]
    usual = (USUAL_CONTAINER, (pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER))
    return next((container for container in fitting if container["name"] in usual), fitting[0])


def _variables(container: Json, pod: Json, here: Surroundings) -> dict[str, str]:
    """Return the environment variables of a container's spec; this process may have changed its own since."""
    found: dict[str, str] = {}
    for entry in container.get("env") or []:
        name = entry["name"]
        source = (entry.get("valueFrom") or {}).get("fieldRef", {}).get("fieldPath")
        value = {
            "metadata.name": pod["metadata"]["name"],
            "metadata.namespace": pod["metadata"]["namespace"],
            "metadata.uid": pod["metadata"]["uid"],
            "spec.nodeName": pod["spec"].get("nodeName"),
            "spec.serviceAccountName": pod["spec"].get("serviceAccountName"),
        }.get(source)
        if "valueFrom" not in entry:
            value = _expanded(entry.get("value") or "", found, keep=True)
        value = here.environ.get(name) if value is None else value
        if value is not None:
            found[name] = value
    return found


def _expanded(text: str, variables: dict[str, str], *, keep: bool = False) -> str | None:
    """Replace ``$(NAME)`` as the kubelet does; return None if a name is unknown, unless unknown names are kept."""
    unknown = [name for name in _REFERENCE.findall(text) if name and name not in variables]
    if unknown and not keep:
        return None
    return _REFERENCE.sub(lambda match: variables.get(match[1], match[0]) if match[1] else "$", text)


def _unknown_folder(path: str, expression: str) -> Check:
    message = _(
        "The folder that is mounted at {path} is not known: its subPathExpr is {expression}.",
        path=path,
        expression=expression,
    )
    hint = _("Jobs can't use the files in it.")
    return Check(level="warning", code="LabMountUnknown", message=message, hint=hint)


def _not_of(here: Surroundings, mounts: Sequence[LabMount]) -> tuple[Path, ...]:
    """Return the mount points below these mounts at which another file system covers a part of them."""
    own = {Path(os.path.realpath(mount.lab_path)) for mount in mounts}
    points = (Path(point) for point in here.mount_points)
    return tuple(point for point in points if point not in own and any(point.is_relative_to(root) for root in own))


async def _access_modes(
    api: KubeApi, namespace: str, mounts: Sequence[LabMount]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the PVCs of the lab's mounts and the access modes of each; none if this account may not read them."""

    async def one(claim: str) -> tuple[str, ...]:
        try:
            found = await api.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}")
        except ApiError as error:
            if error.status in (403, 404):
                return ()
            raise
        status, spec = found.get("status") or {}, found.get("spec") or {}
        return tuple(status.get("accessModes") or spec.get("accessModes") or ())

    claims = list(dict.fromkeys(mount.claim for mount in mounts if mount.namespace == namespace))
    return claims, list(await asyncio.gather(*map(one, claims)))
