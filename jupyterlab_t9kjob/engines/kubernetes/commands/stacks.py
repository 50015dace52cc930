"""Stacks of the ranks of a cluster's jobs: a command in each pod takes them, with the image's py-spy or the server's.

The command is the source of `core.stacks.taker`, which the container's Python reads from its input. An image without
py-spy gets this server's, which is statically linked, in the same way and keeps it in memory. If the container has no
Python, or py-spy is missing or may not trace there, a debug container is added beside it, if an image for that is set.
"""

from __future__ import annotations

import asyncio
import json
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ....core.errors import Conflict
from ....core.stacks import asking, taker
from ....core.stacks.raw import RawRank, RawStacks, TakenStacks
from ....core.translation import Text, _
from ..client.api import ApiError, KubeApi, Unreachable
from ..client.exec.remote_command import NotStarted, Target, run
from ..jobs.snapshot import JobSnapshot
from ..objects.kinds import ReplicaView
from .debug_containers import NoDebugContainer, debug_container
from .pods import NOT_RUNNING, running

AT_A_TIME: Final = 8
"""Pods in which a command runs at the same time."""
COMMAND_SECONDS: Final = 60.0
LARGEST_PROGRAM: Final = 32 * 1024 * 1024
NO_SHELL: Final = _("The container has no shell in which a command could run.")
NO_PYTHON: Final = _("The container has no Python.")
_SOURCES: Final = (Path(asking.__file__), Path(taker.__file__))
_SHELL: Final = 'exec "$(command -v python3 || command -v python)" -I -S -c "$0"'
_START: Final = """
import sys, types
source = lambda size: compile(sys.stdin.buffer.read(size), 'stacks', 'exec')
sys.modules['asking'] = types.ModuleType('asking')
exec(source({}), sys.modules['asking'].__dict__)
exec(source({}))
"""


class StackTaker:
    """Takes stacks through commands in pods.

    Parameters
    ----------
    debug_image
        Image of debug containers; empty for none.
    """

    def __init__(self, debug_image: str = "") -> None:
        self._debug_image = debug_image

    async def take(self, api: KubeApi | None, snapshot: JobSnapshot, *, native: bool) -> TakenStacks:
        """Take the stacks in all running pods.

        Parameters
        ----------
        api
            The cluster; None without a connection.
        snapshot
            The job's state.
        native
            True for frames of C as well.

        Raises
        ------
        Conflict
            If no pod runs.
        """
        replicas = running(snapshot)
        if api is None or not replicas:
            raise Conflict(NOT_RUNNING)
        program = await asyncio.to_thread(_own_program)
        slots, taken = asyncio.Semaphore(AT_A_TIME), TakenStacks()

        async def take(replica: ReplicaView, container: str, *, first: bool) -> None:
            async with slots:
                target = Target(snapshot.job.namespace, replica.pod_name or "", container)
                # NCCL answers for the whole job, so one pod is enough.
                command = _Command(api, native=native, ras=first, program=program)
                answer = await command.run(target)
                if self._debug_image and _needs_debug_container(answer):
                    answer, note = await self._helped(command, target, answer)
                    if note is not None:
                        taken.notes[replica.name] = note
            if isinstance(answer, RawStacks):
                # Marks of a local job, in a pod that was made by hand, name no replica of this job.
                ranks = [rank.model_copy(update={"replica": None}) for rank in answer.ranks]
                taken.stacks.append((replica.name, answer.model_copy(update={"ranks": ranks})))
            else:
                taken.missing[replica.name] = answer

        await asyncio.gather(
            *(take(replica, container, first=index == 0) for index, (replica, container) in enumerate(replicas))
        )
        taken.missing |= {
            replica.name: _("The pod does not run.")
            for replica in snapshot.replicas
            if replica not in [each for each, _container in replicas]
        }
        return taken

    async def _helped(
        self, command: _Command, target: Target, answer: RawStacks | Text
    ) -> tuple[RawStacks | Text, Text | None]:
        """Return the answer with the stacks that a debug container takes, or a sentence that says why it takes none."""
        must_trace = isinstance(answer, RawStacks) and any(rank.problem == "Refused" for rank in answer.ranks)
        try:
            beside = await debug_container(command.api, target, self._debug_image, must_trace=must_trace)
        except NoDebugContainer as error:
            return answer, error.message
        found = await command.run(beside)
        if isinstance(found, Text):
            return answer, _("The debug container took no stacks: {words}", words=found)
        if not found.ranks:
            return answer, _("The debug container found no Python process of the job.")
        return (found if isinstance(answer, Text) else _joined(answer, found)), None


def _needs_debug_container(answer: RawStacks | Text) -> bool:
    if isinstance(answer, Text):
        return answer in (NO_SHELL, NO_PYTHON)
    return any(not rank.threads and rank.problem in ("NoProgram", "Refused") for rank in answer.ranks)


def _joined(answer: RawStacks, found: RawStacks) -> RawStacks:
    """Return an answer with what a debug container, which sees the same pids, found about ranks without threads."""
    by_pid = {rank.pid: rank for rank in found.ranks}

    def joined(rank: RawRank) -> RawRank:
        other = None if rank.threads else by_pid.get(rank.pid)
        return rank if other is None else other.model_copy(update={"traces": rank.traces or other.traces})

    ranks = [joined(rank) for rank in answer.ranks]
    return found.model_copy(update={"ranks": ranks, "ras": answer.ras or found.ras})


def _own_program() -> bytes | None:
    """Return this server's py-spy; None if it has none (blocking)."""
    found = shutil.which("py-spy", path=str(Path(sys.prefix, "bin"))) or shutil.which("py-spy")
    if found is None or not sys.platform.startswith("linux"):
        return None
    data = Path(found).read_bytes()
    return data if len(data) <= LARGEST_PROGRAM and data.startswith(b"\x7fELF") else None


def _lacks_program(ranks: Sequence[RawRank]) -> bool:
    return bool(ranks) and all(rank.problem == "NoProgram" for rank in ranks)


class _Command:
    """The command that takes stacks, with its options.

    Parameters
    ----------
    api
        The cluster.
    native
        True for frames of C as well.
    ras
        True to ask NCCL's RAS subsystem.
    program
        This server's py-spy; None if it has none.
    """

    def __init__(self, api: KubeApi, *, native: bool, ras: bool, program: bytes | None) -> None:
        self.api = api
        self._options = {"native": native, "ras": ras}
        self._program = program

    async def run(self, target: Target) -> RawStacks | Text:
        """Return the stacks in a container, or the sentence that says why there are none."""
        answer = await self._once(target, {}, b"")
        if isinstance(answer, RawStacks) and self._program is not None and _lacks_program(answer.ranks):
            about = {"program_bytes": len(self._program), "machine": platform.machine()}
            answer = await self._once(target, about, self._program)
        return answer

    async def _once(self, target: Target, about: dict[str, object], program: bytes) -> RawStacks | Text:
        sources = await asyncio.to_thread(lambda: [path.read_bytes() for path in _SOURCES])
        start = _START.format(*map(len, sources))
        data = b"".join(sources) + json.dumps({**self._options, **about}).encode() + b"\n" + program
        try:
            done = await run(self.api, target, ["sh", "-c", _SHELL, start], stdin=data, seconds=COMMAND_SECONDS)
        except NotStarted:
            return NO_SHELL
        except ApiError as error:
            if error.status == 403:
                return _("The cluster refused to run a command in the pod: {words}", words=error.message)
            if error.status == 404:
                return _("The pod is gone.")
            return _("The command could not run in the pod: {words}", words=error.message)
        except Unreachable as error:
            return error.message
        except TimeoutError:
            return _("The command in the pod gave no answer in time.")
        if done.exit_code != 0:
            words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:500]
            if done.exit_code in (126, 127):
                return NO_PYTHON
            return _("The command in the pod failed: {words}", words=words)
        try:
            return RawStacks.model_validate_json(done.stdout)
        except ValueError:
            return _("The answer of the command in the pod was not understood.")
