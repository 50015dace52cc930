"""Handlers of the code of forms and jobs: the content of a snapshot, its differences, and restoring it."""

from __future__ import annotations

from ...core.errors import BadRequest
from ...core.translation import _
from ..base import ApiHandler, guarded


class SnapshotHandler(ApiHandler):
    """``launch/snapshot``."""

    @guarded
    async def post(self) -> None:
        """Return the content of the snapshot that a form would take."""
        from ...snapshots.model import SnapshotRequest

        request = self.read(SnapshotRequest)
        services = await self.app.services()
        self.reply(await services.snapshots.preview(request))


class SnapshotDiffHandler(ApiHandler):
    """``launch/snapshot-diff``."""

    @guarded
    async def post(self) -> None:
        """Return how a file differs from the commit that is checked out."""
        from ...snapshots.model import SnapshotDiffRequest

        request = self.read(SnapshotDiffRequest)
        services = await self.app.services()
        self.reply(await services.snapshots.diff(request))


class RepositoryHandler(ApiHandler):
    """``launch/repository``."""

    @guarded
    async def post(self) -> None:
        """Return facts about the git repository of a form."""
        from ...snapshots.model import RepositoryRequest

        request = self.read(RepositoryRequest)
        services = await self.app.services()
        self.reply(await services.snapshots.repository(request))


class CodeHandler(ApiHandler):
    """``jobs/{id}/code``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the code of a job, compared with the files of now."""
        services = await self.app.services()
        self.reply(await services.snapshots.of_jobs.code(ident))


class CodeFileHandler(ApiHandler):
    """``jobs/{id}/code-file``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return a file of a job's copy, and how the file of now differs from it."""
        name = self.get_query_argument("file", "", strip=False)
        if not name:
            raise BadRequest(_("The query needs a file."))
        services = await self.app.services()
        self.reply(await services.snapshots.of_jobs.text(ident, name))


class RestoreHandler(ApiHandler):
    """``jobs/{id}/restored-code``."""

    @guarded
    async def post(self, ident: str) -> None:
        """Write a job's copy to a new folder."""
        from ...snapshots.model import RestoreRequest

        request = self.read(RestoreRequest)
        services = await self.app.services()
        self.reply(await services.snapshots.of_jobs.restore(ident, request.folder), 201)
