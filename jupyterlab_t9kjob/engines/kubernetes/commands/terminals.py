"""Terminals and commands in the pods of jobs, over exec, and the job's command if debug mode keeps it from running."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from ....core.engine.terminals import Output, Shell, ShellSettings, TerminalList, TerminalPlace
from ....core.errors import Conflict, JobError, NotAllowed, NotFound, Unavailable
from ....core.job import LogStream
from ....core.manifests import render
from ....core.manifests.kinds.pod_template import training_container
from ....core.manifests.registry import KINDS
from ....core.spec import JobSpec
from ....core.system.tasks import spawn, to_end
from ....core.texts.command_lines import typed
from ....core.translation import _, listing
from ..client.api import ApiError, KubeApi, Unreachable
from ..client.exec.remote_command import NotStarted, RemoteCommand, Target, opened, run
from ..client.json_access import parts, text
from ..jobs.snapshot import JobSnapshot
from ..objects.kinds import JobKind, ReplicaView
from .pods import NOT_RUNNING, ExecPermissions, running
from .rank_terminals import PYTHON, arguments, demand_rank, found_ranks

MARK: Final = "T9KJOB_TERMINAL"
"""Environment variable that all processes of a terminal carry, so that they can be ended with it."""
CLEAN_UP_SECONDS: Final = 5.0
SEARCH_SECONDS: Final = 15.0
"""Time for which a menu waits for the ranks of a replica."""
_MARKED: Final = "export {mark}={token}"
_RANK: Final = f"; {PYTHON}"
_TERMINAL: Final = " TERM=xterm-256color"
_SHELL: Final = "; if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh"
_PROGRAM: Final = '; exec "$@"'
# The kernel ends only the processes of the terminal's session that listen to SIGHUP.
_CLEAN_UP: Final = (
    'for each in /proc/[0-9]*; do if grep -qs "{mark}={token}" "$each/environ";'
    ' then kill -KILL "${{each#/proc/}}"; fi; done'
)
_CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
KILLED: Final = 137
"""Exit code of a shell whose container was ended."""
_REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


async def terminals_of(
    permissions: ExecPermissions, api: KubeApi | None, snapshot: JobSnapshot, streams: Iterable[LogStream]
) -> TerminalList:
    """Return the replicas and ranks in which a terminal can be opened, or why not.

    Parameters
    ----------
    permissions
        Permissions to run commands.
    api
        The cluster; None without a connection.
    snapshot
        The job's state.
    streams
        The job's log streams. The ranks that write logs of their own are known by them.
    """
    holders: dict[int, str] = {}
    for stream in sorted(streams, key=lambda stream: (stream.attempt, stream.worker_restart)):
        if stream.rank is not None:
            holders[stream.rank] = stream.replica
    spec = snapshot.job.spec
    processes = spec.torchrun.proc_per_node if spec is not None and spec.torchrun is not None else None
    places, searchable = [], []
    for replica, _container in running(snapshot):
        ranks = sorted(rank for rank, name in holders.items() if name == replica.name)
        places += [TerminalPlace(replica=replica.name, rank=rank) for rank in (None, *ranks)]
        # Ranks that write to one log are known only to their container, because torchrun numbers the replicas.
        if not ranks or (isinstance(processes, int) and len(ranks) < processes):
            searchable.append(replica.name)
    available = await permissions.capability(api, snapshot)
    return TerminalList(available=available, places=places, searchable=searchable)


async def ranks_in(api: KubeApi | None, snapshot: JobSnapshot, name: str) -> list[int]:
    """Return the ranks that run in a replica, see `core.engine.terminals.FindsRanks`.

    Parameters
    ----------
    api, snapshot
        See `terminals_of`.
    name
        Name of the replica.

    Raises
    ------
    JobError
        See `terminal_in`.
    """
    found = next(((view, container) for view, container in running(snapshot) if view.name == name), None)
    if api is None or found is None:
        raise Conflict(_("The replica {name} does not run.", name=name))
    replica, container = found
    target = Target(snapshot.job.namespace, replica.pod_name or "", container)
    try:
        return await found_ranks(api, target, SEARCH_SECONDS)
    except (ApiError, Unreachable) as error:
        raise _refusal(error) from error


@asynccontextmanager
async def terminal_in(
    kind: JobKind, api: KubeApi | None, snapshot: JobSnapshot, place: TerminalPlace, settings: ShellSettings
) -> AsyncIterator[Shell]:
    """Start a shell or program in a container of a replica, see `core.engine.terminals.OpensTerminals`.

    Parameters
    ----------
    kind
        The kind of job.
    api, snapshot
        See `terminals_of`.
    place
        The replica, or a rank that runs in it.
    settings
        The program, its container, and whether it has a terminal. A shell is the image's own.

    Raises
    ------
    Conflict
        If the pod does not run, or has no Python for the terminal of a rank.
    NotAllowed
        If the account lacks the permission.
    NotFound
        If the pod has no container of the name, or the rank does not run there.
    Unavailable
        If the cluster does not answer, or the container has no shell.
    """
    if api is None:
        raise Conflict(NOT_RUNNING)
    found = next(((view, name) for view, name in running(snapshot) if view.name == place.replica), None)
    if found is None:
        raise Conflict(_("The replica {name} does not run.", name=place.replica))
    replica, training = found
    container = settings.container or training
    names = [name for field in _CONTAINERS for one in parts(replica.pod, "spec", field) if (name := text(one, "name"))]
    if settings.container is not None and container not in names:
        message = _("The pod {pod} has no container {name}.", pod=replica.pod_name or "", name=container)
        raise NotFound(message, hint=_("Its containers: {names}.", names=listing(names)))
    target = Target(snapshot.job.namespace, replica.pod_name or "", container)
    token = uuid.uuid4().hex
    program = settings.program
    is_typed = not program and container == training
    rank = place.rank if container == training else None
    start = _MARKED.format(mark=MARK, token=token)
    start += _TERMINAL if settings.terminal else ""
    if rank is not None:
        command = ["sh", "-c", start + _RANK, *arguments(rank, program)]
    else:
        command = ["sh", "-c", start + (_PROGRAM if program else _SHELL), "sh", *program]
    try:
        if rank is not None:
            await demand_rank(api, target, place.replica, rank)
        async with opened(api, target, command, stdin=True, tty=settings.terminal) as remote:
            typed_text = _typed(kind, snapshot.job.spec, replica) if is_typed else ""
            yield PodShell(remote, typed_text, is_shell=not program)
    except (ApiError, Unreachable) as error:
        raise _refusal(error) from error
    finally:
        # The task of the terminal may be cancelled again, when the server stops.
        await to_end(spawn(_clean_up(api, target, token), "end the processes of a terminal"))


async def _clean_up(api: KubeApi, target: Target, token: str) -> None:
    """End the processes of a terminal that its end has left; a pod that is gone has none."""
    with contextlib.suppress(ApiError, Unreachable, NotStarted, TimeoutError):
        await run(api, target, ["sh", "-c", _CLEAN_UP.format(mark=MARK, token=token)], seconds=CLEAN_UP_SECONDS)


class PodShell:
    """A shell or program in a container, see `core.engine.terminals.Shell`.

    Parameters
    ----------
    remote
        The command.
    typed
        The job's command if debug mode keeps it from running; else empty.
    is_shell
        True for a shell, which is killed only with its container.
    """

    def __init__(self, remote: RemoteCommand, typed: str, *, is_shell: bool) -> None:
        self.typed = typed
        self._remote = remote
        self._is_shell = is_shell

    @property
    def exit_code(self) -> int | None:
        """The exit code after the end."""
        return self._remote.exit_code

    async def read(self) -> Output | None:
        """Return the next output; None after the end."""
        try:
            output = await self._remote.receive()
        except NotStarted as error:
            raise Unavailable(
                _("The container has no shell in which a command could run."), code="NoShell", verbatim=error.message
            ) from error
        except (ApiError, Unreachable) as error:
            raise _refusal(error) from error
        if output is None and self._is_shell and self._remote.exit_code == KILLED:
            raise Unavailable(_("The container has ended, and the shell with it."), code="ContainerEnded")
        return output

    async def write(self, data: bytes) -> None:
        """Write to the input; a connection that has ended is the reader's to report."""
        with contextlib.suppress(Unreachable):
            await self._remote.send(data)

    async def close_input(self) -> None:
        """End the input. A server before Kubernetes 1.29 can't."""
        with contextlib.suppress(Unreachable):
            await self._remote.close_input()

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal. The parameters are those of `core.engine.terminals.Shell.resize`."""
        with contextlib.suppress(Unreachable):
            await self._remote.resize(columns, rows)


def _refusal(error: ApiError | Unreachable) -> JobError:
    if isinstance(error, Unreachable):
        return Unavailable(error.message, code="Unreachable")
    words = error.message
    if error.status == 403:
        return NotAllowed(_("The cluster refused to run a command in the pod."), verbatim=words)
    if error.status == 404:
        return Conflict(_("The pod is gone."), verbatim=words)
    return Unavailable(_("The command could not run in the pod."), verbatim=words)


# -- the job's command -------------------------------------------------------------------------------------------------


def _typed(kind: JobKind, spec: JobSpec | None, replica: ReplicaView) -> str:
    """Return the command that debug mode replaces, as it is typed into a shell; else no text."""
    if spec is None or spec.debug is None:
        return ""
    without = spec.model_copy(update={"debug": None})
    try:
        manifest = render(without, kind.manifests)
    except JobError:  # The user's own additions can't be combined with the command.
        return ""
    form = KINDS[kind.manifests]
    templates = form.templates(manifest)
    template: dict[str, Any] = templates[min(replica.role, len(templates) - 1)] if templates else {}
    containers = template.get("spec", {}).get("containers", [])
    at = training_container(containers, form.training)
    if at is None:
        return ""
    words = [*containers[at].get("command", []), *containers[at].get("args", [])]
    launcher = form.launcher(without) if words else []
    return " ".join(_word(word) for word in [*launcher, *words])


def _word(word: str) -> str:
    """Return a word of a container's command for a shell, with Kubernetes' references to variables as the shell's."""
    parts: list[str] = []
    at = 0
    for reference in _REFERENCE.finditer(word):
        if reference.start() > at:
            parts.append(typed([word[at : reference.start()]]))
        parts.append(typed(["$"]) if reference[1] is None else f'"${{{reference[1]}}}"')
        at = reference.end()
    return "".join(parts) + typed([word[at:]]) if at < len(word) or not parts else "".join(parts)
