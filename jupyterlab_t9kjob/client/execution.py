"""Commands in the replicas of jobs: where they run, and their whole output."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Sequence

from ..core.engine.terminals import Shell, ShellSettings
from .session import Session


def shell_settings(command: Sequence[str], *, terminal: bool = False, container: str | None = None) -> ShellSettings:
    """Return the settings for a command.

    Parameters
    ----------
    command
        Program and arguments; empty for the user's shell.
    terminal
        True to give the command a terminal.
    container
        Name of a container of the pod; None for the training container.
    """
    return ShellSettings((os.environ.get("SHELL") or "sh",), tuple(command), terminal, container)


async def run_command(
    session: Session, ident: str, command: Sequence[str], *, rank: int | None, replica: str | None, data: bytes
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a job to its end; return its exit code and output.

    Parameters
    ----------
    session
        The services.
    ident
        Id of the job.
    command
        Program and arguments.
    rank, replica
        Where the command runs; None and None for rank 0.
    data
        Input of the command.

    Raises
    ------
    JobError
        If the command can't run there, or the connection ends before the command does.
    """
    settings = shell_settings(command)
    place = await session.terminals.place(ident, rank, replica, settings)
    outputs = {"stdout": bytearray(), "stderr": bytearray()}
    async with session.terminals.opened(ident, place, settings) as shell:
        feeding = asyncio.create_task(_feed(shell, data))
        try:
            while (output := await shell.read()) is not None:
                outputs[output.stream] += output.data
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
        code = shell.exit_code
    assert code is not None  # noqa: S101
    return subprocess.CompletedProcess(list(command), code, bytes(outputs["stdout"]), bytes(outputs["stderr"]))


async def _feed(shell: Shell, data: bytes) -> None:
    await shell.write(data)
    await shell.close_input()
