"""What goes into a manifest beside the spec, and what comes out of one."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..checks import Check
from ..errors import FieldError
from ..spec import JobSpec
from ..translation import Text, _

Kind = str
"""Name of a registered manifest kind."""


class ManifestError(FieldError):
    """A manifest can't be read.

    Parameters
    ----------
    message, code, field, hint, verbatim
        As of every `JobError`; `field` is a JSON pointer that begins with ``/manifest``.
    line, column
        Where in the text, from 1; None where there is no text.
    """

    code = "InvalidManifest"

    def __init__(
        self,
        message: Text,
        *,
        code: str | None = None,
        field: str = "/manifest",
        hint: Text | None = None,
        verbatim: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, code=code, field=field, hint=hint, verbatim=verbatim)
        self.line = line
        self.column = column


@dataclass(frozen=True)
class Context:
    """What an engine knows of a submission beside the spec.

    Attributes
    ----------
    namespace
        Where the job goes.
    request_id, owner, rerun_of
        Written down as annotations, see `.names`.
    user
        ``USER`` and ``LOGNAME`` of the job; None adds neither.
    home
        ``HOME`` of the job; None leaves the image's.
    """

    namespace: str | None = None
    request_id: str | None = None
    owner: str | None = None
    rerun_of: str | None = None
    user: str | None = None
    home: str | None = None


@dataclass(frozen=True)
class Parsed:
    """A manifest as read.

    Attributes
    ----------
    spec
        The job. What the model lacks is in its `extra`.
    notes
        What was mended, assumed or kept, in words; `Check.field` begins with ``/manifest``.
    kind
        The engine whose manifest it is.
    name
        ``metadata.name`` as written; the spec's is one that every engine can have.
    namespace
        ``metadata.namespace``, if there is one.
    """

    spec: JobSpec
    notes: list[Check]
    kind: Kind
    name: str | None = None
    namespace: str | None = None


@dataclass
class Notes:
    """Collects what there is to say while a manifest is read."""

    checks: list[Check] = field(default_factory=list)

    def hint(self, code: str, message: Text, field: str = "/manifest", hint: Text | None = None) -> None:
        """Say something that is good to know."""
        self.checks.append(Check(level="hint", code=code, message=message, field=field, hint=hint))

    def warn(self, code: str, message: Text, field: str = "/manifest", hint: Text | None = None) -> None:
        """Say something that may well be wrong."""
        self.checks.append(Check(level="warning", code=code, message=message, field=field, hint=hint))


def child(pointer: str, key: str | int) -> str:
    """Return the JSON pointer of a value's field or item."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def in_words(pointer: str) -> Text:
    """Return a JSON pointer as people write it: ``spec.replicaSpecs[0].replicas``."""
    text = ""
    for part in pointer.split("/")[1:]:
        if part == "manifest" and not text:
            continue
        name = part.replace("~1", "/").replace("~0", "~")
        text += f"[{name}]" if name.isdigit() else f".{name}" if text else name
    return Text.verbatim(text) if text else _("The manifest")
