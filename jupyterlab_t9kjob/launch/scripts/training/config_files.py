"""Values in the YAML files that a script reads: files that its code names, and those that are defaults of options."""

from __future__ import annotations

# ruff: noqa: PTH116, PTH118  (names come from files: `Path` raises at some of them)
import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from ...model import ScriptOption
from ...options.declarations.yaml_config import SUFFIXES, Config, ConfigFolder
from ..facts import Place
from ..observed import Assigned, Observed, Value
from ..workspace import Closure, Workspace

MAX_FILES: Final = 3
MAX_BYTES: Final = 16 * 1024
"""Size of a file: Python's YAML parser takes a second for about 60 kB."""
MAX_NAME: Final = 300


def read_config_files(closure: Closure, options: Iterable[ScriptOption], workspace: Workspace) -> dict[str, Observed]:
    """Return the values of a script's configuration files, by the path of the file (blocking).

    A value is known by its key, and by the keys above it: ``lr``, ``optimizer.lr``.

    Parameters
    ----------
    closure
        The script with its modules.
    options
        Options of the script. A file whose values are options is left out.
    workspace
        Folder of the files. A relative name is looked for beside the script, then in the folders above it.
    """
    options = list(options)
    known = {option.path for option in options}
    folders = [folder for folder in _folders(workspace.script.parent) if workspace.contains(str(folder))]
    found: dict[str, Observed] = {}
    for name in dict.fromkeys((*_defaults(options), *_named(closure))):
        paths = (os.path.normpath(os.path.join(folder, name)) for folder in folders)
        stamps = ((path, _stamp(path)) for path in paths if workspace.contains(path))
        path, stamp = next(((path, stamp) for path, stamp in stamps if stamp), ("", None))
        if stamp and path not in known and len(found) < MAX_FILES:
            found[path] = _values(path, stamp)
    return found


def _folders(folder: Path) -> Iterator[Path]:
    return islice((folder, *folder.parents), 6)


def _stamp(path: str) -> tuple[int, int] | None:
    """Return the time and size of a small file; None for anything else."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    small = stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES
    return (status.st_mtime_ns, status.st_size) if small else None


def _defaults(options: Iterable[ScriptOption]) -> Iterator[str]:
    return (option.default for option in options if option.default and _is_config(option.default))


def _named(closure: Closure) -> Iterator[str]:
    """Yield the names of YAML files in calls that the script is likely to run, and in values of variables."""
    for facts in closure.facts:
        module = facts.training
        named = [one.value for group in module.names.values() for one in group]
        for call in module.calls:
            if any(_is_config(str(part)) for value in call.args for part in value.parts):
                place = Place(call.line, "", *call.scope, main=call.main)
                named += call.args if closure.reach.runs(facts, place) else ()
        yield from (part for value in named for part in value.parts if isinstance(part, str) and _is_config(part))


def _is_config(name: str) -> bool:
    return name.endswith(SUFFIXES) and len(name) < MAX_NAME and "*" not in name and "\0" not in name


@lru_cache(maxsize=64)
def _values(path: str, _stamp: tuple[int, int]) -> Observed:
    """Return the values of a file; the stamp is another one if the file has changed."""
    config = Config(ConfigFolder(os.path.dirname(path), path.__eq__))  # noqa: PTH120
    config.read_file(path)
    found = Observed()
    for key, entry in config.entries.items():
        if not isinstance(entry.value, str | int | float | bool | None):
            continue
        assigned = Assigned(Value((entry.value,), single=True), (None, None), frozenset(), entry.line)
        parts = key.split(".")
        for first in range(len(parts)):
            found.attributes.setdefault(".".join(parts[first:]), []).append(assigned)
    return found
