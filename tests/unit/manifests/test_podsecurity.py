"""Fields of a pod that violate the restricted Pod Security Standard.

The messages of a real API server for the same pods are in ``tests/kubernetes/test_pod_security.py``.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from jupyterlab_t9kjob.core.checks import Check
from jupyterlab_t9kjob.core.manifests import problems
from jupyterlab_t9kjob.core.manifests.kinds.pod_security import violations
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Runtime, Security

FITS: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {"name": "a", "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}
    ],
}
POD = "/securityContext"
CONTAINER = "/containers/0/securityContext"


def changed(pointer: str, value: Any) -> dict[str, Any]:
    """Return `FITS` with another value at a pointer; None takes the field away."""
    pod = deepcopy(FITS)
    *path, last = [int(part) if part.isdecimal() else part for part in pointer.strip("/").split("/")]
    here: Any = pod
    for part in path:
        here = here[part]
    here[last] = value
    if value is None:
        del here[last]
    return pod


@pytest.mark.parametrize(
    ("pointer", "value", "field"),
    [
        (f"{POD}/runAsNonRoot", None, f"{POD}/runAsNonRoot"),
        (f"{POD}/runAsUser", 0, f"{POD}/runAsUser"),
        (f"{POD}/seccompProfile", None, f"{POD}/seccompProfile"),
        (f"{POD}/seccompProfile", {"type": "Unconfined"}, f"{POD}/seccompProfile"),
        (f"{CONTAINER}/seccompProfile", {"type": "Unconfined"}, f"{POD}/seccompProfile"),
        (f"{CONTAINER}/runAsNonRoot", False, f"{POD}/runAsNonRoot"),
        (f"{CONTAINER}/runAsUser", 0, f"{CONTAINER}/runAsUser"),
        (f"{CONTAINER}/privileged", True, f"{CONTAINER}/privileged"),
        (f"{CONTAINER}/allowPrivilegeEscalation", None, f"{CONTAINER}/allowPrivilegeEscalation"),
        (f"{CONTAINER}/capabilities", None, f"{CONTAINER}/capabilities/drop"),
        (f"{CONTAINER}/capabilities", {"drop": ["NET_RAW"]}, f"{CONTAINER}/capabilities/drop"),
        (f"{CONTAINER}/capabilities/add", ["SYS_PTRACE"], f"{CONTAINER}/capabilities/add"),
        ("/hostNetwork", True, "/hostNetwork"),
        ("/volumes", [{"name": "x", "hostPath": {"path": "/"}}], "/volumes/0/hostPath"),
        ("/initContainers", [{"name": "b"}], "/initContainers/0/securityContext/allowPrivilegeEscalation"),
        ("/containers/0/ports", [{"hostPort": 80}], "/containers/0/ports"),
    ],
)
def test_what_violates_it(pointer: str, value: Any, field: str) -> None:
    assert field in [found for found, _demand in violations(changed(pointer, value))]


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        (f"{POD}/runAsUser", 1000),
        (f"{POD}/seccompProfile", {"type": "Localhost", "localhostProfile": "x.json"}),
        (f"{CONTAINER}/capabilities/add", ["NET_BIND_SERVICE"]),
        ("/volumes", [{"name": "x", "persistentVolumeClaim": {"claimName": "y"}}]),
        ("/hostNetwork", False),
    ],
)
def test_what_fits(pointer: str, value: Any) -> None:
    assert list(violations(changed(pointer, value))) == []


@pytest.mark.parametrize("pod", [None, [], {"containers": 3}, {"securityContext": "x", "containers": [None, {}]}])
def test_any_shape_is_read(pod: Any) -> None:
    list(violations(pod))


@pytest.mark.parametrize(
    ("security", "codes"),
    [
        (Security(restricted=True), [("warning", "UserOfImage")]),
        (Security(restricted=True, uid=0), [("error", "RunsAsRoot")]),
        (Security(restricted=True, uid=1000), []),
        (Security(uid=0), []),
    ],
)
@pytest.mark.parametrize("kind", ["t9k", "kubeflow"])
def test_the_user_of_restricted_pods(kind: Any, security: Security, codes: list[tuple[str, str]]) -> None:
    spec = JobSpec(
        name="a",
        entrypoint=Entrypoint(kind="script", value="/a.py"),
        runtime=Runtime(image="x:1"),
        security=security,
    )

    def about(check: Check) -> bool:
        return (check.field or "").startswith("/spec/security")

    assert [(check.level, check.code) for check in problems(spec, kind) if about(check)] == codes
