"""TensorBoards: list, open, stop, restart, and the page itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import httputil, web
from tornado.iostream import StreamClosedError

from ..core.errors import FieldError, JobError, TooLarge
from ..tensorboard.proxy import GoneError, UnreachableError, below, pass_on
from .base import AUTH_RESOURCE, MAX_BODY, Answers, ApiHandler, Verb, guarded

if TYPE_CHECKING:
    from ..core.engine_info import EngineFacts
    from ..core.job import Job

# Where the lab's page can't say it in its own words: an address opened by itself.
ERROR_PAGE = """<!doctype html><meta charset="utf-8"><title>TensorBoard</title>
<style>body {{ font: 14px sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em }}</style>
<h1>TensorBoard can’t be shown</h1><p>{message} {hint}</p><pre>{verbatim}</pre>"""


def guarded_reading(method: Verb) -> Verb:
    """Let in whoever may read, though the verb is POST."""
    return cast("Verb", web.authenticated(authorized(action="read", resource=AUTH_RESOURCE)(method)))


def framed_by_the_lab(policy: str, refused: bool = False) -> str:
    """Return a Content-Security-Policy with which pages of the same origin may frame the page.

    Parameters
    ----------
    policy
        The server's; other directives, and others who may frame its pages, stay.
    refused
        Whether a policy that does not name who may frame the page has to name them.
    """
    policies = []
    for part in policy.split(","):  # a header may hold several; all of them hold
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
    """The process behind an address does not answer."""

    status = 502
    code = "NoAnswer"


class TensorBoardsHandler(ApiHandler):
    """``tensorboards``."""

    @guarded
    async def get(self) -> None:
        """List them, and say whether one can be opened at all."""
        from .messages import TensorBoardList

        manager = (await self.app.services()).tensorboards
        available = await manager.installed()
        self.reply(
            TensorBoardList(
                tensorboards=await manager.list(),
                available=available,
                reason=None if available else "TensorBoard is not installed in the Python that runs this server.",
                install=manager.install_command(),
            )
        )

    @guarded
    async def post(self) -> None:
        """Open one on a job's log directories, or on folders."""
        from pathlib import Path

        from ..tensorboard.model import OpenTensorBoard

        request = self.read(OpenTensorBoard)
        services = await self.app.services()
        if request.job_id is not None:
            job = await services.jobs.job(request.job_id)
            own = set(job.log_dirs)
            log_dirs = [Path(path) for path in job.log_dirs]
            if not log_dirs:
                raise _nothing_to_open(job, services.jobs.facts(job.engine))
        else:
            own = {path for job in await services.jobs.jobs() for path in job.log_dirs}
            log_dirs = await services.tensorboards.folders(request.paths, own)
        board, new = await services.tensorboards.open(log_dirs, request.job_id, own)
        self.reply(board, 201 if new else 200)


def _nothing_to_open(job: Job, facts: EngineFacts) -> FieldError:
    """Return why a job's log directories can't be opened here, and where they can."""
    from ..core.lab import on_volume

    wanted = job.spec.tensorboard.log_dirs
    if not wanted or facts.shares_lab_filesystem:
        return FieldError(f"{job.name} has no log directory.", code="NoLogDirectory", field="/job_id")
    found = on_volume(wanted[0], job.spec.mounts)
    where = f"on the PVC {found[0]}, which JupyterLab has not mounted" if found else "on none of the job's volumes"
    hint = "Open it in a JupyterLab that has this PVC mounted." if found else "Give the next job one on a volume."
    if job.tensorboard_url:
        hint = f"Open the cluster's own TensorBoard: {job.tensorboard_url}"
    message = f"JupyterLab does not see {wanted[0]}: it is {where}."
    return FieldError(message, code="LogDirectoryElsewhere", field="/job_id", hint=hint)


class TensorBoardHandler(ApiHandler):
    """``tensorboards/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return one."""
        self.reply((await self.app.services()).tensorboards.get(ident))

    @guarded
    async def delete(self, ident: str) -> None:
        """Stop one."""
        await (await self.app.services()).tensorboards.remove(ident)
        self.set_status(204)


class TensorBoardRestartHandler(ApiHandler):
    """``tensorboards/{id}/restart``."""

    @guarded
    async def post(self, ident: str) -> None:
        """Start its process anew, in place."""
        self.reply(await (await self.app.services()).tensorboards.restart(ident))


class TensorBoardPageHandler(Answers, JupyterHandler):
    """``tensorboards/{id}/ui/{path}``: TensorBoard's own page, for whoever may read."""

    _track_activity = False

    def set_default_headers(self) -> None:
        """Set the server's headers, without the one that would forbid a frame in the lab's own page."""
        super().set_default_headers()
        self.clear_header("X-Frame-Options")

    @property
    def content_security_policy(self) -> str:
        """The server's policy, and the lab may frame the page: JupyterHub's servers forbid all frames."""
        refused = "X-Frame-Options" in httputil.HTTPHeaders(self.settings.get("headers", {}))
        return framed_by_the_lab(super().content_security_policy, refused)

    def check_xsrf_cookie(self) -> None:
        """Accept requests of TensorBoard's page, which knows no token, and of no other page.

        Raises
        ------
        HTTPError
            403 at a POST that comes from another site, or does not say where from.
        """
        if not hasattr(self, "_jupyter_current_user"):
            return  # tornado asks before anybody is known; `prepare` asks again
        if self.request.method != "POST" or self.token_authenticated:
            return
        site = self.request.headers.get("Sec-Fetch-Site", "same-origin")
        origin = self.request.headers.get("Origin")
        if origin is None or not self.check_origin(origin) or site != "same-origin":
            raise web.HTTPError(403, "A request from another site is not passed on.")

    @guarded
    async def get(self, ident: str, path: str) -> None:
        """Pass a request on."""
        await self._pass_on(ident)

    @guarded_reading
    async def post(self, ident: str, path: str) -> None:
        """Pass a request on: TensorBoard asks for long lists of curves this way, and changes nothing."""
        await self._pass_on(ident)

    async def _pass_on(self, ident: str) -> None:
        if len(self.request.body) > MAX_BODY:
            raise TooLarge(f"The request has {len(self.request.body)} bytes; at most {MAX_BODY} are taken.")
        manager = (await self.app.services()).tensorboards
        endpoint = await manager.endpoint(ident)
        base = url_path_join(self.base_url, f"t9kjob/tensorboards/{ident}/ui/")
        # as it was sent, for decoding it would change it
        path = self.request.path.partition(f"/{ident}/ui/")[2]

        def begin(code: int, headers: httputil.HTTPHeaders) -> None:
            self._begin(code, headers, endpoint.prefix, base)

        try:
            await pass_on(endpoint, self.request, path, self.request.body, begin, self._send)
        except UnreachableError as error:
            if not self._headers_written:
                raise BadGateway(str(error), hint="Restart it.") from error
            # too late for another answer: a connection that closes early says so
            if self.request.connection is not None:
                self.request.connection.stream.close()  # type: ignore[attr-defined]

    def _begin(self, code: int, headers: httputil.HTTPHeaders, prefix: str, base: str) -> None:
        self.set_status(code)
        # ours stay as well: what both allow is allowed
        policies = headers.get_list("Content-Security-Policy")
        if headers.get("Content-Type", "").startswith("image/"):
            policies.append("sandbox")  # an SVG that was logged is a picture, not a page of this origin
        for name, value in headers.items():
            if name != "Content-Security-Policy":
                self.set_header(name, below(value, prefix, base) if name == "Location" else value)
        for policy in policies:
            self.add_header("Content-Security-Policy", policy)

    async def _send(self, chunk: bytes) -> None:
        self.write(chunk)
        try:
            await self.flush()
        except StreamClosedError:  # the browser went away: nothing more is needed
            raise GoneError from None

    def say(self, body: dict[str, Any]) -> None:
        """Answer with an error, as a page if that is what the browser is to show."""
        if "text/html" not in self.request.headers.get("Accept", ""):
            return super().say(body)
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        words = {name: escape(body[name] or "") for name in ("message", "hint", "verbatim")}
        self.finish(ERROR_PAGE.format(**words))
        return None

    def _log(self) -> None:
        """Log what is our fault. A page asks again and again, also one whose TensorBoard has gone."""
        if self.get_status() == 500:
            super()._log()

    def compute_etag(self) -> str | None:
        """Compute none: answers pass through."""
        return None


class TensorBoardRootHandler(Answers, JupyterHandler):
    """``tensorboards/{id}/ui``: the page's addresses are relative to the slash at its end."""

    _track_activity = False

    @guarded
    async def get(self, ident: str) -> None:
        """Lead to the page."""
        query = f"?{self.request.query}" if self.request.query else ""
        self.redirect(f"{self.request.path}/{query}")  # as it was sent: decoded, it might not be fit for a header
