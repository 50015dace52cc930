"""Errors of requests to a cluster: no credentials, no answer, a refusal."""

from __future__ import annotations

from typing import Any

from ....core.engine.info import StaleCode
from ....core.translation import Text, _

_LONGEST_MESSAGE = 4096
_LONGEST_PAUSE = 3600


class NoCluster(Exception):
    """There are no usable credentials for a cluster.

    Parameters
    ----------
    message
        Sentence that says why, without secrets.
    """

    def __init__(self, message: Text) -> None:
        super().__init__(message)
        self.message = message


class Unreachable(Exception):
    """The API server did not answer.

    Parameters
    ----------
    message
        Sentence that says why.
    code
        Cause for programs.
    """

    def __init__(self, message: Text, code: StaleCode = "Unreachable") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class BrokenOff(Unreachable):
    """An established connection broke before the whole answer arrived."""


class Silent(Unreachable):
    """An open watch brings no events any more, although the API server answers new requests.

    Parameters
    ----------
    host
        Host and port of the API server.
    """

    def __init__(self, host: str) -> None:
        super().__init__(
            _(
                "Changes in the cluster at {host} do not reach this lab: an open connection has fallen silent.",
                host=host,
            ),
            "Silent",
        )


def timed_out(host: str) -> Text:
    """Return the sentence that says that an API server is too slow."""
    return _("The cluster at {host} does not answer in time.", host=host)


class ApiError(Exception):
    """The API server answered with an error status.

    Parameters
    ----------
    status
        HTTP status.
    body
        `Status` object of the answer; for an answer in another form, an object with ``message``.
    retry_after
        Seconds of the answer's ``Retry-After`` header; None without the header.

    Attributes
    ----------
    reason
        Code for programs: ``NotFound``, ``Forbidden``, ``AlreadyExists``, ``Expired`` …
    message
        The API server's own words.
    causes
        Pairs of field and message for fields that are wrong.
    retry_after
        Seconds to wait before the next request, an hour at most; None if the API server named none.
    """

    def __init__(self, status: int, body: dict[str, Any], retry_after: int | None = None) -> None:
        self.status = status
        self.reason = str(body.get("reason") or "")
        self.message = str(body.get("message") or f"HTTP {status}")[:_LONGEST_MESSAGE]
        details = _dict(body.get("details"))
        causes = details.get("causes")
        self.causes = [
            (str(cause.get("field") or ""), str(cause.get("message") or ""))
            for cause in (causes if isinstance(causes, list) else [])
            if isinstance(cause, dict)
        ]
        after = details.get("retryAfterSeconds")
        if retry_after is None and isinstance(after, int) and after > 0:
            retry_after = after
        self.retry_after = None if retry_after is None else float(min(retry_after, _LONGEST_PAUSE))
        super().__init__(f"{status} {self.reason}: {self.message}")


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
