"""TensorBoard processes that are killed or hang, a killed server, and many starts at once."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyterlab_t9kjob.core.errors import Unavailable
from jupyterlab_t9kjob.tensorboard import board as board_module
from jupyterlab_t9kjob.tensorboard import process as process_module
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager
from jupyterlab_t9kjob.tensorboard.proxy import ask as look_at
from tests.tensorboard.conftest import WAIT, Ask, Events, News, children, command_of, opened, scalars, until

# Ten, as the limit is, by hand.
AT_ONCE = int(os.environ.get("T9K_TEST_TENSORBOARDS", "3"))


def family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _shows(process: psutil.Process, log_dir: Path) -> bool:
    """Return True if a TensorBoard reads a directory, by the arguments of its data server."""
    return any(f"--logdir={log_dir}" in command_of(child) for child in process.children())


def gone(processes: list[psutil.Process]) -> bool:
    return not any(process.is_running() and command_of(process) for process in processes)


@pytest.fixture
def asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_module, "PROBE_PAUSE_SECONDS", 0.2)


async def test_killed_again_and_again(ask: Ask, news: News, jp_root_dir: Path) -> None:
    Events(jp_root_dir / "log").add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    for _ in range(3):
        assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
        (process,) = children()
        everything = family(process)
        process.kill()
        failed = await news.until(lambda found: found.status == "failed")
        assert failed.reason is not None
        assert "killed by signal 9" in failed.reason.sentence
        assert failed.reason.verbatim is None
        refused = await ask(board["url"] + "data/runs")
        assert (refused.code, json.loads(refused.body)["message"]) == (503, failed.reason.sentence)
        await until(partial(gone, everything))
        again = await ask(f"tensorboards/{board['id']}/restart", "POST")
        assert json.loads(again.body)["url"] == board["url"]
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
    assert len(children()) == 1


async def test_its_data_server_is_killed(ask: Ask, news: News, jp_root_dir: Path) -> None:
    board = await opened(ask, paths=["log"])
    await ask(board["url"])
    (process,) = children()
    for server in process.children():
        server.kill()
        failed = await news.until(lambda found: found.status == "failed")
        assert failed.reason is not None
        assert "data server ended: -9" in (failed.reason.verbatim or "")


@pytest.mark.usefixtures("asked_often")
async def test_it_hangs(
    ask: Ask, manager: TensorBoardManager, news: News, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Events(jp_root_dir / "log").add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    assert await scalars(ask, board, board["label"], "loss", 1)
    (process,) = children()
    everything = family(process)
    endpoint = await manager.endpoint(board["id"])
    process.suspend()
    # who waits already is told, and so is whoever asks afterwards
    before = set(endpoint.streams)
    asking = asyncio.create_task(ask(board["url"] + "data/runs"))
    await until(lambda: bool(endpoint.streams - before))
    patient = board_module.PROBE_SECONDS
    monkeypatch.setattr(board_module, "PROBE_SECONDS", 2.0)  # not before: it may be slow, and the request too
    waiting = await asking
    assert waiting.code == 502
    assert "answers none" in json.loads(waiting.body)["message"]
    hangs = await news.until(lambda found: found.status == "unresponsive")
    assert hangs.reason is not None
    assert (hangs.reason.code, hangs.reason.hint) == ("NotAnswering", "Wait, or restart it.")
    assert hangs.since is not None
    refused = await ask(board["url"] + "data/runs")
    assert (refused.code, json.loads(refused.body)["hint"]) == (503, "Wait, or restart it.")
    page = await ask(board["url"], headers={"Accept": "text/html"})
    assert page.headers["Content-Type"].startswith("text/html")
    assert "TensorBoard takes requests but answers none" in page.body.decode()
    # it comes back by itself
    monkeypatch.setattr(board_module, "PROBE_SECONDS", patient)
    process.resume()
    await news.until(lambda found: found.status == "running")
    assert await scalars(ask, board, board["label"], "loss", 1)
    # or by a restart, which leaves nothing of it
    process.suspend()
    monkeypatch.setattr(board_module, "PROBE_SECONDS", 2.0)
    await news.until(lambda found: found.status == "unresponsive")
    monkeypatch.setattr(board_module, "PROBE_SECONDS", patient)
    assert (await ask(f"tensorboards/{board['id']}/restart", "POST")).code == 200
    assert await scalars(ask, board, board["label"], "loss", 1)
    await until(partial(gone, everything))
    assert len(children()) == 1


async def test_one_that_hangs_holds_up_nobody(ask: Ask, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its processes and data servers are stopped and do not end, as on a network disk that does not answer."""
    for name in ("hung", "well"):  # with folders in them, for an empty one is shown through a link that names its run
        (jp_root_dir / name / "run").mkdir(parents=True)
    hung, well = [await opened(ask, paths=[name]) for name in ("hung", "well")]
    await asyncio.gather(*(ask(board["url"]) for board in (hung, well)))
    monkeypatch.setattr(process_module, "STOP_SECONDS", 2.0)
    for method, path in (("POST", "/restart"), ("DELETE", "")):
        await ask(hung["url"])
        processes = family(next(child for child in children() if _shows(child, jp_root_dir / "hung")))
        for process in processes:
            process.suspend()
        ending = asyncio.create_task(ask(f"tensorboards/{hung['id']}{path}", method))
        # meanwhile everything else goes on
        assert (await ask(f"tensorboards/{well['id']}/restart", "POST")).code == 200
        assert (await ask(well["url"] + "data/runs")).code == 200
        other = await opened(ask, paths=[f"other-{method}"])
        assert (await ask(f"tensorboards/{other['id']}", "DELETE")).code == 204
        assert (await ending).code in (200, 204)
        assert gone(processes)
    assert (await ask(well["url"])).code == 200


@pytest.mark.asyncio
@pytest.mark.usefixtures("asked_often")
async def test_its_private_directory_is_removed(alone: TensorBoardManager, tmp_path: Path) -> None:
    news = News(alone)
    board, _ = await alone.open([tmp_path / "root"])
    endpoint = await alone.endpoint(board.id)
    shutil.rmtree(Path(str(endpoint.address)).parent)
    hangs = await news.until(lambda found: found.status == "unresponsive")
    assert hangs.reason is not None
    assert hangs.reason.verbatim == "TensorBoard can't be reached."
    await alone.restart(board.id)
    await look_at(await alone.endpoint(board.id), "data/runs")


@pytest.mark.asyncio
async def test_no_place_for_its_socket(
    alone: TensorBoardManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "gone"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    monkeypatch.setattr("jupyterlab_t9kjob.tensorboard.process.runtime_directory", lambda: home)
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    board, _ = await alone.open([tmp_path / "root"])
    with pytest.raises(Unavailable, match="no directory for its socket") as caught:
        await alone.endpoint(board.id)
    assert "No such file or directory" in (caught.value.verbatim or "")
    assert f"Free space in {home}" in (caught.value.hint or "")
    monkeypatch.setattr(tempfile, "tempdir", None)
    await alone.restart(board.id)
    await look_at(await alone.endpoint(board.id), "data/runs")


@pytest.mark.parametrize("settings", [{"limit": AT_ONCE, "reload_interval": 0.5}])
async def test_many_at_once(ask: Ask, manager: TensorBoardManager, jp_root_dir: Path) -> None:
    for number in range(AT_ONCE):
        Events(jp_root_dir / f"log-{number}").add("loss", [float(number)])
    boards = await asyncio.gather(*(opened(ask, paths=[f"log-{number}"]) for number in range(AT_ONCE)))
    curves = await asyncio.gather(*(scalars(ask, board, board["label"], "loss", 1) for board in boards))
    assert curves == [[(1, float(number))] for number in range(AT_ONCE)]
    assert len(children()) == AT_ONCE
    refused = await ask("tensorboards", "POST", {"paths": ["one-more"]})
    assert refused.code == 409
    body = json.loads(refused.body)
    assert body["message"] == f"{AT_ONCE} TensorBoards are running and in use; no more can run at the same time."
    assert "Stop one of them in the sidebar." in body["hint"]
    assert (await ask(f"tensorboards/{boards[0]['id']}", "DELETE")).code == 204
    await opened(ask, paths=["one-more"])


async def test_twenty_clicks_start_one(ask: Ask, manager: TensorBoardManager, jp_root_dir: Path) -> None:
    (jp_root_dir / "log").mkdir()
    (jp_root_dir / "link").symlink_to("log")
    boards = await asyncio.gather(*(opened(ask, paths=[("log", "link")[click % 2]]) for click in range(20)))
    assert len({board["id"] for board in boards}) == 1
    await ask(boards[0]["url"])
    assert len(children()) == 1


@pytest.mark.parametrize("settings", [{"idle_seconds": 1.0, "reload_interval": 0.5}])
async def test_idle_until_its_page_asks(ask: Ask, news: News, jp_root_dir: Path) -> None:
    Events(jp_root_dir / "log").add("loss", [1.0])
    board = await opened(ask, paths=["log"])
    assert (await ask(board["url"])).code == 200
    idle = await news.until(lambda found: found.status == "idle" and found.has_data)
    await until(lambda: children() == [])  # it is called idle at once, and ends soon
    assert await scalars(ask, board, board["label"], "loss", 1) == [(1, 1.0)]
    back = json.loads((await ask(f"tensorboards/{board['id']}")).body)
    for name in ("id", "url", "log_dirs", "label", "has_data", "last_data_at"):
        assert back[name] == getattr(idle, name), name
    assert back["started_at"] > idle.started_at


@pytest.mark.asyncio
async def test_stopped_while_many_start(alone: TensorBoardManager, tmp_path: Path) -> None:
    opening = [asyncio.create_task(alone.open([tmp_path / "root" / f"log-{number}"])) for number in range(10)]
    await opening[0]
    await alone.stop()
    await asyncio.gather(*opening, return_exceptions=True)
    assert children() == []
    assert await alone.list() == []
    with pytest.raises(Unavailable, match="about to stop"):
        await alone.open([tmp_path / "root"])


class Server:
    """A server's part for TensorBoards, in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, socket: str) -> None:
        self.process = process
        self.socket = socket
        self.boards = [p for p in psutil.Process(process.pid).children() if "child.py" in command_of(p)]

    @classmethod
    async def start(cls, root: Path) -> Server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, str(root)), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), WAIT)
        return cls(process, line.decode().strip())


SERVER = """
import asyncio, sys
from pathlib import Path
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.tensorboard.manager import TensorBoardManager

async def main():
    manager = TensorBoardManager(ContentsRoot(AsyncLargeFileManager(root_dir=sys.argv[1])))
    board, _ = await manager.open([Path(sys.argv[1])])
    print((await manager.endpoint(board.id)).address, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    started: list[Server] = []
    yield started
    for server in started:
        if server.process.returncode is None:
            server.process.kill()
        for board in server.boards:
            if board.is_running():  # the test has failed
                board.kill()


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("hangs", [0, 1, 2], ids=["well", "stopped", "all stopped"])
async def test_gone_when_the_server_is(tmp_path: Path, servers: list[Server], how: signal.Signals, hangs: int) -> None:
    server = await Server.start(tmp_path)
    servers.append(server)
    (board,) = server.boards
    everything = family(board)
    assert os.path.exists(server.socket)  # noqa: ASYNC240, PTH110
    for process in everything[: (0, 1, len(everything))[hangs]]:
        process.suspend()
    server.process.send_signal(how)
    await server.process.wait()
    await until(partial(gone, everything))
    assert not Path(server.socket).parent.exists()


@pytest.mark.asyncio
@pytest.mark.parametrize("alone", [False, True], ids=["with its server", "without"])
async def test_no_data_server_without_its_board(tmp_path: Path, servers: list[Server], alone: bool) -> None:
    """The board is killed, while the data server is stopped, and so can't see that its input ends."""
    server = await Server.start(tmp_path)
    servers.append(server)
    (board,) = server.boards
    data_servers = board.children()
    for process in data_servers:
        process.suspend()
    if alone:
        server.process.kill()  # the board is woken by that, and killed before it does anything
    board.kill()
    await until(partial(gone, data_servers))


@pytest.mark.asyncio
async def test_two_servers_of_one_user(tmp_path: Path, servers: list[Server]) -> None:
    for _ in range(2):
        servers.append(await Server.start(tmp_path))
    first, second = servers
    assert first.socket != second.socket
    first.process.kill()
    await first.process.wait()
    await until(partial(gone, first.boards))
    reader, writer = await asyncio.open_unix_connection(second.socket)
    writer.write(b"GET /data/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_a_page_that_nobody_serves_is_not_logged(
    ask: Ask, manager: TensorBoardManager, caplog: Any, jp_root_dir: Path
) -> None:
    """After a restart of the server, pages ask for what it does not know yet, again and again."""
    board = await opened(ask, paths=["log"])
    identity = board["id"]
    assert (await ask(f"tensorboards/{identity}", "DELETE")).code == 204
    caplog.clear()
    for _ in range(20):
        gone = await ask(board["url"] + "data/runs")
        assert (gone.code, json.loads(gone.body)["hint"]) == (404, "Open it again.")
    assert [record.getMessage() for record in caplog.records if "/ui/" in record.getMessage()] == []
    # the same directories have the same address again, so that an open page just goes on
    assert (await opened(ask, paths=["log"]))["url"] == board["url"]
