"""All log files of a job as one ZIP file, which is made in chunks while it is sent."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Generator
from datetime import datetime, timezone

from ...core.job import LogStream, MissingSpan
from ...core.log_sources import LogFile
from ...core.system.zip_stream import Sink, zip_time
from ...core.translation import _, translated
from ..storage import cuts
from .sources import open_log, size_of


def missing_lines(stream: LogStream) -> list[tuple[int, bytes]]:
    """Return lines for a download that name the missing parts of a stream, each with its offset."""
    return [(span.offset, f"[jupyterlab_t9kjob: {translated(_described(span))}]\n".encode()) for span in stream.missing]


def _described(span: MissingSpan) -> str:
    since, until = _clock(span.since), _clock(span.until)
    if since and until:
        return _("{since} to {until}: {sentence}", since=since, until=until, sentence=span.sentence)
    if since or until:
        return _("{time}: {sentence}", time=since or until or "", sentence=span.sentence)
    return span.sentence


def _clock(moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


def member_info(name: str, changed: float) -> zipfile.ZipInfo:
    """Return the description of a compressed file in an archive.

    Parameters
    ----------
    name
        Path in the archive.
    changed
        Time of the last change, in seconds since the epoch.
    """
    info = zipfile.ZipInfo(name, zip_time(changed))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def zipped(files: list[tuple[str, LogFile]]) -> Generator[bytes, None, None]:
    """Yield the chunks of a ZIP file (blocking).

    Parameters
    ----------
    files
        The log files, each with its name in the archive. The size of a file is the one that it has when it is read. A
        file that does not exist then is left out; in place of a file that can't be read, the archive has the reason.
    """
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, file in files:
            try:
                descriptor = open_log(file.path, file.within)
            except FileNotFoundError:
                continue
            except OSError as error:
                words = translated(_("this log can't be read: {error}", error=error.strerror or ""))
                archive.writestr(name, f"[jupyterlab_t9kjob: {words}]\n")
                yield sink.take()
                continue
            try:
                status = os.fstat(descriptor)
                with archive.open(member_info(name, status.st_mtime), "w", force_zip64=True) as member:
                    for data in cuts.whole(descriptor, size_of(status), file.cuts, missing_lines(file.stream)):
                        member.write(data)
                        yield sink.take()
            finally:
                os.close(descriptor)
            yield sink.take()
    yield sink.take()
