"""Processes of the lab's running kernels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from ...core.translation import Text, _


async def kernel_processes(kernel_manager: Any, session_manager: Any) -> Mapping[int, str]:
    """Return a description of each running kernel by process id: “a notebook kernel: eda.ipynb”.

    Kernels on other machines, such as behind a gateway, have no process here.

    Parameters
    ----------
    kernel_manager, session_manager
        The Jupyter server's managers.
    """
    pids = {}
    for ident in kernel_manager.list_kernel_ids():
        provisioner = getattr(kernel_manager.get_kernel(ident), "provisioner", None)
        pid = getattr(provisioner, "pid", None)
        if pid is not None:
            pids[ident] = pid
    if not pids:
        return {}
    known = {session["kernel"]["id"]: _described(session) for session in await session_manager.list_sessions()}
    return {pid: known.get(ident) or _("a kernel of this lab") for ident, pid in pids.items()}


def _described(session: Mapping[str, Any]) -> Text:
    name = PurePosixPath(session["path"] if session["type"] == "notebook" else session["name"]).name
    kind = str(session["type"])
    return _("a {type} kernel: {name}", type=kind, name=name) if name else _("a {type} kernel", type=kind)
