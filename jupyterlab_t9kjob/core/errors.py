"""Typed errors, which become error responses of the API: the problem, its cause, and what the user can do."""

from __future__ import annotations

from .translation import Text


class JobError(Exception):
    """Base of the typed errors.

    Parameters
    ----------
    message
        Sentence that says what happened.
    code
        Identifier for programs; by default that of the class.
    field
        JSON pointer into the spec (``/spec/entrypoint/value``), for errors of one field.
    hint
        Sentence that says what the user can do.
    verbatim
        Message of the operating system or the cluster, unchanged.
    """

    status = 500
    code = "InternalError"
    line: int | None = None
    column: int | None = None

    def __init__(
        self,
        message: Text,
        *,
        code: str | None = None,
        field: str | None = None,
        hint: Text | None = None,
        verbatim: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.field = field
        self.hint = hint
        self.verbatim = verbatim


class BadRequest(JobError):
    """The request is malformed."""

    status = 400
    code = "BadRequest"


class NotAllowed(JobError):
    """The account lacks a permission."""

    status = 403
    code = "Forbidden"


class NotFound(JobError):
    """The requested object does not exist, or no longer exists."""

    status = 404
    code = "NotFound"


class Conflict(JobError):
    """The name is taken, or the job's phase does not allow the action."""

    status = 409
    code = "Conflict"


class TooLarge(JobError):
    """The request exceeds a size limit."""

    status = 413
    code = "TooLarge"


class FieldError(JobError):
    """A field of the spec is invalid; `field` is its JSON pointer."""

    status = 422
    code = "InvalidField"


class Unavailable(JobError):
    """The engine, or a program that it needs, can't be reached or is not installed."""

    status = 503
    code = "Unavailable"
