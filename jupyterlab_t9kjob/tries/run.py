"""One try, from its start until its files are removed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..core.engine.protocol import Engine
from ..core.errors import JobError, NotFound
from ..core.job import ACTIVE_PHASES, Job
from ..core.system.disk_threads import on_disk
from ..core.system.tasks import spawn
from ..core.translation import Text, _
from .memory import RankMemory
from .model import Try
from .output import Output
from .plan import TryPlan
from .verdict import verdict

_POLL_SECONDS: Final = 0.4
LEASE_SECONDS: Final = 30.0
"""Time for which a try continues without a request of a page."""
LEAVING_SECONDS: Final = 15.0
"""Time that the processes of a try may take to end."""

log = logging.getLogger(__name__)


class Run:
    """Runs a try and keeps its state.

    Parameters
    ----------
    view
        The try as the API shows it.
    plan
        Its plan, which has a spec.
    engine
        Runs the try; started before, and stopped at the end.
    folder
        Folder of the try's outputs, which is removed at the end.
    release
        Called once the try has left nothing behind.
    """

    def __init__(self, view: Try, plan: TryPlan, engine: Engine, folder: Path, release: Callable[[], None]) -> None:
        self.view = view
        self._plan = plan
        self._engine = engine
        self._folder = folder
        self._release = release
        self._output = Output(folder / "events")
        self._memory = RankMemory()
        self._uid = ""
        self._stopped: Text | None = None
        self._reached = False
        self._asked_at = time.monotonic()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start the processes.

        Raises
        ------
        JobError
            If the engine refuses the job. Nothing is left behind then.
        """
        assert self._plan.spec is not None  # noqa: S101
        try:
            job = await self._engine.create(
                self._plan.spec, namespace="", request_id=self.view.id, prepare=self._plan.prepare
            )
        except BaseException:
            await self._leave()
            raise
        self._uid = job.uid
        self._update(command=shlex.join(job.command))
        self._task = spawn(self._follow(), "follow a try")

    async def wait(self, after: int, seconds: float) -> None:
        """Wait until the try has another revision than `after`, at most some seconds. Keeps the try running.

        Parameters
        ----------
        after
            Revision that the caller has.
        seconds
            Longest wait, in seconds.
        """
        self._asked_at = time.monotonic()
        if self.view.revision <= after and self.view.state == "running":
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), seconds)
        self._asked_at = time.monotonic()

    async def stop(self, why: Text | None = None) -> None:
        """Ask the processes to end; the try's state tells when they have."""
        if self.view.state == "running" and self._stopped is None:
            self._stopped = why or _("The try was stopped")
            await self._ask_to_stop()

    async def left(self) -> None:
        """Wait until an ended try has left nothing behind."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def abandon(self) -> None:
        """End the try at once, because the server stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._leaving is not None:
            await asyncio.wait({self._leaving})

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        try:
            job = await self._engine.job(self._uid)
            while job.phase in ACTIVE_PHASES:
                await self._read(job)
                await self._end_when_due()
                await asyncio.sleep(_POLL_SECONDS)
                job = await self._engine.job(self._uid)
            await self._read(job, ended=True)
            await self._conclude(job)
        except asyncio.CancelledError:
            self._update(state="stopped", sentence=_("The try was stopped, because the server stops"))
            raise
        except Exception as error:
            log.exception("A try could not be followed")
            reason = error.message if isinstance(error, JobError) else Text.verbatim(type(error).__name__)
            self._update(state="not_tried", sentence=_("The try could not be followed: {error}", error=reason))
        finally:
            self._leaving = spawn(self._leave(), "remove a try")
            await asyncio.shield(self._leaving)

    async def _read(self, job: Job, *, ended: bool = False) -> None:
        sources = await self._engine.log_sources(self._uid)
        await on_disk(self._folder, self._output.read, sources, ended=ended)
        if not ended:
            pids = [replica.pid for replica in await self._engine.replicas(self._uid) if replica.pid is not None]
            await asyncio.to_thread(self._memory.read, pids)
        self._update(
            started_at=job.started_at,
            steps_done=self._output.steps,
            metrics=dict(job.progress.metrics) if job.progress is not None else self.view.metrics,
            lines=list(self._output.lines),
        )
        # The time of the answer, and no change by itself.
        self.view.ran_seconds = _ran(job)

    async def _end_when_due(self) -> None:
        wanted = self.view.steps
        if self._stopped is None and not self._reached and wanted is not None and self._output.steps >= wanted:
            self._reached = True
            await self._ask_to_stop()
        elif time.monotonic() - self._asked_at > LEASE_SECONDS:
            await self.stop(_("The try was stopped, because its page was closed"))

    async def _ask_to_stop(self) -> None:
        with contextlib.suppress(JobError):  # It has ended meanwhile.
            await self._engine.act(self._uid, "stop")

    async def _conclude(self, job: Job) -> None:
        steps, reached, stopped = self._output.steps, self._reached, self._stopped
        # The verdict looks for paths of the error, which may lie on a disk that does not answer.
        found = await asyncio.to_thread(verdict, job, self._plan, steps=steps, reached=reached, stopped=stopped)
        notes = list(self.view.notes)
        if found.state == "passed":
            if self.view.steps is not None and self._output.steps == 0:
                notes.insert(0, _("The script reported no steps, so the time ended the try."))
            memory = self._memory.note()
            if memory is not None:
                notes.insert(0, memory)
            if self._output.has_events:
                notes.insert(0, _("It wrote TensorBoard events."))
        self._update(**vars(found), notes=notes)

    def _update(self, **changes: Any) -> None:
        """Change the view, and wake those who wait if it differs."""
        changed = self.view.model_copy(update=changes)
        if changed != self.view:
            changed.revision += 1
            self.view = changed
            self._changed.set()
            self._changed = asyncio.Event()

    async def _leave(self) -> None:
        """End the processes and remove the files, then release the lock."""
        try:
            await remove_jobs(self._engine, LEAVING_SECONDS)
            await on_disk(self._folder, shutil.rmtree, self._folder, ignore_errors=True)
            await self._engine.stop()
        except Exception:
            log.exception("The files of a try could not be removed")
        finally:
            self._release()


async def remove_jobs(engine: Engine, seconds: float) -> None:
    """Delete all jobs of this machine in an engine, with their records.

    A request that was written is carried out by the job's supervisor also if this server ends.

    Parameters
    ----------
    engine
        The engine.
    seconds
        How long to wait for the end of the processes.
    """
    ours = []
    for job in await engine.jobs():
        with contextlib.suppress(JobError):  # Another machine runs it.
            await engine.act(job.uid, "delete", remove=True)
            ours.append(job.uid)
    end = time.monotonic() + seconds
    while ours and time.monotonic() < end:
        try:
            await engine.job(ours[-1])
        except NotFound:
            ours.pop()
        else:
            await asyncio.sleep(0.1)


def _ran(job: Job) -> float:
    since = job.running_since
    return job.ran_seconds + (max(0.0, time.time() - since) if since is not None else 0.0)
