"""Tells which process of a distributed job records."""

from __future__ import annotations

import os
import sys

# The variables of torchrun and T9k, of Open MPI, and of Slurm.
_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def rank() -> int:
    """Return the rank of this process in its job: 0 outside of a distributed job. torch is not imported for it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for name in _VARIABLES:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return 0


def records(all_ranks: bool) -> bool:
    """Return True if this process records: rank 0, or each one.

    Parameters
    ----------
    all_ranks
        True to record in each process.
    """
    return all_ranks or rank() == 0
