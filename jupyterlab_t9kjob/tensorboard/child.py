"""One TensorBoard as a process of its own; run as a file, by the server's Python.

The first line of standard input says what to show (JSON: ``log_dir``, ``directory``, ``prefix``,
``loader``, ``reload_interval``). The address goes to standard output, as one line of JSON. When
standard input ends, so does the process: a server that is killed leaves none behind. Nothing secret
stands in its arguments, which every user of the machine can read.
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

# This file's folder holds modules of ours that are none of TensorBoard's business.
if sys.path and Path(sys.path[0]) == Path(__file__).parent:
    del sys.path[0]


def end_with_input(directory: str) -> None:
    """End this process and its data server, whatever they do, when the server closes its end of the pipe."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(directory, ignore_errors=True)
    if os.getpgrp() == os.getpid():  # a group of its own, as the server starts it
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def wake_with_server() -> None:
    """Have the kernel wake this process when the server dies: one that is stopped can't see its input end."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGCONT)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):  # not Linux
        pass


def bind_data_server() -> None:
    """Have the kernel kill the data server when this process dies, however it dies (Linux)."""
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):  # not Linux; a data server that is not stopped ends with its standard input
        return
    from tensorboard.data import server_ingester  # type: ignore[import-untyped]

    class DataServer(subprocess.Popen[bytes]):
        def __init__(self, args: Any, **more: Any) -> None:
            super().__init__(args, preexec_fn=lambda: prctl(1, signal.SIGKILL), **more)  # PR_SET_PDEATHSIG

    server_ingester.subprocess = SimpleNamespace(Popen=DataServer, PIPE=subprocess.PIPE)


def can_bind(path: str) -> bool:
    """Whether a Unix socket can be made here: not on Windows, some network disks, long paths."""
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(path)
        Path(path).unlink()
    except (OSError, AttributeError):
        return False
    return True


def leave_network() -> bool:
    """Move this process into a network of its own, with nobody else on it; return whether that worked.

    Linux only, and where containers or the administrator allow it; a Unix socket is reached all the
    same. The process has one thread yet. Root does it without a user namespace, in which it could no
    longer read the files of others.
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
        with socket.socket() as control:  # SIOCSIFFLAGS: lo is down in a new network
            fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
    except (OSError, AttributeError, ImportError):
        return False
    return True


def log_folders(top: str) -> Iterator[tuple[str, int]]:
    """Find the folders with event files, and how many; links are followed, but not in circles.

    TensorBoard's own way ends for good at a folder that it may not read, and hardly ever among links
    that lead in circles.
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
        except OSError:  # removed meanwhile, or not for us
            continue
        stack += sorted(inside, key=lambda found: found[0], reverse=True)
        if files:
            yield folder, files


def enough_handles(top: str) -> bool:
    """Whether the data server may have as many files open as there are.

    It keeps all event files open; at the limit, which a server of Jupyter sets to 4096, it forgets
    what it has read, and begins anew.
    """
    try:
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (ImportError, OSError, ValueError):
        return True
    if most == resource.RLIM_INFINITY or most >= 65536:
        return True
    room = most // 2  # for those to come
    for _, files in log_folders(top):
        room -= files
        if room < 0:
            return False
    return True


def go_on_reading() -> None:
    """Let TensorBoard's slow loader survive what it meets: an error ends its thread, and with it all news."""
    from tensorboard.backend.event_processing import io_wrapper  # type: ignore[import-untyped]
    from tensorboard.backend.event_processing.plugin_event_multiplexer import (  # type: ignore[import-untyped]
        EventMultiplexer,
    )

    def patient(method: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            except Exception:
                traceback.print_exc()  # it looks again soon
                return self

        return call

    io_wrapper.GetLogdirSubdirectories = lambda top: (folder for folder, _ in log_folders(top))
    EventMultiplexer.AddRunsFromDirectory = patient(EventMultiplexer.AddRunsFromDirectory)
    EventMultiplexer.Reload = patient(EventMultiplexer.Reload)


def end_with_child(_signal: int, _frame: Any) -> None:
    """End this process when its data server does: without it there is nothing to show."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    if pid:
        sys.stderr.write(f"TensorBoard's data server ended: {os.waitstatus_to_exitcode(status)}\n")
        sys.stderr.flush()
        os._exit(1)


def with_fonts(app: Any) -> Any:
    """Wrap TensorBoard: its page asks for fonts at the root of the host, where the lab is and no font."""
    from werkzeug.wrappers import Response

    def answer(environ: Any, start_response: Any) -> Any:
        if not environ["PATH_INFO"].endswith(("/", "/index.html")):
            return app(environ, start_response)
        page = Response.from_app(app, environ)
        page.set_data(page.get_data().replace(b"url(/font-roboto/", b"url(font-roboto/"))
        return page(environ, start_response)

    return answer


def main() -> None:
    """Serve until standard input ends."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    config = json.loads(os.fdopen(0, "rb", buffering=0, closefd=False).readline())
    tempfile.tempdir = config["directory"]
    path = str(Path(config["directory"]) / "s")
    on_socket = can_bind(path)
    alone = config["loader"] == "auto" and on_socket and leave_network()
    wake_with_server()
    watcher = threading.Thread(target=end_with_input, args=(config["directory"],), daemon=True)
    watcher.start()
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):  # the data server is not behind one
        os.environ.pop(name, None)

    from werkzeug.serving import WSGIRequestHandler, make_server

    # `from tensorboard import program` would be a lazy stand-in.
    program: Any = importlib.import_module("tensorboard.program")
    program._DATA_SERVER_ADVISORY_MESSAGE = ""  # else these would be its last words
    go_on_reading()
    bind_data_server()

    class Handler(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_request(self, *_args: Any) -> None:
            """Log nothing: addresses of requests are no one's business."""

    class Server(program.TensorBoardServer):  # type: ignore[misc]
        """TensorBoard's WSGI application on a Unix socket, else on a port of this machine."""

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
        reload_interval=math.ceil(interval) if fast else interval,  # the data server takes whole seconds
        reload_multifile=True,  # the ranks of a job may write a file each
    )
    board.launch()
    if hasattr(signal, "SIGCHLD"):
        signal.signal(signal.SIGCHLD, end_with_child)
        end_with_child(signal.SIGCHLD, None)  # it may have ended already
    print(json.dumps(server[0].address), file=answers, flush=True)
    watcher.join()


if __name__ == "__main__":
    main()
