"""Error messages of known forms other than Python tracebacks: of option parsers, shells, C++, and Python's own crash.

A form counts only together with its exit codes, and most forms only as the last line of a log. The supervisor uses this
module, so it needs only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .tracebacks import Line, frame_of, shortened

STILL_WORKED: Final = "terminate called without an active exception"
"""Message of C++ when a joinable thread is destroyed, such as gloo's at exit (pytorch#190489, pytorch#179291)."""
CRASHES: Final = frozenset({132, 134, 135, 136, 139})
"""Exit codes of a crash in native code: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV."""

_THROWN = re.compile(r"terminate called after throwing an instance of '(?P<type>[^']+)'")
_WHAT = re.compile(r"^\s*what\(\):\s*(?P<what>.*)$")
_LIBCXX = re.compile(r"libc\+\+abi: terminating due to uncaught exception of type (?P<error>.+)$")
_PYTHON = re.compile(r"^Fatal Python error: (?P<error>.+)$")
_PYTHON_FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d{1,9}) in (?P<function>.+)$')
_NATIVE = re.compile(
    r"^(?:(?:free|malloc|realloc|munmap_chunk|calloc)\(\): .+|double free or corruption.*|corrupted .+"
    r"|\*\*\* .+ \*\*\*: terminated|.+: Assertion [`'].+' failed\.|F\d{4} \d\d:\d\d.* Check failed: .+)$"
)
_LOST_STDERR = "lost sys.stderr"
_LOST_ERROR = re.compile(r"^object repr\s*: (?P<error>.+)$")
_DEEPSPEED = re.compile(r"\[launch\.py:\d+:sigkill_handler\] .* exits with return code = (?P<code>-?\d+)$")
_BOX = re.compile(r"^[╭┌+][─-]+ Error [─-]+[╮┐+]$")
_BOXED = re.compile(r"^[│|] (?P<text>.*?)\s*[│|]$")
_USAGE = re.compile(r"^\s*usage: ", re.IGNORECASE)
_USAGE_LINES: Final = 60
_SHELL = r"^(?:\S+: )*?(?:line )?\d+: .*"


class _Form(NamedTuple):
    codes: frozenset[int]
    pattern: re.Pattern[str]


_LAST_LINES: Final = (
    _Form(frozenset({1, 2}), re.compile(
        r"^\S*python[\d.]*(?:\.exe)?: (?:can't (?:open file|find) |No module named |Error while finding module ).+"
    )),
    _Form(frozenset({127}), re.compile(_SHELL + r"(?:command not found|not found|No such file or directory)$")),
    _Form(frozenset({127}), re.compile(r"^.*error while loading shared libraries: .+")),
    _Form(frozenset({127}), re.compile(r"^(?:\S*/)?env: .+: No such file or directory$")),
    _Form(frozenset({126}), re.compile(
        _SHELL + r"(?:Permission denied|Is a directory|cannot execute.*|Exec format error)$")),
    _Form(frozenset({1, 127}), re.compile(_SHELL + r"(?:unbound variable|parameter (?:null or )?not set)$")),
    _Form(frozenset({1, 2}), re.compile(_SHELL + r"(?:syntax error.*|unexpected EOF while looking for matching .+)$")),
    _Form(frozenset({1, 2}), re.compile(r"^\S*sh: \d+: .*(?:Syntax error: .+|parameter not set|cannot open .+)$")),
    _Form(frozenset({1}), re.compile(r"^\S+: /\S+: version `\S+' not found \(required by .+\)$")),
)  # fmt: skip


class Found(NamedTuple):
    """An error of a known form.

    Attributes
    ----------
    error
        Text of the error.
    number
        Number of the line where the error begins.
    frames
        Frames as fields of `core.job.Frame`, outermost first; empty for most forms.
    """

    error: str
    number: int
    frames: list[dict[str, Any]]


def find(lines: Sequence[Line], exit_code: int) -> Found | None:
    """Return the error of a known form at the end of a log; None if there is none.

    Parameters
    ----------
    lines
        The last lines of the log, without libraries' messages at a process's end.
    exit_code
        Exit code of the process, 128 + n if signal n ended it.
    """
    if not lines:
        return None
    if exit_code in CRASHES:
        return _crash(lines)
    return _last_line(lines, exit_code) or _usage(lines, exit_code) or _fatal(lines)


def _crash(lines: Sequence[Line]) -> Found | None:
    for number in range(len(lines) - 1, -1, -1):
        text = lines[number].text
        what = _WHAT.match(text)
        if what is not None:
            return _thrown(lines, number, what["what"].strip())
        if STILL_WORKED in text:
            return Found(STILL_WORKED, number, [])
        libcxx = _LIBCXX.search(text)
        if libcxx is not None:
            return Found(shortened(libcxx["error"]), number, [])
        if _PYTHON.match(text):
            return _of_python(lines, number)
        thrown = _THROWN.search(text)
        if thrown is not None:
            return Found(shortened(thrown["type"]), number, [])
        if _NATIVE.match(text):
            return Found(shortened(text), number, [])
    return None


def _thrown(lines: Sequence[Line], number: int, what: str) -> Found:
    """Return the C++ exception whose message is on a line; its type is on one of the lines before."""
    before = (_THROWN.search(line.text) for line in reversed(lines[max(0, number - 3) : number]))
    thrown = next(filter(None, before), None)
    if not what or what.endswith(":"):
        what = f"{what} {lines[number + 1].text.strip() if number + 1 < len(lines) else ''}".strip()
    return Found(shortened(f"{thrown['type']}: {what}" if thrown else what), max(0, number - (thrown is not None)), [])


def _fatal(lines: Sequence[Line]) -> Found | None:
    """Return the error of a Python that could not start, or that lost its standard error."""
    for number in range(len(lines) - 1, max(-1, len(lines) - 12), -1):
        if _PYTHON.match(lines[number].text):
            return _of_python(lines, number)
    if lines[-1].text == _LOST_STDERR:
        for number in range(len(lines) - 2, max(-1, len(lines) - 10), -1):
            lost = _LOST_ERROR.match(lines[number].text)
            if lost is not None:
                return Found(shortened(lost["error"]), number, [])
    return None


def _of_python(lines: Sequence[Line], number: int) -> Found:
    frames: list[dict[str, Any]] = []
    current = False
    for line in lines[number + 1 : number + 200]:
        if line.text.startswith(("Current thread ", "Thread ", "Stack (")):
            if frames:
                break
            current = line.text.startswith(("Current thread ", "Stack ("))
        frame = _PYTHON_FRAME.match(line.text) if current else None
        if frame is not None:
            frames.append(frame_of(frame["file"], frame["line"], frame["function"]))
    return Found(shortened(lines[number].text), number, frames[::-1])


def _last_line(lines: Sequence[Line], exit_code: int) -> Found | None:
    text = lines[-1].text.strip()
    known = any(exit_code in form.codes and form.pattern.match(text) for form in _LAST_LINES)
    return Found(shortened(text), len(lines) - 1, []) if known else None


def _usage(lines: Sequence[Line], exit_code: int) -> Found | None:
    """Return the error of argparse, optparse, absl or click about arguments, which follows the usage."""
    if exit_code != 2:
        return None
    usage = next(
        (n for n in range(len(lines) - 1, max(-1, len(lines) - _USAGE_LINES), -1) if _USAGE.match(lines[n].text)), None
    )
    if usage is None:
        return None
    for number in range(usage + 1, len(lines)):
        text = lines[number].text
        if re.match(r"^\S.*: error: .+", text) or re.match(r"^Error: .+", text):
            return Found(shortened(" ".join(line.text.strip() for line in lines[number:])), number, [])
        if _BOX.match(text.strip()):
            boxed = (_BOXED.match(line.text.strip()) for line in lines[number + 1 :])
            text = " ".join(found["text"].strip() for found in boxed if found is not None)
            return Found(shortened(f"Error: {text}"), number, [])
    return None


def of_launcher(lines: Sequence[Line]) -> str | None:
    """Return the last line of DeepSpeed's launcher about the process that ended, in DeepSpeed's words.

    The line is shortened to what a user needs. None if the log does not end with such a line.
    """
    text = next((line.text for line in reversed(lines) if line.text.strip()), "")
    match = _DEEPSPEED.search(text)
    return f"a process that DeepSpeed started exits with return code = {match['code']}" if match is not None else None
