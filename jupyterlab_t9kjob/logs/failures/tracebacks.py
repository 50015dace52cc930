"""Python's error reports in the lines of a log: tracebacks, chains, groups, syntax errors. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

MOST_TEXT: Final = 1000
"""Characters of an error that are kept; a longer one is cut, and says so."""
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
# Lines before a traceback that did not end the process: another thread's, a destructor's, a child's, a task's.
_ASIDE = re.compile(
    r"^(?:Exception in thread |Exception ignored |--- Logging error ---|Process \S+:$|Error in atexit"
    r"|future: <|.*(?:exception was never retrieved|Exception in callback))"
)


class Line(NamedTuple):
    """A line of a log.

    Attributes
    ----------
    offset
        Where it begins in its file, in bytes.
    text
        Without colours, prefixes of ranks, and what a carriage return has overwritten.
    rank
        Global rank that torch's own hook for uncaught exceptions wrote before the line.
    teed
        Local rank that torchrun's ``--tee`` wrote before the line.
    """

    offset: int
    text: str
    rank: int | None = None
    teed: int | None = None


@dataclass(frozen=True)
class Traceback:
    """One report of an exception, with those that it is chained to.

    Attributes
    ----------
    start, end
        Numbers of its first line, and of the first after it.
    error
        Its last line, “ValueError: bad sample”.
    frames
        As `core.job.Frame`, outermost first.
    where
        In which process or thread it was raised, if not in the one that reports it.
    cause
        The error that it was raised from.
    uncaught
        Whether torch's hook for uncaught exceptions reported it.
    aside
        Whether it is known not to have ended the process.
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
    """Return the reports of exceptions in a log, in order; chained ones are one."""
    found: list[Traceback] = []
    number = 0
    while number < len(lines):
        one = _read(lines, number)
        if one is None:
            number += 1
            continue
        link = _link_before(lines, one.start)
        if found and link is not None and found[-1].end >= link - 1:
            before = found.pop()
            cause = before.error if lines[link].text == _DIRECT_CAUSE else one.cause
            one = replace(one, start=before.start, cause=cause, aside=before.aside, where=one.where or before.where)
        found.append(one)
        number = one.end
    return found


def shortened(text: str) -> str:
    """Return a text cut to `MOST_TEXT` characters, which then says how long it was."""
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:200]}… (cut, {len(text)} characters)"


def frame_of(file: str, line: str, function: str | None) -> dict[str, Any]:
    """Return a frame as `core.job.Frame` has it, without its code."""
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
        one = _plain(lines, number)
        return one and (_inner(lines, one) or one)
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
    """Return the exception of another process or thread that is the message of one, in that one's place."""
    wrapped = _WRAPPED.search(outer.error)
    number = _next(lines, outer.end)
    if wrapped is None:
        spawned = _SPAWNED.match(lines[number].text) if number < len(lines) else None
        if spawned is None:
            return None
        where, number = f"process {spawned['number']} of mp.spawn", _next(lines, number + 1)
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
    """Return the frames from a line on, and the number of the first line that is none."""
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
    """Return an error with the next line of its message, where the first one says nothing yet."""
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
    """Return a syntax error of the script itself, which has no traceback."""
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


def errors_in(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the errors of all reports of exceptions in a log."""
    return (one.error for one in tracebacks(lines))
