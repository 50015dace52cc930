"""Makes valid job names."""

from __future__ import annotations

import re


def name_from(text: str) -> str:
    """Return a valid job name made from any text, such as the stem of a file's name.

    Parameters
    ----------
    text
        ``"MNIST_ddp"`` gives ``"mnist-ddp"``; a text without a usable letter gives ``"job"``.

    Returns
    -------
    str
        A name that matches `core.spec.NAME_PATTERN`, at most 36 characters long, so that a number can be appended.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    name = re.sub(r"^[^a-z]+", "", name)[:36].strip("-")
    return name or "job"


def numbered(name: str, taken: set[str]) -> str:
    """Return a name with a number higher than those of all names in use (``train-1``, ``train-2`` …).

    Parameters
    ----------
    name
        A valid job name; a number at its end is replaced.
    taken
        Names in use.
    """
    stem = re.sub(r"-\d+$", "", name)
    used = [int(match[1]) for other in taken if (match := re.fullmatch(re.escape(stem) + r"-(\d+)", other))]
    number = str(max(used, default=0) + 1)
    return f"{stem[: 39 - len(number)].rstrip('-')}-{number}"
