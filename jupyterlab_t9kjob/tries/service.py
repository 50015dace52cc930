"""`Tries`: starts tries, one at a time, and answers for them. The handlers use no other part of this package."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import uuid
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.errors import Conflict, JobError, NotFound, Unavailable
from ..core.system.disk import trouble_of
from ..core.system.disk_threads import on_disk
from ..core.system.locks import runtime_directory, try_lock
from ..core.system.tasks import spawn
from ..core.translation import _
from ..jobs.service import JobService
from ..launch.kernels.kernels import Kernels
from ..launch.manifests import Submission
from .model import Try, TryRequest
from .plan import Planner
from .run import LEAVING_SECONDS, Run, remove_jobs

WAIT_SECONDS: Final = 15.0
"""Time for which a request for a newer revision is held open."""
_KEPT: Final = 8
"""Number of ended tries whose results are kept."""

log = logging.getLogger(__name__)


class Tries:
    """Tries of jobs on this machine.

    Parameters
    ----------
    root
        The contents root.
    kernels
        The lab's kernels.
    jobs
        All engines.
    home
        Folder of our records; the records and outputs of tries are in its folder ``tries``.
    """

    def __init__(self, root: ContentsRoot, kernels: Kernels, jobs: JobService, home: Path) -> None:
        self._planner = Planner(root, kernels, jobs)
        self._engines = jobs.engines
        self._home = home / "tries"
        self._runs: dict[str, Run | Try] = {}
        self._last: Run | None = None
        self._busy = False
        self._cleaning: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Remove in the background what a killed server has left."""
        if self._home.is_dir():
            self._cleaning = spawn(self._clean_up(), "remove old tries")

    async def stop(self) -> None:
        """End the running try."""
        if self._cleaning is not None:
            self._cleaning.cancel()
            await asyncio.gather(self._cleaning, return_exceptions=True)
        await asyncio.gather(*(run.abandon() for run in self._runs.values() if isinstance(run, Run)))

    async def create(self, wanted: Submission, request: TryRequest) -> Try:
        """Start a try; one that can't run here is returned with the reason.

        Parameters
        ----------
        wanted
            The job.
        request
            Size and length of the try.

        Raises
        ------
        Conflict
            If another try runs.
        FieldError
            If the job's script can't be read, as at a submission.
        Unavailable
            If no engine runs on this machine, or its folder can't be written.
        """
        if self._last is not None and self._last.view.state != "running":
            await self._last.left()
        if self._busy:
            raise _another()
        self._busy = True
        try:
            return await self._create(wanted, request)
        except BaseException:
            self._busy = False
            raise

    async def _create(self, wanted: Submission, request: TryRequest) -> Try:
        if self._cleaning is not None:
            await asyncio.wait({self._cleaning})
        engine = self._engines.engine_for_tries(self._home)
        if engine is None:
            raise Unavailable(_("No engine of this server runs jobs on this machine, so nothing can be tried."))
        ident = uuid.uuid4().hex
        outputs = self._home / "outputs" / ident
        lock = await self._lock()

        def release() -> None:
            os.close(lock)
            self._busy = False

        try:
            plan = await self._planner.plan(wanted, request, outputs)
            if plan.spec is not None:
                await engine.start()
                await remove_jobs(engine, LEAVING_SECONDS)
        except BaseException as error:
            os.close(lock)
            await engine.stop()
            await on_disk(outputs, shutil.rmtree, outputs, ignore_errors=True)
            if isinstance(error, OSError) and not isinstance(error, JobError):
                raise _not_written(error, self._home) from error
            raise
        view = Try(
            id=ident,
            sentence=_("Trying on this machine"),
            processes=plan.processes,
            steps=request.steps,
            seconds=request.seconds,
            notes=plan.notes,
            untried=plan.untried,
        )
        if plan.spec is None:
            assert plan.unable is not None  # noqa: S101
            release()
            await on_disk(outputs, shutil.rmtree, outputs, ignore_errors=True)
            return self._kept(
                view.model_copy(update={"state": "not_tried", "sentence": plan.unable, "hint": plan.hint})
            )
        run = Run(view, plan, engine, outputs, release)
        await run.begin()
        self._last = self._runs[ident] = run
        self._forget_old()
        return run.view

    async def get(self, ident: str, after: int = -1) -> Try:
        """Return a try, as soon as its revision is higher than `after`, or after `WAIT_SECONDS`.

        Parameters
        ----------
        ident
            Id of the try.
        after
            Revision that the caller has.

        Raises
        ------
        NotFound
            If there is no such try, or its result is no longer kept.
        """
        run = self._find(ident)
        if isinstance(run, Try):
            return run
        await run.wait(after, WAIT_SECONDS)
        return run.view

    async def end(self, ident: str) -> Try:
        """Stop a try, and return it; an ended one is returned as it is.

        Raises
        ------
        NotFound
            If there is no such try, or its result is no longer kept.
        """
        run = self._find(ident)
        if isinstance(run, Try):
            return run
        await run.stop()
        return run.view

    def _find(self, ident: str) -> Run | Try:
        run = self._runs.get(ident)
        if run is None:
            raise NotFound(_("This try does not exist, or its result is no longer kept."))
        return run

    def _kept(self, view: Try) -> Try:
        self._runs[view.id] = view
        self._forget_old()
        return view

    def _forget_old(self) -> None:
        for ident in list(self._runs)[:-_KEPT]:  # The running one is the newest, since only one runs.
            del self._runs[ident]

    async def _lock(self) -> int:
        """Take the lock of the home's tries, which other servers of the user respect.

        Raises
        ------
        Conflict
            If another server tries a job.
        """
        lock = await asyncio.to_thread(self._try_lock)
        if lock is None:
            raise _another()
        return lock

    def _try_lock(self) -> int | None:
        digest = hashlib.sha256(os.fsencode(self._home.resolve())).hexdigest()[:16]
        return try_lock(runtime_directory() / f"tries-{digest}.lock")

    async def _clean_up(self) -> None:
        """Remove jobs and outputs of tries, unless another server tries a job now."""
        engine = self._engines.engine_for_tries(self._home)
        lock = await asyncio.to_thread(self._try_lock)
        if engine is None or lock is None or self._busy:
            if lock is not None:
                os.close(lock)
            return
        try:
            await engine.start()
            await remove_jobs(engine, LEAVING_SECONDS)
            await on_disk(self._home, shutil.rmtree, self._home / "outputs", ignore_errors=True)
        except Exception:
            log.exception("Old tries could not be removed")
        finally:
            await engine.stop()
            os.close(lock)


def _not_written(error: OSError, home: Path) -> Unavailable:
    trouble = trouble_of(error, home)
    message = _("The files of the try can't be written: {problem}.", problem=trouble.sentence)
    return Unavailable(message, code=trouble.code, hint=trouble.hint, verbatim=error.strerror)


def _another() -> Conflict:
    return Conflict(
        _("Another try is running on this machine."),
        code="TryRunning",
        hint=_("Wait until it has ended, or stop it."),
    )
