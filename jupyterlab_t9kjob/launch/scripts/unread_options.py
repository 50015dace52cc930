"""Options that a script has and that its text does not tell, or that nobody here reads yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ..model import ScriptOption
from .facts import Facts, Place
from .process_starts import used
from .workspace import Closure


@dataclass(frozen=True)
class Unread:
    """Options that could not be read.

    Attributes
    ----------
    how
        The end of a sentence that begins with the script's name.
    line
        Where to look.
    path
        The module of the workspace; None is the script itself.
    """

    how: str
    line: int
    path: str | None = None


def unread_options(closure: Closure, options: list[ScriptOption], unread: list[int]) -> Unread | None:
    """Return what of a script's options could not be read; None if it has no others.

    Parameters
    ----------
    closure
        The script with its modules.
    options
        What was read of the script itself.
    unread
        Lines of ``add_argument`` calls in the script that could not be read.
    """
    script = closure.script
    for place in script.readers:
        if place.what != "sys.argv" and used(closure, script, place):
            return Unread(f"reads options with {place.what}", place.line)
    if unread:
        some = "an option" if len(unread) == 1 else f"{len(unread)} options"
        return Unread(f"has {some} whose names are known only while it runs, or that belong to sub-commands", unread[0])
    return next(_elsewhere(closure, options), None)


def _elsewhere(closure: Closure, options: list[ScriptOption]) -> Iterator[Unread]:
    script = closure.script
    modules = {path: facts for path, facts in closure.modules.items() if path not in closure.executed}
    for path, facts in modules.items():
        for place in facts.parsers:
            if used(closure, facts, place) and _parsed(closure, facts, place):
                yield Unread(f"has options that {_short(path)} defines", place.line, path)
        for place in facts.readers:
            if place.what != "sys.argv" and used(closure, facts, place):
                yield Unread(f"has options that {_short(path)} reads with {place.what}", place.line, path)
    for place in script.lends:
        if not _defines(closure, place.what.rpartition(".")[2]):
            yield Unread(f"passes its parser to {place.what}, which may add options", place.line)
    for place in script.executes:
        yield Unread(f"runs {PurePath(place.what).name}, which may read options", place.line)
    if options or script.parsers:
        return
    for place in script.readers:
        if used(closure, script, place):
            yield Unread("reads its command line by itself (sys.argv)", place.line)
    for path, facts in modules.items():
        for place in facts.readers:
            if used(closure, facts, place):
                yield Unread(f"has options that {_short(path)} reads from sys.argv", place.line, path)
    if script.parses:
        yield Unread("has its command line parsed", script.parses[0])


def _parsed(closure: Closure, facts: Facts, place: Place) -> bool:
    """Return True if a module's parser is likely to be the one that reads the command line."""
    return place.inside is not None or bool(facts.parses or closure.script.parses)


def _defines(closure: Closure, name: str) -> bool:
    """Return True for a function that adds options and is read, so is no other source of them."""
    return any(
        name in (place.inside, place.function) for facts in closure.facts for place in facts.parsers
    ) or name in {"print", "len", "str", "repr", "isinstance", "vars"}


def _short(path: str) -> str:
    """Return a module's name for a sentence: with its folder where the name alone says nothing."""
    found = PurePath(path)
    return f"{found.parent.name}/{found.name}" if found.name == "__init__.py" else found.name
