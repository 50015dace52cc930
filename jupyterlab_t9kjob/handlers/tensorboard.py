"""Handlers of TensorBoards: list, open, stop, restart, and the proxy to TensorBoard's page."""

from __future__ import annotations

from html import escape
from typing import Any, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import httputil, web
from tornado.iostream import StreamClosedError

from ..core.errors import JobError, TooLarge
from ..core.translation import _, translated
from ..tensorboard.proxy import GoneError, UnreachableError, browser_headers, pass_on
from .base import AUTH_RESOURCE, MAX_BODY, Answers, ApiHandler, Verb, guarded

# Shown if a browser opens the page's address directly, outside the lab, which has error messages of its own.
ERROR_PAGE = """<!doctype html><meta charset="utf-8"><title>TensorBoard</title>
<style>body {{ font: 14px sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em }}</style>
<h1>{title}</h1><p>{message} {hint}</p><pre>{verbatim}</pre>"""


def guarded_reading(method: Verb) -> Verb:
    """Restrict a POST request to users who may read."""
    return cast("Verb", web.authenticated(authorized(action="read", resource=AUTH_RESOURCE)(method)))


def framed_by_the_lab(policy: str, refused: bool = False) -> str:
    """Return a Content-Security-Policy with which pages of the same origin may frame the page.

    Parameters
    ----------
    policy
        The server's policy. Its other directives, and other sources that may frame its pages, are kept.
    refused
        True if the result must have a directive ``frame-ancestors`` even if the server's policy has none.
    """
    policies = []
    for part in policy.split(","):  # A header may have several policies, all of which apply.
        directives = []
        for directive in part.split(";"):
            name, *sources = directive.split() or [""]
            if name.lower() == "frame-ancestors":
                refused = False
                others = [source for source in sources if source.lower() not in ("'none'", "'self'")]
                directive = " ".join(["frame-ancestors 'self'", *others])
            directives.append(directive.strip())
        policies.append("; ".join(filter(None, directives)))
    if refused:
        policies.append("frame-ancestors 'self'")
    return ", ".join(filter(None, policies))


class BadGateway(JobError):
    """The TensorBoard process does not answer."""

    status = 502
    code = "NoAnswer"


class TensorBoardsHandler(ApiHandler):
    """``tensorboards``."""

    @guarded
    async def get(self) -> None:
        """List the TensorBoards of this server."""
        from ..tensorboard.manager import NOT_INSTALLED
        from .messages import TensorBoardList

        manager = (await self.app.services()).tensorboards
        available = await manager.installed()
        self.reply(
            TensorBoardList(
                tensorboards=await manager.list(),
                available=available,
                reason=None if available else NOT_INSTALLED,
                install=manager.install_command(),
            )
        )

    @guarded
    async def post(self) -> None:
        """Open a TensorBoard for the log directories of a job, or for folders."""
        from ..tensorboard.folders import folders_of
        from ..tensorboard.model import OpenTensorBoard

        request = self.read(OpenTensorBoard)
        services = await self.app.services()
        if request.job_id is not None:
            job = await services.jobs.job(request.job_id)
            own = set(job.log_dirs)
            log_dirs = folders_of(job, services.jobs.engines.facts(job.engine))
        else:
            own = {path for job in await services.jobs.jobs() for path in job.log_dirs}
            log_dirs = await services.tensorboards.folders(request.paths, own)
        board, new = await services.tensorboards.open(log_dirs, request.job_id, own)
        self.reply(board, 201 if new else 200)


class TensorBoardHandler(ApiHandler):
    """``tensorboards/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return a TensorBoard."""
        self.reply((await self.app.services()).tensorboards.get(ident))

    @guarded
    async def delete(self, ident: str) -> None:
        """Stop a TensorBoard."""
        await (await self.app.services()).tensorboards.remove(ident)
        self.set_status(204)


class TensorBoardRestartHandler(ApiHandler):
    """``tensorboards/{id}/restart``."""

    @guarded
    async def post(self, ident: str) -> None:
        """Restart the process of a TensorBoard."""
        self.reply(await (await self.app.services()).tensorboards.restart(ident))


class TensorBoardPageHandler(Answers, JupyterHandler):
    """``tensorboards/{id}/ui/{path}``: TensorBoard's own page, for users who may read."""

    _track_activity = False

    def set_default_headers(self) -> None:
        """Set the server's headers without X-Frame-Options, which may forbid to show the page in the lab."""
        super().set_default_headers()
        self.clear_header("X-Frame-Options")

    @property
    def content_security_policy(self) -> str:
        """The server's policy, changed so that the lab may frame the page; JupyterHub's servers forbid all frames."""
        refused = "X-Frame-Options" in httputil.HTTPHeaders(self.settings.get("headers", {}))
        return framed_by_the_lab(super().content_security_policy, refused)

    def check_xsrf_cookie(self) -> None:
        """Accept POST requests of TensorBoard's page, which sends no XSRF token, and of no other site.

        Raises
        ------
        HTTPError
            403 for a POST request of another site, or without an origin.
        """
        if not hasattr(self, "_jupyter_current_user"):
            return  # tornado calls this before the user is known; `prepare` calls it again.
        if self.request.method != "POST" or self.token_authenticated:
            return
        site = self.request.headers.get("Sec-Fetch-Site", "same-origin")
        origin = self.request.headers.get("Origin")
        if origin is None or not self.check_origin(origin) or site != "same-origin":
            raise web.HTTPError(403, "A request from another site is not passed on.")

    @guarded
    async def get(self, ident: str, path: str) -> None:
        """Pass a request on to TensorBoard.

        Parameters
        ----------
        ident
            Id of the TensorBoard.
        path
            Decoded path below the TensorBoard's address. It is not used: TensorBoard gets the path as it was encoded.
        """
        await self._pass_on(ident)

    @guarded_reading
    async def post(self, ident: str, path: str) -> None:
        """Pass a request on to TensorBoard, whose page sends POST requests for long lists of curves only.

        The parameters are those of `get`.
        """
        await self._pass_on(ident)

    async def _pass_on(self, ident: str) -> None:
        if len(self.request.body) > MAX_BODY:
            size = len(self.request.body)
            raise TooLarge(_("The request has {size} bytes; at most {limit} are accepted.", size=size, limit=MAX_BODY))
        manager = (await self.app.services()).tensorboards
        endpoint = await manager.endpoint(ident)
        base = url_path_join(self.base_url, f"t9kjob/tensorboards/{ident}/ui/")
        # The path stays percent-encoded, as it was sent.
        path = self.request.path.partition(f"/{ident}/ui/")[2]

        def begin(code: int, headers: httputil.HTTPHeaders) -> None:
            self._begin(code, headers, endpoint.prefix, base)

        try:
            await pass_on(endpoint, self.request, path, self.request.body, begin, self._send)
        except UnreachableError as error:
            if not self._headers_written:
                raise BadGateway(error.message, hint=_("Restart it.")) from error
            # The headers have been sent: the browser notices the error when the connection closes early.
            if self.request.connection is not None:
                self.request.connection.stream.close()  # type: ignore[attr-defined]

    def _begin(self, code: int, headers: httputil.HTTPHeaders, prefix: str, base: str) -> None:
        self.set_status(code)
        for name, value in browser_headers(headers, prefix, base).get_all():
            # The server's own policies stay as well; browsers apply all of them.
            add = self.add_header if name == "Content-Security-Policy" else self.set_header
            add(name, value)

    async def _send(self, chunk: bytes) -> None:
        self.write(chunk)
        try:
            await self.flush()
        except StreamClosedError:  # The browser has closed the connection.
            raise GoneError from None

    def finish_error(self, body: dict[str, Any]) -> None:
        """Send an error, as a page if the browser shows the answer."""
        if "text/html" not in self.request.headers.get("Accept", ""):
            return super().finish_error(body)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        words = {name: escape(body[name] or "") for name in ("message", "hint", "verbatim")}
        title = escape(translated(_("TensorBoard can't be shown")))
        self.finish(ERROR_PAGE.format(title=title, **words))
        return None

    def _log(self) -> None:
        """Log internal errors only: a page whose TensorBoard was removed repeats its requests."""
        if self.get_status() == 500:
            super()._log()

    def compute_etag(self) -> str | None:
        """Return None, since TensorBoard's answers are passed on unchanged."""
        return None


class TensorBoardRootHandler(Answers, JupyterHandler):
    """``tensorboards/{id}/ui``: redirects to the address with a slash, to which the page's links are relative."""

    _track_activity = False

    @guarded
    async def get(self, ident: str) -> None:
        """Redirect to the page."""
        query = f"?{self.request.query}" if self.request.query else ""
        self.redirect(f"{self.request.path}/{query}")  # Still encoded: a decoded path may be invalid in a header.
