"""What this lab is, to the cluster: its pod, and so its volumes, image and ids; outside a pod, what a trait says."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.lab import Lab, LabMount
from .transport import KubeApi


async def find_lab(api: KubeApi, namespace: str, mounts: Sequence[LabMount] = ()) -> Lab:
    """Return what jobs inherit from this lab.

    Parameters
    ----------
    api
        The cluster.
    namespace
        The connection's own.
    mounts
        What an administrator says of the lab's volumes, see `mounts_of`; they count instead of the pod's.

    Raises
    ------
    Unreachable
        If the cluster does not answer.
    """
    raise NotImplementedError
