"""The part of the engine that answers from files that a job's processes write."""

from __future__ import annotations

from pathlib import Path

from ....core.resources import Samples, SampleSpan
from ....core.system.disk_threads import on_disk
from .output_time import last_output
from .resources import samples_of, version_of
from .store import Store


class ReadsJobs:
    """Base of the engine; methods with a job's uid raise `NotFound` if there is no such job."""

    _store: Store

    def history_folders(self) -> dict[str, Path]:
        """Return the folders of the jobs by uid, see `core.engine.options.KeepsHistory`."""
        return {uid: job.files.path for uid, job in list(self._store.jobs.items())}

    async def last_output(self, uid: str) -> float | None:
        """Return the time of the last line, see `core.engine.options.KnowsOutput`."""
        job = self._store.get(uid)
        return await on_disk(job.files.path, last_output, job)

    async def samples(self, uid: str, span: SampleSpan) -> Samples:
        """Return all samples of the job. The parameters are those of `core.engine.options.HasResources.samples`."""
        job = self._store.get(uid)
        return await on_disk(job.files.path, samples_of, job)

    async def samples_version(self, uid: str) -> str:
        """Return a text that changes with each new sample."""
        files = self._store.get(uid).files
        return await on_disk(files.path, version_of, files)
