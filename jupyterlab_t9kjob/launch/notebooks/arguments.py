"""Arguments of the script that is made from a notebook: the cells that run, and the install step.

The script takes them out of ``sys.argv`` before the first cell runs (`runtime.py`). They are part of the job's
arguments, so that every engine, manifest, preset and repeated job keeps them.
"""

from __future__ import annotations

from typing import Final

from ..model import ScriptOption

CELLS: Final = "--t9kjob-cells"
"""Option with the keys of the cells that run, separated by commas."""
INSTALL: Final = "--t9kjob-install"
NO_INSTALL: Final = "--t9kjob-no-install"
"""Flag that switches off the notebook's ``pip install`` commands."""


def chosen_cells(args: list[str]) -> list[str] | None:
    """Return the keys of the cells that run; None for the notebook's own choice."""
    chosen: list[str] | None = None
    for index, word in enumerate(args):
        name, equals, value = word.partition("=")
        if name == CELLS:
            text = value if equals else args[index + 1] if index + 1 < len(args) else ""
            chosen = [key for key in text.split(",") if key]
    return chosen


def with_cells(args: list[str], keys: list[str]) -> list[str]:
    """Return the arguments with another choice of cells.

    Parameters
    ----------
    args
        The job's arguments. An earlier choice of cells is removed.
    keys
        Keys of the cells that run; no other cell does.
    """
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == CELLS:
            next(words, None)
        elif not word.startswith(f"{CELLS}="):
            rest.append(word)
    return [f"{CELLS}={','.join(keys)}", *rest]


def installs(args: list[str]) -> bool:
    """Return True if the job runs the notebook's ``pip install`` commands."""
    given = [word for word in args if word in (INSTALL, NO_INSTALL)]
    return not given or given[-1] == INSTALL


def own_options(default_cells: list[str]) -> list[ScriptOption]:
    """Return the script's own options, which the form shows as the list of cells and the install step.

    Parameters
    ----------
    default_cells
        Keys of the cells that run if the job chooses none.
    """
    return [
        ScriptOption(flags=[CELLS], dest="t9kjob_cells", kind="text", default=",".join(default_cells), line=1),
        ScriptOption(flags=[INSTALL], off_flag=NO_INSTALL, dest="t9kjob_install", kind="flag", default="True", line=1),
    ]
