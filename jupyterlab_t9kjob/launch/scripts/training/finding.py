"""A likely mistake of a script that several processes run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..observed import Constant

Rule: TypeAlias = Literal[
    "nccl",
    "download",
    "write",
    "events",
    "sampler",
    "address",
    "launcher",
    "workers",
    "path",
]


@dataclass(frozen=True)
class Finding:
    """A likely mistake.

    Attributes
    ----------
    rule
        The rule that found it.
    line
        Line of the code, from 1.
    path
        Path of the module with the code; None for the script itself.
    what
        Name of a function, launcher, variable or file, for the sentence.
    option
        Destination of the option that decides the value; None if the script does.
    value
        The value that the script decides.
    """

    rule: Rule
    line: int
    path: str | None
    what: str = ""
    option: str | None = None
    value: Constant = None
