"""One TensorBoard as a process of its own; run as a file, by the server's Python.

The first line of standard input says what to show (JSON: ``log_dir``, ``directory``, ``prefix``,
``load_fast``, ``reload_interval``). The address goes to standard output, as one line of JSON. When
standard input ends, so does the process: a server that is killed leaves none behind. Nothing secret
stands in its arguments, which every user of the machine can read.
"""

import json
import os
import shutil
import socket
import sys
import threading
from pathlib import Path
from typing import Any

# This file's folder holds modules of ours that are none of TensorBoard's business.
if sys.path and Path(sys.path[0]) == Path(__file__).parent:
    del sys.path[0]


def end_with_input(directory: str) -> None:
    """End this process, whatever it does, when the server closes its end of the pipe."""
    while os.read(0, 4096):
        pass
    shutil.rmtree(directory, ignore_errors=True)
    os._exit(0)


def can_bind(path: str) -> bool:
    """Whether a Unix socket can be made here: not on Windows, some network disks, long paths."""
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(path)
        Path(path).unlink()
    except (OSError, AttributeError):
        return False
    return True


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
    path = str(Path(config["directory"]) / "s")
    watcher = threading.Thread(target=end_with_input, args=(config["directory"],), daemon=True)
    watcher.start()

    from tensorboard import program  # type: ignore[import-untyped]
    from werkzeug.serving import WSGIRequestHandler, make_server

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
    board.configure(
        ("tensorboard",),
        logdir=config["log_dir"],
        path_prefix="" if can_bind(path) else config["prefix"],
        load_fast=config["load_fast"],
        reload_interval=config["reload_interval"],
        reload_multifile=True,  # the ranks of a job may write a file each
    )
    board.launch()
    print(json.dumps(server[0].address), file=answers, flush=True)
    watcher.join()


if __name__ == "__main__":
    main()
