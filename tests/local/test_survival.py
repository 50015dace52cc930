"""Jobs survive the death of servers and supervisors, and processes that do not end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotFound
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from tests.local.harness import ENDED, Bench, carrying, eventually, kill, make_engine, remove, this_python
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

SLEEP = "import time; print('here', flush=True); time.sleep(600)"
COUNTER = """
import pathlib, time
number = 0
while not pathlib.Path("enough").exists():
    print(number)
    number += 1
    time.sleep(0.002)
pathlib.Path("last").write_text(str(number))
"""


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"grace_seconds": 1.0}  # for the processes that ignore SIGTERM


def record(bench: Bench, uid: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((bench.home / "jobs" / uid / "record.json").read_bytes())
    return found


async def gone(uid: str) -> None:
    await eventually(lambda: not carrying(uid))


async def until(engine: LocalEngine, uid: str, reached: Callable[[Job], bool]) -> Job:
    bench = Bench(engine, Path(), Path())
    stop = engine.listen(bench.hear)
    try:
        return await bench.until(uid, reached)
    finally:
        stop()


SERVER = """
import asyncio, json, sys
from pathlib import Path
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.local.harness import make_engine

async def main():
    engine = make_engine(Path(sys.argv[1]), Path(sys.argv[2]))
    await engine.start()
    job = await engine.create(JobSpec.model_validate_json(sys.argv[3]), namespace="", request_id="from-the-server")
    print(job.uid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def server(bench: Bench) -> Iterator[Any]:
    """Start another process with an engine on the same home, which submits one job."""
    started: list[subprocess.Popen[str]] = []

    def start(text: str, **fields: Any) -> subprocess.Popen[str]:
        spec = bench.spec(text, **fields)
        child = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(bench.home), str(bench.root), spec.model_dump_json()],
            stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


async def test_a_killed_server_loses_nothing(bench: Bench, server: Any) -> None:
    child = server(COUNTER)
    uid = (await asyncio.to_thread(child.stdout.readline)).strip()
    bench.uids.append(uid)
    log = bench.home / "jobs" / uid / "logs" / "worker-0.1" / "container.log"
    await bench.written(log)
    await bench.known(uid)
    child.send_signal(signal.SIGKILL)
    await asyncio.to_thread(child.wait)

    started = time.monotonic()
    other = make_engine(bench.home, bench.root)
    await other.start()
    (found,) = await other.jobs()
    assert time.monotonic() - started < 120  # it waits for nobody
    assert (found.uid, found.phase) == (uid, "Running")
    await other.stop()

    (bench.root / "enough").touch()
    assert (await bench.ended(uid)).phase == "Succeeded"
    count = int((bench.root / "last").read_text())
    expected = "".join(f"{number}\n" for number in range(count)).encode()
    assert await bench.output(uid, "worker-0.1.container.out") == expected


@pytest.mark.parametrize("delay", [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1])
async def test_a_server_killed_while_it_creates_leaves_one_job_or_none(bench: Bench, server: Any, delay: float) -> None:
    child = server("print('ran')")
    jobs = bench.home / "jobs"
    await eventually(lambda: any(jobs.iterdir()))
    await asyncio.sleep(delay)
    child.send_signal(signal.SIGKILL)
    await asyncio.to_thread(child.wait)
    other = make_engine(bench.home, bench.root)
    await other.start()
    found = await other.jobs()
    await other.stop()
    assert len(found) in (0, 1)
    assert len(list(jobs.iterdir())) == len(found)
    if found:
        bench.uids.append(found[0].uid)
        await bench.known(found[0].uid)
        done = await bench.ended(found[0].uid)
        assert done.phase == "Succeeded"
        assert await bench.output(done.uid, "worker-0.1.container.out") == b"ran\n"


async def test_the_same_request_to_a_new_server_finds_the_job(bench: Bench) -> None:
    job = await bench.submit("pass", request_id="the-request")
    other = make_engine(bench.home, bench.root)
    await other.start()
    again = await other.create(job.spec, namespace="", request_id="the-request")
    await other.stop()
    assert again.uid == job.uid
    await bench.ended(job.uid)


async def test_of_two_submissions_of_one_name_one_wins(bench: Bench) -> None:
    other = make_engine(bench.home, bench.root)
    await other.start()
    spec = bench.spec("pass")
    results = await asyncio.gather(
        *(
            engine.create(spec, namespace="", request_id=f"request-{number}")
            for number, engine in enumerate([bench.engine, other] * 3)
        ),
        return_exceptions=True,
    )
    await other.stop()
    made = [result for result in results if isinstance(result, Job)]
    assert len(made) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 5
    bench.uids.append(made[0].uid)
    await bench.ended(made[0].uid)


async def test_two_servers_see_and_steer_the_same_jobs(bench: Bench) -> None:
    other = make_engine(bench.home, bench.root)
    await other.start()
    job = await bench.submit(SLEEP)
    await bench.running(job.uid)
    seen = asyncio.Event()
    other.listen(lambda _, summary: seen.set() if summary and summary.phase == "Running" else None)
    if {found.uid: found.phase for found in await other.jobs()}.get(job.uid) != "Running":
        await asyncio.wait_for(seen.wait(), PATIENCE)
    await other.act(job.uid, "stop")
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "Stopped"
    await other.act(job.uid, "delete")
    assert (await bench.until(job.uid, lambda job: job.deleted)).deleted
    await until(other, job.uid, lambda job: job.deleted)
    await other.remove(job.uid)
    await eventually(lambda: bench.heard[-1] == (job.id, None))
    await other.stop()


async def test_twenty_at_once(bench: Bench) -> None:
    jobs = await asyncio.gather(*(bench.submit(f"print({number})") for number in range(20)))
    for number, job in enumerate(jobs):
        assert (await bench.ended(job.uid)).phase == "Succeeded"
        assert await bench.output(job.uid, "worker-0.1.container.out") == f"{number}\n".encode()


@pytest.mark.parametrize("torchrun", [None, {"proc_per_node": 2}])
async def test_a_killed_supervisor_takes_its_processes_along(bench: Bench, torchrun: Any) -> None:
    job = await bench.submit(
        "import os, time; open('pid' + os.environ.get('RANK', '0'), 'w').write('x'); time.sleep(600)",
        torchrun=torchrun,
    )
    await bench.written(bench.root / "pid0")
    await bench.engine.stop()  # no server may be needed for this
    supervisor = record(bench, job.uid)["supervisor"]["pid"]
    kill(supervisor)
    await gone(job.uid)
    await eventually(lambda: record(bench, job.uid)["outcome"]["code"] == "SupervisorLost")
    bench.engine = make_engine(bench.home, bench.root)
    await bench.engine.start()
    done = await bench.engine.job(job.uid)
    assert (done.phase, done.ended_by) == ("Failed", "platform")
    assert done.reason and done.reason.code == "SupervisorLost"


def guardian_of(supervisor: int) -> int:
    fields = Path(f"/proc/{supervisor}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[1])


async def test_supervisor_and_guardian_killed_together(bench: Bench) -> None:
    job = await bench.submit(
        "import os, signal, time; signal.signal(15, signal.SIG_IGN); "
        "open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
    )
    await bench.written(bench.root / "pid")
    supervisor = record(bench, job.uid)["supervisor"]["pid"]
    guardian = guardian_of(supervisor)
    kill(guardian)
    kill(supervisor)
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "SupervisorLost"
    assert carrying(job.uid) == []


@pytest.mark.parametrize(("action", "code"), [("stop", "Stopped"), ("delete", "Stopped"), ("pause", "PausedByUser")])
async def test_what_was_asked_for_is_finished_by_the_next(bench: Bench, action: Any, code: str) -> None:
    job = await bench.submit(
        "import signal, time; signal.signal(15, signal.SIG_IGN); open('ready', 'w').write('x'); time.sleep(600)"
    )
    await bench.written(bench.root / "ready")
    supervisor = record(bench, job.uid)["supervisor"]["pid"]
    os.kill(supervisor, signal.SIGSTOP)  # so that it can't be done before it is killed
    await bench.engine.act(job.uid, action)
    kill(supervisor)
    done = await bench.until(job.uid, lambda job: job.phase in (*ENDED, "Paused") and job.pending_action is None)
    assert done.reason and done.reason.code == code
    assert done.deleted == (action == "delete")
    assert carrying(job.uid) == []


def on_machine(bench: Bench, **identity: str) -> LocalEngine:
    from jupyterlab_t9kjob.core.system.processes import machine_id

    return LocalEngine(bench.home, bench.root, this_python, machine_identity={**machine_id(), **identity})  # type: ignore[typeddict-item]


def pretend(bench: Bench, uid: str, **changes: Any) -> None:
    """Rewrite a running job's record as another machine, or another boot, would have left it."""
    path = bench.home / "jobs" / uid / "record.json"
    changed = record(bench, uid)
    changed["machine"] |= changes
    path.write_text(json.dumps(changed))


class TestAfterARestart:
    @pytest.mark.parametrize("what", ["boot_id", "pid_namespace"])
    async def test_a_running_job_failed_and_a_paused_one_stays(self, bench: Bench, what: str) -> None:
        running, paused = await bench.submit(SLEEP), await bench.submit(SLEEP)
        await bench.running(running.uid)
        await bench.running(paused.uid)
        await bench.engine.act(paused.uid, "pause")
        await bench.until(paused.uid, lambda job: job.phase == "Paused")
        supervisor = record(bench, running.uid)["supervisor"]["pid"]
        guardian = guardian_of(supervisor)
        await bench.engine.stop()
        kill(guardian)
        kill(supervisor)
        for uid in (running.uid, paused.uid):
            pretend(bench, uid, **{what: "another"})
        bench.engine = make_engine(bench.home, bench.root)
        bench.engine.listen(bench.hear)
        await bench.engine.start()
        done = await bench.ended(running.uid)
        assert done.reason and (done.phase, done.reason.code) == ("Failed", "MachineRestarted")
        assert (await bench.engine.job(paused.uid)).phase == "Paused"
        await bench.engine.act(paused.uid, "resume")
        await bench.running(paused.uid)

    async def test_a_job_that_had_not_got_to_start_failed_as_well(self, bench: Bench) -> None:
        job = await bench.submit("open('ran', 'w')", paused=True)
        await bench.engine.stop()
        pretend(bench, job.uid, boot_id="another")
        path = bench.home / "jobs" / job.uid / "record.json"
        changed = record(bench, job.uid)
        changed["outcome"] |= {"phase": "Pending", "code": "Created"}
        path.write_text(json.dumps(changed))
        path.with_name("desired").write_text("run")
        bench.engine = make_engine(bench.home, bench.root)
        bench.engine.listen(bench.hear)
        await bench.engine.start()
        done = await bench.ended(job.uid)
        assert done.reason and (done.phase, done.reason.code) == ("Failed", "MachineRestarted")
        assert not (bench.root / "ran").exists()


async def test_a_machine_with_another_name_than_before_is_the_same(bench: Bench) -> None:
    """A laptop gets its name from the network; the supervisor writes the name that it finds."""
    await bench.engine.stop()
    bench.engine = on_machine(bench, hostname="before")
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    job = await bench.submit(SLEEP)
    seen = await bench.running(job.uid)
    assert record(bench, job.uid)["machine"]["hostname"] != "before"
    assert (seen.read_only, seen.actions) == (None, ["pause", "stop", "rerun", "delete"])
    await bench.engine.act(job.uid, "stop")
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "Stopped"


class TestAnotherMachine:
    async def test_its_jobs_are_read_only_until_not_heard_of(self, bench: Bench) -> None:
        job = await bench.submit(SLEEP)
        await bench.running(job.uid)
        other = on_machine(bench, hostname="elsewhere", boot_id="another")
        await other.start()
        seen = await other.job(job.uid)
        assert seen.phase == "Running"
        assert seen.read_only and "runs on" in seen.read_only
        assert seen.actions == ["rerun"]
        with pytest.raises(Conflict):
            await other.act(job.uid, "stop")
        supervisor = record(bench, job.uid)["supervisor"]["pid"]
        os.kill(supervisor, signal.SIGSTOP)
        beat = bench.home / "jobs" / job.uid / "heartbeat"
        beat.write_text(repr(time.time() - 100))
        seen = await until(other, job.uid, lambda job: job.phase != "Running")
        assert seen.reason and (seen.phase, seen.reason.code) == ("Unknown", "NotHeardOf")
        os.kill(supervisor, signal.SIGCONT)
        await until(other, job.uid, lambda job: job.phase == "Running")
        await other.stop()

    async def test_a_machine_that_is_gone_holds_no_job_and_no_name_for_ever(self, bench: Bench) -> None:
        """Each container of a lab is a machine with a name of its own."""
        job = await bench.submit(SLEEP)
        await bench.running(job.uid)
        await bench.engine.stop()
        supervisor = record(bench, job.uid)["supervisor"]["pid"]
        for pid in (guardian_of(supervisor), supervisor, *carrying(job.uid)):
            with contextlib.suppress(ProcessLookupError):
                kill(pid)
        await gone(job.uid)
        beat = bench.home / "jobs" / job.uid / "heartbeat"
        beat.write_text(repr(time.time() - 3600))
        pretend(bench, job.uid, hostname="3f2a9c01d7be", boot_id="another")
        engine = bench.engine = make_engine(bench.home, bench.root)
        await engine.start()
        seen = await until(engine, job.uid, lambda job: job.phase == "Unknown")
        assert seen.actions == ["rerun"]
        with pytest.raises(Conflict, match="is a job named"):
            await engine.create(bench.spec("pass", name=job.name), namespace="", request_id="too-early")
        beat.write_text(repr(time.time() - 7 * 3600))
        seen = await until(engine, job.uid, lambda job: "remove" in job.actions)
        assert (seen.phase, seen.actions) == ("Unknown", ["rerun", "remove"])
        assert seen.reason and "no longer exists" in (seen.reason.hint or "")
        with pytest.raises(Conflict, match="runs on"):
            await engine.act(job.uid, "delete")
        again = await engine.create(bench.spec("pass", name=job.name), namespace="", request_id="again")
        await until(engine, again.uid, lambda job: job.phase == "Succeeded")
        await engine.remove(job.uid)
        with pytest.raises(NotFound):
            await engine.job(job.uid)


async def test_the_jobs_directory_removed_while_it_runs(bench: Bench) -> None:
    job = await bench.submit("import time; open('ready', 'w').write('x'); time.sleep(600)")
    await bench.written(bench.root / "ready")
    remove(bench.home / "jobs" / job.uid)
    await gone(job.uid)
    await eventually(lambda: bench.heard[-1] == (job.id, None))


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
async def test_a_full_disk_keeps_the_end(bench: Bench, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)]
    if (await asyncio.to_thread(subprocess.run, mount)).returncode:
        pytest.skip("mounting a tmpfs is not allowed here")
    engine = make_engine(small / "home", bench.root)
    try:
        await engine.start()
        spec = bench.spec("import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)")
        job = await engine.create(spec, namespace="", request_id="full-disk")
        await until(engine, job.uid, lambda job: job.phase == "Running")
        with (small / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
            while True:
                filler.write(b"x" * 4096)
        (bench.root / "go").touch()
        done = await until(engine, job.uid, lambda job: job.phase == "Succeeded")
        assert done.ended_at
        await engine.stop()
        await gone(job.uid)
    finally:
        await asyncio.to_thread(subprocess.run, ["umount", "-l", str(small)], check=True)
