"""The command `exec`: runs a command or a shell in a replica of a job, with the terminal or streams of this process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from ...core.errors import JobError, Unavailable
from ...core.translation import _
from ..base import Command, Place, job_argument, placed, run, t, the_job
from ..errors import say, show_error
from ..output import is_terminal

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.engine.terminals import Output, Shell

LOST: Final = 255
"""Exit code if the command was cut off, as that of ssh."""
CHUNK: Final = 32 * 1024


@click.command(
    "exec",
    cls=Command,
    help=t(
        _(
            "Run a command in a job that runs: in the environment of a rank, or in a cluster without a rank in its pod."
            " Without a command, a shell. The exit code is that of the command, and 255 if the connection is lost."
        )
    ),
    examples=[
        "t9kjob exec train-1",
        "t9kjob exec train-1 -- nvidia-smi",
        "t9kjob exec train-1 -i 3 -- py-spy dump --pid 1",
        "t9kjob exec train-1 -c sidecar -- ps",
        "t9kjob exec train-1 -- tar c -C /work runs | tar x",
    ],
)
@job_argument()
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--rank", "-i", type=click.IntRange(0), help=t(_("Rank; by default rank 0.")))
@click.option("--replica", help=t(_("Replica, such as worker-1.")))
@click.option("--container", "-c", help=t(_("Another container of the pod.")))
@click.option("--no-tty", "-T", is_flag=True, help=t(_("Give the command no terminal.")))
@placed
def exec_command(
    place: Place,
    name: str,
    words: tuple[str, ...],
    rank: int | None,
    replica: str | None,
    container: str | None,
    no_tty: bool,
) -> None:
    """Run a command in a job.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job.
    words
        The command with its arguments; empty for a shell.
    rank
        Rank in whose environment the command runs; None for rank 0, in a cluster for the pod of rank 0.
    replica
        Name of a replica instead of a rank.
    container
        Name of a container of the pod; None for the training container.
    no_tty
        True to give the command no terminal, also if this process has one.
    """

    async def work(session: Session) -> int:
        from ...client.execution import shell_settings

        job = await the_job(session, place, name)
        has_terminal = not no_tty and sys.platform != "win32" and is_terminal(sys.stdin) and is_terminal(sys.stdout)
        settings = shell_settings(words, terminal=has_terminal, container=container)
        where = await session.terminals.place(job.id, rank, replica, settings)
        with _ended_by_signals():
            async with session.terminals.opened(job.id, where, settings) as shell:
                if shell.typed and has_terminal:
                    say(t(_("The command of the job: {command}", command=shell.typed)))
                with _raw_terminal(shell) if has_terminal else contextlib.nullcontext():
                    error = await _connect(shell)
                if error is not None:  # Before the end of the context, which may wait for a cluster.
                    _show_end(error)
        return LOST if error is not None else shell.exit_code or 0

    run(place, work)


def _show_end(error: JobError) -> None:
    if error.code == "JobEnded":
        error = Unavailable(_("The job no longer runs, so the command was ended."), code=error.code)
    show_error(error)


async def _connect(shell: Shell) -> JobError | None:
    """Pass input and output on until the end; return the error that has cut the command off."""
    loop = asyncio.get_running_loop()
    # A thread, because a file as the standard input can't be awaited. It ends with the process.
    threading.Thread(target=_feed, args=(loop, shell), name="input of the command", daemon=True).start()
    try:
        while (output := await shell.read()) is not None:
            _write(output)
            await asyncio.sleep(0)  # Let the input and Ctrl-C be handled while much output arrives.
    except JobError as error:
        return error
    return None


def _write(output: Output) -> None:
    stream = sys.stdout if output.stream == "stdout" else sys.stderr
    stream.buffer.write(output.data)
    stream.flush()


def _feed(loop: asyncio.AbstractEventLoop, shell: Shell) -> None:
    """Pass the standard input on, until it or the command ends (blocking)."""
    while True:
        try:
            data = os.read(sys.stdin.fileno(), CHUNK) if _may_read() else b""
        except (OSError, ValueError):
            data = b""
        work = shell.write(data) if data else shell.close_input()
        try:
            asyncio.run_coroutine_threadsafe(work, loop).result()
        except (RuntimeError, JobError, concurrent.futures.CancelledError):  # The command has ended, and the loop.
            work.close()
            return
        if not data:
            return


def _may_read() -> bool:
    """Return False for a terminal in whose background this process runs: to read from it would stop the process."""
    terminal = sys.stdin.fileno()
    return not os.isatty(terminal) or os.tcgetpgrp(terminal) == os.getpgrp()


@contextlib.contextmanager
def _raw_terminal(shell: Shell) -> Iterator[None]:
    """Pass every key on, also Ctrl-C, and tell the command the terminal's size; restore the terminal at the end."""
    import termios
    import tty

    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[Any]] = set()

    def resize() -> None:
        try:
            size = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return
        task = loop.create_task(shell.resize(size.columns, size.lines))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        loop.add_signal_handler(signal.SIGWINCH, resize)
        resize()
        yield
    finally:
        loop.remove_signal_handler(signal.SIGWINCH)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal that ends this process end the command first, which would stay in the container."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        if task is not None:
            task.cancel()

    numbers = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, end, number)
    try:
        yield
    except asyncio.CancelledError:
        if received:
            raise click.exceptions.Exit(128 + received[0]) from None
        raise
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
