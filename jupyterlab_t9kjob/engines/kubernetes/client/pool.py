"""Connections to a cluster, and credentials that are loaded anew when they run out."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic, time
from urllib.parse import urlsplit

import httpx

from ....core.engine_info import StaleCode
from .credentials import Connection
from .errors import NoCluster, Unreachable

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
RENEWAL_SECONDS = 30.0
"""Between a renewal that did not help and the next one where a program is run for it, which may open a browser."""
REREAD_SECONDS = 2.0
"""The same where files are read for it."""


class Pools:
    """The connections to one cluster, whose credentials may change.

    Parameters
    ----------
    connection
        The cluster, and as whom to speak to it at first.

    Attributes
    ----------
    connection
        With the credentials that are used now.
    moved
        Whether the credentials have become those of another cluster at the same address; they are not used.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.moved = False
        self._pool = _Pool(connection)
        self._left: list[_Pool] = []
        self._renewal: asyncio.Task[None] | None = None
        self._no_renewal_before = 0.0
        self._problem: str | None = None

    async def close(self) -> None:
        """Let go of all connections."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        await self._pool.client.aclose()
        await self.abandon()

    async def leave(self) -> None:
        """Make new connections from now on; what goes on on the old ones is left alone until `abandon`."""
        left, self._pool = self._pool, _Pool(self.connection)
        self._left = [pool for pool in (*self._left, left) if not pool.client.is_closed]
        await left.retire()

    async def abandon(self) -> None:
        """Break off what still goes on on connections that were left: they may be dead without anybody knowing."""
        left, self._left = self._left, []
        for pool in left:
            await pool.client.aclose()

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, str],
        content: bytes | None,
        headers: dict[str, str],
        silence: float | None,
    ) -> AsyncIterator[httpx.Response]:
        """Send a request; gives the answer, of which nothing has been read yet."""
        pool = self._pool
        if pool.client.is_closed:
            raise Unreachable("This connection to the cluster was given up.")
        request = pool.client.build_request(
            method,
            path,
            params=params,
            content=content,
            headers=[*headers.items(), *self.connection.headers],
            timeout=httpx.Timeout(CONNECT_SECONDS, read=silence, pool=None),
        )
        async with pool.used():
            response = await _sent(pool.client, request)
            try:
                yield response
            finally:
                await response.aclose()

    # -- credentials --------------------------------------------------------------------------------------------------

    async def use(self, new: Connection) -> None:
        """Go on with other credentials."""
        old, self.connection, self._problem, self.moved = self.connection, new, None, False
        if (new.tls, new.proxy) != (old.tls, old.proxy):
            # a server knows a client by its certificate as long as the connection lasts
            retired, self._pool = self._pool, _Pool(new)
            await retired.retire()

    async def fresh(self) -> Connection:
        """Return the connection, with credentials that have not run out; raises `Unreachable`."""
        expires = self.connection.expires_at
        if expires is not None and time() >= expires:
            await self._renew(self.connection)
        return self.connection

    async def renewed(self, refused: Connection) -> bool:
        """Load credentials anew because the server refused these; return whether there are others now."""
        if self.connection is refused:
            if monotonic() < self._no_renewal_before and self._problem is None:
                return False
            await self._renew(refused)
        if (self.connection.headers, self.connection.tls) == (refused.headers, refused.tls):
            self._rest(refused)
            return False
        return True

    def _rest(self, connection: Connection) -> None:
        """Load nothing anew for some time."""
        self._no_renewal_before = monotonic() + (RENEWAL_SECONDS if connection.by_program else REREAD_SECONDS)

    async def _renew(self, old: Connection) -> None:
        if self.connection is not old:
            return
        if self._renewal is None:
            if self._problem is not None and monotonic() < self._no_renewal_before:
                raise Unreachable(self._problem, "NoCredentials")
            self._renewal = asyncio.create_task(self._load(old), name="renew a cluster's credentials")
        # however many requests wait for it, and whichever of them is given up
        await asyncio.shield(self._renewal)
        if self._problem is not None:
            raise Unreachable(self._problem, "NoCredentials")

    async def _load(self, old: Connection) -> None:
        try:
            new = await asyncio.to_thread(old.renew)
            if new.server != old.server:
                raise NoCluster(f"The credentials are for another cluster now, {new.host}: refresh to go there.")
            if new.cluster != old.cluster:
                self.moved = True
                raise NoCluster(f"The cluster at {new.host} is another one now, to which this lab turns.")
        except NoCluster as error:
            log.warning("The cluster's credentials can't be renewed: %s", error)
            self._problem = str(error)
            self._rest(old)
        else:
            await self.use(new)
        finally:
            self._renewal = None


class _Pool:
    """Connections that are interchangeable: to the same server, with the same certificate."""

    def __init__(self, connection: Connection) -> None:
        self.client = httpx.AsyncClient(
            base_url=connection.server,
            headers={"User-Agent": "jupyterlab_t9kjob"},
            # how an environment's proxies are meant is known to the one who made the connection
            trust_env=False,
            transport=httpx.AsyncHTTPTransport(
                verify=connection.tls.context,
                proxy=None if connection.proxy is None else _proxy(connection.proxy),
                # each watch and each followed log holds one, so there must be no limit
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=10),
                socket_options=_KEEP_ALIVE,
            ),
        )
        self._users = 0
        self._retired = False

    @asynccontextmanager
    async def used(self) -> AsyncIterator[None]:
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            await self._end()

    async def retire(self) -> None:
        """Close it as soon as nobody uses it any more."""
        self._retired = True
        await self._end()

    async def _end(self) -> None:
        if self._retired and self._users == 0:
            await self.client.aclose()


async def _sent(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """Send a request in a task of its own.

    On Python 3.10 anyio loses a cancellation that comes just when a connection stands; `asyncio.wait` never does.
    """
    sending = asyncio.create_task(client.send(request, stream=True))
    try:
        await asyncio.wait({sending})
    except asyncio.CancelledError:
        sending.cancel()
        for answer in await asyncio.gather(sending, return_exceptions=True):
            if isinstance(answer, httpx.Response):
                await answer.aclose()
        raise
    return sending.result()


def words_of(error: Exception, connection: Connection) -> str:
    """Return why no answer came, a sentence."""
    host = connection.host
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        return f"The cluster at {host} does not answer in time."
    if isinstance(error, httpx.ProxyError):
        return f"The proxy does not lead to the cluster at {host}: {error}."
    if isinstance(error, httpx.LocalProtocolError):
        return f"The cluster at {host} can't be asked: {type(error).__name__}."  # its text may quote a header
    cause = _deepest(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"The certificate of the cluster at {host} is not trusted: {cause.verify_message}."
    if isinstance(cause, ssl.SSLEOFError):
        return f"The cluster at {host} can't be reached: The connection was closed."
    if isinstance(cause, ssl.SSLError):  # its number is none of the system's errors
        words = (cause.reason or "it failed").replace("_", " ").lower()
        return f"No secure connection to the cluster at {host} can be made: {words}."
    if isinstance(cause, socket.gaierror):
        return f"The address of the cluster at {host} can't be found: {cause.strerror}."
    if isinstance(cause, OSError) and cause.errno:
        return f"The cluster at {host} can't be reached: {os.strerror(cause.errno)}."  # asyncio has other words
    return f"The cluster at {host} can't be reached: {str(error) or type(error).__name__}."


def code_of(error: Exception) -> StaleCode:
    """Return why no answer came, for programs."""
    if isinstance(error, httpx.ProxyError):
        return "ProxyFailed"
    cause = _deepest(error)
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
        return "Untrusted"
    return "NameUnknown" if isinstance(cause, socket.gaierror) else "Unreachable"


def is_of_tls(error: Exception) -> bool:
    """Whether one side did not like the other's certificate."""
    return isinstance(_deepest(error), ssl.SSLError)


def _deepest(error: BaseException) -> BaseException:
    """Return what was first in a chain of errors."""
    for _ in range(20):
        several = getattr(error, "exceptions", None)
        cause = several[0] if several else error.__cause__ or error.__context__
        if cause is None:
            break
        error = cause
    return error


def _proxy(address: str) -> httpx.Proxy:
    if urlsplit(address).scheme == "https":
        return httpx.Proxy(address, ssl_context=ssl.create_default_context())
    return httpx.Proxy(address)


def _keep_alive() -> list[tuple[int, int, int]]:
    """Return socket options that find a connection that nobody holds any more, within half a minute."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


_KEEP_ALIVE = _keep_alive()
