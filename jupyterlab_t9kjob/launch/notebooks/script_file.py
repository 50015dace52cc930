"""Text of the script that is made from a notebook, and its file."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from pathlib import Path
from typing import Final

from ...core.errors import Conflict, FieldError
from ...core.spec import Entrypoint
from ...core.system.disk import no_room, trouble_of
from ...core.translation import _
from ..scripts.source_text import FIELD
from .magics import HELPER
from .parameters import Parameters
from .reader import CodeCell

HEADER: Final = "# Made by jupyterlab_t9kjob from "
RUNTIME: Final = Path(__file__).with_name("runtime.py").read_text(encoding="utf-8")


def script_path(notebook: Path) -> Path:
    """Return the path of a notebook's script: ``explore.ipynb`` → ``explore.t9kjob.py``."""
    return Path(Entrypoint(kind="notebook", value=str(notebook)).script)


def script_text(name: str, cells: list[tuple[CodeCell, str]], left_out: set[str], parameters: Parameters) -> str:
    """Return the script that runs a notebook's cells, each with a name of its own in tracebacks.

    Parameters
    ----------
    name
        Name of the notebook.
    cells
        The code cells, each with its text as Python.
    left_out
        Keys of the cells that run only if the job's arguments choose them.
    parameters
        Parameters of the notebook.
    """
    # The name must not look like a declaration of the file's encoding (PEP 263).
    quoted = json.dumps(name, ensure_ascii=False).replace("coding", r"cod\u0069ng")
    settings = {"left_out": sorted(left_out), "parameters": parameters.kinds, "after": parameters.after}
    given = "".join(f", {key}={value!r}" for key, value in settings.items() if value)
    lines = [
        f"{HEADER}{quoted}, anew at every submission: change the notebook instead.",
        "# The cells are at the end. Lines for IPython are commented out or call the functions below.",
        "import types",
        f"{HELPER} = types.ModuleType({HELPER!r})",
        f"exec(compile({_literal(RUNTIME)}, 'notebook helper', 'exec'), {HELPER}.__dict__)",
        f"{HELPER}.begin(globals().get('__file__'){given})",
    ]
    if any("get_ipython" in text for _cell, text in cells):
        lines += ["def get_ipython():", "    return None  # as IPython's own function does outside IPython"]
    if any(re.search(r"(?<![\w.])display\(", text) for _cell, text in cells):
        lines += ["try:", "    from IPython.display import display", "except ImportError:", "    display = print"]
    shown = re.sub(r"[\x00-\x1f\x7f\"]", "_", name)
    for cell, text in cells:
        called = f"{shown}, cell {cell.number}"
        lines += [
            "",
            f"# %% [cell {cell.number}]",
            f"{HELPER}.run({called!r}, {_literal(text)}, globals(), {cell.key!r})",
        ]
    return "\n".join(lines) + "\n"


def write_script(notebook: Path, text: str) -> Path:
    """Write a notebook's script to the notebook's folder.

    Parameters
    ----------
    notebook
        Path of the notebook.
    text
        Text of the script.

    Returns
    -------
    Path
        Path of the script.

    Raises
    ------
    Conflict
        If a file with that name exists and was not made from a notebook.
    FieldError
        If the script can't be written.
    """
    path = script_path(notebook)
    if os.path.lexists(path) and not _ours(path):
        raise Conflict(
            _("{file} exists and was not made from a notebook, so it is not overwritten.", file=path.name),
            code="ScriptExists",
            field=FIELD,
            hint=_("Rename or move {file}, or rename the notebook.", file=path.name),
        )
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # A read-only disk raises this even if the file does not exist.
            temporary.unlink(missing_ok=True)
        trouble = trouble_of(error, path.parent)
        raise FieldError(
            _("{file} can't be written beside the notebook: {problem}.", file=path.name, problem=trouble.sentence),
            code="NotWritable",
            field=FIELD,
            hint=trouble.hint if no_room(error) else _("Copy the notebook to a folder that you may write to."),
            verbatim=error.strerror,
        ) from error
    return path


def _literal(text: str) -> str:
    """Return a text as a Python string literal with an additional line break at its start, readable if possible."""
    quote = next((quote for quote in ("'''", '"""') if quote not in text), None)
    return repr(f"\n{text}") if quote is None or not text.endswith("\n") else f"r{quote}\n{text}{quote}"


def _ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(len(HEADER)) == HEADER
    except OSError:
        return False
