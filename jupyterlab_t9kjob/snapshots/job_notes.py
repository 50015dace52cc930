"""Notes which job uses which snapshot, and removes a snapshot with the last job that used it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from ..core.engine.info import EngineInfo
from ..core.errors import JobError, NotFound
from ..core.job import ACTIVE_PHASES, Job, JobSummary, parse_job_id
from ..core.system.disk_threads import on_disk
from ..core.system.tasks import spawn
from ..jobs.engines import all_of
from ..jobs.query import Query
from ..jobs.service import JobService
from .store import CREATION, SnapshotStore

log = logging.getLogger(__name__)

_FOLDER: Final = "code-jobs"
_CHECK: Final = "look for unused snapshots of code"


def new_token() -> str:
    """Return the name of a creation that is under way, which stands for the job's id until the job exists."""
    return f"{CREATION}{secrets.token_hex(8)}"


def _is_current(info: EngineInfo) -> bool:
    """Return True if an engine knows its jobs: its cluster answers, and no change was missed."""
    return info.available and (info.cluster is None or info.cluster.stale_since is None)


class JobNotes:
    """Keeps one note for each job of this lab that uses a snapshot.

    Parameters
    ----------
    jobs
        All engines.
    home
        Folder of our records.
    """

    def __init__(self, jobs: JobService, home: Path) -> None:
        self._jobs = jobs
        self._folder = home / _FOLDER
        self._tasks: set[asyncio.Task[None]] = set()
        self._unchecked: dict[str, list[str]] = {}
        """Jobs with a note by engine, until it is known which of them were removed while no server ran."""
        self._checking = asyncio.Lock()
        self._end: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Release the snapshots of jobs that were removed while no server ran, and watch for removed jobs."""
        engines = self._jobs.engines
        for ident in await asyncio.to_thread(self._noted):
            with contextlib.suppress(ValueError):
                self._unchecked.setdefault(parse_job_id(ident)[0], []).append(ident)
        self._end = all_of([engines.listen(self._job_changed), engines.listen_info(self._engines_changed)])
        await self._check_engines(in_clusters=False)
        self._engines_changed()

    def _engines_changed(self) -> None:
        if self._unchecked:
            self._spawn(self._check_engines(in_clusters=True), _CHECK)

    async def _check_engines(self, *, in_clusters: bool) -> None:
        """Release the snapshots of removed jobs, of the engines whose jobs are known now."""
        try:
            async with self._checking:
                for info in await self._jobs.engines.infos() if self._unchecked else ():
                    if info.facts.has_pods <= in_clusters and _is_current(info):
                        await self._check(self._unchecked.pop(info.name, []))
        except (OSError, JobError):
            log.warning("Unused snapshots of code could not be looked for.", exc_info=True)

    async def _check(self, idents: list[str]) -> None:
        for ident in idents:
            if await self._is_gone(ident):
                await asyncio.to_thread(self._release, ident)

    async def _is_gone(self, ident: str) -> bool:
        """Return True if there is no record of a job any more; False also if its engine can't tell."""
        try:
            await self._jobs.job(ident)
        except NotFound:
            return True
        except JobError:
            return False
        return False

    async def stop(self) -> None:
        """Stop watching."""
        self._end()
        self._unchecked.clear()
        for task in self._tasks:
            if task.get_name() == _CHECK:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def hand_over(self, store: SnapshotStore, digest: str, token: str, most_bytes: int, job: Job | None) -> None:
        """Replace the note of a creation by the note of its job, and remove old snapshots above the cap.

        Parameters
        ----------
        store, digest
            The snapshot.
        token
            Name of the creation, see `new_token`.
        most_bytes
            Size of all snapshots of the store in bytes.
        job
            The new job; None if the creation failed. The snapshot is then removed unless another job uses it.
        """
        known = await self._jobs.jobs(Query(deleted=True))
        ended = {each.id for each in known if each.deleted or each.phase not in ACTIVE_PHASES | {"Unknown"}}

        def work() -> None:
            if job is not None:
                store.use(digest, job.id)
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                note = {"id": job.id, "store": str(store.folder), "digest": digest}
                self._path(job.id).write_text(json.dumps(note), "utf-8")
            store.release(digest, token)
            store.make_room(most_bytes, lambda user: user not in ended, digest)

        try:
            await on_disk(store.folder, work)
        except OSError:  # The job runs. Only the removal of its snapshot is lost.
            log.warning("The snapshot of a job could not be noted.", exc_info=True)

    def _job_changed(self, ident: str, summary: JobSummary | None) -> None:
        if summary is None:
            self._spawn(asyncio.to_thread(self._release, ident), "release a snapshot of code")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = spawn(work, name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _release(self, ident: str) -> None:
        """Release the snapshot of a removed job. Most jobs have none."""
        path = self._path(ident)
        try:
            if not path.exists():
                return
            note = json.loads(path.read_bytes())
            SnapshotStore(Path(note["store"])).release(str(note["digest"]), ident)
            path.unlink()
        except (OSError, ValueError, KeyError, TypeError):
            log.warning("The snapshot of a removed job could not be released.", exc_info=True)

    def _noted(self) -> list[str]:
        """Return the ids of the jobs with a note."""
        found = []
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                    found.append(str(json.loads(path.read_bytes())["id"]))
        return found

    def _path(self, ident: str) -> Path:
        return self._folder / f"{hashlib.sha256(ident.encode()).hexdigest()[:40]}.json"
