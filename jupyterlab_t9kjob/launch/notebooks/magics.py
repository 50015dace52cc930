"""Conversion of IPython's magics and shell commands to Python; a job can run, ignore or refuse them."""

from __future__ import annotations

import ast
import re
from typing import Final

HELPER: Final = "_t9kjob"
AUTOMAGIC: Final = (
    r"(?:pip|conda|mamba|uv|cd|ls|ll|mkdir|cp|mv|rm|rmdir|cat)\s+(?:--?\w[\w-]*\s+)*"
    r"(?!(?:in|is|if|and|or|not|for|else)\b)(?:[\w~\"'{$]|\*(?:\.|\s*$)|\.(?:[./]|\s*$))"
)
"""A magic without its percent sign: a known name, options and another word after them, which is not valid Python."""
INSTALL: Final = re.compile(rf"\s*{HELPER}\.pip\(['\"]install\b")
"""Beginning of a line of Python that installs packages, which only one process of each node does."""
SHELLS: Final = {"%%bash": "bash", "%%sh": "sh", "%%!": "sh", "%%sx": "sh", "%%system": "sh"}
WRITES: Final = frozenset({"%%writefile", "%%file"})
TRANSPARENT: Final = frozenset({"%%time", "%%capture"})
SHOWS: Final = frozenset(
    "%%html %%HTML %%javascript %%js %%latex %%markdown %%svg %%SVG".split()  # noqa: SIM905
)
"""Magics of cells that only show something."""
_HARMLESS: Final = """
matplotlib load_ext reload_ext unload_ext autoreload config who whos who_ls pinfo pinfo2 pdoc psource pfile history hist
lsmagic magic quickref precision xmode colors pdb debug tensorboard tb pprint page pwd dirs doctest_mode automagic
autocall gui clear cls watermark notebook
"""
HARMLESS: Final = frozenset(_HARMLESS.split())
"""Magics that show something or set up the notebook itself, which a job ignores."""
_ALIASES: Final = "mkdir cp mv rm rmdir ls ll lf lk ldir lx cat conda mamba uv"
ALIASES: Final = frozenset(_ALIASES.split())
"""Magics that run the shell command with the same name."""
AUTOMATIC: Final = ALIASES | {"pip", "cd"}
"""Magics that are known without their percent sign."""
_PIP_INSTALL: Final = re.compile(
    r"(?:pip3?|(?:python[\d.]*|\{sys\.executable\})\s+-m\s+pip)\s+"
    r"""(?P<arguments>install\s(?:[^;&|<>`"']|"[^"]*"|'[^']*')*)"""
)
"""A command that only installs packages."""
ASSIGNED: Final = re.compile(r"(?P<target>[A-Za-z_][\w.,\s\[\]*]*=)\s*(?P<sign>[!%])\s*(?P<rest>.*)", re.DOTALL)


class Refused(Exception):
    """A job can't run the line or cell."""


def line_code(line: str) -> str | None:
    """Return a line for IPython as one line of Python; None if a job ignores it.

    Parameters
    ----------
    line
        The line without indentation, joined with the lines after its backslashes.

    Raises
    ------
    Refused
        If the line does more than show something, and a job can't run it.
    """
    assigned = ASSIGNED.fullmatch(line)
    if assigned is not None:
        return _assigned(assigned["target"], assigned["sign"], assigned["rest"])
    if line.startswith("!"):
        return _system(line.lstrip("!").strip())
    if line.startswith("%"):
        name, _space, rest = line.lstrip("%").partition(" ")
        return _magic(name, rest.strip())
    if line.startswith("?") or line.partition("#")[0].rstrip().endswith("?"):
        return None
    name, _space, rest = line.partition(" ")
    if name in AUTOMATIC:
        return _magic(name, rest.strip())
    raise Refused


def cell_code(magic: str, rest: str, body: str) -> str | None:
    """Return a cell with a magic as one line of Python; None if it only shows something.

    Parameters
    ----------
    magic
        The magic, with its percent signs.
    rest
        Arguments of the magic.
    body
        The cell's other lines.

    Raises
    ------
    Refused
        If a job can't run the cell.
    """
    if magic in SHOWS:
        return None
    if magic in WRITES:
        append = rest.startswith("-a ")
        return f"{HELPER}.writefile({rest.removeprefix('-a ').strip()!r}, {body!r}, {append}, globals())"
    if magic in SHELLS and (not rest or rest.startswith("-s ")):
        return f"{HELPER}.script({body!r}, {f'{SHELLS[magic]} {rest}'.strip()!r}, globals())"
    if magic == "%%script" and rest and not rest.startswith("-"):
        return f"{HELPER}.script({body!r}, {rest!r}, globals())"
    raise Refused


def _system(command: str) -> str:
    installs = _PIP_INSTALL.fullmatch(command)
    # The job's own Python must get the packages; the shell's pip may belong to another one.
    return _run("system", command) if installs is None else _run("pip", installs["arguments"].strip())


def _run(how: str, text: str) -> str:
    return f"{HELPER}.{how}({text!r}, globals(), locals())"


def _assigned(target: str, sign: str, rest: str) -> str:
    if sign == "!":
        return f"{target} {_run('output', rest)}"
    name, _, statement = rest.partition(" ")
    if name in ("sx", "system"):
        return f"{target} {_run('output', statement)}"
    if name == "time" and _simple(f"{target} {statement}"):
        return f"with {HELPER}.time(): {target} {statement}"
    raise Refused


def _magic(name: str, rest: str) -> str | None:
    if name in HARMLESS:
        return None
    if name in ("env", "set_env"):
        return _run("env", rest) if "=" in rest or " " in rest else None
    if name == "cd" and not rest.startswith(("-b", "-q")):
        return _run("cd", rest)
    if name == "cd" and rest.startswith("-q"):
        return _run("cd", rest[2:].strip())
    if name == "pip":
        return _run("pip", rest)
    if name == "aimport" and not rest.startswith("-"):
        return f"import {rest}" if rest else None
    if name in ("sx", "system"):
        return _run("system", rest)
    if name in ALIASES:
        return _run("system", f"{name} {rest}".strip())
    if name == "run" and rest and not rest.startswith("-") and ".ipynb" not in rest.split()[0]:
        return _run("run_file", rest)
    if name == "time":
        if not rest:
            return None
        if _simple(rest):
            return f"with {HELPER}.time(): {rest}"
    if name == "timeit" and rest and not rest.startswith("-"):
        return f"{HELPER}.timeit({rest!r}, {{**globals(), **locals()}})"
    raise Refused


def _simple(text: str) -> bool:
    """Return True for a simple statement, which may follow a colon on the same line."""
    try:
        found = ast.parse(f"if 1: {text}").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return len(found) == 1
