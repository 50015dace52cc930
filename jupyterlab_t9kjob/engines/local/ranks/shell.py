"""A shell on this machine with a terminal of its own, which ends with everything that was started in it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from ....core.errors import Conflict, Unavailable
from ....core.system.processes import LINUX, PROC, stat_of
from ....core.system.tasks import spawn, to_end
from ....core.translation import _
from ..supervisor.process_tree import send
from .surroundings import TERMINAL_MARK, Surroundings

READ_BYTES: Final = 64 * 1024
GRACE_SECONDS: Final = 1.0
"""Time between SIGHUP and SIGKILL when a terminal ends."""
_POLL_SECONDS: Final = 0.05
_HERE: Final = Path(__file__).parent
_COLUMNS, _ROWS = 80, 24


class LocalShell:
    """A shell that runs, see `core.engine.terminals.Shell`.

    Parameters
    ----------
    terminal
        File descriptor of the server's side of the terminal.
    process
        The shell.
    typed
        The job's command if debug mode keeps it from running; else empty.
    """

    def __init__(self, terminal: int, process: asyncio.subprocess.Process, typed: str) -> None:
        self.typed = typed
        self._terminal = terminal
        self._ended: asyncio.Future[Any] = asyncio.create_task(process.wait())
        self._loop = asyncio.get_running_loop()
        self._cut: asyncio.Future[Any] = self._loop.create_future()

    async def read(self) -> bytes:
        """Return the next output; no bytes after the shell has ended, even if a process that it left writes on."""
        while True:
            if self._cut.done():
                raise Conflict(
                    _("The job no longer runs, so its terminal was closed."),
                    code="JobEnded",
                    hint=_("Run the job again to open another terminal."),
                )
            try:
                return os.read(self._terminal, READ_BYTES)
            except BlockingIOError:
                if self._ended.done():
                    return b""
            except OSError:  # Linux: no process has the terminal any more.
                return b""
            await self._until_ready(self._loop.add_reader, self._loop.remove_reader)

    async def write(self, data: bytes) -> None:
        """Write to the terminal; wait until the shell has taken the data."""
        left = memoryview(data)
        while left and not self._ended.done() and not self._cut.done():
            try:
                left = left[os.write(self._terminal, left) :]
            except BlockingIOError:
                await self._until_ready(self._loop.add_writer, self._loop.remove_writer)
            except OSError:
                return

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal. The parameters are those of `core.engine.terminals.Shell.resize`."""
        set_size(self._terminal, columns, rows)

    async def _until_ready(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        """Wait until the terminal can be read or written, or the shell has ended."""
        ready: asyncio.Future[None] = self._loop.create_future()
        add(self._terminal, _set, ready)
        try:
            await asyncio.wait({ready, self._ended, self._cut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            remove(self._terminal)
            ready.cancel()

    def cut(self) -> None:
        """Let `read` raise an error, because the job no longer runs."""
        _set(self._cut)

    async def end(self) -> None:
        """Wait for the shell itself, which must have been ended."""
        await self._ended


def _set(ready: asyncio.Future[Any]) -> None:
    if not ready.done():
        ready.set_result(None)


def set_size(terminal: int, columns: int, rows: int) -> None:
    """Set the size of a terminal; its processes get SIGWINCH.

    Parameters
    ----------
    terminal
        File descriptor.
    columns, rows
        Width and height in characters.
    """
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@asynccontextmanager
async def local_shell(command: Sequence[str], surroundings: Surroundings) -> AsyncIterator[LocalShell]:
    """Start a shell; at the end, end it and all processes that were started in it.

    Parameters
    ----------
    command
        The shell of the server's settings.
    surroundings
        Environment and working directory.

    Raises
    ------
    Unavailable
        If no terminal or process can be made.
    """
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        raise Unavailable(_("This machine has no terminal left."), verbatim=str(error)) from error
    try:
        os.set_blocking(ours, False)
        set_size(ours, _COLUMNS, _ROWS)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_HERE / "shell_start.py")),
            *command_of(command),
            cwd=surroundings.cwd,
            env=surroundings.env,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
    except BaseException as error:  # If the start is cancelled, asyncio ends the process.
        os.close(ours)
        if isinstance(error, OSError):
            raise Unavailable(_("The shell could not be started."), verbatim=str(error)) from error
        raise
    finally:
        os.close(theirs)
    shell = LocalShell(ours, process, surroundings.typed)
    try:
        yield shell
    finally:
        # The task of the terminal may be cancelled again, when the server stops.
        ending = _end(ours, process.pid, surroundings.env[TERMINAL_MARK], shell)
        await to_end(spawn(ending, "end a terminal"))


def command_of(command: Sequence[str]) -> list[str]:
    """Return the command that starts the shell of the server's settings.

    An interactive bash reads a file of ours, so that the user's own settings don't hide the job's Python. A login shell
    would not read it.

    Parameters
    ----------
    command
        The shell of the server's settings.
    """
    if Path(command[0]).name == "bash" and set(command[1:]) <= {"-l", "--login", "-i"}:
        return [command[0], "--rcfile", str(_HERE / "bashrc")]
    return list(command)


async def _end(terminal: int, leader: int, mark: str, shell: LocalShell) -> None:
    """Hang up, as a terminal does whose window is closed; then end the processes that are left."""
    loop = asyncio.get_running_loop()
    left = await asyncio.to_thread(processes_of, leader, mark)
    os.close(terminal)
    end = loop.time() + GRACE_SECONDS
    send(left, signal.SIGHUP)
    send(left, signal.SIGCONT)
    while left and loop.time() < end:
        await asyncio.sleep(_POLL_SECONDS)
        left = await asyncio.to_thread(processes_of, leader, mark)
    send(left, signal.SIGKILL)
    await shell.end()


def processes_of(leader: int, mark: str) -> set[int]:
    """Return the processes of a terminal: those of its session, and those with its mark (blocking).

    Parameters
    ----------
    leader
        Process id of the shell, which leads the session.
    mark
        Value of `TERMINAL_MARK` in their environment.
    """
    if not LINUX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(leader, 0)
            return {leader}
        return set()
    wanted = f"{TERMINAL_MARK}={mark}".encode()
    found = set()
    for name in os.listdir(PROC):  # noqa: PTH208
        if not name.isdigit():
            continue
        fields = stat_of(int(name))
        if fields is None or fields[0] in "ZX":
            continue
        if int(fields[3]) == leader or wanted in _environment(int(name)):
            found.add(int(name))
    return found


def _environment(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
