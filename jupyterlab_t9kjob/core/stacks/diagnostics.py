"""Environment variables that switch on the diagnostics of a job's processes (`core.spec.Diagnostics`)."""

from __future__ import annotations

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
            "TORCH_FR_BUFFER_SIZE": str(ENTRIES),
            "TORCH_NCCL_TRACE_BUFFER_SIZE": str(ENTRIES),
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            "TORCH_FR_DUMP_TEMP_FILE": prefix,
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": prefix,
        }
    return found
