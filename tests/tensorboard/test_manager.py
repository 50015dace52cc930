"""Processes: one for a set of directories, in place, while somebody looks, and never one too many."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotFound, Unavailable
from jupyterlab_t9kjob.tensorboard import board as board_module
from jupyterlab_t9kjob.tensorboard import manager as manager_module
from jupyterlab_t9kjob.tensorboard import process as process_module
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from jupyterlab_t9kjob.tensorboard.process import Endpoint
from tests.tensorboard.conftest import Events, News, children, until

pytestmark = pytest.mark.asyncio


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a program in TensorBoard's place."""

    def replace(text: str) -> None:
        path = tmp_path / "child.py"
        path.write_text(text)
        monkeypatch.setattr(process_module, "CHILD", path)

    return replace


async def test_one_process_for_the_same_directories(alone: TensorBoardManager, tmp_path: Path) -> None:
    news = News(alone)
    (tmp_path / "link").symlink_to(tmp_path / "root")
    first, new = await alone.open([tmp_path / "root" / "runs"])
    assert (new, first.status, first.paths, first.job_id) == (True, "starting", ["runs"], None)
    endpoints = await asyncio.gather(*(alone.endpoint(first.id) for _ in range(5)))
    assert len(set(endpoints)) == 1
    (process,) = children()
    boards = await asyncio.gather(*(alone.open([tmp_path / "link" / "runs"], "job") for _ in range(5)))
    assert {(board.id, new) for board, new in boards} == {(first.id, False)}
    assert boards[0][0].job_id == "job"
    assert children() == [process]
    assert [board.id for board in await alone.list()] == [first.id]
    running = await news.until(lambda board: board.status == "running")
    assert running.id == first.id
    assert len(running.id) >= 20


async def test_its_place_is_private_and_goes_with_it(alone: TensorBoardManager, tmp_path: Path) -> None:
    board, _ = await alone.open([tmp_path / "root"])
    endpoint = await alone.endpoint(board.id)
    assert isinstance(endpoint.address, str)
    folder = Path(endpoint.address).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(endpoint.address) < 108
    await alone.stop()
    assert not folder.exists()


async def test_a_restart_keeps_id_and_address(alone: TensorBoardManager, tmp_path: Path) -> None:
    board, _ = await alone.open([tmp_path / "root"])
    await alone.endpoint(board.id)
    (old,) = children()
    again = await alone.restart(board.id)
    assert (again.id, again.url, again.status) == (board.id, board.url, "starting")
    await alone.endpoint(board.id)
    (process,) = children()
    assert process.pid != old.pid


async def test_removed(alone: TensorBoardManager, tmp_path: Path) -> None:
    news = News(alone)
    board, _ = await alone.open([tmp_path / "root"])
    await alone.endpoint(board.id)
    await alone.remove(board.id)
    assert children() == []
    assert news.seen[-1] == (board.id, None)
    for call in (alone.endpoint(board.id), alone.restart(board.id), alone.remove(board.id)):
        with pytest.raises(NotFound):
            await call
    other, new = await alone.open([tmp_path / "root"])
    assert new
    # removed while it starts: whoever waits for it is told
    waiting = asyncio.create_task(alone.endpoint(other.id))
    await asyncio.sleep(0)
    await alone.remove(other.id)
    with pytest.raises(Unavailable, match="stopped"):
        await waiting


STAND_IN = """
import json, os
print(json.dumps({"socket": "/nowhere"}), flush=True)
while os.read(0, 4096): pass
"""


@pytest.mark.parametrize("wish", ["restart", "look"])
async def test_removed_while_it_is_about_to_start(
    alone: TensorBoardManager,
    tmp_path: Path,
    child: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    wish: str,
) -> None:
    child(STAND_IN)
    board, _ = await alone.open([tmp_path / "root"])
    await alone.endpoint(board.id)
    if wish == "look":
        await alone._board(board.id).end()
    asked, go = asyncio.Event(), asyncio.Event()

    async def installed() -> bool:
        asked.set()
        await go.wait()
        return True

    monkeypatch.setattr(alone, "installed", installed)
    starting = asyncio.create_task(alone.restart(board.id) if wish == "restart" else alone.endpoint(board.id))
    await asked.wait()
    removing = asyncio.create_task(alone.remove(board.id))
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(starting, removing, return_exceptions=True)
    assert await alone.list() == []
    assert children() == []


async def test_a_start_that_is_called_off_leaves_nothing(
    alone: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = process_module._private_directory

    def slowly() -> Path:
        made = make()
        time.sleep(0.05)
        return made

    monkeypatch.setattr(process_module, "_private_directory", slowly)
    for delay in (0.0, 0.001, 0.01, 0.03, 0.1, 0.3):
        board, _ = await alone.open([tmp_path / "root"])
        await asyncio.sleep(delay)
        await alone.remove(board.id)
        assert children() == []


@pytest.mark.parametrize("settings", [{"idle_seconds": 0.5}])
async def test_idle_until_the_next_look(alone: TensorBoardManager, tmp_path: Path) -> None:
    news = News(alone)
    board, _ = await alone.open([tmp_path / "root"])
    await alone.endpoint(board.id)
    await news.until(lambda found: found.status == "idle")
    await until(lambda: not children())  # it is idle as soon as its process is asked to end
    assert isinstance(await alone.endpoint(board.id), Endpoint)
    assert alone.get(board.id).status == "running"
    assert len(children()) == 1


@pytest.mark.parametrize("settings", [{"limit": 2}])
async def test_no_more_than_may_run(alone: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / "root" / name for name in "abc"]
    first, _ = await alone.open([folders[0]])
    await alone.open([folders[1]])
    with pytest.raises(Conflict, match="2 TensorBoards are running") as caught:
        await alone.open([folders[2]])
    assert "Stop one of them" in (caught.value.hint or "")
    assert len(await alone.list()) == 2
    monkeypatch.setattr(manager_module, "BUSY_SECONDS", 0.0)
    third, _ = await alone.open([folders[2]])
    await alone.endpoint(third.id)
    assert alone.get(first.id).status == "idle"
    assert len(children()) == 2


async def test_it_dies(alone: TensorBoardManager, tmp_path: Path) -> None:
    news = News(alone)
    board, _ = await alone.open([tmp_path / "root"])
    endpoint = await alone.endpoint(board.id)
    (process,) = children()
    process.kill()
    failed = await news.until(lambda found: found.status == "failed")
    assert failed.reason is not None
    assert (failed.reason.code, failed.reason.sentence) == ("Ended", "TensorBoard was killed by signal 9.")
    assert "Restart it. If it happens again, the machine is short of memory" in (failed.reason.hint or "")
    with pytest.raises(Unavailable, match="killed by signal 9"):
        await alone.endpoint(board.id)
    assert isinstance(endpoint.address, str)
    await until(lambda: not Path(str(endpoint.address)).parent.exists())
    again, new = await alone.open([tmp_path / "root"])
    assert (again.id, again.status, again.reason, new) == (board.id, "starting", None, False)
    await alone.endpoint(board.id)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("import sys; print('first\\nno luck', file=sys.stderr); sys.exit(3)", "StartFailed", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "StartFailed", "signal 15"),
        ("import sys; sys.stderr.write('x' * 10_000_000); sys.exit(1)", "StartFailed", "exit code 1"),
    ],
)
async def test_it_does_not_start(
    alone: TensorBoardManager, tmp_path: Path, child: Callable[[str], None], text: str, code: str, says: str
) -> None:
    child(text)
    board, _ = await alone.open([tmp_path / "root"])
    with pytest.raises(Unavailable, match=says) as caught:
        await alone.endpoint(board.id)
    assert caught.value.code == code
    failed = alone.get(board.id)
    assert failed.status == "failed"
    assert failed.reason is not None
    if "no luck" in text:
        assert failed.reason.verbatim == "first\nno luck"
    assert len(failed.reason.verbatim or "") < 500_000


@pytest.mark.parametrize("settings", [{"start_seconds": 1.0}])
async def test_a_slow_start_is_said_and_bounded(
    alone: TensorBoardManager, tmp_path: Path, child: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_module, "SLOW_SECONDS", 0.1)
    news = News(alone)
    child("import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)")
    board, _ = await alone.open([tmp_path / "root"])
    slow = await news.until(lambda found: found.reason is not None)
    assert slow.status == "starting"
    assert slow.reason is not None
    assert slow.reason.code == "SlowStart"
    with pytest.raises(Unavailable, match="did not start within 1 s") as caught:
        await alone.endpoint(board.id)
    assert caught.value.code == "StartTimeout"
    await until(lambda: children() == [])


async def test_not_installed(alone: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await alone.installed()
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "tensorboard", raising=False)
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if "editable" not in repr(finder)])
    assert not await alone.installed()
    with pytest.raises(Unavailable) as caught:
        await alone.open([tmp_path / "root"])
    assert caught.value.code == "TensorBoardMissing"
    assert f"{sys.executable} -m pip install tensorboard" in (caught.value.hint or "")
    assert await alone.list() == []


async def test_data_that_arrives_is_told(
    alone: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_module, "WATCH_SECONDS", 0.05)
    news = News(alone)
    log_dir = tmp_path / "root" / "later" / "train-1"
    board, _ = await alone.open([log_dir])
    await alone.endpoint(board.id)
    assert (alone.get(board.id).has_data, alone.get(board.id).last_data_at) == (False, None)
    Events(log_dir).add("loss", [1.0])
    arrived = await news.until(lambda found: found.has_data)
    assert arrived.last_data_at is not None
    newest = max(path.stat().st_mtime for path in log_dir.iterdir())
    assert abs(arrived.last_data_at - newest) < 60
