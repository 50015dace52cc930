"""Environment variables that switch on the diagnostics of a job's processes (`core.spec.Diagnostics`)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

HOOK: Final = Path(__file__).parent / "hook"
"""Folder for the ``PYTHONPATH`` of jobs: its ``sitecustomize`` sets the diagnostics up."""
HOOK_FILE: Final = "sitecustomize.py"
SIGNAL: Final = 44
"""A real-time signal, which neither PyTorch nor the launchers use."""
ENTRIES: Final = 2000
"""Collectives that the flight recorder keeps for each rank."""
TRACE_PREFIX: Final = "trace_rank_"
STACKS, TRACES = "T9KJOB_STACKS", "T9KJOB_TRACES"
_BUFFER, _OLDER_BUFFER = "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"
_FILE, _OLDER_FILE = "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"
_OLDER: Final = {_BUFFER: _OLDER_BUFFER, _FILE: _OLDER_FILE}
"""PyTorch reads the older name only where the newer one is not set (``FlightRecorder.hpp`` of 2.13)."""


def variables(*, stacks: bool, collectives: bool, talk: str, dumps: str) -> dict[str, str]:
    """Return the variables, without ``PYTHONPATH``.

    PyTorch reads ``TORCH_FR_…`` since 2.9, and ``TORCH_NCCL_…`` in all versions with a flight recorder.

    Parameters
    ----------
    stacks, collectives
        Which diagnostics are on.
    talk
        Folder of the pipes and answers of a machine's or container's processes.
    dumps
        Folder of the files that PyTorch writes when a collective with NCCL times out.
    """
    found = {STACKS: f"{SIGNAL}:{talk}"} if stacks else {}
    if collectives:
        prefix = str(PurePosixPath(dumps) / TRACE_PREFIX)
        found |= {
            TRACES: talk,
            _BUFFER: str(ENTRIES),
            _OLDER_BUFFER: str(ENTRIES),
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            _FILE: prefix,
            _OLDER_FILE: prefix,
        }
    return found


def unset(wanted: Mapping[str, str], job: Collection[str], replicas: Collection[str] = ()) -> dict[str, str]:
    """Return the variables to add, so that each setting that the user made stays, also one by an older name.

    Parameters
    ----------
    wanted
        Variables of the diagnostics.
    job
        Names of the variables that the user sets for the job.
    replicas
        Names of those that the user sets for a replica type, which replace the job's.
    """
    given = {*job, *replicas}
    return {name: value for name, value in wanted.items() if name not in job and _OLDER.get(name) not in given}
