"""Detection of options that a script has, but that could not be read from its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ...core.translation import Text, _, _n
from ..model import ScriptOption
from .facts import Facts, Place
from .process_starts import used
from .workspace import Closure


@dataclass(frozen=True)
class Unread:
    """Options that could not be read.

    Attributes
    ----------
    sentence
        Sentence that says how the script reads these options. Its parameter ``script`` is the script's name.
    line
        Line of the code that reads them.
    path
        Path of the module with that code; None for the script itself.
    """

    sentence: Text
    line: int
    path: str | None = None


def unread_options(closure: Closure, options: list[ScriptOption], unread: list[int]) -> Unread | None:
    """Return the first kind of options that could not be read; None if all options were read.

    Parameters
    ----------
    closure
        The script with its modules.
    options
        Options that were read from the script itself.
    unread
        Lines of ``add_argument`` calls in the script that could not be read.
    """
    script = closure.script
    for place in script.readers:
        if place.what != "sys.argv" and used(closure, script, place):
            return Unread(_("{script} reads options with {library}.", script="", library=place.what), place.line)
    if unread:
        sentence = _n(
            "{script} has an option whose name is known only while it runs, or that belongs to a sub-command.",
            "{script} has {n} options whose names are known only while it runs, or that belong to sub-commands.",
            len(unread),
            script="",
        )
        return Unread(sentence, unread[0])
    return next(_elsewhere(closure, options), None)


def _elsewhere(closure: Closure, options: list[ScriptOption]) -> Iterator[Unread]:
    script = closure.script
    modules = {path: facts for path, facts in closure.modules.items() if path not in closure.executed}
    for path, facts in modules.items():
        for place in facts.parsers:
            if used(closure, facts, place) and _parsed(closure, facts, place):
                sentence = _("{script} has options that {module} defines.", script="", module=_short(path))
                yield Unread(sentence, place.line, path)
        for place in facts.readers:
            if place.what != "sys.argv" and used(closure, facts, place):
                sentence = _(
                    "{script} has options that {module} reads with {library}.",
                    script="",
                    module=_short(path),
                    library=place.what,
                )
                yield Unread(sentence, place.line, path)
    for place in script.lends:
        if not _defines(closure, place.what.rpartition(".")[2]):
            sentence = _(
                "{script} passes its parser to {function}, which may add options.", script="", function=place.what
            )
            yield Unread(sentence, place.line)
    for place in script.executes:
        file = PurePath(place.what).name
        yield Unread(_("{script} runs {file}, which may read options.", script="", file=file), place.line)
    if options or script.parsers:
        return
    for place in script.readers:
        if used(closure, script, place):
            yield Unread(_("{script} reads its command line by itself (sys.argv).", script=""), place.line)
    for path, facts in modules.items():
        for place in facts.readers:
            if used(closure, facts, place):
                sentence = _("{script} has options that {module} reads from sys.argv.", script="", module=_short(path))
                yield Unread(sentence, place.line, path)
    if script.parses:
        yield Unread(_("Other code parses the command line of {script}.", script=""), script.parses[0])


def _parsed(closure: Closure, facts: Facts, place: Place) -> bool:
    """Return True if a module's parser is likely to be the one that reads the command line."""
    return place.inside is not None or bool(facts.parses or closure.script.parses)


def _defines(closure: Closure, name: str) -> bool:
    """Return True for a function whose options were read, or that certainly adds none."""
    return any(
        name in (place.inside, place.function) for facts in closure.facts for place in facts.parsers
    ) or name in {"print", "len", "str", "repr", "isinstance", "vars"}


def _short(path: str) -> str:
    """Return a module's file name for a sentence, with its folder for ``__init__.py``."""
    found = PurePath(path)
    return f"{found.parent.name}/{found.name}" if found.name == "__init__.py" else found.name
