"""Terminals in the environment of a rank: the command that starts one, and why a container has none.

A Python in the container reads the variables of the rank's process from ``/proc`` and becomes the shell with them, so
they never leave the container. The source of `rank_shell` is an argument of that Python.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from ....core.errors import Conflict, NotFound, Unavailable
from ....core.translation import Text, _, listing
from ..client.api import KubeApi
from ..client.exec.remote_command import Completed, NotStarted, Target, run

LOOK_SECONDS: Final = 60.0
MOST_NAMED: Final = 10
PYTHON: Final = 'exec "$(command -v python3 || command -v python)" -I -S -c "$0" "$@"'
_IN_THE_REPLICA: Final = _("Open a terminal in the replica itself.")


@cache
def source() -> str:
    """Return the source of `rank_shell` without comments and docstrings, because proxies limit the length of a URL."""
    tree = ast.parse(Path(__file__).with_name("rank_shell.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [each for each in body if not _is_text(each)]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def arguments(rank: int, program: Sequence[str]) -> list[str]:
    """Return the arguments of the shell that runs `PYTHON` and thereby starts a program in a rank's environment.

    Parameters
    ----------
    rank
        Global rank.
    program
        The program with its arguments; empty for a shell.
    """
    return [source(), "start", str(rank), *program]


async def demand_rank(api: KubeApi, target: Target, replica: str, rank: int) -> None:
    """Look for a rank in a container.

    Parameters
    ----------
    api
        The cluster.
    target
        The container.
    replica
        Name of the replica, for messages.
    rank
        Global rank.

    Raises
    ------
    NotFound
        If the rank does not run there.
    Conflict
        If the container allows no terminal in the environment of a rank.
    Unavailable
        If the container does not answer.
    ApiError, Unreachable
        See `remote_command.run`.
    """
    ranks = await found_ranks(api, target)
    if rank in ranks:
        return
    raise NotFound(
        _("Rank {rank} does not run in the replica {name}.", rank=rank, name=replica),
        code="NoSuchPlace",
        hint=_("Ranks there: {ranks}.", ranks=listing([str(each) for each in ranks], MOST_NAMED))
        if ranks
        else _("No process that torchrun started runs there."),
    )


async def found_ranks(api: KubeApi, target: Target, seconds: float = LOOK_SECONDS) -> list[int]:
    """Return the ranks whose processes run in a container.

    Parameters
    ----------
    api
        The cluster.
    target
        The container.
    seconds
        Longest time for the answer.

    Raises
    ------
    Conflict
        If the container does not allow reading the environment of any rank.
    Unavailable
        If the container does not answer.
    ApiError, Unreachable
        See `remote_command.run`.
    """
    try:
        done = await run(api, target, ["sh", "-c", PYTHON, source(), "look", "0"], seconds=seconds)
    except NotStarted as error:
        raise Unavailable(
            _("The container has no shell in which a command could run."), code="NoShell", verbatim=error.message
        ) from error
    except TimeoutError as error:
        raise Unavailable(_("The command in the pod gave no answer in time.")) from error
    if done.exit_code in (126, 127):
        raise _no_environment(_("The container has no Python."))
    ranks, refused = _answer(done)
    if not ranks and refused:
        raise _no_environment(_("The container does not allow reading the environments of its processes."))
    return ranks


def _no_environment(why: Text) -> Conflict:
    return Conflict(why, code="NoRankEnvironment", hint=_IN_THE_REPLICA)


def _answer(done: Completed) -> tuple[list[int], int]:
    """Return the ranks that were found, and the number of processes that refused to be read."""
    try:
        found = json.loads(done.stdout)
        return [int(rank) for rank in found["ranks"]], int(found["refused"])
    except (ValueError, TypeError, KeyError) as error:
        raise Unavailable(
            _("The answer of the command in the pod was not understood."),
            verbatim=done.stderr.decode(errors="replace")[-500:] or None,
        ) from error
