"""Handlers of artifacts and of the data flow."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import PurePosixPath
from typing import BinaryIO

from .base import ApiHandler, guarded
from .jobs.downloads import CHUNK, Download

MOST_STEPS = 1000


class FlowHandler(ApiHandler):
    """``experiments/flow``."""

    @guarded
    async def get(self) -> None:
        """Return the graph around a run or artifact, or of the runs below a folder."""
        ident = self.get_query_argument("id", None)
        folder = self.get_query_argument("folder", "", strip=False)
        steps = self.query("steps", 0, most=MOST_STEPS) if self.get_query_argument("steps", None) else None
        services = await self.app.services()
        self.reply(await services.artifacts.flow(ident, folder, steps))


class ArtifactHandler(ApiHandler):
    """``experiments/artifacts/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return an artifact in full."""
        services = await self.app.services()
        self.reply(await services.artifacts.artifact(ident))

    @guarded
    async def patch(self, ident: str) -> None:
        """Archive or restore an artifact."""
        from ..experiments.artifacts.model import EditArtifact

        request = self.read(EditArtifact)
        services = await self.app.services()
        self.reply(await services.artifacts.edit(ident, request))


class ArtifactPreviewHandler(ApiHandler):
    """``experiments/artifacts/{id}/preview``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the preview of a file."""
        path = self.get_query_argument("path", strip=False)
        services = await self.app.services()
        self.reply(await services.artifacts.preview(ident, path, as_text=self.switch("text")))


class ArtifactChecksumHandler(ApiHandler):
    """``experiments/artifacts/{id}/checksum``."""

    @guarded
    async def post(self, ident: str) -> None:
        """Return the checksums of a file."""
        from ..experiments.artifacts.model import ChecksumRequest

        request = self.read(ChecksumRequest)
        services = await self.app.services()
        self.reply(await services.artifacts.checksum(ident, request.path))


class ArtifactFileHandler(Download):
    """``experiments/artifacts/{id}/file``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Send a file of an artifact as a download; images have their media type, so that pages can show them."""
        from ..experiments.artifacts.previews import media_type

        path = self.get_query_argument("path", strip=False)
        services = await self.app.services()
        folder, file = await services.artifacts.open(ident, path)
        with file:
            size = os.fstat(file.fileno()).st_size
            self.begin(media_type(path), PurePosixPath(path).name)
            self.set_header("Content-Length", size)
            await self.send([folder], _chunks(file, size))


class ArtifactArchiveHandler(Download):
    """``experiments/artifacts/{id}/archive``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Send the files of an artifact in a ZIP file."""
        services = await self.app.services()
        folder, pieces = await services.artifacts.archive(ident)
        self.begin("application/zip", f"{folder.name.encode('utf-8', 'replace').decode()}.zip")
        await self.send([folder], pieces)


def _chunks(file: BinaryIO, size: int) -> Generator[bytes, None, None]:
    """Yield the first bytes of a file (blocking); zeros if the file was truncated in the meantime."""
    while size > 0:
        data = file.read(min(CHUNK, size)) or bytes(min(CHUNK, size))
        size -= len(data)
        yield data
