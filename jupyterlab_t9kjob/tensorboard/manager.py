"""All TensorBoards of this server: one process for a set of log directories, while somebody looks."""

from __future__ import annotations

import asyncio
import builtins
import importlib
import importlib.util
import secrets
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from pathlib import Path

from ..contents_paths import ContentsRoot
from ..core.errors import Conflict, NotFound, Unavailable
from ..core.job import Reason
from ..core.system.disk_threads import on_disk
from .board import Board, Settings
from .folders import canonical, disks, resolve
from .model import TensorBoard
from .process import Endpoint

# An open page asks every 30 s.
BUSY_SECONDS = 45.0

Listener = Callable[[str, TensorBoard | None], None]


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
    settings
        How they are run.
    """

    def __init__(
        self,
        root: ContentsRoot,
        *,
        idle_seconds: float = 3600.0,
        limit: int = 10,
        settings: Settings | None = None,
    ) -> None:
        self._root = root
        self._idle_seconds = idle_seconds
        self._limit = limit
        self._settings = settings or Settings()
        self._boards: dict[str, Board] = {}
        self._said: dict[str, TensorBoard] = {}
        self._listeners: list[Listener] = []
        self._stopped = False
        # A board lets go of its work before the process is cleaned up; here it stays until then.
        self._work: set[asyncio.Task[None]] = set()
        self._reaper: asyncio.Task[None] | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to stop those that nobody looks at."""
        self._reaper = asyncio.create_task(self._stop_idle())

    async def stop(self) -> None:
        """End all processes; none is started from now on."""
        self._stopped = True
        if self._reaper is not None:
            self._reaper.cancel()
        boards = list(self._boards.values())
        self._boards.clear()
        await asyncio.gather(*(board.close() for board in boards))
        await asyncio.gather(*self._work, return_exceptions=True)

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
        return [board.model for board in self._boards.values()]

    def get(self, ident: str) -> TensorBoard:
        """Return one.

        Raises
        ------
        NotFound
            If there is none of this id.
        """
        return self._board(ident).model

    async def folders(self, paths: Sequence[str], own: Iterable[str] = ()) -> builtins.list[Path]:
        """Return log directories as absolute paths: see `folders.resolve`.

        Raises
        ------
        DiskSilent
            If the disk of one does not answer.
        """
        return await on_disk(disks(self._root, paths), resolve, self._root, paths, own)

    async def endpoint(self, ident: str) -> Endpoint:
        """Return where one listens; this is a look at it, which starts it if it is idle.

        Raises
        ------
        NotFound
            If there is none of this id.
        Unavailable
            If it has failed, does not start, or does not answer.
        Conflict
            If too many run.
        """
        board = self._board(ident)
        board.looked_at = time.monotonic()
        if board.status == "idle":
            async with board.lock:
                await self._start(board)
        await board.settled.wait()
        if board.endpoint is None or board.endpoint.fault:
            reason = board.reason or Reason(code="Stopped", sentence="This TensorBoard has been stopped.")
            raise Unavailable(reason.sentence, code=reason.code, hint=reason.hint, verbatim=reason.verbatim)
        return board.endpoint

    # -- doing --------------------------------------------------------------------------------------------------------

    async def open(
        self, log_dirs: Sequence[Path], job_id: str | None = None, own: Iterable[str] = ()
    ) -> tuple[TensorBoard, bool]:
        """Return a TensorBoard on log directories, and whether it is new; one that is there is used again.

        Parameters
        ----------
        log_dirs
            Absolute paths.
        job_id
            The job that writes there.
        own
            Log directories of jobs, which may lie anywhere; others must stay in the root.

        Raises
        ------
        Unavailable
            If TensorBoard is not installed, or the server is about to stop.
        Conflict
            If too many run.
        DiskSilent
            If the disk of a log directory does not answer.
        """
        key = await on_disk(log_dirs, canonical, log_dirs)
        while True:
            board = next((board for board in self._boards.values() if board.key == key), None)
            new = board is None
            if board is None:
                board = self._add(log_dirs, key)
            async with board.lock:
                if self._boards.get(board.id) is not board:
                    continue  # removed meanwhile
                board.job_id = board.job_id or job_id
                board.looked_at = time.monotonic()
                board.allow(own)
                if board.status in ("idle", "failed"):
                    try:
                        await self._start(board)
                    except NotFound:
                        continue
                    finally:
                        if new and board.work is None:
                            self._forget(board)
                            await board.close()
                if new:
                    board.watch()
                self._tell(board)
                return board.model, new

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
        board = self._board(ident)
        async with board.lock:
            await board.end()
            board.looked_at = time.monotonic()
            await self._start(board)
            return board.model

    async def remove(self, ident: str) -> None:
        """End one for good.

        Raises
        ------
        NotFound
            If there is none of this id.
        """
        board = self._board(ident)
        self._forget(board)
        async with board.lock:
            await board.close()

    # -- processes ----------------------------------------------------------------------------------------------------

    def _add(self, log_dirs: Sequence[Path], key: frozenset[str]) -> Board:
        """Make a board, which does not run yet."""
        board = Board(self._root, log_dirs, key, self._settings, self._tell)
        if board.id in self._boards:  # of one whose links lead elsewhere by now
            board.id = secrets.token_hex(12)
        self._boards[board.id] = board
        return board

    def _forget(self, board: Board) -> None:
        """Take a board out of the list; no process is started for it from now on."""
        if self._boards.get(board.id) is board:
            del self._boards[board.id]
            self._said.pop(board.id, None)
            for listener in list(self._listeners):
                listener(board.id, None)

    async def _start(self, board: Board) -> None:
        """Begin to start a board's process, if it has none; the board's lock is held."""
        if board.work is not None:
            return
        if not await self.installed():
            raise Unavailable(
                "TensorBoard is not installed in the Python that runs this server.",
                code="TensorBoardMissing",
                hint=f"Install it with: {self.install_command()}",
            )
        # nothing is awaited from here on, so that no two starts take the same room
        if self._stopped:
            raise Unavailable("The server is about to stop.", code="Stopping")
        if self._boards.get(board.id) is not board:
            raise _no_such_board()
        self._make_room()
        work = board.start()
        self._work.add(work)
        work.add_done_callback(self._work.discard, context=Context())

    def _make_room(self) -> None:
        """Begin to stop the one that was looked at longest ago, if as many run as may."""
        running = [board for board in self._boards.values() if board.work is not None]
        if len(running) < self._limit:
            return
        oldest = min(running, key=lambda board: board.looked_at)
        if time.monotonic() - oldest.looked_at < BUSY_SECONDS:
            raise Conflict(
                f"{len(running)} TensorBoards run and are looked at; no more may run at a time.",
                code="TooManyTensorBoards",
                hint="Stop one of them in the sidebar. The server's option T9kJobApp.tensorboard_limit says how many.",
            )
        oldest.let_go()  # `_work` has the task that ends its process

    async def _stop_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._idle_seconds / 4, 30.0))
            idle = [
                board
                for board in self._boards.values()
                if board.status in ("running", "unresponsive")
                and time.monotonic() - board.looked_at > self._idle_seconds
            ]
            await asyncio.gather(*(board.end() for board in idle))

    # -- news ---------------------------------------------------------------------------------------------------------

    def _tell(self, board: Board) -> None:
        """Let listeners know, if something changed and the board is not gone."""
        if self._boards.get(board.id) is not board:
            return
        model = board.model
        if model != self._said.get(board.id):
            self._said[board.id] = model
            for listener in list(self._listeners):
                listener(board.id, model)

    def _board(self, ident: str) -> Board:
        if ident not in self._boards:
            raise _no_such_board()
        return self._boards[ident]


def _no_such_board() -> NotFound:
    return NotFound("There is no such TensorBoard, or no longer.", code="NoSuchTensorBoard", hint="Open it again.")


def _installed() -> bool:
    importlib.invalidate_caches()  # it may have been installed since the server started
    spec = importlib.util.find_spec("tensorboard")
    return spec is not None and spec.origin is not None
