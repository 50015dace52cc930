"""Base classes of the handlers: authorization, parsing of requests, answers and errors in JSON.

Handlers import pydantic models inside functions, since the models take 0.1 s to build, which would delay the server's
start.
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

from ..core.errors import BadRequest, JobError, TooLarge
from ..core.system.disk_threads import no_thread
from ..core.translation import _, translated

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..core.engine.terminals import ShellSettings
    from ..core.spec import Model
    from ..services import Services

    SomeModel = TypeVar("SomeModel", bound=BaseModel)

Verb = TypeVar("Verb", bound=Callable[..., Awaitable[None]])

AUTH_RESOURCE = "t9kjob"
TERMINAL_RESOURCE = "t9kjob-terminals"
MAX_BODY = 1024 * 1024
MAX_MESSAGE = 256 * 1024
_FIELDS = ("message", "code", "field", "hint", "verbatim", "line", "column")


class App(Protocol):
    """The parts of the server extension that handlers use.

    Attributes
    ----------
    sockets
        Open WebSockets; the extension closes them when it stops.
    stopping
        True once the extension has begun to stop.
    log_bytes_in_flight
        Largest number of bytes of log that a page is sent before it has acknowledged them.
    """

    sockets: set[Socket]
    stopping: bool
    log_bytes_in_flight: int

    async def services(self) -> Services:
        """Return the started services.

        Raises
        ------
        Unavailable
            If they can't start, or the server is stopping.
        """
        ...

    def shell(self) -> ShellSettings | None:
        """Return the shell of the server's terminals; None if the server has terminals switched off."""
        ...


def guarded(method: Verb) -> Verb:
    """Restrict a verb to users who are logged in and may read (GET) or write according to the server's authorizer.

    Each class decorates methods of its own, since `authorized` keeps the resource of the first class that it sees.
    """
    return cast("Verb", web.authenticated(authorized(resource=AUTH_RESOURCE)(method)))


def guarded_shell(method: Verb) -> Verb:
    """Restrict the request that opens a terminal to users who are logged in and may execute in terminals of jobs.

    The request that opens a WebSocket is a GET, which counts as reading, so the action is named here.
    """
    return cast("Verb", ws_authenticated(authorized("execute", TERMINAL_RESOURCE)(method)))


def guarded_socket(method: Verb) -> Verb:
    """Restrict the request that opens a WebSocket to users who are logged in and may read."""
    return cast("Verb", ws_authenticated(authorized(resource=AUTH_RESOURCE)(method)))


def _typed(error: BaseException | None) -> JobError | None:
    """Return an exception as a typed error; None if it is a bug of the program."""
    if isinstance(error, JobError):
        return error
    # Python has no exception class for this error, which many functions raise, asyncio's included.
    return no_thread() if isinstance(error, RuntimeError) and str(error) == "can't start new thread" else None


if TYPE_CHECKING:
    _Handler = JupyterHandler
else:
    _Handler = object  # `Answers` is a mixin of two kinds of handlers.


class Answers(ExtensionHandlerMixin, _Handler):
    """Mixin of all handlers: errors as JSON, and access to the services."""

    auth_resource = AUTH_RESOURCE

    async def prepare(self, **options: Any) -> None:
        """Check the user, then the request's origin, since browsers send the cookie with requests of other sites."""
        await ensure_async(super().prepare(**options))  # type: ignore[arg-type]
        if not self.check_origin():
            raise web.HTTPError(403, "A request from another site is refused.")

    @property
    def app(self) -> App:
        """The server extension, which owns the services."""
        return cast("App", self.extensionapp)

    def get_login_url(self) -> str:
        """Answer 403 instead of redirecting programs to a login page."""
        raise web.HTTPError(403)

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Log untyped errors without the query (it may hold a token). The parameters are those of tornado's method."""
        where = f"{self.request.method} {self.request.path}"
        if isinstance(value, web.HTTPError):
            if value.log_message:
                self.log.warning("%s at %s", value, where)
        elif _typed(value) is None:
            self.log.error("Uncaught exception at %s", where, exc_info=(typ, value, tb))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the model `ApiError`. The parameters are those of `tornado.web.RequestHandler.write_error`."""
        if status_code == 405:
            self.set_header("Allow", ", ".join(filter(self._answers, self.SUPPORTED_METHODS)))
        error = kwargs.get("exc_info", (None, None, None))[1]
        typed = _typed(error)
        if typed is not None:
            self.set_status(typed.status)
            body = {name: getattr(typed, name, None) for name in _FIELDS}
            body["message"] = translated(typed.message)
            body["hint"] = translated(typed.hint) if typed.hint else None
        else:
            message = getattr(error, "log_message", None) or responses.get(status_code, "Unknown error")
            if status_code >= 500:
                message = translated(_("The server extension failed; the reason is in the server's log."))
            body = {**dict.fromkeys(_FIELDS), "message": message}
        self.finish_error({**body, "traceback": None})

    def _answers(self, verb: str) -> bool:
        """Return True if this route has the verb."""
        default = getattr(web.RequestHandler, verb.lower(), None)
        return getattr(type(self), verb.lower(), default) is not default

    def finish_error(self, body: dict[str, Any]) -> None:
        """Send the body of an error."""
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(body))


@web.stream_request_body
class ApiHandler(Answers, APIHandler):
    """Base of the REST handlers."""

    _body: bytearray
    _received = 0

    @property
    def _track_activity(self) -> bool:  # type: ignore[override]
        # A page that reads is no activity of the user; submitting or stopping a job is.
        return self.request.method not in ("GET", "HEAD")

    async def prepare(self, **options: Any) -> None:
        """Check the user before the body is received."""
        self._body = bytearray()
        await super().prepare(**options)

    def data_received(self, chunk: bytes) -> None:
        """Collect the body; the rest of one that is too large is dropped, so that the request can be answered."""
        self._received += len(chunk)
        if self._received <= MAX_BODY:
            self._body += chunk

    def read(self, model: type[SomeModel]) -> SomeModel:
        """Return the request's body as a model.

        Raises
        ------
        TooLarge
            If the body has more than `MAX_BODY` bytes.
        BadRequest
            If the body is not JSON.
        FieldError
            If a field is invalid.
        """
        from ..core.texts.validation import parse

        if self._received > MAX_BODY:
            raise TooLarge(
                _("The request has {size} bytes; at most {limit} are accepted.", size=self._received, limit=MAX_BODY),
                hint=_("Put long texts into a file that the job reads."),
            )
        return parse(model, bytes(self._body))

    def query(self, name: str, default: int, *, least: int = 0, most: int = 2**53 - 1) -> int:
        """Return an integer of the query.

        Parameters
        ----------
        name
            Name of the parameter.
        default
            Value if the query does not have the parameter.
        least, most
            Smallest and largest value.

        Raises
        ------
        BadRequest
            If the value is not an integer from `least` to `most`.
        """
        text = self.get_query_argument(name, None)
        if text is None:
            return default
        # `int` would also accept "1_000" and "٣".
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise BadRequest(
                _(
                    "{name} must be a whole number from {least} to {most}, not {value}.",
                    name=name,
                    least=least,
                    most=most,
                    value=repr(text[:40]),
                )
            )
        return int(text)

    def switch(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean of the query.

        Parameters
        ----------
        name
            Name of the parameter.
        default
            Value if the query does not have the parameter.

        Raises
        ------
        BadRequest
            If the value is neither true nor false.
        """
        text = self.get_query_argument(name, None)
        if text is None:
            return default
        if text not in ("true", "false"):
            raise BadRequest(_("{name} must be true or false, not {value}.", name=name, value=repr(text[:40])))
        return text == "true"

    def reply(self, model: Model, status: int = 200) -> None:
        """Answer with a model as JSON.

        Parameters
        ----------
        model
            The answer.
        status
            Status of the HTTP answer.
        """
        self.set_status(status)
        self.finish(model.model_dump_json())


class Socket(Answers, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """Base of the WebSocket handlers, which sends one message at a time and owns tasks that end with the connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._sending = asyncio.Lock()

    @property
    def ping_interval(self) -> float:
        """Seconds between pings; replaces the mixin's own pings, whose interval is in milliseconds."""
        return float(self.settings.get("ws_ping_interval", WS_PING_INTERVAL)) / 1000

    @property
    def ping_timeout(self) -> float:
        """Seconds in which the browser must answer a ping."""
        return self.ping_interval

    @property
    def max_message_size(self) -> int:
        """Largest message of a client in bytes; a larger one closes the connection."""
        return MAX_MESSAGE

    async def connect(self, *args: Any) -> None:
        """Open the WebSocket.

        Raises
        ------
        BadRequest
            If the request is not one for a WebSocket.
        """
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise BadRequest(_("This address is a WebSocket."), code="NotAWebSocket")
        await WebSocketHandler.get(self, *args)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Register the connection with the extension, which closes it when it stops; `args`, `kwargs` are unused."""
        self.app.sockets.add(self)
        if self.app.stopping:
            self.close(1001, "the server stops")

    def on_close(self) -> None:
        """Cancel the tasks of this connection; it stays registered until they have ended."""
        self._closed = True
        if not self.end():
            self.app.sockets.discard(self)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._closed and not self._tasks:
            self.app.sockets.discard(self)

    def end(self) -> list[asyncio.Task[None]]:
        """Cancel the tasks of this connection, and return them."""
        for task in self._tasks:
            task.cancel()
        return list(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine as a task that ends with the connection; its errors are sent to the client."""
        task = asyncio.create_task(self._answered(work))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
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
        """Send an encoded message, and return when the network has accepted it.

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
        """Send an error to the client.

        Parameters
        ----------
        error
            The error.
        request
            Number of the client's request that failed; None if it has no number.
        """
        from .messages import SocketError

        message = SocketError(message=error.message, code=error.code, hint=error.hint, request=request)
        await self.send(message.model_dump_json())

    async def on_message(self, message: str | bytes) -> None:
        """Answer one message; the next one is read after that, so a client can't queue any amount of work."""
        await self._answered(self.answer(message))

    async def answer(self, message: str | bytes) -> None:
        """Answer one message of the client."""
        raise NotImplementedError
