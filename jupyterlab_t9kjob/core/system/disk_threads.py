"""Threads for work on users' files, apart for each mount.

A call to a disk that does not answer (a network folder whose server is gone) can't be cancelled: it keeps its thread
until the disk answers. Every mount therefore has a few threads of its own, made when they are needed and ended when
they are idle. A disk that does not answer holds up nothing on another disk, and whoever asks for its files gets an
error in words after `ANSWER_SECONDS` and `PROBE_SECONDS`; from then on at once, until the disk answers again.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import errno
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as NotInTime
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from ..errors import Unavailable
from ..wording import duration
from .mount_table import Mount, MountTable

P = ParamSpec("P")
T = TypeVar("T")
PathLike = str | os.PathLike[str]

WIDTH = 4
"""Calls at a time on one mount."""
ANSWER_SECONDS = 10.0
"""How long a call may take before its disk is asked whether it answers at all."""
PROBE_SECONDS = 2.0
"""How long a disk may take to answer that."""
LONGEST_SECONDS = 60.0
"""How long a request waits for a call on a disk that does answer."""
IDLE_SECONDS = 1.0
"""How long a thread waits for the next call before it ends."""
_MOST_LINKS = 40  # the kernel's own limits, path_resolution(7) and PATH_MAX
_LONGEST_PATH = 4096


class DiskSilent(Unavailable, OSError):
    """A disk does not answer: for who handles a disk's errors one of them, and an answer in words to a request."""

    def __init__(self, message: str, path: str, *, code: str, hint: str) -> None:
        super().__init__(message, code=code, hint=hint)
        self.filename = path
        self.errno, self.strerror = errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)

    def __str__(self) -> str:
        return self.message


async def on_disk(
    paths: PathLike | Iterable[PathLike], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call what works on files in a thread of the mount that holds them.

    Parameters
    ----------
    paths
        The files or folders that it works on, absolute. They need not exist. Each disk of them must answer before the
        call is made, in a thread of the first one's mount.
    function
        What is called, with the other arguments.

    Raises
    ------
    DiskSilent
        If a disk does not answer, or the call does not return within `LONGEST_SECONDS`. It may return all the same
        later.
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    lanes: dict[Lane, str] = {}
    for path in several or ["/"]:
        lane = await lane_of(path)
        lanes.setdefault(lane, os.fspath(path))
    first, *others = lanes
    for lane in others:
        await lane.run(partial(_probe, lane.point))
    return await first.run(partial(function, *args, **kwargs), what=lanes[first], longest=LONGEST_SECONDS, also=others)


def real_path(path: str, seconds: float = 5.0) -> str:
    """Return an absolute path with its links followed (blocking, but not for longer).

    Raises
    ------
    DiskSilent
        If a disk on the way does not answer in time.
    """
    begun = time.monotonic()
    walk = _walk(path)
    lane, step = next(walk)
    while True:
        lane.demand_answers()
        future = lane.submit(step)
        try:
            there = future.result(max(0.0, begun + seconds - time.monotonic()))
        except NotInTime:
            lane.withdraw(future)
            lane.ask(begun)  # whoever comes next need not wait
            raise lane.silent(seconds) from None
        try:
            lane, step = walk.send(there)
        except StopIteration as done:
            return str(done.value[1])


class Lane:
    """The threads of one mount, or of another part of the program whose calls must not wait for others.

    Calls begin in the order in which they came.

    Parameters
    ----------
    point
        A folder of the disk: what is asked whether the disk answers, and what errors name.
    width
        Calls at a time.
    """

    def __init__(self, point: str, width: int = WIDTH) -> None:
        self.point = point
        self._width = width
        self._news = threading.Condition()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads = self._idle = 0
        self._probing: Future[None] | None = None
        self._asked_at = self._waiting_since = 0.0

    async def run(
        self,
        function: Callable[[], T],
        *,
        what: str | None = None,
        longest: float | None = None,
        also: Iterable[Lane] = (),
    ) -> T:
        """Call it in one of the threads. When the caller is cancelled, a call that has begun goes on.

        Parameters
        ----------
        function
            What is called.
        what
            The file or folder that an error names if the disk answers and the call does not return.
        longest
            Seconds that it may take on a disk that answers; None for any time.
        also
            Other disks on which the call may wait.

        Raises
        ------
        DiskSilent
            If the disk does not answer, or the call takes longer.
        """
        self.demand_answers()
        begun = time.monotonic()
        future = self.submit(partial(contextvars.copy_context().run, function))
        result = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({result}, timeout=ANSWER_SECONDS))[0]:
                for lane in (self, *also):
                    await lane._see_that_it_answers(begun)
                if longest is not None and time.monotonic() - begun >= longest and not result.done():
                    raise _too_long(what or self.point, time.monotonic() - begun)
            return result.result()
        finally:
            if not result.done():
                result.cancel()
                self.withdraw(future)

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have it called as soon as a thread is free; raises `Unavailable` if there can be none."""
        future: Future[T] = Future()
        with self._news:
            self._waiting.append((future, function))
            if len(self._waiting) > self._idle and self._threads < self._width:
                self._threads += 1
                try:
                    # a daemon: the program's end waits for no disk
                    threading.Thread(target=self._work, name=f"disk {self.point}", daemon=True).start()
                except RuntimeError:
                    self._threads -= 1
                    if not self._threads:
                        self._waiting.pop()
                        raise no_thread() from None
            else:
                self._news.notify()
        return future

    def withdraw(self, future: Future[Any]) -> None:
        """Forget a call that has not begun."""
        if future.cancel():
            with self._news:
                self._waiting = deque(entry for entry in self._waiting if entry[0] is not future)

    def demand_answers(self) -> None:
        """Raise `DiskSilent` if the disk was asked whether it answers, and has not in time."""
        with self._news:
            probing, since, asked_at = self._probing, self._waiting_since, self._asked_at
        now = time.monotonic()
        if probing is not None and now - asked_at >= PROBE_SECONDS:
            raise self.silent(now - since)

    def ask(self, begun: float) -> Future[None]:
        """Ask the disk whether it answers, in a thread beside the others.

        Parameters
        ----------
        begun
            Since when a call has been waiting for it (`time.monotonic`).
        """
        with self._news:
            if self._probing is None:
                self._probing, self._asked_at, self._waiting_since = Future(), time.monotonic(), begun
                try:
                    threading.Thread(target=self._probe, name="disk probe", daemon=True).start()
                except RuntimeError:
                    self._probing = None
                    raise no_thread() from None
            return self._probing

    def silent(self, seconds: float) -> DiskSilent:
        """Return the error for a disk that has not answered for so long."""
        return DiskSilent(
            f"The disk at {self.point[:500]} does not answer: a request to it has been waiting for"
            f" {duration(seconds)}.",
            self.point,
            code="DiskSilent",
            hint="If it is a network folder, its server or the network may be down. Files on other disks can be used.",
        )

    async def _see_that_it_answers(self, begun: float) -> None:
        """Raise `DiskSilent` unless the disk answers."""
        answer = asyncio.wrap_future(self.ask(begun))
        if not (await asyncio.wait({answer}, timeout=PROBE_SECONDS))[0]:
            raise self.silent(time.monotonic() - begun)

    def _probe(self) -> None:
        _probe(self.point)
        with self._news:
            probing, self._probing = self._probing, None
        if probing is not None:
            with contextlib.suppress(InvalidStateError):  # whoever waited was cancelled
                probing.set_result(None)

    def _work(self) -> None:
        while True:
            with self._news:
                self._idle += 1
                self._news.wait_for(lambda: self._waiting, IDLE_SECONDS)
                self._idle -= 1
                if not self._waiting:
                    self._threads -= 1
                    return
                future, function = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)
            del future, function


_table = MountTable()
_lanes: WeakValueDictionary[Mount, Lane] = WeakValueDictionary()
"""A lane lives as long as one of its threads, or whoever waits for one."""
_finding = threading.Lock()


def _lane(path: str) -> Lane:
    mount = _table.holding(path)
    with _finding:
        lane = _lanes.get(mount)
        if lane is None:
            lane = _lanes[mount] = Lane(mount.point)
        return lane


async def lane_of(path: PathLike) -> Lane:
    """Return the threads of the mount that holds a path, links followed."""
    walk = _walk(os.fspath(path))
    lane, step = next(walk)
    while True:
        there = await lane.run(step)
        try:
            lane, step = walk.send(there)
        except StopIteration as done:
            found: Lane = done.value[0]
            return found


_Step = Callable[[], "_There"]


class _There:
    """How far a path has been followed.

    Attributes
    ----------
    real
        A folder or file, or what is missing: no links in it.
    rest
        Names that are still to be followed from there.
    links
        Links that were followed.
    """

    def __init__(self, real: str, rest: list[str], links: int = 0) -> None:
        self.real, self.rest, self.links = real, rest, links


def _walk(path: str) -> Generator[tuple[Lane, _Step], _There, tuple[Lane, str]]:
    """Follow a path from mount to mount: each folder is looked at in a thread of its own mount."""
    path = path if path.startswith("/") else os.path.abspath(path)  # noqa: PTH100 (links stay)
    names = [name for name in path.split("/") if name not in ("", ".")] if len(path) <= _LONGEST_PATH else []
    there = _There("", names)
    while True:
        lane = _lane(there.real)
        there = yield lane, partial(_follow, there, _table.holding(there.real))
        if not there.rest:
            return _lane(there.real), there.real or "/"


def _follow(there: _There, mount: Mount) -> _There:
    """Follow names up to the next mount (blocking)."""
    real, rest, links = there.real, list(there.rest), there.links
    while rest:
        name = rest.pop(0)
        place = real.rpartition("/")[0] if name == ".." else f"{real}/{name}"
        if _table.holding(place) != mount:
            return _There(place, rest, links)
        target = None if name == ".." else _link_at(place)
        if target is None:
            real = place
            continue
        links += 1
        if links > _MOST_LINKS:
            return _There("/".join([place, *rest]), [], links)
        rest = [part for part in target.split("/") if part not in ("", ".")] + rest
        if target.startswith("/"):
            real = ""
            if _table.holding(real) != mount:
                return _There(real, rest, links)
    return _There(real, [], links)


def _link_at(place: str) -> str | None:
    """Return where a link leads; None if there is none."""
    try:
        return str(Path(place).readlink())
    except (OSError, ValueError):  # no link, nothing, or no path
        return None


def _probe(folder: str) -> None:
    """Ask a disk for something that is not answered from memory (blocking)."""
    with contextlib.suppress(OSError):  # an error is an answer
        os.statvfs(folder)


def _too_long(what: str, seconds: float) -> DiskSilent:
    return DiskSilent(
        f"The work on {what[:500]} was not done after {duration(seconds)}, so it is no longer waited for.",
        what,
        code="DiskSlow",
        hint="Its disk answers, but slowly. Try again later.",
    )


def no_thread() -> Unavailable:
    """Return the error for a limit on processes that lets no thread begin."""
    return Unavailable(
        "This machine lets the server start no more threads.",
        code="NoThread",
        hint="The limit on processes (ulimit -u, or the container's) is reached. End processes that are not needed.",
    )
