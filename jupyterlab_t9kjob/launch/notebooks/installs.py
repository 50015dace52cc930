"""Modules that a notebook's own cells provide: files that they write, and packages that their commands install."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from ..scripts.packages import DISTRIBUTIONS
from .notebook import Converted

_INSTALLS: Final = re.compile(
    r"\b(?:pip3?|conda|mamba|micromamba)\s+(?:-\S+\s+)*install\s+(?P<what>[^;&|>]*)"
    r"|_t9kjob\.pip\(['\"]install\s+(?P<of_pip>[^;&|]*?)['\"], globals"
)
_ANYTHING: Final = re.compile(
    r"\bgit\s+clone\b|\b(?:wget|curl|unzip|tar|cp|mv|ln|make|bash|sh)\s|\buv\s+\S|\bsetup\.py\b"
)
"""Commands that may provide any module."""
_WRITES: Final = re.compile(r"_t9kjob\.writefile\((?P<quote>['\"])(?P<path>.*?)(?P=quote),")


@dataclass(frozen=True)
class Brought:
    """Modules that a notebook's cells provide.

    Attributes
    ----------
    modules
        Names of written modules and of installed distributions, in lower case.
    line
        Line of the notebook's code with a command that may provide any module; None if there is none.
    """

    modules: frozenset[str] = field(default_factory=frozenset)
    line: int | None = None

    def brings(self, module: str) -> bool:
        """Return True if a cell writes the module or installs its distribution."""
        return not self.modules.isdisjoint({module, _plain(module), _plain(DISTRIBUTIONS.get(module, module))})


def brought(notebook: Converted, *, installs: bool = True) -> Brought:
    """Return the modules that a notebook's commands provide.

    Parameters
    ----------
    notebook
        The cells that the job runs.
    installs
        False if the job leaves out the ``pip install`` commands.
    """
    modules: set[str] = set()
    anything: int | None = None
    texts = notebook.code.split("\n")
    for number in notebook.commands:
        text = texts[number - 1]
        if "_t9kjob.pip(" in text and not installs:
            continue
        written = _WRITES.search(text)
        if written is not None:
            path = PurePosixPath(written["path"])
            if path.suffix == ".py":
                modules.add(path.parts[0].removesuffix(".py"))
            continue
        for found in _INSTALLS.finditer(text):
            words = (found["what"] or found["of_pip"] or "").replace("\\", " ").split()
            for word in words:
                name = re.match(r"['\"]*([A-Za-z][\w.-]*)", word)
                if name is not None and "/" not in word and "://" not in word:
                    modules.add(_plain(name[1]))
                elif anything is None and (
                    word in ("-r", "-e", ".") or word.startswith(("git+", ".", "/", "http", "--req"))
                ):
                    anything = number
        if anything is None and _ANYTHING.search(text):
            anything = number
    return Brought(frozenset(modules), anything)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
