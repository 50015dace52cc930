"""Conversion of a notebook to a script: its code cells in order, with IPython's magics as Python where possible."""

from __future__ import annotations
import __future__

import ast
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final

from ...core.errors import FieldError
from ...core.translation import Text, _
from ..model import ScriptOption
from ..options.texts import printable
from ..scripts.source_text import FIELD, SourceError, check_code, parse
from .arguments import chosen_cells, own_options
from .interactive import Interactive, interactive_calls
from .launch_lines import LaunchLine, find_launch_line
from .magics import HELPER
from .parameters import Parameters, read_parameters
from .python_lines import lost_captures, python_lines
from .reader import CodeCell, read_file
from .script_file import script_text

SKIP_TAG: Final = "skip-job"
FUTURES = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))


@dataclass(frozen=True)
class SkippedLine:
    """A line that a job leaves out, because only IPython understands it; `cell` and `line` count from 1."""

    cell: int
    line: int
    text: str


@dataclass
class Cell:
    """A code cell and its conversion.

    Attributes
    ----------
    cell
        The cell as it is in the notebook.
    code
        The cell as Python; empty if it has an error.
    skipped
        Lines that were commented out.
    commands
        Lines of `code`, from 1, that run other programs or write files.
    interactive
        Calls that need a person or a display.
    launch
        Command of the cell that starts the processes of a training; None if there is none.
    error
        Error because of which a job can't run the cell.
    """

    cell: CodeCell
    code: str = ""
    skipped: list[SkippedLine] = field(default_factory=list)
    commands: list[int] = field(default_factory=list)
    interactive: list[Interactive] = field(default_factory=list)
    launch: LaunchLine | None = None
    error: SourceError | None = None

    @property
    def only_shows(self) -> bool:
        """True if no statement is left after the lines for IPython were commented out."""
        return bool(self.skipped) and all(not line or line.lstrip().startswith("#") for line in self.code.split("\n"))

    @property
    def runs(self) -> bool:
        """True if the cell runs unless the job chooses otherwise."""
        return SKIP_TAG not in self.cell.tags and not self.only_shows


@dataclass
class Converted:
    """The cells of a notebook that a job runs, as one Python text.

    Attributes
    ----------
    code
        The text, which is analysed and never run.
    places
        For each line of `code`, the number of its cell among all cells and its line in the cell, both from 1.
    cells
        The cells.
    skipped
        Lines that were commented out.
    commands
        Lines of `code` that run other programs or write files.
    """

    code: str
    places: list[tuple[int, int]]
    cells: list[Cell]
    skipped: list[SkippedLine]
    commands: list[int]


@dataclass
class Notebook:
    """A notebook whose code cells were converted, one by one.

    Attributes
    ----------
    name
        Name of the file.
    cells
        The code cells that are not empty.
    text_cells
        Number of other cells.
    kernel
        Name of the notebook's kernel; None if the notebook has none.
    parameters
        Variables of the cell with the tag ``parameters`` that a job's arguments set.
    """

    name: str
    cells: list[Cell]
    text_cells: int
    kernel: str | None
    parameters: Parameters

    def options(self, converted: Converted | None) -> list[ScriptOption]:
        """Return the options of the notebook's script: its parameters, the choice of cells and the install step.

        Parameters
        ----------
        converted
            The cells that run, in which the options have their lines; None if a cell has an error.
        """
        default = [cell.cell.key for cell in self.cells if cell.runs]
        found = self.parameters.options()
        places = converted.places if converted is not None else []
        for option in found:
            place = (self.parameters.cell, option.line)
            option.line = places.index(place) + 1 if place in places else 1
        return [*found, *own_options(default)]

    def chosen(self, args: list[str]) -> list[Cell]:
        """Return the cells that a job with these arguments runs."""
        keys = chosen_cells(args)
        return [cell for cell in self.cells if (cell.runs if keys is None else cell.cell.key in keys)]

    def unknown_cells(self, args: list[str]) -> int:
        """Return the number of chosen cells that the notebook no longer has."""
        known = {cell.cell.key for cell in self.cells}
        return len(set(chosen_cells(args) or []) - known)

    def convert(self, args: list[str] | None = None) -> Converted:
        """Return the cells that a job runs as one text.

        Parameters
        ----------
        args
            Arguments of the job; None for the notebook's own choice of cells.

        Raises
        ------
        SourceError
            If one of the cells is not valid Python, or has a line that only IPython can run.
        FieldError
            If no cell runs.
        """
        if not self.cells:
            raise FieldError(
                _("{file} has no code, so there is nothing to run.", file=self.name),
                code="NoCode",
                field=FIELD,
                hint=_("Write a code cell and save the notebook."),
            )
        cells = self.chosen(args or [])
        for cell in cells:
            if cell.error is not None:
                raise cell.error
        lines: list[str] = []
        places: list[tuple[int, int]] = []
        commands: list[int] = []
        for cell in cells:
            code = cell.code.removesuffix("\n").split("\n")
            commands += [len(lines) + line for line in cell.commands]
            places += [(cell.cell.number, line) for line in range(1, len(code) + 1)]
            lines += code
        return Converted(
            code="\n".join(lines) + "\n",
            places=places or [(1, 1)],
            cells=cells,
            skipped=[line for cell in cells for line in cell.skipped],
            commands=commands,
        )

    def script(self) -> str:
        """Return the text of the script, which contains all cells: its arguments choose those that run."""
        return script_text(
            self.name,
            [(cell.cell, cell.code) for cell in self.cells if cell.error is None],
            {cell.cell.key for cell in self.cells if not cell.runs},
            self.parameters,
        )


def read_notebook(data: bytes, name: str) -> Notebook:
    """Read a notebook and convert its cells.

    A cell that a job can't run raises no error: see `Cell.error`.

    Parameters
    ----------
    data
        Content of the notebook's file.
    name
        Name of the file, for messages.

    Raises
    ------
    FieldError
        If the file is not a notebook, or if its language is not Python.
    """
    file = read_file(data, name)
    cells: list[Cell] = []
    flags = 0
    lost = lost_captures(file.cells, name)
    for source in file.cells:
        cell = _convert(source, lost.get(source.number), name)
        if cell.error is None:
            try:
                flags |= _check(cell.code, name, source.number, flags) & FUTURES
            except SourceError as error:
                cell.error = error
        cells.append(cell)
    parameters = read_parameters([(cell.cell, cell.code) for cell in cells])
    return Notebook(name, cells, file.text_cells, file.kernel, parameters)


def _convert(source: CodeCell, error: SourceError | None, name: str) -> Cell:
    cell = Cell(source, error=error)
    code: list[str] = []
    try:
        for line, (text, dropped) in enumerate(python_lines(source.source, name, source.number), 1):
            code.append(text)
            if dropped is not None:
                cell.skipped.append(SkippedLine(cell=source.number, line=line, text=printable(dropped)))
            if f"{HELPER}." in text and f"{HELPER}.time" not in text:
                cell.commands.append(line)
    except SourceError as error:
        cell.error = error
    cell.code = "\n".join(code) + "\n"
    cell.interactive = interactive_calls(cell.code, source.source)
    cell.launch = find_launch_line(source.source)
    return cell


def _check(text: str, name: str, cell: int, flags: int) -> int:
    """Return the compiler flags of a cell; raise `SourceError` if it is not valid Python."""
    try:
        tree = parse(text.encode("utf-8", "backslashreplace").decode(), name)
        return 0 if tree is None else check_code(tree, name, flags=flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SourceError as error:
        if error.line is None:
            raise
        cause = error.__cause__
        detail = cause.msg if isinstance(cause, SyntaxError) else error.message
        raise SourceError(
            _cell_error(name, cell, error.line, error.column, detail), line=error.line, column=error.column, cell=cell
        ) from cause


def _cell_error(name: str, cell: int, line: int, column: int | None, detail: str) -> Text:
    if not column:
        return _(
            "{file} has a syntax error in cell {cell}, line {line}: {error}.",
            file=name,
            cell=cell,
            line=line,
            error=detail,
        )
    return _(
        "{file} has a syntax error in cell {cell}, line {line}, column {column}: {error}.",
        file=name,
        cell=cell,
        line=line,
        column=column,
        error=detail,
    )
