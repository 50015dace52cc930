"""Where a statement begins in a cell's text."""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""(?P<comment>\#.*)
      | (?P<triple>'{3}|\"{3})
      | (?P<string>'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)  # one that does not end is taken as well: no way back
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)


class Scanner:
    """Follows strings, brackets and continuations, to know where a statement begins."""

    def __init__(self) -> None:
        self._quote: str | None = None
        self._depth = 0
        self._continued = False

    @property
    def at_statement(self) -> bool:
        """Whether the next line begins a statement."""
        return self._quote is None and self._depth == 0 and not self._continued

    def feed(self, line: str) -> None:
        """Take in a line of Python."""
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
