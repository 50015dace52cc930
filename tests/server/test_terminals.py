"""Terminals in a local job: its environment, debug mode, much output, and that no process is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.system.tasks import to_end
from tests.server.conftest import WAIT, Api, ended, eventually
from tests.server.contract import check_message
from tests.server.fakes import FakeEngine

SECRET = "value-d41d8cd98f00"
LAST_WORD = "--last-word"


@pytest.fixture
def terminals_enabled() -> bool:
    return True


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path, terminals_enabled: bool) -> dict[str, Any]:
    server = jp_server_config["ServerApp"]
    server["jpserver_extensions"]["jupyter_server_terminals"] = True
    server["terminals_enabled"] = terminals_enabled
    server["terminado_settings"] = {"shell_command": ["bash"]}
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "grace_seconds": 1.0}
    return jp_server_config


class Terminal:
    """The browser's end of a terminal."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.text = ""
        self.end: dict[str, Any] | None = None

    async def send(self, *message: Any) -> None:
        await self._connection.write_message(json.dumps(message))

    async def receive(self) -> list[Any] | None:
        text = await asyncio.wait_for(self._connection.read_message(), WAIT)
        if text is None:
            return None
        message = json.loads(text)
        check_message(message, "TerminalOutput")
        if message[0] == "stdout":
            self.text += message[1]
        elif message[0] == "ended":
            self.end = message[1]
        return message

    async def until(self, pattern: str) -> re.Match[str]:
        """Return the first match in the output."""
        while (found := re.search(pattern, self.text)) is None:
            assert await self.receive() is not None, self.text
        return found

    async def ask(self, command: str) -> str:
        """Run a command; return its output."""
        self.text = ""
        await self.send("stdin", f"echo '<<''<'; {command}; echo '>>''>'\r")
        return (await self.until(r"(?s)<<<\r\n(.*?)>>>"))[1].replace("\r\n", "\n").rstrip("\n")

    async def discard(self) -> None:
        """Discard the job's command with Ctrl-U when it is typed to its end.

        The shell would keep a part of a command that is still being typed. Ctrl-C would also discard what comes next,
        until the shell has taken it.
        """
        await self.until(re.escape(LAST_WORD))
        await self.send("stdin", "\x15")

    async def ending(self) -> dict[str, Any]:
        """Return why the shell has ended."""
        while await self.receive() is not None:
            pass
        assert self.end is not None
        return self.end

    def close(self) -> None:
        self._connection.close()


Open = Callable[..., Awaitable[Terminal]]
Debugged = Callable[[], AbstractAsyncContextManager[dict[str, Any]]]


@pytest.fixture
def open_terminal(jp_ws_fetch: Any) -> Iterator[Open]:
    opened: list[Terminal] = []

    async def go(job: dict[str, Any], replica: str = "worker-0", **params: Any) -> Terminal:
        path = ("t9kjob", "jobs", job["id"], "terminal")
        terminal = Terminal(await jp_ws_fetch(*path, params={"replica": replica, **params}))
        opened.append(terminal)
        return terminal

    yield go
    for terminal in opened:
        terminal.close()


@pytest.fixture
def debugged(api: Api, jp_root_dir: Path, open_page: Any) -> Debugged:
    """A job in debug mode, whose two ranks wait.

    A rank writes its line at once: both write to one terminal, and an unbuffered `print` writes each part for itself.
    """

    @asynccontextmanager
    async def go() -> AsyncIterator[dict[str, Any]]:
        (jp_root_dir / "train.py").write_text(
            "import os\nos.write(1, f\"rank {os.environ['RANK']} trained\\n\".encode())\n", "utf-8"
        )
        form = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
        changes = {
            "torchrun": {"proc_per_node": 2},
            "debug": {},
            "env": [{"name": "SECRET", "value": SECRET}],
            "args": ["--text=\x03é $HOME", LAST_WORD],
        }
        answer = await api("POST", "jobs", body={"spec": {**form["spec"], **changes}, "request_id": "request-0001"})
        assert answer.status == 201, answer.json
        ident = answer.json["id"]
        stream = await open_page("stream")
        await stream.send(type="subscribe", details=[ident])
        while not any(each["ranks"] for each in (await stream.until(type="job", id=ident))["replicas"]):
            pass
        try:
            yield (await api("GET", "jobs", ident)).json
        finally:
            await api("POST", "jobs", ident, "stop")
            await ended(stream, ident)

    return go


def having(mark: str) -> list[int]:
    """Return the processes of this test with a text in their environment or command; other runs may be under way."""
    home = f"HOME={os.environ['HOME']}\0".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
                if home in environment and mark.encode() in environment + (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


async def test_debug_mode_and_the_environment_of_a_rank(
    debugged: Debugged, api: Api, open_terminal: Open, jp_root_dir: Path, caplog: pytest.LogCaptureFixture
):
    async with debugged() as job:
        assert job["reason"]["code"] == "Debug"
        assert (
            job["reason"]["sentence"] == "Debug mode: each of its 2 processes runs “sleep inf” in place of the training"
        )
        listed = (await api("GET", "jobs", job["id"], "terminals")).json
        assert listed["available"]["supported"]
        assert [(each["replica"], each["rank"]) for each in listed["places"]] == [
            ("worker-0", None),
            ("worker-0", 0),
            ("worker-0", 1),
        ]

        # In the environment of a rank.
        rank = await open_terminal(job, rank=1)
        assert await rank.receive() == ["setup", {}], rank.end
        await rank.until(r"train\.py")  # The rank's own command is typed, and not run.
        assert "torch.distributed" not in rank.text
        await rank.discard()
        variables = "$RANK $LOCAL_RANK $WORLD_SIZE $T9KJOB_NAME $SECRET [$T9KJOB_UID]"
        assert await rank.ask(f'echo "{variables}"') == f"1 1 2 {job['name']} {SECRET} []"
        assert await rank.ask("pwd -P") == os.path.realpath(jp_root_dir)  # noqa: ASYNC240
        python = job["command"][0]
        assert Path(await rank.ask("command -v python")).parent == Path(python).parent
        await rank.send("set_size", 31, 117)
        assert await rank.ask("stty size") == "31 117"
        await rank.send("stdin", "exit 3\r")
        assert (await rank.ending())["code"] == "Exited"

        # In the replica the whole command waits; Enter runs it. A control character in it is no key.
        replica = await open_terminal(job, acks="true")
        await replica.until(LAST_WORD)
        assert r"\U00000003é" in replica.text
        assert "trained" not in replica.text
        replica.text = ""
        await replica.send("stdin", "\r")
        await replica.until(r"(?s)rank \d trained.*rank \d trained")
        odd = await open_terminal(job)
        await odd.receive()
        await odd.send("stdin", 5)
        while await odd.receive() is not None:
            pass

        # The page acknowledges nothing more, so the server stops to read; the shell waits with its output.
        await replica.send("ack", 10**9)
        replica.text = ""
        await replica.send("stdin", "yes 0123456789 | head -c 10000000; echo do''ne\r")
        sent = 0
        while sent < 256 * 1024:
            message = await replica.receive()
            assert message is not None
            sent += len(message[1])
        assert sent < 512 * 1024 and "done" not in replica.text
        await replica.send("ack", sent)
        end = ""
        while "done" not in end:
            message = await replica.receive()
            assert message is not None and message[0] == "stdout"
            sent += len(message[1])
            # Behind the last line comes the prompt, which names the folder.
            end = end[-4:] + message[1]
            replica.text = ""
            await replica.send("ack", len(message[1]))
        assert sent > 10_000_000
        assert SECRET not in caplog.text


async def test_ranks_of_the_users_own_launcher(api: Api, open_terminal: Open, jp_root_dir: Path, open_page: Any):
    """No plan and no log names the ranks that a command starts itself; their processes do."""
    (jp_root_dir / "train.py").write_text("", "utf-8")
    spec = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json["spec"]
    own = "for i in 0 1; do RANK=$((i+4)) LOCAL_RANK=$i sleep 98704 & done; RANK=9 sleep 98705 & wait"
    spec |= {"entrypoint": {"kind": "command", "value": "sh"}, "args": ["-c", own], "torchrun": None}
    answer = await api("POST", "jobs", body={"spec": spec, "request_id": "request-0002"})
    assert answer.status == 201, answer.json
    job = answer.json
    stream = await open_page("stream")
    try:
        await eventually(lambda: len(having("\0009870")) == 3)
        while len(places := (await api("GET", "jobs", job["id"], "terminals")).json["places"]) < 3:
            pass
        assert [(each["replica"], each["rank"]) for each in places] == [
            ("worker-0", None),
            ("worker-0", 4),
            ("worker-0", 5),
        ]
        rank = await open_terminal(job, rank=5)
        assert await rank.receive() == ["setup", {}], rank.end
        assert await rank.ask('echo "$RANK/$LOCAL_RANK"') == "5/1"
        assert (await api("GET", "jobs", job["id"], "terminals", replica="")).status == 400
    finally:
        await api("POST", "jobs", job["id"], "stop")
        await ended(stream, job["id"])


async def test_no_process_is_left_behind(debugged: Debugged, api: Api, open_terminal: Open):
    async with debugged() as job:
        closed = await open_terminal(job)
        await closed.discard()
        left = "nohup sleep 98701 >/dev/null 2>&1 & setsid sleep 98702 & (trap '' HUP TERM; sleep 98703) & echo $$"
        assert (await closed.ask(left)).strip()
        await eventually(lambda: len(having("\0009870")) == 3)
        closed.close()
        await eventually(lambda: not having("\0009870"))

        # The job's end ends its terminals.
        other = await open_terminal(job, rank=0)
        await other.until(r"\$|#")
        await api("POST", "jobs", job["id"], "stop")
        end = await other.ending()
        assert (end["code"], end["message"]) == ("JobEnded", "The job no longer runs, so its terminal was closed.")
        refused = await open_terminal(job)
        assert (await refused.ending())["code"] in ("Conflict", "JobEnded")
        await eventually(lambda: not having("T9KJOB_TERMINAL="))
        while (await api("GET", "jobs", job["id"], "terminals")).json["available"]["supported"]:
            pass


@pytest.mark.parametrize("terminals_enabled", [False])
async def test_switched_off(debugged: Debugged, api: Api, open_terminal: Open):
    async with debugged() as job:
        listed = (await api("GET", "jobs", job["id"], "terminals")).json
        off = "Terminals are switched off on this server."
        assert listed["available"] == {"supported": False, "reason": off}
        refused = await open_terminal(job)
        assert (await refused.ending())["message"] == off


async def test_bad_requests(api: Api, jp_ws_fetch: Any):
    bad: list[dict[str, str]] = [{"rank": "1"}, {"replica": ""}, {"replica": "x" * 300}, {"replica": "a", "rank": "-1"}]
    for params in [*bad, {"replica": "a", "rank": "x"}]:
        with pytest.raises(HTTPClientError) as caught:
            await jp_ws_fetch("t9kjob", "jobs", "local::a:b", "terminal", params=params)
        assert caught.value.code == 400
    assert (await api("GET", "jobs", "local::a:b", "terminal", replica="a")).status == 400
    assert (await api("GET", "jobs", "local::a:b", "terminals")).status == 404


class Held:
    """A shell that takes input only when the test lets it, and whose end takes its time."""

    typed = ""

    def __init__(self) -> None:
        self.got: list[Any] = []
        self.takes, self.ends, self.ended = asyncio.Event(), asyncio.Event(), False

    @asynccontextmanager
    async def open(self, *_where: Any) -> AsyncIterator[Held]:
        try:
            yield self
        finally:
            await to_end(asyncio.create_task(self.end()))

    async def end(self) -> None:
        await self.ends.wait()
        self.ended = True

    async def read(self) -> bytes:
        await asyncio.Event().wait()
        return b""

    async def write(self, data: bytes) -> None:
        if data:
            self.got.append(data.decode())
        await self.takes.wait()

    async def resize(self, columns: int, rows: int) -> None:
        self.got.append((columns, rows))


async def test_input_that_waits_and_the_servers_stop(engine: FakeEngine, app: T9kJobApp, open_terminal: Open):
    job, shell = engine.put(), Held()
    vars(engine).update(open_terminal=shell.open, terminals=shell.open)
    terminal = await open_terminal({"id": job.id})
    assert await terminal.receive() == ["setup", {}]
    await terminal.send("stdin", "a")
    await eventually(lambda: shell.got == ["a"])
    for columns in range(1, 200):
        await terminal.send("stdin", "")
        await terminal.send("set_size", 24, columns)
    # A character that was cut in two does not end the shell.
    await terminal.send("stdin", "é\ud83d")
    await terminal.send("stdin", "\ude00b")
    (socket,) = app.sockets
    await eventually(lambda: socket._unread == len("aé��b".encode()))
    shell.takes.set()
    await eventually(lambda: len(shell.got) == 3)
    assert shell.got == ["a", (199, 24), "é��b"]

    # The end of the page's connection does not keep the server from waiting for the terminal's processes.
    terminal.close()
    await eventually(lambda: socket._closed)
    stopping = asyncio.create_task(app.stop_extension())
    await eventually(lambda: app._services is None)
    shell.ends.set()
    await stopping
    assert shell.ended and not app.sockets
