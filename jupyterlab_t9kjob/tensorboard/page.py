"""The page of a TensorBoard on a port of this machine, for programs without a Jupyter server."""

from __future__ import annotations

import secrets
from typing import Any

from tornado import httputil, web
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets

from ..core.errors import JobError
from ..core.translation import translated
from .manager import TensorBoardManager
from .proxy import GoneError, UnreachableError, browser_headers, pass_on

HOST = "127.0.0.1"
POLICY = "Content-Security-Policy"


class LocalPage:
    """An HTTP server for one TensorBoard. Its address has a secret, since all users of the machine reach the port.

    Parameters
    ----------
    manager
        The TensorBoards.
    ident
        Id of the TensorBoard.
    """

    def __init__(self, manager: TensorBoardManager, ident: str) -> None:
        base = f"/{secrets.token_urlsafe(24)}/"
        values = {"manager": manager, "ident": ident, "base": base}
        app = web.Application([(f"{base}(.*)", _Page, values)], log_function=_log_nothing)
        self._base = base
        self._server = HTTPServer(app)

    def start(self, port: int) -> str:
        """Accept requests, and return the page's address.

        Parameters
        ----------
        port
            The port; 0 for any free one.

        Raises
        ------
        OSError
            If the port is taken or not allowed.
        """
        sockets = bind_sockets(port, HOST)
        self._server.add_sockets(sockets)
        return f"http://{HOST}:{sockets[0].getsockname()[1]}{self._base}"

    async def stop(self) -> None:
        """Accept no more requests, and close all connections."""
        self._server.stop()
        await self._server.close_all_connections()


class _Page(web.RequestHandler):
    """Passes requests on to TensorBoard."""

    def initialize(self, manager: TensorBoardManager, ident: str, base: str) -> None:
        self._manager, self._ident, self._base = manager, ident, base

    async def get(self, path: str) -> None:
        """Pass a request on."""
        try:
            endpoint = await self._manager.endpoint(self._ident)
            encoded = self.request.path.removeprefix(self._base)  # As it was sent.

            def begin(code: int, headers: httputil.HTTPHeaders) -> None:
                self.set_status(code)
                for name, value in browser_headers(headers, endpoint.prefix, self._base).get_all():
                    (self.add_header if name == POLICY else self.set_header)(name, value)

            await pass_on(endpoint, self.request, encoded, self.request.body, begin, self._send)
        except (JobError, UnreachableError) as error:
            if self._headers_written:
                # The browser notices the error when the connection closes early.
                if self.request.connection is not None:
                    self.request.connection.stream.close()  # type: ignore[attr-defined]
                return
            self.clear()
            self.set_status(502)
            self.set_header("Content-Type", "text/plain; charset=UTF-8")
            self.finish(translated(error.message))

    async def post(self, path: str) -> None:
        """Pass a request on: TensorBoard's page asks for long lists of curves by POST."""
        await self.get(path)

    async def _send(self, chunk: bytes) -> None:
        self.write(chunk)
        try:
            await self.flush()
        except StreamClosedError:  # The browser has closed the connection.
            raise GoneError from None

    def compute_etag(self) -> str | None:
        """Return None, since TensorBoard's answers are passed on unchanged."""
        return None


def _log_nothing(_handler: Any) -> None:
    """Log no requests: the address of the page is a secret."""
