"""Lines of a job's log, chosen by rank, as an asynchronous iterator that can follow the job to its end."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio

from ..core.errors import FieldError, NotFound
from ..core.job import JobSummary, LogStream
from ..core.translation import _, listing
from ..logs.serving.follow import JobLogs
from ..logs.serving.model import LogLine
from ..logs.serving.sources import Anchor
from .session import Session
from .waiting import is_over

Part: TypeAlias = list[tuple[LogStream, LogLine]]

PAGE_LINES: Final = 2000
LAST_SECONDS: Final = 5.0
"""Time after the end of a job without new lines, after which the rest of its log is no longer waited for."""
MOST_NAMED: Final = 10


@dataclass(frozen=True)
class LogChoice:
    """Which lines of a log are wanted.

    Attributes
    ----------
    ranks
        Ranks; None and no `replicas` for rank 0, or for the first replica if its ranks are not known.
    replicas
        Names of replicas: ``worker-1``.
    every
        True for all streams, also those of launchers and of containers that prepare a pod.
    container
        Name of a container; None for the training container.
    tail
        Number of last lines; None for all.
    since
        Time of the first line, in seconds since the epoch; None for the first line.
    pattern
        Lines that match; None for all.
    follow
        True to wait for further lines until the job ends.
    """

    ranks: tuple[int, ...] = ()
    replicas: tuple[str, ...] = ()
    every: bool = False
    container: str | None = None
    tail: int | None = None
    since: float | None = None
    pattern: re.Pattern[str] | None = None
    follow: bool = False

    @property
    def takes_all(self) -> bool:
        """True if all lines of the wanted streams are wanted, from some line on."""
        return self.pattern is None and self.since is None

    def takes(self, stream: LogStream) -> bool:
        """Return True if a stream is among the wanted ones, which are given by rank or replica."""
        if self.container is not None and stream.container != self.container:
            return False
        if self.every:
            return True
        if self.ranks or self.replicas:
            return stream.rank in self.ranks or stream.replica in self.replicas
        return self.container is not None or stream.rank == 0

    def streams(self, streams: Sequence[LogStream], *, ended: bool) -> list[LogStream]:
        """Return the wanted streams among those of a job.

        Parameters
        ----------
        streams
            All streams of the job.
        ended
            True if the job has ended. Before that, the output of torchrun itself does not stand in for that of rank 0.
        """
        found = [stream for stream in streams if self.takes(stream)]
        if found or self.ranks or self.replicas or self.container or not streams:
            return found
        first = streams[0].replica  # Before its ranks are known, or without torchrun.
        own = [stream for stream in streams if stream.replica == first]
        return [stream for stream in own if ended or stream.source != "launcher"]


def pattern_of(text: str, *, ignore_case: bool = False) -> re.Pattern[str]:
    """Return a regular expression.

    Parameters
    ----------
    text
        The expression.
    ignore_case
        True to find small and capital letters alike.

    Raises
    ------
    FieldError
        If the text is no regular expression.
    """
    try:
        return re.compile(text, re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        message = _("“{pattern}” is no regular expression: {error}.", pattern=text[:200], error=str(error))
        raise FieldError(message, code="BadPattern", hint=_("Put a backslash before a special character.")) from None


async def read_lines(session: Session, job: JobSummary, choice: LogChoice) -> AsyncIterator[tuple[LogStream, LogLine]]:
    """Yield the wanted lines of a job's log one by one.

    Parameters
    ----------
    session, job, choice
        As for `read_parts`.

    Raises
    ------
    NotFound
        As `read_parts`.
    """
    async for part in read_parts(session, job, choice):
        for line in part:
            yield line


async def read_parts(session: Session, job: JobSummary, choice: LogChoice) -> AsyncIterator[Part]:
    """Yield the wanted lines of a job's log, in the order of their times, each with its stream; many at a time.

    A line without its end is yielded only when nothing more will be written.

    Parameters
    ----------
    session
        The services.
    job
        The job.
    choice
        The wanted lines.

    Raises
    ------
    NotFound
        If the job has no such rank or replica.
    """
    async with session.logs.subscribe(job.id) as logs:
        async for part in _Reader(session, job, choice, logs).parts():
            if not isinstance(part, str):
                yield part


async def read_text(
    session: Session,
    job: JobSummary,
    choice: LogChoice,
    printed: Callable[[LogStream, LogLine], str],
    *,
    bare: bool,
) -> AsyncIterator[str]:
    """Yield the wanted lines of a job's log as text, many at a time.

    Parameters
    ----------
    session, job, choice
        As for `read_parts`.
    printed
        Returns a line as text, with its end.
    bare
        True if the text of a line is `LogLine.text` and nothing else, so that lines need not be read one by one.

    Raises
    ------
    NotFound
        As `read_parts`.
    """
    async with session.logs.subscribe(job.id) as logs:
        async for part in _Reader(session, job, choice, logs, blocks=bare and choice.takes_all).parts():
            yield part if isinstance(part, str) else "".join([printed(stream, line) for stream, line in part])


class _Reader:
    """Reads the wanted lines; parts of the log that are wanted as they are come as texts if `blocks` is set."""

    def __init__(
        self, session: Session, job: JobSummary, choice: LogChoice, logs: JobLogs, *, blocks: bool = False
    ) -> None:
        self._session, self._job, self._choice, self._logs, self._blocks = session, job, choice, logs, blocks
        self._active = not is_over(job, "ended")
        self._position: dict[str, int] = {}
        self._known: set[str] = set()

    async def parts(self) -> AsyncIterator[Part | str]:
        choice = self._choice
        end = self._session.jobs.listen(self._note)
        try:
            await self._look()
            chosen = self._chosen()
            if not chosen and not (choice.follow and self._active):
                self._refuse()
            async for part in self._first(chosen):
                yield part
            quiet_since: float | None = None
            while choice.follow:
                growth, ended = self._logs.grown.count, not self._active
                if ended:  # The streams of a short job may have appeared after the last listing.
                    await self._logs.refresh()
                before = self._position
                async for part in self._growth(last=False):
                    yield part
                if ended:
                    now = time.monotonic()
                    if quiet_since is None or self._position != before:
                        quiet_since = now
                    if self._complete() or now - quiet_since > LAST_SECONDS:
                        break
                with anyio.move_on_after(1.0):  # The streams are listed anew once a second.
                    await self._logs.wait_for_growth(growth)
            if choice.follow or choice.tail is None:
                async for part in self._growth(last=True):
                    yield part
        finally:
            end()

    async def _look(self) -> None:
        """Read the job's state: it may have ended since the caller read it."""
        try:
            job = await self._session.jobs.job(self._job.id)
        except NotFound:
            self._active = False
        else:
            self._active = not is_over(job, "ended")
        if not self._active:
            await self._logs.refresh()

    def _note(self, ident: str, now: JobSummary | None) -> None:
        if ident == self._job.id:
            self._active = now is not None and not is_over(now, "ended")

    def _chosen(self) -> dict[str, LogStream]:
        return {stream.id: stream for stream in self._choice.streams(self._logs.streams, ended=not self._active)}

    def _complete(self) -> bool:
        return all(stream.complete for stream in self._chosen().values())

    def _refuse(self) -> None:
        streams = self._logs.streams
        ranks = sorted({str(stream.rank) for stream in streams if stream.rank is not None}, key=int)
        replicas = list(dict.fromkeys(stream.replica for stream in streams))
        if not streams:
            message = _("{job} has written no log.", job=self._job.name)
            raise NotFound(
                message, code="NoLog", hint=_("`t9kjob events {job}` says what happened.", job=self._job.name)
            )
        unknown = _("not known")
        raise NotFound(
            _("The log of {job} has no such rank, replica or container.", job=self._job.name),
            code="NoSuchStream",
            hint=_(
                "Ranks: {ranks}. Replicas: {replicas}.",
                ranks=listing(ranks, MOST_NAMED) if ranks else unknown,
                replicas=listing(replicas, MOST_NAMED),
            ),
        )

    async def _first(self, chosen: dict[str, LogStream]) -> AsyncIterator[Part | str]:
        """Yield the lines that exist now, from the wanted one on."""
        choice = self._choice
        self._known = set(chosen)
        if choice.tail is not None and chosen:
            lines, before = await self._tail(chosen)
            yield [(chosen[line.stream], line) for line in lines]
            self._position = before
            return
        start: Anchor = choice.since if choice.since is not None else "start"
        page = await self._logs.page(list(chosen), start, "forward", 1) if chosen else None
        self._position = dict(page.before) if page is not None else {}
        async for part in self._growth(last=False):
            yield part

    async def _tail(self, chosen: dict[str, LogStream]) -> tuple[list[LogLine], dict[str, int]]:
        """Return the last wanted lines, and the position after them.

        A line without its end is one of them unless it is waited for.
        """
        choice = self._choice
        wanted, found = choice.tail or 0, list[LogLine]()
        growing = {ident for ident, stream in chosen.items() if choice.follow and not stream.complete}
        anchor: Anchor = "end"
        after: dict[str, int] | None = None
        while True:
            page = await self._logs.page(list(chosen), anchor, "backward", PAGE_LINES)
            waits = {line.stream: line.offset for line in page.lines if line.partial and line.stream in growing}
            if after is None:
                after = {**page.after, **waits}
            lines = [line for line in page.lines if line.offset != waits.get(line.stream) and self._takes(line)]
            found = [*lines, *found]
            old = choice.since is not None and page.lines and (page.lines[0].time or 0) < choice.since
            if len(found) >= wanted or page.at_start or old or not page.lines:
                return found[len(found) - wanted :] if wanted < len(found) else found, after
            anchor = page.before

    def _takes(self, line: LogLine) -> bool:
        choice = self._choice
        recent = choice.since is None or line.time is None or line.time >= choice.since
        return recent and (choice.pattern is None or choice.pattern.search(line.text) is not None)

    async def _growth(self, *, last: bool) -> AsyncIterator[Part | str]:
        """Yield the lines after the position; lines without an end only if nothing follows them."""
        while True:
            chosen = self._chosen()
            only = next(iter(chosen)) if self._blocks and len(chosen) == 1 else None
            block = await self._logs.block(only, self._position.get(only, 0)) if only is not None else None
            if only is not None and block is not None:
                yield block.text
                self._position = {**self._position, only: block.after}
                if block.at_end:
                    return
                continue
            page = await self._logs.page(list(chosen), self._position, "forward", PAGE_LINES)
            position = dict(page.after)
            part: Part = []
            for line in page.lines:
                if line.partial and not last:
                    position[line.stream] = min(position[line.stream], line.offset)
                elif line.stream in chosen and self._takes(line):
                    part.append((chosen[line.stream], line))
            yield part
            self._position = {**self._position, **position}
            if page.at_end or not page.lines:
                return


def owner_of(stream: LogStream) -> str:
    """Return whose output a stream has: “rank 3”, or the replica with the container or program that writes it."""
    return f"rank {stream.rank}" if stream.rank is not None else f"{stream.replica} {stream.container or stream.source}"
