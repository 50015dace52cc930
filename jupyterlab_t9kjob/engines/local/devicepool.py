"""The accelerators of this machine: which there are, and who uses them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.engine import DeviceInfo
from .devices import holder
from .record import runtime_directory

_MEBIBYTE = 1024 * 1024
_SECONDS = 10.0


class DevicePool:
    """The accelerators that local jobs may use.

    Parameters
    ----------
    names
        Their indices or UUIDs. None for those that are found, within the server's own
        ``CUDA_VISIBLE_DEVICES``. Names that no hardware has are taken at their word.
    """

    def __init__(self, names: Sequence[str] | None) -> None:
        self._names = list(names) if names is not None else None
        self._found: list[str] | None = None

    def ids(self) -> list[str]:
        """Return the names by which jobs get them (blocking at the first call)."""
        if self._names is not None:
            return self._names
        if self._found is None:
            visible = os.environ.get("CUDA_VISIBLE_DEVICES")
            present = [row[0] for row in _query("--query-gpu=index")]
            if visible is None or not present:
                self._found = present
            else:
                self._found = [name.strip() for name in visible.split(",") if name.strip()]
        return self._found

    def plan(self) -> dict[str, Any] | None:
        """Return what a supervisor must know to claim devices; None if there are none."""
        if not self.ids():
            return None
        return {"directory": str(_directory()), "pool": self.ids()}

    def describe(self) -> list[DeviceInfo]:
        """Return the devices and who uses them (blocking)."""
        ids = self.ids()
        if not ids:
            return []
        fields = "--query-gpu=index,uuid,name,memory.total,memory.used"
        rows = {key: row for row in _query(fields) for key in (row[0], row[1])}
        others = {row[0]: row[1] for row in _query("--query-compute-apps=gpu_uuid,process_name")}
        directory = _directory()
        return [
            _describe(index, name, rows.get(name), others, holder(directory, name)) for index, name in enumerate(ids)
        ]


def _describe(index: int, name: str, row: list[str] | None, others: dict[str, str], job: str | None) -> DeviceInfo:
    if row is None:
        return DeviceInfo(index=index, name=f"GPU {name}", used_by=job)
    other = others.get(row[1])
    return DeviceInfo(
        index=index,
        name=row[2],
        uuid=row[1],
        memory_total=_bytes(row[3]),
        memory_used=_bytes(row[4]),
        used_by=job or (Path(other).name if other else None),
    )


def _bytes(mebibytes: str) -> int | None:
    return int(mebibytes) * _MEBIBYTE if mebibytes.isdecimal() else None


def _directory() -> Path:
    return runtime_directory() / "devices"


def _query(what: str) -> list[list[str]]:
    """Ask nvidia-smi; nothing where there is none or its driver does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        done = subprocess.run(
            [program, what, "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode:
        return []
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]
