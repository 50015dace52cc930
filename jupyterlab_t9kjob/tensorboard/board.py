"""A TensorBoard: its log directories, and the start and end of the process that shows them."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import anyio

from ..contents_paths import ContentsRoot
from ..core.errors import FieldError, Unavailable
from ..core.job import Reason, parse_job_id
from ..core.system.disk_threads import DiskSilent, Lane
from ..core.system.tasks import spawn
from ..core.texts.wording import duration
from ..core.translation import Text, _
from .event_records import NotEvents
from .events import Found, find_event_files, shape
from .folders import canonical, check
from .model import TensorBoard
from .points import PointCounter
from .process import Endpoint, Loader, Process, StartError
from .proxy import UnreachableError, ask
from .texts import RESTART, disk_hangs, ended, folder_problem, label

SLOW_SECONDS = 8.0
WATCH_SECONDS = 2.0
WATCH_SECONDS_WITH_DATA = 10.0
# A request that a healthy process answers at once, even while it reads event files.
PROBE = "data/environment"
PROBE_SECONDS = 15.0
PROBE_PAUSE_SECONDS = 5.0

T = TypeVar("T")
Status = Literal["starting", "running", "unresponsive", "idle", "failed"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Settings of TensorBoard processes.

    Attributes
    ----------
    start_seconds
        How long a start may take, in seconds.
    reload_interval
        How often TensorBoard reads new data, in seconds.
    loader
        Reader of event files; see `process.Process`.
    """

    start_seconds: float = 120.0
    reload_interval: float = 5.0
    loader: Loader = "auto"


class Board:
    """A TensorBoard, which may have a process.

    Parameters
    ----------
    root
        The contents root, in which the log directories must stay.
    log_dirs
        Absolute paths of the log directories.
    key
        `folders.canonical` of the log directories.
    settings
        Settings of the process.
    changed
        Called with this board after every change.

    Attributes
    ----------
    id
        Id, which depends only on the log directories, so that a page stays valid after a restart of the server.
    work
        Task that owns the process from its start to its end; None while there is no process.
    settled
        Set when a start succeeded, failed or was cancelled, or while it waits for a disk that does not answer.
    lock
        Held by a request while it starts or ends the process.
    used_at
        Time of the last request for its page, by the monotonic clock.
    """

    def __init__(
        self,
        root: ContentsRoot,
        log_dirs: Sequence[Path],
        key: frozenset[str],
        settings: Settings,
        changed: Callable[[Board], None],
    ) -> None:
        self.id = hashlib.blake2b(b"\0".join(map(os.fsencode, sorted(key))), digest_size=12).hexdigest()
        self.log_dirs = list(log_dirs)
        self.key = key
        self.job_id: str | None = None
        self.used_at = time.monotonic()
        self.status: Status = "idle"
        self.reason: Reason | None = None
        self.endpoint: Endpoint | None = None
        self._run_name: str | None = None
        self.work: asyncio.Task[None] | None = None
        self.settled = asyncio.Event()
        self.lock = asyncio.Lock()
        self._root = root
        self._settings = settings
        self._changed = changed
        self._confined = list(log_dirs)
        self._since = time.time()
        self._started_at: float | None = None
        self._process: Process | None = None
        self._verdict: Reason | None = None
        self._found = Found()
        self._counter = PointCounter()
        self._points: int | None = None
        self._folder_reason: Reason | None = None
        self._watch: asyncio.Task[None] | None = None
        # A thread of its own: a search through many files may take minutes and must not delay other requests.
        self._lane = Lane(str(self.log_dirs[0]), width=1)
        self._other_disks = [Lane(str(folder), width=1) for folder in self.log_dirs[1:]]

    @property
    def model(self) -> TensorBoard:
        """The board as a model of the API."""
        return TensorBoard(
            id=self.id,
            log_dirs=[str(path) for path in self.log_dirs],
            paths=[self._root.api(path) for path in self.log_dirs],
            label=label(self.log_dirs),
            status=self.status,
            since=self._since,
            reason=self.reason or self._folder_reason,
            url=f"t9kjob/tensorboards/{self.id}/ui/",
            started_at=self._started_at,
            last_data_at=self._found.newest,
            has_data=self._found.has_data or not self._found.complete,
            runs=self._found.runs if self._found.complete else None,
            points=self._points,
            job_id=self.job_id,
        )

    def allow(self, own: Iterable[str]) -> None:
        """Allow log directories outside the contents root if they are among a job's own (`own`)."""
        allowed = {os.path.normpath(path) for path in own}
        self._confined = [path for path in self._confined if os.path.normpath(path) not in allowed]

    # -- process ------------------------------------------------------------------------------------------------------

    def start(self) -> asyncio.Task[None]:
        """Begin to start a process; call this only while there is none.

        Returns
        -------
        asyncio.Task
            The task that owns the process until it has been cleaned up.
        """
        self.settled.clear()
        self._verdict = None
        self._started_at = time.time()
        self._become("starting")
        self.work = spawn(self._run(), "run a TensorBoard")
        return self.work

    def release(self) -> asyncio.Task[None] | None:
        """Become idle at once, and begin to end the process.

        Returns
        -------
        asyncio.Task | None
            The task that ends the process; None if there is no process.
        """
        work, self.work = self.work, None
        if work is not None:
            work.cancel()
        self.endpoint = self._process = None
        self.settled.set()
        self._become("idle")
        return work

    async def end(self) -> None:
        """End the process, if there is one, and become idle. A process that hangs is killed after some seconds."""
        work = self.release()
        if work is not None:
            await asyncio.gather(work, return_exceptions=True)

    async def close(self) -> None:
        """End the process and the watch of the log directories."""
        if self._watch is not None:
            self._watch.cancel()
        await self.end()

    async def _run(self) -> None:
        """Run the process: start it, wait for its end, clean up."""
        settings = self._settings
        process = self._process = Process(
            self.log_dirs, loader=settings.loader, reload_interval=settings.reload_interval
        )
        slow: asyncio.TimerHandle | None = None
        health: asyncio.Task[None] | None = None
        try:
            name = await self._prepared()
            slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._say_slow)
            # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
            with anyio.fail_after(settings.start_seconds):
                await process.start(name)
            slow.cancel()
            assert process.endpoint is not None  # noqa: S101 (it has started)
            self.endpoint = process.endpoint
            self.settled.set()
            self._become("running")
            health = asyncio.create_task(self._check(process.endpoint))
            self._fail(*ended(await process.ended()), process.words)
        except (FieldError, Unavailable) as error:
            self._fail(error.message, error.hint, "", code=error.code)
        except TimeoutError:
            sentence = _("TensorBoard did not start within {duration}.", duration=duration(settings.start_seconds))
            self._fail(sentence, RESTART, process.words, code="StartTimeout")
        except StartError as error:
            self._fail(error.message, error.hint, error.words or process.words, code="StartFailed")
        except (OSError, RuntimeError) as error:  # Python raises RuntimeError if it can't start a thread.
            self._fail(_("TensorBoard can't be started."), RESTART, str(error), code="StartFailed")
        finally:
            if slow is not None:
                slow.cancel()
            if health is not None:
                health.cancel()
            if self._process is process:  # Otherwise the process was released, and there may be a new one.
                self.endpoint = self.work = self._process = None
                self.settled.set()
                self._changed(self)
            await process.stop()

    async def _prepared(self) -> str | None:
        """Call `_prepare` until the disks answer; in the meantime, requests get the reason for the delay."""
        while True:
            try:
                name = await self._on_disk(self._prepare)
            except DiskSilent as error:
                self._become("starting", disk_hangs(error))
                self.settled.set()
                await asyncio.sleep(WATCH_SECONDS)
            else:
                self.settled.clear()
                self._become("starting")
                return name

    def _prepare(self) -> str | None:
        """Check the log directories, and return a name for the run in a single log directory (blocking).

        TensorBoard calls a run in the log directory itself “.”. A directory with nothing but folders has no run itself,
        so these folders keep their names. An empty or missing directory may get a run. The name stays the same for all
        later starts, since the page remembers selected runs by name.
        """
        check(self._root, self._confined)
        if len(self.log_dirs) > 1:
            return None
        if self._run_name is None:
            own, folders = shape(self.log_dirs[0])
            if own or not folders:
                job = parse_job_id(self.job_id)[2] if self.job_id is not None else None
                self._run_name = job or (label(self.log_dirs) if self.log_dirs[0].name else None)
        return self._run_name

    async def _check(self, endpoint: Endpoint) -> None:
        """Send a small request again and again: a process that hangs accepts requests but answers none."""
        answered = time.time()
        while self.endpoint is endpoint:
            try:
                with anyio.fail_after(PROBE_SECONDS):
                    await ask(endpoint, PROBE)
            except (UnreachableError, TimeoutError) as error:
                reason = Reason(
                    code="NotAnswering",
                    sentence=_(
                        "TensorBoard takes requests but answers none. It may hang, or be busy with large files."
                    ),
                    hint=_("Wait, or restart it."),
                    verbatim=str(error) or None,
                )
                if self.status == "running":
                    log.warning("TensorBoard %s does not answer", self.id)
                self._become("unresponsive", reason, since=answered)
                endpoint.disconnect(reason.sentence)
            else:
                answered = time.time()
                endpoint.fault = None
                self._become("running")
            await asyncio.sleep(PROBE_PAUSE_SECONDS)

    def _become(self, status: Status, reason: Reason | None = None, since: float | None = None) -> None:
        if status != self.status:
            self._since = time.time() if since is None else since
        self.status, self.reason = status, reason
        self._changed(self)

    def _fail(self, sentence: Text, hint: Text | None, words: str, code: str = "Ended") -> None:
        reason = self._verdict or Reason(code=code, sentence=sentence, hint=hint, verbatim=words or None)
        log.warning("%s", reason.sentence)
        self._become("failed", reason)

    def _say_slow(self) -> None:
        if self.status != "starting":
            return
        sentence = _("TensorBoard is loading its libraries, which can take a minute the first time.")
        self._become("starting", Reason(code="SlowStart", sentence=sentence))

    # -- log directories ----------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Begin to search the log directories for event files, again and again."""
        self._watch = spawn(self._search_repeatedly(), "search for event files")

    async def _search_repeatedly(self) -> None:
        """Search for event files; pauses between two searches are at least ten times as long as a search."""
        while True:
            began = time.monotonic()
            if not (self.status == "idle" and self._found.has_data):
                await self._search()
            pause = WATCH_SECONDS_WITH_DATA if self._found.has_data else WATCH_SECONDS
            await asyncio.sleep(max(pause, 10 * (time.monotonic() - began)))

    async def _search(self) -> None:
        try:
            self.key, found, points = await self._on_disk(self._inspect)
        except DiskSilent as error:
            self._folder_reason = disk_hangs(error)
            self._changed(self)
            return
        except Unavailable as error:  # No thread can be started; the next search tries again.
            log.warning("%s", error.message)
            return
        except FieldError as error:
            self._verdict = Reason(code=error.code, sentence=error.message, hint=error.hint)
            if self._process is not None:
                self._process.kill()  # `_run` then fails with this verdict.
            return
        gone = self._folder_reason is not None and self._folder_reason.code == "FolderGone"
        self._folder_reason = folder_problem(found, known=gone or self._found.has_data)
        self._found = found
        self._points = points
        self._changed(self)

    async def _on_disk(self, function: Callable[[], T]) -> T:
        """Call a function that reads the log directories; raise `DiskSilent` if one of their disks does not answer."""
        return await self._lane.run(function, also=self._other_disks)

    def _inspect(self) -> tuple[frozenset[str], Found, int | None]:
        """Search the log directories and count points (blocking)."""
        check(self._root, self._confined)
        found = find_event_files(self.log_dirs)
        try:
            points = self._counter.count(found.files) if found.complete else None
        except (OSError, NotEvents):  # A file was removed, is unreadable or damaged: TensorBoard skips it as well.
            points = None
        return canonical(self.log_dirs), found, points
