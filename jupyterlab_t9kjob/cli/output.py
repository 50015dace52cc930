"""Output of commands: tables that fit the terminal, JSON and YAML, durations and colors."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

import click

from ..core.translation import translated

COLORS: Final = {
    "Running": "cyan",
    "Succeeded": "green",
    "Failed": "red",
    "Pending": "yellow",
    "Resuming": "yellow",
    "Paused": "magenta",
    "Unknown": "magenta",
    "Complete": "green",
    "Error": "red",
    "Stale": "yellow",
}
"""Colors of states of jobs and of statuses of runs; other texts use the color of the state that they resemble."""
NARROWEST: Final = 6
GAP: Final = "  "
NONE: Final = "-"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title
        Its title.
    rank
        Importance: in a narrow terminal, the columns with the highest numbers are left out. 0: never.
    right
        True for numbers.
    colored
        True to give each cell the color of the state with which its English text begins.
    """

    title: str
    rank: int = 0
    right: bool = False
    colored: bool = False


def is_terminal(stream: IO[str] | None = None) -> bool:
    """Return True if a stream, by default the standard output, is a terminal."""
    return bool((stream or sys.stdout).isatty())


def has_colors(stream: IO[str]) -> bool:
    """Return True if a stream shows colors (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, phase: str, stream: IO[str] | None = None) -> str:
    """Return a text in the color of a phase, if the stream shows colors.

    Parameters
    ----------
    text
        The text.
    phase
        A key of `COLORS`; other words have no color.
    stream
        The stream; by default the standard output.
    """
    color = COLORS.get(phase)
    return click.style(text, fg=color) if color and has_colors(stream or sys.stdout) else text


def plain(text: str) -> str:
    """Return a text on one line and without control characters: names and messages come from other programs."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def width_of(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def cut(text: str, width: int) -> str:
    """Return a text that takes at most so many columns, with an ellipsis if it was cut.

    Parameters
    ----------
    text
        The text.
    width
        Number of columns.
    """
    if width_of(text) <= width:
        return text
    while text and width_of(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return the lines of a table.

    Parameters
    ----------
    columns
        The columns.
    rows
        Cells of each row, in the order of the columns. Texts are translated.
    width
        Columns of the terminal; None for no limit.
    """
    cells = [[column.title for column in columns], *([plain(translated(cell)) or NONE for cell in row] for row in rows)]
    widths = [max(width_of(row[index]) for row in cells) for index in range(len(columns))]
    shown = list(range(len(columns)))

    def total() -> int:
        return sum(widths[index] for index in shown) + len(GAP) * (len(shown) - 1)

    if width is not None:
        while (
            total() > width
            and (spare := max(shown, key=lambda index: (columns[index].rank, index)))
            and (columns[spare].rank)
        ):
            shown.remove(spare)
        while total() > width and (widest := max(shown, key=lambda index: widths[index])) is not None:
            if widths[widest] <= NARROWEST:
                break
            widths[widest] = max(NARROWEST, widths[widest] - (total() - width))
    lines = []
    for number, row in enumerate(cells):
        parts = []
        for index in shown:
            text = cut(row[index], widths[index])
            space = " " * (widths[index] - width_of(text))
            if columns[index].colored and number:
                text = paint(text, _first_word(rows[number - 1][index]))
            parts.append(space + text if columns[index].right else text + space)
        lines.append(GAP.join(parts).rstrip())
    return lines


def _first_word(text: str) -> str:
    """Return the first word of a text, in English: the key of its color."""
    return text.partition(" ")[0]


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: fitted to the terminal, or in full into a pipe.

    Parameters
    ----------
    columns
        The columns.
    rows
        Cells of each row.
    """
    width = shutil.get_terminal_size().columns if is_terminal() else None
    click.echo("\n".join(table(columns, rows, width)), color=has_colors(sys.stdout))


def print_fields(fields: Sequence[tuple[str, str | None]], colored: str) -> None:
    """Print values in a column after their titles; those without a value are left out.

    Parameters
    ----------
    fields
        Titles and values. Texts among the values are translated.
    colored
        Title of the value that has the color of the state with which its English text begins.
    """
    shown = [(title, value) for title, value in fields if value and value != NONE]
    widest = max(width_of(title) for title, _value in shown)
    for title, value in shown:
        words = plain(translated(value))
        space = " " * (widest - width_of(title) + 1)
        click.echo(f"{title}:{space}{paint(words, _first_word(value)) if title == colored else words}")


def print_data(data: Any, form: str) -> None:
    """Print data for programs.

    Parameters
    ----------
    data
        JSON values.
    form
        ``json`` or ``yaml``.
    """
    if form == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        import yaml

        click.echo(yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=10_000), nl=False)


def short_duration(seconds: float | None) -> str:
    """Return a duration as kubectl writes it: “38s”, “4m12s”, “2h46m”, “3d”."""
    if seconds is None:
        return NONE
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10 and rest:
        return f"{minutes}m{rest}s"
    if minutes < 120:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 10 and minutes:
        return f"{hours}h{minutes}m"
    return f"{hours}h" if hours < 48 else f"{hours // 24}d"


def age(since: float | None) -> str:
    """Return the time since a moment as a short duration."""
    return NONE if since is None else short_duration(time.time() - since)


def clock(moment: float | None) -> str:
    """Return a moment as date and time of this machine's time zone."""
    return NONE if moment is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))
