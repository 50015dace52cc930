"""Jupyter servers of tests as forks of one process that has imported their modules.

The imports are most of what the start of a server costs. `fork_server` starts that process once for each process of
pytest; it ends with pytest. A fork is as independent as a server that was started by its command: it has its own
environment, output and file mode creation mask, and it is killed by its process id.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

MOST = 1 << 20
"""Bytes of a request: the arguments and the environment of a server."""

SERVICES = "api config contents events kernels kernelspecs nbconvert security sessions"
IMPORTED = (
    "jupyter_server.serverapp",
    *(f"jupyter_server.{part}.handlers" for part in ("kernelspecs", "nbconvert", "view")),
    *(f"jupyter_server.services.{part}.handlers" for part in SERVICES.split()),
    "jupyterlab_server",
    "jupyterlab_t9kjob.app",
    "jupyterlab_t9kjob.services",
    "jupyterlab_t9kjob.core.manifests.kinds.pytorchjob_kind",
    "jupyterlab_t9kjob.core.manifests.kinds.t9k_kind",
    "jupyterlab_t9kjob.engines.kubernetes.plugin",
    "jupyterlab_t9kjob.engines.local.plugin",
    "anyio._backends._asyncio",
    "pynvml",
    "tornado.platform.asyncio",
)
"""What a server has imported when it has answered the first request for its engines."""


class Forked:
    """A server that was forked; it behaves as `subprocess.Popen` as far as tests use that."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._end: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._end = None

    def poll(self) -> int | None:
        """Return None while the server runs; its exit status is not known."""
        if self._end is not None and select.select([self._end], [], [], 0)[0]:
            self._ended()
        return None if self._end is not None else 0

    def wait(self) -> int:
        """Wait until the server has ended."""
        if self._end is not None:
            select.select([self._end], [], [])
            self._ended()
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal, which no other process can get."""
        if self._end is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._end, number)

    def _ended(self) -> None:
        assert self._end is not None
        os.close(self._end)
        self._end = None


def fork_server(arguments: Sequence[str], environment: Mapping[str, str], log: int) -> Forked:
    """Start a server that has imported its modules already.

    Parameters
    ----------
    arguments
        The options of `jupyter server`.
    environment
        All variables of the server. Its PYTHONPATH has to be the same for all servers of this process.
    log
        The file descriptor that the server writes its output to.
    """
    parent = _parent(environment["PYTHONPATH"])
    request = json.dumps([list(arguments), dict(environment)]).encode()
    with parent.lock:
        parent.connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [log]))])
        return Forked(int(parent.connection.recv(100)))


@dataclass
class _Parent:
    """The process that has imported the modules; it ends when this process has ended."""

    process: subprocess.Popen[bytes]
    connection: socket.socket
    lock: Lock = field(default_factory=Lock)


@cache
def _parent(path: str) -> _Parent:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for side in (ours, theirs):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    return _Parent(process, ours)


def _forks(connection: socket.socket) -> list[str]:
    """Fork a server for each request; return its arguments in the fork, and end when nobody can ask any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks here
    while True:
        request, log, _flags, _address = socket.recv_fds(connection, MOST, 1)
        if not request:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            break
        os.close(log[0])
        connection.send(str(pid).encode())
    connection.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream in (1, 2):
        os.dup2(log[0], stream)
    os.close(log[0])
    arguments, environment = json.loads(request)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


def main() -> None:
    """Import what servers need, then be each server that is asked for."""
    for name in IMPORTED:
        __import__(name)
    # a lock that another thread holds would be held for ever in a fork
    assert len(list(Path("/proc/self/task").iterdir())) == 1
    from jupyter_server import serverapp

    arguments = _forks(socket.socket(fileno=int(sys.argv[1])))
    sys.argv = [serverapp.__file__, *arguments]
    serverapp.main()


if __name__ == "__main__":
    main()
