"""Use of resources by jobs in the cluster: samples of the metrics API, kept with the lab's record."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.resources import SampleSpan
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.resources import ResourceService
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

ALL = SampleSpan(None, None, 100)
SCRIPT = """
import os, sys, time
while not os.path.exists(sys.argv[0] + ".enough"):
    begun = time.process_time()
    while time.process_time() < begun + 0.05:
        sum(range(10_000))
    time.sleep(0.1)
"""


async def test_samples_of_the_metrics_api_outlive_the_job(
    kube: Kube, volume: Volume, image: str, tmp_path: Path
) -> None:
    async with serving(kube, image, tmp_path, volume) as bench:
        job = await bench.submit("kubeflow", bench.training(bench.script(SCRIPT, "busy.py"), replicas=2))
        await bench.until(job, lambda seen: seen.phase == "Running")
        service = ResourceService(Engines({"kubeflow": bench.engines["kubeflow"]}))
        view = await service.view(job.id, ALL, "replica")
        while not any(row.metric == "cpu" and len(row.curves) == 2 for row in view.rows):
            view = await service.view(job.id, ALL, "replica", view.version)
            # metrics-server of a busy machine answers 503 for a while.
            problem = view.unavailable or view.trouble
            assert problem is None or problem.code == "NoMetricsApi"
        rows = {row.metric: row for row in view.rows}
        assert max(value or 0 for curve in rows["cpu"].curves for value in curve.high) > 0.05
        assert all(value is None or value > 1e6 for curve in rows["memory"].curves for value in curve.mean)
        assert rows["gpu_use"].missing is not None and view.source == "metrics_api"
        (volume.path / "busy.py.enough").touch()
        await bench.until(job, lambda seen: seen.phase == "Succeeded")
    async with serving(kube, image, tmp_path, volume) as bench:
        await bench.until(job, lambda seen: seen.phase == "Succeeded")
        kept = await ResourceService(Engines({"kubeflow": bench.engines["kubeflow"]})).view(job.id, ALL, "replica")
        assert {"cpu", "memory"} <= {row.metric for row in kept.rows if row.curves} and kept.unavailable is None
