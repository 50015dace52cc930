"""The error that ended a process, read from the last lines of its log.

An error is reported only if it certainly ended the process: a traceback may also have been caught and printed. The
supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ...core.translation import Text, _
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

_PYTHON_EXIT_CODES: Final = (1, 120)
"""Exit codes of Python after an uncaught exception; 120 if it could not flush its output either."""
_LONGEST_LINE: Final = 64 * 1024
_SHOWN_OF_LONGEST: Final = 300
_SHOWN_LINES: Final = 10
_SHOWN_TEXT: Final = 500
_EXIT_LINES: Final = 3
# Two prefixes name a rank. torchrun's --tee writes “[default3]:” or “[rank7.default3]:”; the last number is the local
# rank. torch writes “[rank3]: ” before each line of an uncaught exception's traceback once a process group exists; the
# number is the global rank. torch's C++ messages begin with “[rank3]:[W…”, without the space.
_PREFIX = re.compile(
    rb"(?:\[(?!rank\d+\])[^\]\s\d][^\]\s]{0,63}?(?P<teed>\d{1,6})\]:)?(?:\[rank(?P<rank>\d{1,9})\]: ?)?"
)
# Terminal control sequences, such as colours.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Lines that libraries write while a process ends, whatever the cause is.
_NOISE = re.compile(
    r"^(?:\[[WI]\d*\b|[WE]\d{4} |.*\d%\|.*\||\s*warnings\.warn\(|.*Warning: |wandb: |.*resource_tracker: "
    r"|\[[-\d :,]+\] \[(?:INFO|ERROR|WARNING)\] \[launch\.py:|Exception ignored |Set the environment variable HYDRA_"
    r"|\[sudo\]|Aborted \(core dumped\)|.*: line \d+:\s+\d+ (?:Killed|Aborted|Segmentation fault|Bus error)\b)"
)
# Lines that continue an error message: those of PyTorch and Transformers, and indented lines.
_CONTINUES = re.compile(
    r"^(?:\s|CUDA kernel errors might|For debugging consider|Compile with `TORCH_USE|Device-side assertion"
    r"|Search for `?cuda|Exception raised from |frame #\d+:|If this is a private repository|Last error:"
    r"|nccl\w+: |You are currently|NOTE: |Traceback \(most recent call last\):$|\"\"\"$)"
)
_LAUNCHERS: Final = re.compile(
    r"/(?:torch/distributed/(?:run|launcher/api)|accelerate/commands/\w+|deepspeed/launcher/\w+)\.py$"
)
# Words that bash prints for a command that a signal ended, by bash's own exit code.
_SHELL_REPORTS: Final = {
    132: "Illegal instruction",
    134: "Aborted",
    135: "Bus error",
    136: "Floating point exception",
    137: "Killed",
    139: "Segmentation fault",
    143: "Terminated",
}
_LAUNCHER_ERROR = re.compile(r"ChildFailedError|CalledProcessError: Command .* returned non-zero exit status")


def lines_of_text(data: bytes, offset: int = 0, *, most: int | None = None) -> list[Line]:
    """Return the lines of a part of a log.

    Parameters
    ----------
    data
        Bytes of the part.
    offset
        Offset of the part in its file, in bytes.
    most
        Largest number of lines to keep, half of them from the start and half from the end; None keeps all.
    """
    raw = _split(data) if most is None else _some_lines(data, most)
    found = []
    for line in raw:
        prefix = _PREFIX.match(line)
        assert prefix is not None  # noqa: S101 (the pattern also matches the empty string)
        teed, rank = prefix["teed"], prefix["rank"]
        text = _plain(line[prefix.end() :])
        own = None if rank is None or text.startswith("[") else int(rank)
        found.append(Line(offset, text, own, None if teed is None else int(teed)))
        offset += len(line)
    return found


def ending_of(lines: Sequence[Line], exit_code: int, check: ScriptCheck | None) -> dict[str, Any]:
    """Return the error that ended a process, as fields of `core.job.Failure`.

    Parameters
    ----------
    lines
        The last lines of the process's log.
    exit_code
        Exit code of the process, 128 + n if signal n ended it.
    check
        Sources of the script; None if they can't be read.

    Returns
    -------
    dict
        ``error``, ``frames``, ``offset`` and ``note``; only ``note``, or nothing, if the error is not known.
    """
    reports = tracebacks(lines)
    own = [report for report in reports if not report.aside]
    last, end = _without_launcher(own, len(lines))
    after = _significant(lines[:end], last.end if last is not None else 0)
    form = find(after, exit_code)
    if last is not None and form is None and exit_code in _PYTHON_EXIT_CODES and _has_ended(last, after, check):
        return _fields(lines, last)
    if last is not None and exit_code in CRASHES and (last.uncaught or _verdict(last, check) == "uncaught"):
        return _fields(lines, last, _("While Python ended after this exception, native code crashed the process."))
    if form is not None:
        return {"error": form.error, "frames": form.frames, "offset": after[form.number].offset, "note": None}
    text = _exit_text(after, exit_code, check)
    if text is not None:
        return {"error": " ".join(line.text.strip() for line in text), "frames": [], "offset": text[0].offset,
                "note": None}  # fmt: skip
    launched = of_launcher(lines)
    if launched is not None and last is None:
        return {"error": launched, "frames": [], "offset": lines[-1].offset, "note": None}
    suspect = reports[-1] if reports and exit_code in _PYTHON_EXIT_CODES else None
    if suspect is None:
        return {}
    error = _short(suspect.error)
    return {"note": _("The last exception in its log is “{error}”, but it may not be the cause.", error=error)}


def shell_saw_signal(lines: Sequence[Line], exit_code: int) -> bool:
    """Return True if the log ends with a shell's report that a signal ended its command.

    Parameters
    ----------
    lines
        The last lines of the log.
    exit_code
        Exit code of the shell, 128 + the number of the signal.
    """
    report = _SHELL_REPORTS.get(exit_code)
    last = next((line.text for line in reversed(lines) if line.text.strip()), "")
    return report is not None and bool(re.match(rf"^\S.*: line \d+: +\d+ {report}\b", last))


def last_output(stream: str, lines: Sequence[Line]) -> dict[str, Any]:
    """Return the last lines of a log as the field ``last_output`` of a failure; nothing if the log is empty.

    Parameters
    ----------
    stream
        Id of the log stream.
    lines
        The last lines of the log.
    """
    shown = [line for line in lines if line.text.strip()][-_SHOWN_LINES:]
    if not shown:
        return {}
    texts = [line.text if len(line.text) <= _SHOWN_TEXT else f"{line.text[:_SHOWN_TEXT]}…" for line in shown]
    return {"last_output": {"stream": stream, "offset": shown[0].offset, "lines": texts}}


def _has_ended(last: Traceback, after: Sequence[Line], check: ScriptCheck | None) -> bool:
    """Return True if a traceback is that of the exception that ended the process."""
    if last.uncaught:
        return True
    verdict = _verdict(last, check)
    if verdict is not None:
        return verdict == "uncaught" or (verdict == "ends" and not _more_output(after))
    return not _more_output(after)


def _more_output(after: Sequence[Line]) -> bool:
    """Return True if the process printed more after a traceback than the rest of the error's message."""
    return any(not _CONTINUES.match(line.text) for line in after)


def _verdict(report: Traceback, check: ScriptCheck | None) -> str | None:
    if check is None or not report.frames or report.where is not None:
        return None
    return check.verdict(report.frames, report.error)


def _without_launcher(own: Sequence[Traceback], end: int) -> tuple[Traceback | None, int]:
    """Return the last traceback of the launched process, and the number of the line where its output ends.

    A launcher in Python prints a traceback of its own after the process's output.
    """
    if not own:
        return None, end
    launcher = any(_LAUNCHERS.search(frame["file"]) for frame in own[-1].frames)
    if launcher and _LAUNCHER_ERROR.search(own[-1].error):
        return own[-2] if len(own) > 1 else None, own[-1].start
    return own[-1], end


def _significant(lines: Sequence[Line], start: int) -> list[Line]:
    """Return the lines from number `start` on, without empty lines and libraries' messages at a process's end."""
    found: list[Line] = []
    ignored = False
    for line in lines[start:]:
        if _NOISE.match(line.text):
            ignored = line.text.startswith("Exception ignored ")
        elif not line.text.strip() or (ignored and (line.text[0].isspace() or line.text.startswith("Traceback "))):
            continue
        elif ignored:
            ignored = False  # The last line of the ignored exception's traceback.
        else:
            found.append(line)
    return found


def _exit_text(after: Sequence[Line], exit_code: int, check: ScriptCheck | None) -> Sequence[Line] | None:
    """Return the lines that ``sys.exit("text")`` wrote, if the script's source has such a text."""
    if exit_code != 1 or check is None:
        return None
    for count in range(1, min(_EXIT_LINES, len(after)) + 1):
        if check.exits_with("\n".join(line.text for line in after[-count:]).strip()):
            return after[-count:]
    return None


def _fields(lines: Sequence[Line], report: Traceback, note: Text | None = None) -> dict[str, Any]:
    if report.where is not None:
        note = _("It was raised in {where}.", where=report.where)
    elif report.cause is not None and note is None:
        note = _("It was raised because of “{error}”.", error=_short(report.cause))
    return {"error": report.error, "frames": report.frames, "offset": lines[report.start].offset, "note": note}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_OF_LONGEST else f"{text[:_SHOWN_OF_LONGEST]}…"


def _some_lines(data: bytes, most: int) -> list[bytes]:
    """Return the first and the last lines; all bytes between them count as one line."""
    first = data.split(b"\n", most // 2)
    if len(first) <= most // 2:
        return _split(data)
    rest = first.pop()
    last = rest.rsplit(b"\n", most // 2)
    return [line + b"\n" for line in first] + [line + b"\n" for line in last[:-1]] + [last[-1]]


def _split(data: bytes) -> list[bytes]:
    """Return the lines with their line ends; a carriage return does not end a line."""
    *lines, last = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _plain(data: bytes) -> str:
    long = len(data) > _LONGEST_LINE
    text = data[:_LONGEST_LINE].decode(errors="replace")
    if not long:
        # A progress bar overwrites its earlier states with carriage returns; only the last one counts.
        text = next((part for part in reversed(text.rstrip("\r\n").split("\r")) if part.strip()), "")
    text = _CONTROL.sub("", _ESCAPE.sub("", text)).replace("\ufffd\ufffd", "\ufffd")
    return f"{text[:_SHOWN_OF_LONGEST]}… (cut, {len(data)} bytes)" if long else text
