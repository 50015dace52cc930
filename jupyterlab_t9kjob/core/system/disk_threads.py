"""Threads for work on users' files, with separate threads for each mount.

A call to a disk that does not answer, such as a network folder whose server is gone, can't be cancelled: it keeps its
thread until the disk answers. Each mount therefore has a few threads of its own, which start when they are needed and
end when they are idle, so that one disk does not block work on another. A request for a file on a silent disk fails
with `DiskSilent` after `ANSWER_SECONDS` and `PROBE_SECONDS`; later requests fail at once until the disk answers again.
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
from typing import Any, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from ..errors import Unavailable
from ..texts.wording import duration
from ..translation import Text, _
from .mount_table import Followed, Mount, MountTable

P = ParamSpec("P")
T = TypeVar("T")
PathLike = str | os.PathLike[str]

WIDTH = 4
"""Number of calls at a time on one mount."""
ANSWER_SECONDS = 10.0
"""Time that a call may take before its disk is probed."""
PROBE_SECONDS = 2.0
"""Time that a disk may take to answer a probe."""
LONGEST_SECONDS = 60.0
"""Time that a request waits for a call on a disk that answers probes."""
IDLE_SECONDS = 1.0
"""Time that a thread waits for the next call before it ends."""
KNOWN_SECONDS = 1.0
"""Time for which the mount of a path counts as known: following its links takes a call of its own."""
MOST_KNOWN = 256
_LONGEST_PATH = 4096  # The kernel's PATH_MAX.


class DiskSilent(Unavailable, OSError):
    """A disk does not answer. It is an `OSError` for code that handles errors of disks, and an answer to a request."""

    def __init__(self, message: Text, path: str, *, code: str, hint: Text) -> None:
        super().__init__(message, code=code, hint=hint)
        self.filename = path
        self.errno, self.strerror = errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)

    def __str__(self) -> str:
        return self.message


async def on_disk(
    paths: PathLike | Iterable[PathLike], function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Call a function that works on files in a thread of their mount.

    Parameters
    ----------
    paths
        Absolute paths of the files or folders, which need not exist. The disk of each must answer before the function
        is called in a thread of the first one's mount.
    function
        Function to call.
    *args, **kwargs
        Its arguments.

    Raises
    ------
    DiskSilent
        If a disk does not answer, or the call does not return within `LONGEST_SECONDS`. The call goes on then.
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
    """Return an absolute path with its links followed (blocking).

    Parameters
    ----------
    path
        The path.
    seconds
        How long the call may block.

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
            lane.ask(begun)  # The next request learns at once that the disk is silent.
            raise lane.silent(seconds) from None
        try:
            lane, step = walk.send(there)
        except StopIteration as done:
            return str(done.value[1])


class Lane:
    """Threads of one mount, or of another part of the program whose calls must not wait for others.

    Calls start in the order in which they are submitted.

    Parameters
    ----------
    point
        Folder of the disk that is probed and that errors name.
    width
        Number of calls at a time.
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
        """Call a function in one of the threads. A call that has started goes on if the caller is cancelled.

        Parameters
        ----------
        function
            Function to call.
        what
            File or folder that the error names if the disk answers and the call does not return.
        longest
            Seconds that the call may take on a disk that answers; None for no limit.
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
        """Submit a call, which starts as soon as a thread is free.

        Raises
        ------
        Unavailable
            If no thread can be started.
        """
        future: Future[T] = Future()
        with self._news:
            self._waiting.append((future, function))
            if len(self._waiting) > self._idle and self._threads < self._width:
                self._threads += 1
                try:
                    # A daemon thread, since the end of the program must not wait for a disk.
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
        """Cancel a call that has not started."""
        if future.cancel():
            with self._news:
                self._waiting = deque(entry for entry in self._waiting if entry[0] is not future)

    def demand_answers(self) -> None:
        """Raise `DiskSilent` if a probe of the disk has not been answered in time."""
        with self._news:
            probing, since, asked_at = self._probing, self._waiting_since, self._asked_at
        now = time.monotonic()
        if probing is not None and now - asked_at >= PROBE_SECONDS:
            raise self.silent(now - since)

    def ask(self, begun: float) -> Future[None]:
        """Probe the disk for a call that has begun to wait then, unless a probe is waiting already."""
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
        """Return the error for a disk that has not answered for some time (seconds)."""
        return DiskSilent(
            _(
                "The disk at {path} does not answer: a request to it has been waiting for {time}.",
                path=self.point[:500],
                time=duration(seconds),
            ),
            self.point,
            code="DiskSilent",
            hint=_(
                "If it is a network folder, its server or the network may be down. Files on other disks can be used."
            ),
        )

    async def _see_that_it_answers(self, begun: float) -> None:
        """Raise `DiskSilent` if the disk does not answer a probe in time."""
        answer = asyncio.wrap_future(self.ask(begun))
        if not (await asyncio.wait({answer}, timeout=PROBE_SECONDS))[0]:
            raise self.silent(time.monotonic() - begun)

    def _probe(self) -> None:
        _probe(self.point)
        with self._news:
            probing, self._probing = self._probing, None
        if probing is not None:
            with contextlib.suppress(InvalidStateError):  # The caller was cancelled.
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


class _Known(NamedTuple):
    """The lane of a path, with the monotonic time and the mount table's version at which the path was followed."""

    at: float
    version: int
    lane: Lane


_table = MountTable()
_lanes: WeakValueDictionary[Mount, Lane] = WeakValueDictionary()
"""Lanes by mount. A lane is collected when it has no threads and neither a request nor `_known` refers to it."""
_known: dict[str, _Known] = {}
"""Known lanes of paths, the oldest first."""
_finding = threading.Lock()


def _lane(path: str) -> Lane:
    mount = _table.holding(path)
    with _finding:
        lane = _lanes.get(mount)
        if lane is None:
            lane = _lanes[mount] = Lane(mount.point)
        return lane


async def lane_of(path: PathLike) -> Lane:
    """Return the threads of the mount that holds a path, links followed.

    The result is reused for `KNOWN_SECONDS`, unless the mounts change or links lead over a third disk, which must
    answer too.
    """
    text, now, version = os.fspath(path), time.monotonic(), _table.version
    known = _known.get(text)
    if known is not None and now - known.at < KNOWN_SECONDS and version == known.version:
        return known.lane
    walk = _walk(text)
    lane, step = next(walk)
    crossed = [lane]
    while True:
        there = await lane.run(step)
        try:
            lane, step = walk.send(there)
            crossed.append(lane)
        except StopIteration as done:
            found: Lane = done.value[0]
            if {*crossed} <= {crossed[0], found}:
                _keep(text, _Known(now, version, found))
            return found


def _keep(path: str, known: _Known) -> None:
    """Keep what is known of a path, and forget what is too old to be used or too much."""
    _known.pop(path, None)
    while _known:
        oldest = next(iter(_known))
        if len(_known) < MOST_KNOWN and known.at - _known[oldest].at < KNOWN_SECONDS:
            break
        del _known[oldest]
    _known[path] = known


def _walk(path: str) -> Generator[tuple[Lane, Callable[[], Followed]], Followed, tuple[Lane, str]]:
    """Follow a path from mount to mount; each step runs in a thread of its mount."""
    path = path if path.startswith("/") else os.path.abspath(path)  # noqa: PTH100 (`Path.resolve` follows links)
    names = [name for name in path.split("/") if name not in ("", ".")] if len(path) <= _LONGEST_PATH else []
    there = Followed("", names)
    while True:
        lane = _lane(there.real)
        there = yield lane, partial(_table.follow, there)
        if not there.rest:
            return _lane(there.real), there.real or "/"


def _probe(folder: str) -> None:
    """Make a call that the disk itself must answer (blocking)."""
    with contextlib.suppress(OSError):  # An error is an answer.
        os.statvfs(folder)


def _too_long(what: str, seconds: float) -> DiskSilent:
    return DiskSilent(
        _("The work on {path} was not done after {time}.", path=what[:500], time=duration(seconds)),
        what,
        code="DiskSlow",
        hint=_("Its disk answers, but slowly. Try again later."),
    )


def no_thread() -> Unavailable:
    """Return the error for a limit on processes that does not allow another thread."""
    return Unavailable(
        _("This machine does not allow the server to start more threads."),
        code="NoThread",
        hint=_("The limit on processes (ulimit -u, or the container's) is reached. End processes that are not needed."),
    )
