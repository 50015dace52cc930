"""Data that accompanies a spec when a manifest is rendered, and the results of reading one."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..checks import Check
from ..errors import FieldError
from ..spec import JobSpec
from ..translation import Text, _

Kind = str
"""Name of a registered manifest kind."""


class ManifestError(FieldError):
    """A manifest that can't be read.

    Parameters
    ----------
    message, code, field, hint, verbatim
        As for every `JobError`; `field` is a JSON pointer that begins with ``/manifest``.
    line, column
        Position in the text, from 1; None if there is no text.
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
    """Facts about a submission that are not part of the spec.

    Attributes
    ----------
    namespace
        Namespace of the job.
    request_id, owner, rerun_of
        Values of annotations, see `.names`.
    user
        ``USER`` and ``LOGNAME`` of the job; None to set neither.
    home
        ``HOME`` of the job; None to keep the image's.
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
        The job. Fields that the model lacks are in its `extra`.
    notes
        Corrections, assumptions and fields that are kept; `Check.field` begins with ``/manifest``.
    kind
        Kind of the manifest.
    name
        ``metadata.name`` as written. The spec's name may differ, because it is valid on every engine.
    namespace
        ``metadata.namespace``, if the manifest has one.
    """

    spec: JobSpec
    notes: list[Check]
    kind: Kind
    name: str | None = None
    namespace: str | None = None


@dataclass
class Notes:
    """Collects hints and warnings while a manifest is read."""

    checks: list[Check] = field(default_factory=list)

    def hint(self, code: str, message: Text, field: str = "/manifest", hint: Text | None = None) -> None:
        """Add a hint: a change or an assumption that is probably right.

        Parameters
        ----------
        code
            Identifier for programs.
        message
            Sentence that says what was changed, assumed or kept.
        field
            JSON pointer that begins with ``/manifest``.
        hint
            Sentence that says what the user can do.
        """
        self.checks.append(Check(level="hint", code=code, message=message, field=field, hint=hint))

    def warn(self, code: str, message: Text, field: str = "/manifest", hint: Text | None = None) -> None:
        """Add a warning: a change or an assumption that may be wrong.

        Parameters
        ----------
        code
            Identifier for programs.
        message
            Sentence that says what was changed, assumed or kept.
        field
            JSON pointer that begins with ``/manifest``.
        hint
            Sentence that says what the user can do.
        """
        self.checks.append(Check(level="warning", code=code, message=message, field=field, hint=hint))


def child(pointer: str, key: str | int) -> str:
    """Return the JSON pointer of a field or an item.

    Parameters
    ----------
    pointer
        JSON pointer of the object or list.
    key
        Name of the field, or index of the item.
    """
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def in_words(pointer: str) -> Text:
    """Return a JSON pointer in the usual notation: ``spec.replicaSpecs[0].replicas``."""
    text = ""
    for part in pointer.split("/")[1:]:
        if part == "manifest" and not text:
            continue
        name = part.replace("~1", "/").replace("~0", "~")
        text += f"[{name}]" if name.isdigit() else f".{name}" if text else name
    return Text.verbatim(text) if text else _("The manifest")
