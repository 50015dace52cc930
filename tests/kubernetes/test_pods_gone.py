"""Pods that end and go faster than their job is looked at."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import JobSummary
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

PODS = "/api/v1/namespaces/lab/pods"
BEGAN, ENDED = "2026-01-01T00:00:10Z", "2026-01-01T00:05:00Z"
# Asked for when it ended, with 30 seconds; and again by the kubelet, when it had ended.
ASKED = {"deletionTimestamp": "2026-01-01T00:05:30Z", "deletionGracePeriodSeconds": 30}
REPEATED = {"deletionTimestamp": "2026-01-01T00:05:02Z", "deletionGracePeriodSeconds": 0}


def pod(*, state: dict[str, Any], phase: str = "Running", **metadata: Any) -> dict[str, Any]:
    labels = {"training.kubeflow.org/replica-type": "master", "training.kubeflow.org/replica-index": "0"}
    owner = {"kind": "PyTorchJob", "name": "one", "uid": "one", "controller": True, "apiVersion": "kubeflow.org/v1"}
    return {
        "metadata": {
            **{"name": "one-master-0", "uid": "pod", "namespace": "lab", "labels": labels},
            **{"ownerReferences": [owner], "creationTimestamp": BEGAN, "resourceVersion": "1"},
            **metadata,
        },
        "spec": {"nodeName": "node-1", "restartPolicy": "Never", "containers": [{"name": "pytorch", "image": "i"}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "pytorch", "restartCount": 0, "state": state}]},
    }


@pytest.mark.parametrize(
    ("deletions", "sentence"),
    [
        ([ASKED, REPEATED], "The job ended because its pod was deleted"),
        ([{}], "The command ended with exit code 1"),
    ],
    ids=["deleted", "failed"],
)
async def test_their_last_state_is_looked_at(deletions: list[dict[str, Any]], sentence: str, tmp_path: Path) -> None:
    failed = {"type": "Failed", "status": "True", "reason": "PyTorchJobFailed", "lastTransitionTime": ENDED}
    failed["message"] = "PyTorchJob one is failed because 1 Master replica(s) failed."
    over = training("one") | {"status": {"conditions": [failed], "startTime": BEGAN, "completionTime": ENDED}}
    terminated = {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": BEGAN, "finishedAt": ENDED}}
    states = [pod(state=terminated, phase="Failed", **deletion) for deletion in deletions]
    changes = [*(("MODIFIED", state) for state in states), ("DELETED", states[-1])]
    async with FakeCluster() as server:
        server.items[JOBS] = [training("one")]
        server.items[PODS] = [pod(state={"running": {"startedAt": BEGAN}})]
        async with kubeflow(server, tmp_path) as engine:
            ended = asyncio.Event()

            def hear(_ident: str, summary: JobSummary | None) -> None:
                if summary is not None and summary.phase == "Failed" and summary.replicas_running == 0:
                    ended.set()

            engine.listen(hear)
            await server.watched(3)
            await asyncio.gather(
                *(server.tell(PODS, kind, state) for kind, state in changes), server.tell(JOBS, "MODIFIED", over)
            )
            await asyncio.wait_for(ended.wait(), PATIENCE)
            reason = (await engine.job("one")).reason
            assert reason is not None
            assert reason.sentence == sentence
