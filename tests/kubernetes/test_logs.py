"""Logs of pods on a real cluster: every byte once, in order, whatever happens in between."""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.logkeeper import Cable, Keeper, keeping, pod

pytestmark = [pytest.mark.cluster]

OUT = "worker-0.1.container.out"
HOLDS = """
import os, time

def hold():
    while not os.path.exists("/tmp/go"):
        time.sleep(0.05)

"""
"""Begins a script that can wait until `go`."""
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


async def go(kube: Kube, pod: str, container: str = "pytorch") -> None:
    await asyncio.to_thread(kube.write, pod, "/tmp/go", container=container)


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
    script = HOLDS + "for n in range(300): print(n); time.sleep(0.01); n == 99 and hold()"
    kube.create("pods", pod("count", image, script))
    async with keeping(kube.namespace, "count", tmp_path / "logs") as keeper:
        await keeper.until(lambda streams: OUT in streams and streams[OUT].size == 290)
        await go(kube, "count-0")
        await keeper.complete(OUT)
        assert await keeper.bytes(OUT) == b"".join(b"%d\n" % n for n in range(300))


async def test_restarts_are_attempts(kube: Kube, image: str, tmp_path: Path):
    script = f"""{HOLDS}
import sys, pathlib
lives = pathlib.Path("/count/lives")
life = len(lives.read_text()) if lives.exists() else 0
lives.write_text("x" * (life + 1))
for n in range(20): print(life, n, flush=True)
if not life: sys.exit(3)
hold()
"""
    memory = {"volumes": [{"name": "count", "emptyDir": {}}]}
    mount = {"volumeMounts": [{"name": "count", "mountPath": "/count"}]}
    kube.create("pods", pod("again", image, script, restartPolicy="OnFailure", container=mount, **memory))
    async with keeping(kube.namespace, "again", tmp_path / "logs") as keeper:
        names = [f"worker-0.{number}.container.out" for number in (1, 2)]
        # The second life waits: a node keeps the log of the life before only while one runs.
        await keeper.complete(names[0], seconds=200)
        await keeper.until(lambda streams: names[1] in streams and streams[names[1]].size > 0)
        await go(kube, "again-0")
        streams = await keeper.complete(*names, seconds=200)
        for life, name in enumerate(names):
            assert await keeper.bytes(name) == b"".join(b"%d %d\n" % (life, n) for n in range(20))
            assert streams[name].missing == []


async def test_a_new_pod_of_the_same_name_is_the_next_attempt(kube: Kube, image: str, tmp_path: Path):
    script = "import time\nfor n in range(10): print({number}, n)\ntime.sleep({seconds})"
    first = kube.create("pods", pod("anew", image, script.format(number=1, seconds=600)))
    async with keeping(kube.namespace, "anew", tmp_path / "logs") as keeper:
        await keeper.until(lambda streams: OUT in streams and streams[OUT].size == 40)
        await asyncio.to_thread(kube.delete, "pods", "anew-0")
        await asyncio.to_thread(kube.until_gone, "pods", name="anew-0")
        kube.create("pods", pod("anew", image, script.format(number=2, seconds=0)))
        streams = await keeper.complete(OUT, "worker-0.2.container.out")
        assert first["metadata"]["uid"]
        for number in (1, 2):
            name = f"worker-0.{number}.container.out"
            assert await keeper.bytes(name) == b"".join(b"%d %d\n" % (number, n) for n in range(10))
            assert streams[name].missing == []


async def test_a_log_ends_with_its_pod_although_the_watch_does_not_say_so(kube: Kube, image: str, tmp_path: Path):
    """A new pod of the same name is there: the follower itself finds that its own pod is gone."""
    script = "import time\nfor n in range(10): print(n)\ntime.sleep(600)"
    kube.create("pods", pod("silent", image, script))
    async with keeping(kube.namespace, "silent", tmp_path / "logs") as keeper:
        await keeper.until(lambda streams: OUT in streams and streams[OUT].size == 20)
        await keeper._pods.stop()
        await asyncio.to_thread(kube.delete, "pods", "silent-0")
        await asyncio.to_thread(kube.until_gone, "pods", name="silent-0")
        kube.create("pods", pod("silent", image, script))
        streams = await keeper.complete(OUT)
        assert await keeper.bytes(OUT) == b"".join(b"%d\n" % n for n in range(10))
        assert streams[OUT].missing == []


async def test_an_init_container_and_why_a_container_waits(kube: Kube, image: str, tmp_path: Path):
    shell = "until [ -e /tmp/go ]; do sleep 0.1; done"
    first = {"name": "setup", "image": image, "command": ["sh", "-c", f"echo fetching; {shell}; echo done"]}
    kube.create("pods", pod("waits", image, "print('trains')", initContainers=[first]))
    kube.create("pods", pod("waits", "test.local/nowhere:1", "print('never')", index=1))
    async with keeping(kube.namespace, "waits", tmp_path / "logs") as keeper:
        init = "worker-0.1.init-setup.out"
        streams = await keeper.until(lambda streams: init in streams and streams[init].size == len("fetching\n"))
        assert streams[init].source == "init"
        assert streams[init].container == "setup"
        assert streams[OUT].waiting == "The init container setup is running."
        await go(kube, "waits-0", "setup")
        streams = await keeper.complete(init, OUT)
        assert await keeper.bytes(init) == b"fetching\ndone\n"
        assert await keeper.bytes(OUT) == b"trains\n"
        other = "worker-1.1.container.out"
        streams = await keeper.until(lambda streams: "image test.local/nowhere:1" in (streams[other].waiting or ""))
        assert not streams[other].complete


async def test_a_server_that_is_killed_loses_nothing_and_repeats_nothing(kube: Kube, image: str, tmp_path: Path):
    script = "import time\nfor n in range(2000): print(n, end='\\n' if n % 3 else ' '); time.sleep(0.01)"
    kube.create("pods", pod("killed", image, script))
    folder = tmp_path / "logs"
    chance = random.Random(6)
    for _ in range(8):
        server = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.kubernetes.logkeeper", kube.namespace, "killed", str(folder)),
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        assert await server.stdout.readline() == b"keeping\n"
        await asyncio.sleep(chance.uniform(0.3, 3))  # the moment of the kill is what is varied
        server.kill()
        await server.wait()
    async with keeping(kube.namespace, "killed", folder) as keeper:
        streams = await keeper.complete(OUT)
        assert (await keeper.bytes(OUT)).split() == [b"%d" % n for n in range(2000)]
    assert streams[OUT].missing == []


async def test_a_network_that_is_cut_again_and_again(kube: Kube, image: str, tmp_path: Path):
    script = HOLDS + "for n in range(1000): print(n); time.sleep(0.01); n == 900 and hold()"
    kube.create("pods", pod("cut", image, script))
    cable = Cable(load_connection().server)
    await cable.join()
    async with keeping(kube.namespace, "cut", tmp_path / "logs", server=cable.server) as keeper:
        for size in (10, 500, 2000):
            await keeper.until(lambda streams, size=size: OUT in streams and streams[OUT].size > size)
            await cable.cut()
            told = await keeper.until(lambda streams: streams[OUT].waiting is not None)
            assert "cluster" in (told[OUT].waiting or "")
            await cable.join()
        await go(kube, "cut-0")
        streams = await keeper.complete(OUT)
        assert (await keeper.bytes(OUT)).split() == [b"%d" % n for n in range(1000)]
    assert streams[OUT].missing == []
    await cable.cut()


async def test_two_labs_with_one_home_have_one_writer(kube: Kube, image: str, tmp_path: Path):
    script = HOLDS + "for n in range(800): print(n); time.sleep(0.01); n == 700 and hold()"
    kube.create("pods", pod("shared", image, script))
    folder = tmp_path / "logs"
    async with keeping(kube.namespace, "shared", folder) as second:
        first = Keeper(kube.namespace, "shared", folder)
        await first.start()
        await second.until(lambda streams: OUT in streams and streams[OUT].size > 100)
        writers = [keeper for keeper in (first, second) if keeper.follows(OUT)]
        assert len(writers) == 1
        await first.stop()
        await go(kube, "shared-0")
        streams = await second.complete(OUT)
        assert (await second.bytes(OUT)).split() == [b"%d" % n for n in range(800)]
    assert streams[OUT].missing == []


async def test_many_who_look_cost_one_stream(kube: Kube, image: str, tmp_path: Path):
    kube.create("pods", pod("looked", image, "import time\nprint('here')\ntime.sleep(600)"))
    async with keeping(kube.namespace, "looked", tmp_path / "logs", always=False) as keeper:
        await asyncio.to_thread(
            kube.until, "pods", "looked-0", lambda pod: pod is not None and pod["status"]["phase"] == "Running"
        )
        assert not (tmp_path / "logs").exists()
        ends = [keeper.logs.subscribe() for _ in range(100)]
        await keeper.until(lambda streams: OUT in streams and streams[OUT].size == len("here\n"))
        assert [query for query in keeper.asked if "follow" in query] == [
            {"container": "pytorch", "timestamps": True, "follow": True}
        ]
        for end in ends:
            end()
        await keeper.until(lambda _streams: not keeper.follows(OUT))


async def test_what_a_rotation_took_before_anybody_looked_is_said(kube: Kube, image: str, tmp_path: Path):
    # at most 0.8 MB a second, until the kubelet, which looks every 10 s, has found more than 10 MiB
    script = """
import os, time
n = 0
while n % 200 or not os.path.exists("/tmp/go"):
    n % 200 or time.sleep(0.1)
    print(n, "y" * 400)
    n += 1
for n in range(n, n + 4000):  # by which the rate of the lost lines is estimated, also if the new file has only begun
    print(n, "y" * 400)
print("end")
"""
    kube.create("pods", pod("rotated", image, script))
    async with keeping(kube.namespace, "rotated", tmp_path / "logs", always=False) as keeper:
        await asyncio.to_thread(kube.until_rotated, "rotated-0", first=0)
        await go(kube, "rotated-0")
        await asyncio.to_thread(
            kube.until, "pods", "rotated-0", lambda pod: pod is not None and pod["status"]["phase"] == "Succeeded"
        )
        end = keeper.logs.subscribe()
        await keeper.logs.fetched()
        streams = await keeper.complete(OUT)
        data = await keeper.bytes(OUT)
        assert data.endswith(b"end\n")
        assert not data.startswith(b"0 ")  # else the node has kept all, and this test shows nothing
        (span,) = streams[OUT].missing
        assert span.offset == 0
        assert span.since is not None and span.until is not None and span.since < span.until
        end()


def ranked(kube: Kube, image: str, volume: Volume, name: str, script: str) -> Path:
    """Start a job of two ranks; return the folder of their files."""
    (volume.path / f"{name}.py").write_text(script)
    run = (
        f"python -m torch.distributed.run --nproc_per_node=2 --log_dir=/data/.t9kjob/logs/{name}/$(T9KJOB_POD_UID)"
        f" --tee=3 /data/{name}.py"
    )
    container = {
        "command": ["sh", "-c", run],
        "env": [{"name": "T9KJOB_POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    claims = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": volume.claim}}]}
    kube.create("pods", pod(name, image, "", container=container, **claims))
    return volume.path / ".t9kjob" / "logs" / name


async def test_rank_files_have_their_times_also_if_nobody_looks(
    kube: Kube, image: str, volume: Volume, tmp_path: Path
) -> None:
    script = "import time\nprint('first', flush=True)\ntime.sleep(15)\nprint('last')\n"
    ranks = ranked(kube, image, volume, "unwatched", script)
    async with keeping(kube.namespace, "unwatched", tmp_path / "logs", ranks=ranks) as keeper:
        await asyncio.to_thread(
            kube.until, "pods", "unwatched-0", lambda pod: pod is not None and pod["status"]["phase"] == "Succeeded"
        )
        end = keeper.logs.subscribe()
        name = "worker-0.1.rank-0.out"
        stream = (await keeper.complete(name))[name]
        assert stream.first_time is not None and stream.last_time is not None
        assert stream.first_time < stream.last_time
        end()


async def test_rank_files_come_first_and_nothing_comes_twice(kube: Kube, image: str, volume: Volume, tmp_path: Path):
    script = (
        "import os, sys\n"
        "for n in range(50): print('rank', os.environ['LOCAL_RANK'], n)\n"
        "print('on stderr', file=sys.stderr)\n"
    )
    ranks = ranked(kube, image, volume, "ranked", script)
    async with keeping(kube.namespace, "ranked", tmp_path / "logs", ranks=ranks) as keeper:
        end = keeper.logs.subscribe()
        names = [f"worker-0.1.rank-{rank}.{out}" for rank in (0, 1) for out in ("out", "err")]
        streams = await keeper.complete(OUT, *names)
        for rank in (0, 1):
            expected = b"".join(b"rank %d %d\n" % (rank, n) for n in range(50))
            assert await keeper.bytes(f"worker-0.1.rank-{rank}.out") == expected
            assert await keeper.bytes(f"worker-0.1.rank-{rank}.err") == b"on stderr\n"
            assert streams[f"worker-0.1.rank-{rank}.out"].rank == rank
            assert b"[default%d]:rank %d 49\n" % (rank, rank) in await keeper.bytes(OUT)
        launcher = "worker-0.1.launcher.out"
        streams = await keeper.until(lambda streams: streams[launcher].size > 0)
        assert b"[default" not in await keeper.bytes(launcher)
        assert b"OMP_NUM_THREADS" in await keeper.bytes(launcher)
        assert streams[names[0]].first_time is not None
        end()
    assert sorted(path.name for path in ranks.rglob("*") if path.suffix not in (".log", ".json", "")) == []
