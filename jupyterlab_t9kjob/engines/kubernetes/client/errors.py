"""What can go wrong between here and a cluster."""

from __future__ import annotations

from typing import Any

from ....core.engine import StaleCode

_LONGEST_MESSAGE = 4096
_LONGEST_PAUSE = 3600


class NoCluster(Exception):
    """There is no way to a cluster from here; the text says why, as a sentence, and has no secret in it."""


class Unreachable(Exception):
    """No answer came from the API server.

    Parameters
    ----------
    message
        Why, a sentence.
    code
        Why, for programs.
    """

    def __init__(self, message: str, code: StaleCode = "Unreachable") -> None:
        super().__init__(message)
        self.code = code


class BrokenOff(Unreachable):
    """A connection that stood broke off before the whole answer was here."""


class Silent(Unreachable):
    """An open watch does not bring its events any more, although the API server answers new requests.

    Parameters
    ----------
    host
        The API server's.
    """

    def __init__(self, host: str) -> None:
        message = f"Changes in the cluster at {host} do not reach this lab: an open connection has fallen silent."
        super().__init__(message, "Silent")


class ApiError(Exception):
    """An answer of the API server that is no success.

    Parameters
    ----------
    status
        The HTTP status.
    body
        The `Status` object that came with it, or what was made of a text.

    Attributes
    ----------
    reason
        For programs: ``NotFound``, ``Forbidden``, ``AlreadyExists``, ``Expired`` …
    message
        The server's own words.
    causes
        Its list of (field, message), where a field is wrong.
    retry_after
        Seconds after which to ask again, an hour at most; None if it did not say.
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
