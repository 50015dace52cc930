"""All TensorBoards of this server: one process for a set of log directories, while somebody looks."""

from __future__ import annotations

import asyncio
import builtins
import importlib
import importlib.util
import logging
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..core.errors import Conflict, NotFound, Unavailable
from ..core.job import Reason
from ..paths import ContentsRoot
from .events import Found, look
from .folders import canonical, resolve
from .model import TensorBoard
from .process import Endpoint, Process, StartError

SLOW_SECONDS = 8.0
WATCH_SECONDS = 2.0
WATCH_SECONDS_WITH_DATA = 10.0
BUSY_SECONDS = 30.0
GENERIC_NAMES = frozenset({"log", "logs", "run", "runs", "events", "tb", "tensorboard"})

Listener = Callable[[str, TensorBoard | None], None]

log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Board:
    """One TensorBoard: what it shows, and what runs for it.

    Attributes
    ----------
    work
        Owns the process, from its start to its end; None while there is none.
    settled
        Set when a start has succeeded or failed.
    """

    log_dirs: list[Path]
    key: frozenset[str]
    job_id: str | None
    id: str = field(default_factory=lambda: secrets.token_hex(12))
    status: Literal["starting", "running", "idle", "failed"] = "idle"
    reason: Reason | None = None
    endpoint: Endpoint | None = None
    work: asyncio.Task[None] | None = None
    watch: asyncio.Task[None] | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    started_at: float | None = None
    looked_at: float = field(default_factory=time.monotonic)
    found: Found = field(default_factory=Found)
    said: TensorBoard | None = None


class TensorBoardManager:
    """Starts, finds, watches and ends TensorBoards.

    Parameters
    ----------
    root
        The contents root, for paths in answers.
    idle_seconds
        After which one that nobody looks at is stopped; it starts again at the next look.
    limit
        How many may run at a time.
    start_seconds
        How long a start may take.
    reload_interval
        Seconds between looks of a TensorBoard for new data.
    load_fast
        Use TensorBoard's fast loader. It listens on a TCP port of this machine from which every
        local user can read, so only a machine with one user should.
    """

    def __init__(
        self,
        root: ContentsRoot,
        *,
        idle_seconds: float = 3600.0,
        limit: int = 10,
        start_seconds: float = 120.0,
        reload_interval: float = 5.0,
        load_fast: bool = False,
    ) -> None:
        self._root = root
        self._idle_seconds = idle_seconds
        self._limit = limit
        self._start_seconds = start_seconds
        self._reload_interval = reload_interval
        self._load_fast = load_fast
        self._boards: dict[str, _Board] = {}
        self._listeners: list[Listener] = []
        self._starting = asyncio.Lock()
        # A board lets go of its work before the process is cleaned up; here it stays until then.
        self._work: set[asyncio.Task[None]] = set()
        self._reaper: asyncio.Task[None] | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to stop those that nobody looks at."""
        self._reaper = asyncio.create_task(self._stop_idle())

    async def stop(self) -> None:
        """End all processes."""
        if self._reaper is not None:
            self._reaper.cancel()
        await asyncio.gather(*(self._close(board) for board in self._boards.values()))
        await asyncio.gather(*self._work, return_exceptions=True)
        self._boards.clear()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with an id and a TensorBoard at every change, None when it is gone; returns how to end."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- looking ------------------------------------------------------------------------------------------------------

    async def installed(self) -> bool:
        """Whether TensorBoard is installed beside the server; it is not imported."""
        return await asyncio.to_thread(_installed)

    @staticmethod
    def install_command() -> str:
        """Return the command that installs TensorBoard beside the server."""
        return shlex.join([sys.executable, "-m", "pip", "install", "tensorboard"])

    async def list(self) -> list[TensorBoard]:
        """Return all, the oldest first."""
        return [self._model(board) for board in self._boards.values()]

    def get(self, ident: str) -> TensorBoard:
        """Return one.

        Raises
        ------
        NotFound
            If there is none of this id.
        """
        return self._model(self._board(ident))

    async def folders(self, paths: Sequence[str], own: Iterable[str] = ()) -> builtins.list[Path]:
        """Return log directories as absolute paths: see `folders.resolve`."""
        return await asyncio.to_thread(resolve, self._root, paths, own)

    async def endpoint(self, ident: str) -> Endpoint:
        """Return where one listens; this is a look at it, which starts it if it is idle.

        Raises
        ------
        NotFound
            If there is none of this id.
        Unavailable
            If it has failed, or does not start.
        Conflict
            If too many run.
        """
        board = self._board(ident)
        board.looked_at = time.monotonic()
        if board.status == "idle":
            async with self._starting:
                await self._start(self._board(ident))
        await board.settled.wait()
        if board.endpoint is None:
            reason = board.reason or Reason(code="Stopped", sentence="This TensorBoard has been stopped.")
            raise Unavailable(reason.sentence, reason=reason.code, hint=reason.hint, verbatim=reason.verbatim)
        return board.endpoint

    # -- doing --------------------------------------------------------------------------------------------------------

    async def open(self, log_dirs: Sequence[Path], job_id: str | None = None) -> tuple[TensorBoard, bool]:
        """Return a TensorBoard on log directories, and whether it is new; one that is there is used again.

        Raises
        ------
        Unavailable
            If TensorBoard is not installed.
        Conflict
            If too many run.
        """
        key = await asyncio.to_thread(canonical, log_dirs)
        async with self._starting:
            board = next((board for board in self._boards.values() if board.key == key), None)
            new = board is None
            if board is None:
                board = _Board(list(log_dirs), key, job_id)
            board.job_id = board.job_id or job_id
            board.looked_at = time.monotonic()
            if board.status in ("idle", "failed"):
                await self._start(board)
            if new:
                self._boards[board.id] = board
                board.watch = asyncio.create_task(self._watch(board))
            self._tell(board)
            return self._model(board), new

    async def restart(self, ident: str) -> TensorBoard:
        """Start one's process anew; id and address stay.

        Raises
        ------
        NotFound
            If there is none of this id.
        Unavailable
            If TensorBoard is not installed any more.
        Conflict
            If too many run.
        """
        async with self._starting:
            board = self._board(ident)
            await self._end(board)
            board.looked_at = time.monotonic()
            await self._start(board)
            return self._model(board)

    async def remove(self, ident: str) -> None:
        """End one for good.

        Raises
        ------
        NotFound
            If there is none of this id.
        """
        async with self._starting:  # else a start that has begun would go on for a board that is gone
            board = self._board(ident)
            del self._boards[ident]
            board.said = None
            for listener in list(self._listeners):
                listener(ident, None)
            await self._close(board)

    # -- processes ----------------------------------------------------------------------------------------------------

    async def _start(self, board: _Board) -> None:
        """Begin to start a board's process, if it has none; the lock is held."""
        if board.work is not None:
            return
        if not await self.installed():
            raise Unavailable(
                "TensorBoard is not installed in the Python that runs this server.",
                reason="TensorBoardMissing",
                hint=f"Install it with: {self.install_command()}",
            )
        await self._make_room()
        board.status, board.reason, board.started_at = "starting", None, time.time()
        board.settled.clear()
        board.work = asyncio.create_task(self._run(board))
        self._work.add(board.work)
        board.work.add_done_callback(self._work.discard)
        self._tell(board)

    async def _make_room(self) -> None:
        """Stop the one that was looked at longest ago, if as many run as may."""
        running = [board for board in self._boards.values() if board.work is not None]
        if len(running) < self._limit:
            return
        oldest = min(running, key=lambda board: board.looked_at)
        if time.monotonic() - oldest.looked_at < BUSY_SECONDS:
            raise Conflict(
                f"{len(running)} TensorBoards run and are looked at; no more may run at a time.",
                reason="TooManyTensorBoards",
                hint="Stop one of them.",
            )
        await self._end(oldest)
        self._tell(oldest)

    async def _run(self, board: _Board) -> None:
        """Own a board's process: start it, wait for its end, clean up."""
        process = Process(board.log_dirs, load_fast=self._load_fast, reload_interval=self._reload_interval)
        slow = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._say_slow, board)
        try:
            await asyncio.wait_for(process.start(), self._start_seconds)
            slow.cancel()
            board.status, board.reason, board.endpoint = "running", None, process.endpoint
            board.settled.set()
            self._tell(board)
            self._fail(board, "Ended", f"TensorBoard ended by itself: {await process.ended()}.", process.words)
        except asyncio.TimeoutError:
            sentence = f"TensorBoard did not start within {self._start_seconds:g} s."
            self._fail(board, "StartTimeout", sentence, process.words)
        except StartError as error:
            self._fail(board, "StartFailed", str(error), process.words)
        except OSError as error:
            self._fail(board, "StartFailed", "TensorBoard can't be started.", str(error))
        finally:
            slow.cancel()
            board.endpoint = board.work = None
            board.settled.set()
            self._tell(board)
            await process.stop()

    def _fail(self, board: _Board, code: str, sentence: str, words: str) -> None:
        log.warning("%s", sentence)
        board.status = "failed"
        board.reason = Reason(code=code, sentence=sentence, hint="Restart it.", verbatim=words or None)

    def _say_slow(self, board: _Board) -> None:
        sentence = "TensorBoard is loading its libraries, which can take a minute the first time."
        board.reason = Reason(code="SlowStart", sentence=sentence)
        self._tell(board)

    async def _end(self, board: _Board) -> None:
        """End a board's process, if it has one; the board is idle then."""
        work = board.work
        if work is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        board.status, board.reason, board.endpoint, board.work = "idle", None, None, None

    async def _close(self, board: _Board) -> None:
        if board.watch is not None:
            board.watch.cancel()
        await self._end(board)

    async def _stop_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._idle_seconds / 4, 30.0))
            for board in list(self._boards.values()):
                unseen = time.monotonic() - board.looked_at
                if board.status == "running" and unseen > self._idle_seconds:
                    async with self._starting:
                        await self._end(board)
                    self._tell(board)

    # -- news ---------------------------------------------------------------------------------------------------------

    async def _watch(self, board: _Board) -> None:
        """Look for event files, again and again, but no more than a tenth of the time."""
        while True:
            began = time.monotonic()
            if not (board.status == "idle" and board.found.has_data):
                board.found = await asyncio.to_thread(look, board.log_dirs)
                self._tell(board)
            pause = WATCH_SECONDS_WITH_DATA if board.found.has_data else WATCH_SECONDS
            await asyncio.sleep(max(pause, 10 * (time.monotonic() - began)))

    def _tell(self, board: _Board) -> None:
        """Let listeners know, if something changed and the board is not gone."""
        model = self._model(board)
        if board.id in self._boards and model != board.said:
            board.said = model
            for listener in list(self._listeners):
                listener(board.id, model)

    def _board(self, ident: str) -> _Board:
        if ident not in self._boards:
            raise NotFound(
                "There is no such TensorBoard, or no longer.", reason="NoSuchTensorBoard", hint="Open it again."
            )
        return self._boards[ident]

    def _model(self, board: _Board) -> TensorBoard:
        return TensorBoard(
            id=board.id,
            log_dirs=[str(path) for path in board.log_dirs],
            paths=[self._root.api(path) for path in board.log_dirs],
            label=label(board.log_dirs),
            status=board.status,
            reason=board.reason,
            url=f"t9kjob/tensorboards/{board.id}/ui/",
            started_at=board.started_at,
            last_data_at=board.found.newest,
            has_data=board.found.has_data,
            job_id=board.job_id,
        )


def label(log_dirs: Sequence[Path]) -> str:
    """Return a short name for a set of log directories: “train-1”, “mnist/runs”, “train-1 and 2 more”."""
    first = log_dirs[0]
    name = first.name or "/"
    if name.lower() in GENERIC_NAMES and first.parent.name:
        name = f"{first.parent.name}/{name}"
    return name if len(log_dirs) == 1 else f"{name} and {len(log_dirs) - 1} more"


def _installed() -> bool:
    importlib.invalidate_caches()  # it may have been installed since the server started
    spec = importlib.util.find_spec("tensorboard")
    return spec is not None and spec.origin is not None
