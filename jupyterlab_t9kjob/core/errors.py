"""Errors that users see: what happened, why, and what to do."""

from __future__ import annotations


class JobError(Exception):
    """Base of the typed errors.

    Parameters
    ----------
    message
        What happened, a sentence.
    reason
        A code for programs; the class's own by default.
    field
        JSON pointer into the spec (``/spec/entrypoint/value``), for errors of one field.
    hint
        What to do about it, a sentence.
    verbatim
        The system's or the cluster's own words.
    """

    status = 500
    reason = "InternalError"
    line: int | None = None
    column: int | None = None

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        field: str | None = None,
        hint: str | None = None,
        verbatim: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or type(self).reason
        self.field = field
        self.hint = hint
        self.verbatim = verbatim


class BadRequest(JobError):
    """The request itself is malformed."""

    status = 400
    reason = "BadRequest"


class NotAllowed(JobError):
    """The account may not do this."""

    status = 403
    reason = "Forbidden"


class NotFound(JobError):
    """There is no such thing, or no longer."""

    status = 404
    reason = "NotFound"


class Conflict(JobError):
    """The name is taken, or the job's phase does not allow the action."""

    status = 409
    reason = "Conflict"


class TooLarge(JobError):
    """The request is larger than anything that is meant."""

    status = 413
    reason = "TooLarge"


class FieldError(JobError):
    """A field of the spec is wrong; `field` says which."""

    status = 422
    reason = "InvalidField"


class Unavailable(JobError):
    """The engine, or something it needs, can't be reached or is not installed."""

    status = 503
    reason = "Unavailable"
