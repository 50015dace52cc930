"""A job's deadline ends it, also where its controller would oversleep it (kubeflow/trainer#3358)."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.spec import RunPolicy
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio]


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_a_deadline(
    engine: str, kube: Kube, image: str, controller: object, kubeflow: None, tmp_path: Path
) -> None:
    async with serving(kube, image, tmp_path) as bench:
        policy = RunPolicy(active_deadline_seconds=15)
        job = await bench.submit(engine, bench.spec("exec sleep 600", run_policy=policy))
        ended = await bench.ended(job)
        assert ended.reason is not None
        assert (ended.phase, ended.reason.code, ended.ended_by) == ("Failed", "DeadlineExceeded", "deadline")
        assert ended.reason.sentence == "Ended at its deadline of 15 s"
