"""Logs of pods on a real cluster: every byte once, in order, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubernetes.harness import Kube
from tests.kubernetes.logkeeper import keeping, pod

pytestmark = [pytest.mark.cluster]

OUT = "worker-0.1.container.out"
LONG = b"x" * 300_000 + b"\n"
ODD = (
    "a\u2028b\x85c\n".encode(),
    b"\xff\xfe invalid \x00\n",
    b"\n",
    b'{"loss": 0.1}\n',
    b"2026-01-01T00:00:00.000000000Z looks like a timestamp\n",
    LONG,
    b"10%\r50%\r100%\n",
    b"no newline at the end",
)


async def test_bytes_are_as_they_were_written(kube: Kube, image: str, tmp_path: Path):
    words = repr(ODD).replace(repr(LONG), f"b'x' * {len(LONG) - 1} + b'\\n'")
    script = f"import sys\nfor piece in {words}: sys.stdout.buffer.write(piece); sys.stdout.buffer.flush()"
    kube.create("pods", pod("odd", image, script))
    async with keeping(kube.namespace, "odd", tmp_path / "logs") as keeper:
        streams = await keeper.complete(OUT)
        assert await keeper.bytes(OUT) == b"".join(ODD)
    assert streams[OUT].missing == []
    assert streams[OUT].first_time is not None


async def test_a_counter_is_followed(kube: Kube, image: str, tmp_path: Path):
    script = "import time\nfor n in range(300): print(n); time.sleep(0.02)"
    kube.create("pods", pod("count", image, script))
    async with keeping(kube.namespace, "count", tmp_path / "logs") as keeper:
        await keeper.until(lambda streams: OUT in streams and 0 < streams[OUT].size < 500)
        await keeper.complete(OUT)
        assert await keeper.bytes(OUT) == b"".join(b"%d\n" % n for n in range(300))
