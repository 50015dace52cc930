"""Conversion of a notebook to a script: its code cells in order, with IPython's magics as Python where possible."""

from __future__ import annotations
import __future__

import ast
import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import nbformat

from ...core.errors import Conflict, FieldError
from ...core.spec import Entrypoint
from ...core.system.disk import no_room, trouble_of
from ...core.translation import Text, _
from ..model import SkippedLine
from ..scripts.options import printable
from ..scripts.script import FIELD, SourceError, check_code, parse
from .magics import AUTOMAGIC, HELPER, TRANSPARENT, Refused, cell_code, line_code
from .scanner import Scanner

HEADER = "# Made by jupyterlab_t9kjob from "

HELPER_TEXT = Path(__file__).with_name("cells.py").read_text(encoding="utf-8")
FUTURES = reduce(or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names))
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


@dataclass
class Converted:
    """A notebook as a script.

    Attributes
    ----------
    text
        Text of the script.
    code
        The cells as one Python text, which is analysed and never run.
    places
        For each line of `code`, the number of its cell among all cells and its line in the cell, both from 1.
    cells
        Number of code cells that run.
    skipped
        Lines that were commented out.
    commands
        Lines of `code` that run other programs or write files.
    kernel
        Name of the notebook's kernel; None if the notebook has none.
    """

    text: str
    code: str
    places: list[tuple[int, int]]
    cells: int
    skipped: list[SkippedLine]
    commands: list[int]
    kernel: str | None


def script_path(notebook: Path) -> Path:
    """Return the path of a notebook's script: ``explore.ipynb`` → ``explore.t9kjob.py``."""
    return Path(Entrypoint(kind="notebook", value=str(notebook)).script)


def convert(data: bytes, name: str) -> Converted:
    """Convert a notebook to a script.

    Parameters
    ----------
    data
        Content of the notebook's file.
    name
        Name of the file, for the script's header and for messages.

    Raises
    ------
    FieldError
        If the file is not a notebook or has no code, if its language is not Python, or if a cell is not valid Python.
    """
    content = _load(data, name)
    kernelspec, language_info = (
        _dict(_dict(content.get("metadata")).get(key)) for key in ("kernelspec", "language_info")
    )
    language = kernelspec.get("language") or language_info.get("name") or "python"
    if str(language).lower() not in {"python", "ipython"}:
        raise FieldError(
            _(
                "{file} is a notebook in {language}. Only Python notebooks can run as a distributed job.",
                file=name,
                language=str(language),
            ),
            code="NotPython",
            field=FIELD,
            hint=_("Choose a notebook with a Python kernel."),
        )
    _refuse_lost_capture(content["cells"], name)
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    skipped: list[SkippedLine] = []
    commands: list[int] = []
    texts: list[tuple[int, str]] = []
    flags = 0
    for number, cell in enumerate(content["cells"], 1):
        source = _source(cell) if _dict(cell).get("cell_type") == "code" else ""
        if not source.strip():
            continue
        code: list[str] = []
        for line, (text, dropped) in enumerate(_python_lines(source, name, number), 1):
            code.append(text)
            places.append((number, line))
            if dropped is not None:
                skipped.append(SkippedLine(cell=number, line=line, text=printable(dropped)))
            if f"{HELPER}." in text and f"{HELPER}.time" not in text:
                commands.append(len(lines) + line)
        lines += code
        texts.append((number, "\n".join(code) + "\n"))
        flags |= _check(texts[-1][1], name, number, flags) & FUTURES
    if not texts:
        raise FieldError(
            _("{file} has no code, so there is nothing to run.", file=name),
            code="NoCode",
            field=FIELD,
            hint=_("Write a code cell and save the notebook."),
        )
    kernel = kernelspec.get("name")
    return Converted(
        text=_script(name, texts),
        code="\n".join(lines) + "\n",
        places=places,
        cells=len(texts),
        skipped=skipped,
        commands=commands,
        kernel=printable(kernel) if isinstance(kernel, str) else None,
    )


def write_script(notebook: Path, converted: Converted) -> Path:
    """Write a notebook's script to the notebook's folder.

    Parameters
    ----------
    notebook
        Path of the notebook.
    converted
        The script.

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
            file.write(converted.text)
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


def _script(name: str, cells: list[tuple[int, str]]) -> str:
    """Return the script that runs a notebook's cells, each with a name of its own in tracebacks."""
    # The name must not look like a declaration of the file's encoding (PEP 263).
    quoted = json.dumps(name, ensure_ascii=False).replace("coding", r"cod\u0069ng")
    lines = [
        f"{HEADER}{quoted}, anew at every submission: change the notebook instead.",
        "# The cells are at the end. What only IPython understands is commented out or run by what stands before them.",
        "import types",
        f"{HELPER} = types.ModuleType({HELPER!r})",
        f"exec(compile({_literal(HELPER_TEXT)}, 'notebook helper', 'exec'), {HELPER}.__dict__)",
        f"{HELPER}.begin(globals().get('__file__'))",
    ]
    if any("get_ipython" in text for _number, text in cells):
        lines += ["def get_ipython():", "    return None  # as IPython's own says where there is no IPython"]
    if any(re.search(r"(?<![\w.])display\(", text) for _number, text in cells):
        lines += ["try:", "    from IPython.display import display", "except ImportError:", "    display = print"]
    shown = re.sub(r"[\x00-\x1f\x7f\"]", "_", name)
    for number, text in cells:
        called = f"{shown}, cell {number}"
        lines += ["", f"# %% [cell {number}]", f"{HELPER}.run({called!r}, {_literal(text)}, globals())"]
    return "\n".join(lines) + "\n"


def _literal(text: str) -> str:
    """Return a text as a Python string literal with an additional line break at its start, readable if possible."""
    quote = next((quote for quote in ("'''", '"""') if quote not in text), None)
    return repr(f"\n{text}") if quote is None or not text.endswith("\n") else f"r{quote}\n{text}{quote}"


def _python_lines(source: str, name: str, cell: int) -> Iterator[tuple[str, str | None]]:
    """Yield each line of a cell as Python, with the original line if it was commented out.

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


def _refuse_lost_capture(cells: list[Any], name: str) -> None:
    """Refuse ``%%capture out`` if another cell uses `out`, since the output of a job goes to the log."""
    sources = {number: _source(cell) for number, cell in enumerate(cells, 1) if _dict(cell).get("cell_type") == "code"}
    for number, source in sources.items():
        found = re.match(
            r"\s*(?:%%time\s*\n\s*)?(?P<line>%%capture[ \t]+(?:-\S+[ \t]+)*(?P<target>[A-Za-z_]\w*).*)", source
        )
        used = re.compile(rf"(?<![\w.]){found['target']}\s*(?:[.(]|$)", re.MULTILINE) if found else None
        if found and used and any(used.search(other) for at, other in sources.items() if at != number):
            line = source.count("\n", 0, found.start("line")) + 1
            raise _refusal(found["line"].strip(), name, number, line)


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


def _ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(len(HEADER)) == HEADER
    except OSError:
        return False


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
