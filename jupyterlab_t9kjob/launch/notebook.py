"""A notebook as a script: code cells in order, what only IPython understands commented out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from ..core.disk import no_room, trouble_of
from ..core.errors import Conflict, FieldError
from ..core.spec import Entrypoint
from .model import SkippedLine
from .script import FIELD, SourceError, parse

HEADER = "# Made by jupyterlab_t9kjob from "

# Their cell is Python and runs as it would without them.
TRANSPARENT_MAGICS = frozenset({"%%time", "%%capture"})
# At the beginning of a statement none of these is Python.
MAGIC = re.compile(
    r"""\s*(?:
        [%!?,;/]                                              # %magic  !command  ?help  ,call  /call
      | (?:pip|conda|mamba|uv)\s+\w                           # %pip may be written without its sign
      | [A-Za-z_][\w.,\s\[\]*]*=\s*[!%]\s*[^\s=]              # files = !ls
      | [A-Za-z_*][\w.*]*(?:\[-?\d+\])*\?{1,2}\s*(?:\#.*)?$   # thing?
    )""",
    re.VERBOSE,
)
TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<triple>'{3}|\"{3})
      | (?P<string>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)  # one that does not end is taken as well: no way back
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)


@dataclass
class Converted:
    """A notebook as a script.

    Attributes
    ----------
    text
        The script.
    places
        For each of its lines the cell (from 1, all cells counted) and line (from 1); cell 0 is
        the header.
    cells
        Number of code cells that run.
    skipped
        What was commented out.
    kernel
        The kernel that the notebook names.
    """

    text: str
    places: list[tuple[int, int]]
    cells: int
    skipped: list[SkippedLine]
    kernel: str | None


def script_path(notebook: Path) -> Path:
    """Return where a notebook's script is written: ``explore.ipynb`` → ``explore.t9kjob.py``."""
    return Path(Entrypoint(kind="notebook", value=str(notebook)).script)


def convert(data: bytes, name: str) -> Converted:
    """Make a script of a notebook.

    Parameters
    ----------
    data
        The notebook's file.
    name
        Its name, for the header and for messages.

    Raises
    ------
    FieldError
        If it is not a notebook, has no code, its kernel is not Python, or a cell is not valid Python (with the cell
        and its line).
    """
    content = _load(data, name)
    kernelspec, language_info = (
        _dict(_dict(content.get("metadata")).get(key)) for key in ("kernelspec", "language_info")
    )
    language = kernelspec.get("language") or language_info.get("name") or "python"
    if str(language).lower() not in {"python", "ipython"}:
        raise FieldError(
            f"{name} is a notebook in {language}. Only Python notebooks can run as a distributed job.",
            reason="NotPython",
            field=FIELD,
            hint="Choose a notebook with a Python kernel.",
        )
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    skipped: list[SkippedLine] = []
    cells = 0
    for number, cell in enumerate(content["cells"], 1):
        source = _source(cell) if _dict(cell).get("cell_type") == "code" else ""
        if not source.strip():
            continue
        cells += 1
        lines += ["", f"# %% [cell {number}]"]
        places += [(number, 0), (number, 0)]
        for line, (text, dropped) in enumerate(_python_lines(source), 1):
            lines.append(text)
            places.append((number, line))
            if dropped is not None:
                skipped.append(SkippedLine(cell=number, line=line, text=dropped))
    if not cells:
        raise FieldError(
            f"{name} has no code, so there is nothing to run.",
            reason="NoCode",
            field=FIELD,
            hint="Write a code cell and save the notebook.",
        )
    header = _header(name, "\n".join(lines))
    kernel = kernelspec.get("name")
    converted = Converted(
        text="\n".join(header + lines) + "\n",
        places=[(0, 0)] * len(header) + places,
        cells=cells,
        skipped=skipped,
        kernel=kernel if isinstance(kernel, str) else None,
    )
    _check(converted, name)
    return converted


def write_script(notebook: Path, converted: Converted) -> Path:
    """Write a notebook's script beside it.

    Returns
    -------
    Path
        The script.

    Raises
    ------
    Conflict
        If a file of that name exists that was not made here.
    FieldError
        If the folder can't be written to.
    """
    path = script_path(notebook)
    if os.path.lexists(path) and not _ours(path):
        raise Conflict(
            f"{path.name} exists and was not made from a notebook, so it is not overwritten.",
            reason="ScriptExists",
            field=FIELD,
            hint=f"Rename or move {path.name}, or rename the notebook.",
        )
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(converted.text)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # a read-only disk says that also of what is not there
            temporary.unlink(missing_ok=True)
        trouble = trouble_of(error, path.parent)
        raise FieldError(
            f"{path.name} can't be written beside the notebook: {trouble.sentence}.",
            reason="NotWritable",
            field=FIELD,
            hint=trouble.hint if no_room(error) else "Copy the notebook to a folder that you may write to.",
            verbatim=error.strerror,
        ) from error
    return path


def _load(data: bytes, name: str) -> dict[str, Any]:
    problem = FieldError(
        f"{name} is not a Jupyter notebook.",
        reason="BadNotebook",
        field=FIELD,
        hint="Open it in JupyterLab to see what is wrong with it.",
    )
    try:
        content = _dict(json.loads(data))
        if content.get("nbformat") in (1, 2, 3):
            content = dict(nbformat.convert(nbformat.from_dict(content), 4))  # type: ignore[no-untyped-call]
    except RecursionError as error:
        raise problem from error
    except Exception as error:  # nbformat answers to malformed old notebooks with any error at all
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
    return "\n".join(source.splitlines()) if isinstance(source, str) else ""


def _header(name: str, body: str) -> list[str]:
    lines = [
        f"{HEADER}{json.dumps(name, ensure_ascii=False)}, anew at every submission: change the notebook instead.",
        "# What only IPython understands is commented out.",
    ]
    if re.search(r"(?<![\w.])display\(", body):
        lines.append("from IPython.display import display")
    return lines


def _python_lines(source: str) -> Iterator[tuple[str, str | None]]:
    """Yield each line of a cell as Python and, if it was commented out, as it was."""
    lines = source.split("\n")
    first = next(index for index, line in enumerate(lines) if line.strip())
    magic = lines[first].split()[0]
    whole_cell = magic.startswith("%%") and magic not in TRANSPARENT_MAGICS
    scanner = _Scanner()
    goes_on = False  # a magic's line ended in a backslash
    # IPython takes off the first line's indentation everywhere.
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    for line in (line.removeprefix(margin) for line in lines):
        if whole_cell:
            yield f"# {line}".rstrip(), line if line.strip() else None
        elif goes_on or (scanner.at_statement and MAGIC.match(line)):
            indent = line[: len(line) - len(line.lstrip())]
            # It may be all that an indented block has.
            filler = "pass  " if indent and not goes_on else ""
            yield f"{indent}{filler}# {line.strip()}", line
            goes_on = line.endswith("\\")
        else:
            scanner.feed(line)
            yield line, None


class _Scanner:
    """Follows strings, brackets and continuations, to know where a statement begins."""

    def __init__(self) -> None:
        self._quote: str | None = None
        self._depth = 0
        self._continued = False

    @property
    def at_statement(self) -> bool:
        """Whether the next line begins a statement."""
        return self._quote is None and self._depth == 0 and not self._continued

    def feed(self, line: str) -> None:
        """Take in a line of Python."""
        position = 0
        commented = False
        while position < len(line):
            if self._quote is not None:
                end = re.compile(rf"(?:[^\\]|\\.)*?{self._quote}").match(line, position)
                if end is None:
                    break
                position, self._quote = end.end(), None
                continue
            token = TOKEN.search(line, position)
            if token is None:
                break
            position = token.end()
            if token["comment"]:
                commented = True
            elif token["triple"]:
                self._quote = token["triple"]
            elif token["open"]:
                self._depth += 1
            elif token["close"]:
                self._depth = max(0, self._depth - 1)
        self._continued = line.endswith("\\") and not commented and self._quote is None


def _ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(len(HEADER)) == HEADER
    except OSError:
        return False


def _check(converted: Converted, name: str) -> None:
    try:
        parse(converted.text.encode("utf-8", "backslashreplace").decode(), name)
    except SourceError as error:
        if error.line is None:
            raise
        cell, line = converted.places[min(error.line, len(converted.places)) - 1]
        cause = error.__cause__
        detail = cause.msg if isinstance(cause, SyntaxError) else error.message
        column = f", column {error.column}" if error.column else ""
        raise SourceError(
            f"{name} has a syntax error in cell {cell}, line {line}{column}: {detail}.",
            line=error.line,
            column=error.column,
            cell=cell,
        ) from cause
