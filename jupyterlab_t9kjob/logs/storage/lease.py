"""Lease of a folder: it decides which of several servers with the same home directory writes to the folder.

A lease is a small file in the folder that its holder rewrites every few seconds; file locks can't be trusted on network
file systems. A lease is stale if its content has not changed for `STALE_SECONDS`, or if its holder was a process of
this machine that has ended. Each server measures by its own clock, since the clocks of machines differ.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...core.system.disk_threads import on_disk
from ...core.system.processes import alive, machine_id, process_id, same_boot

BEAT_SECONDS = 5.0
"""Interval at which the holder of a lease rewrites it."""
STALE_SECONDS = 25.0
"""Time for which a lease stays unchanged before another server may take it."""
SETTLE_SECONDS = 0.3
"""Delay after taking a lease, before a check that no other server took it at the same time."""


class Lease:
    """One server's lease of a folder.

    Parameters
    ----------
    path
        The lease file. Its folder must exist when `hold` is called.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = uuid4().hex
        self._beat = 0
        self._file = threading.Lock()  # A cancelled `hold` may still write while `release` removes the file.
        self._confirmed: float | None = None
        self._seen: tuple[bytes, float] | None = None

    @property
    def valid(self) -> bool:
        """True if this server holds the lease, confirmed so recently that no other server can have taken it since."""
        return self._confirmed is not None and time.monotonic() - self._confirmed < STALE_SECONDS / 2

    async def hold(self) -> bool:
        """Take or renew the lease; call this method every `BEAT_SECONDS`.

        Returns
        -------
        bool
            True if this server holds the lease.

        Raises
        ------
        OSError
            If the lease file can't be written.
        """
        if self._confirmed is not None and time.monotonic() - self._confirmed < BEAT_SECONDS:
            return True
        if not await on_disk(self._path.parent, self._try):
            self._confirmed = None
            return False
        if self._confirmed is None:
            await asyncio.sleep(SETTLE_SECONDS)
            if (await on_disk(self._path.parent, self._read))[1].get("holder") != self._token:
                return False
        self._confirmed = time.monotonic()
        return True

    def release(self) -> None:
        """Give up the lease, also one that `hold` has taken and not confirmed (blocking)."""
        with self._file:
            self._confirmed = None
            if self._beat and self._read()[1].get("holder") == self._token:
                self._path.unlink(missing_ok=True)

    def _try(self) -> bool:
        """Write the lease file if the lease is free, stale or held by this server (blocking)."""
        with self._file:
            return self._try_now()

    def _try_now(self) -> bool:
        data, content = self._read()
        if self._confirmed is not None and content.get("holder") != self._token:
            return False
        if data is not None and content.get("holder") != self._token and not self._is_stale(data, content):
            return False
        self._write(exclusive=data is None)
        return self._read()[1].get("holder") == self._token

    def _is_stale(self, data: bytes, content: dict[str, Any]) -> bool:
        with contextlib.suppress(KeyError, TypeError):
            if same_boot(content["machine"], machine_id()) and not alive(content["process"]):
                return True
        if self._seen is None or self._seen[0] != data:
            self._seen = (data, time.monotonic())
        return time.monotonic() - self._seen[1] > STALE_SECONDS

    def _read(self) -> tuple[bytes | None, dict[str, Any]]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None, {}
        try:
            content = json.loads(data)
        except ValueError:
            return data, {}
        return data, content if isinstance(content, dict) else {}

    def _write(self, *, exclusive: bool) -> None:
        self._beat += 1
        content = {
            "holder": self._token,
            "machine": machine_id(),
            "process": process_id(os.getpid()),
            "beat": self._beat,
        }
        fresh = self._path.with_name(f"{self._path.name}.{self._token}")
        try:
            fresh.write_text(json.dumps(content))
            if exclusive:
                with contextlib.suppress(FileExistsError):
                    os.link(fresh, self._path)
            else:
                fresh.replace(self._path)
        finally:
            fresh.unlink(missing_ok=True)
