"""Terminals on this machine whose start is given up, or whose job ends meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from jupyterlab_t9kjob.core.engine.terminals import ShellSettings, TerminalPlace
from jupyterlab_t9kjob.core.errors import Conflict, NotFound
from jupyterlab_t9kjob.core.system.tasks import to_end
from jupyterlab_t9kjob.engines.local.ranks.engine_part import OpensRankTerminals
from jupyterlab_t9kjob.engines.local.ranks.shell import local_shell, processes_of
from jupyterlab_t9kjob.engines.local.ranks.surroundings import TERMINAL_MARK, Surroundings, new_mark
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def surroundings() -> Surroundings:
    return Surroundings({"PATH": os.environ["PATH"], TERMINAL_MARK: new_mark()}, "/", "")


def terminals() -> int:
    """Return how many terminals this process has open."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            count += entry.readlink().name == "ptmx"
    return count


@pytest.mark.parametrize("steps", range(1, 6))
async def test_a_terminal_that_is_closed_while_its_shell_starts_leaves_nothing(steps: int):
    before = terminals()
    place = surroundings()

    async def run() -> None:
        async with local_shell(["cat"], place) as shell:
            await shell.read()

    task = asyncio.create_task(run())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert terminals() == before
    with anyio.fail_after(PATIENCE):
        while processes_of(-1, place.env[TERMINAL_MARK]):  # noqa: ASYNC110 (nobody tells when a process has ended)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "code", "outputs"),
    [
        (["sh", "-c", "cat; echo e >&2; exit 3"], 3, {"stdout": b"in", "stderr": b"e\n"}),
        (["sh", "-c", "kill -9 $$"], 137, {}),
        (["/no/such/program"], 127, {"stderr": b"/no/such/program: No such file or directory\n"}),
        (["/"], 126, {"stderr": b"/: Permission denied\n"}),
        # A process in the background keeps the streams open, and ends with the command.
        (["sh", "-c", "sleep 86400 & echo out"], 0, {"stdout": b"out\n"}),
    ],
)
async def test_a_program_with_plain_streams(words: list[str], code: int, outputs: dict[str, bytes]):
    place, read = surroundings(), dict[str, bytes]()
    with anyio.fail_after(PATIENCE):
        async with local_shell(words, place, terminal=False) as shell:
            await shell.write(b"in")
            await shell.close_input()
            await shell.resize(80, 24)
            while (output := await shell.read()) is not None:
                read[output.stream] = read.get(output.stream, b"") + output.data
            assert (shell.exit_code, read) == (code, outputs)
        while processes_of(-1, place.env[TERMINAL_MARK]):  # noqa: ASYNC110 (nobody tells when a process has ended)
            await asyncio.sleep(0.01)


async def test_a_program_that_reads_and_writes_much():
    sent, received = os.urandom(1 << 20), bytearray()
    with anyio.fail_after(PATIENCE):
        async with local_shell(["cat"], surroundings(), terminal=False) as shell:

            async def feed() -> None:
                await shell.write(sent)
                await shell.close_input()

            feeding = asyncio.create_task(feed())
            while (output := await shell.read()) is not None:
                received += output.data
            await feeding
    assert received == sent


class Ending(OpensRankTerminals):
    """An engine whose job ends while the shell starts, and that tells nobody."""

    def __init__(self, after: Any) -> None:
        self._answers = [SimpleNamespace(id="local::a:b", phase="Running", replicas_running=1, read_only=None), after]

    async def job(self, uid: str) -> Any:
        found = self._answers.pop(0)
        if found is None:
            raise NotFound("gone")
        return found

    def listen(self, _listener: Any) -> Any:
        return lambda: None

    async def _surroundings(self, _uid: str, _place: TerminalPlace) -> Surroundings:
        return surroundings()


@pytest.mark.parametrize("after", [None, SimpleNamespace(phase="Succeeded", deleted=False)])
async def test_a_job_that_ends_while_the_shell_starts_ends_it(after: Any):
    async with Ending(after).open_terminal("b", TerminalPlace(replica="worker-0"), ShellSettings(("cat",))) as shell:
        with pytest.raises(Conflict, match="no longer runs"):
            await asyncio.wait_for(shell.read(), PATIENCE)


async def test_what_must_be_done_is_done_although_the_one_that_waits_is_cancelled_again():
    go = asyncio.Event()
    work = asyncio.create_task(go.wait())
    waiting = asyncio.create_task(to_end(work))
    for _ in range(3):
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done() and not work.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.result()
