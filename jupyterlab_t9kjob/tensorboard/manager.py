"""All TensorBoards of this server: one process for each set of log directories, while it is in use."""

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
from ..core.translation import _, _n
from .board import Board, Settings
from .folders import canonical, disks, resolve
from .model import TensorBoard
from .process import Endpoint

# An open page sends a request every 30 s.
BUSY_SECONDS = 45.0

NOT_INSTALLED = _("TensorBoard is not installed in the Python that runs this server.")

Listener = Callable[[str, TensorBoard | None], None]


class TensorBoardManager:
    """Starts, lists, watches and ends TensorBoards.

    Parameters
    ----------
    root
        The contents root.
    idle_seconds
        Seconds after the last request until a TensorBoard's process is ended. The next request starts it again.
    limit
        Largest number of processes at the same time.
    settings
        Settings of the processes.
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
        self._notified: dict[str, TensorBoard] = {}
        self._listeners: list[Listener] = []
        self._stopped = False
        # A board releases its task before the process has been cleaned up; this set holds the task until then.
        self._work: set[asyncio.Task[None]] = set()
        self._reaper: asyncio.Task[None] | None = None

    # -- start and stop -----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to end processes that are not in use."""
        self._reaper = asyncio.create_task(self._stop_idle())

    async def stop(self) -> None:
        """End all processes, and start none from now on."""
        self._stopped = True
        if self._reaper is not None:
            self._reaper.cancel()
        boards = list(self._boards.values())
        self._boards.clear()
        await asyncio.gather(*(board.close() for board in boards))
        await asyncio.gather(*self._work, return_exceptions=True)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with id and TensorBoard after every change, with None after it was removed.

        Returns
        -------
        Callable
            Function that ends the calls.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- reading ------------------------------------------------------------------------------------------------------

    async def installed(self) -> bool:
        """Return True if TensorBoard is installed in the server's Python; it is not imported."""
        return await asyncio.to_thread(_installed)

    @staticmethod
    def install_command() -> str:
        """Return the command that installs TensorBoard in the server's Python."""
        return shlex.join([sys.executable, "-m", "pip", "install", "tensorboard"])

    async def list(self) -> list[TensorBoard]:
        """Return all TensorBoards, the oldest first."""
        return [board.model for board in self._boards.values()]

    def get(self, ident: str) -> TensorBoard:
        """Return a TensorBoard.

        Raises
        ------
        NotFound
            If there is no TensorBoard with this id.
        """
        return self._board(ident).model

    async def folders(self, paths: Sequence[str], own: Iterable[str] = ()) -> builtins.list[Path]:
        """Return log directories as absolute paths; see `folders.resolve`.

        Parameters
        ----------
        paths
            Contents API paths or absolute paths.
        own
            Log directories of jobs, which may be outside the contents root.

        Raises
        ------
        DiskSilent
            If the disk of a log directory does not answer.
        FieldError, Unavailable
            See `folders.resolve`.
        """
        return await on_disk(disks(self._root, paths), resolve, self._root, paths, own)

    async def endpoint(self, ident: str) -> Endpoint:
        """Return the endpoint of a TensorBoard for a request; start the process if the TensorBoard is idle.

        Raises
        ------
        NotFound
            If there is no TensorBoard with this id.
        Unavailable
            If the process failed, can't be started, or does not answer.
        Conflict
            If too many TensorBoards run.
        """
        board = self._board(ident)
        board.used_at = time.monotonic()
        if board.status == "idle":
            async with board.lock:
                await self._start(board)
        await board.settled.wait()
        if board.endpoint is None or board.endpoint.fault:
            reason = board.reason or Reason(code="Stopped", sentence=_("This TensorBoard has been stopped."))
            raise Unavailable(reason.sentence, code=reason.code, hint=reason.hint, verbatim=reason.verbatim)
        return board.endpoint

    # -- actions ------------------------------------------------------------------------------------------------------

    async def open(
        self, log_dirs: Sequence[Path], job_id: str | None = None, own: Iterable[str] = ()
    ) -> tuple[TensorBoard, bool]:
        """Return the TensorBoard of a set of log directories, which is made and started if necessary.

        Parameters
        ----------
        log_dirs
            Absolute paths of the log directories.
        job_id
            Id of the job that writes to them.
        own
            Log directories of jobs, which may be outside the contents root.

        Returns
        -------
        board
            The TensorBoard.
        new
            True if it did not exist before.

        Raises
        ------
        Unavailable
            If TensorBoard is not installed, or the server is stopping.
        Conflict
            If too many TensorBoards run.
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
                    continue  # The board was removed in the meantime.
                board.job_id = board.job_id or job_id
                board.used_at = time.monotonic()
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
                self._notify(board)
                return board.model, new

    async def restart(self, ident: str) -> TensorBoard:
        """Restart the process of a TensorBoard; its id and address stay the same.

        Raises
        ------
        NotFound
            If there is no TensorBoard with this id.
        Unavailable
            If TensorBoard is not installed any more.
        Conflict
            If too many TensorBoards run.
        """
        board = self._board(ident)
        async with board.lock:
            await board.end()
            board.used_at = time.monotonic()
            await self._start(board)
            return board.model

    async def remove(self, ident: str) -> None:
        """End the process of a TensorBoard and remove the TensorBoard from the list.

        Raises
        ------
        NotFound
            If there is no TensorBoard with this id.
        """
        board = self._board(ident)
        self._forget(board)
        async with board.lock:
            await board.close()

    # -- processes ----------------------------------------------------------------------------------------------------

    def _add(self, log_dirs: Sequence[Path], key: frozenset[str]) -> Board:
        """Make a board, which has no process yet."""
        board = Board(self._root, log_dirs, key, self._settings, self._notify)
        if board.id in self._boards:  # The id of a board whose symbolic links have changed since.
            board.id = secrets.token_hex(12)
        self._boards[board.id] = board
        return board

    def _forget(self, board: Board) -> None:
        """Remove a board from the list; no process is started for it from now on."""
        if self._boards.get(board.id) is board:
            del self._boards[board.id]
            self._notified.pop(board.id, None)
            for listener in list(self._listeners):
                listener(board.id, None)

    async def _start(self, board: Board) -> None:
        """Begin to start a board's process, if it has none; the caller holds the board's lock."""
        if board.work is not None:
            return
        if not await self.installed():
            raise Unavailable(
                NOT_INSTALLED,
                code="TensorBoardMissing",
                hint=_("Install it with: {command}", command=self.install_command()),
            )
        # Nothing is awaited from here on, so that two starts at the same time can't exceed the limit.
        if self._stopped:
            raise Unavailable(_("The server is about to stop."), code="Stopping")
        if self._boards.get(board.id) is not board:
            raise _no_such_board()
        self._make_room()
        work = board.start()
        self._work.add(work)
        work.add_done_callback(self._work.discard, context=Context())

    def _make_room(self) -> None:
        """Begin to end the least recently used process if the limit is reached."""
        running = [board for board in self._boards.values() if board.work is not None]
        if len(running) < self._limit:
            return
        oldest = min(running, key=lambda board: board.used_at)
        if time.monotonic() - oldest.used_at < BUSY_SECONDS:
            raise Conflict(
                _n(
                    "{n} TensorBoard is running and in use; no more can run at the same time.",
                    "{n} TensorBoards are running and in use; no more can run at the same time.",
                    len(running),
                ),
                code="TooManyTensorBoards",
                hint=_(
                    "Stop one of them in the sidebar. The server's option T9kJobApp.tensorboard_limit is the limit."
                ),
            )
        oldest.release()  # `_work` has the task that ends its process.

    async def _stop_idle(self) -> None:
        while True:
            await asyncio.sleep(min(self._idle_seconds / 4, 30.0))
            idle = [
                board
                for board in self._boards.values()
                if board.status in ("running", "unresponsive") and time.monotonic() - board.used_at > self._idle_seconds
            ]
            await asyncio.gather(*(board.end() for board in idle))

    # -- notifications ------------------------------------------------------------------------------------------------

    def _notify(self, board: Board) -> None:
        """Notify the listeners if the board has changed and has not been removed."""
        if self._boards.get(board.id) is not board:
            return
        model = board.model
        if model != self._notified.get(board.id):
            self._notified[board.id] = model
            for listener in list(self._listeners):
                listener(board.id, model)

    def _board(self, ident: str) -> Board:
        if ident not in self._boards:
            raise _no_such_board()
        return self._boards[ident]


def _no_such_board() -> NotFound:
    return NotFound(_("This TensorBoard does not exist any more."), code="NoSuchTensorBoard", hint=_("Open it again."))


def _installed() -> bool:
    importlib.invalidate_caches()  # TensorBoard may have been installed since the server started.
    spec = importlib.util.find_spec("tensorboard")
    return spec is not None and spec.origin is not None
