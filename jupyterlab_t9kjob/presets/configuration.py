"""Reads the administrator's presets and locks: from settings of the server extension, and from a file.

Each entry stands for itself: one with an error is left out and reported, and the others are used.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ..core.errors import JobError
from ..core.manifests.text.yaml_reader import Document, read_documents
from ..core.spec import JobSpec
from ..core.system.files import open_regular
from ..core.texts.quantity import amount
from ..core.translation import Text, _
from .identifiers import preset_id
from .locks import MANIFEST, TOTALS
from .model import Lock, LockEntry, Preset, PresetEntry, PresetProblem
from .pointers import is_field, parts_of, put

log = logging.getLogger(__name__)

MOST_BYTES: Final = 1 << 20
"""Largest size of a file with presets, in bytes."""

_KEYS: Final = ("presets", "locks")


@dataclass
class Configured:
    """Presets and locks of the administrator, and what could not be read.

    `unknown` says why nobody knows which locks there are: the file could never be read since the server started.
    """

    presets: list[Preset] = field(default_factory=list)
    locks: list[Lock] = field(default_factory=list)
    problems: list[PresetProblem] = field(default_factory=list)
    unknown: PresetProblem | None = None


class Configuration:
    """The administrator's presets and locks. The file is read again when it has changed.

    While it can't be read, what was last read stays, so that an error does not remove locks. If it could never be read,
    `Configured.unknown` is set, and no job can be submitted.

    Parameters
    ----------
    presets, locks
        Entries from the settings.
    path
        File with further entries, YAML or JSON; None for no file.
    """

    def __init__(self, presets: Sequence[Any] = (), locks: Sequence[Any] = (), path: Path | None = None) -> None:
        self._content = {"presets": list(presets), "locks": list(locks)}
        self.path = path
        self._stamp: object = None
        self._read: Configured | None = None
        self._failed = False
        self._logged: set[str] = set()

    def read(self) -> Configured:
        """Return the presets and locks (blocking). A new problem is logged once."""
        stamp = self._stamp_now()
        if self._read is None or self._failed or stamp != self._stamp:
            found = Configured()
            add_entries(found, self._content, None, None)
            self._failed = self.path is not None and not self._add_file(found, self.path)
            if self._failed:
                self._keep(found)
            self._read, self._stamp = found, stamp
            for each in found.problems:
                self._log_once(each)
        return self._read

    @property
    def last(self) -> Configured | None:
        """The content that was last read; None before the first time."""
        return self._read

    def _keep(self, found: Configured) -> None:
        """Keep what was last read; or note that the locks are not known, because the file could never be read."""
        if self._read is None or self._read.unknown is not None:
            found.unknown = found.problems[-1]
            self._log_once(found.unknown, " No job can be submitted until the file can be read.")
        else:
            found.presets, found.locks = self._read.presets, self._read.locks

    def _stamp_now(self) -> object:
        if self.path is None:
            return None
        try:
            stat = self.path.stat()
        except OSError as error:
            return error.errno
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino

    def _add_file(self, found: Configured, path: Path) -> bool:
        """Add the entries of the file; return False if it can't be read."""
        try:
            document = read_file(path)
        except JobError as error:
            found.problems.append(
                PresetProblem(source="administrator", message=error.message, path=str(path), line=error.line)
            )
            return False
        content = document.value if document.value is not None else {}
        unknown = [key for key in content if key not in _KEYS] if isinstance(content, dict) else ["…"]
        if unknown:
            message = _("The file must have the keys presets and locks, and no others.")
            found.problems.append(PresetProblem(source="administrator", message=message, path=str(path), line=1))
        if isinstance(content, dict):
            add_entries(found, content, document, path)
        return isinstance(content, dict)

    def _log_once(self, problem: PresetProblem, effect: str = "") -> None:
        where = f"{problem.path}, line {problem.line}: " if problem.path else ""
        text = f"{where}{problem.name + ': ' if problem.name else ''}{problem.message}"
        if text not in self._logged:
            self._logged.add(text)
            log.error("jupyterlab_t9kjob: presets and locks of the administrator: %s%s", text, effect)


def read_file(path: Path) -> Document:
    """Return the content of a YAML or JSON file with the positions of its values (blocking).

    Raises
    ------
    JobError
        If the file can't be read, is too large, or is no YAML; `line` is set where it is known.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise JobError(_("The file can't be read: {error}.", error=error.strerror or str(error))) from error
    if len(data) > MOST_BYTES:
        raise JobError(_("The file is larger than 1 MiB."))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JobError(_("The file is not UTF-8.")) from error
    documents = read_documents(text)
    if len(documents) > 1:
        raise JobError(_("The file has several YAML documents. Put all entries into one."))
    return documents[0] if documents else Document()


def add_entries(found: Configured, content: dict[str, Any], document: Document | None, path: Path | None) -> None:
    """Add the valid entries of a document to what was found, and problems for the others.

    Parameters
    ----------
    found
        Presets, locks and problems; it is changed.
    content
        Lists of entries by key.
    document
        Positions of the entries; None without a file.
    path
        The file; None for the settings.
    """
    for key, check in (("presets", _preset), ("locks", _lock)):
        entries = content.get(key) or []
        if not isinstance(entries, list):
            entries = [entries]
        for index, entry in enumerate(entries):
            message = check(found, entry)
            if message is None:
                continue
            place = document.place(f"/manifest/{key}/{index}") if document is not None else None
            name = entry.get("name" if key == "presets" else "field") if isinstance(entry, dict) else None
            found.problems.append(
                PresetProblem(
                    source="administrator",
                    message=message,
                    name=str(name)[:80] if name is not None else None,
                    path=str(path) if path else None,
                    line=place.line if place else None,
                )
            )


def explained(error: ValidationError) -> Text:
    """Return the first problem of an entry as a sentence."""
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = "/".join(str(part)[:80] for part in problem["loc"]) or "entry"
    words = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        return _("There is no key {key}.", key=where)
    return _("{key}: {problem}", key=where, problem=words[:300])


def unknown_field(entry: PresetEntry) -> Text | None:
    """Return a sentence about the first value of a preset that no job has a field for; None if there is none."""
    for pointer in entry.values:
        if not is_field(parts_of(pointer)):
            return _("A job has no field {field}.", field=pointer[:200])
    return None


def _preset(found: Configured, entry: Any) -> Text | None:
    """Add a preset; return what is wrong with it, or None. A preset with unknown fields is used and reported."""
    try:
        read = PresetEntry.model_validate(entry)
    except ValidationError as error:
        return explained(error)
    if any(preset.name == read.name for preset in found.presets):
        return _("There are two presets of this name. The first one is used.")
    found.presets.append(Preset(**dict(read), id=preset_id("administrator", read.name), source="administrator"))
    return unknown_field(read)


def _lock(found: Configured, entry: Any) -> Text | None:
    """Add a lock; return what is wrong with it, or None."""
    try:
        read = LockEntry.model_validate(entry)
    except ValidationError as error:
        return explained(error)
    given = read.model_fields_set
    rule = "maximum" if "maximum" in given else "allowed" if "allowed" in given else "value"
    values = read.allowed or [] if rule == "allowed" else [read.value] if rule == "value" else []
    lock = Lock.model_validate(
        {
            **{"field": read.field, "rule": rule, "values": values, "maximum": read.maximum},
            **{"reason": read.reason, "engines": read.engines},
        }
    )
    if rule == "maximum" and not _is_amount(lock.maximum):
        return _("maximum: {value} is neither a number nor a quantity.", value=str(lock.maximum)[:80])
    parts = parts_of(read.field)
    if parts[0] != MANIFEST and read.field not in TOTALS:
        if not is_field(parts):
            return _("A job has no field {field}.", field=read.field[:200])
        if problem := _bad_value(lock, parts):
            return problem
    if any(other.field == lock.field and _meet(other, lock) for other in found.locks):
        return _("The field {field} is locked twice. The first lock is used.", field=read.field)
    found.locks.append(lock)
    return None


def _meet(one: Lock, other: Lock) -> bool:
    """Return True if two locks apply to the same engine."""
    return not one.engines or not other.engines or bool({*one.engines} & {*other.engines})


def _bad_value(lock: Lock, parts: list[str]) -> Text | None:
    """Return what is wrong with a lock's values, or None."""
    for value in lock.values:
        if lock.rule == "allowed" and (value is None or (isinstance(value, str) and "*" in value)):
            continue
        document = _sample()
        if put(document, ["0" if part == "*" else part for part in parts], value):
            try:
                JobSpec.model_validate(document, strict=True)
            except ValidationError as error:
                return explained(error)
    return None


def _is_amount(value: float | str | None) -> bool:
    return amount(value) is not None if isinstance(value, str) else value is not None


def _sample() -> dict[str, Any]:
    """Return a spec in which every optional part is there, to try values of locks with."""
    spec = JobSpec.model_validate(
        {
            "name": "a",
            "entrypoint": {"value": "/a"},
            "replica_specs": [{"replicas": 1, "resources": {"device": {"count": 1}}, "runtime": {}, "env": []}],
            "elastic": {"min": 1, "max": 1},
            "tensorboard": {"cluster": {}},
        }
    )
    return spec.model_dump(mode="json")
