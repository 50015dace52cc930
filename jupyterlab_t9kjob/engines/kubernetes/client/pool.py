"""Connection pools of a cluster, and the renewal of its credentials."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic, time
from typing import Protocol
from urllib.parse import urlsplit

import httpx

from ....core.translation import Text, _
from .credentials.connection import Connection
from .errors import NoCluster, Unreachable
from .transport import KEPT_CONNECTIONS, DirectTransport

log = logging.getLogger(__name__)

CONNECT_SECONDS = 10.0
RENEWAL_SECONDS = 30.0
"""Least time after a failed renewal by a program, which may open a browser, until the next renewal."""
REREAD_SECONDS = 2.0
"""Least time after a failed renewal from files until the next renewal."""


class ByteStream(Protocol):
    """The methods of an upgraded connection, which is httpcore's network stream."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes; no bytes at the end of the stream.

        Parameters
        ----------
        max_bytes
            Greatest number of bytes to return.
        timeout
            Longest time to wait for bytes, in seconds; None for no limit.

        Raises
        ------
        httpcore.TimeoutException
            If no byte arrives in this time.
        httpcore.NetworkError
            If the connection breaks.
        """

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write bytes.

        Parameters
        ----------
        buffer
            The bytes.
        timeout
            Longest time to wait until the connection takes bytes, in seconds; None for no limit.

        Raises
        ------
        httpcore.TimeoutException
            If the connection takes no bytes in this time.
        httpcore.NetworkError
            If the connection breaks.
        """


class Pools:
    """Connections to one cluster, whose credentials may change.

    Parameters
    ----------
    connection
        The cluster and the account with the first credentials.

    Attributes
    ----------
    connection
        The cluster and the account with the current credentials.
    moved
        True if the renewed credentials are those of another cluster at the same address; they are not used.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.moved = False
        self._pool = _Pool(connection)
        self._retired: list[_Pool] = []
        self._renewal: asyncio.Task[None] | None = None
        self._no_renewal_before = 0.0
        self._problem: Text | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        await self._pool.client.aclose()
        await self.abandon()

    async def leave(self) -> None:
        """Open new connections from now on; requests on the old connections continue until `abandon`."""
        old, self._pool = self._pool, _Pool(self.connection)
        self._retired = [pool for pool in (*self._retired, old) if not pool.client.is_closed]
        await old.retire()

    async def abandon(self) -> None:
        """Break off the requests on old connections, which may be dead without an error."""
        retired, self._retired = self._retired, []
        for pool in retired:
            await pool.client.aclose()

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        *,
        params: list[tuple[str, str]],
        content: bytes | None,
        headers: dict[str, str],
        silence: float | None,
    ) -> AsyncIterator[httpx.Response]:
        """Send a request; yield the answer with unread content.

        Parameters
        ----------
        method, path, params, content, headers
            The request; the headers of the credentials are added.
        silence
            Seconds without a byte after which the connection counts as dead; None for no limit.
        """
        pool = self._pool
        if pool.client.is_closed:
            raise Unreachable(_("This connection to the cluster was closed."))
        request = pool.client.build_request(
            method,
            path,
            params=httpx.QueryParams(tuple(params)),
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
        """Use other credentials from now on."""
        old, self.connection, self._problem, self.moved = self.connection, new, None, False
        if (new.tls, new.proxy) != (old.tls, old.proxy):
            # The API server reads a client certificate once for each connection.
            retired, self._pool = self._pool, _Pool(new)
            await retired.retire()

    async def fresh(self) -> Connection:
        """Return the connection, with renewed credentials if they have expired.

        Raises
        ------
        Unreachable
            If expired credentials can't be renewed.
        """
        expires = self.connection.expires_at
        if expires is not None and time() >= expires:
            await self._renew(self.connection)
        return self.connection

    async def renewed(self, refused: Connection) -> bool:
        """Renew credentials that the API server refused; return True if there are different ones now.

        Raises
        ------
        Unreachable
            If the credentials can't be renewed.
        """
        if self.connection is refused:
            if monotonic() < self._no_renewal_before and self._problem is None:
                return False
            await self._renew(refused)
        if (self.connection.headers, self.connection.tls) == (refused.headers, refused.tls):
            self._delay_renewal(refused)
            return False
        return True

    def _delay_renewal(self, connection: Connection) -> None:
        self._no_renewal_before = monotonic() + (RENEWAL_SECONDS if connection.by_program else REREAD_SECONDS)

    async def _renew(self, old: Connection) -> None:
        if self.connection is not old:
            return
        if self._renewal is None:
            if self._problem is not None and monotonic() < self._no_renewal_before:
                raise Unreachable(self._problem, "NoCredentials")
            self._renewal = asyncio.create_task(self._load(old), name="renew a cluster's credentials")
        # Shielded: other requests may wait for the same renewal when this one is cancelled.
        await asyncio.shield(self._renewal)
        if self._problem is not None:
            raise Unreachable(self._problem, "NoCredentials")

    async def _load(self, old: Connection) -> None:
        try:
            new = await asyncio.to_thread(old.renew)
            if new.server != old.server:
                raise NoCluster(
                    _("The credentials are for another cluster now, {host}. Refresh to use it.", host=new.host)
                )
            if new.cluster != old.cluster:
                self.moved = True
                raise NoCluster(
                    _("At {host} there is another cluster now. The lab connects to it by itself.", host=new.host)
                )
        except NoCluster as error:
            log.warning("The cluster's credentials can't be renewed: %s", error)
            self._problem = error.message
            self._delay_renewal(old)
        else:
            await self.use(new)
        finally:
            self._renewal = None


class _Pool:
    """Interchangeable connections: to the same API server, with the same client certificate."""

    def __init__(self, connection: Connection) -> None:
        self.client = httpx.AsyncClient(
            base_url=connection.server,
            headers={"User-Agent": "jupyterlab_t9kjob"},
            trust_env=False,  # `proxy.environment_proxy` reads the environment as kubectl does.
            transport=_transport(connection),
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
        """Close the pool as soon as no request uses it."""
        self._retired = True
        await self._end()

    async def _end(self) -> None:
        if self._retired and self._users == 0:
            await self.client.aclose()


async def _sent(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """Send a request in a task of its own.

    On Python 3.10, anyio loses a cancellation that arrives at the moment when a connection is established;
    `asyncio.wait` does not.
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


def _transport(connection: Connection) -> httpx.AsyncBaseTransport:
    if connection.proxy is None:
        return DirectTransport(connection.tls.context, _KEEP_ALIVE)
    return httpx.AsyncHTTPTransport(
        verify=connection.tls.context,
        proxy=_proxy(connection.proxy),
        # No limit: each watch and each followed log uses a connection of its own.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=KEPT_CONNECTIONS),
        socket_options=_KEEP_ALIVE,
    )


def _proxy(address: str) -> httpx.Proxy:
    if urlsplit(address).scheme == "https":
        return httpx.Proxy(address, ssl_context=ssl.create_default_context())
    return httpx.Proxy(address)


def _keep_alive() -> list[tuple[int, int, int]]:
    """Return socket options that detect a dead connection within half a minute."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


_KEEP_ALIVE = _keep_alive()
