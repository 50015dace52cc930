"""Typed errors that become the API's error answers: what happened, why, and what the user can do."""

from __future__ import annotations

from .translation import Text


class JobError(Exception):
    """Base of the typed errors.

    Parameters
    ----------
    message
        Sentence that says what happened.
    code
        Identifier for programs; the class's own by default.
    field
        JSON pointer into the spec (``/spec/entrypoint/value``), for errors of one field.
    hint
        Sentence that says what the user can do.
    verbatim
        Words of the system or the cluster, as they are.
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
    """The request itself is malformed."""

    status = 400
    code = "BadRequest"


class NotAllowed(JobError):
    """The account may not do this."""

    status = 403
    code = "Forbidden"


class NotFound(JobError):
    """There is no such thing, or no longer."""

    status = 404
    code = "NotFound"


class Conflict(JobError):
    """The name is taken, or the job's phase does not allow the action."""

    status = 409
    code = "Conflict"


class TooLarge(JobError):
    """The request is larger than anything that is meant."""

    status = 413
    code = "TooLarge"


class FieldError(JobError):
    """A field of the spec is wrong; `field` says which."""

    status = 422
    code = "InvalidField"


class Unavailable(JobError):
    """The engine, or something it needs, can't be reached or is not installed."""

    status = 503
    code = "Unavailable"
