"""The status text of pods is what the cluster itself prints of them, at every moment of their lives."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.engines.kubernetes.objects.pods.pod import status_text
from tests.kubernetes.harness import OUT_OF_MEMORY, Kube

pytestmark = pytest.mark.cluster

FOREVER = ["sleep", "3600"]
FAILS = ["sh", "-c", "exit 3"]


def pod(*containers: dict[str, Any], init: list[dict[str, Any]] | None = None, **spec: Any) -> dict[str, Any]:
    named = [{"name": f"c{n}", **one} for n, one in enumerate(containers)]
    before = [{"name": f"i{n}", **one} for n, one in enumerate(init or [])]
    return {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": named, **spec} | (
        {"initContainers": before} if before else {}
    )


def test_as_kubectl_prints_it(kube: Kube, image: str) -> None:
    def run(*command: str, **more: Any) -> dict[str, Any]:
        return {"image": image, "command": list(command), **more}

    missing, deaf = "test.local/no-such-image:1", "trap '' TERM; while true; do sleep 1; done"
    stays = run(*FOREVER, restartPolicy="Always")
    # Pods that wait for a ConfigMap until everybody has seen that they do.
    held = {"volumes": [{"name": "late", "configMap": {"name": "late"}}]}
    loops = {"restartPolicy": "OnFailure"}
    wanted: dict[str, tuple[dict[str, Any], set[str]]] = {
        "runs": (pod(run(*FOREVER), **held), {"ContainerCreating", "Running"}),
        "completes": (pod(run("true")), {"Completed"}),
        "fails": (pod(run(*FAILS)), {"Error"}),
        "loops": (pod(run(*FAILS), **loops), {"Error", "CrashLoopBackOff"}),
        "no-image": (pod({"image": missing}), {"ErrImagePull", "ImagePullBackOff"}),
        "bad-image": (pod({"image": "Not:An:Image"}), {"InvalidImageName"}),
        "no-program": (pod(run("/no/such/program")), {"StartError"}),
        "no-secret": (
            pod(run("true", envFrom=[{"secretRef": {"name": "no-such-secret"}}])),
            {"CreateContainerConfigError"},
        ),
        "no-node": (pod(run("true"), nodeSelector={"no-such": "label"}), {"Pending"}),
        "gated": (pod(run("true"), schedulingGates=[{"name": "example.org/gate"}]), {"SchedulingGated"}),
        "of-memory": (
            pod(run("sh", "-c", OUT_OF_MEMORY, resources={"limits": {"memory": "20Mi"}}), **loops),
            {"OOMKilled"},
        ),
        "init": (
            pod(run("true"), init=[run("true"), run("sleep", "10")], **held),
            {"Init:0/2", "Init:1/2", "Completed"},
        ),
        "init-fails": (pod(run("true"), init=[run(*FAILS)]), {"Init:Error"}),
        "init-loops": (pod(run("true"), init=[run(*FAILS)], **loops), {"Init:Error", "Init:CrashLoopBackOff"}),
        "init-image": (pod(run("true"), init=[{"image": missing}]), {"Init:ErrImagePull", "Init:ImagePullBackOff"}),
        "sidecar": (pod(run("sleep", "10"), init=[stays], **held), {"Init:0/1", "Running", "Completed"}),
        "half-done": (pod(run("true"), run(*FOREVER)), {"NotReady"}),
        "half-failed": (pod(run(*FAILS), run(*FOREVER)), {"Error"}),
        "late": (pod(run(*FOREVER)), {"Running", "Error"}),
        "deaf": (pod(run("sh", "-c", deaf), terminationGracePeriodSeconds=2), {"Running", "Terminating"}),
    }
    version = kube.version("pods")
    for name, (spec, _) in wanted.items():
        kube.create("pods", {"metadata": {"name": name}, "spec": spec})
    seen: dict[str, set[str]] = {name: set() for name in wanted}
    waiting = {("runs", "ContainerCreating"), ("init", "Init:0/2"), ("sidecar", "Init:0/1")}
    for cells, found in kube.rows("pods", version, seconds=200):
        name = cells[0]
        assert status_text(found) == cells[2], found
        seen[name].add(cells[2])
        if (name, cells[2]) in waiting:
            waiting.remove((name, cells[2]))
            if not waiting:
                kube.create("configmaps", {"metadata": {"name": "late"}})
        if name == "deaf" and seen[name] >= {"Running"} and cells[2] != "Terminating":
            kube.delete("pods", name)
        if name == "late" and cells[2] == "Running" and "activeDeadlineSeconds" not in found["spec"]:
            # not from the beginning: it counts from before the container starts
            kube.patch("pods", name, {"spec": {"activeDeadlineSeconds": 1}})
        if all(seen[name] >= texts for name, (_, texts) in wanted.items()):
            break
    lacking = {name: texts - seen[name] for name, (_, texts) in wanted.items() if texts - seen[name]}
    assert not lacking, f"never seen: {lacking}; seen: {seen}"
