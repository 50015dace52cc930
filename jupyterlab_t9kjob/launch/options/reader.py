"""Reads the options of a script: argparse first, then every other library that the script uses."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final

from ...core.translation import _
from . import parser_options
from .families import FAMILIES
from .model import OptionsRead, UnreadOptions
from .program import Program

MAX_KNOWN: Final = 8
SHORT_SCRIPT: Final = 60
"""Lines of a script that may only call a function of its project's package."""

READ_LIBRARIES: Final = frozenset({"sys.argv", *(family.library for family in FAMILIES)})
"""Libraries whose options are read or reported here."""

READ_IF_FOUND: Final = frozenset({"Typer", "ConfigArgParse", "TrlParser"})
"""Libraries whose options are read here, but not reported if none was found."""

MAY_HAVE_OPTIONS: Final = ("parse", "args", "argv")
"""Parts of the words of scripts that may read options in a package of their project."""

_known: OrderedDict[tuple[str, str, str], tuple[Program, OptionsRead]] = OrderedDict()
_lock = Lock()


def read_options(root: Path, script: Path, source: str, tree: ast.Module | None = None) -> OptionsRead:
    """Return the options of a script (blocking).

    The result is kept until the script or one of its modules changes; do not change it.

    Parameters
    ----------
    root
        Folder of the workspace; no module outside of it is read.
    script
        Path of the script.
    source
        Text of the script.
    tree
        Syntax tree of the script; None to parse the text.
    """
    key = (str(root), str(script), source)
    with _lock:
        known = _known.get(key)
    if known is not None and known[0].modules.is_current():
        return known[1]
    words = frozenset().union(*(family.words for family in FAMILIES))
    program = Program(root, script, source, tree, words)
    read = _read(program)
    short = len(program.main.lines) < SHORT_SCRIPT  # It may do nothing but call a function of the package.
    if (not read.options or read.unread) and (short or program.main.mentions(MAY_HAVE_OPTIONS)):
        # Recipes and examples use the parser of their project's package, which is installed in place, or pass their
        # own parser to it.
        wider = Program(root, script, source, program.main.tree, words, around=True)
        found = _read(wider)
        if len(found.options) > len(read.options):
            program, read = wider, found
    with _lock:
        _known[key] = (program, read)
        _known.move_to_end(key)
        while len(_known) > MAX_KNOWN:
            _known.popitem(last=False)
    return read


def _read_library(library: str, read: Callable[[Program], OptionsRead | None], program: Program) -> OptionsRead | None:
    try:
        return read(program)
    except RecursionError:
        sentence = _("{script} is nested too deeply to read its options of {library}.", script="", library=library)
        return OptionsRead(unread=[UnreadOptions(sentence, 1)])


def _read(program: Program) -> OptionsRead:
    result = OptionsRead()
    own = _read_library("argparse", parser_options.read, program)
    others: list[OptionsRead] = []
    for family in FAMILIES:
        found = _read_library(family.library, family.read, program)
        if found is None:
            continue
        if family.library == "sys.argv":
            # Scripts with another reader look at `sys.argv` for the name of a file with values, or pass it on.
            passed = own is not None and own.options
            if any(read.options for read in others) or (passed and not found.options):
                continue
        others.append(found)
    # A library may extend argparse's parser: its own reader knows more about the same calls.
    seen: set[tuple[str | None, str]] = set()
    for read in (*others, *([own] if own is not None else [])):
        known = {(option.command, name) for option in read.options for name in option.flags or [option.dest]}
        result.options += [
            option
            for option in read.options
            if not any((option.command, name) in seen for name in option.flags or [option.dest])
        ]
        seen |= known
        result.places |= read.places
        result.unread += [one for one in read.unread if (one.path, one.line) not in result.places]
        result.description = result.description or read.description
    # After the last parser has parsed the command line, the rest of the script hardly adds options.
    if program.run.stopped and not any(parser.parsed for parser in program.run.parsers):
        sentence = _("{script} is too large to read all of its options.", script="")
        result.unread.append(UnreadOptions(sentence, 1))
    return result
