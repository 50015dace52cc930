"""A TensorBoard child process, seen from the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..core.system.locks import runtime_directory

if TYPE_CHECKING:
    from tornado.iostream import IOStream

Loader = Literal["auto", "fast", "slow"]

CHILD = Path(__file__).with_name("child.py")
KEPT_LINES = 40
LINE_BYTES = 4096
# How long a process may take to end by itself, and after SIGKILL. A process that waits for a network disk in the
# kernel ends only when the disk answers.
STOP_SECONDS = 3.0
KILL_SECONDS = 3.0
# The server's own keys; TensorBoard has no use for them.
WITHHELD = frozenset({"JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN"})


log = logging.getLogger(__name__)


class StartError(Exception):
    """It does not serve; the message is for people.

    Attributes
    ----------
    hint
        What to do about it, a sentence.
    words
        The system's own; empty if the process has said it.
    """

    def __init__(self, message: str, hint: str = "Restart it.", words: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.words = words


@dataclass(eq=False)
class Endpoint:
    """Where a TensorBoard listens, and who is connected to it.

    Attributes
    ----------
    address
        Path of a Unix socket, or host and port.
    prefix
        What comes before every path; secret where it is not empty.
    streams
        Connections to it.
    fault
        Why it answers nobody, a sentence; None while it is well.
    """

    address: str | tuple[str, int]
    prefix: str = ""
    streams: set[IOStream] = field(default_factory=set)
    fault: str | None = None

    def hang_up(self, fault: str) -> None:
        """Tell all who wait for an answer that there will be none."""
        self.fault = fault
        for stream in list(self.streams):
            stream.close()


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Pipes of a process, and its end.

    `asyncio.subprocess.Process.wait` returns only when all pipes are closed. The data server inherits standard error,
    so that a data server that is stopped would keep the end of TensorBoard from being seen.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=LINE_BYTES, loop=loop)
        self.exited = asyncio.Event()
        self.pid: int | None = None

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()
        _kill_group(self.pid)


class Process:
    """A running TensorBoard with its data server: a process group of its own.

    Parameters
    ----------
    log_dirs
        Absolute paths. Several are shown side by side, each under its own name.
    loader
        Who reads event files. "fast" is TensorBoard's data server, which reads thousands of files
        in seconds, but listens on a port that every user of the machine can read from; "slow" is in
        Python and listens nowhere; "auto" is the fast one where it can be given a network of its
        own, which nobody else is in, else the slow one.
    reload_interval
        Seconds between looks for new data.
    """

    def __init__(self, log_dirs: Sequence[Path], *, loader: Loader, reload_interval: float) -> None:
        self._log_dirs = log_dirs
        self._loader = loader
        self._reload_interval = reload_interval
        self._words: deque[str] = deque(maxlen=KEPT_LINES)
        self._process: asyncio.subprocess.Process | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None
        self._directory: Path | None = None
        self.endpoint: Endpoint | None = None

    @property
    def words(self) -> str:
        """What it said last on its standard error."""
        return "\n".join(self._words).strip()

    @property
    def pid(self) -> int | None:
        """Its process id; None before it was started."""
        return self._process.pid if self._process else None

    async def start(self, name: str | None = None) -> None:
        """Start it; returns as soon as it serves.

        Parameters
        ----------
        name
            Of the run that a single log directory itself is, and before those in it; None if TensorBoard names them.

        Raises
        ------
        StartError
            If it ends first.
        OSError
            If it can't be started at all.
        """
        # At once, not in a thread: a start that is called off must know what it has made.
        try:
            self._directory = _private_directory()
        except OSError as error:
            raise StartError(
                "TensorBoard can't be started: no directory for its socket can be made.",
                hint=f"Make room in {tempfile.gettempdir()}, then restart it.",
                words=str(error),
            ) from error
        log_dir = _one_directory(self._log_dirs, self._directory, name)
        prefix = f"/{secrets.token_urlsafe(24)}"
        config = {
            "log_dir": str(log_dir),
            "directory": str(self._directory),
            "prefix": prefix,
            "loader": self._loader,
            "reload_interval": self._reload_interval,
        }
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: _Protocol(loop),
            *(sys.executable, str(CHILD)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._directory,
            env={name: value for name, value in os.environ.items() if name not in WITHHELD},
            start_new_session=True,  # Ctrl-C in the server's terminal is for the server
        )
        self._transport = transport
        self._process = asyncio.subprocess.Process(transport, protocol, loop)
        self._exited = protocol.exited
        protocol.pid = self._process.pid
        self._listening = asyncio.create_task(self._listen())
        assert self._process.stdin and self._process.stdout  # noqa: S101 (pipes, as asked for)
        with contextlib.suppress(ConnectionError):  # it has ended: that is said below
            self._process.stdin.write(json.dumps(config).encode() + b"\n")
            await self._process.stdin.drain()
        answer = await self._process.stdout.readline()
        if not answer:
            raise StartError(f"TensorBoard ended before it could be reached: {await self.ended()}.")
        where = json.loads(answer)
        if "socket" in where:
            self.endpoint = Endpoint(where["socket"])
        else:
            self.endpoint = Endpoint(("127.0.0.1", where["port"]), prefix)

    def kill(self) -> None:
        """Kill it, if it runs, with all processes that it started."""
        if self._process is not None and not self._exited.is_set():
            _kill_group(self._process.pid)

    async def ended(self) -> str:
        """Wait for its end and return how that was, in words."""
        assert self._process is not None  # noqa: S101
        await self._exited.wait()
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=KILL_SECONDS)
        code = self._process.returncode
        assert code is not None  # noqa: S101 (it has exited)
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"

    async def stop(self) -> None:
        """End it and remove what was made for it, within about `STOP_SECONDS` + 2 × `KILL_SECONDS`."""
        if self._process is not None:
            if self._process.stdin is not None:
                self._process.stdin.close()
            if not await self._exits(STOP_SECONDS):
                self.kill()
                if not await self._exits(KILL_SECONDS):
                    log.warning(
                        "TensorBoard's process %d does not end, though it was killed; it may wait for a disk.", self.pid
                    )
        if self._listening is not None:
            self._listening.cancel()
        if self._transport is not None:
            self._transport.close()  # its pipes, which a process that does not end would keep open
        if self._directory is not None:
            removing = asyncio.ensure_future(asyncio.to_thread(shutil.rmtree, self._directory, ignore_errors=True))
            await asyncio.wait({removing}, timeout=KILL_SECONDS)

    async def _exits(self, seconds: float) -> bool:
        """Wait for its end, at most so many seconds; return whether it has ended."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        return self._exited.is_set()

    async def _listen(self) -> None:
        """Keep the last lines of its standard error, and the pipe empty."""
        assert self._process is not None and self._process.stderr is not None  # noqa: S101
        while data := await self._process.stderr.read(LINE_BYTES):
            self._words.extend(data.decode(errors="replace").splitlines())


def _kill_group(leader: int | None) -> None:
    """Kill all processes of a group; none may be left.

    Called while the leader runs, or as soon as its end is seen: later its process id may be another group's.
    """
    if leader is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: all of them are zombies
            os.killpg(leader, signal.SIGKILL)


def _private_directory() -> Path:
    """Make a directory that only this user can enter, with a path short enough for a socket."""
    try:
        return Path(tempfile.mkdtemp(prefix="tb-", dir=runtime_directory()))
    except (OSError, AttributeError):  # no home for it here: the system's own place will do
        return Path(tempfile.mkdtemp(prefix="t9kjob-tb-"))


def _one_directory(log_dirs: Sequence[Path], directory: Path, name: str | None) -> Path:
    """Return the one log directory, or one with links: to several, or to one that TensorBoard would call “.”."""
    tree = directory / "logs"
    if len(log_dirs) == 1:
        if name is None:
            return log_dirs[0]
        link = tree / name
        link.parent.mkdir(parents=True)
        link.symlink_to(log_dirs[0])
        return tree
    tree.mkdir()
    for number, log_dir in enumerate(log_dirs, 1):
        own = log_dir.name or "root"
        link = tree / own
        (tree / f"{own}-{number}" if link.is_symlink() else link).symlink_to(log_dir)
    return tree
