"""`JobHandle`: one job of a client."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..core.job import Action
from ..core.translation import translated

if TYPE_CHECKING:
    from ..core.job import Job, JobSummary, LogStream
    from ..logs.serving.model import LogLine
    from .session import Session

T = TypeVar("T")


class Caller(Protocol):
    """The part of a client that its jobs need.

    Attributes
    ----------
    session
        The services.
    loop
        The event loop on which they run.
    """

    session: Session
    loop: asyncio.AbstractEventLoop

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, which runs on the event loop."""

    def iterate(self, make: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator that runs on the event loop."""


class JobHandle:
    """A job of a client. In a notebook, its display updates itself until the job ends.

    Parameters
    ----------
    client
        The client.
    summary
        The job's last known state.
    """

    def __init__(self, client: Caller, summary: JobSummary) -> None:
        self.client = client
        self.summary = summary

    @property
    def name(self) -> str:
        """The job's name."""
        return self.summary.name

    @property
    def id(self) -> str:
        """The job's id."""
        return self.summary.id

    @property
    def phase(self) -> str:
        """The job's phase now."""
        return self.refresh().summary.phase

    @property
    def reason(self) -> str | None:
        """The sentence that says why the job is in its last known state."""
        reason = self.summary.reason
        return None if reason is None else translated(reason.sentence)

    def refresh(self) -> JobHandle:
        """Read the job's state anew; return this object."""
        self.summary = self.details().summary()
        return self

    def details(self) -> Job:
        """Return the job in full: command, directories, failure.

        Raises
        ------
        NotFound
            If the job was removed.
        """
        return self.client.call(self.client.session.jobs.job(self.id))

    def wait(self, timeout: float | None = None) -> JobHandle:
        """Wait until the job has ended; return this object.

        Parameters
        ----------
        timeout
            Longest time to wait in seconds; None for any time.

        Raises
        ------
        TimeoutError
            If the time is over. The job goes on.
        """
        from .waiting import wait_for

        work = asyncio.wait_for(wait_for(self.client.session, self.summary), timeout)
        try:
            self.summary = self.client.call(work)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{self.name} has not ended within {timeout:g} seconds") from None
        return self

    def logs(
        self,
        rank: int | Sequence[int] | None = None,
        *,
        follow: bool = False,
        tail: int | None = None,
        since: float | None = None,
        pattern: str | None = None,
        all_ranks: bool = False,
    ) -> Iterator[str]:
        """Yield the lines of the job's log.

        Parameters
        ----------
        rank
            Rank or ranks; None for rank 0.
        follow
            True to wait for further lines until the job ends.
        tail
            Number of last lines; None for all.
        since
            Seconds before now of the first line; None for all lines.
        pattern
            Regular expression that lines match; None for all lines.
        all_ranks
            True for the output of everything, each line with its rank.
        """
        from .log_lines import LogChoice, owner_of, pattern_of, read_lines

        choice = LogChoice(
            ranks=() if rank is None else (rank,) if isinstance(rank, int) else tuple(rank),
            every=all_ranks,
            follow=follow,
            tail=tail,
            since=None if since is None else time.time() - since,
            pattern=None if pattern is None else pattern_of(pattern),
        )

        def lines() -> AsyncIterator[tuple[LogStream, LogLine]]:
            return read_lines(self.client.session, self.summary, choice)

        for stream, line in self.client.iterate(lines):
            yield f"[{owner_of(stream)}] {line.text}" if all_ranks else line.text

    def exec(
        self,
        command: str | Sequence[str],
        *,
        rank: int | None = None,
        replica: str | None = None,
        stdin: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the job to its end, in the environment of a rank or in a pod.

        Parameters
        ----------
        command
            Program and arguments, or a line for the shell.
        rank
            Rank; None for rank 0, in a cluster for the pod of rank 0.
        replica
            Name of a replica instead of a rank, such as ``worker-1``.
        stdin
            Input of the command.

        Returns
        -------
        subprocess.CompletedProcess
            With `returncode`, `stdout` and `stderr`.

        Raises
        ------
        JobError
            If the command can't run there, or the connection ends before the command does.
        """
        from .execution import run_command

        words = ["sh", "-c", command] if isinstance(command, str) else list(command)
        done = self.client.call(
            run_command(self.client.session, self.id, words, rank=rank, replica=replica, data=stdin.encode())
        )
        out, error = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(words, done.returncode, out, error)

    def stop(self) -> JobHandle:
        """End the job; return this object."""
        return self._act("stop")

    def pause(self) -> JobHandle:
        """Pause the job; return this object."""
        return self._act("pause")

    def resume(self) -> JobHandle:
        """Resume the job; return this object."""
        return self._act("resume")

    def _act(self, action: Action) -> JobHandle:
        self.summary = self.client.call(self.client.session.jobs.act(self.id, action)).summary()
        return self

    def rerun(self) -> JobHandle:
        """Start the job again as a new job; return the new one."""
        session = self.client.session

        async def work() -> Job:
            return await session.jobs.rerun(self.id, admit=session.launch.admit)

        return JobHandle(self.client, self.client.call(work()).summary())

    def delete(self, *, purge: bool = False) -> None:
        """End and delete the job.

        Parameters
        ----------
        purge
            True to remove record and logs as well.
        """
        self.client.call(self.client.session.jobs.delete(self.id, remove=purge))

    def __repr__(self) -> str:
        return f"<job {self.name}: {self.summary.phase}{f', {self.reason}' if self.reason else ''}>"

    def _ipython_display_(self) -> None:
        """Show the job in a notebook's cell, and update it there until the job ends."""
        from .display import show

        def ended(job: JobSummary) -> None:
            self.summary = job

        show(self.client.session, self.client.loop, self.summary, ended)
