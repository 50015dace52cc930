"""Debug containers for stacks, against an API server that a test plays: refusals, failures, and repeated use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.api import Json, KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError
from jupyterlab_t9kjob.engines.kubernetes.client.exec.remote_command import Target
from jupyterlab_t9kjob.engines.kubernetes.commands import debug_containers
from jupyterlab_t9kjob.engines.kubernetes.commands.debug_containers import NoDebugContainer, debug_container

pytestmark = pytest.mark.asyncio
TARGET = Target("lab", "train-0", "pytorch")
RUNNING: Json = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
POD_SECURITY = 'violates PodSecurity "baseline:latest": non-default capabilities'


class Pods:
    """An API server with one pod, whose debug containers reach a state at once."""

    def __init__(self, state: Json, *, may: bool = True, refuses_tracing: bool = False) -> None:
        self.state, self.permission, self.refuses_tracing = state, may, refuses_tracing
        own = {"name": "pytorch", "securityContext": {"runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}}
        self.containers: list[Json] = []
        self.pod: Json = {"spec": {"containers": [{"name": "istio-proxy"}, own]}, "status": {}}

    async def get(self, path: str) -> Json:
        assert path == "/api/v1/namespaces/lab/pods/train-0"
        return self.pod

    async def may(self, verb: str, group: str, resource: str, namespace: str, subresource: str) -> bool:
        assert (verb, group, resource, namespace, subresource) == ("patch", "", "pods", "lab", "ephemeralcontainers")
        return self.permission

    async def patch(self, path: str, body: Json) -> Json:
        assert path == "/api/v1/namespaces/lab/pods/train-0/ephemeralcontainers"
        containers = body["spec"]["ephemeralContainers"]
        assert containers[:-1] == self.containers
        if self.refuses_tracing and "capabilities" in containers[-1].get("securityContext", {}):
            raise ApiError(403, {"reason": "Forbidden", "message": POD_SECURITY})
        self.containers = containers
        self.pod["spec"]["ephemeralContainers"] = containers
        statuses = [{"name": each["name"], "state": self.state} for each in containers]
        self.pod["status"]["ephemeralContainerStatuses"] = statuses
        return self.pod


async def added(pods: Pods, *, must_trace: bool = True, image: str = "tools:1") -> str:
    api = cast("KubeApi", cast("Any", pods))
    return (await debug_container(api, TARGET, image, must_trace=must_trace)).container


async def test_one_is_added_and_used_again_until_it_has_ended() -> None:
    pods = Pods(RUNNING)
    assert await added(pods) == await added(pods) == "t9kjob-debug-1"
    assert pods.containers == [
        {
            "name": "t9kjob-debug-1",
            "image": "tools:1",
            "command": ["sleep", "3600"],
            "targetContainerName": "pytorch",
            "securityContext": {
                "seccompProfile": {"type": "RuntimeDefault"},
                "runAsUser": 0,
                "runAsNonRoot": False,
                "capabilities": {"add": ["SYS_PTRACE"]},
            },
        }
    ]
    assert await added(pods, image="tools:2") == "t9kjob-debug-2"
    for status in pods.pod["status"]["ephemeralContainerStatuses"]:
        status["state"] = {"terminated": {"exitCode": 0}}
    assert await added(pods) == "t9kjob-debug-3"


async def test_pod_security_refuses_the_capability() -> None:
    pods = Pods(RUNNING, refuses_tracing=True)
    with pytest.raises(NoDebugContainer, match="container with the capability SYS_PTRACE: violates PodSecurity"):
        await added(pods)
    # Without py-spy in the job's container, one with the container's own security context is enough.
    assert await added(pods, must_trace=False) == await added(pods, must_trace=False) == "t9kjob-debug-1"
    assert pods.containers[0]["securityContext"]["runAsUser"] == 1000


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        (lambda: Pods(RUNNING, may=False), r"permission to add .* \(patch pods/ephemeralcontainers\)"),
        (
            lambda: Pods({"waiting": {"reason": "ErrImagePull", "message": "no such host"}}),
            "does not start: ErrImagePull: no such host",
        ),
        (lambda: Pods({"terminated": {"reason": "Error", "exitCode": 1}}), "does not start: Error"),
        (lambda: Pods({"waiting": {"reason": "ContainerCreating"}}), "did not start in time"),
    ],
)
async def test_sentences_say_why_there_is_none(
    pods: Callable[[], Pods], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_containers, "START_SECONDS", 0.1)
    monkeypatch.setattr(debug_containers, "POLL_SECONDS", 0.01)
    with pytest.raises(NoDebugContainer, match=words):
        await added(pods())


async def test_a_pod_gets_no_more_than_some() -> None:
    pods = Pods({"terminated": {"reason": "Completed"}})
    for _number in range(debug_containers.MOST_CONTAINERS):
        with pytest.raises(NoDebugContainer, match="does not start: Completed"):
            await added(pods)
    with pytest.raises(NoDebugContainer, match="20 debug containers already"):
        await added(pods)
