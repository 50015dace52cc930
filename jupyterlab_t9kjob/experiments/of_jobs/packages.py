"""Packages that are installed beside a Python of this machine. No Python is started for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

MOST_PACKAGES: Final = 2000
_MOST_BYTES: Final = 4096
_PACKAGE: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)-([0-9][^-/]*)\.(?:dist|egg)-info\Z")
_FOLDER: Final = re.compile(r"python(\d+\.\d+)t?\Z")


def packages_of(python: Path) -> tuple[str | None, dict[str, str]]:
    """Return the version of a Python, and the versions of its packages by their names (blocking).

    Parameters
    ----------
    python
        Path of the program, as `<prefix>/bin/python`. Nothing is found elsewhere, or if a folder can't be read.
    """
    version: str | None = None
    found: dict[str, str] = {}
    for prefix in (*_base_of(python.parent.parent), python.parent.parent):
        for folder in _entries(prefix / "lib"):
            match = _FOLDER.match(folder)
            if match is None:
                continue
            version = match[1]
            for entry in _entries(prefix / "lib" / folder / "site-packages"):
                package = _PACKAGE.match(entry)
                if package is not None and len(found) < MOST_PACKAGES:
                    found[package[1].replace("_", "-").lower()] = package[2][:100]
    return version, dict(sorted(found.items()))


def _base_of(prefix: Path) -> list[Path]:
    """Return the prefix whose packages a virtual environment sees beside its own."""
    try:
        with (prefix / "pyvenv.cfg").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST_BYTES).splitlines()
    except OSError:
        return []
    settings = {name.strip().lower(): value.strip() for name, _sign, value in (line.partition("=") for line in lines)}
    if settings.get("include-system-site-packages", "").lower() != "true" or not settings.get("home"):
        return []
    return [Path(settings["home"]).parent]


def _entries(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []
