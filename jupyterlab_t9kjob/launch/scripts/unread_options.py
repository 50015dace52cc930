"""Detection of options that a script has, but that could not be read from its text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ...core.translation import _
from ..options.model import OptionsRead, UnreadOptions
from ..options.reader import READ_IF_FOUND, READ_LIBRARIES
from .facts import Facts, Place
from .process_starts import used
from .workspace import Closure


def unread_options(closure: Closure, read: OptionsRead) -> list[UnreadOptions]:
    """Return the options that could not be read.

    Parameters
    ----------
    closure
        The script with its modules.
    read
        The options that were read, with the places of those that were not.
    """
    if read.unread:
        return read.unread
    known = READ_LIBRARIES | READ_IF_FOUND if read.options else READ_LIBRARIES
    found = next(_libraries(closure, known), None)
    if found is None and not read.options:
        found = next(_elsewhere(closure), None)
    return [found] if found is not None else []


def _libraries(closure: Closure, known: frozenset[str]) -> Iterator[UnreadOptions]:
    """Yield the uses of libraries that read options, without those of known ones."""
    script = closure.script
    for place in script.readers:
        if place.what not in known and used(closure, script, place):
            sentence = _("{script} reads options with {library}.", script="", library=place.what)
            yield UnreadOptions(sentence, place.line)
    for path, facts in closure.modules.items():
        for place in facts.readers if path not in closure.executed else ():
            if place.what not in known and used(closure, facts, place):
                sentence = _(
                    "{script} has options that {module} reads with {library}.",
                    script="",
                    module=_short(path),
                    library=place.what,
                )
                yield UnreadOptions(sentence, place.line, path)


def _elsewhere(closure: Closure) -> Iterator[UnreadOptions]:
    """Yield the places that may read the command line of a script without options."""
    script = closure.script
    modules = {path: facts for path, facts in closure.modules.items() if path not in closure.executed}
    for path, facts in modules.items():
        for place in facts.parsers:
            if used(closure, facts, place) and _parsed(closure, facts, place):
                sentence = _("{script} has options that {module} defines.", script="", module=_short(path))
                yield UnreadOptions(sentence, place.line, path)
    for place in script.executes:
        file = PurePath(place.what).name
        yield UnreadOptions(_("{script} runs {file}, which may read options.", script="", file=file), place.line)
    if script.parsers:
        return
    for place in script.readers:
        if place.what == "sys.argv" and used(closure, script, place):
            yield UnreadOptions(_("{script} reads its command line by itself (sys.argv).", script=""), place.line)
    for path, facts in modules.items():
        for place in facts.readers:
            if place.what == "sys.argv" and used(closure, facts, place):
                sentence = _("{script} has options that {module} reads from sys.argv.", script="", module=_short(path))
                yield UnreadOptions(sentence, place.line, path)
    if script.parses:
        yield UnreadOptions(_("Other code parses the command line of {script}.", script=""), script.parses[0])


def _parsed(closure: Closure, facts: Facts, place: Place) -> bool:
    """Return True if a module's parser is likely to be the one that reads the command line."""
    return place.inside is not None or bool(facts.parses or closure.script.parses)


def _short(path: str) -> str:
    """Return a module's file name for a sentence, with its folder for ``__init__.py``."""
    found = PurePath(path)
    return f"{found.parent.name}/{found.name}" if found.name == "__init__.py" else found.name
