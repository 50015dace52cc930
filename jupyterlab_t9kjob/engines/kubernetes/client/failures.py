"""Explanations of connection failures: exceptions of the HTTP client as `Unreachable` with a sentence and a code."""

from __future__ import annotations

import os
import socket
import ssl

import httpx

from ....core.engine.info import StaleCode
from ....core.translation import Text, _
from .errors import BrokenOff, Unreachable, timed_out

_DEEPEST = 20
_CLOSED = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""The other side closed the connection during the handshake; Debian 12's Python 3.11.2 raises the second."""


def unreachable(error: Exception, host: str) -> Unreachable:
    """Return the typed error for an exception of the HTTP client.

    Parameters
    ----------
    error
        The exception.
    host
        Host and port of the API server.
    """
    broke = isinstance(error, (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError))
    return (BrokenOff if broke else Unreachable)(_sentence(error, host), _code(error))


def not_kubernetes(host: str) -> Unreachable:
    """Return the error for an answer that no Kubernetes API gives."""
    return Unreachable(_("The server at {host} is not a Kubernetes API.", host=host))


def redirects(host: str) -> Unreachable:
    """Return the error for a redirect, which an API server never sends."""
    return Unreachable(_("The server at {host} is not a Kubernetes API: it redirects to another address.", host=host))


def not_understood(error: Exception) -> Unreachable:
    """Return the error for an answer that the lab could not read."""
    return Unreachable(_("The cluster's answer was not understood: {error}.", error=type(error).__name__))


def is_of_tls(error: Exception) -> bool:
    """Return True if one side did not accept the other's certificate."""
    return isinstance(_first_cause(error), ssl.SSLError)


def _sentence(error: Exception, host: str) -> Text:
    if isinstance(error, (httpx.TimeoutException, TimeoutError)):
        return timed_out(host)
    if isinstance(error, httpx.ProxyError):
        return _("The proxy does not lead to the cluster at {host}: {error}.", host=host, error=str(error))
    if isinstance(error, httpx.LocalProtocolError):
        # The error's own text may quote a header and so a secret.
        return _("The cluster at {host} can't be asked: {error}.", host=host, error=type(error).__name__)
    cause = _first_cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _(
            "The certificate of the cluster at {host} is not trusted: {error}.", host=host, error=cause.verify_message
        )
    if isinstance(cause, _CLOSED):
        return _("The cluster at {host} can't be reached: The connection was closed.", host=host)
    if isinstance(cause, ssl.SSLError):  # Its errno is not one of the system's.
        if not cause.reason:
            return _("No secure connection to the cluster at {host} can be made.", host=host)
        words = cause.reason.replace("_", " ").lower()
        return _("No secure connection to the cluster at {host} can be made: {error}.", host=host, error=words)
    if isinstance(cause, socket.gaierror):
        words = cause.strerror or type(cause).__name__
        return _("The address of the cluster at {host} can't be found: {error}.", host=host, error=words)
    words = str(error) or type(error).__name__
    if isinstance(cause, OSError) and cause.errno:
        words = os.strerror(cause.errno)  # asyncio replaces the system's words by its own.
    return _("The cluster at {host} can't be reached: {error}.", host=host, error=words)


def _code(error: Exception) -> StaleCode:
    if isinstance(error, httpx.ProxyError):
        return "ProxyFailed"
    cause = _first_cause(error)
    if isinstance(cause, ssl.SSLError) and not isinstance(cause, _CLOSED):
        return "Untrusted"
    return "NameUnknown" if isinstance(cause, socket.gaierror) else "Unreachable"


def _first_cause(error: BaseException) -> BaseException:
    """Return the exception at the beginning of a chain."""
    for _depth in range(_DEEPEST):
        several = getattr(error, "exceptions", None)
        cause = several[0] if several else error.__cause__ or error.__context__
        if cause is None:
            break
        error = cause
    return error
