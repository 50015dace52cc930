"""A shell or program on this machine, with a terminal of its own or plain streams.

It ends with everything that was started in it.
"""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ....core.engine.terminals import Output
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
_LAST_BYTES: Final = 1024 * 1024
"""Output that is read after the end: more than a pipe or terminal holds."""
Streams: TypeAlias = tuple[int, int, int]
"""Standard input, output and error output of a process."""


@dataclass
class Ends:
    """Our side of the input and outputs of a process: file descriptors that don't block.

    Attributes
    ----------
    input
        The input; None after it was closed.
    outputs
        Outputs that are open, each with its stream. A terminal is input and output.
    is_terminal
        True for a terminal.
    """

    input: int | None
    outputs: dict[int, Literal["stdout", "stderr"]]
    is_terminal: bool

    def close_input(self) -> None:
        """Close the input."""
        if self.input is not None:
            os.close(self.input)
            self.input = None

    def close(self) -> None:
        """Close all files."""
        for file in {*self.outputs, *([] if self.input is None else [self.input])}:
            os.close(file)
        self.input, self.outputs = None, {}


class LocalShell:
    """A shell or program that runs, see `core.engine.terminals.Shell`.

    Parameters
    ----------
    ends
        This side of its input and outputs.
    process
        The process.
    typed
        The job's command if debug mode keeps it from running; else empty.
    """

    def __init__(self, ends: Ends, process: asyncio.subprocess.Process, typed: str) -> None:
        self.typed = typed
        self._ends = ends
        self._process = process
        self._ended: asyncio.Future[Any] = asyncio.create_task(process.wait())
        self._loop = asyncio.get_running_loop()
        self._cut: asyncio.Future[Any] = self._loop.create_future()
        self._read_last = 0

    @property
    def exit_code(self) -> int | None:
        """The exit code after the end."""
        code = self._process.returncode
        return code if code is None or code >= 0 else 128 - code

    async def read(self) -> Output | None:
        """Return the next output; None after the end, even if a process that the shell has left writes on."""
        outputs = self._ends.outputs
        while True:
            if self._cut.done():
                raise Conflict(
                    _("The job no longer runs, so its terminal was closed."),
                    code="JobEnded",
                    hint=_("Run the job again to open another terminal."),
                )
            is_last = self._ended.done()
            for file in list(outputs):
                try:
                    data = os.read(file, READ_BYTES)
                except BlockingIOError:
                    continue
                except OSError:  # Linux: no process has the terminal any more.
                    data = b""
                if data and self._read_last < _LAST_BYTES:
                    self._read_last += len(data) if is_last else 0
                    return Output(outputs[file], data)
                del outputs[file]
                if file != self._ends.input:
                    os.close(file)
            if is_last:
                return None
            await self._until_ready(list(outputs), self._loop.add_reader, self._loop.remove_reader)

    async def write(self, data: bytes) -> None:
        """Write to the input; wait until the shell has taken the data."""
        left = memoryview(data)
        while left and self._ends.input is not None and not self._ended.done() and not self._cut.done():
            try:
                left = left[os.write(self._ends.input, left) :]
            except BlockingIOError:
                await self._until_ready([self._ends.input], self._loop.add_writer, self._loop.remove_writer)
            except OSError:
                return

    async def close_input(self) -> None:
        """End the input; that of a terminal stays."""
        if not self._ends.is_terminal:
            self._ends.close_input()

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal. The parameters are those of `core.engine.terminals.Shell.resize`."""
        if self._ends.is_terminal and self._ends.input is not None:
            set_size(self._ends.input, columns, rows)

    async def _until_ready(
        self, files: Sequence[int], add: Callable[..., object], remove: Callable[[int], object]
    ) -> None:
        """Wait until one of the files can be read or written, or the shell has ended."""
        ready: asyncio.Future[None] = self._loop.create_future()
        for file in files:
            add(file, _set, ready)
        try:
            await asyncio.wait({ready, self._ended, self._cut}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for file in files:
                remove(file)
            ready.cancel()

    def cut(self) -> None:
        """Let `read` raise an error, because the job no longer runs."""
        _set(self._cut)

    async def end(self) -> None:
        """Wait for the process itself, which must have been ended."""
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


def _terminal() -> tuple[Ends, Streams]:
    """Return our side of a new terminal, and the other side as the standard streams of a process."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    set_size(ours, _COLUMNS, _ROWS)
    return Ends(ours, {ours: "stdout"}, True), (theirs, theirs, theirs)


def _streams() -> tuple[Ends, Streams]:
    """Return our side of three new pipes, and the other side as the standard streams of a process."""
    files: list[int] = []
    try:
        for _pipe in range(3):
            files += os.pipe()
    except OSError:
        for file in files:
            os.close(file)
        raise
    stdin, into, out, stdout, error, stderr = files
    for file in (into, out, error):
        os.set_blocking(file, False)
    return Ends(into, {out: "stdout", error: "stderr"}, False), (stdin, stdout, stderr)


@asynccontextmanager
async def local_shell(
    command: Sequence[str], surroundings: Surroundings, *, terminal: bool = True
) -> AsyncIterator[LocalShell]:
    """Start a shell or program; at the end, end it and all processes that were started in it.

    Parameters
    ----------
    command
        The shell of the server's settings, or a program, with its arguments.
    surroundings
        Environment and working directory.
    terminal
        False for plain streams instead of a terminal.

    Raises
    ------
    Unavailable
        If no terminal or process can be made.
    """
    try:
        ends, theirs = _terminal() if terminal else _streams()
    except OSError as error:
        message = _("This machine has no terminal left.") if terminal else _("The command could not be started.")
        raise Unavailable(message, verbatim=str(error)) from error
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_HERE / "shell_start.py")),
            *command,
            cwd=surroundings.cwd,
            env=surroundings.env,
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            start_new_session=True,
        )
    except BaseException as error:  # If the start is cancelled, asyncio ends the process.
        ends.close()
        if isinstance(error, OSError):
            raise Unavailable(_("The shell could not be started."), verbatim=str(error)) from error
        raise
    finally:
        for file in set(theirs):
            os.close(file)
    shell = LocalShell(ends, process, surroundings.typed)
    try:
        yield shell
    finally:
        # The task of the terminal may be cancelled again, when the server stops.
        ending = _end(ends, process.pid, surroundings.env[TERMINAL_MARK], shell)
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


async def _end(ends: Ends, leader: int, mark: str, shell: LocalShell) -> None:
    """Hang up, as a terminal does whose window is closed; then end the processes that are left."""
    loop = asyncio.get_running_loop()
    left = await asyncio.to_thread(processes_of, leader, mark)
    ends.close()
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
