"""The kernels of this lab, and the processes that they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any


async def kernel_processes(kernel_manager: Any, session_manager: Any) -> Mapping[int, str]:
    """Return the process ids of the lab's kernels, each with words: “a notebook kernel: eda.ipynb”.

    Kernels elsewhere, behind a gateway say, have no process here.

    Parameters
    ----------
    kernel_manager, session_manager
        The Jupyter server's.
    """
    pids = {}
    for ident in kernel_manager.list_kernel_ids():
        provisioner = getattr(kernel_manager.get_kernel(ident), "provisioner", None)
        pid = getattr(provisioner, "pid", None)
        if pid is not None:
            pids[ident] = pid
    if not pids:
        return {}
    words = {session["kernel"]["id"]: _words(session) for session in await session_manager.list_sessions()}
    return {pid: words.get(ident, "a kernel of this lab") for ident, pid in pids.items()}


def _words(session: Mapping[str, Any]) -> str:
    name = PurePosixPath(session["path"] if session["type"] == "notebook" else session["name"]).name
    return f"a {session['type']} kernel: {name}" if name else f"a {session['type']} kernel"
