"""Terminals and commands in the replicas of jobs: what engines offer, and a running shell as its caller drives it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

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
    searchable: list[str] = Field(
        default_factory=list,
        description="Replicas that may run more ranks: a request with the parameter `replica` looks for them there.",
    )


@dataclass(frozen=True)
class ShellSettings:
    """Shell on the machine of this process, and the command that runs instead of a shell.

    Attributes
    ----------
    command
        Program and arguments of the shell; engines of other machines choose a shell themselves.
    program
        Program and arguments that run instead of a shell; empty for a shell.
    terminal
        False for plain streams instead of a terminal: input, output and error output.
    container
        Name of a container of the replica's pod; None for the training container.
    """

    command: tuple[str, ...]
    program: tuple[str, ...] = ()
    terminal: bool = True
    container: str | None = None


class Output(NamedTuple):
    """A piece of the output of a shell or program; with a terminal everything is ``stdout``."""

    stream: Literal["stdout", "stderr"]
    data: bytes


class Shell(Protocol):
    """A shell, or a program that runs instead of it. One task reads; any task writes.

    Attributes
    ----------
    typed
        The job's command, which is typed for the user but not run; empty if the job runs it.
    """

    typed: str

    @property
    def exit_code(self) -> int | None:
        """The exit code after `read` has returned None; for a signal, 128 and the signal's number."""

    async def read(self) -> Output | None:
        """Return the next output; None after the shell has ended by itself.

        Raises
        ------
        JobError
            If the shell was cut off: its message says why.
        """

    async def write(self, data: bytes) -> None:
        """Write to the input; wait until the shell has taken the data. A shell that has ended takes nothing."""

    async def close_input(self) -> None:
        """End the input, so that the program reads its end. A terminal's input has no end."""

    async def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal. Without a terminal nothing happens.

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
        """Start a shell or program. The end of the context ends it and all processes that were started in it.

        Parameters
        ----------
        uid
            The job.
        place
            Replica and rank.
        settings
            The shell, or the program that runs instead of it.

        Raises
        ------
        NotFound
            If there is no such job or place.
        JobError
            If no shell can be started there.
        """


@runtime_checkable
class FindsRanks(Protocol):
    """The engine finds the ranks of the replicas that `TerminalList.searchable` names, with a command in each."""

    async def ranks_in(self, uid: str, replica: str) -> list[int]:
        """Return the global ranks whose processes run in a replica.

        Parameters
        ----------
        uid
            The job.
        replica
            Name of the replica.

        Raises
        ------
        NotFound
            If there is no such job.
        JobError
            If the replica does not run, or no command can look for its ranks.
        """
