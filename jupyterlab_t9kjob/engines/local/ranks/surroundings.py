"""Environment, working directory and command of a local job's replicas and ranks, as their processes have them."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....core.engine.terminals import TerminalPlace
from ....core.errors import Conflict
from ....core.system.processes import LINUX, PROC
from ....core.texts.command_lines import typed
from ....core.translation import _
from ..supervisor.process_tree import MARK, REPLICA_MARK, marked
from ..supervisor.records.record import Record, ReplicaPlan, ReplicaRecord, RunPlan
from ..supervisor.replica import FOREIGN

TERMINAL_MARK: Final = "T9KJOB_TERMINAL"
"""Environment variable that all processes of a terminal carry, so that they can be ended with it."""
BIN: Final = "T9KJOB_TERMINAL_BIN"
"""Folder of the job's Python, which the file `bashrc` puts first on the PATH."""
PORT: Final = 29500
"""Port of the rendezvous that is typed for several replicas."""
_LEFT_OUT: Final = frozenset({MARK, REPLICA_MARK, "LINES", "COLUMNS"})
"""Without the job's marks its supervisor does not take the shell for one of the job's processes."""


class NoRank(Conflict):
    """torchrun has not started the rank yet, or starts it again."""

    code = "NoRank"


@dataclass(frozen=True)
class Surroundings:
    """Environment and working directory that a shell takes over from a replica or rank.

    Attributes
    ----------
    env
        Environment variables. They may hold secrets and are never logged.
    cwd
        Working directory.
    typed
        The job's command if debug mode keeps it from running; else empty.
    """

    env: dict[str, str]
    cwd: str
    typed: str


def new_mark() -> str:
    """Return a value of `TERMINAL_MARK` for a new terminal."""
    return uuid.uuid4().hex


def surroundings_of(record: Record, plan: RunPlan, place: TerminalPlace, mark: str) -> Surroundings:
    """Return the surroundings of a replica or rank that runs (blocking).

    Parameters
    ----------
    record, plan
        The job.
    place
        The replica, or one of its ranks.
    mark
        Value of `TERMINAL_MARK` in the environment.

    Raises
    ------
    Conflict
        If the replica or rank does not run.
    """
    index = next((i for i, each in enumerate(record["replicas"]) if each["name"] == place.replica), None)
    if index is None:
        raise Conflict(_("The job has no replica “{name}”.", name=place.replica))
    replica = record["replicas"][index]
    agent = replica["pid"]
    if agent is None:
        raise Conflict(_("The replica {name} does not run.", name=place.replica))
    pid: int | None = agent
    if place.rank is not None:
        pid = running_ranks(plan["uid"], place.replica).get(place.rank) if LINUX else agent
        if pid is None:
            raise NoRank(_("Rank {rank} does not run in {replica}.", rank=place.rank, replica=place.replica))
    own = plan["replicas"][index]
    env = (_environment(pid) if LINUX and pid is not None else None) or _planned(own, replica, place)
    env = {name: value for name, value in env.items() if name not in _LEFT_OUT}
    folder = _folder_of_python(own, env)
    if folder is not None:
        env["PATH"] = os.pathsep.join(filter(None, [folder, env.get("PATH", "")]))
        env[BIN] = folder
    env |= {"TERM": "xterm-256color", TERMINAL_MARK: mark}
    return Surroundings(env, _working_directory(pid, plan["cwd"]), _typed(own, place, index, len(plan["replicas"])))


def ranks_of(record: ReplicaRecord, processes: int | None) -> list[int]:
    """Return the global ranks of a replica that runs; none while they are unknown.

    Parameters
    ----------
    record
        The replica.
    processes
        Number of its ranks; None if torchrun decides.
    """
    first = record["attempts"][-1]["first_rank"] if record["attempts"] else None
    return [] if first is None or processes is None else list(range(first, first + processes))


def running_ranks(uid: str, replica: str) -> dict[int, int]:
    """Return the first process of each rank of a replica by the processes' variables (blocking, Linux).

    The first process is the one whose parent does not have the rank; the workers of a data loader do. torchrun sets
    ``LOCAL_RANK``, too, so a variable ``RANK`` of the user does not count.

    Parameters
    ----------
    uid
        The job's uid.
    replica
        Name of the replica.
    """
    found = {}
    for pid in marked(uid, replica):
        env = _environment(pid) or {}
        rank, local = env.get("RANK", ""), env.get("LOCAL_RANK", "")
        if rank.isdecimal() and local.isdecimal():
            found[pid] = int(rank)
    tops = [pid for pid in sorted(found, reverse=True) if found.get(_parent(pid) or 0) != found[pid]]
    return {found[pid]: pid for pid in tops}


def _parent(pid: int) -> int | None:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
        return int(text[text.rindex(")") + 2 :].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def _environment(pid: int) -> dict[str, str] | None:
    """Return the environment with which a process was started; None if it can't be read."""
    try:
        data = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    pairs = (item.partition(b"=") for item in data.split(b"\0"))
    return {os.fsdecode(name): os.fsdecode(value) for name, equals, value in pairs if name and equals} or None


def _planned(plan: ReplicaPlan, record: ReplicaRecord, place: TerminalPlace) -> dict[str, str]:
    """Return the environment that the plan gives a replica, for systems that don't show a process's own."""
    env = {name: value for name, value in os.environ.items() if not FOREIGN.fullmatch(name)} | plan["env"]
    if record["devices"]:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(record["devices"])
    if place.rank is not None:
        ranks = ranks_of(record, plan["processes"])
        env |= {"RANK": str(place.rank), "LOCAL_WORLD_SIZE": str(len(ranks))}
        if place.rank in ranks:
            env["LOCAL_RANK"] = str(ranks.index(place.rank))
    return env


def _working_directory(pid: int | None, planned: str) -> str:
    if LINUX and pid is not None:
        try:
            found = str((PROC / str(pid) / "cwd").readlink())
        except OSError:
            found = planned
        if Path(found).is_dir():  # The kernel adds “ (deleted)” to the path of a folder that is gone.
            return found
    return planned


def _folder_of_python(plan: ReplicaPlan, env: Mapping[str, str]) -> str | None:
    """Return the folder of the job's Python; None if the job names no Python, or `PATH` has it first already."""
    python = Path((plan["launcher"] or plan["program"])[0])
    if not python.is_absolute() or not python.name.startswith("python"):
        return None
    found = shutil.which("python", path=env.get("PATH", ""))
    return None if found is not None and Path(found).parent == python.parent else str(python.parent)


def _typed(plan: ReplicaPlan, place: TerminalPlace, index: int, replicas: int) -> str:
    """Return the command that debug mode replaces, as it is typed into a shell."""
    program = plan.get("debugged_program")
    if program is None:
        return ""
    launcher = plan.get("debugged_launcher")
    if launcher is None:
        return typed(program)
    if place.rank is not None:
        return typed(plan.get("debugged_rank", program))
    if replicas == 1:
        return typed([*launcher, "--rdzv-endpoint=localhost:0", *program])
    endpoint = f'--rdzv-endpoint=localhost:"${{PORT:-{PORT}}}" --rdzv-conf=is_host={int(index == 0)}'
    return " ".join([typed(launcher), endpoint, "--local-addr=localhost", typed(program)])
