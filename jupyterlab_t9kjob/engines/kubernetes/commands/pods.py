"""Pods of a job in which commands can run, and the permission for that."""

from __future__ import annotations

import time
from typing import Final

from ....core.checks import Capability
from ....core.translation import Text, _
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.json_access import text
from ..jobs.snapshot import JobSnapshot
from ..objects.kinds import ReplicaView

PERMISSION_SECONDS: Final = 30.0
"""Time for which the answer about the permission is used."""
NOT_RUNNING: Final = _("The job has no running pod.")


class ExecPermissions:
    """The permission to run commands in pods, by namespace."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Capability]] = {}

    async def capability(self, api: KubeApi | None, snapshot: JobSnapshot) -> Capability:
        """Return whether commands can run in a job's pods, or why not.

        Parameters
        ----------
        api
            The cluster; None without a connection.
        snapshot
            The job's state.
        """
        if api is None or not running(snapshot):
            return Capability(supported=False, reason=NOT_RUNNING)
        namespace = snapshot.job.namespace
        asked_at, known = self._known.get(namespace, (0.0, None))
        if known is None or time.monotonic() - asked_at > PERMISSION_SECONDS:
            known = await _permission(api, namespace)
            self._known[namespace] = time.monotonic(), known
        return known


async def _permission(api: KubeApi, namespace: str) -> Capability:
    """Return whether the account may start commands in pods: ``get``, and from Kubernetes 1.35 on ``create``."""
    try:
        for verb in ("get", "create"):
            if not await api.may(verb, "", "pods", namespace, "exec"):
                reason = _(
                    "You don't have permission to run commands in pods of namespace {namespace} ({rule}).",
                    namespace=namespace,
                    rule=f"{verb} pods/exec",
                )
                return Capability(supported=False, reason=reason)
    except (ApiError, Unreachable) as error:
        return Capability(supported=False, reason=Text.verbatim(str(error)))
    return Capability(supported=True)


def running(snapshot: JobSnapshot) -> list[tuple[ReplicaView, str]]:
    """Return the replicas whose pods run, each with the name of its training container."""
    found = []
    for replica in snapshot.replicas:
        pod = replica.pod
        if pod is not None and replica.pod_name and text(pod, "status", "phase") == "Running":
            container = replica.container or _first_container(pod)
            if container:
                found.append((replica, container))
    return found


def _first_container(pod: Json) -> str | None:
    containers = pod.get("spec", {}).get("containers") or [{}]
    name = containers[0].get("name")
    return name if isinstance(name, str) else None
