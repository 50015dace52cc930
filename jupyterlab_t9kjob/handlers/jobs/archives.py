"""Handlers of job archives: the export of a job, and the import of an archive."""

from __future__ import annotations

import errno
import logging
from typing import Final

from ...core.errors import JobError, NotFound, Unavailable
from ...core.system.disk_threads import on_disk
from ...core.translation import _
from ..base import ApiHandler, guarded
from .downloads import Download

log = logging.getLogger(__name__)

_NO_SUCH_FILE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class JobArchiveHandler(Download):
    """``jobs/{id}/archive``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Send the job as a ZIP file, which is made while it is sent."""
        from ...jobs.archives import archive, parts_of
        from ...logs.serving.sources import places

        services = await self.app.services()
        job = await services.jobs.job(ident)
        with await self.following(ident):
            logs = await services.jobs.log_files(ident, strict=True)
            stacks = {dump.id: dump for dump in (await services.stacks.kept(ident)).dumps}
            parts = await parts_of(services.jobs, job, logs, dict(stacks))
            self.begin("application/zip", f"{job.name}.t9kjob.zip")
            await self.send([services.stacks.folder_of(ident), *places(logs)], archive(parts))


class ImportHandler(ApiHandler):
    """``imported-jobs``."""

    @guarded
    async def post(self) -> None:
        """Import the archive of a job."""
        from ...contents_paths import ContentsRoot
        from ...core.engine.options import ImportsJobs
        from ..messages import ImportJob

        request = self.read(ImportJob)
        path = ContentsRoot(self.contents_manager).disk(request.path)
        services = await self.app.services()
        engine = next((each for each in services.jobs.engines.all() if isinstance(each, ImportsJobs)), None)
        if engine is None:
            raise Unavailable(_("This installation can't import jobs."))
        try:
            await on_disk(path, path.stat)
            job, stacks = await engine.import_job(path)
        except OSError as error:
            if error.errno in _NO_SUCH_FILE:
                raise NotFound(_("There is no file {path}.", path=request.path), field="/path") from None
            raise Unavailable(
                _("The archive could not be imported."),
                code="ImportFailed",
                verbatim=error.strerror or str(error),
                hint=_("Check that the file can be read and that the disk has free space."),
            ) from error
        try:
            await services.stacks.adopt(job.id, stacks)
        except (OSError, JobError):  # The job is imported; after an error, the user would import it again.
            log.warning("The stacks of the imported job %s could not be kept", job.id, exc_info=True)
        self.reply(job, 201)
