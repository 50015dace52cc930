"""Accelerators shared among jobs; the pool is pretended, so only claims and their order are real."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from jupyterlab_t9kjob.engines.local.supervisor.device_claims import Claim
from tests.local.harness import ENDED, Bench, carrying, eventually, kill, make_engine
from tests.local.test_survival import guardian_of, record

pytestmark = pytest.mark.asyncio

REPOSITORY = Path(__file__).parents[2]
JOBS = int(os.environ.get("T9KJOB_TEST_DEVICE_JOBS", "20"))
LOOKS = int(os.environ.get("T9KJOB_TEST_DEVICE_LOOKS", "2000"))

# Says which devices it has, and waits until it may go.
HOLD = """
import os, pathlib, time
name = os.environ["T9KJOB_NAME"] + "." + os.environ["T9KJOB_REPLICA"]
pathlib.Path(name + ".new").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "not set") + " ")
os.replace(name + ".new", name)
while not pathlib.Path("go-" + os.environ["T9KJOB_NAME"]).exists():
    time.sleep(0.02)
"""


@pytest.fixture
def pool() -> list[str]:
    mark = uuid.uuid4().hex[:6]
    return [f"pretended-{mark}-{number}" for number in range(3)]


@pytest.fixture
def settings(pool: list[str]) -> dict[str, Any]:
    return {"device_pool": pool, "grace_seconds": 2.0}  # for a process that ignores SIGTERM


def gpus(count: int, replicas: int = 1, **fields: Any) -> list[dict[str, Any]]:
    return [{"replicas": replicas, "resources": {"device": {"count": count}}, **fields}]


def numbers(devices: str) -> list[str]:
    return [device.rsplit("-", 1)[1] for device in devices.strip().split(",") if device]


async def seen(bench: Bench, name: str, replica: str = "worker-0") -> list[str]:
    return numbers(await bench.written(bench.root / f"{name}.{replica}"))


async def waiting(bench: Bench, job: Job) -> Job:
    return await bench.until(job.uid, lambda job: bool(job.reason and job.reason.code == "WaitingForDevices"))


def let_go(bench: Bench, *jobs: Job) -> None:
    for job in jobs:
        (bench.root / f"go-{job.name}").touch()


async def test_each_replica_sees_its_own(bench: Bench) -> None:
    job = await bench.submit(
        HOLD, replica_specs=gpus(1, replicas=2), env=[{"name": "CUDA_VISIBLE_DEVICES", "value": "7"}]
    )
    devices = await seen(bench, job.name) + await seen(bench, job.name, "worker-1")
    assert sorted(devices) == ["0", "1"]
    none = await bench.submit(HOLD)
    assert await seen(bench, none.name) == []
    await bench.running(job.uid)
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [job.name, job.name, None]
    assert [device.claimed_by for device in machine.devices] == [job.name, job.name, None]
    replicas = await bench.engine.replicas(job.uid)
    assert [len(replica.devices) for replica in replicas] == [1, 1]
    let_go(bench, job, none)
    await bench.ended(job.uid)
    await bench.ended(none.uid)
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [None, None, None]


async def test_one_process_for_each_device_under_torchrun(bench: Bench) -> None:
    """Replicas of two types: two ranks with two devices, and one with one."""
    script = """
        import os, pathlib
        values = [os.environ[name] for name in ("LOCAL_WORLD_SIZE", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES")]
        pathlib.Path("rank-" + os.environ["RANK"]).write_text(" ".join([os.environ["T9KJOB_REPLICA"], *values]))
    """
    job = await bench.submit(
        script,
        torchrun={"proc_per_node": "gpu"},
        replica_specs=[{"type": "big", **gpus(2)[0]}, {"type": "small", **gpus(1)[0]}],
    )
    assert job.processes == 3
    done = await bench.ended(job.uid)
    assert done.phase == "Succeeded", done.reason
    ranks = sorted((bench.root / f"rank-{rank}").read_text().split() for rank in range(3))
    assert [rank[:3] for rank in ranks] == [["big-0", "2", "3"], ["big-0", "2", "3"], ["small-0", "1", "3"]]
    assert [numbers(rank[3]) for rank in ranks] == [["0", "1"], ["0", "1"], ["2"]]


async def test_who_came_first_is_served_first(bench: Bench) -> None:
    first = await bench.submit(HOLD, replica_specs=gpus(2))
    await bench.running(first.uid)
    second = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(3)))
    assert second.reason and second.reason.sentence == "Needs 3 GPUs, 1 free"
    assert second.reason.hint == f"In use by {first.name}."
    third = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(1)))  # could run, but must not overtake
    assert third.phase == "Pending"
    assert third.reason and third.reason.sentence == f"Needs 1 GPU, 1 free; queued behind {second.name}"
    fourth = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(1)))
    assert fourth.reason
    assert fourth.reason.sentence == f"Needs 1 GPU, 1 free; queued behind {second.name} and {third.name}"
    fifth = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(2)))
    assert fifth.reason
    assert fifth.reason.sentence == f"Needs 2 GPUs, 1 free; queued behind {second.name}, {third.name} and 1 other"
    let_go(bench, first)
    await bench.running(second.uid)
    assert await seen(bench, second.name) == ["0", "1", "2"]
    for later in (third, fourth, fifth):
        assert (await bench.engine.job(later.uid)).phase == "Pending"
    let_go(bench, second)
    for later in (third, fourth):
        await bench.running(later.uid)
    await bench.until(fifth.uid, lambda job: bool(job.reason and job.reason.sentence == "Needs 2 GPUs, 1 free"))
    let_go(bench, third, fourth, fifth)
    assert (await bench.ended(fifth.uid)).phase == "Succeeded"


# Ways in which a job that has all devices ends.
DEATHS = (
    "success", "failure", "pause", "stop", "delete", "deadline",
    "supervisor", "guardian and supervisor", "supervisor and guardian",
)  # fmt: skip


@pytest.mark.parametrize("death", DEATHS)
async def test_claims_are_freed_on_every_kind_of_death(bench: Bench, death: str) -> None:
    text = HOLD + ("raise SystemExit(3)" if death == "failure" else "")
    limit = {"active_deadline_seconds": 2} if death == "deadline" else {}
    holds = await bench.submit(text, replica_specs=gpus(3), run_policy=limit)
    await bench.until(holds.uid, lambda job: job.started_at is not None)
    last = await bench.submit(HOLD, replica_specs=gpus(3))
    if death != "deadline":  # which comes by itself, and may be over
        await waiting(bench, last)
    if death in ("success", "failure"):
        let_go(bench, holds)
    elif death in ("pause", "stop", "delete"):
        await bench.engine.act(holds.uid, death)  # type: ignore[arg-type]
    elif death != "deadline":
        supervisor = record(bench, holds.uid)["supervisor"]["pid"]
        pids = {"supervisor": supervisor, "guardian": guardian_of(supervisor)}
        for one in death.split(" and "):
            kill(pids[one])
    await bench.running(last.uid)
    assert await seen(bench, last.name) == ["0", "1", "2"]
    ended = await bench.until(holds.uid, lambda job: job.phase in (*ENDED, "Paused"))
    assert ended.phase == {"success": "Succeeded", "pause": "Paused"}.get(death, "Failed")
    if death == "deadline":
        assert ended.reason and ended.reason.code == "DeadlineExceeded"
        before, after = [(await bench.engine.replicas(job.uid))[0].attempts[0] for job in (holds, last)]
        assert before.ended_at and after.started_at and before.ended_at <= after.started_at


@pytest.mark.parametrize("death", ["pause", "stop", "supervisor", "supervisor and guardian"])
async def test_who_dies_in_the_queue_leaves_it(bench: Bench, death: str) -> None:
    holds = await bench.submit(HOLD, replica_specs=gpus(3))
    await bench.running(holds.uid)
    waits = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(3)))
    last = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(3)))
    assert last.reason and last.reason.sentence == f"Needs 3 GPUs, 0 free; queued behind {waits.name}"
    supervisor = record(bench, waits.uid)["supervisor"]["pid"]
    guardian = guardian_of(supervisor)
    if death in ("pause", "stop"):
        await bench.engine.act(waits.uid, death)  # type: ignore[arg-type]
    else:
        if "guardian" in death:
            kill(guardian)
        kill(supervisor)
    await bench.until(waits.uid, lambda job: job.phase in ("Failed", "Paused"))
    await bench.until(last.uid, lambda job: bool(job.reason and job.reason.sentence == "Needs 3 GPUs, 0 free"))
    let_go(bench, holds)
    await bench.running(last.uid)


async def test_a_claim_ends_with_the_last_process_that_could_use_the_device(bench: Bench) -> None:
    """Supervisor and guardian are killed; the script, deaf to SIGTERM, still computes for a while."""
    deaf = """
        import os, pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        path = pathlib.Path("beats")
        while True:
            with path.open("a") as file:
                file.write(f"{time.monotonic()}\\n")
            time.sleep(0.005)
    """
    begins = "import pathlib, time; pathlib.Path('begun').write_text(str(time.monotonic()))"
    holds = await bench.submit(deaf, replica_specs=gpus(3))
    await bench.written(bench.root / "beats")
    await bench.running(holds.uid)
    later = await waiting(bench, await bench.submit(begins, replica_specs=gpus(1)))
    supervisor = record(bench, holds.uid)["supervisor"]["pid"]
    for pid in (guardian_of(supervisor), supervisor):
        kill(pid)
    machine = (await bench.engine.info()).machine
    assert machine
    await bench.ended(later.uid)
    await eventually(lambda: not carrying(holds.uid))
    beats = (bench.root / "beats").read_text().split()
    assert float(beats[-1]) < float((bench.root / "begun").read_text())
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [None, None, None]


async def test_a_restart_keeps_its_devices(bench: Bench) -> None:
    script = """
        import os, pathlib, time
        with open("attempts", "a") as file:
            file.write(os.environ["CUDA_VISIBLE_DEVICES"] + "\\n")
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        raise SystemExit(len(pathlib.Path("attempts").read_text().split()) < 3)
    """
    other = await bench.submit(HOLD, replica_specs=gpus(1))
    await bench.running(other.uid)
    job = await bench.submit(script, replica_specs=gpus(2, restart_policy="OnFailure"))
    await bench.running(job.uid)
    behind = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(1)))
    last = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(2)))
    let_go(bench, other, last)  # what is free now has another number
    await bench.running(behind.uid)
    (bench.root / "go").touch()
    done = await bench.ended(job.uid)
    assert (done.phase, done.restarts) == ("Succeeded", 2)
    assert [numbers(line) for line in (bench.root / "attempts").read_text().split()] == [["1", "2"]] * 3
    let_go(bench, behind)
    begun = (await bench.ended(last.uid)).started_at
    assert begun and done.ended_at and begun >= done.ended_at - 0.5


async def test_a_resumed_job_queues_again(bench: Bench) -> None:
    job = await bench.submit(HOLD, replica_specs=gpus(2))
    await bench.running(job.uid)
    await bench.engine.act(job.uid, "pause")
    await bench.until(job.uid, lambda job: job.phase == "Paused")
    other = await bench.submit(HOLD, replica_specs=gpus(2))
    await bench.running(other.uid)
    await bench.engine.act(job.uid, "resume")
    resumed = await waiting(bench, job)
    assert resumed.phase == "Resuming"
    assert resumed.reason and resumed.reason.sentence == "Needs 2 GPUs, 1 free"
    behind = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(1)))
    assert behind.reason and behind.reason.sentence == f"Needs 1 GPU, 1 free; queued behind {job.name}"
    let_go(bench, other, job, behind)
    assert (await bench.ended(job.uid)).phase == "Succeeded"
    assert (await bench.ended(behind.uid)).phase == "Succeeded"


SERVER = """
import asyncio, sys
from pathlib import Path
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.local.harness import make_engine

async def main():
    home, root, spec, pool = sys.argv[1:]
    engine = make_engine(Path(home), Path(root), device_pool=pool.split(","))
    await engine.start()
    await engine.create(JobSpec.model_validate_json(spec), namespace="", request_id="theirs")
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def server(bench: Bench, pool: list[str], tmp_path: Path) -> Iterator[Callable[[JobSpec], subprocess.Popen[bytes]]]:
    """Start a server with a home of its own in another session, which submits a job."""
    started = []

    def start(spec: JobSpec) -> subprocess.Popen[bytes]:
        run = tmp_path / "run"
        run.mkdir(mode=0o700)
        arguments = [str(tmp_path / "theirs"), str(bench.root), spec.model_dump_json(), ",".join(pool)]
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(run)}
        started.append(subprocess.Popen([sys.executable, "-c", SERVER, *arguments], cwd=REPOSITORY, env=environment))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


async def test_of_two_servers_none_takes_what_the_other_has(
    bench: Bench, server: Callable[[JobSpec], subprocess.Popen[bytes]]
) -> None:
    theirs = bench.spec(HOLD, replica_specs=gpus(2))
    child = server(theirs)
    assert await seen(bench, theirs.name) == ["0", "1"]
    child.kill()  # which frees nothing
    child.wait()
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [theirs.name, theirs.name, None]
    ours = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(2)))
    assert ours.reason and ours.reason.hint == f"In use by {theirs.name}."
    (bench.root / f"go-{theirs.name}").touch()
    await bench.running(ours.uid)


async def test_a_pool_may_change_while_jobs_wait(bench: Bench, pool: list[str]) -> None:
    holds = await bench.submit(HOLD, replica_specs=gpus(3))
    await bench.running(holds.uid)
    waits = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(3)))
    smaller = make_engine(bench.home, bench.root, device_pool=[pool[0], "pretended-new"])
    await smaller.start()
    try:
        with pytest.raises(FieldError, match="asks for 3 GPUs, and this machine has 2"):
            await smaller.create(waits.spec.model_copy(update={"name": "too-big"}), namespace="", request_id="x")
        behind = await smaller.create(bench.spec(HOLD, replica_specs=gpus(2)), namespace="", request_id="y")
        bench.uids.append(behind.uid)
        await bench.known(behind.uid)
        behind = await waiting(bench, behind)
        assert behind.reason and behind.reason.sentence == f"Needs 2 GPUs, 1 free; queued behind {waits.name}"
        let_go(bench, holds)
        assert await seen(bench, waits.name) == ["0", "1", "2"]  # as it was promised
        let_go(bench, waits)
        assert await seen(bench, behind.name) == ["0", "new"]
        let_go(bench, behind)
        await bench.ended(behind.uid)
    finally:
        await smaller.stop()


async def test_who_wants_other_devices_is_not_in_the_way(bench: Bench, pool: list[str], tmp_path: Path) -> None:
    other = make_engine(tmp_path / "other", bench.root, device_pool=pool[2:])
    await other.start()
    here = Bench(bench.engine, bench.home, bench.root, uids=bench.uids)
    there = Bench(other, tmp_path / "other", bench.root)
    other.listen(there.hear)
    bench.engine.listen(here.hear)
    narrow = make_engine(bench.home, bench.root, device_pool=pool[:2])
    try:
        await narrow.start()
        holds = await narrow.create(bench.spec(HOLD, replica_specs=gpus(1)), namespace="", request_id="a")
        bench.uids.append(holds.uid)
        await here.known(holds.uid)
        await here.running(holds.uid)
        waits = await narrow.create(bench.spec(HOLD, replica_specs=gpus(2)), namespace="", request_id="b")
        bench.uids.append(waits.uid)
        await here.known(waits.uid)
        await waiting(here, waits)
        free = await there.submit(HOLD, replica_specs=gpus(1))
        await there.running(free.uid)
        let_go(bench, free)
        await there.ended(free.uid)
        assert (await here.engine.job(waits.uid)).phase == "Pending"
    finally:
        await narrow.stop()
        await other.stop()


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("{2},{0}", [0, 2]),
        (" {1} , {1}", [1]),
        ("{0},-1,{1}", [0]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("7", []),
    ],
)
async def test_what_the_server_may_not_see_jobs_do_not_get(
    tmp_path: Path, pool: list[str], monkeypatch: pytest.MonkeyPatch, visible: str, expected: list[int]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible.format(*pool))
    engine: LocalEngine = make_engine(tmp_path, tmp_path, device_pool=pool)
    machine = (await engine.info()).machine
    assert machine and [device.id for device in machine.devices] == [pool[number] for number in expected]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"replica_specs": gpus(2, replicas=2)}, "TooManyDevices", "/spec/replica_specs/0/resources/device"),
        (
            {"replica_specs": [{"type": "a", **gpus(1)[0]}, {"type": "b", **gpus(3)[0]}]},
            "TooManyDevices",
            "/spec/replica_specs/1/resources/device",
        ),
        ({"torchrun": {"proc_per_node": "gpu"}}, "NoDevicesAsked", "/spec/replica_specs/0/resources/device"),
        (
            {"torchrun": {"proc_per_node": "gpu"}, "replica_specs": gpus(0)},
            "NoDevicesAsked",
            "/spec/replica_specs/0/resources/device",
        ),
    ],
)
async def test_what_can_never_be_granted_is_refused(
    bench: Bench, fields: dict[str, Any], code: str, field: str
) -> None:
    with pytest.raises(FieldError) as refusal:
        await bench.submit(HOLD, **fields)
    assert (refusal.value.code, refusal.value.field) == (code, field)
    assert await bench.engine.jobs() == []


async def test_the_preview_warns_of_odd_sizes(bench: Bench) -> None:
    async def codes(**fields: Any) -> set[str]:
        return {check.code for check in (await bench.engine.preview(bench.spec(**fields), "")).checks}

    assert "SharedDevices" in await codes(torchrun={"proc_per_node": 2}, replica_specs=gpus(1))
    assert "SharedDevices" not in await codes(torchrun={"proc_per_node": 2}, replica_specs=gpus(2))
    assert "RunsOnCpu" in await codes()
    assert "RunsOnCpu" not in await codes(replica_specs=gpus(1))


LOOKER = """
import sys
from jupyterlab_t9kjob.engines.local.devices.pool import DevicePool
pool = DevicePool(sys.argv[1].split(","))
print("looking", flush=True)
while True:
    pool.describe({})
"""


@pytest.fixture
def looking(pool: list[str]) -> Iterator[None]:
    """Somebody looks at the devices all the time."""
    command = [sys.executable, "-c", LOOKER, ",".join(pool)]
    looker = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY)
    assert looker.stdout and looker.stdout.readline()
    yield
    assert looker.poll() is None
    looker.kill()
    looker.communicate()


@pytest.mark.usefixtures("looking")
async def test_nobody_waits_because_somebody_looks(bench: Bench, pool: list[str]) -> None:
    job = await bench.submit("pass", replica_specs=gpus(3))
    await bench.ended(job.uid)
    assert "WaitingForDevices" not in await bench.codes(job.uid)
    plan = json.loads((bench.home / "jobs" / job.uid / "run.json").read_bytes())
    claim = Claim(plan)
    for _ in range(LOOKS):
        assert claim.obtain() is None
        assert claim.devices_of(0) == pool
        claim.release()


def tickets() -> list[str]:
    return [path.name for path in Path(f"/tmp/t9kjob-{os.getuid()}/devices/tickets").iterdir()]


async def test_never_two_holders_of_one_device(bench: Bench) -> None:
    """Many jobs of random sizes, some of which fail or are stopped; each writes what it has, and when."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    luck = random.Random(seed)
    script = """
        import os, sys, time
        begin = time.monotonic()
        time.sleep(float(sys.argv[1]))
        line = f"{begin} {time.monotonic()} {os.environ['CUDA_VISIBLE_DEVICES']}\\n"
        descriptor = os.open("intervals", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line.encode())
        raise SystemExit(int(sys.argv[2]))
    """
    jobs = []
    for _ in range(JOBS):
        count, replicas = luck.choice([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3)])
        args = [str(luck.uniform(0.0, 0.3)), str(luck.choice([0, 0, 0, 5]))]
        jobs.append(await bench.submit(script, args=args, replica_specs=gpus(count, replicas=replicas)))
    for job in luck.sample(jobs, JOBS // 5):
        with contextlib.suppress(Conflict):  # it has ended
            await bench.engine.act(job.uid, "stop")
    for job in jobs:
        await bench.ended(job.uid)
    intervals: dict[str, list[tuple[float, float]]] = {}
    for line in (bench.root / "intervals").read_text().splitlines():
        begin, end, devices = line.split()
        for device in devices.split(","):
            intervals.setdefault(device, []).append((float(begin), float(end)))
    assert len(intervals) == 3
    for spans in intervals.values():
        for (_, end), (begin, _) in pairwise(sorted(spans)):
            assert end <= begin
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [None, None, None]
    assert [name for name in tickets() if name.partition("-")[2] in bench.uids] == []


async def test_many_wait_in_order(bench: Bench) -> None:
    """Jobs that ask one after the other, for one device or all, begin in that order."""
    first = await bench.submit(HOLD, replica_specs=gpus(3))
    await bench.running(first.uid)
    jobs = []
    for number in range(8):
        jobs.append(await waiting(bench, await bench.submit("pass", replica_specs=gpus(3 if number % 2 else 1))))
    let_go(bench, first)
    done = [await bench.ended(job.uid) for job in jobs]
    begun = [job.started_at for job in done]
    assert begun == sorted(begun)
