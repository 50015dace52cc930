"""Disks that are full, out of inodes, read-only, gone, or not ours to write."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyterlab_t9kjob.core.errors import Unavailable
from tests.local.disks import Disk, read_only, small_disk
from tests.local.harness import Bench, carrying, eventually, make_engine, remove

pytestmark = pytest.mark.asyncio

# Goes on until it is told to end, and writes nothing meanwhile.
WAIT = """
import pathlib, time
while not pathlib.Path("enough").exists():
    time.sleep(0.02)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest_asyncio.fixture
async def bench(disk: Disk, tmp_path: Path) -> AsyncIterator[Bench]:
    """An engine whose home is on the small disk, and the scripts are not."""
    root = tmp_path / "work"
    root.mkdir()
    bench = Bench(make_engine(disk.path / "home", root), disk.path / "home", root)
    await bench.engine.start()
    bench.engine.listen(bench.hear)
    yield bench
    disk.free()
    for job in await bench.engine.jobs():
        if "stop" in job.actions:
            await bench.engine.act(job.uid, "stop")
            await bench.ended(job.uid)
    await bench.engine.stop()
    for uid in bench.uids:
        await eventually(lambda uid=uid: not carrying(uid))


FILL = pytest.mark.parametrize("fill", [Disk.fill, Disk.fill_inodes], ids=["bytes", "inodes"])


class Reader:
    """Reads a job's record all the time; every state of it must be whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self.bad: list[str] = []
        self.phases: list[str] = []

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()

    def _read(self) -> None:
        last = False
        while not last:
            last = self._enough.is_set()  # what was there by then is read once more
            text = self._path.read_text()
            try:
                phase = json.loads(text)["outcome"]["phase"]
            except (ValueError, KeyError):
                self.bad.append(text)
            else:
                if self.phases[-1:] != [phase]:
                    self.phases.append(phase)


def record_path(bench: Bench, uid: str) -> Path:
    return bench.home / "jobs" / uid / "record.json"


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [entry.getMessage() for entry in caplog.records if entry.name.startswith("jupyterlab_t9kjob")]


# --- full ------------------------------------------------------------------------------------


@FILL
async def test_full_before_a_submission(bench: Bench, disk: Disk, fill: Callable[[Disk], None]) -> None:
    fill(disk)
    spec = bench.spec("pass")
    with pytest.raises(Unavailable) as refused:
        await bench.engine.create(spec, namespace="", request_id="first")
    assert refused.value.code == "DiskFull"
    assert str(bench.home) in refused.value.message
    assert refused.value.hint
    assert await bench.engine.jobs() == []
    assert list((bench.home / "jobs").iterdir()) == []
    disk.free()
    job = await bench.engine.create(spec, namespace="", request_id="second")
    assert (await bench.ended(job.uid)).phase == "Succeeded"


@FILL
async def test_full_while_it_runs_until_after_its_end(
    bench: Bench, disk: Disk, fill: Callable[[Disk], None], caplog: pytest.LogCaptureFixture
) -> None:
    job = await bench.submit(WAIT)
    await bench.running(job.uid)
    with Reader(record_path(bench, job.uid)) as reader:
        fill(disk)
        job = await bench.until(job.uid, lambda job: job.reason is not None and job.reason.code == "DiskFull")
        assert job.phase == "Running"
        assert job.reason and "the disk that holds" in job.reason.sentence and job.reason.hint
        (bench.root / "enough").touch()
        done = await bench.ended(job.uid)
    assert done.reason and (done.phase, done.reason.code, done.ended_by) == ("Succeeded", "Succeeded", "itself")
    assert reader.bad == [] and reader.phases == ["Running", "Succeeded"]
    assert [code for code in await bench.codes(job.uid) if code == "Succeeded"] == ["Succeeded"]
    assert said(caplog) == []


async def test_what_happened_while_it_was_full_is_written_when_there_is_space(bench: Bench, disk: Disk) -> None:
    job = await bench.submit(
        WAIT.replace("enough", "first") + "import os; os._exit(os.path.exists('enough') - 1)",
        replica_specs=[{"restart_policy": "OnFailure"}],
        run_policy={"backoff_limit": 1000},
    )
    await bench.running(job.uid)
    with Reader(record_path(bench, job.uid)) as reader:
        disk.fill()
        (bench.root / "first").touch()
        logs = record_path(bench, job.uid).parent / "logs"
        await eventually(lambda: (logs / "worker-0.3").exists())  # an empty directory and log need no block
        full = await bench.engine.job(job.uid)
        disk.free()
        job = await bench.until(job.uid, lambda job: job.restarts > full.restarts + 1)
        (bench.root / "enough").touch()
        done = await bench.ended(job.uid)
    assert reader.bad == []
    assert done.phase == "Succeeded"
    codes = [code for code in await bench.codes(job.uid) if code != "ReplicaFailed"]
    assert codes.count("Restarting") == done.restarts
    assert "DiskFull" in codes and codes[0] == "Created" and codes[-1] == "Succeeded"


@FILL
async def test_a_job_can_be_ended_and_removed_on_a_full_disk(
    bench: Bench, disk: Disk, fill: Callable[[Disk], None]
) -> None:
    running, paused = await bench.submit(WAIT), await bench.submit(WAIT)
    await bench.running(running.uid)
    await bench.running(paused.uid)
    await bench.engine.act(paused.uid, "pause")
    await bench.until(paused.uid, lambda job: job.phase == "Paused")
    fill(disk)
    for job in (running, paused):
        await bench.engine.act(job.uid, "stop")
        done = await bench.ended(job.uid)
        assert done.reason and done.reason.code == "Stopped"
    wished = await bench.engine.act(running.uid, "delete")
    assert wished.pending_action == "deleting" or wished.deleted
    await bench.engine.remove(paused.uid)
    disk.free()
    await bench.until(running.uid, lambda job: job.deleted)


@FILL
async def test_paused_and_resumed_on_a_full_disk(bench: Bench, disk: Disk, fill: Callable[[Disk], None]) -> None:
    job = await bench.submit(WAIT)
    await bench.running(job.uid)
    fill(disk)
    await bench.engine.act(job.uid, "pause")
    await bench.until(job.uid, lambda job: job.phase == "Paused")
    disk.free()
    (bench.root / "enough").touch()
    await bench.engine.act(job.uid, "resume")
    assert (await bench.ended(job.uid)).phase == "Succeeded"


# --- full for the ranks ----------------------------------------------------------------------


@pytest.mark.parametrize("torchrun", [None, {"proc_per_node": 2}], ids=["alone", "torchrun"])
async def test_a_log_that_can_not_be_written(bench: Bench, torchrun: Any) -> None:
    job = await bench.submit("while True:\n    print('x' * 10_000)", torchrun=torchrun)
    done = await bench.ended(job.uid)
    assert done.reason and (done.phase, done.reason.code) == ("Failed", "DiskFull")
    assert "is full" in done.reason.sentence and str(bench.home) in done.reason.sentence
    assert done.reason.hint and "room" in done.reason.hint


@pytest.mark.parametrize(
    "write",
    [
        "open(f'{folder}/checkpoint', 'wb', buffering=0).write(bytes(1 << 22)) == 1 << 22 or f.write(b'x')",
        "shutil.copyfile('/dev/zero', f'{folder}/checkpoint')",
    ],
)
async def test_a_checkpoint_that_can_not_be_written(bench: Bench, tmp_path: Path, write: str) -> None:
    with small_disk(tmp_path / "runs") as other:
        job = await bench.submit(
            f"import shutil\nfolder = {str(other.path)!r}\nf = open(f'{{folder}}/f', 'wb', buffering=0)\n" + write,
            working_dir=str(other.path),
        )
        done = await bench.ended(job.uid)
    assert done.reason and (done.phase, done.reason.code) == ("Failed", "DiskFull")
    assert re.fullmatch(
        f"The script failed with exit code 1: the disk that holds {other.path}(/checkpoint)? is full",
        done.reason.sentence,
    )
    assert done.reason.verbatim and "No space left on device" in done.reason.verbatim
    assert done.failure and done.failure.frames


async def test_torch_does_not_say_why_it_could_not_save(bench: Bench, tmp_path: Path) -> None:
    with small_disk(tmp_path / "runs") as other:
        text = "import torch\ntorch.save(torch.zeros(4_000_000), 'checkpoint.pt')"
        job = await bench.submit(text, working_dir=str(other.path))
        done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "DiskFull"
    assert str(other.path) in done.reason.sentence


async def test_a_folder_that_is_read_only_for_the_ranks(bench: Bench, tmp_path: Path) -> None:
    with small_disk(tmp_path / "runs") as other, read_only(other.path):
        job = await bench.submit("open('metrics.csv', 'w')", working_dir=str(other.path))
        relative = await bench.ended(job.uid)
        job = await bench.submit(f"open('{other.path}/metrics.csv', 'w')")
        absolute = await bench.ended(job.uid)
    for done, place in (relative, "a disk that it writes to"), (absolute, f"the disk that holds {other.path}/"):
        assert done.reason and (done.reason.code, done.phase) == ("DiskReadOnly", "Failed")
        assert done.reason.sentence.startswith(f"The script failed with exit code 1: {place}")
        assert done.reason.sentence.endswith("is read-only")


async def test_another_failure_is_not_put_on_a_full_disk(bench: Bench, tmp_path: Path) -> None:
    with small_disk(tmp_path / "runs") as other:
        other.fill()
        job = await bench.submit("raise ValueError('no luck')", working_dir=str(other.path))
        done = await bench.ended(job.uid)
    assert done.reason and done.reason.sentence == "The script failed with exit code 1: ValueError: no luck"


# --- read-only -------------------------------------------------------------------------------


async def test_read_only_before_a_submission(bench: Bench) -> None:
    with read_only(bench.home):
        with pytest.raises(Unavailable) as refused:
            await bench.submit("pass")
        assert (refused.value.code, await bench.engine.jobs()) == ("DiskReadOnly", [])
        assert str(bench.home) in refused.value.message
    assert (await bench.ended((await bench.submit("pass")).uid)).phase == "Succeeded"


async def test_read_only_while_it_runs(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job = await bench.submit("print('begun', flush=True)\n" + WAIT + "print('ended')")
    await bench.running(job.uid)
    with read_only(bench.home):
        seen = await bench.until(job.uid, lambda job: job.reason is not None and job.reason.code == "DiskReadOnly")
        assert seen.phase == "Running"
        with pytest.raises(Unavailable) as refused:
            await bench.engine.act(job.uid, "stop")
        assert refused.value.code == "DiskReadOnly"
        (bench.root / "enough").touch()
        await eventually(lambda: len(carrying(job.uid)) == 0)
        assert (await bench.engine.job(job.uid)).phase == "Running"  # nobody could write anything else
    done = await bench.ended(job.uid)
    assert done.reason and (done.phase, done.reason.code) == ("Succeeded", "Succeeded")
    assert await bench.output(job.uid, "worker-0.1.container.out") == b"begun\nended\n"
    assert "DiskReadOnly" in await bench.codes(job.uid)
    words = (record_path(bench, job.uid).parent / "supervisor.log").read_text()
    assert len(words.splitlines()) <= 2
    assert said(caplog) == []


# --- gone ------------------------------------------------------------------------------------


async def test_a_job_whose_directory_is_removed_ends(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job = await bench.submit(WAIT)
    await bench.running(job.uid)
    remove(record_path(bench, job.uid).parent)
    await eventually(lambda: not carrying(job.uid))
    await eventually(lambda: bench.heard[-1] == (job.id, None))
    assert await bench.engine.jobs() == []
    assert said(caplog) == []


async def test_a_home_that_is_removed_is_made_anew(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    job = await bench.submit(WAIT)
    await bench.running(job.uid)
    remove(bench.home)
    await eventually(lambda: not carrying(job.uid))
    await eventually(lambda: bench.heard[-1] == (job.id, None))
    assert (await bench.ended((await bench.submit("pass")).uid)).phase == "Succeeded"
    assert said(caplog) == []


async def test_a_working_directory_that_is_gone_at_a_restart(bench: Bench) -> None:
    folder = bench.root / "folder"
    folder.mkdir()
    text = WAIT.replace('"enough"', repr(str(bench.root / "enough"))) + "raise SystemExit(3)"
    job = await bench.submit(text, working_dir=str(folder), replica_specs=[{"restart_policy": "OnFailure"}])
    await bench.running(job.uid)
    folder.rmdir()
    (bench.root / "enough").touch()
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "StartFailed"
    assert f"its working directory {folder} is gone" in done.reason.sentence


async def test_logs_that_are_removed_while_they_are_listed(bench: Bench) -> None:
    job = await bench.submit("pass")
    logs = record_path(bench, (await bench.ended(job.uid)).uid).parent / "logs"
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            for rank in range(1, 20):
                (logs / f"worker-{rank}.1/ranks/x/attempt_0/0").mkdir(parents=True, exist_ok=True)
                (logs / f"worker-{rank}.1/ranks/x/attempt_0/0/stdout.log").touch()
            for rank in range(1, 20):
                shutil.rmtree(logs / f"worker-{rank}.1")

    user = threading.Thread(target=come_and_go)
    user.start()
    try:
        assert all([await bench.engine.log_sources(job.uid) for _ in range(100)])
    finally:
        over.set()
        user.join()


async def test_logs_that_are_removed_while_it_runs(bench: Bench) -> None:
    text = "open('begun', 'w').write('x')" + WAIT + "print('on')"
    job = await bench.submit(text, torchrun={"proc_per_node": 1})
    await bench.running(job.uid)
    await bench.written(bench.root / "begun")  # torchrun has made all files of the rank
    remove(record_path(bench, job.uid).parent / "logs")
    (bench.root / "enough").touch()
    assert (await bench.ended(job.uid)).phase == "Succeeded"
    assert await bench.engine.log_sources(job.uid) == []


# --- a home that can't be used ---------------------------------------------------------------


async def test_a_server_on_an_unusable_home_says_why_and_recovers(
    bench: Bench, disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    hidden = bench.home.rename(disk.path / "hidden")
    bench.home.write_text("in the way")
    other = make_engine(bench.home, bench.root)
    await other.start()
    bench.engine, before = other, bench.engine
    other.listen(bench.hear)
    bench.heard.clear()
    info = await other.info()
    assert not info.available and info.reason and str(bench.home) in info.reason
    assert await other.jobs() == []
    with pytest.raises(Unavailable, match="can't be used"):
        await bench.submit("pass")
    await asyncio.sleep(5)  # it tries again meanwhile
    assert len([line for line in said(caplog) if "can't be used" in line]) <= 2  # one of each engine
    bench.home.unlink()
    hidden.rename(bench.home)
    await bench.known(job.uid)
    assert (await other.info()).available
    await before.stop()


async def test_a_home_is_mended_and_the_next_request_finds_it_so(bench: Bench, disk: Disk) -> None:
    disk.fill_inodes()
    home = disk.path / "other" / "home"
    bench.engine, before = make_engine(home, bench.root), bench.engine
    await before.stop()
    await bench.engine.start()
    bench.engine.listen(bench.hear)
    info = await bench.engine.info()
    assert not info.available and info.reason and "inode" in info.reason
    disk.free()
    assert (await bench.ended((await bench.submit("pass")).uid)).phase == "Succeeded"


# --- rights ----------------------------------------------------------------------------------

UNPRIVILEGED = """
import asyncio, json, os, sys, tempfile
from pathlib import Path
from jupyterlab_t9kjob.core.errors import Unavailable
from tests.local.harness import Bench, make_engine

WAIT = '''
import os, time
open("begun", "w").write("x")
while not os.path.exists("enough"):
    time.sleep(0.02)
'''

async def main():
    top = Path(sys.argv[1])
    home, root = top / "home", top / "work"
    root.mkdir()
    bench = Bench(make_engine(home, root), home, root)
    await bench.engine.start()
    bench.engine.listen(bench.hear)
    job = await bench.submit(WAIT, torchrun={"proc_per_node": 1})
    folder = home / "jobs" / job.uid
    await bench.running(job.uid)
    await bench.written(root / "begun")  # torchrun has made all files of the rank
    seen = {}
    for name, path, mode in (("job", folder, 0o500), ("job", folder, 0o000), ("all", home / "jobs", 0o500),
                             ("all", home / "jobs", 0o000)):
        path.chmod(mode)
        heard = lambda job: job.reason.code != "Started"
        if (name, mode) != ("all", 0o500):
            await bench.until(job.uid, heard)
        seen[f"{name} {mode:o}"] = (await bench.engine.job(job.uid)).reason.code
        try:
            await (bench.submit("pass") if name == "all" else bench.engine.act(job.uid, "stop"))
        except Unavailable as error:
            seen[f"{name} {mode:o} refused"] = error.code
        await bench.engine.replicas(job.uid), await bench.engine.events(job.uid)
        try:
            await bench.engine.log_sources(job.uid)
        except Unavailable as error:
            seen[f"{name} {mode:o} logs"] = error.code
        path.chmod(0o700)
        await bench.until(job.uid, lambda job: not heard(job))
    (root / "enough").touch()
    seen["done"] = (await bench.ended(job.uid)).reason.code
    await bench.engine.stop()
    print(json.dumps(seen))

asyncio.run(main())
"""


@pytest.fixture
def unprivileged() -> list[str]:
    """How to start a program that has no right to all files, even as root."""
    command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    if shutil.which("setpriv") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("setpriv can't give up rights here")
    return command


async def test_rights_that_are_taken_away(unprivileged: list[str], tmp_path: Path) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [*unprivileged, sys.executable, "-c", UNPRIVILEGED, str(tmp_path)],
        capture_output=True, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "job 500": "NotPermitted", "job 500 refused": "NotPermitted",
        "job 0": "NotPermitted", "job 0 refused": "NotPermitted", "job 0 logs": "NotPermitted",
        "all 500": "Started", "all 500 refused": "NotPermitted",
        "all 0": "NotPermitted", "all 0 refused": "NotPermitted", "all 0 logs": "NotPermitted",
        "done": "Succeeded",
    }  # fmt: skip
    assert len(done.stderr.splitlines()) < 10, done.stderr
