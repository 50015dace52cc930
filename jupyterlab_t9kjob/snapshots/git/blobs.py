"""Contents of many blobs of a repository from one process of git."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Final

from ...core.system.local_git import MOST_SECONDS, start

_MOST_HEADER: Final = 256


class Blobs:
    """Reads blobs one after the other with ``git cat-file --batch``; a context manager, which ends git (blocking).

    Parameters
    ----------
    folder
        A folder in the repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Blobs:
        self._process = start(self._folder, "cat-file", "--batch", stdin=subprocess.PIPE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()  # It may wait in the middle of a blob, and has nothing to finish.
            self._process.communicate()

    def read(self, blob: str, most: int) -> bytes | None:
        """Return the content of a blob as it was committed.

        Returns None if the blob is unknown or larger than `most` bytes, or if git is missing or takes too long. No
        further blob can be read after one that is too large or too slow.

        Parameters
        ----------
        blob
            Id of the blob.
        most
            Largest size, in bytes.
        """
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        clock = threading.Timer(MOST_SECONDS, process.kill)
        clock.daemon = True
        clock.start()
        try:
            process.stdin.write(blob.encode() + b"\n")
            process.stdin.flush()
            parts = process.stdout.readline(_MOST_HEADER).split()
            if len(parts) != 3 or parts[1] != b"blob":
                return None  # ``<id> missing``
            size = int(parts[2])
            if size > most:
                process.kill()
                return None
            content = process.stdout.read(size + 1)  # A line feed follows.
        except (OSError, ValueError):
            return None
        finally:
            clock.cancel()
        return content[:-1] if len(content) == size + 1 else None
