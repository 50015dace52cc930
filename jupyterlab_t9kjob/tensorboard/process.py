"""A TensorBoard child process: its start, its endpoint and its end."""

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
from ..core.translation import Text, _

if TYPE_CHECKING:
    from tornado.iostream import IOStream

Loader = Literal["auto", "fast", "slow"]

CHILD = Path(__file__).with_name("child.py")
KEPT_LINES = 40
LINE_BYTES = 4096
# How long a process may take to end by itself, and after SIGKILL. A process that waits in the kernel for a network
# disk ends only when the disk answers.
STOP_SECONDS = 3.0
KILL_SECONDS = 3.0
# Secrets of the server that TensorBoard must not get.
WITHHELD = frozenset({"JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN"})


log = logging.getLogger(__name__)


class StartError(Exception):
    """TensorBoard could not be started.

    Attributes
    ----------
    message
        Sentence that says what happened.
    hint
        Sentence that says what the user can do.
    words
        The system's error message; empty if the process wrote one to its standard error.
    """

    def __init__(self, message: Text, hint: Text | None = None, words: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or _("Restart it.")
        self.words = words


@dataclass(eq=False)
class Endpoint:
    """Address of a TensorBoard process, and the connections to it.

    Attributes
    ----------
    address
        Path of a Unix socket, or host and port.
    prefix
        Prefix of all paths, a secret; empty for a Unix socket.
    streams
        Open connections.
    fault
        Sentence that says why the process does not answer; None while it answers.
    """

    address: str | tuple[str, int]
    prefix: str = ""
    streams: set[IOStream] = field(default_factory=set)
    fault: Text | None = None

    def disconnect(self, fault: Text) -> None:
        """Close all connections, so that the requests that wait for an answer fail with `fault`."""
        self.fault = fault
        for stream in list(self.streams):
            stream.close()


class _Protocol(asyncio.subprocess.SubprocessStreamProtocol):
    """Pipes of a process, and an event for its end.

    `asyncio.subprocess.Process.wait` returns only when all pipes are closed. The data server inherits standard error,
    so a stopped data server would hide the end of TensorBoard.
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
    """A TensorBoard process with its data server, in a process group of its own.

    Parameters
    ----------
    log_dirs
        Absolute paths of the log directories. Several are shown side by side, each with its own name.
    loader
        Reader of event files. "fast" is TensorBoard's data server, which reads thousands of files in seconds, but
        listens on a port from which every user of the machine can read. "slow" is a reader in Python that listens on no
        port. "auto" is the fast reader if it can have a network namespace of its own, or else the slow one.
    reload_interval
        How often TensorBoard reads new data, in seconds.

    Attributes
    ----------
    endpoint
        Address of the process; None until it has started.
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
        """The last lines of the process's standard error."""
        return "\n".join(self._words).strip()

    @property
    def pid(self) -> int | None:
        """The process id; None before the start."""
        return self._process.pid if self._process else None

    async def start(self, name: str | None = None) -> None:
        """Start the process, and return as soon as it accepts requests.

        Parameters
        ----------
        name
            Name of the run in a single log directory, and prefix of the runs below it; None for TensorBoard's names.

        Raises
        ------
        StartError
            If the process ends before it accepts requests.
        OSError
            If the process can't be started.
        """
        # Not in a thread: if the start is cancelled, the directory must be known, so that it is removed.
        try:
            self._directory = _private_directory()
        except OSError as error:
            raise StartError(
                _("TensorBoard can't be started: no directory for its socket can be made."),
                hint=_("Free space in {folder}, then restart it.", folder=tempfile.gettempdir()),
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
            start_new_session=True,  # Ctrl-C in the server's terminal must not end TensorBoard.
        )
        self._transport = transport
        self._process = asyncio.subprocess.Process(transport, protocol, loop)
        self._exited = protocol.exited
        protocol.pid = self._process.pid
        self._listening = asyncio.create_task(self._listen())
        assert self._process.stdin and self._process.stdout  # noqa: S101 (both are pipes)
        with contextlib.suppress(ConnectionError):  # The process has ended, which is handled below.
            self._process.stdin.write(json.dumps(config).encode() + b"\n")
            await self._process.stdin.drain()
        answer = await self._process.stdout.readline()
        if not answer:
            code = await self.ended()
            if code < 0:
                raise StartError(
                    _("TensorBoard was killed by signal {signal} before it could be reached.", signal=-code)
                )
            raise StartError(
                _("TensorBoard ended with exit code {exit_code} before it could be reached.", exit_code=code)
            )
        where = json.loads(answer)
        if "socket" in where:
            self.endpoint = Endpoint(where["socket"])
        else:
            self.endpoint = Endpoint(("127.0.0.1", where["port"]), prefix)

    def kill(self) -> None:
        """Kill the process group, if the process runs."""
        if self._process is not None and not self._exited.is_set():
            _kill_group(self._process.pid)

    async def ended(self) -> int:
        """Wait for the end of the process; return its exit code, -n if signal n ended it."""
        assert self._process is not None  # noqa: S101
        await self._exited.wait()
        if self._listening is not None:
            await asyncio.wait({self._listening}, timeout=KILL_SECONDS)
        code = self._process.returncode
        assert code is not None  # noqa: S101 (it has exited)
        return code

    async def stop(self) -> None:
        """End the process and remove its directory, within about `STOP_SECONDS` + 2 × `KILL_SECONDS`."""
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
            self._transport.close()  # A process that does not end would keep the pipes open.
        if self._directory is not None:
            removing = asyncio.ensure_future(asyncio.to_thread(shutil.rmtree, self._directory, ignore_errors=True))
            await asyncio.wait({removing}, timeout=KILL_SECONDS)

    async def _exits(self, seconds: float) -> bool:
        """Wait for the end of the process, at most so many seconds; return True if it has ended."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        return self._exited.is_set()

    async def _listen(self) -> None:
        """Read standard error until its end, and keep the last lines."""
        assert self._process is not None and self._process.stderr is not None  # noqa: S101
        while data := await self._process.stderr.read(LINE_BYTES):
            self._words.extend(data.decode(errors="replace").splitlines())


def _kill_group(leader: int | None) -> None:
    """Kill all processes of a group, if there are any.

    Call this while the leader runs or as soon as its end is noticed: later, another group may have its process id.
    """
    if leader is not None:
        # macOS raises PermissionError if all processes of the group are zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)


def _private_directory() -> Path:
    """Make a directory that only this user can enter, with a path that is short enough for a socket."""
    try:
        return Path(tempfile.mkdtemp(prefix="tb-", dir=runtime_directory()))
    except (OSError, AttributeError):  # There is no runtime directory; the system's temporary folder is used.
        return Path(tempfile.mkdtemp(prefix="t9kjob-tb-"))


def _one_directory(log_dirs: Sequence[Path], directory: Path, name: str | None) -> Path:
    """Return the folder that TensorBoard shows: the log directory, or a folder with links to log directories.

    Links are used for several log directories, and to give a run in a single one a name other than “.”.
    """
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
