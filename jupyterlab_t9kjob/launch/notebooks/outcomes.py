"""Says what becomes of each cell of a notebook in a job."""

from __future__ import annotations

import ast
import re
from typing import Final, Literal

from ...core.translation import Text, _, _n
from ..model import NotebookCell
from ..options.texts import printable
from .magics import HELPER
from .notebook import Cell, Notebook
from .parameters import TAG

MAX_CODE: Final = 512 * 1024
"""Most bytes of code in one answer; the code of further cells is left out."""
_MAX_TEXT: Final = 200
Mark = Literal["same", "changed", "question", "left_out"]
_CALL: Final = re.compile(rf"\s*(?:[\w.,\s\[\]*]+=\s*)?{HELPER}\.(?P<name>\w+)\((?P<text>'[^'\\]*'|\"[^\"\\]*\")")


def cells_of(notebook: Notebook) -> list[NotebookCell]:
    """Return the cells of a notebook as the form lists them."""
    found: list[NotebookCell] = []
    room = MAX_CODE
    for cell in notebook.cells:
        code = None if cell.error is not None else printable(cell.code.removesuffix("\n"))
        room -= len(code or "")
        first = cell.cell.source.lstrip("\n").split("\n", 1)[0].strip()
        mark, note = _outcome(cell, notebook)
        found.append(
            NotebookCell(
                number=cell.cell.number,
                key=cell.cell.key,
                text=printable(first[:_MAX_TEXT]),
                lines=cell.cell.source.strip("\n").count("\n") + 1,
                runs=cell.runs,
                mark=mark,
                note=note,
                code=code if room >= 0 else None,
            )
        )
    return found


def install_steps(cells: list[Cell]) -> list[str]:
    """Return the ``pip install`` commands of cells."""
    return [
        f"pip {printable(text)}"
        for cell in cells
        for name, text in _calls(cell)
        if name == "pip" and text.startswith("install")
    ]


def _outcome(cell: Cell, notebook: Notebook) -> tuple[Mark, Text | None]:
    """Return the mark of a cell and what becomes of it; None if it runs as it is."""
    if cell.error is not None:
        return "question", cell.error.message
    if cell.only_shows:
        return "left_out", _("Left out: for the display only")
    if not cell.runs:
        return "left_out", _("Left out: tag skip-job")
    if cell.interactive:
        return "question", cell.interactive[0].sentence
    if cell.launch is not None:
        return "changed", _(
            "Starts {program} with {launcher}", program=cell.launch.value, launcher=cell.launch.launcher
        )
    if TAG in cell.cell.tags and cell.cell.number == notebook.parameters.cell:
        count = len(notebook.parameters.items)
        return "same", _n("Tag parameters: {n} field", "Tag parameters: {n} fields", count)
    for name, text in _calls(cell):
        said = _command(name, printable(text[:_MAX_TEXT]))
        if said is not None:
            return "changed", said
    if cell.skipped:
        return "changed", _n("{n} line is left out", "{n} lines are left out", len(cell.skipped))
    return ("changed", _("Runs commands")) if cell.commands else ("same", None)


def _command(name: str, text: str) -> Text | None:
    match name:
        case "pip" if text.startswith("install"):
            return _("Install step: {packages}", packages=text.removeprefix("install").strip())
        case "writefile":
            return _("Writes {file}", file=text)
        case "cd":
            return _("Changes the working directory to {folder}", folder=text)
        case "env":
            return _("Sets the variable {name}", name=text.partition("=")[0].split(" ")[0])
        case "system" | "script" | "output":
            return _("Runs a command")
        case "run_file":
            return _("Runs {file}", file=text)
    return None


def _calls(cell: Cell) -> list[tuple[str, str]]:
    """Return the commands of a cell: the runtime's function and the command's text."""
    lines = cell.code.split("\n")
    matches = [_CALL.match(lines[number - 1]) for number in cell.commands]
    return [(found["name"], ast.literal_eval(found["text"])) for found in matches if found is not None]
