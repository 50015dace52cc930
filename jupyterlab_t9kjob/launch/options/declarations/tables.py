"""Options that libraries define, from tables that ``tests/unit/options/record_library.py`` writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ...model import ScriptOption

_FILE = Path(__file__).with_name("library_options.json")


@cache
def _tables() -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return tables


def library_options(library: str, name: str, line: int, path: str | None = None) -> list[ScriptOption] | None:
    """Return the options that a class or function of a library adds; None if they are not in the tables.

    Parameters
    ----------
    library
        Name of the library's package.
    name
        Name of the class or function.
    line, path
        Place in the program where the class or function is used.
    """
    table = _tables().get(library, {})
    entry = table.get(name)
    if entry is None:
        return None
    inherited: list[ScriptOption] = []
    base = entry.get("base")
    if base:
        inherited = library_options(base[0], base[1], line, path) or []
    source = f"{library} {table['version']}"
    own = {item["dest"]: ScriptOption(**item, library=source, line=line, path=path) for item in entry["options"]}
    return [own.pop(option.dest, option) for option in inherited] + list(own.values())
