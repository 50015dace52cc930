"""Terminals in the replicas of jobs: what engines offer, and a running shell as the server drives it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import Field

from ..checks import Capability
from ..spec import Model


class TerminalPlace(Model):
    """A replica, or a rank of it, in which a terminal can be opened."""

    replica: str
    rank: int | None = Field(None, description="Global rank; null for the replica itself.")


class TerminalList(Model):
    """The terminals that can be opened in a job now."""

    available: Capability = Field(description="Whether a terminal can be opened at all, or why not.")
    places: list[TerminalPlace] = Field(
        default_factory=list, description="Replicas that run, each followed by its ranks where the engine knows them."
    )


@dataclass(frozen=True)
class ShellSettings:
    """Settings of the server for shells on its machine.

    Attributes
    ----------
    command
        Program and arguments of the shell.
    """

    command: tuple[str, ...]


class Shell(Protocol):
    """A shell with a terminal. One task reads; any task writes.

    Attributes
    ----------
    typed
        The job's command, which is typed for the user but not run; empty if the job runs it.
    """

    typed: str

    async def read(self) -> bytes:
        """Return the next output; no bytes after the shell has ended by itself.

        Raises
        ------
        JobError
            If the shell was cut off: its message says why.
        """

    async def write(self, data: bytes) -> None:
        """Write to the terminal; wait until the shell has taken the data. A shell that has ended takes nothing."""

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal.

        Parameters
        ----------
        columns, rows
            Width and height, in characters.
        """


@runtime_checkable
class OpensTerminals(Protocol):
    """The engine opens shells in the replicas of its jobs."""

    async def terminals(self, uid: str) -> TerminalList:
        """Return where terminals can be opened, or why not.

        Raises
        ------
        NotFound
            If there is no such job.
        """

    def open_terminal(
        self, uid: str, place: TerminalPlace, settings: ShellSettings
    ) -> AbstractAsyncContextManager[Shell]:
        """Start a shell. The end of the context ends the shell and all processes that were started in it.

        Parameters
        ----------
        uid
            The job.
        place
            Replica and rank.
        settings
            Shell on the machine of this server; engines of other machines ignore it.

        Raises
        ------
        NotFound
            If there is no such job or place.
        JobError
            If no shell can be started there.
        """
