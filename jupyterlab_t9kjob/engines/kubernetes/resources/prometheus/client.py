"""Asks a Prometheus over HTTP. Time and size of an answer are limited, and redirects are not followed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import anyio
import httpx

from .....core.translation import _
from ...client.api import KubeApi
from ...client.errors import ApiError, Unreachable
from .errors import PrometheusError

ANSWER_SECONDS: Final = 10.0
"""Time within which a whole answer must be there."""
MOST_ANSWER: Final = 16 * 1024 * 1024
MOST_TOKEN: Final = 64 * 1024
_MOST_REFUSAL: Final = 64 * 1024


class Prometheus(Protocol):
    """A Prometheus that can be asked."""

    @property
    def host(self) -> str:
        """Name of the server, for sentences."""

    async def ask(self, path: str, params: Mapping[str, str]) -> bytes:
        """Return the answer to a query.

        Parameters
        ----------
        path
            Path of the API: ``/api/v1/query``.
        params
            Parameters of the query.

        Raises
        ------
        PrometheusError
            If there is no answer, or the server refuses.
        """


@dataclass(frozen=True)
class DirectPrometheus:
    """A Prometheus at an address.

    Attributes
    ----------
    address
        Checked address, see `checked_address`.
    token_file
        File with the bearer token, which is read for each query because tokens rotate; empty for no token.
    ca_file
        File with the certificates of trusted authorities; empty for those that the system trusts.
    """

    address: str
    token_file: str = ""
    ca_file: str = ""
    _context: list[ssl.SSLContext] = field(default_factory=list, repr=False, compare=False)

    @property
    def host(self) -> str:
        """Host and port of the address."""
        return urlsplit(self.address).netloc

    async def ask(self, path: str, params: Mapping[str, str]) -> bytes:
        """Return the answer to a query; see `Prometheus.ask`."""
        token = await asyncio.to_thread(_token, self.token_file) if self.token_file else ""
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                status, content = await self._post(path, params, token)
        except (TimeoutError, httpx.TimeoutException):
            raise _slow(self.host) from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError) as error:
            raise self._unreachable(error) from None  # The chain may quote a header, and so the token.
        if 300 <= status < 400:
            raise PrometheusError(
                "PrometheusRedirects",
                _("{host} redirects to another address, which is not followed.", host=self.host),
                _("An administrator can set the trait prometheus to the address of Prometheus itself."),
            )
        if token:  # A server may repeat the token in its words.
            content = content.replace(token.encode(), "…".encode())
        if status not in (200, 400, 422, 503):  # Prometheus explains these in JSON.
            raise _refused(self.host, status, content.decode(errors="replace"), with_token=bool(token))
        return content

    async def _post(self, path: str, params: Mapping[str, str], token: str) -> tuple[int, bytes]:
        # Without compression, a small answer can't become a large one.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "jupyterlab_t9kjob"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        async with (
            httpx.AsyncClient(
                verify=await self._verify(), trust_env=False, follow_redirects=False, timeout=ANSWER_SECONDS
            ) as client,
            client.stream("POST", self.address + path, data=dict(params), headers=headers) as answer,
        ):
            limit = MOST_ANSWER if answer.status_code == httpx.codes.OK else _MOST_REFUSAL
            return answer.status_code, await _limited(answer.aiter_raw(), limit, self.host)

    async def _verify(self) -> ssl.SSLContext | bool:
        """Return the TLS settings, which are made once: that takes 20 ms."""
        if urlsplit(self.address).scheme == "http":
            return False
        if not self._context:
            try:
                self._context.append(await asyncio.to_thread(_context, self.ca_file))
            except (OSError, ValueError) as error:
                raise PrometheusError(
                    "PrometheusMisconfigured",
                    _("The file of the trait prometheus_ca_file can't be used."),
                    verbatim=str(error),
                ) from None
        return self._context[0]

    def _unreachable(self, error: Exception) -> PrometheusError:
        words = str(error) if isinstance(error, (httpx.ConnectError, OSError)) else type(error).__name__
        if "CERTIFICATE" in words:
            return PrometheusError(
                "PrometheusUntrusted",
                _("The certificate of Prometheus at {host} is not trusted.", host=self.host),
                _("An administrator can set the trait prometheus_ca_file to a file with the authority."),
                words,
            )
        return PrometheusError(
            "PrometheusUnreachable",
            _("Prometheus at {host} can't be reached.", host=self.host),
            _("An administrator can check the trait prometheus, and the network policy."),
            words,
        )


@dataclass(frozen=True)
class ServicePrometheus:
    """A Prometheus behind a Service, reached through the API server's proxy (needs ``get`` on ``services/proxy``).

    Attributes
    ----------
    api
        Client of the API server.
    namespace, name, port
        The Service and its port.
    """

    api: KubeApi
    namespace: str
    name: str
    port: int

    @property
    def host(self) -> str:
        """Name of the Service."""
        return f"{self.name}.{self.namespace}:{self.port}"

    async def ask(self, path: str, params: Mapping[str, str]) -> bytes:
        """Return the answer to a query; see `Prometheus.ask`."""
        proxy = f"/api/v1/namespaces/{self.namespace}/services/http:{self.name}:{self.port}/proxy"
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                async with self.api.stream(proxy + path, params, silence=ANSWER_SECONDS, patience=0) as chunks:
                    return await _limited(chunks, MOST_ANSWER, self.host)
        except TimeoutError:
            raise _slow(self.host) from None
        except ApiError as error:
            raise _refused(self.host, error.status, error.message, with_token=False) from error
        except Unreachable as error:
            raise PrometheusError(
                "PrometheusUnreachable",
                _("Prometheus at {host} can't be reached.", host=self.host),
                verbatim=str(error),
            ) from error


def checked_address(written: str) -> str:
    """Return the address of a Prometheus without a slash at its end.

    Raises
    ------
    PrometheusError
        If it is no address of a web server. The error does not contain the address, which may have a password.
    """
    address = written.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        valid = False
    if not valid or not address.isprintable() or " " in address or parts.query or parts.fragment:
        raise PrometheusError(
            "PrometheusMisconfigured",
            _("The trait prometheus is not the address of a web server."),
            _("An administrator can set it to an address like http://prometheus-k8s.monitoring.svc:9090."),
        )
    if parts.username is not None or parts.password is not None:
        raise PrometheusError(
            "PrometheusMisconfigured",
            _("The trait prometheus contains a user name or a password."),
            _("An administrator can put a bearer token into a file, and set the trait prometheus_token_file."),
        )
    return address


async def _limited(chunks: AsyncIterator[bytes], limit: int, host: str) -> bytes:
    pieces, size = [], 0
    async for piece in chunks:
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            raise PrometheusError(
                "PrometheusTooLarge",
                _("Prometheus at {host} answers with more than {size} kB.", host=host, size=limit // 1000),
            )
    return b"".join(pieces)


def _context(ca_file: str) -> ssl.SSLContext:
    """Return the TLS settings for an authority (blocking)."""
    context = ssl.create_default_context(cafile=ca_file or None)
    # The default since Python 3.13, which the authorities of many clusters do not meet.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _token(path: str) -> str:
    """Return the token in a file (blocking)."""
    try:
        with Path(path).expanduser().open("rb") as file:
            token = file.read(MOST_TOKEN).decode().strip()
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else None  # A decoding error quotes the token.
        raise PrometheusError(
            "PrometheusMisconfigured", _("The file of the trait prometheus_token_file can't be read."), verbatim=words
        ) from None
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise PrometheusError(
            "PrometheusMisconfigured", _("The file of the trait prometheus_token_file contains no token.")
        )
    return token


def _slow(host: str) -> PrometheusError:
    return PrometheusError(
        "PrometheusSlow",
        _("Prometheus at {host} does not answer within {seconds} s.", host=host, seconds=round(ANSWER_SECONDS)),
    )


def _refused(host: str, status: int, words: str, *, with_token: bool) -> PrometheusError:
    if status == 401:
        return PrometheusError(
            "PrometheusForbidden",
            _("Prometheus at {host} does not accept the bearer token.", host=host)
            if with_token
            else _("Prometheus at {host} needs a bearer token.", host=host),
            _("An administrator can set the trait prometheus_token_file to a file with a token that it accepts."),
        )
    if status == 403:
        return PrometheusError(
            "PrometheusForbidden",
            _("This JupyterLab has no permission to read Prometheus at {host}.", host=host),
            verbatim=words,
        )
    return PrometheusError(
        "PrometheusRefuses",
        _("Prometheus at {host} answers with the status {status}.", host=host, status=status),
        verbatim=None if words.lstrip().startswith("<") else words,
    )
