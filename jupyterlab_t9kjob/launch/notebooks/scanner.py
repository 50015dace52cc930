"""Scanner of a cell's lines that finds the beginnings of statements."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<triple>'{3}|\"{3})
      | (?P<string>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)  # Also without its end, so that no backtracking happens.
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)


class Scanner:
    """State of strings, brackets and continued lines after the lines that were fed."""

    def __init__(self) -> None:
        self._quote: str | None = None
        self._depth = 0
        self._continued = False

    @property
    def at_statement(self) -> bool:
        """True if the next line begins a statement."""
        return self._quote is None and self._depth == 0 and not self._continued

    def feed(self, line: str) -> None:
        """Continue with the next line of Python."""
        position = 0
        commented = False
        while position < len(line):
            if self._quote is not None:
                end = re.compile(rf"(?:[^\\]|\\.)*?{self._quote}").match(line, position)
                if end is None:
                    break
                position, self._quote = end.end(), None
                continue
            token = TOKEN.search(line, position)
            if token is None:
                break
            position = token.end()
            if token["comment"]:
                commented = True
            elif token["triple"]:
                self._quote = token["triple"]
            elif token["open"]:
                self._depth += 1
            elif token["close"]:
                self._depth = max(0, self._depth - 1)
        self._continued = line.endswith("\\") and not commented and self._quote is None
