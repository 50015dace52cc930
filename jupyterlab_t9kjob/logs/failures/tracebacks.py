"""Python's error reports in the lines of a log: tracebacks, chained exceptions, exception groups, syntax errors.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from ...core.translation import _

MOST_TEXT: Final = 1000
"""Number of characters of an error that are kept; see `shortened`."""
_LONGEST_PATH: Final = 4096
_MOST_SUB_ERRORS: Final = 3
_MOST_FRAMES: Final = 100

_HEAD = re.compile(r"(?:^|.*[^ ])Traceback \(most recent call last\):$")
_INNER_HEAD = re.compile(r"^(?:Original )?Traceback \(most recent call last\):$")
_GROUP_HEAD = re.compile(r"^\s*\+ Exception Group Traceback \(most recent call last\):$")
_GROUP_LINE = re.compile(r"^\s*(?:\||\+-)")
_GROUP_PART = re.compile(r"^\s*\+-?\+?-{4,} (?:\d+|\.\.\.) -{4,}$")
_FRAME = re.compile(r'^\s+File "(?P<file>.+)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_FORMAT_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError)(?:: |$)")
_RICH_HEAD = re.compile(r"^[╭┌+][─-]+ ?Traceback \(most recent call last\) ?[─-]+[╮┐+]$")
_RICH_END = re.compile(r"^[╰└+][─-]+[╯┘+]$")
_RICH_FRAME = re.compile(r"^[│|] (?P<file>/\S+):(?P<line>\d{1,9}) in (?P<function>\S+)\s*[│|]$")
_ERROR = re.compile(r"^(?P<type>[A-Za-z_]\w*(?:\.[A-Za-z_<>]\w*>?)*)(?::(?: (?P<message>.*))?)?$")
_WRAPPED = re.compile(
    r"Caught (?:an? )?\w+ in (?P<where>(?:DataLoader worker process|pin memory thread|replica) .*?)\.$"
)
_SPAWNED = re.compile(r"^-- Process (?P<number>\d+) terminated with the following error:$")
_DIRECT_CAUSE = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"
_LIBRARY = re.compile(r"(^<frozen |/(site|dist)-packages/|/lib(64)?/python3[^/]*/)")
# Lines before a traceback that did not end the process: of another thread, a destructor, a child process, a task.
_ASIDE = re.compile(
    r"^(?:Exception in thread |Exception ignored |--- Logging error ---|Process \S+:$|Error in atexit"
    r"|future: <|.*(?:exception was never retrieved|Exception in callback))"
)


class Line(NamedTuple):
    """A line of a log.

    Attributes
    ----------
    offset
        Offset of the line's first byte in the file.
    text
        The line without control sequences, rank prefixes, and text that a carriage return overwrote.
    rank
        Global rank in the prefix by torch's hook for uncaught exceptions.
    teed
        Local rank in the prefix by torchrun's ``--tee``.
    """

    offset: int
    text: str
    rank: int | None = None
    teed: int | None = None


@dataclass(frozen=True)
class Traceback:
    """The report of an exception, together with the exceptions that it is chained to.

    Attributes
    ----------
    start, end
        Numbers of the report's first line and of the first line after it.
    error
        The report's last line, “ValueError: bad sample”.
    frames
        Frames as fields of `core.job.Frame`, outermost first.
    where
        Process or thread that raised the exception, if another process or thread reports it.
    cause
        Error that the exception was raised from.
    uncaught
        True if torch's hook for uncaught exceptions wrote the report.
    aside
        True if the exception certainly did not end the process.
    """

    start: int
    end: int
    error: str
    frames: list[dict[str, Any]] = field(default_factory=list)
    where: str | None = None
    cause: str | None = None
    uncaught: bool = False
    aside: bool = False


def tracebacks(lines: Sequence[Line]) -> list[Traceback]:
    """Return the reports of exceptions in a log, in order; chained exceptions are one report."""
    found: list[Traceback] = []
    number = 0
    while number < len(lines):
        report = _read(lines, number)
        if report is None:
            number += 1
            continue
        link = _link_before(lines, report.start)
        if found and link is not None and found[-1].end >= link - 1:
            before = found.pop()
            cause = before.error if lines[link].text == _DIRECT_CAUSE else report.cause
            where = report.where or before.where
            report = replace(report, start=before.start, cause=cause, aside=before.aside, where=where)
        found.append(report)
        number = report.end
    return found


def shortened(text: str) -> str:
    """Return an error's text; one of more than `MOST_TEXT` characters is cut and its length is noted."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:200]}… (cut, {len(text)} characters)"


def frame_of(file: str, line: str, function: str | None) -> dict[str, Any]:
    """Return a frame as fields of `core.job.Frame`, without its line of code.

    Parameters
    ----------
    file, line, function
        As a traceback gives them; without a function, the frame is one of the module.
    """
    return {
        "file": file[:_LONGEST_PATH],
        "line": int(line),
        "function": (function or "<module>")[:MOST_TEXT],
        "code": None,
        "library": bool(_LIBRARY.search(file)),
    }


def _read(lines: Sequence[Line], number: int) -> Traceback | None:
    text = lines[number].text
    if _HEAD.match(text):
        report = _plain(lines, number)
        return report and (_inner(lines, report) or report)
    if _GROUP_HEAD.match(text):
        return _group(lines, number)
    if _RICH_HEAD.match(text.strip()):
        return _rich(lines, number)
    return _of_format(lines, number) if _FRAME.match(text) else None


def _plain(lines: Sequence[Line], start: int) -> Traceback | None:
    frames, number = _frames(lines, start + 1)
    if number >= len(lines) or not frames:
        return None
    error = lines[number].text.strip()
    if not _ERROR.match(error):
        return None
    return Traceback(
        start,
        number + 1,
        _complete(lines, number, error),
        frames,
        uncaught=lines[start].rank is not None,
        aside=bool(_ASIDE.match(_text_before(lines, start))),
    )


def _inner(lines: Sequence[Line], outer: Traceback) -> Traceback | None:
    """Return the report of another process's or thread's exception that an exception has as its message.

    It takes the place of the outer report. None if the message is not such a report.
    """
    wrapped = _WRAPPED.search(outer.error)
    number = _next(lines, outer.end)
    where: str
    if wrapped is None:
        spawned = _SPAWNED.match(lines[number].text) if number < len(lines) else None
        if spawned is None:
            return None
        where = _("process {number} of mp.spawn", number=spawned["number"])
        number = _next(lines, number + 1)
    else:
        where = wrapped["where"]
    inner = None
    while number < len(lines) and _INNER_HEAD.match(lines[number].text):
        found = _plain(lines, number)
        if found is None:
            break
        inner, link = found, _next(lines, found.end)
        if link >= len(lines) or lines[link].text not in (_DIRECT_CAUSE, _DURING):
            break
        number = _next(lines, link + 1)
    if inner is None:
        return None
    return replace(outer, end=inner.end, error=inner.error, frames=inner.frames, where=where)


def _frames(lines: Sequence[Line], number: int) -> tuple[list[dict[str, Any]], int]:
    """Return the frames from a line on, and the number of the first line after them."""
    frames: list[dict[str, Any]] = []
    while number < len(lines):
        text = lines[number].text
        frame = _FRAME.match(text)
        if frame is not None:
            frames.append(frame_of(frame["file"], frame["line"], frame["function"]))
        elif text and not text[0].isspace():
            break
        elif frames and frames[-1]["code"] is None and text.strip(" ~^"):
            frames[-1]["code"] = text.strip()[:MOST_TEXT]
        number += 1
    return frames[-_MOST_FRAMES:], number


def _complete(lines: Sequence[Line], number: int, error: str) -> str:
    """Return an error, with the second line of its message if the first line ends with a colon."""
    if error.endswith(":") and not _inner_follows(lines, number + 1):
        following = lines[number + 1 : number + 4]
        more = next((line.text.strip() for line in following if line.text.strip()), "")
        if more and not _HEAD.match(more):
            return shortened(f"{error} {more}")
    return shortened(error)


def _inner_follows(lines: Sequence[Line], number: int) -> bool:
    number = _next(lines, number)
    return number < len(lines) and bool(_SPAWNED.match(lines[number].text))


def _group(lines: Sequence[Line], start: int) -> Traceback | None:
    end = start + 1
    while end < len(lines) and _GROUP_LINE.match(lines[end].text):
        end += 1
    frames: list[dict[str, Any]] = []
    errors: list[str] = []
    parts = 0
    for line in lines[start + 1 : end]:
        text = line.text
        if _GROUP_PART.match(text):
            parts += 1
            errors.append("")
            continue
        content = re.sub(r"^\s*[|+] ?", "", text)
        frame = _FRAME.match(content)
        if frame is not None and parts == 0:
            frames.append(frame_of(frame["file"], frame["line"], frame["function"]))
        elif parts == 0 and frames and frames[-1]["code"] is None and content[:1].isspace() and content.strip(" ~^"):
            frames[-1]["code"] = content.strip()[:MOST_TEXT]
        elif _ERROR.match(content) and not content[:1].isspace() and not _HEAD.match(content):
            if not errors:
                errors.append(content)
            elif not errors[-1]:
                errors[-1] = content
    if not errors or not errors[0]:
        return None
    subs = [error for error in errors[1:] if error and not _GROUP_COUNT.search(error)]
    error = errors[0] if not subs else f"{errors[0]}: {'; '.join(subs[:_MOST_SUB_ERRORS])}"
    aside = bool(_ASIDE.match(_text_before(lines, start)))
    return Traceback(start, end, shortened(error), frames, uncaught=lines[start].rank is not None, aside=aside)


_GROUP_COUNT = re.compile(r"\(\d+ sub-exceptions?\)$")


def _rich(lines: Sequence[Line], start: int) -> Traceback | None:
    frames: list[dict[str, Any]] = []
    for number in range(start + 1, len(lines)):
        text = lines[number].text.strip()
        frame = _RICH_FRAME.match(text)
        if frame is not None:
            frames.append(frame_of(frame["file"], frame["line"], frame["function"]))
        if _RICH_END.match(text):
            number = _next(lines, number + 1)
            if number < len(lines) and _ERROR.match(lines[number].text.strip()):
                error = _complete(lines, number, lines[number].text.strip())
                return Traceback(start, number + 1, error, frames)
            return None
    return None


def _of_format(lines: Sequence[Line], start: int) -> Traceback | None:
    """Return the report of a syntax error of the script itself, which has no traceback."""
    frames, number = _frames(lines, start)
    if len(frames) != 1 or number >= len(lines) or not _FORMAT_ERROR.match(lines[number].text):
        return None
    return Traceback(start, number + 1, shortened(lines[number].text), frames)


def _link_before(lines: Sequence[Line], start: int) -> int | None:
    number = start - 1
    while number >= 0 and not lines[number].text.strip():
        number -= 1
    return number if number >= 0 and lines[number].text in (_DIRECT_CAUSE, _DURING) else None


def _text_before(lines: Sequence[Line], start: int) -> str:
    return next((line.text for line in reversed(lines[max(0, start - 3) : start]) if line.text.strip()), "")


def _next(lines: Sequence[Line], number: int) -> int:
    while number < len(lines) and not lines[number].text.strip():
        number += 1
    return number
