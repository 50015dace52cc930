"""The engine of imported jobs. It reads records; it creates no jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from ...core.archive import ArchivedJob
from ...core.engine.info import EngineFacts, EngineInfo
from ...core.engine.protocol import Edited, Listener, Prepare
from ...core.errors import Conflict, NotAllowed, NotFound
from ...core.job import Action, Event, Job, JobSummary, ManifestView, Replica
from ...core.log_sources import LogFile, LogSource
from ...core.resources import Level, ResourceSource, Samples, SampleSpan, Segment
from ...core.spec import JobSpec
from ...core.system.disk_threads import on_disk
from ...core.translation import Text, _
from ...resources.storage.blocks import read
from .records import ENGINE, Records

FACTS: Final = EngineFacts(creates_jobs=False, outlives_server=True)


class ImportedEngine:
    """Jobs that were exported by another lab, or by this one.

    Parameters
    ----------
    folder
        Folder of the records.
    limit
        Largest size of an archive and of its content, in bytes.
    """

    name = ENGINE
    label: Text = _("Imported")
    facts = FACTS
    order = 900

    def __init__(self, folder: Path, limit: int) -> None:
        self._records = Records(folder)
        self._limit = limit
        self._jobs: dict[str, Job] = {}
        self._listeners: list[Listener] = []
        self._info_listeners: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Read the records."""
        self._jobs = await on_disk(self._records.folder, self._records.all)

    async def stop(self) -> None:
        """Do nothing."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each import and each removal; return a function that ends the calls."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def info(self) -> EngineInfo:
        """Return the engine's state."""
        return EngineInfo(name=self.name, label=self.label, facts=self.facts, available=True)

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` after each import and each removal, because an engine without jobs is not listed."""
        self._info_listeners.append(changed)
        return lambda: self._info_listeners.remove(changed)

    async def jobs(self) -> list[JobSummary]:
        """Return all imported jobs, newest first."""
        newest = sorted(self._jobs.values(), key=lambda job: job.created_at, reverse=True)
        return [job.summary() for job in newest]

    async def job(self, uid: str) -> Job:
        """Return one job."""
        return self._known(uid)

    async def replicas(self, uid: str) -> list[Replica]:
        """Return a job's replicas."""
        return (await self._record(uid)).replicas

    async def events(self, uid: str) -> list[Event]:
        """Return a job's events, newest first."""
        return (await self._record(uid)).events

    async def manifest(self, uid: str) -> ManifestView:
        """Return the manifest that the job had."""
        record = await self._record(uid)
        if record.manifest is None:
            return ManifestView(submitted=record.job.spec.model_dump(mode="json", exclude_defaults=True))
        return record.manifest

    async def samples(self, uid: str, span: SampleSpan) -> Samples:
        """Return a job's samples. The parameters are those of `core.engine.options.HasResources.samples`."""
        record = await self._record(uid)
        described = record.samples
        if described is None:
            return Samples(source=None)
        folder = self._folder(uid) / "resources"

        def tiers() -> list[tuple[float, list[Segment]]]:
            return [(seconds, read(folder / str(number))) for number, seconds in enumerate(described.tiers)]

        return Samples(
            source=ResourceSource(described.code, described.label, described.seconds),
            tiers=await on_disk(folder, tiers),
            levels=[Level(**dict(level)) for level in described.levels],
            notes=described.notes,
            missing=described.missing,
        )

    async def samples_version(self, uid: str) -> str:
        """Return a constant text: no samples are added."""
        self._known(uid)
        return "imported"

    async def created_by(self, request_id: str) -> Job | None:
        """Return None: the engine creates no jobs."""
        return None

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> Job:
        """Raise `NotAllowed`. The parameters are those of `core.engine.protocol.Engine.create`."""
        raise NotAllowed(_("Imported jobs can't be run. Choose where the job is to run."), field="/engine")

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Remove the record of a job if the action is a deletion with `remove`.

        The parameters are those of `core.engine.protocol.Engine.act`.

        Raises
        ------
        Conflict
            If the action is another one: the job does not run here.
        NotFound
            If there is no such job.
        """
        job = self._known(uid)
        if action == "delete" and remove:
            await self.remove(uid)
            return job.model_copy(update={"deleted": True})
        raise Conflict(job.read_only or Text.verbatim(""), code="Imported")

    async def remove(self, uid: str) -> None:
        """Remove the record of an imported job. The job in the other lab and the archive stay."""
        job = self._known(uid)
        await on_disk(self._records.folder, self._records.remove, uid)
        self._jobs.pop(uid, None)
        self._notify(job.id, None)

    async def log_sources(self, uid: str) -> Sequence[LogSource]:
        """Return the log streams."""
        record = await self._record(uid)
        logs = self._folder(uid) / "logs"
        sources = []
        for number, archived in enumerate(record.streams):
            stream = archived.stream.model_copy(update={"complete": True, "removed": 0, "waiting": None})
            index = logs / f"{number}.log.index" if archived.index is not None else None
            sources.append(LogFile(stream, logs / f"{number}.log", index, within=logs))
        return sources

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Return a function without effect: the logs are complete.

        The parameters are those of `core.engine.protocol.Engine.follow_logs`.
        """
        self._known(uid)
        return lambda: None

    def history_folders(self) -> dict[str, Path]:
        """Return the folders of the jobs."""
        return {uid: self._folder(uid) for uid in self._jobs}

    async def import_job(self, archive: Path) -> tuple[Job, dict[str, bytes]]:
        """Import an archive; see `core.engine.options.ImportsJobs`."""
        job, stacks = await asyncio.shield(asyncio.to_thread(self._records.add, archive, self._limit))
        self._jobs[job.uid] = job
        self._notify(job.id, job.summary())
        return job, stacks

    def _notify(self, ident: str, job: JobSummary | None) -> None:
        for listener in list(self._listeners):
            listener(ident, job)
        for changed in list(self._info_listeners):
            changed()

    def _folder(self, uid: str) -> Path:
        return self._records.folder / uid

    def _known(self, uid: str) -> Job:
        return self._jobs[uid] if uid in self._jobs else self._no_job(uid)

    async def _record(self, uid: str) -> ArchivedJob:
        self._known(uid)
        record = await on_disk(self._records.folder, self._records.read, uid)
        return record if record is not None else self._no_job(uid)

    def _no_job(self, uid: str) -> NoReturn:
        raise NotFound(_("There is no imported job {uid}.", uid=repr(uid[:100])), code="NoSuchJob")
