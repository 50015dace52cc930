"""Detection of calls that need a person or a display, which a job does not have."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Final, Literal

from ...core.translation import Text, _
from ..options.texts import dotted

_BACKENDS: Final = re.compile(r"\s*%matplotlib\s+(?P<name>notebook|widget|ipympl|nbagg|qt\d?|tk|gtk\d?|wx|osx)\b")
_DEBUGGERS: Final = frozenset(
    ("breakpoint", "pdb.set_trace", "ipdb.set_trace", "pdb.run", "pdb.pm", "pdb.post_mortem", "IPython.embed")
)
_INPUTS: Final = frozenset({"input", "getpass.getpass", "getpass", "sys.stdin.readline", "sys.stdin.read"})
_SHOWS: Final = frozenset({"plt.show", "pyplot.show", "matplotlib.pyplot.show", "plotly.io.show"})
_WIDGETS: Final = frozenset({"ipywidgets", "interact", "interactive", "interact_manual", "interactive_output"})


@dataclass(frozen=True)
class Interactive:
    """A call that needs a person or a display.

    Attributes
    ----------
    line
        Line in the cell, from 1.
    level
        ``warning`` if the call fails in a job, ``hint`` if it has no effect.
    sentence
        What happens in a job.
    """

    line: int
    level: Literal["warning", "hint"]
    sentence: Text


def interactive_calls(code: str, source: str) -> list[Interactive]:
    """Return the calls of a cell that need a person or a display, at most one of each kind.

    Parameters
    ----------
    code
        The cell as Python.
    source
        The cell as it is in the notebook.
    """
    found: dict[str, Interactive] = {}
    for number, line in enumerate(source.split("\n"), 1):
        backend = _BACKENDS.match(line)
        if backend is not None:
            sentence = _("A job has no display, so %matplotlib {backend} is left out.", backend=backend["name"])
            found.setdefault("backend", Interactive(number, "hint", sentence))
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return list(found.values())
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        if name is None or name.partition(".")[0] in defined:
            continue
        if name in _INPUTS:
            sentence = _("Nobody can type into a job, so {call}() fails.", call=name)
            found.setdefault("input", Interactive(node.lineno, "warning", sentence))
        elif name in _DEBUGGERS:
            sentence = _("Nobody can type into a job, so the debugger {call}() ends the run.", call=name)
            found.setdefault("debugger", Interactive(node.lineno, "warning", sentence))
        elif name in _SHOWS:
            sentence = _("A job has no display, so {call}() shows nothing. Save the figure to a file.", call=name)
            found.setdefault("show", Interactive(node.lineno, "hint", sentence))
        elif name in _WIDGETS or name.startswith(("widgets.", "ipywidgets.")):
            sentence = _("Nobody can use the widget {call} in a job.", call=name)
            found.setdefault("widget", Interactive(node.lineno, "hint", sentence))
    return list(found.values())
