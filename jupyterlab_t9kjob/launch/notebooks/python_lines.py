"""Conversion of a cell's lines from IPython's syntax to Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...core.translation import _
from ..options.texts import printable
from ..scripts.source_text import SourceError
from .magics import AUTOMAGIC, TRANSPARENT, Refused, cell_code, line_code
from .reader import CodeCell
from .scanner import Scanner

# None of these is valid Python at the beginning of a statement.
MAGIC = re.compile(
    rf"""\s*(?:
        [%!?,;/]                                              # %magic  !command  ?help  ,call  /call
      | {AUTOMAGIC}                                         # %pip may be written without its sign
      | [A-Za-z_][\w.,\s\[\]*]*=\s*[!%]\s*[^\s=]              # files = !ls
      | [A-Za-z_*][\w.*]*(?:\[-?\d+\])*\?{{1,2}}\s*(?:\#.*)?$   # thing?
    )""",
    re.VERBOSE,
)


_CAPTURE: Final = re.compile(
    r"\s*(?:%%time\s*\n\s*)?(?P<line>%%capture[ \t]+(?:-\S+[ \t]+)*(?P<target>[A-Za-z_]\w*).*)"
)
_USED: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*(?:[.(]|$)", re.MULTILINE)
"""A name that is called, whose attributes are used, or that ends a line."""


def python_lines(source: str, name: str, cell: int) -> Iterator[tuple[str, str | None]]:
    """Yield each line of a cell as Python, with the original line if it was commented out.

    Parameters
    ----------
    source
        Text of the cell, with at least one line that is not blank.
    name
        File name of the notebook, for messages.
    cell
        Number of the cell, from 1.

    Raises
    ------
    SourceError
        If a job can't run a line.
    """
    lines = source.split("\n")
    first = next(index for index, line in enumerate(lines) if line.strip())
    # IPython removes the first line's indentation from all lines.
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    lines = [line.removeprefix(margin) for line in lines]
    while first < len(lines) and (lines[first].split() or [""])[0] in TRANSPARENT:
        for line in lines[: first + 1]:
            yield f"# {line}".rstrip() if line else "", line if line.strip() else None
        lines = lines[first + 1 :]
        first = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    offset = len(source.split("\n")) - len(lines)
    if first < len(lines) and lines[first].startswith("%%"):
        magic, _space, rest = lines[first].partition(" ")
        try:
            code = cell_code(magic, rest.strip(), "\n".join(lines[first + 1 :]) + "\n")
        except Refused:
            raise _refusal(lines[first].rstrip(), name, cell, offset + first + 1) from None
        for index, line in enumerate(lines):
            if code is not None:
                yield code if index == first else "", None
            else:
                yield f"# {line}".rstrip(), line if line.strip() else None
        return
    yield from _lines(lines, offset, name, cell)


def _lines(lines: list[str], offset: int, name: str, cell: int) -> Iterator[tuple[str, str | None]]:
    scanner = Scanner()
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if not (scanner.at_statement and MAGIC.match(line)):
            scanner.feed(line)
            yield line, None
            continue
        own = [line]
        while own[-1].endswith("\\") and index < len(lines):
            own.append(lines[index])
            index += 1
        indent = line[: len(line) - len(line.lstrip())]
        text = " ".join(part.removesuffix("\\").strip() for part in own)
        try:
            code = line_code(text)
        except Refused:
            raise _refusal(text, name, cell, offset + index - len(own) + 1) from None
        if code is not None:
            yield indent + code, None
            yield from (("", None) for _part in own[1:])
        else:
            filler = "pass  " if indent else ""  # The line may be the only one of an indented block.
            yield f"{indent}{filler}# {own[0].strip()}", own[0]
            yield from ((f"{indent}# {part.strip()}", part) for part in own[1:])


def lost_captures(cells: list[CodeCell], name: str) -> dict[int, SourceError]:
    """Return an error for each ``%%capture out`` whose `out` another cell uses: a job's output goes to its log.

    Parameters
    ----------
    cells
        All code cells.
    name
        Name of the notebook, for the messages.

    Returns
    -------
    dict
        The errors by the number of the cell that captures its output.
    """
    captures = [(cell, found) for cell in cells if (found := _CAPTURE.match(cell.source)) is not None]
    users: dict[str, set[int]] = {found["target"]: set() for _cell, found in captures}
    for cell in cells if captures else ():
        for used in _USED.finditer(cell.source):
            if used[1] in users:
                users[used[1]].add(cell.number)
    lost: dict[int, SourceError] = {}
    for cell, found in captures:
        if users[found["target"]] - {cell.number}:
            line = cell.source.count("\n", 0, found.start("line")) + 1
            lost[cell.number] = _refusal(found["line"].strip(), name, cell.number, line)
    return lost


def _refusal(text: str, name: str, cell: int, line: int) -> SourceError:
    shown = printable(text if len(text) <= 80 else f"{text[:80]}…")
    message = _(
        "{file} has {code} in cell {cell}, line {line}, which only IPython can run.",
        file=name,
        code=shown,
        cell=cell,
        line=line,
    )
    problem = SourceError(message, line=line, cell=cell)
    problem.code = "OnlyInIPython"
    problem.hint = _("Remove it or write it as Python, and save the notebook.")
    return problem
