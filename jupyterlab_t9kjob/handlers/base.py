"""What all handlers share: who may call them, reading requests, answers and errors in JSON.

The pydantic models are imported where they are used, not here: making them costs a tenth of a second, which the
server's start must not pay.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from http.client import responses
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.base.websocket import WS_PING_INTERVAL, WebSocketMixin
from jupyter_server.extension.handler import ExtensionHandlerMixin
from jupyter_server.utils import ensure_async
from tornado import web
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..core.errors import BadRequest, JobError, NotFound, TooLarge
from ..core.system.disk_threads import no_thread
from ..core.translation import translated

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..core.spec import Model
    from ..services import Services

    SomeModel = TypeVar("SomeModel", bound=BaseModel)

Verb = TypeVar("Verb", bound=Callable[..., Awaitable[None]])

AUTH_RESOURCE = "t9kjob"
MAX_BODY = 1024 * 1024
MAX_MESSAGE = 256 * 1024
_SAID = ("message", "code", "field", "hint", "verbatim", "line", "column")


class App(Protocol):
    """The server extension, as handlers need it.

    Attributes
    ----------
    sockets
        WebSockets that are open; the extension closes them when it stops.
    stopping
        Whether the extension stops.
    log_bytes_in_flight
        Largest number of bytes of log that a page is sent before it has acknowledged them.
    """

    sockets: set[Socket]
    stopping: bool
    log_bytes_in_flight: int

    async def services(self) -> Services:
        """Return the services, started.

        Raises
        ------
        Unavailable
            If they can't start, or the server is stopping.
        """
        ...


def guarded(method: Verb) -> Verb:
    """Let in only users who are logged in and whom the server's authorizer lets read (GET) or write.

    Every class decorates its own verbs: `authorized` remembers the resource that it saw first.
    """
    return cast("Verb", web.authenticated(authorized(resource=AUTH_RESOURCE)(method)))


def guarded_socket(method: Verb) -> Verb:
    """Do the same for the request that opens a WebSocket; opening one is reading."""
    return cast("Verb", ws_authenticated(authorized(resource=AUTH_RESOURCE)(method)))


def _typed(error: BaseException | None) -> JobError | None:
    """Return the typed error that an exception amounts to; None if it is a fault of the program."""
    if isinstance(error, JobError):
        return error
    # Threads are started in many places, also in asyncio's, and Python has no type of its own for this.
    return no_thread() if isinstance(error, RuntimeError) and str(error) == "can't start new thread" else None


if TYPE_CHECKING:
    _Handler = JupyterHandler
else:
    _Handler = object  # the mixin stands before handlers of two kinds


class Answers(ExtensionHandlerMixin, _Handler):
    """Errors as JSON, and the way to the services."""

    auth_resource = AUTH_RESOURCE

    async def prepare(self, **options: Any) -> None:
        """Check the user, then where the request comes from: a browser says so, and sends its cookie from anywhere."""
        await ensure_async(super().prepare(**options))  # type: ignore[arg-type]
        if not self.check_origin():
            raise web.HTTPError(403, "A request from another site is refused.")

    @property
    def app(self) -> App:
        """The extension, which owns the services."""
        return cast("App", self.extensionapp)

    def get_login_url(self) -> str:
        """Answer 403 instead of leading programs to a login page."""
        raise web.HTTPError(403)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log what is our fault, and where, but for the query, in which a token may be; a typed error is an answer."""
        where = f"{self.request.method} {self.request.path}"
        if isinstance(value, web.HTTPError):
            if value.log_message:
                self.log.warning("%s at %s", value, where)
        elif _typed(value) is None:
            self.log.error("Uncaught exception at %s", where, exc_info=(typ, value, tb))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the body that the contract calls ApiError."""
        if status_code == 405:
            self.set_header("Allow", ", ".join(filter(self._answers, self.SUPPORTED_METHODS)))
        error = kwargs.get("exc_info", (None, None, None))[1]
        typed = _typed(error)
        if typed is not None:
            self.set_status(typed.status)
            body = {name: getattr(typed, name, None) for name in _SAID}
            body["message"] = translated(typed.message)
            body["hint"] = translated(typed.hint) if typed.hint else None
        else:
            message = getattr(error, "log_message", None) or responses.get(status_code, "Unknown error")
            if status_code >= 500:
                message = "The server extension failed at this; its log says how."
            body = {**dict.fromkeys(_SAID), "message": message}
        self.say({**body, "traceback": None})

    def _answers(self, verb: str) -> bool:
        """Whether this route has a verb of its own."""
        default = getattr(web.RequestHandler, verb.lower(), None)
        return getattr(type(self), verb.lower(), default) is not default

    def say(self, body: dict[str, Any]) -> None:
        """Answer with an error's body."""
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(body))


@web.stream_request_body
class ApiHandler(Answers, APIHandler):
    """Base of the REST handlers."""

    _body: bytearray
    _received = 0

    @property
    def _track_activity(self) -> bool:  # type: ignore[override]
        # A page that looks is no activity; a user who submits or stops is.
        return self.request.method not in ("GET", "HEAD")

    async def prepare(self, **options: Any) -> None:
        """Check the user before the body is taken in."""
        self._body = bytearray()
        await super().prepare(**options)

    def data_received(self, chunk: bytes) -> None:
        """Collect the body; of one that is too large nothing is kept, so that it can still be answered."""
        self._received += len(chunk)
        if self._received <= MAX_BODY:
            self._body += chunk

    def read(self, model: type[SomeModel]) -> SomeModel:
        """Return the request's body as a model.

        Raises
        ------
        TooLarge
            If it has more than `MAX_BODY` bytes.
        BadRequest
            If it is not JSON.
        FieldError
            If a field is wrong.
        """
        from .validation import parse

        if self._received > MAX_BODY:
            raise TooLarge(
                f"The request has {self._received} bytes; at most {MAX_BODY} are taken.",
                hint="Put long texts into a file that the job reads.",
            )
        return parse(model, bytes(self._body))

    def query(self, name: str, default: int, *, least: int = 0, most: int = 2**53 - 1) -> int:
        """Return an integer of the query.

        Raises
        ------
        BadRequest
            If it is not an integer between `least` and `most`.
        """
        text = self.get_query_argument(name, None)
        if text is None:
            return default
        # `int` would take "1_000" and "٣" as well
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise BadRequest(f"{name} must be a whole number from {least} to {most}, not {text[:40]!r}.")
        return int(text)

    def switch(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean of the query.

        Raises
        ------
        BadRequest
            If it is neither true nor false.
        """
        text = self.get_query_argument(name, None)
        if text is None:
            return default
        if text not in ("true", "false"):
            raise BadRequest(f"{name} must be true or false, not {text[:40]!r}.")
        return text == "true"

    def reply(self, model: Model, status: int = 200) -> None:
        """Answer with a model."""
        self.set_status(status)
        self.finish(model.model_dump_json())


class Socket(Answers, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Base of the WebSockets: sends one message at a time and owns tasks that end with the connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()

    @property
    def ping_interval(self) -> float:
        """Seconds between pings; the mixin's own pings, in milliseconds, are not begun in `open`."""
        return float(self.settings.get("ws_ping_interval", WS_PING_INTERVAL)) / 1000

    @property
    def ping_timeout(self) -> float:
        """Seconds after a ping in which the browser must have answered."""
        return self.ping_interval

    @property
    def max_message_size(self) -> int:
        """Longest message of a client, in bytes; a longer one closes the socket."""
        return MAX_MESSAGE

    async def connect(self, *args: Any) -> None:
        """Open the WebSocket, or say that this address is one."""
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise BadRequest("This address is a WebSocket.", code="NotAWebSocket")
        await WebSocketHandler.get(self, *args)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Let the app know; it closes what is open when it stops."""
        self.app.sockets.add(self)
        if self.app.stopping:
            self.close(1001, "the server stops")

    def on_close(self) -> None:
        """End what ran for this connection."""
        self.app.sockets.discard(self)
        self.end()

    def end(self) -> list[asyncio.Task[None]]:
        """Cancel what runs for this connection; returns it."""
        for task in self._tasks:
            task.cancel()
        return list(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` until it is done or the connection ends; its errors go to the client."""
        task = asyncio.create_task(self._answered(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answered(self, work: Awaitable[None]) -> None:
        try:
            try:
                await work
            except JobError as error:
                await self.refuse(error)
        except WebSocketClosedError:
            return
        except Exception:
            self.log.exception("A socket's work failed")
            self.close(1011, "internal error")

    async def send(self, message: str | bytes) -> None:
        """Send an encoded message; returns when the network has taken it.

        Raises
        ------
        WebSocketClosedError
            If the connection has ended.
        """
        async with self._sending:
            try:
                await self.write_message(message)
            except StreamClosedError as error:
                raise WebSocketClosedError from error

    async def refuse(self, error: JobError, request: int | None = None) -> None:
        """Tell the client what was wrong with its message."""
        from .messages import SocketError

        message = SocketError(message=error.message, code=error.code, hint=error.hint, request=request)
        await self.send(message.model_dump_json())

    async def on_message(self, message: str | bytes) -> None:
        """Answer one message; the next is taken when this is done, so a client can't pile up work."""
        await self._answered(self.answer(message))

    async def answer(self, message: str | bytes) -> None:
        """Answer one message of the client."""
        raise NotImplementedError


async def _no_such_route(_handler: ApiHandler, *_args: str) -> None:
    raise NotFound("There is no such address.", hint="The API is described in jupyterlab_t9kjob/openapi.")


class UnknownRoute(ApiHandler):
    """Everything below our address that is nothing."""

    # each one of its own: `authorized` remembers the action that it saw first
    get, post, put, patch, delete, head = (guarded(_no_such_route) for _ in range(6))
