"""All log files of a job as one ZIP file, made piece by piece."""

from __future__ import annotations

import io
import os
import time
import zipfile
from collections.abc import Generator
from datetime import datetime, timezone

from ...core.engine import LogFile
from ...core.job import LogStream, MissingSpan
from ..storage import cuts
from .sources import open_log, size_of

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A ZIP file knows no time before."""


def missing_lines(stream: LogStream) -> list[tuple[int, bytes]]:
    """Return what is missing of a stream, as lines for a download, with the offsets where they belong."""
    return [(span.offset, _line(span)) for span in stream.missing]


def _line(span: MissingSpan) -> bytes:
    times = [_clock(time) for time in (span.since, span.until) if time is not None]
    when = " to ".join(times)
    return f"[jupyterlab_t9kjob: {when}{': ' if when else ''}{span.sentence}]\n".encode()


def _clock(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")


class _Sink(io.RawIOBase):
    """Takes in what the ZIP writer writes, until it is fetched."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def zipped(files: list[tuple[str, LogFile]]) -> Generator[bytes, None, None]:
    """Return the pieces of a ZIP file (blocking).

    Parameters
    ----------
    files
        Each with its name in the archive. It is taken as long as it is when its turn comes, and left out if it is not
        there then. A line in words stands for one that can't be read.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, file in files:
            try:
                descriptor = open_log(file.path, file.within)
            except FileNotFoundError:
                continue
            except OSError as error:
                archive.writestr(name, f"[jupyterlab_t9kjob: this log can't be read: {error.strerror}]\n")
                yield sink.take()
                continue
            try:
                status = os.fstat(descriptor)
                changed = time.localtime(status.st_mtime)[:6]
                info = zipfile.ZipInfo(name, max(changed, EARLIEST))
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o600 << 16
                with archive.open(info, "w", force_zip64=True) as member:
                    for data in cuts.whole(descriptor, size_of(status), file.cuts, missing_lines(file.stream)):
                        member.write(data)
                        yield sink.take()
            finally:
                os.close(descriptor)
            yield sink.take()
    yield sink.take()
