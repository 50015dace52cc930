"""The program: chooses the language, runs a command, and turns errors into messages and exit codes."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from ..core.errors import JobError, Unavailable
from ..core.translation import _
from .errors import BROKEN_PIPE, show_click_error, show_error
from .language import use_language

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
TIMED_OUT: Final = 124
INTERRUPTED: Final = 130

NEW_OBJECTS: Final = 50_000
"""New objects after which Python searches for cycles; with its usual 700, that is a tenth of a short command's time."""
TURN_SECONDS: Final = 0.0005
"""Longest turn of a thread while others wait.

With Python's usual 5 ms, the thread that reads a log from the network, in pieces of 2 KiB, waits that long for the
threads that split it into lines.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Parameters
    ----------
    arguments
        Words after the program's name; None for those of this process.
    """
    gc.set_threshold(NEW_OBJECTS)
    # httpx imports its own command line, with rich and pygments, wherever these are installed; it does without too.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    sys.setswitchinterval(TURN_SECONDS)
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Names may have characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    use_language(os.environ)
    code = run_program(arguments)
    lost = code == BROKEN_PIPE
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code, lost = BROKEN_PIPE, True
    except OSError as error:
        code, lost = code or _failed(error), True
    if lost:
        # Python would report the error again when it flushes the stream at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _open_streams() -> None:
    """Replace standard streams that this process was started without: Python has None for them."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (as long as the process)


def run_program(arguments: Sequence[str] | None) -> int:
    """Run a command, print its error if it has one, and return the exit code.

    Parameters
    ----------
    arguments
        Words after the program's name; None for those of this process.
    """
    from .group import t9kjob  # Its texts are translated when it is imported.

    try:
        code = t9kjob.main(args=arguments, prog_name="t9kjob", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        show_click_error(error)
        return error.exit_code
    except JobError as error:
        show_error(error)
        return FAILED
    except (click.Abort, KeyboardInterrupt, asyncio.CancelledError):
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        return _failed(error)
    return code if isinstance(code, int) else OK


def _failed(error: OSError) -> int:
    """Print an error of the operating system, such as a full disk; return the exit code."""
    show_error(Unavailable(_("The operating system reports an error."), verbatim=str(error)))
    return FAILED


if __name__ == "__main__":
    main()
