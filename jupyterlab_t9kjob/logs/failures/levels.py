"""Levels of log lines, errors and warnings, in the formats that training jobs write.

Known formats are those of Python's `logging`, loguru, absl, glog and torch (``E1121 10:39:34.020``), torchrun, NCCL,
JSON and ``key=value`` logs, Python's warnings, and tracebacks. A record may have several lines: a traceback, or a
message whose further lines are indented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Level = Literal["warning", "error"]

RANK: Final[dict[Level | None, int]] = {None: 0, "warning": 1, "error": 2}
MOST_LINES: Final = 400
"""Number of lines after which a record ends, so that a traceback that was cut does not include the rest of the log."""
_SEARCHED: Final = 400
"""Number of characters of a line in which its level is searched."""
_HEAD: Final = 160
"""Number of characters of a line in which the name of its level stands."""

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Prefixes by torch's hook for uncaught exceptions and by torchrun's `--tee`: “[rank2]: ”, “[rank5.default0]:”.
_PREFIX = re.compile(r"(?:\[[\w.\-]{0,60}\d\]:)*(?<=:) ?|")
_TRACEBACK = "Traceback (most recent call last)"
_LETTER = re.compile(r"\[?(?P<letter>[IWEF])(?:\d{4}|\d{8}) \d|\[(?P<word>[DIWEFC]) ?(?=[\d ]|\w+\.cpp:)")
_NAME = re.compile(
    r"(?:^|[\s\[|(<:\-])(?P<name>DEBUG|TRACE|INFO|NOTICE|SUCCESS|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE)"
    r"(?=$|[\s\]|)>:,/\-])"
)
_FIELD = re.compile(
    r"\b(?:level|lvl|levelname|log_?level|severity)[\"']?\s?[=:]\s?[\"']?"
    r"(?P<name>debug|info|notice|warn(?:ing)?|error|critical|fatal)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)|Error|Exception|error|fatal)(?::|$)"
    r"|Exception (?:in thread|ignored) |During handling of the above exception|The above exception was the direct"
    r"|Segmentation fault|Bus error|Aborted\b|Killed$|Floating point exception|Fatal Python error:|terminate called"
    r"|\S.{0,200} FAILED$|[\w./-]{1,80}: (?:fatal )?error:"
    r"|[\w./-]{1,80}: line \d+: +\d+ (?:Killed|Aborted|Segmentation)"
)
_WARNING = re.compile(r"(?:.*\b)?[A-Z]\w*Warning:|[Ww]arning:")
_CONTINUES = ("│", "╭", "╰", "┌", "└", "|", "+")

_LEVELS: Final[dict[str, Level]] = {
    **dict.fromkeys(("W", "WARN", "WARNING"), "warning"),
    **dict.fromkeys(("E", "F", "C", "ERROR", "CRITICAL", "FATAL", "SEVERE"), "error"),
}

# Every line that begins a record of the level matches, and few others.
_ENDS = r"(?:$|[:\r\x1b\s])"
_MAYBE_ERROR = (
    rf"Traceback \(most|Error{_ENDS}|Exception|Interrupt{_ENDS}|Exit{_ENDS}|(?:ERROR|CRITICAL|FATAL|SEVERE)\b"
    rf"|[EF]\d{{4,8}} \d|\[[EFC][ \d]|(?:error|fatal){_ENDS}"
    r"|(?:level|lvl|LEVEL|Level|everity|LVL)\w{0,4}[\"']?\s?[=:]"
    rf"|Segmentation fault|Bus error|Aborted|Killed{_ENDS}|Floating point exc|Fatal Python|terminate called"
    rf"| FAILED{_ENDS}|above exception"
)
_MAYBE_WARNING = r"|WARN|[Ww]arning:|W\d{4,8} \d|\[W[ \d]"
CANDIDATES: Final[dict[Level, re.Pattern[str]]] = {
    "error": re.compile(_MAYBE_ERROR),
    "warning": re.compile(_MAYBE_ERROR + _MAYBE_WARNING),
}
"""Patterns that every line matches that begins a record of at least this level."""


class Leveled(NamedTuple):
    """Level of a line, and its part in its record.

    Attributes
    ----------
    level
        The level; None if the line belongs to no error or warning.
    part
        “traceback” for the head of a traceback, “exception” for the line that ends a traceback, “first” for the first
        line of another record, “more” for further lines.
    """

    level: Level | None
    part: Literal["traceback", "exception", "first", "more"]


_NONE = Leveled(None, "first")


@dataclass
class _Record:
    level: Level
    in_traceback: bool
    left: int = MOST_LINES


class Records:
    """Finds the levels of consecutive lines of a log. Lines of several ranks, each with its prefix, may be mixed."""

    def __init__(self) -> None:
        self._open: dict[str, _Record] = {}

    @property
    def is_open(self) -> bool:
        """True if the next line may belong to the record of an earlier line."""
        return bool(self._open)

    def feed(self, text: str) -> Leveled:
        """Return the level of the next line."""
        self._age()
        text = _CONTROL.sub("", text[:_SEARCHED]).rstrip()
        prefix = _PREFIX.match(text)
        end = prefix.end() if prefix is not None else 0
        key, body = text[:end].rstrip(), text[end:]
        record = self._open.get(key)
        found = level_of(body)
        if _TRACEBACK in body:
            self._open[key] = _Record("error", in_traceback=True)
            return Leveled("error", "more" if record is not None and record.in_traceback else "traceback")
        if record is not None and record.in_traceback:
            if not body or body[0].isspace() or body.startswith(_CONTINUES):
                return Leveled("error", "more")
            self._open[key] = _Record("error", in_traceback=False)
            return Leveled("error", "exception")
        if found is not None:
            self._open[key] = _Record(found, in_traceback=False)
            return Leveled(found, "first")
        if record is not None and body and body[0].isspace():
            return Leveled(record.level, "more")
        self._open.pop(key, None)
        return _NONE

    def _age(self) -> None:
        for key, record in list(self._open.items()):
            record.left -= 1
            if record.left <= 0:
                del self._open[key]


def level_of(text: str) -> Level | None:
    """Return the level that a line alone has, without the prefixes that name its rank."""
    if _TRACEBACK in text:
        return "error"
    letter = _LETTER.match(text)
    if letter is not None:
        return _LEVELS.get(letter["letter"] or letter["word"])
    head = text[:_HEAD]
    name = _NAME.search(head) or _FIELD.search(head)
    if name is not None:
        return _LEVELS.get(name["name"].upper())
    if _ERROR.match(text):
        return "error"
    return "warning" if _WARNING.match(text) else None
