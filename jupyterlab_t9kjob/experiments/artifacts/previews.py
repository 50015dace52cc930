"""Previews of files: text, tables, images, Markdown, names of tensors. Files are read, never run or unpickled."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from ...core.translation import _
from ..sources.yaml_files import plain
from .model import MOST_ROWS, Preview, PreviewKind
from .parquet import read_parquet
from .safetensors import printable, read_header

MOST_TEXT: Final = 256 * 1024
MOST_IMAGE: Final = 20 * 1024 * 1024
MOST_TABLE: Final = 8 * 1024 * 1024
MOST_COLUMNS: Final = 200
LONGEST_CELL: Final = 500
_SNIFFED: Final = 8192

PARQUET: Final = ".parquet"
IMAGES: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".svg": "image/svg+xml",
}
_KINDS: Final[dict[str, PreviewKind]] = {
    **dict.fromkeys(IMAGES, "image"),
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".ndjson", PARQUET), "table"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    ".safetensors": "tensors",
    **dict.fromkeys(
        (
            ".txt",
            ".log",
            ".json",
            ".yaml",
            ".yml",
            ".toml",
            ".ini",
            ".cfg",
            ".conf",
            ".py",
            ".sh",
            ".xml",
            ".html",
            ".rst",
        ),
        "text",
    ),
}


def kind_of(path: str) -> PreviewKind:
    """Return the kind of preview by the suffix of a file's name; `none` if the suffix is not known."""
    return _KINDS.get(PurePosixPath(path).suffix.lower(), "none")


def media_type(path: str) -> str:
    """Return the media type for a file's answer: that of an image, or bytes."""
    return IMAGES.get(PurePosixPath(path).suffix.lower(), "application/octet-stream")


def read_preview(file: BinaryIO, path: str, size: int, *, as_text: bool = False) -> Preview:
    """Return the preview of a file (blocking).

    Parameters
    ----------
    file
        The open file, at its begin.
    path
        Its path; the suffix decides the kind.
    size
        Its size in bytes.
    as_text
        True to show a table in a text file as text. Other files are shown as they are without it.
    """
    kind = kind_of(path)
    if as_text and kind == "table" and PurePosixPath(path).suffix.lower() != PARQUET:
        return _text(file, size, "text")
    try:
        if kind == "tensors":
            return read_header(file, size)
        if PurePosixPath(path).suffix.lower() == PARQUET:
            return read_parquet(file, size)
        if kind == "table":
            return _table(file, size, PurePosixPath(path).suffix.lower())
    except (ValueError, csv.Error) as error:
        reason = printable(str(error), 200)
        problem = _("The file can't be shown: {reason}", reason=reason)
        return Preview(kind="none", size=size, problem=problem)
    if kind == "image":
        return _image(size)
    return _text(file, size, "markdown" if kind == "markdown" else "text")


def _image(size: int) -> Preview:
    if size > MOST_IMAGE:
        problem = _("Images of more than {size} MB are not shown.", size=MOST_IMAGE // 2**20)
        return Preview(kind="none", size=size, problem=problem)
    return Preview(kind="image", size=size)


def _text(file: BinaryIO, size: int, kind: PreviewKind) -> Preview:
    content = file.read(MOST_TEXT)
    if b"\0" in content[:_SNIFFED] or not _is_utf8(content[:_SNIFFED]):
        return Preview(kind="none", size=size, problem=_("The file is not text."))
    return Preview(kind=kind, size=size, truncated=size > len(content), text=content.decode("utf-8", "replace"))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(content) - 3  # The last character may be cut off.
    return True


def _table(file: BinaryIO, size: int, suffix: str) -> Preview:
    """Return the first rows. Raises `ValueError` or `csv.Error` if the file is no table."""
    content = file.read(MOST_TABLE)
    if b"\0" in content:
        raise ValueError("not text")
    if size > len(content):  # The last line is cut off.
        content = content[: content.rfind(b"\n") + 1]
    text = content.decode("utf-8-sig", "replace")
    columns, rows = _separated(text, suffix) if suffix in (".csv", ".tsv") else _json_lines(text)
    cells = [[_cell(value) for value in row] for row in rows[:MOST_ROWS]]
    return Preview(
        kind="table",
        size=size,
        has_text=True,
        truncated=size > len(content) or len(rows) > MOST_ROWS or len(columns) > MOST_COLUMNS,
        columns=[printable(column) for column in columns[:MOST_COLUMNS]],
        rows=cells,
    )


def _separated(text: str, suffix: str) -> tuple[list[str], list[list[Any]]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == ".tsv" else _delimiter(text))
    columns = next(lines, [])
    rows: list[list[Any]] = []
    for line in lines:
        if line:
            rows.append(line)
        if len(rows) > MOST_ROWS:
            break
    width = max([len(columns), *map(len, rows)])
    shown = min(width, MOST_COLUMNS)
    return columns + [""] * (width - len(columns)), [row[:shown] + [""] * (shown - len(row)) for row in rows]


def _delimiter(text: str) -> str:
    """Return the delimiter that the first line has most often."""
    first = text.split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _json_lines(text: str) -> tuple[list[str], list[list[Any]]]:
    columns: dict[str, None] = {}
    found: list[dict[str, Any]] = []
    for value in _values(text):
        row = value if isinstance(value, dict) else {"": value}
        found.append(row)
        columns.update(dict.fromkeys(row))
    shown = list(columns)[:MOST_COLUMNS]
    return list(columns), [[row.get(column) for column in shown] for row in found]


def _values(text: str) -> Iterator[Any]:
    """Yield the values of lines, one more than are shown. Raises `ValueError` if a line is not JSON."""
    count = 0
    for number, line in enumerate(io.StringIO(text), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError(f"line {number} is not JSON") from None
        count += 1
        if count > MOST_ROWS:
            return


def _cell(value: Any) -> Any:
    return printable(value, LONGEST_CELL) if isinstance(value, str) else plain(value, LONGEST_CELL)
