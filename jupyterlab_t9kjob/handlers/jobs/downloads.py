"""Handlers of log downloads: one log file, all of them in a ZIP file, or the merged text of several streams.

Answers are sent in chunks and never held in memory as a whole.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from tornado.iostream import StreamClosedError

from ...core.errors import BadRequest, NotFound, TooLarge
from ...core.system.disk_threads import on_disk
from ...core.translation import _
from ..base import ApiHandler, guarded

if TYPE_CHECKING:
    from pathlib import Path

    from ...core.job import LogStream
    from ...core.log_sources import LogFile
    from ...logs.failures.levels import Level
    from ...logs.serving.text import LinePosition

CHUNK = 256 * 1024
NO_LIMIT = 2**53 - 1


class Download(ApiHandler):
    """Base of handlers that send files."""

    def begin(self, content_type: str, filename: str | None = None) -> None:
        """Set the headers of the answer.

        Parameters
        ----------
        content_type
            Media type of the answer.
        filename
            Name of the file as which browsers save the answer; None for an answer that they show.
        """
        self.set_header("Content-Type", content_type)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cache-Control", "no-store")
        if filename is not None:
            plain = re.sub(r"[^A-Za-z0-9._-]", "_", filename)
            self.set_header(
                "Content-Disposition", f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename)}"
            )

    async def following(self, ident: str) -> contextlib.ExitStack:
        """Return a context in which the log of a job is kept up to date, if it comes from a cluster."""
        stack = contextlib.ExitStack()
        stack.callback(await (await self.app.services()).jobs.follow_logs(ident))
        return stack

    async def send(self, paths: list[Path], pieces: Generator[bytes, None, None]) -> None:
        """Send the chunks of a generator that reads files, as fast as the browser receives them.

        Parameters
        ----------
        paths
            The files, or folders on their disks.
        pieces
            The generator, which blocks and is called in a thread.
        """
        try:
            while (piece := await on_disk(paths, next, pieces, None)) is not None:
                if piece:
                    self.write(piece)
                    await self.flush()
        except StreamClosedError:
            return  # The browser has closed the connection.
        finally:
            with contextlib.suppress(ValueError):  # The generator still runs: a disk does not answer.
                pieces.close()

    def finish(self, *args: Any, **kwargs: Any) -> Any:
        """End the answer with the content type that `begin` set.

        The parameters are those of `jupyter_server.base.handlers.APIHandler.finish`.
        """
        content_type = str(self._headers.get("Content-Type", "application/json"))
        return super().finish(*args, set_content_type=content_type, **kwargs)


class LogFileHandler(Download):
    """``jobs/{id}/logs/{stream}``."""

    @guarded
    async def get(self, ident: str, stream: str) -> None:
        """Send the bytes as they were written; a download has a line in place of removed bytes.

        Parameters
        ----------
        ident
            Id of the job.
        stream
            Id of the log stream.
        """
        from ...logs.serving.archive import missing_lines
        from ...logs.serving.sources import size_of
        from ...logs.storage import cuts

        offset = self.query("offset", 0)
        limit = self.query("limit", NO_LIMIT, least=1)
        download = self.switch("download")
        jobs = (await self.app.services()).jobs
        job = await jobs.job(ident)
        with await self.following(ident):
            file = _named(await jobs.log_files(ident, strict=True), stream)
            descriptor = await on_disk(file.path, _open, file)
            try:
                size = size_of(os.fstat(descriptor))
                if download:
                    self.begin("application/octet-stream", f"{job.name}.{stream}.log")
                    notes = missing_lines(file.stream)
                    if file.stream.complete and not (file.stream.removed or notes):  # Otherwise the length may differ.
                        self.set_header("Content-Length", size)
                    await self.send([file.path], cuts.whole(descriptor, size, file.cuts, notes))
                else:
                    end = min(offset + limit, size)
                    self.begin("application/octet-stream")
                    self.set_header("Content-Length", max(0, end - offset))
                    await self.send([file.path], _range(descriptor, offset, end))
            finally:
                os.close(descriptor)


def _named(files: list[LogFile], stream: str) -> LogFile:
    for file in files:
        if file.stream.id == stream:
            return file
    raise NotFound(_("The job has no log stream {stream}.", stream=repr(stream[:200])), code="NoSuchStream")


def _open(file: LogFile) -> int:
    """Open a stream's file (blocking)."""
    from ...logs.serving.sources import open_log

    try:
        return open_log(file.path, file.within)
    except FileNotFoundError:
        raise _not_there(file.stream) from None
    except OSError as error:  # For example, a job replaced a log file on its volume with a symbolic link.
        raise NotFound(_("This log file can't be read."), verbatim=error.strerror, code="NoSuchStream") from None


def _not_there(stream: LogStream) -> NotFound:
    """Return the error for a stream without a file."""
    if stream.missing:
        return NotFound(stream.missing[0].sentence, code="NoSuchStream")
    if stream.size == 0 and not stream.complete:
        return NotFound(_("This log is still empty."), hint=stream.waiting, code="NoSuchStream")
    return NotFound(_("This log file has been removed."), code="NoSuchStream")


def _range(descriptor: int, start: int, end: int) -> Generator[bytes, None, None]:
    """Yield the bytes from `start` to `end` (blocking); fewer if the file was truncated in the meantime."""
    while start < end and (data := os.pread(descriptor, min(CHUNK, end - start), start)):
        start += len(data)
        yield data


class LogArchiveHandler(Download):
    """``jobs/{id}/log-archive``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Send all streams in a ZIP file."""
        from ...logs.serving.archive import zipped
        from ...logs.serving.sources import places

        jobs = (await self.app.services()).jobs
        job = await jobs.job(ident)
        with await self.following(ident):
            members = [(f"{job.name}/{file.stream.id}.log", file) for file in await jobs.log_files(ident, strict=True)]
            self.begin("application/zip", f"{job.name}-logs.zip")
            await self.send(places(file for _name, file in members), zipped(members))


def _too_large(size: int | None, limit: int) -> TooLarge:
    """Return the error for lines that are too large to be copied; a size of None is not known."""
    most = _megabytes(limit)
    return TooLarge(
        _("These lines have more than {limit}, the most that can be copied.", limit=most)
        if size is None
        else _("These lines have {size}. At most {limit} can be copied.", size=_megabytes(size), limit=most),
        hint=_("Download them instead."),
    )


class LogTextHandler(Download):
    """``jobs/{id}/log-text``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Send the merged text of streams, or a passage of it."""
        from ...logs.serving.archive import missing_lines
        from ...logs.serving.sources import Source, places
        from ...logs.serving.text import Passage, passage_text, size_of_passage
        from ...logs.storage.index import TimeIndex

        limit = self.query("limit", NO_LIMIT, least=1)
        labels, download = self.switch("labels"), self.switch("download")
        passage = Passage(self._place("from"), self._place("to"), self._level())
        jobs = (await self.app.services()).jobs
        job = await jobs.job(ident)
        with await self.following(ident):
            files = [file for file in await jobs.log_files(ident, strict=True) if self._wants(file.stream)]
            sources = [
                Source(file.stream.id, file.path, TimeIndex(file.index), file.cuts, file.within) for file in files
            ]
            if limit < NO_LIMIT:
                size = await on_disk(places(sources), size_of_passage, sources, passage, limit)
                if size > limit:
                    raise _too_large(size if passage.level is None else None, limit)
            notes = {file.stream.id: missing_lines(file.stream) for file in files}
            self.begin("text/plain; charset=utf-8", f"{job.name}.log" if download else None)
            await self.send(places(sources), passage_text(sources, passage, labels=labels, notes=notes))

    def _wants(self, stream: LogStream) -> bool:
        """Return True if the query selects a stream."""
        attempt = self.query("attempt", 0)
        chosen, excluded, kinds = self._list("streams"), self._list("except"), self._list("sources")
        return (
            attempt in (0, stream.attempt)
            and (not kinds or stream.source in kinds)
            and (not chosen or stream.id in chosen)
            and stream.id not in excluded
        )

    def _list(self, name: str) -> frozenset[str]:
        return frozenset(filter(None, self.get_query_argument(name, "").split(",")))

    def _place(self, end: str) -> LinePosition | None:
        """Return the line at one end of the passage, given the prefix of its parameters."""
        from ...logs.serving.text import LinePosition

        stream = self.get_query_argument(f"{end}_stream", None)
        # Offset and time are read even without a stream, so that invalid values are always refused.
        offset, time = self.query(f"{end}_offset", 0), self._seconds(f"{end}_time")
        return None if stream is None else LinePosition(stream, offset, time)

    def _level(self) -> Level | None:
        text = self.get_query_argument("level", "")
        if text in ("error", "warning"):
            return cast("Level", text)
        if text:
            raise BadRequest(_("level must be error or warning, not {value}.", value=repr(text[:40])))
        return None

    def _seconds(self, name: str) -> float | None:
        text = self.get_query_argument(name, "")
        if not text:
            return None
        try:
            time = float(text)
        except ValueError:
            time = math.nan
        if not math.isfinite(time):
            raise BadRequest(_("{name} must be a number of seconds, not {value}.", name=name, value=repr(text[:40])))
        return time


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.{1 if size < 1e8 else 0}f} MB".replace(".0 MB", " MB")
