"""Log directories that are missing, removed, linked again or unreadable, and disks that are full, read-only or hang."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.system import disk_threads
from jupyterlab_t9kjob.tensorboard import board as board_module
from jupyterlab_t9kjob.tensorboard.model import TensorBoard
from tests.local.disks import hung_disk
from tests.tensorboard.conftest import WAIT, Ask, Events, News, opened, scalars

BOTH_LOADERS = pytest.mark.parametrize(
    "settings", [{"reload_interval": 0.5, "loader": loader} for loader in ("auto", "slow")], ids=["auto", "slow"]
)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_module, "WATCH_SECONDS", 0.1)
    monkeypatch.setattr(board_module, "WATCH_SECONDS_WITH_DATA", 0.1)


def code(board: TensorBoard) -> str | None:
    return board.reason and board.reason.code


async def runs(ask: Ask, board: dict[str, Any], wanted: list[str]) -> None:
    """Wait until TensorBoard shows these runs and no others."""

    async def look() -> None:
        while json.loads((await ask(board["url"] + "data/runs")).body) != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    await asyncio.wait_for(look(), WAIT)


@BOTH_LOADERS
async def test_missing_removed_and_back(ask: Ask, news: News, jp_root_dir: Path) -> None:
    folder = jp_root_dir / "later"
    board = await opened(ask, paths=["later"])
    missing = await news.until(lambda found: code(found) == "NoFolder")
    assert missing.reason is not None
    assert missing.reason.sentence == f"{folder} does not exist yet."
    assert not missing.has_data
    Events(folder / "a").add("loss", [1.0])
    assert (await news.until(lambda found: found.has_data)).reason is None
    assert await scalars(ask, board, "later/a", "loss", 1) == [(1, 1.0)]

    shutil.rmtree(folder)
    removed = await news.until(lambda found: code(found) == "FolderGone")
    assert removed.reason is not None
    assert removed.reason.sentence == f"{folder} has been removed."
    assert (removed.has_data, removed.last_data_at) == (False, None)
    await runs(ask, board, [])

    Events(folder / "a").add("loss", [5.0])
    assert (await news.until(lambda found: found.has_data)).reason is None
    assert await scalars(ask, board, "later/a", "loss", 1) == [(1, 5.0)]


@BOTH_LOADERS
async def test_a_run_in_the_log_directory_itself_has_a_name(
    ask: Ask, parts: Any, news: News, jp_root_dir: Path, tmp_path: Path
) -> None:
    Events(jp_root_dir / "train-1").add("loss", [1.0, 2.0])
    Events(jp_root_dir / "train-1" / "eval").add("loss", [3.0])
    board = await opened(ask, paths=["train-1"])
    await runs(ask, board, ["train-1", "train-1/eval"])
    counted = await news.until(lambda found: found.id == board["id"] and found.points is not None)
    assert (counted.runs, counted.points) == (2, 3)
    # a job's is called as the job is, also where nothing is written yet
    job = parts.engine.put("mnist-7")
    parts.engine.known[job.uid].log_dirs = [str(tmp_path / "logs")]
    early = await opened(ask, job_id=job.id)
    Events(tmp_path / "logs").add("loss", [4.0])
    await runs(ask, early, ["mnist-7"])
    # runs beside each other have names of their own
    beside = await opened(ask, paths=[""])
    await runs(ask, beside, ["train-1", "train-1/eval"])
    # a folder that is empty yet may become a run
    (jp_root_dir / "empty").mkdir()
    empty = await opened(ask, paths=["empty"])
    Events(jp_root_dir / "empty").add("loss", [5.0])
    await runs(ask, empty, ["empty"])


@BOTH_LOADERS
async def test_links_in_circles(ask: Ask, news: News, jp_root_dir: Path) -> None:
    Events(jp_root_dir / "log" / "a").add("loss", [1.0])
    for name in ("x", "y"):
        (jp_root_dir / "log" / "a" / name).symlink_to(jp_root_dir / "log")
    (jp_root_dir / "log" / "best").symlink_to("a")
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, "a", "loss", 1) == [(1, 1.0)]
    assert await scalars(ask, board, "best", "loss", 1) == [(1, 1.0)]
    Events(jp_root_dir / "log" / "b").add("loss", [2.0])
    assert await scalars(ask, board, "b", "loss", 1) == [(1, 2.0)]


async def test_a_link_out_of_the_root(ask: Ask, news: News, jp_root_dir: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    Events(outside).add("loss", [9.0])
    folder = jp_root_dir / "log"
    folder.symlink_to(outside)
    says = f"{folder} (a link to {outside}) is outside the folder that JupyterLab shows ({jp_root_dir})."
    refused = await ask("tensorboards", "POST", {"paths": ["log"]})
    assert (refused.code, json.loads(refused.body)["message"]) == (422, says)

    folder.unlink()
    Events(folder).add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
    # turned around while it is open
    folder.rename(jp_root_dir / "kept")
    folder.symlink_to(outside)
    failed = await news.until(lambda found: found.status == "failed")
    assert failed.reason is not None
    assert (failed.reason.code, failed.reason.sentence) == ("OutsideRoot", says)
    for _ in range(2):
        refused = await ask(board["url"] + "data/runs")
        assert (refused.code, json.loads(refused.body)["message"]) == (503, says)
        assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
    # within the root it may lead anywhere, and what it shows follows
    folder.unlink()
    folder.symlink_to("kept")
    assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
    assert (await opened(ask, paths=["kept"]))["id"] == board["id"]


async def test_a_link_inside_that_leads_out(ask: Ask, news: News, jp_root_dir: Path, tmp_path: Path) -> None:
    """TensorBoard follows the link, as the documentation says: event files are shown, and nothing else can be read."""
    Events(tmp_path / "scratch" / "big").add("loss", [4.0])
    (tmp_path / "scratch" / "secret.txt").write_text("secret")
    (jp_root_dir / "log").mkdir()
    (jp_root_dir / "log" / "scratch").symlink_to(tmp_path / "scratch")
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, "scratch/big", "loss", 1) == [(1, 4.0)]
    for path in ("scratch/secret.txt", "data/scratch/secret.txt", "..%2f..%2fsecret.txt", "%2fetc%2fpasswd"):
        assert (await ask(board["url"] + path)).code == 404


async def test_a_jobs_own_directory_may_become_a_link(ask: Ask, parts: Any, news: News, tmp_path: Path) -> None:
    log_dir = tmp_path / "scratch" / "train-7"
    Events(log_dir).add("loss", [1.0])
    job = parts.engine.put()
    parts.engine.known[job.uid].log_dirs = [str(log_dir)]
    board = await opened(ask, job_id=job.id)
    assert await scalars(ask, board, job.name, "loss", 1) == [(1, 1.0)]
    log_dir.rename(tmp_path / "elsewhere")
    log_dir.symlink_to(tmp_path / "elsewhere")
    assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
    assert await scalars(ask, board, job.name, "loss", 1) == [(1, 1.0)]


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of 1 MiB, where we may."""
    mounted = (
        os.getuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True
        ).returncode
    )
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", folder], check=True)


async def test_a_full_disk_and_a_read_only_one(ask: Ask, news: News, jp_root_dir: Path) -> None:
    folder = jp_root_dir / "disk"
    folder.mkdir()
    with small_disk(folder):
        Events(folder / "a").add("loss", [1.0, 2.0])
        if os.path.ismount(folder):  # noqa: ASYNC240
            with pytest.raises(OSError, match="No space"):
                (folder / "filler").write_bytes(bytes(2 * 1024 * 1024))
        board = await opened(ask, paths=["disk"])
        assert await scalars(ask, board, "a", "loss", 2) == [(1, 1.0), (2, 2.0)]
        if os.path.ismount(folder):  # noqa: ASYNC240
            subprocess.run(["mount", "-o", "remount,ro", folder], check=True)  # noqa: ASYNC221
        else:
            (folder / "a").chmod(0o500)
            folder.chmod(0o500)
        assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
        assert await scalars(ask, board, "a", "loss", 2) == [(1, 1.0), (2, 2.0)]
        assert (await ask(f"tensorboards/{board['id']}", "DELETE")).code == 204
    folder.chmod(0o700)


async def test_a_disk_that_hangs(ask: Ask, news: News, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_threads, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(board_module, "WATCH_SECONDS", 0.1)
    (jp_root_dir / "hangs").mkdir()
    Events(jp_root_dir / "well").add("loss", [1.0])
    hangs = await opened(ask, paths=["hangs"])
    await news.until(lambda found: found.status == "running")  # else its start is what waits for the disk
    with hung_disk(jp_root_dir / "hangs"):
        told = await news.until(lambda found: code(found) == "FolderHangs")
        assert told.reason is not None
        assert told.reason.sentence == f"{jp_root_dir / 'hangs'} is on a disk that does not answer."
        # nobody else waits for it, nor does the end of the server
        well = await opened(ask, paths=["well"])
        assert await scalars(ask, well, well["label"], "loss", 1) == [(1, 1.0)]
        await news.until(lambda found: found.id == well["id"] and found.has_data)
        waiting = [thread for thread in threading.enumerate() if str(jp_root_dir) in thread.name]
        assert waiting and all(thread.daemon for thread in waiting)
    Events(jp_root_dir / "hangs").add("loss", [1.0])
    assert (await news.until(lambda found: found.id == hangs["id"] and found.has_data)).reason is None


async def test_a_start_waits_for_a_disk_that_hangs(
    ask: Ask, news: News, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_threads, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(board_module, "WATCH_SECONDS", 0.1)
    folder = jp_root_dir / "hangs"
    folder.mkdir()
    board = await opened(ask, paths=["hangs"])
    await news.until(lambda found: found.status == "running")
    with hung_disk(folder):
        assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
        told = await news.until(lambda found: code(found) == "FolderHangs" and found.status == "starting")
        assert told.reason is not None
        assert told.reason.sentence == f"{folder} is on a disk that does not answer."
        page = await ask(board["url"])
        assert (page.code, json.loads(page.body)["code"]) == (503, "FolderHangs")
    await news.until(lambda found: found.status == "running" and found.reason is None)
    Events(folder).add("loss", [1.0])
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]


async def test_a_start_for_which_there_is_no_thread(
    ask: Ask, news: News, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_arguments: Any, **_options: Any) -> None:
        raise RuntimeError("can't start new thread")

    (jp_root_dir / "runs").mkdir()
    with monkeypatch.context() as crowded:
        crowded.setattr(asyncio.get_running_loop(), "subprocess_exec", refuse)
        board = await opened(ask, paths=["runs"])
        told = await news.until(lambda found: found.status == "failed")
    assert told.reason is not None and told.reason.verbatim == "can't start new thread"
    assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
    await news.until(lambda found: found.status == "running")


UNREADABLE = """
import asyncio, sys
from pathlib import Path
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.system import disk_threads
from jupyterlab_t9kjob.tensorboard import board as board_module
from jupyterlab_t9kjob.tensorboard.board import Settings
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from jupyterlab_t9kjob.tensorboard.proxy import _exchange, _Receiver, httputil

board_module.WATCH_SECONDS = 0.1
root = Path(sys.argv[1])

async def runs(endpoint):
    body = b""
    async def take(chunk):
        nonlocal body
        body += chunk
    await _exchange(endpoint, "GET", "data/runs", httputil.HTTPHeaders(), b"", _Receiver(lambda *_: None, take))
    return body.decode().strip()

async def main():
    settings = Settings(reload_interval=0.5, loader=sys.argv[2])
    manager = TensorBoardManager(ContentsRoot(AsyncLargeFileManager(root_dir=sys.argv[1])), settings=settings)
    told = asyncio.Event()
    manager.listen(lambda *_: told.set())
    board, _ = await manager.open([root / "log"])
    async def until(true):
        while not true(manager.get(board.id)):
            told.clear()
            await told.wait()
    endpoint = await manager.endpoint(board.id)
    await until(lambda found: found.reason is not None)
    reason = manager.get(board.id).reason
    print(reason.code, reason.sentence, reason.verbatim, reason.hint, sep="|")
    (root / "log").chmod(0o700)
    await until(lambda found: found.has_data)
    while await runs(endpoint) != '["a"]':
        await asyncio.sleep(0.1)
    (root / "log" / "b").chmod(0o700)  # it has been skipped until now
    while await runs(endpoint) != '["a", "b"]':
        await asyncio.sleep(0.1)
    await manager.stop()

asyncio.run(main())
"""


@pytest.mark.asyncio
@pytest.mark.parametrize("loader", ["auto", "slow"])
async def test_unreadable(tmp_path: Path, loader: str) -> None:
    for name in ("a", "b"):
        Events(tmp_path / "log" / name).add("loss", [1.0])
    (tmp_path / "log" / "b").chmod(0)
    (tmp_path / "log").chmod(0)
    # Root reads everything, but for these two capabilities.
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        *plain, *(sys.executable, "-c", UNREADABLE, str(tmp_path), loader), stdout=asyncio.subprocess.PIPE
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), WAIT)
    finally:
        if process.returncode is None:
            process.kill()
        (tmp_path / "log").chmod(0o700)
        (tmp_path / "log" / "b").chmod(0o700)
    assert process.returncode == 0
    says = ["FolderUnreadable", f"{tmp_path / 'log'} can't be read.", "Permission denied", "Check its permissions."]
    assert out.decode().strip().split("|") == says
