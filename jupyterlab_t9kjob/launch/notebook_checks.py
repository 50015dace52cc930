"""Checks of a notebook's cells: calls that need a person, left-out lines, and commands of each process."""

from __future__ import annotations

from ..core.checks import Check
from ..core.job import Fix
from ..core.spec import JobSpec
from ..core.translation import _, _n
from .notebooks.arguments import CELLS, with_cells
from .notebooks.magics import INSTALL
from .notebooks.notebook import Cell
from .scripts.source_text import FIELD
from .source_file import Source

MAX_INTERACTIVE = 10
"""Most lines about interactive calls."""


def notebook_checks(spec: JobSpec, source: Source) -> list[Check]:
    """Return the checks of a notebook's cells; none for a script.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook.
    """
    return [*_unknown_cells(spec, source), *_interactive(spec, source), *_skipped(source), *_commands(spec, source)]


def unreadable_cell(spec: JobSpec, source: Source) -> Fix | None:
    """Return the change that leaves out the cell with the error; None for a script or the only cell.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook, which has an error.
    """
    if source.notebook is None or source.error is None or source.error.cell is None:
        return None
    cells = source.notebook.chosen(spec.args)
    broken = next((cell for cell in cells if cell.cell.number == source.error.cell), None)
    return None if broken is None else _leave_out(spec, cells, broken)


def _leave_out(spec: JobSpec, cells: list[Cell], cell: Cell) -> Fix | None:
    rest = [other.cell.key for other in cells if other is not cell]
    return Fix(label=_("Leave it out"), changes={"/spec/args": with_cells(spec.args, rest)}) if rest else None


def _unknown_cells(spec: JobSpec, source: Source) -> list[Check]:
    count = source.notebook.unknown_cells(spec.args) if source.notebook else 0
    if not count:
        return []
    message = _n(
        "{n} chosen cell is no longer in {notebook}.",
        "{n} chosen cells are no longer in {notebook}.",
        count,
        notebook=source.path.name,
    )
    return [Check(level="warning", code="CellsGone", message=message, hint=_("Check the list of cells."))]


def _interactive(spec: JobSpec, source: Source) -> list[Check]:
    if source.converted is None:
        return []
    cells = source.converted.cells
    return [
        Check(
            level=call.level,
            code="Interactive",
            message=call.sentence,
            option=CELLS,
            link=source.cell_link(cell.cell.number, call.line),
            fix=_leave_out(spec, cells, cell) if call.level == "warning" else None,
        )
        for cell in cells
        for call in cell.interactive
    ][:MAX_INTERACTIVE]


def _skipped(source: Source) -> list[Check]:
    count = len(source.converted.skipped) if source.converted else 0
    if not count:
        return []
    message = _n(
        "Only IPython understands 1 line of the notebook. The job leaves it out.",
        "Only IPython understands {n} lines of the notebook. The job leaves them out.",
        count,
    )
    return [Check(level="hint", code="LinesSkipped", message=message, link=source.link(None))]


def _commands(spec: JobSpec, source: Source) -> list[Check]:
    """Hint that each process runs the notebook's shell and magic commands."""
    if source.converted is None or source.script.launch is not None:
        return []
    lines = source.converted.code.split("\n")
    commands = [line for line in source.converted.commands if not INSTALL.match(lines[line - 1])]
    if not commands or spec.torchrun is None or (spec.torchrun.proc_per_node == 1 and spec.total_replicas == 1):
        return []
    message = _("Every process runs the notebook's commands (!, %, %%), as it runs its code.")
    return [Check(level="hint", code="CommandsRepeated", message=message, link=source.link(commands[0]))]


def unseen_notebook(spec: JobSpec) -> list[Check]:
    """Return an error for a notebook whose script could not be written where the job finds it."""
    if spec.entrypoint.kind != "notebook":
        return []
    message = _(
        "The job sees none of JupyterLab's files, so the script made from {notebook} can't be written for it.",
        notebook=spec.entrypoint.value.rpartition("/")[2],
    )
    hint = _("Save the notebook as a script that the job can read, and run that script.")
    return [Check(level="error", code="NotebookNotSeen", message=message, hint=hint, field=FIELD)]
