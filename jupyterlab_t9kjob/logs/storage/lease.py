"""Which of several servers writes a folder, where they share a home: the one whose lease lies in it.

No lock, for locks can't be trusted on network homes: a small file that its holder rewrites every few seconds. Clocks of
machines differ, so a lease is stale when it has not changed for a while as seen by the one who looks, or when its
holder ran on this machine and does not any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from ...core.system.disk_threads import on_disk
from ...core.system.processes import alive, machine_id, process_id, same_boot

BEAT_SECONDS = 5.0
STALE_SECONDS = 25.0
SETTLE_SECONDS = 0.3
"""Between taking a lease over and finding that nobody else did so at the same time."""


class Lease:
    """One server's hold on a folder.

    Parameters
    ----------
    path
        The lease. Its folder must exist when it is taken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = uuid4().hex
        self._beat = 0
        self._confirmed: float | None = None
        self._seen: tuple[bytes, float] | None = None

    @property
    def valid(self) -> bool:
        """Whether it is held, and was found so lately enough that nobody can have taken it over."""
        return self._confirmed is not None and time.monotonic() - self._confirmed < STALE_SECONDS / 2

    async def hold(self) -> bool:
        """Take it, or keep it; returns whether it is held. To be called every `BEAT_SECONDS`.

        Raises
        ------
        OSError
            If it can't be written.
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
        """Let it go (blocking)."""
        if self._confirmed is not None:
            self._confirmed = None
            if self._read()[1].get("holder") == self._token:
                self._path.unlink(missing_ok=True)

    def _try(self) -> bool:
        """Write it if it is free, stale or ours (blocking)."""
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
