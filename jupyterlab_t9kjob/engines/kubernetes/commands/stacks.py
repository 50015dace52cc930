"""Stacks of the ranks of a cluster's jobs: a command in each pod takes them, with the image's py-spy or the server's.

The command is the source of `core.stacks.taker`, which the container's Python reads from its input. An image without
py-spy gets this server's, which is statically linked, in the same way and keeps it in memory.
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
from ....core.stacks import taker
from ....core.stacks.raw import RawStacks, TakenStacks
from ....core.translation import Text, _
from ..client.api import ApiError, KubeApi, Unreachable
from ..client.exec.remote_command import NotStarted, Target, run
from ..jobs.snapshot import JobSnapshot
from ..objects.kinds import ReplicaView
from .pods import NOT_RUNNING, running

AT_A_TIME: Final = 8
"""Pods in which a command runs at the same time."""
COMMAND_SECONDS: Final = 60.0
LARGEST_PROGRAM: Final = 32 * 1024 * 1024
_SOURCE: Final = Path(taker.__file__)
_SHELL: Final = 'exec "$(command -v python3 || command -v python)" -I -S -c "$0"'


class StackTaker:
    """Takes stacks through commands in pods."""

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

        async def take(replica: ReplicaView, container: str) -> None:
            async with slots:
                target = Target(snapshot.job.namespace, replica.pod_name or "", container)
                answer = await _taken(api, target, native=native, program=program)
            if isinstance(answer, RawStacks):
                # Marks of a local job, in a pod that was made by hand, name no replica of this job.
                ranks = [rank.model_copy(update={"replica": None}) for rank in answer.ranks]
                taken.stacks.append((replica.name, answer.model_copy(update={"ranks": ranks})))
            else:
                taken.missing[replica.name] = answer

        await asyncio.gather(*(take(replica, container) for replica, container in replicas))
        taken.missing |= {
            replica.name: _("The pod does not run.")
            for replica in snapshot.replicas
            if replica not in [each for each, _container in replicas]
        }
        return taken


def _own_program() -> bytes | None:
    """Return this server's py-spy; None if it has none (blocking)."""
    found = shutil.which("py-spy", path=str(Path(sys.prefix, "bin"))) or shutil.which("py-spy")
    if found is None or not sys.platform.startswith("linux"):
        return None
    data = Path(found).read_bytes()
    return data if len(data) <= LARGEST_PROGRAM and data.startswith(b"\x7fELF") else None


async def _taken(api: KubeApi, target: Target, *, native: bool, program: bytes | None) -> RawStacks | Text:
    """Return the stacks in a container, or the sentence that says why there are none."""
    answer = await _asked(api, target, {"native": native}, b"")
    if isinstance(answer, RawStacks) and program is not None and _lacks_program(answer.ranks):
        request = {"native": native, "program_bytes": len(program), "machine": platform.machine()}
        answer = await _asked(api, target, request, program)
    return answer


def _lacks_program(ranks: Sequence[object]) -> bool:
    return bool(ranks) and all(getattr(rank, "problem", None) == "NoProgram" for rank in ranks)


async def _asked(api: KubeApi, target: Target, request: dict[str, object], program: bytes) -> RawStacks | Text:
    source = await asyncio.to_thread(_SOURCE.read_bytes)
    start = f"import sys; exec(compile(sys.stdin.buffer.read({len(source)}), 'stacks', 'exec'))"
    data = source + json.dumps(request).encode() + b"\n" + program
    try:
        done = await run(api, target, ["sh", "-c", _SHELL, start], stdin=data, seconds=COMMAND_SECONDS)
    except NotStarted:
        return _("The container has no shell in which a command could run.")
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
            return _("The container has no Python.")
        return _("The command in the pod failed: {words}", words=words)
    try:
        return RawStacks.model_validate_json(done.stdout)
    except ValueError:
        return _("The answer of the command in the pod was not understood.")
