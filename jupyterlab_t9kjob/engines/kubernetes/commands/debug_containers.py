"""Debug containers: ephemeral containers that see the processes of a job's container, for taking its stacks.

The administrator names their image (trait `kubernetes_debug_image`). A debug container can have the capability
SYS_PTRACE, which the job's container may lack. Kubernetes can't remove an ephemeral container, so one that runs is used
again; it ends after `LIFE_SECONDS`, or with the job's container, whose process namespace it shares.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ....core.translation import Text, _
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.exec.remote_command import Target
from ..client.json_access import part, parts, text

PREFIX: Final = "t9kjob-debug-"
LIFE_SECONDS: Final = 3600
MOST_CONTAINERS: Final = 20
"""Debug containers that a pod gets during its life."""
START_SECONDS: Final = 90.0
POLL_SECONDS: Final = 0.5
_PROFILES: Final = ("seccompProfile", "appArmorProfile", "seLinuxOptions")
_STARTING: Final = ("", "ContainerCreating", "PodInitializing")
"""Reasons for which a container waits that pass by themselves."""


class NoDebugContainer(Exception):
    """No debug container runs.

    Parameters
    ----------
    message
        Sentence that says why.
    """

    def __init__(self, message: Text) -> None:
        super().__init__(message)
        self.message = message


async def debug_container(api: KubeApi, target: Target, image: str, *, must_trace: bool) -> Target:
    """Return a debug container that runs beside a container of a job. It is added to the pod if there is none.

    Parameters
    ----------
    api
        The cluster.
    target
        The job's container.
    image
        The debug container's image. It has Python and ``sleep``.
    must_trace
        True if a container without the capability SYS_PTRACE is of no use.

    Raises
    ------
    NoDebugContainer
        If the cluster refuses it, or it does not start.
    """
    path = f"/api/v1/namespaces/{target.namespace}/pods/{target.pod}"
    try:
        pod = await api.get(path)
        name = _usable(pod, target, image, must_trace=must_trace)
        if name is None:
            if not await api.may("patch", "", "pods", target.namespace, "ephemeralcontainers"):
                raise NoDebugContainer(
                    _(
                        "You don't have permission to add a debug container to pods of namespace {namespace} ({rule}).",
                        namespace=target.namespace,
                        rule="patch pods/ephemeralcontainers",
                    )
                )
            name = await _added(api, path, pod, target, image, must_trace=must_trace)
        await _until_it_runs(api, path, name)
    except ApiError as error:
        raise NoDebugContainer(
            _("No debug container could be added to the pod: {words}", words=error.message)
        ) from error
    except Unreachable as error:
        raise NoDebugContainer(error.message) from error
    return replace(target, container=name)


def _usable(pod: Json, target: Target, image: str, *, must_trace: bool) -> str | None:
    """Return the name of a debug container that has not ended; None if there is none."""
    ended = {text(status, "name") for status in _statuses(pod) if part(status, "state", "terminated")}
    for container in reversed(parts(pod, "spec", "ephemeralContainers")):
        name = text(container, "name") or ""
        if not name.startswith(PREFIX) or name in ended or text(container, "image") != image:
            continue
        if text(container, "targetContainerName") == target.container and (_traces(container) or not must_trace):
            return name
    return None


def _traces(container: Json) -> bool:
    return "SYS_PTRACE" in (part(container, "securityContext", "capabilities").get("add") or [])


def _statuses(pod: Json) -> Sequence[Json]:
    return parts(pod, "status", "ephemeralContainerStatuses")


async def _added(api: KubeApi, path: str, pod: Json, target: Target, image: str, *, must_trace: bool) -> str:
    """Add a debug container to a pod and return its name.

    Linux gives capabilities to root only, so the container runs as root. The restricted and the baseline Pod Security
    Standard refuse the capability; then a container with the job's own security context may still help.
    """
    there = parts(pod, "spec", "ephemeralContainers")
    if len(there) >= MOST_CONTAINERS:
        raise NoDebugContainer(_("The pod has {n} debug containers already.", n=len(there)))
    names = {text(container, "name") for container in there}
    name = next(name for number in range(1, MOST_CONTAINERS + 2) if (name := f"{PREFIX}{number}") not in names)
    own = next((each for each in parts(pod, "spec", "containers") if text(each, "name") == target.container), {})
    context = part(own, "securityContext")
    profiles: Json = {key: context[key] for key in _PROFILES if key in context}
    tracing: Json = {**profiles, "runAsUser": 0, "runAsNonRoot": False, "capabilities": {"add": ["SYS_PTRACE"]}}
    container: Json = {
        "name": name,
        "image": image,
        "command": ["sleep", str(LIFE_SECONDS)],
        "targetContainerName": target.container,
    }

    async def add(security: Json) -> None:
        added = {**container, "securityContext": security} if security else container
        await api.patch(f"{path}/ephemeralcontainers", {"spec": {"ephemeralContainers": [*there, added]}})

    try:
        await add(tracing)
    except ApiError as error:
        if error.status != 403:
            raise
        if must_trace:
            raise NoDebugContainer(
                _(
                    "The cluster refused a debug container with the capability SYS_PTRACE: {words}",
                    words=error.message,
                )
            ) from error
        await add(context)
    return name


async def _until_it_runs(api: KubeApi, path: str, name: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        state = next((part(each, "state") for each in _statuses(await api.get(path)) if text(each, "name") == name), {})
        waiting, ended = part(state, "waiting"), part(state, "terminated")
        if "running" in state:
            return
        if ended or (text(waiting, "reason") or "") not in _STARTING:
            about = ended or waiting
            words = [text(about, "reason"), text(about, "message")]
            raise NoDebugContainer(
                _("The debug container does not start: {words}", words=": ".join(filter(None, words)))
            )
        await asyncio.sleep(POLL_SECONDS)
    raise NoDebugContainer(_("The debug container did not start in time."))
