"""Phases, replicas and attempts of real jobs of each kind through restarts, pauses and ends."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests.names import REMINDED, STOPPED
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import State
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from tests.kubernetes.following import Following
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio]

# Ends with the code that somebody writes into the file, at once when it is asked to.
SCRIPT = "trap 'exit 143' TERM; until [ -s /tmp/code ]; do sleep 0.2; done; exit $(cat /tmp/code)"


def template(image: str, script: str = SCRIPT) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "pytorch", "image": image, "command": ["sh", "-c", script]}]}}


def pytorchjob(kube: Kube, name: str, image: str, workers: int = 1, policy: str = "Never", **run: Any) -> None:
    role = {"restartPolicy": policy, "template": template(image)}
    roles = {"Master": {**role, "replicas": 1}, **({"Worker": {**role, "replicas": workers}} if workers else {})}
    kube.apply({
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": roles, "runPolicy": {"backoffLimit": 3, "cleanPodPolicy": "Running", **run}},
    })  # fmt: skip


def trainingjob(kube: Kube, name: str, image: str, policy: str = "Never") -> None:
    groups = [
        {"type": kind, "replicas": count, "restartPolicy": policy, "template": template(image)}
        for kind, count in (("node", 2), ("ps", 1))
    ]
    resume = [{"type": "node", "command": ["sh", "-c", SCRIPT]}]
    kube.apply({
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": name},
        "spec": {
            "replicaSpecs": groups,
            "runPolicy": {"backoffLimit": 3, "cleanUpPolicy": "Unfinished"},
            "runMode": {"pause": {"enabled": False, "resumeSpecs": resume}},
        },
    })  # fmt: skip


async def end(kube: Kube, seen: Following, replica: int, code: int) -> None:
    """Let a replica's container end with a code."""
    pod = seen.places[replica].pod_name or ""
    await asyncio.to_thread(kube.write, pod, "/tmp/code", str(code))


async def change(kube: Kube, seen: Following, name: str, *, on: bool, stop: bool = False) -> None:
    patch = seen.kind.pause({}, on=on)
    if stop:
        patch["metadata"] = {"annotations": {STOPPED: "now"}}
    await asyncio.to_thread(kube.patch, seen.kind.plural, name, patch)


def all_running(seen: Following) -> bool:
    return all(one.ready for one in seen.replicas)


def shown(seen: Following) -> list[list[tuple[int, str | None, int | None]]]:
    """Return the number, the end in words and the restart of each replica's attempts."""
    return [[(one.number, one.ended, one.restart) for one in replica.attempts] for replica in seen.replicas]


async def until_shown(seen: Following, wanted: list[Any], replica: int | None = None) -> None:
    """Wait until the attempts are shown so: a pod's news and its job's come on two ways, one before the other."""
    await seen.until(lambda _: (shown(seen) if replica is None else shown(seen)[replica]) == wanted)


async def until_ended_as(seen: Following, *words: str) -> None:
    """Wait until this is said of the end of each replica's last attempt."""
    await seen.until(lambda _: [attempts[-1][1] for attempts in shown(seen)] == [*words])


def ended_well(state: State) -> bool:
    return state.phase == "Succeeded" and state.started_at is not None and state.ended_at is not None


async def test_pytorchjob(kube: Kube, image: str, kubeflow: None) -> None:
    async with Following(Kubeflow(), kube.namespace, "life") as seen:
        await asyncio.to_thread(pytorchjob, kube, "life", image)
        await seen.until(lambda state: state.phase == "Running")
        assert seen.phases == ["Pending", "Running"]
        await seen.until(lambda _: all_running(seen))
        assert [(one.name, one.status) for one in seen.replicas] == [("master-0", "Running"), ("worker-0", "Running")]

        await change(kube, seen, "life", on=True)
        await seen.until(lambda state: state.phase == "Paused" and not any(one.pod for one in seen.places))
        await until_shown(seen, [[(1, "Ended for a pause", None)]] * 2)

        await change(kube, seen, "life", on=False)
        await seen.until(lambda state: state.phase == "Running")
        assert seen.phases[-2:] == ["Resuming", "Running"]
        await until_shown(seen, [[(1, "Ended for a pause", None), (2, None, None)]] * 2)

        await end(kube, seen, 0, 0)
        state = await seen.until(lambda state: ended_well(state) and not any(one.ready for one in seen.replicas))
        assert state.ended_at > state.started_at
        await until_ended_as(seen, "Completed", "Ended with the first replica")


async def test_pytorchjob_restarts_in_place(kube: Kube, image: str, kubeflow: None) -> None:
    async with Following(Kubeflow(), kube.namespace, "again") as seen:
        await asyncio.to_thread(pytorchjob, kube, "again", image, 0, "OnFailure")
        await seen.until(lambda state: state.phase == "Running")
        pod = seen.places[0].pod_uid
        await end(kube, seen, 0, 3)
        state = await seen.until(lambda state: state.restarts == 1 and all_running(seen))
        assert (state.phase, seen.places[0].pod_uid) == ("Running", pod)
        await until_shown(seen, [[(1, "Error (3)", None), (2, None, 1)]])
        await change(kube, seen, "again", on=True, stop=True)
        state = await seen.until(lambda state: state.cause == "Stopped" and seen.places[0].pod is None)
        assert state.phase == "Failed"
        assert state.ended_at is not None
        await until_shown(seen, [[(1, "Error (3)", None), (2, "Stopped", 1)]])
        await change(kube, seen, "again", on=False)
        await seen.until(lambda state: state.phase == "Running" and seen.replicas[0].attempts[-1].number == 3)


async def test_pytorchjob_restarts_by_new_pods(kube: Kube, image: str, kubeflow: None) -> None:
    async with Following(Kubeflow(), kube.namespace, "anew") as seen:
        await asyncio.to_thread(pytorchjob, kube, "anew", image, 1, "ExitCode")
        await seen.until(lambda state: state.phase == "Running")
        pod = seen.places[1].pod_uid
        await end(kube, seen, 1, 138)
        await seen.until(lambda _: seen.places[1].pod_uid not in (pod, None) and all_running(seen))
        await until_shown(seen, [(1, "Asked to be restarted (138)", None), (2, None, 1)], 1)
        await end(kube, seen, 1, 1)
        state = await seen.until(lambda state: state.phase == "Failed")
        assert state.ended_at is not None
        await seen.until(lambda _: shown(seen)[1][-1] == (2, "Error (1)", 1))
        assert seen.phases == ["Pending", "Running", "Failed"]
        await until_shown(seen, [(1, "Ended with the job", None)], 0)


async def test_pytorchjob_that_uses_up_its_time(kube: Kube, image: str, kubeflow: None) -> None:
    async with Following(Kubeflow(), kube.namespace, "late") as seen:
        await asyncio.to_thread(pytorchjob, kube, "late", image, 0, activeDeadlineSeconds=20)
        await seen.until(lambda state: state.started_at is not None)
        due = seen.kind.remind_at(seen.job)
        assert due is not None
        await asyncio.sleep(due - time.time())
        note = {"metadata": {"annotations": {REMINDED: str(due)}}}
        await asyncio.to_thread(kube.patch, "pytorchjobs", "late", note)
        state = await seen.until(lambda state: state.phase == "Failed" and not seen.replicas[0].ready)
        assert state.cause == "DeadlineExceeded"
        await until_shown(seen, [[(1, "Ended at the deadline", None)]])


async def test_pytorchtrainingjob(kube: Kube, image: str, controller: object) -> None:
    async with Following(T9k(), kube.namespace, "life") as seen:
        await asyncio.to_thread(trainingjob, kube, "life", image)
        await seen.until(lambda state: state.phase == "Running")
        assert seen.phases == ["Pending", "Running"]
        await seen.until(lambda _: all_running(seen))
        assert [one.name for one in seen.replicas] == ["node-0", "node-1", "ps-0"]

        await change(kube, seen, "life", on=True)
        await seen.until(lambda state: state.phase == "Paused" and not any(one.pod for one in seen.places))
        await until_shown(seen, [[(1, "Ended for a pause", None)]] * 3)
        job = await asyncio.to_thread(kube.find, "pytorchtrainingjobs", "life")
        assert job["spec"]["runMode"]["pause"]["resumeSpecs"][0]["type"] == "node"

        await change(kube, seen, "life", on=False)
        await seen.until(lambda state: state.phase == "Running" and all_running(seen))
        assert [one.attempts[-1].number for one in seen.replicas] == [2, 2, 2]

        await end(kube, seen, 0, 0)
        await seen.until(lambda state: ended_well(state) and not any(one.ready for one in seen.replicas))
        await until_ended_as(seen, "Completed", *["Ended with the first replica"] * 2)


async def test_pytorchtrainingjob_restarts_and_fails(kube: Kube, image: str, controller: object) -> None:
    async with Following(T9k(), kube.namespace, "anew") as seen:
        await asyncio.to_thread(trainingjob, kube, "anew", image, "ExitCode")
        await seen.until(lambda state: state.phase == "Running" and all_running(seen))
        await end(kube, seen, 2, 138)
        state = await seen.until(lambda state: state.restarts == 1 and all_running(seen))
        assert state.phase == "Running"
        await until_shown(seen, [(1, "Asked to be restarted (138)", None), (2, None, 1)], 2)
        await end(kube, seen, 0, 1)
        state = await seen.until(lambda state: state.phase == "Failed" and not any(one.ready for one in seen.replicas))
        assert state.message
        assert state.ended_at is not None
        await until_ended_as(seen, "Error (1)", *["Ended because another replica failed"] * 2)
