"""Messages of errors on the standard error stream."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from ..core.errors import JobError
from ..core.translation import _, translated
from .output import paint, plain

if TYPE_CHECKING:
    from ..core.checks import Check

BROKEN_PIPE: Final = 141
"""Exit code if the reader of the output has left."""


def show_error(error: JobError) -> None:
    """Print what happened, the words of the cluster or the system, and what the user can do."""
    say(paint(translated(_("Error:")), "Failed", sys.stderr), plain(translated(error.message)))
    if error.verbatim:
        for line in error.verbatim.splitlines()[:20]:
            print(f"  {plain(line)}", file=sys.stderr)  # noqa: T201
    if error.hint:
        print(f"  {plain(translated(error.hint))}", file=sys.stderr)  # noqa: T201


def show_click_error(error: click.ClickException) -> None:
    """Print an error in the use of the command; only the help if no command was given."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # Since click 8.2.
        print(error.format_message(), file=sys.stderr)  # noqa: T201
        return
    if isinstance(error, click.UsageError) and error.ctx is not None:
        print(error.ctx.get_usage(), file=sys.stderr)  # noqa: T201
    say(paint(translated(_("Error:")), "Failed", sys.stderr), plain(error.format_message()))
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = _("Try “{command} --help”.", command=error.ctx.command_path)
        print(f"  {translated(hint)}", file=sys.stderr)  # noqa: T201


def show_checks(checks: Iterable[Check], *, hints: bool = False) -> None:
    """Print errors and warnings about a job.

    Parameters
    ----------
    checks
        The checks, the worst ones first.
    hints
        True to print hints as well.
    """
    titles = {"error": (_("Error:"), "Failed"), "warning": (_("Warning:"), "Pending"), "hint": (_("Hint:"), "Paused")}
    for check in checks:
        if check.level == "passed" or (check.level == "hint" and not hints):
            continue
        title, color = titles[check.level]
        say(paint(translated(title), color, sys.stderr), plain(translated(check.message)))
        if check.hint:
            print(f"  {plain(translated(check.hint))}", file=sys.stderr)  # noqa: T201


def say(*words: str) -> None:
    """Print a line for the user: on the standard error stream, so that a pipe gets only what was asked for."""
    print(*words, file=sys.stderr, flush=True)  # noqa: T201
