"""The error that ended a process, from the last lines of its log, where that is known. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from .error_forms import CRASHES, find, of_launcher
from .script_check import ScriptCheck
from .tracebacks import Line, Traceback, tracebacks

ECHO: Final = re.compile(
    r"connection (?:was )?(?:closed|reset|refused)|broken pipe|DistNetworkError|DistStoreError"
    r"|RendezvousConnectionError|remote process exited|ChildFailedError|socket timeout",
    re.IGNORECASE,
)
"""Messages of a rank that has lost its connection to another rank."""
TIMEOUT: Final = re.compile(
    r"Timed out waiting \d+ ?ms|Watchdog caught collective operation timeout|wait timeout after \d+|Socket Timeout"
    r"|failed to pass monitoredBarrier|ran for \d+ milliseconds before timing out",
    re.IGNORECASE,
)
"""Messages of a rank whose wait for another rank has timed out."""

_PYTHONS_OWN: Final = (1, 120)
"""Exit codes of an exception, and of one whose process could not write its output to the end."""
_LONGEST_LINE: Final = 64 * 1024
_SHOWN_OF_LONGEST: Final = 300
_SHOWN_LINES: Final = 10
_SHOWN_TEXT: Final = 500
_EXIT_LINES: Final = 3
# “[default3]:” or “[rank7.default3]:” by torchrun's --tee, the last number is the local rank; “[rank3]: ” by torch
# before every line of the traceback of an uncaught exception once a process group exists, the number is the global
# rank. torch's messages from C++ have “[rank3]:[W…” without the space.
_PREFIX = re.compile(
    rb"(?:\[(?!rank\d+\])[^\]\s\d][^\]\s]{0,63}?(?P<teed>\d{1,6})\]:)?(?:\[rank(?P<rank>\d{1,9})\]: ?)?"
)
# Colours and the like, which programs write for terminals.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Lines that libraries write while a process ends, whatever the cause is.
_NOISE = re.compile(
    r"^(?:\[[WI]\d*\b|[WE]\d{4} |.*\d%\|.*\||\s*warnings\.warn\(|.*Warning: |wandb: |.*resource_tracker: "
    r"|\[[-\d :,]+\] \[(?:INFO|ERROR|WARNING)\] \[launch\.py:|Exception ignored |Set the environment variable HYDRA_"
    r"|\[sudo\]|Aborted \(core dumped\)|.*: line \d+:\s+\d+ (?:Killed|Aborted|Segmentation fault|Bus error)\b)"
)
# Lines of a message after its first: PyTorch's, Transformers' and those that are indented.
_GOES_ON = re.compile(
    r"^(?:\s|CUDA kernel errors might|For debugging consider|Compile with `TORCH_USE|Device-side assertion"
    r"|Search for `?cuda|Exception raised from |frame #\d+:|If this is a private repository|Last error:"
    r"|nccl\w+: |You are currently|NOTE: |Traceback \(most recent call last\):$|\"\"\"$)"
)
_LAUNCHERS: Final = re.compile(
    r"/(?:torch/distributed/(?:run|launcher/api)|accelerate/commands/\w+|deepspeed/launcher/\w+)\.py$"
)
# The words of bash for a command that a signal has ended, by the exit code that bash then has.
_SHELL_SAW: Final = {
    132: "Illegal instruction",
    134: "Aborted",
    135: "Bus error",
    136: "Floating point exception",
    137: "Killed",
    139: "Segmentation fault",
    143: "Terminated",
}
_LAUNCHED = re.compile(r"ChildFailedError|CalledProcessError: Command .* returned non-zero exit status")


def lines_of_text(data: bytes, offset: int = 0, *, most: int | None = None) -> list[Line]:
    """Return the lines of a piece of a log.

    Parameters
    ----------
    data
        The piece.
    offset
        Where it begins in its file.
    most
        If given: keeps about so many lines, half of them the first ones and half the last ones.
    """
    raw = _split(data) if most is None else _some_lines(data, most)
    found = []
    for line in raw:
        prefix = _PREFIX.match(line)
        assert prefix is not None  # noqa: S101 (it matches nothing as well)
        teed, rank = prefix["teed"], prefix["rank"]
        text = _plain(line[prefix.end() :])
        own = None if rank is None or text.startswith("[") else int(rank)
        found.append(Line(offset, text, own, None if teed is None else int(teed)))
        offset += len(line)
    return found


def ending_of(lines: Sequence[Line], exit_code: int, check: ScriptCheck | None) -> dict[str, Any]:
    """Return the error that ended a process, as `core.job.Failure` has it; nothing where it is not known.

    Parameters
    ----------
    lines
        The last lines of its log.
    exit_code
        The process's, 128 + n where signal n ended it.
    check
        The script's source, where it can be read.

    Returns
    -------
    dict
        ``error``, ``frames``, ``offset``, ``note``.
    """
    reports = tracebacks(lines)
    own = [one for one in reports if not one.aside]
    last, end = _of_the_launched(own, len(lines))
    after = _significant(lines[:end], last.end if last is not None else 0)
    form = find(after, exit_code)
    if last is not None and form is None and exit_code in _PYTHONS_OWN and _has_ended(last, after, check):
        return _told(lines, last)
    if last is not None and exit_code in CRASHES and (last.uncaught or _verdict(last, check) == "uncaught"):
        return _told(lines, last, "While Python ended after this exception, native code crashed the process.")
    if form is not None:
        return {"error": form.error, "frames": form.frames, "offset": after[form.number].offset, "note": None}
    text = _exit_text(after, exit_code, check)
    if text is not None:
        return {"error": " ".join(line.text.strip() for line in text), "frames": [], "offset": text[0].offset,
                "note": None}  # fmt: skip
    launched = of_launcher(lines)
    if launched is not None and last is None:
        return {"error": launched, "frames": [], "offset": lines[-1].offset, "note": None}
    suspect = reports[-1] if reports and exit_code in _PYTHONS_OWN else None
    if suspect is not None:
        note = f"The last exception in its log is “{_short(suspect.error)}”, but it may not be the cause."
        return {"note": note}
    return {}


def shell_saw_signal(lines: Sequence[Line], exit_code: int) -> bool:
    """Return whether a log ends with a shell's words for a command that the exit code's signal has ended."""
    words = _SHELL_SAW.get(exit_code)
    last = next((line.text for line in reversed(lines) if line.text.strip()), "")
    return words is not None and bool(re.match(rf"^\S.*: line \d+: +\d+ {words}\b", last))


def last_output(stream: str, lines: Sequence[Line]) -> dict[str, Any]:
    """Return the last lines of a log as `core.job.LastOutput` has them, under its name in a failure."""
    shown = [line for line in lines if line.text.strip()][-_SHOWN_LINES:]
    if not shown:
        return {}
    texts = [line.text if len(line.text) <= _SHOWN_TEXT else f"{line.text[:_SHOWN_TEXT]}…" for line in shown]
    return {"last_output": {"stream": stream, "offset": shown[0].offset, "lines": texts}}


def _has_ended(last: Traceback, after: Sequence[Line], check: ScriptCheck | None) -> bool:
    """Return whether a traceback is that of the exception which ended the process."""
    if last.uncaught:
        return True
    verdict = _verdict(last, check)
    if verdict is not None:
        return verdict == "uncaught" or (verdict == "ends" and not _unread(after))
    return not _unread(after)


def _unread(after: Sequence[Line]) -> bool:
    """Return whether something was printed after a traceback that does not belong to its message."""
    return any(not _GOES_ON.match(line.text) for line in after)


def _verdict(one: Traceback, check: ScriptCheck | None) -> str | None:
    return check.verdict(one.frames, one.error) if check is not None and one.frames and one.where is None else None


def _of_the_launched(own: Sequence[Traceback], end: int) -> tuple[Traceback | None, int]:
    """Return the last traceback, and where the lines of its process end: before the traceback of its launcher."""
    if not own:
        return None, end
    launcher = any(_LAUNCHERS.search(frame["file"]) for frame in own[-1].frames)
    if launcher and _LAUNCHED.search(own[-1].error):
        return own[-2] if len(own) > 1 else None, own[-1].start
    return own[-1], end


def _significant(lines: Sequence[Line], start: int) -> list[Line]:
    """Return the lines from one on without empty ones, and without those that libraries write at an end."""
    found: list[Line] = []
    ignored = False
    for line in lines[start:]:
        if _NOISE.match(line.text):
            ignored = line.text.startswith("Exception ignored ")
        elif not line.text.strip() or (ignored and (line.text[0].isspace() or line.text.startswith("Traceback "))):
            continue
        elif ignored:
            ignored = False  # the last line of the traceback of what is ignored
        else:
            found.append(line)
    return found


def _exit_text(after: Sequence[Line], exit_code: int, check: ScriptCheck | None) -> Sequence[Line] | None:
    """Return the lines that ``sys.exit("text")`` has written, if the script's source has such a text."""
    if exit_code != 1 or check is None:
        return None
    for count in range(1, min(_EXIT_LINES, len(after)) + 1):
        if check.exits_with("\n".join(line.text for line in after[-count:]).strip()):
            return after[-count:]
    return None


def _told(lines: Sequence[Line], one: Traceback, note: str | None = None) -> dict[str, Any]:
    if one.where is not None:
        note = f"It was raised in {one.where}."
    elif one.cause is not None and note is None:
        note = f"It was raised because of “{_short(one.cause)}”."
    return {"error": one.error, "frames": one.frames, "offset": lines[one.start].offset, "note": note}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_OF_LONGEST else f"{text[:_SHOWN_OF_LONGEST]}…"


def _some_lines(data: bytes, most: int) -> list[bytes]:
    """Return the first and the last lines of a long piece; what lies between stands for one line."""
    first = data.split(b"\n", most // 2)
    if len(first) <= most // 2:
        return _split(data)
    rest = first.pop()
    last = rest.rsplit(b"\n", most // 2)
    return [line + b"\n" for line in first] + [line + b"\n" for line in last[:-1]] + [last[-1]]


def _split(data: bytes) -> list[bytes]:
    """Return the lines with their ends; a carriage return is none."""
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _plain(data: bytes) -> str:
    long = len(data) > _LONGEST_LINE
    text = data[:_LONGEST_LINE].decode(errors="replace")
    if not long:
        # Text that a carriage return has overwritten was not to stay: earlier states of a bar.
        text = next((part for part in reversed(text.rstrip("\r\n").split("\r")) if part.strip()), "")
    text = _CONTROL.sub("", _ESCAPE.sub("", text)).replace("\ufffd\ufffd", "\ufffd")
    return f"{text[:_SHOWN_OF_LONGEST]}… (cut, {len(data)} bytes)" if long else text
