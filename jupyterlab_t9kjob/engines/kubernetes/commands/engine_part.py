"""The part of the engine that runs commands in pods."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from ....core.errors import Unavailable
from .pods import ExecPermissions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ....core.checks import Capability
    from ....core.engine.terminals import Shell, ShellSettings, TerminalList, TerminalPlace
    from ....core.log_sources import LogFile
    from ....core.stacks.raw import TakenStacks
    from ..cluster.connection import Cluster
    from ..jobs.snapshot import JobSnapshot
    from ..objects.kinds import JobKind
    from .stacks import StackTaker


class RunsCommands:
    """Base of the engine; methods with a job's uid raise `NotFound` if there is no such job.

    What runs commands is imported when the first one runs.
    """

    _kind: JobKind
    _cluster: Cluster

    @cached_property
    def _stacks(self) -> StackTaker:
        from .stacks import StackTaker

        return StackTaker(self._cluster.settings.debug_image)

    @cached_property
    def _exec(self) -> ExecPermissions:
        return ExecPermissions()

    async def _open(self, uid: str) -> JobSnapshot:
        raise NotImplementedError

    async def log_sources(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now."""
        raise NotImplementedError

    async def stacks_capability(self, uid: str) -> Capability:
        """Return whether stacks of a job can be taken, see `core.engine.options.TakesStacks`."""
        return await self._exec.capability(self._cluster.api, await self._open(uid))

    async def take_stacks(self, uid: str, *, native: bool) -> TakenStacks:
        """Take the stacks in the job's pods.

        The parameters are those of `core.engine.options.TakesStacks.take_stacks`.
        """
        return await self._stacks.take(self._cluster.api, await self._open(uid), native=native)

    async def terminals(self, uid: str) -> TerminalList:
        """Return where terminals can be opened, see `core.engine.terminals.OpensTerminals`."""
        from .terminals import terminals_of

        snapshot = await self._open(uid)
        try:
            streams = [file.stream for file in await self.log_sources(uid)]
        except Unavailable:  # The terminals of replicas need no logs.
            streams = []
        return await terminals_of(self._exec, self._cluster.api, snapshot, streams)

    async def ranks_in(self, uid: str, replica: str) -> list[int]:
        """Look for ranks in a replica's pod.

        The parameters are those of `core.engine.terminals.FindsRanks.ranks_in`.
        """
        from .terminals import ranks_in

        return await ranks_in(self._cluster.api, await self._open(uid), replica)

    @asynccontextmanager
    async def open_terminal(self, uid: str, place: TerminalPlace, settings: ShellSettings) -> AsyncIterator[Shell]:
        """Start a shell or program in a pod.

        The parameters are those of `core.engine.terminals.OpensTerminals.open_terminal`.
        """
        from .terminals import terminal_in

        async with terminal_in(self._kind, self._cluster.api, await self._open(uid), place, settings) as shell:
            yield shell
