"""How far a job is: read from its log while it runs, and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

# Rank 1 is ahead: it is not the one that counts. As soon as both know that they were seen they hurry.
SCRIPT = """
import os, sys, time
rank = int(os.environ["RANK"])
for epoch in range(1, 201):
    if not os.path.exists(sys.argv[0] + ".seen"):
        time.sleep(0.6 - rank / 5)
    print(f"Epoch {epoch + 90 * rank}/{200 + 90 * rank}, loss={1 / epoch:.3f}", flush=True)
"""


@pytest.mark.parametrize(("engine", "mounted"), [("t9k", True), ("kubeflow", False)])
async def test_it_is_read_from_the_log(
    kube: Kube, volume: Volume, image: str, tmp_path: Path, *, engine: str, mounted: bool
) -> None:
    """From the rank files of rank 0 where the lab sees them, else from what the first pod prints."""
    seen_volumes = {} if mounted else {"volumes": ()}
    async with serving(kube, image, tmp_path, volume, **seen_volumes) as bench:
        spec = bench.training(bench.script(SCRIPT, f"{engine}.py"), replicas=2)
        job = await bench.submit(engine, spec)
        seen = await bench.until(job, lambda seen: seen.progress is not None and seen.progress.eta_seconds is not None)
        assert seen.progress is not None
        assert seen.phase == "Running"
        assert 0 < (seen.progress.fraction or 0) < 1
        (volume.path / f"{engine}.py.seen").touch()
        last = "Epoch 200 of 200"
        done = await bench.until(job, lambda seen: seen.phase == "Succeeded" and seen.progress.text == last)
        assert done.reason is not None
        assert done.reason.sentence.endswith(" · loss 0.005")
        done = await bench.until(job, lambda seen: seen.progress.eta_seconds is None)
        assert done.progress is not None
        assert (done.progress.fraction, done.progress.rate) == (1.0, None)
    async with serving(kube, image, tmp_path, volume) as bench:
        again = await bench.until(job, lambda seen: seen.phase == "Succeeded")
        assert again.progress == done.progress
