"""The user's own presets: a JSON file in the extension's home directory."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ..core.errors import Conflict, JobError, NotFound
from ..core.manifests.text.yaml_reader import Document, read_documents
from ..core.system.files import open_regular, write_atomically
from ..core.system.locks import try_lock
from ..core.translation import _
from .configuration import MOST_BYTES, explained, unknown_field
from .identifiers import preset_id
from .model import Preset, PresetEntry, PresetProblem

FILE: Final = "presets.json"
MOST_PRESETS: Final = 200


class BrokenFile(Conflict):
    """The file with the user's presets has an error, so it is not written."""

    code = "BrokenPresets"


class PresetStore:
    """The user's presets. All methods block.

    Entries with an error stay in the file, so that the user can correct them.

    Parameters
    ----------
    home
        Directory of the extension's records.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / FILE

    def read(self) -> tuple[list[Preset], list[PresetProblem]]:
        """Return the presets in the order of the file, and what could not be read."""
        try:
            text = self._text()
            entries = self._entries(text)
        except BrokenFile as error:
            return [], [PresetProblem(source="own", message=error.message, path=str(self.path), line=error.line)]
        found: dict[str, Preset] = {}
        problems = []
        document: Document | None = None
        for index, entry in enumerate(entries):
            try:
                read = PresetEntry.model_validate(entry)
            except ValidationError as error:
                message = explained(error)
            else:
                if read.name in found:
                    message = _("There are two presets of this name. The first one is used.")
                else:
                    found[read.name] = Preset(**dict(read), id=preset_id("own", read.name), source="own")
                    unknown = unknown_field(read)
                    if unknown is None:
                        continue
                    message = unknown
            document = document or _positions(text)
            place = document.place(f"/manifest/presets/{index}")
            name = entry.get("name") if isinstance(entry, dict) else None
            problems.append(
                PresetProblem(
                    source="own",
                    message=message,
                    name=str(name)[:80] if name is not None else None,
                    path=str(self.path),
                    line=place.line if place else None,
                )
            )
        return list(found.values()), problems

    def save(self, entry: PresetEntry, *, replace: bool) -> Preset:
        """Add a preset, or replace the one of the same name.

        Parameters
        ----------
        entry
            The preset.
        replace
            True to replace a preset of the same name.

        Raises
        ------
        Conflict
            If the name is taken and `replace` is False, there are too many presets, or the file has an error.
        """

        def change(entries: list[Any]) -> None:
            index = _index(entries, entry.name)
            content = entry.model_dump(mode="json", include=set(PresetEntry.model_fields), exclude_defaults=True)
            if index is None and len(entries) >= MOST_PRESETS:
                message = _("There are {most} presets already.", most=MOST_PRESETS)
                raise Conflict(message, code="TooManyPresets", hint=_("Delete presets that you don't use."))
            if index is None:
                entries.append(content)
            elif replace:
                entries[index] = content
            else:
                raise _taken(entry.name)

        self._change(change)
        return Preset(
            **{name: getattr(entry, name) for name in PresetEntry.model_fields},
            id=preset_id("own", entry.name),
            source="own",
        )

    def rename(self, ident: str, name: str) -> Preset:
        """Rename a preset.

        Parameters
        ----------
        ident
            Id of the preset.
        name
            New name.

        Raises
        ------
        NotFound
            If there is no such preset.
        Conflict
            If the name is taken, or the preset or the file has an error.
        """
        renamed: list[PresetEntry] = []

        def change(entries: list[Any]) -> None:
            index = _index_of(entries, ident)
            if _index(entries, name) not in (None, index):
                raise _taken(name)
            entries[index] = {**entries[index], "name": name}
            try:
                renamed.append(PresetEntry.model_validate(entries[index]))
            except ValidationError as error:
                hint = _("Correct it in {path}, or delete it.", path=str(self.path))
                raise Conflict(explained(error), code="BrokenPreset", hint=hint) from error

        self._change(change)
        return Preset(**dict(renamed[0]), id=preset_id("own", name), source="own")

    def delete(self, ident: str) -> None:
        """Delete a preset.

        Raises
        ------
        NotFound
            If there is no such preset.
        Conflict
            If the file has an error.
        """
        self._change(lambda entries: entries.pop(_index_of(entries, ident)))

    def _change(self, change: Callable[[list[Any]], object]) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                entries = self._entries(self._text())
                change(entries)
                data = json.dumps({"presets": entries}, indent=2, ensure_ascii=True) + "\n"
                if len(data) > MOST_BYTES:
                    message = _("The file with your presets would be larger than 1 MiB.")
                    raise Conflict(message, code="TooManyPresets", hint=_("Delete presets that you don't use."))
                write_atomically(self.path, data.encode())
        except OSError as error:
            message = _("The preset can't be saved in {path}.", path=str(self.path))
            problem = Conflict(message, code="PresetsNotWritten", verbatim=str(error))
            problem.hint = _("Check the free space and the permissions of the folder.")
            raise problem from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Exclude other servers of the same home while the file changes."""
        descriptor = try_lock(self.path.with_name(f".{FILE}.lock"), wait=True)
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _text(self) -> str:
        """Return the text of the file; empty if there is none."""
        try:
            with open_regular(self.path) as file:
                data = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise self._broken(_("Your presets can't be read: {error}.", error=error.strerror or str(error))) from error
        if len(data) > MOST_BYTES:
            raise self._broken(_("The file with your presets is larger than 1 MiB."))
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise self._broken(_("The file with your presets is not UTF-8."), line) from error

    def _entries(self, text: str) -> list[Any]:
        """Return the entries of the file."""
        if not text.strip():
            return []
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            message = _("The file with your presets is no JSON: {problem}.", problem=error.msg)
            raise self._broken(message, error.lineno) from error
        except (ValueError, RecursionError) as error:
            raise self._broken(
                _("The file with your presets is no JSON: {problem}.", problem=str(error)[:200])
            ) from error
        entries = content.get("presets") if isinstance(content, dict) else None
        if not isinstance(entries, list):
            raise self._broken(_("The file with your presets has no list “presets”."), 1)
        return entries

    def _broken(self, message: Any, line: int | None = None) -> BrokenFile:
        where = f"{self.path}:{line}" if line else str(self.path)
        error = BrokenFile(message, hint=_("Correct the file or remove it: {place}", place=where))
        error.line = line
        return error


def _positions(text: str) -> Document:
    """Return the positions of the values in a JSON text, as far as a YAML reader can read it."""
    try:
        return next(iter(read_documents(text)), Document())
    except JobError:
        return Document()


def _index(entries: list[Any], name: str) -> int | None:
    """Return the index of the first entry of a name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    return names.index(name) if name in names else None


def _index_of(entries: list[Any], ident: str) -> int:
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and preset_id("own", name) == ident:
            return index
    raise NotFound(
        _("There is no preset with this id."), code="NoSuchPreset", hint=_("It may have been deleted or renamed.")
    )


def _taken(name: str) -> Conflict:
    message = _("There is a preset named “{name}” already.", name=name)
    return Conflict(message, code="PresetExists", hint=_("Choose another name, or overwrite the preset."))
