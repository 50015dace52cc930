"""Result of reading a program's options, and the contract of the modules that read one library's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.translation import Text
from ..model import ScriptOption

if TYPE_CHECKING:
    from .program import Program


@dataclass(frozen=True)
class UnreadOptions:
    """Options that exist, but that could not be read.

    Attributes
    ----------
    sentence
        Sentence that says why. Its parameter ``script``, if it has one, is filled with the script's name.
    line
        Line of the code that makes the options, from 1.
    path
        Path of the module with that line; None for the script itself.
    """

    sentence: Text
    line: int
    path: str | None = None


@dataclass
class OptionsRead:
    """Options that one library reads from the command line of a program.

    Attributes
    ----------
    options
        The options, in the order of the library's own help.
    description
        What the program says about itself.
    unread
        Options that could not be read; at most one for each line.
    places
        Path (None: the script) and line of calls whose options are among `options`, so that the reader of another
        library does not report them.
    """

    options: list[ScriptOption] = field(default_factory=list)
    description: str | None = None
    unread: list[UnreadOptions] = field(default_factory=list)
    places: set[tuple[str | None, int]] = field(default_factory=set)


@dataclass(frozen=True)
class Family:
    """A library that reads options from the command line.

    Attributes
    ----------
    library
        Common name of the library, for sentences.
    words
        Identifiers of the library of which every program that uses it has at least one, such as ``HfArgumentParser``.
        The interpreter follows calls of functions that lead to one of these words, and skips others.
    read
        Returns the options of a program; None if the program does not use the library.
    """

    library: str
    words: frozenset[str]
    read: Callable[[Program], OptionsRead | None]
