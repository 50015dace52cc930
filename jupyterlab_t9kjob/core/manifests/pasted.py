"""Reads the job in a text that a user pasted or edited: `read_job`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..checks import Check
from ..translation import Text, _, listing
from .convert import kind_of, parse
from .model import ManifestError, Notes, Parsed
from .registry import KINDS
from .text.reindent import reindented
from .text.yaml_reader import Document, Place, read_documents

# Examples on web pages use such lines for “and so on”.
_ELISION: Final = re.compile(r"^[ \t]*(\.\.\.|…)[ \t]*$", re.MULTILINE)
_MENDED: Final = {
    "Reindented": _("The text had lost its indentation; it was put back by the names of the fields."),
    "Elided": _("The text has lines with nothing but “...”; they are taken to mean that something was left out."),
}


@dataclass(frozen=True)
class Pasted(Parsed):
    """A job that was read from a text.

    Attributes
    ----------
    manifest
        The manifest as written, for a job that is submitted unchanged.
    """

    manifest: dict[str, Any] | None = None


def read_job(text: str, *, dialect: Any = None) -> Pasted:
    """Return the job in a text of YAML or JSON.

    If the text contains several documents or a List, the first job is taken, and a note names the other objects.
    Notes and errors have a line number.

    Parameters
    ----------
    text
        YAML or JSON, up to 1 MiB. Blocking: the largest texts take some hundred milliseconds.
    dialect
        The cluster's dialect of the job's kind; None for the usual one.

    Raises
    ------
    TooLarge
        If the text is too long.
    ManifestError
        If the text contains no job or an invalid one. `line` and `column` are set if the position is known.
    """
    notes = Notes()
    document, prefix, manifest = _job_in(_documents(text, notes), notes)
    try:
        parsed = parse(manifest, dialect=dialect)
    except ManifestError as error:
        raise _placed_error(error, document, prefix) from None
    placed = [_placed(check, document, prefix) for check in parsed.notes]
    return Pasted(
        spec=parsed.spec,
        notes=[*notes.checks, *placed],
        kind=parsed.kind,
        name=parsed.name,
        namespace=parsed.namespace,
        manifest=manifest,
    )


def places_of(text: str, pointers: Sequence[str]) -> list[Place | None]:
    """Return the position of each field in the text of a job, None for a field that is not found (blocking).

    Parameters
    ----------
    text
        Text that `read_job` accepts.
    pointers
        JSON pointers that begin with ``/manifest``.
    """
    notes = Notes()
    try:
        document, prefix, _manifest = _job_in(_documents(text, notes), notes)
    except ManifestError:
        return [None] * len(pointers)
    return [document.place(f"/manifest{prefix}{pointer.removeprefix('/manifest')}") for pointer in pointers]


def _documents(text: str, notes: Notes) -> list[Document]:
    """Return the documents of a text. If it can't be parsed, undo the usual damage from copying and try again."""
    try:
        return read_documents(text)
    except ManifestError as error:
        first = error
    mended = {
        "Reindented": reindented(text) if first.code == "NoIndentation" else None,
        "Elided": _ELISION.sub("", text) if _ELISION.search(text) else None,
    }
    for code, other in mended.items():
        if other is None:
            continue
        try:
            documents = read_documents(other)
        except ManifestError:
            continue
        notes.warn(code, _MENDED[code], hint=_("Compare it with the original before you submit it."))
        return documents
    raise first


def _job_in(documents: list[Document], notes: Notes) -> tuple[Document, str, dict[str, Any]]:
    """Return the first job: its document, its JSON pointer in the document, and the object."""
    objects = [
        (document, prefix, value)
        for document in documents
        for prefix, value in _objects(document.value)
        if value is not None
    ]
    if not objects:
        raise ManifestError(_("There is nothing in the text."), code="Empty", hint=_("Paste a whole manifest."))
    jobs = [index for index, (_document, _prefix, value) in enumerate(objects) if _is_job(value)]
    if not jobs:
        document, prefix, value = objects[0]
        try:
            if not isinstance(value, dict):
                message = _("The text is no manifest: it has no fields.")
                raise ManifestError(message, hint=_("Paste a whole manifest."))
            kind_of(value, Notes())
        except ManifestError as error:
            raise _placed_error(error, document, prefix) from None
    chosen = jobs[0]
    left = [_title(value) for index, (_document, _prefix, value) in enumerate(objects) if index != chosen]
    if left:
        message = _(
            "The text has more than the job {job}. Left out: {objects}.",
            job=_title(objects[chosen][2]),
            objects=listing(left, 5),
        )
        notes.warn("LeftOut", message, hint=_("Create these with kubectl if the job needs them."))
    return objects[chosen]


def _objects(value: Any) -> list[tuple[str, Any]]:
    items = value.get("items") if isinstance(value, dict) else None
    if isinstance(items, list) and str(value.get("kind", "")).endswith("List"):
        return [(f"/items/{index}", item) for index, item in enumerate(items)]
    return [("", value)]


def _is_job(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    spec = value.get("spec")
    known = any(value.get("kind") == form.kind for form in KINDS.values())
    parts = isinstance(spec, dict) and any(form.replicas in spec for form in KINDS.values() if not form.single)
    return known or (value.get("kind") is None and parts)


def _title(value: Any) -> Text:
    if not isinstance(value, dict):
        return _("a text without fields")
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    written = value.get("kind")
    kind = Text.verbatim(str(written)[:60]) if written else _("something without a kind")
    return _("{kind} “{name}”", kind=kind, name=str(name)[:60]) if name else kind


def _placed(check: Check, document: Document, prefix: str) -> Check:
    if check.field in (None, "/manifest"):
        return check
    place = document.place(f"/manifest{prefix}{(check.field or '').removeprefix('/manifest')}")
    return check.model_copy(update={"line": place.line, "column": place.column}) if place else check


def _placed_error(error: ManifestError, document: Document, prefix: str) -> ManifestError:
    place = document.place(f"/manifest{prefix}{(error.field or '').removeprefix('/manifest')}")
    if place is None or error.line is not None:
        return error
    return ManifestError(
        _("Line {line}, column {column}: {error}", line=place.line, column=place.column, error=error.message),
        code=error.code,
        field=error.field or "/manifest",
        hint=error.hint,
        verbatim=error.verbatim,
        line=place.line,
        column=place.column,
    )
