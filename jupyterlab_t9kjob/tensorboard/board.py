"""One TensorBoard: log directories, and the process that shows them while somebody looks."""

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
from .events import Found, look, shape
from .folders import canonical, check
from .model import TensorBoard
from .points import NotEvents, PointCounter
from .process import Endpoint, Loader, Process, StartError
from .proxy import UnreachableError, ask

SLOW_SECONDS = 8.0
WATCH_SECONDS = 2.0
WATCH_SECONDS_WITH_DATA = 10.0
# What a healthy process answers at once, also while it reads: `program` behind it, and its loader.
PROBE = "data/environment"
PROBE_SECONDS = 15.0
PROBE_PAUSE_SECONDS = 5.0
GENERIC_NAMES = frozenset({"log", "logs", "run", "runs", "events", "tb", "tensorboard"})

T = TypeVar("T")
Status = Literal["starting", "running", "unresponsive", "idle", "failed"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """How TensorBoards are run.

    Attributes
    ----------
    start_seconds
        How long a start may take.
    reload_interval
        Seconds between looks for new data.
    loader
        Who reads event files: see `process.Process`.
    """

    start_seconds: float = 120.0
    reload_interval: float = 5.0
    loader: Loader = "auto"


class Board:
    """What a TensorBoard shows, and what runs for it.

    Parameters
    ----------
    root
        The contents root, in which the log directories have to stay.
    log_dirs
        Absolute paths.
    key
        Their `folders.canonical`.
    settings
        How to run it.
    changed
        Called with it after every change.

    Attributes
    ----------
    id
        The same whenever the same directories are opened, so that a page outlives the server.
    work
        Owns the process, from its start to its end; None while there is none.
    settled
        Set when a start has succeeded or failed, was called off, or waits for a disk that does not answer.
    lock
        Held by a request while it starts or ends the process.
    looked_at
        When somebody looked last, by the monotonic clock.
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
        self.looked_at = time.monotonic()
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
        # A thread of its own: to look through many files may take minutes, and nobody else waits for it meanwhile.
        self._lane = Lane(str(self.log_dirs[0]), width=1)
        self._other_disks = [Lane(str(folder), width=1) for folder in self.log_dirs[1:]]

    @property
    def model(self) -> TensorBoard:
        """It as the API gives it."""
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
        """Let those of its directories that are a job's own lie anywhere."""
        allowed = {os.path.normpath(path) for path in own}
        self._confined = [path for path in self._confined if os.path.normpath(path) not in allowed]

    # -- its process --------------------------------------------------------------------------------------------------

    def start(self) -> asyncio.Task[None]:
        """Begin to start its process; there is none. Returns what owns the process until it is cleaned up."""
        self.settled.clear()
        self._verdict = None
        self._started_at = time.time()
        self._become("starting")
        self.work = spawn(self._run(), "run a TensorBoard")
        return self.work

    def let_go(self) -> asyncio.Task[None] | None:
        """Become idle at once. Returns what ends the process, None if there is no process."""
        work, self.work = self.work, None
        if work is not None:
            work.cancel()
        self.endpoint = self._process = None
        self.settled.set()
        self._become("idle")
        return work

    async def end(self) -> None:
        """End its process, if it has one; it is idle then. Takes some seconds at most, also with one that hangs."""
        work = self.let_go()
        if work is not None:
            await asyncio.gather(work, return_exceptions=True)

    async def close(self) -> None:
        """End it for good."""
        if self._watch is not None:
            self._watch.cancel()
        await self.end()

    async def _run(self) -> None:
        """Own the process: start it, wait for its end, clean up."""
        settings = self._settings
        process = self._process = Process(
            self.log_dirs, loader=settings.loader, reload_interval=settings.reload_interval
        )
        slow: asyncio.TimerHandle | None = None
        health: asyncio.Task[None] | None = None
        try:
            name = await self._prepared()
            slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._say_slow)
            # not `asyncio.wait_for`, which before Python 3.12 may swallow a cancellation
            with anyio.fail_after(settings.start_seconds):
                await process.start(name)
            slow.cancel()
            assert process.endpoint is not None  # noqa: S101 (it has started)
            self.endpoint = process.endpoint
            self.settled.set()
            self._become("running")
            health = asyncio.create_task(self._check(process.endpoint))
            how = await process.ended()
            self._fail(f"TensorBoard was {how}." if "signal" in how else f"TensorBoard ended: {how}.", process.words)
        except (FieldError, Unavailable) as error:
            self._fail(error.message, "", code=error.code, hint=error.hint)
        except TimeoutError:
            sentence = f"TensorBoard did not start within {settings.start_seconds:g} s."
            self._fail(sentence, process.words, code="StartTimeout")
        except StartError as error:
            self._fail(str(error), error.words or process.words, code="StartFailed", hint=error.hint)
        except (OSError, RuntimeError) as error:  # as Python says that no thread can be started
            self._fail("TensorBoard can't be started.", str(error), code="StartFailed")
        finally:
            if slow is not None:
                slow.cancel()
            if health is not None:
                health.cancel()
            if self._process is process:  # else it was let go of, and there may be another one by now
                self.endpoint = self.work = self._process = None
                self.settled.set()
                self._changed(self)
            await process.stop()

    async def _prepared(self) -> str | None:
        """Return what `_prepare` does, as soon as the disks answer; who asks for the page meanwhile is told of that."""
        while True:
            try:
                name = await self._on_disk(self._prepare)
            except DiskSilent as error:
                self._become("starting", _hangs(error))
                self.settled.set()
                await asyncio.sleep(WATCH_SECONDS)
            else:
                self.settled.clear()
                self._become("starting")
                return name

    def _prepare(self) -> str | None:
        """Check the directories, and return a name for the run that the only one itself is. Blocks.

        TensorBoard calls that run “.”. A directory that holds nothing but others is no run, and they keep their names;
        one that is empty, or does not exist yet, may become a run. A name stays for all later starts, since the page
        remembers what is selected by it.
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
        """Ask it something small, again and again: one that hangs takes requests, but answers none."""
        answered = time.time()
        while self.endpoint is endpoint:
            try:
                with anyio.fail_after(PROBE_SECONDS):
                    await ask(endpoint, PROBE)
            except (UnreachableError, TimeoutError) as error:
                reason = Reason(
                    code="NotAnswering",
                    sentence="TensorBoard takes requests but answers none. It may hang, or be busy with large files.",
                    hint="Wait, or restart it.",
                    verbatim=str(error) or None,
                )
                if self.status == "running":
                    log.warning("TensorBoard %s does not answer", self.id)
                self._become("unresponsive", reason, since=answered)
                endpoint.hang_up(reason.sentence)
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

    def _fail(self, sentence: str, words: str, code: str = "Ended", hint: str | None = "Restart it.") -> None:
        if "signal 9" in sentence:
            hint = "Restart it. If it happens again, the machine is short of memory: open fewer runs at a time."
        reason = self._verdict or Reason(code=code, sentence=sentence, hint=hint, verbatim=words or None)
        log.warning("%s", reason.sentence)
        self._become("failed", reason)

    def _say_slow(self) -> None:
        if self.status != "starting":
            return
        sentence = "TensorBoard is loading its libraries, which can take a minute the first time."
        self._become("starting", Reason(code="SlowStart", sentence=sentence))

    # -- its directories ----------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Begin to look for event files."""
        self._watch = spawn(self._look_again_and_again(), "look for event files")

    async def _look_again_and_again(self) -> None:
        """Look for event files, but no more than a tenth of the time."""
        while True:
            began = time.monotonic()
            if not (self.status == "idle" and self._found.has_data):
                await self._look()
            pause = WATCH_SECONDS_WITH_DATA if self._found.has_data else WATCH_SECONDS
            await asyncio.sleep(max(pause, 10 * (time.monotonic() - began)))

    async def _look(self) -> None:
        try:
            self.key, found, points = await self._on_disk(self._inspect)
        except DiskSilent as error:
            self._folder_reason = _hangs(error)
            self._changed(self)
            return
        except Unavailable as error:  # no thread can be started; the next look tries again
            log.warning("%s", error.message)
            return
        except FieldError as error:
            self._verdict = Reason(code=error.code, sentence=error.message, hint=error.hint)
            if self._process is not None:
                self._process.kill()  # its owner says why
            return
        self._folder_reason = self._trouble(found)
        self._found = found
        self._points = points
        self._changed(self)

    async def _on_disk(self, function: Callable[[], T]) -> T:
        """Call what works on the log directories; raises `DiskSilent` if a disk of them does not answer."""
        return await self._lane.run(function, also=self._other_disks)

    def _inspect(self) -> tuple[frozenset[str], Found, int | None]:
        """Look at the directories as they are now, and count points. Blocks."""
        check(self._root, self._confined)
        found = look(self.log_dirs)
        try:
            points = self._counter.count(found.files) if found.complete else None
        except (OSError, NotEvents):  # a file that is removed, not for us or broken: TensorBoard skips it as well
            points = None
        return canonical(self.log_dirs), found, points

    def _trouble(self, found: Found) -> Reason | None:
        """Say what is wrong with a log directory."""
        trouble = found.trouble
        if trouble is None:
            return None
        if not trouble.missing:
            return Reason(
                code="FolderUnreadable",
                sentence=f"{trouble.path} can't be read.",
                hint="Check its permissions.",
                verbatim=trouble.words,
            )
        gone = self._found.has_data or (self._folder_reason is not None and self._folder_reason.code == "FolderGone")
        if gone:
            return Reason(code="FolderGone", sentence=f"{trouble.path} has been removed.")
        return Reason(code="NoFolder", sentence=f"{trouble.path} does not exist yet.")


def _hangs(error: DiskSilent) -> Reason:
    return Reason(
        code="FolderHangs",
        sentence=f"{error.filename} is on a disk that does not answer.",
        hint="It is shown as soon as the disk is back.",
    )


def label(log_dirs: Sequence[Path]) -> str:
    """Return a short name for a set of log directories: “train-1”, “mnist/runs”, “train-1 and 2 more”."""
    first = log_dirs[0]
    name = first.name or "/"
    if name.lower() in GENERIC_NAMES and first.parent.name:
        name = f"{first.parent.name}/{name}"
    return name if len(log_dirs) == 1 else f"{name} and {len(log_dirs) - 1} more"
