"""Reads a file whose rows are the values of a sweep's jobs: CSV or TSV with a header, JSON, or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ...core.errors import FieldError
from ...core.system.files import open_regular
from ...core.translation import Text, _, _n
from .combinations import Row

MOST_BYTES: Final = 1024 * 1024
MOST_ROWS: Final = 10_000
MOST_COLUMNS: Final = 100
LONGEST_VALUE: Final = 10_000
FIELD: Final = "/sweep/rows_path"
_NAME = re.compile(r"[^\s\x00]{1,200}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


FieldOf = Callable[[str], str]
"""Returns the field of the sweep that a column names."""


def read_rows(path: Path, field_of: FieldOf) -> list[Row]:
    """Return the rows of a file, with the field of the sweep that each column names (blocking).

    Parameters
    ----------
    path
        The file.
    field_of
        Returns the field that a column names.

    Raises
    ------
    FieldError
        If the file does not exist, is too large, or has another format. The message names row and column.
    """
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _wrong(_("{file} can't be read.", file=path.name), verbatim=error.strerror) from error
    if len(data) > MOST_BYTES:
        raise _wrong(_("{file} is larger than 1 MB.", file=path.name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong(_("{file} is not UTF-8 text.", file=path.name)) from None
    begin = text.lstrip()[:1]
    read = {"{": _json_lines, "[": _json}.get(begin, _csv)
    rows = list(read(text, path.name, field_of))
    if not rows:
        raise _wrong(_("{file} has no rows.", file=path.name))
    if len(rows) > MOST_ROWS:
        raise _wrong(_("{file} has {count} rows, at most {most}.", file=path.name, count=len(rows), most=MOST_ROWS))
    return rows


def _csv(text: str, name: str, field_of: FieldOf) -> Iterator[Row]:
    first = text.lstrip("\r\n").split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text), strict=True, delimiter="\t" if "\t" in first else ",")
    header: list[str] = []
    try:
        for line in reader:
            if not any(cell.strip() for cell in line):
                continue
            if not header:
                header = [field_of(cell.strip()) if cell.strip() else "" for cell in line]
                if not all(map(_NAME.fullmatch, header)) or len(set(header)) != len(header) > 0:
                    raise _wrong(_("The first line of {file} must name each column once.", file=name))
                if len(header) > MOST_COLUMNS:
                    message = _(
                        "{file} has {count} columns, at most {most}.", count=len(header), most=MOST_COLUMNS, file=name
                    )
                    raise _wrong(message)
                continue
            if len(line) != len(header):
                message = _n(
                    "Row {number} of {file} has {n} cell, and the header has {columns}.",
                    "Row {number} of {file} has {n} cells, and the header has {columns}.",
                    len(line),
                    number=reader.line_num,
                    file=name,
                    columns=len(header),
                )
                raise _wrong(message)
            row = dict(zip(header, map(str.strip, line), strict=True))
            yield _checked(row, reader.line_num, name)
    except csv.Error as error:
        message = _("Row {number} of {file} is not CSV.", number=reader.line_num, file=name)
        raise _wrong(message, verbatim=str(error)) from None


def _json_lines(text: str, name: str, field_of: FieldOf) -> Iterator[Row]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise _wrong(_("Row {number} of {file} is not JSON.", number=number, file=name)) from None
            yield _of_object(row, number, name, field_of)


def _json(text: str, name: str, field_of: FieldOf) -> Iterator[Row]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(_("{file} is not JSON.", file=name), verbatim=str(error)[:200]) from None
    for number, row in enumerate(rows, 1):
        yield _of_object(row, number, name, field_of)


def _of_object(row: Any, number: int, name: str, field_of: FieldOf) -> Row:
    if not isinstance(row, dict) or not all(map(_NAME.fullmatch, row)) or len(row) > MOST_COLUMNS:
        raise _wrong(_("Row {number} of {file} is not an object with names of options.", number=number, file=name))
    for column, value in row.items():
        if isinstance(value, dict | list):
            message = _(
                "{column} in row {number} of {file} is not a single value.", column=column, number=number, file=name
            )
            raise _wrong(message)
    found = {field_of(key): _text(value) for key, value in row.items() if value is not None}
    if len(found) < sum(value is not None for value in row.values()):
        raise _wrong(_("Row {number} of {file} names an option twice.", number=number, file=name))
    return _checked(found, number, name)


def _checked(row: Row, number: int, name: str) -> Row:
    """Return a row; raise the error of the first value that can't be an argument."""
    for field, value in row.items():
        if len(value) > LONGEST_VALUE or _CONTROL.search(value):
            message = _(
                "{column} in row {number} of {file} is too long, or contains a control character or a line break.",
                column=field,
                number=number,
                file=name,
            )
            raise _wrong(message)
    return row


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _wrong(message: Text, verbatim: str | None = None) -> FieldError:
    hint = _("Choose a CSV or TSV file with a header, a JSON list of objects, or a file with one JSON object per line.")
    return FieldError(message, field=FIELD, hint=hint, code="SweepRows", verbatim=verbatim)
