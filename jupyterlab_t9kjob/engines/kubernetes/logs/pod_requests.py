"""Requests that a follower makes about a container, besides those for its log."""

from __future__ import annotations

from ....logs.storage.stamped import LONGEST_STAMP, StampedLines
from ..client.api import ApiError, KubeApi, Params
from ..client.json_access import parts, text
from ..objects.pods.container_runs import ContainerRun, ContainerState, runs_of


class OtherRun(Exception):
    """The answer may be the log of another run of the container than the requested one."""


class OtherPod(OtherRun):
    """The pod has been replaced by one of the same name."""


class PodRequests:
    """Requests about one container of a pod.

    Parameters
    ----------
    api
        The connection to the cluster.
    namespace
        The pod's namespace.
    state
        The container.

    Attributes
    ----------
    path
        Path of the pod on the API server.
    """

    def __init__(self, api: KubeApi, namespace: str, state: ContainerState) -> None:
        self.path = f"/api/v1/namespaces/{namespace}/pods/{state.pod}"
        self._api = api
        self._container = state.name
        self._pod_uid = state.pod_uid

    async def newest_file(self) -> int | None:
        """Return when the newest file of the log begins, in nanoseconds since the epoch; None if it is empty."""
        query: Params = {"container": self._container, "timestamps": True, "limitBytes": LONGEST_STAMP}
        answer = await self._api.get_text(f"{self.path}/log", query)
        pieces = StampedLines().feed(answer.encode())
        return pieces[0].time if pieces else None

    async def confirm(self, run: ContainerRun) -> None:
        """Check that a run is the container's present one: logs are requested by name, whatever the run.

        Raises
        ------
        OtherRun
            If the container has started another run.
        OtherPod
            If the pod has been replaced.
        """
        try:
            pod = await self._api.get(self.path)
        except ApiError as error:
            if error.status == 403:
                return  # An account may watch pods and yet not read one; then the check is left out.
            raise
        statuses = [*parts(pod, "status", "containerStatuses"), *parts(pod, "status", "initContainerStatuses")]
        for status in statuses:
            current = runs_of(status)[0]
            same = text(status, "name") == self._container
            if same and current is not None and current.container_id == run.container_id:
                return
        raise OtherRun if text(pod, "metadata", "uid") == self._pod_uid else OtherPod

    async def has_other_run(self, run: ContainerRun) -> bool:
        """Return True if the container has started another run; False also if the pod no longer exists."""
        try:
            await self.confirm(run)
        except OtherPod:
            return False
        except OtherRun:
            return True
        except ApiError as error:
            if error.reason != "NotFound":
                raise
        return False

    async def is_gone(self) -> bool:
        """Return True if the pod no longer exists; a list without it may only mean that pods can't be listed."""
        try:
            pod = await self._api.get(self.path)
        except ApiError as error:
            if error.status == 403 or error.reason == "NotFound":
                return True
            raise
        return text(pod, "metadata", "uid") != self._pod_uid
