"""Reader of notebook files: checks the file and returns its code cells."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from ...core.errors import FieldError
from ...core.translation import _
from ..options.texts import printable
from ..scripts.source_text import FIELD

MAX_CELLS: Final = 10_000
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class CodeCell:
    """A code cell that is not empty.

    Attributes
    ----------
    number
        Position among all cells of the notebook, from 1.
    key
        The cell's id; its number if the notebook has no ids (nbformat before 4.5) or uses the id twice.
    source
        Text of the cell, with line feeds at line ends.
    tags
        Tags in the cell's metadata.
    """

    number: int
    key: str
    source: str
    tags: frozenset[str]


@dataclass(frozen=True)
class NotebookFile:
    """Content of a notebook file.

    Attributes
    ----------
    cells
        The code cells that are not empty.
    text_cells
        Number of Markdown and raw cells.
    kernel
        Name of the kernel in the metadata; None if there is none.
    """

    cells: list[CodeCell]
    text_cells: int
    kernel: str | None


def read_file(data: bytes, name: str) -> NotebookFile:
    """Read a notebook file.

    Parameters
    ----------
    data
        Content of the file.
    name
        Name of the file, for messages.

    Raises
    ------
    FieldError
        If the file is not a notebook, has too many cells, or if its language is not Python.
    """
    content = _load(data, name)
    kernelspec, language_info = (
        _dict(_dict(content.get("metadata")).get(key)) for key in ("kernelspec", "language_info")
    )
    named = (kernelspec.get("language"), language_info.get("name"))
    language = next((each for each in named if each and isinstance(each, str)), "python")
    if language.lower() not in {"python", "ipython"}:
        raise FieldError(
            _(
                "{file} is a notebook in {language}. Only Python notebooks can run as a distributed job.",
                file=name,
                language=printable(language[:100]),
            ),
            code="NotPython",
            field=FIELD,
            hint=_("Choose a notebook with a Python kernel."),
        )
    cells = [_dict(cell) for cell in content["cells"]]
    if len(cells) > MAX_CELLS:
        raise FieldError(
            _("{file} has more than {most} cells.", file=name, most=MAX_CELLS),
            code="TooManyCells",
            field=FIELD,
            hint=_("Split the notebook, or move its code to a script."),
        )
    kernel = kernelspec.get("name")
    return NotebookFile(
        cells=_code_cells(cells),
        text_cells=sum(1 for cell in cells if cell.get("cell_type") in ("markdown", "raw")),
        kernel=printable(kernel) if isinstance(kernel, str) else None,
    )


def _code_cells(cells: list[dict[str, Any]]) -> list[CodeCell]:
    found: list[CodeCell] = []
    seen: set[str] = set()
    for number, cell in enumerate(cells, 1):
        source = _source(cell) if cell.get("cell_type") == "code" else ""
        if not source.strip():
            continue
        key = cell.get("id")
        if not isinstance(key, str) or not _ID.fullmatch(key) or key in seen:
            key = str(number)
            while key in seen:
                key += "-"
        seen.add(key)
        tags = _dict(cell.get("metadata")).get("tags")
        words = frozenset(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else frozenset[str]()
        found.append(CodeCell(number, key, source, words))
    return found


def _load(data: bytes, name: str) -> dict[str, Any]:
    problem = FieldError(
        _("{file} is not a Jupyter notebook.", file=name),
        code="BadNotebook",
        field=FIELD,
        hint=_("Open it in JupyterLab to see what is wrong with it."),
    )
    try:
        content = _dict(json.loads(data))
        if content.get("nbformat") in (1, 2, 3):
            import nbformat  # Its own imports take longer than all else that `t9kjob submit` does.

            content = dict(nbformat.convert(nbformat.from_dict(content), 4))  # type: ignore[no-untyped-call]
    except RecursionError as error:
        raise problem from error
    except Exception as error:  # nbformat raises errors of any class for malformed old notebooks.
        problem.verbatim = str(error)[:500] or None
        raise problem from error
    if content.get("nbformat") is None or not isinstance(content.get("cells"), list):
        raise problem
    return content


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return re.sub(r"\r\n?", "\n", source).rstrip("\n") if isinstance(source, str) else ""
