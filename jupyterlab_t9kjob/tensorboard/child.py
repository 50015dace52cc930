"""The program of a TensorBoard process, which the server's Python runs as a file.

The first line of standard input is the configuration in JSON: ``log_dir``, ``directory``, ``prefix``, ``loader``,
``reload_interval``. The arguments have none of it, since all users of the machine can read them. The process writes its
address to standard output as one line of JSON. It ends when standard input ends, so a killed server leaves no process.
"""

import importlib
import json
import math
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# The modules in this file's folder must not be importable as top-level modules.
if sys.path and Path(sys.path[0]) == Path(__file__).parent:
    del sys.path[0]


def end_with_input(directory: str) -> None:
    """Kill this process and its data server when the server closes its end of the pipe."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(directory, ignore_errors=True)
    if os.getpgrp() == os.getpid():  # The server starts this process in a group of its own.
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def wake_with_server() -> None:
    """Let the kernel continue this process when the server dies; a stopped process can't read the end of its input."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGCONT)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):  # This system is not Linux.
        pass


def bind_data_server() -> None:
    """Let the kernel kill the data server when this process dies (Linux)."""
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):  # This system is not Linux; the data server ends with its standard input.
        return
    from tensorboard.data import server_ingester  # type: ignore[import-untyped]

    class DataServer(subprocess.Popen[bytes]):
        def __init__(self, args: Any, **more: Any) -> None:
            super().__init__(args, preexec_fn=lambda: prctl(1, signal.SIGKILL), **more)  # PR_SET_PDEATHSIG

    server_ingester.subprocess = SimpleNamespace(Popen=DataServer, PIPE=subprocess.PIPE)


def can_bind(path: str) -> bool:
    """Return True if a Unix socket can be made here; Windows, long paths and some network disks don't allow it."""
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(path)
        Path(path).unlink()
    except (OSError, AttributeError):
        return False
    return True


def leave_network() -> bool:
    """Move this process into a network namespace of its own; return True if that worked.

    It works on Linux only, if the container or the administrator allows it. Unix sockets stay reachable. The process
    must still have a single thread. Root needs no user namespace, in which it could not read other users' files.
    """
    try:
        import ctypes
        import fcntl

        uid, gid = os.getuid(), os.getgid()
        new_network, new_user = 0x40000000, 0x10000000  # CLONE_NEWNET, CLONE_NEWUSER
        if ctypes.CDLL(None, use_errno=True).unshare(new_network if uid == 0 else new_network | new_user):
            return False
        if uid:
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                Path("/proc/self", name).write_text(text)
        with socket.socket() as control:  # SIOCSIFFLAGS; the interface lo is down in a new network namespace.
            fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
    except (OSError, AttributeError, ImportError):
        return False
    return True


def log_folders(top: str) -> Iterator[tuple[str, int]]:
    """Yield the folders with event files, each with their number. Symbolic links are followed, but not in circles.

    TensorBoard's own search stops for good at a folder that it may not read, and takes very long with circular links.
    """
    stack: list[tuple[str, frozenset[tuple[int, int]]]] = [(top, frozenset())]
    while stack:
        folder, above = stack.pop()
        inside = []
        files = 0
        try:
            status = Path(folder).stat()
            this = (status.st_dev, status.st_ino)
            if this in above:
                continue
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir():
                        inside.append((entry.path, above | {this}))
                    elif "tfevents" in entry.name:
                        files += 1
        except OSError:  # The folder was removed in the meantime, or may not be read.
            continue
        stack += sorted(inside, key=lambda found: found[0], reverse=True)
        if files:
            yield folder, files


def enough_handles(top: str) -> bool:
    """Return True if the data server may open as many files as there are.

    It keeps all event files open. At the limit, which Jupyter Server sets to 4096, it drops all data and starts again.
    """
    try:
        import resource

        _soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (ImportError, OSError, ValueError):
        return True
    if most == resource.RLIM_INFINITY or most >= 65536:
        return True
    room = most // 2  # The other half is for event files that are written later.
    for _folder, files in log_folders(top):
        room -= files
        if room < 0:
            return False
    return True


def go_on_reading() -> None:
    """Let TensorBoard's slow loader continue after errors, each of which would end the thread that loads new data."""
    from tensorboard.backend.event_processing import io_wrapper  # type: ignore[import-untyped]
    from tensorboard.backend.event_processing.plugin_event_multiplexer import (  # type: ignore[import-untyped]
        EventMultiplexer,
    )

    def patient(method: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            except Exception:
                traceback.print_exc()  # The loader tries again at the next reload.
                return self

        return call

    io_wrapper.GetLogdirSubdirectories = lambda top: (folder for folder, _files in log_folders(top))
    EventMultiplexer.AddRunsFromDirectory = patient(EventMultiplexer.AddRunsFromDirectory)
    EventMultiplexer.Reload = patient(EventMultiplexer.Reload)


def end_with_child(_signal: int, _frame: Any) -> None:
    """End this process when its data server ends; TensorBoard has no data without it.

    Parameters
    ----------
    _signal, _frame
        Arguments of a signal handler; not used.
    """
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    if pid:
        sys.stderr.write(f"TensorBoard's data server ended: {os.waitstatus_to_exitcode(status)}\n")
        sys.stderr.flush()
        os._exit(1)


def with_fonts(app: Any) -> Any:
    """Return TensorBoard's application with relative font URLs; its page requests fonts from the root of the host."""
    from werkzeug.wrappers import Response

    def answer(environ: Any, start_response: Any) -> Any:
        if not environ["PATH_INFO"].endswith(("/", "/index.html")):
            return app(environ, start_response)
        page = Response.from_app(app, environ)
        page.set_data(page.get_data().replace(b"url(/font-roboto/", b"url(font-roboto/"))
        return page(environ, start_response)

    return answer


def main() -> None:
    """Run TensorBoard until standard input ends."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Output of libraries must not mix with the answer.
    config = json.loads(os.fdopen(0, "rb", buffering=0, closefd=False).readline())
    tempfile.tempdir = config["directory"]
    path = str(Path(config["directory"]) / "s")
    on_socket = can_bind(path)
    alone = config["loader"] == "auto" and on_socket and leave_network()
    wake_with_server()
    watcher = threading.Thread(target=end_with_input, args=(config["directory"],), daemon=True)
    watcher.start()
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):  # The data server must be reached directly.
        os.environ.pop(name, None)

    from werkzeug.serving import WSGIRequestHandler, make_server

    # `from tensorboard import program` would give a lazy stand-in for the module.
    program: Any = importlib.import_module("tensorboard.program")
    program._DATA_SERVER_ADVISORY_MESSAGE = ""  # It would be the last output before an error.
    go_on_reading()
    bind_data_server()

    class Handler(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_request(self, *_args: Any) -> None:
            """Log nothing: URLs of requests may be private."""

    class Server(program.TensorBoardServer):  # type: ignore[misc]
        """Server of TensorBoard's WSGI application on a Unix socket, or else on a port of this machine."""

        def __init__(self, app: Any, flags: Any) -> None:
            host = "127.0.0.1" if flags.path_prefix else f"unix://{path}"
            self._server = make_server(host, 0, with_fonts(app), threaded=True, request_handler=Handler)
            self.address = {"port": self._server.port} if flags.path_prefix else {"socket": path}
            server.append(self)

        def serve_forever(self) -> None:
            self._server.serve_forever()

        def get_url(self) -> str:
            return f"http://localhost:{self.address.get('port', 80)}/"

    server: list[Server] = []
    board = program.TensorBoard(server_class=Server)
    fast = (alone or config["loader"] == "fast") and enough_handles(config["log_dir"])
    interval = config["reload_interval"]
    board.configure(
        ("tensorboard",),
        logdir=config["log_dir"],
        path_prefix="" if on_socket else config["prefix"],
        load_fast="auto" if fast else "false",
        reload_interval=math.ceil(interval) if fast else interval,  # The data server needs whole seconds.
        reload_multifile=True,  # Each rank of a job may write a file of its own.
    )
    board.launch()
    if hasattr(signal, "SIGCHLD"):
        signal.signal(signal.SIGCHLD, end_with_child)
        end_with_child(signal.SIGCHLD, None)  # The data server may have ended before the handler was set.
    print(json.dumps(server[0].address), file=answers, flush=True)
    watcher.join()


if __name__ == "__main__":
    main()
