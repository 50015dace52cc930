"""Takes, keeps and returns the stacks of jobs; takes them automatically when a local job stops making progress."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Coroutine
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ..contents_paths import ContentsRoot
from ..core.checks import Capability
from ..core.engine.options import KeepsTraces, TakesStacks
from ..core.engine.protocol import Engine
from ..core.errors import Conflict, JobError, Unavailable
from ..core.job import Job, JobSummary
from ..core.manifests.diagnostics import dump_folder
from ..core.stacks.raw import TakenStacks
from ..core.stacks.traces import trace_of
from ..core.system.disk_threads import DiskSilent, on_disk
from ..core.system.tasks import spawn
from ..core.translation import Text, _
from ..jobs.service import JobService
from .collectives import collectives_of
from .communicators import ras_collectives
from .frames import Sources
from .grouping import Member, finding_of, groups_of
from .model import MissingStacks, Recording, StackDump, StackList
from .problems import missing_of
from .recordings import recording_in
from .store import StackStore

log = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""Number of attempts to take the stacks of a stalled job automatically."""
AGAIN_SECONDS: Final = 10.0
"""Time between two of these attempts."""


class Stacks:
    """Stacks of all jobs.

    Parameters
    ----------
    root
        The contents root, to which the paths of frames are relative.
    jobs
        All jobs.
    home
        Directory of the records of jobs.
    """

    def __init__(self, root: ContentsRoot, jobs: JobService, home: Path) -> None:
        self._root = root
        self._jobs = jobs
        self._store = StackStore(home / "stacks")
        self._taking: dict[str, asyncio.Task[StackDump]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stalled: dict[str, float] = {}
        self._end: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to take the stacks of jobs without progress."""
        self._end = self._jobs.listen(self._heard)

    async def stop(self) -> None:
        """Stop; stacks that are being taken are discarded."""
        if self._end is not None:
            self._end()
        tasks = [*self._taking.values(), *self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def folder_of(self, ident: str) -> Path:
        """Return the folder in which the stacks of a job are kept; it need not exist."""
        return self._store.folder_of(ident)

    async def kept(self, ident: str) -> StackList:
        """Return the kept stacks of a job, and whether new ones can be taken.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        job = await self._jobs.job(ident)
        engine, uid = self._jobs.engines.find(ident)
        return StackList(
            available=await _capability(engine, uid),
            automatic=engine.facts.runs_on_lab_machine and isinstance(engine, TakesStacks),
            dumps=await on_disk(self._store.folder, self._store.dumps, ident),
            recording=await self._recording_in_time(job, engine, uid),
        )

    async def adopt(self, ident: str, stacks: dict[str, bytes]) -> None:
        """Keep the stacks of an imported job. Stacks that are not as this server writes them are left out.

        Their paths are the exporter's, or an attacker's: in this lab they may lead to unrelated files.

        Parameters
        ----------
        ident
            Id of the job.
        stacks
            JSON of the stacks by id.
        """

        def keep() -> None:
            for data in sorted(stacks.items()):
                try:
                    dump = StackDump.model_validate_json(data[1])
                except (ValueError, RecursionError) as error:
                    log.warning("Stacks of the imported job %s were left out: %s", ident, error)
                    continue
                if re.fullmatch(r"[\w-]{1,100}", dump.id) and 0 <= dump.time < 1e11:
                    self._store.put(ident, _without_paths(dump))

        await on_disk(self._store.folder, keep)

    async def _recording_in_time(self, job: Job, engine: Engine, uid: str) -> Recording | None:
        """Return the recording; None also if its disk is too slow, since the kept stacks are shown all the same."""
        try:
            return await self._recording(job, engine, uid)
        except DiskSilent as error:
            log.warning("The flight recorder's files of the job %s were not read: %s", job.id, error.message)
            return None

    async def _recording(self, job: Job, engine: Engine, uid: str) -> Recording | None:
        """Return the recording of the flight recorder; None if the lab sees no files of the recorder."""
        if not job.spec.diagnostics.collectives:
            return None
        folder: Path | None = None
        if isinstance(engine, KeepsTraces):
            folder = engine.trace_folder(uid)
        elif engine.facts.has_pods and job.request_id:
            path = dump_folder(job.spec, job.request_id)
            if path is not None:
                folder = await self._jobs.engines.path_in_lab(job.engine, job.namespace, path, job.spec)
        return None if folder is None else await on_disk(folder, recording_in, folder, job.processes)

    async def take(self, ident: str, *, native: bool = False, automatic: bool = False) -> StackDump:
        """Take the stacks of a job, and keep them. A second request meanwhile gets the same stacks.

        Parameters
        ----------
        ident
            Id of the job.
        native
            True for frames of C as well.
        automatic
            True if no user has asked for them.

        Raises
        ------
        NotFound
            If there is no such job.
        Conflict
            If they can't be taken now.
        """
        task = self._taking.get(ident)
        if task is None:
            task = self._taking[ident] = spawn(self._take(ident, native, automatic), "take stacks")
            task.add_done_callback(lambda _done: self._taking.pop(ident, None))
        return await asyncio.shield(task)

    async def _take(self, ident: str, native: bool, automatic: bool) -> StackDump:
        job = await self._jobs.job(ident)
        engine, uid = self._jobs.engines.find(ident)
        capability = await _capability(engine, uid)
        if not isinstance(engine, TakesStacks) or not capability.supported:
            raise Conflict(capability.reason or _("The stacks can't be taken."), code="NoStacks")
        now, begun = time.time(), time.monotonic()
        taken = await engine.take_stacks(uid, native=native)
        seconds = round(time.monotonic() - begun, 3)
        folders = [path for path in (job.working_dir,) if path is not None and engine.facts.shares_lab_filesystem]
        dump = await on_disk(
            [self._store.folder, *folders], self._dump, job, engine, taken, now, seconds, native, automatic
        )
        if job.stalled is not None and dump.finding is not None:
            self._jobs.stalls.explain(ident, job.stalled.since, dump.finding)
        return dump

    def _dump(
        self, job: Job, engine: Engine, taken: TakenStacks, now: float, seconds: float, native: bool, automatic: bool
    ) -> StackDump:
        facts = engine.facts
        sources = Sources(job, self._root, shares_files=facts.shares_lab_filesystem)
        members, missing = [], []
        for replica, answer in taken.stacks:
            members += [Member(rank.replica or replica, rank) for rank in answer.ranks if rank.threads]
            missing += missing_of(answer, facts, taken.notes.get(replica))
        missing += [
            MissingStacks(who=Text.verbatim(name), sentence=sentence, hint=taken.notes.get(name))
            for name, sentence in taken.missing.items()
        ]
        groups = groups_of(members, sources.shown)
        traces = [
            trace_of(dump, rank.rank)
            for _replica, answer in taken.stacks
            for rank in answer.ranks
            for dump in rank.traces
            if rank.rank is not None
        ]
        answers = [answer for _replica, answer in taken.stacks]
        methods = {answer.method for answer in answers}
        dump = StackDump(
            id=f"{int(now * 1000):015d}",
            time=now,
            seconds=seconds,
            method=methods.pop() if len(methods) == 1 else "py-spy",
            native=native,
            automatic=automatic,
            ranks=len(members),
            expected=job.processes,
            finding=finding_of(groups),
            detail=finding_of(groups, places=True),
            groups=groups,
            missing=missing,
            collectives=collectives_of(traces, job.processes) + ras_collectives(answers, job.processes),
        )
        self._store.put(job.id, dump)
        return dump

    # -- by itself ----------------------------------------------------------------------------------------------------

    def _heard(self, ident: str, job: JobSummary | None) -> None:
        if job is None:
            self._stalled.pop(ident, None)
            self._spawn(on_disk(self._store.folder, self._store.remove, ident))
            return
        if job.stalled is None:
            self._stalled.pop(ident, None)
        elif ident not in self._stalled:
            self._stalled[ident] = job.stalled.since
            engine, _uid = self._jobs.engines.find(ident)
            if engine.facts.runs_on_lab_machine and isinstance(engine, TakesStacks):
                self._spawn(self._take_once(ident))

    async def _take_once(self, ident: str) -> None:
        """Take the stacks of a stalled job once; a machine that is too busy to answer is asked again."""
        for _attempt in range(MOST_ATTEMPTS):
            try:
                await self.take(ident, automatic=True)
                return
            except JobError as error:
                log.info("The stacks of the job %s were not taken: %s", ident, error.message)
                if not isinstance(error, Unavailable):
                    return
            await asyncio.sleep(AGAIN_SECONDS)
            if ident not in self._stalled:
                return

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = spawn(_logged(work), "stacks of a job")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    """Await background work, and log its errors."""
    try:
        await work
    except Exception:
        log.exception("The stacks of a job could not be handled")


def _without_paths(dump: StackDump) -> StackDump:
    """Return stacks whose frames lead to no file of this lab."""
    for group in dump.groups:
        for frame in chain(group.frames, *(thread.frames for thread in group.threads)):
            frame.path = None
    return dump


async def _capability(engine: Engine, uid: str) -> Capability:
    if isinstance(engine, TakesStacks):
        return await engine.stacks_capability(uid)
    return Capability(supported=False, reason=_("{engine} does not offer the stacks of jobs.", engine=engine.label))
