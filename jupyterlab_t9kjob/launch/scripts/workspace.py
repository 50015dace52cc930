"""Search for the modules of the workspace that a script imports, without importing them (blocking)."""

from __future__ import annotations

# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH120  (an import has names of any length: `Path` raises at them)
import ast
import os
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Final

from ...core.system.files import open_regular
from ..options.interpreter.modules import MAX_ENTRIES, SOURCES, installed_folders, is_module, is_plain, top_folder
from .facts import Facts, Import, read_facts
from .observation import observe
from .packages import LIBRARIES
from .reach import Reach
from .source_text import read_start
from .tree_walk import walk

MAX_FILES: Final = 300
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_FILE_BYTES: Final = 1024 * 1024
MAX_SECONDS: Final = 1.0
"""Time for reading the modules, of the processor; a busy machine gets more by the clock."""
MAX_CLOCK_SECONDS: Final = 3.0
MAX_PARENTS: Final = 32
REMEMBERED: Final = 2000
PROJECT_MARKS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "environment.yml")
"""Files and folders that the top folder of a repository or project has."""
STARTS_GROUP: Final = re.compile(
    rb"init_process_group|init_device_mesh|DistributedDataParallel|FullyShardedDataParallel|fully_shard|DeviceMesh"
    rb"|init_rpc|init_distributed|deepspeed|accelerate|lightning|horovod|idist"
)
"""Words of modules that may start a process group."""
NO_SOURCES: Final = frozenset({"node_modules", "__pycache__", "site-packages", "wandb", "runs", "venv", "env"})
"""Folders that are not searched for modules."""
MAX_FOLDERS: Final = 2000
MAX_SEARCH_SECONDS: Final = 0.3


@dataclass
class Closure:
    """A script with the modules of the workspace that it imports.

    Attributes
    ----------
    script
        Facts about the script.
    modules
        Facts about the imported modules of the workspace, by path.
    complete
        True if all imported modules of the workspace were read, and none of them is opaque.
    unread
        True if a module of the workspace that is imported is compiled, or was not read within the limits. A
        module that Python's parser refuses, such as one for a newer Python, counts if its text names a process group.
    starts_elsewhere
        True if a module that is loaded at run time may start a process group: another module of the repository names
        one, or the repository is too large to be searched.
    foreign
        Top-level modules that are neither in the workspace nor in Python's standard library.
    own
        Top-level modules that the script imports from the workspace.
    executed
        Paths of the files that the script runs as scripts.
    """

    script: Facts = field(default_factory=Facts)
    modules: dict[str, Facts] = field(default_factory=dict)
    complete: bool = True
    unread: bool = False
    starts_elsewhere: bool = False
    foreign: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)

    @cached_property
    def reach(self) -> Reach:
        """Definitions that the script is likely to run."""
        return Reach([self.script, *(self.modules[path] for path in self.executed)], self.facts)

    @property
    def facts(self) -> list[Facts]:
        """Facts about the script and all its modules."""
        return [self.script, *self.modules.values()]

    @property
    def names(self) -> set[str]:
        """All identifiers that the script and its modules use."""
        return set().union(*(facts.names for facts in self.facts))


class Workspace:
    """The folder with a script and its modules.

    Parameters
    ----------
    root
        Root folder; files outside of it are never read, also not through symbolic links.
    script
        Path of the script.
    """

    def __init__(self, root: Path, script: Path) -> None:
        self.root = os.path.realpath(root)
        self.script = script
        self._listed: dict[str, list[str]] | None = None

    def closure(self, script: Facts) -> Closure:
        """Return a script with the modules that it imports; limits of time, files and bytes apply."""
        return _Reading(self).read(script)

    def contains(self, path: str) -> bool:
        """Return True if a path is in the root after symbolic links were followed."""
        real = os.path.realpath(path)
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")

    def elsewhere(self, name: str) -> Path | None:
        """Return the folder that contains a module: the script's folder, one above it, or a source folder in these.

        If none of them has the module, the other folders of the script's repository are searched.
        """
        for folder in [self.script.parent, *self.script.parent.parents][:MAX_PARENTS]:
            if not self.contains(str(folder)):
                return None
            for place in (folder / sources for sources in SOURCES):
                around = name in LIBRARIES and self.is_around(str(place), name)
                if self.contains(str(place)) and is_module(str(place), name) and not around:
                    return place
        return next((folder for folder in self._folders() if is_module(str(folder), name)), None)

    def is_around(self, folder: str, name: str) -> bool:
        """Return True if `folder` has a folder `name` without ``__init__.py``, and this one contains the script."""
        return str(self.script).startswith(os.path.join(folder, name, "")) and is_plain(folder, name)

    def named(self, name: str) -> bool:
        """Return True if a folder or file of the script's repository has the name of a module, also an empty one."""
        return any(
            entry in (name, f"{name}.py", f"{name}.pyx") or entry.startswith(f"{name}.cpython-")
            for entries in self._listings().values()
            for entry in entries
        )

    def mentions(self, words: re.Pattern[bytes], read: set[str]) -> bool:
        """Return True if a module of the script's repository has one of some words.

        The result is also True if the search is cut short, and if the repository has no other module.

        Parameters
        ----------
        words
            The words.
        read
            Real paths of the modules that are left out.
        """
        found = False
        left, ends = MAX_BYTES, time.thread_time() + MAX_SEARCH_SECONDS
        clock = time.monotonic() + MAX_CLOCK_SECONDS  # Waiting for a slow disk takes no CPU time.
        if len(self._listings()) >= MAX_FOLDERS:
            return True
        for folder, names in self._listings().items():
            for name in names:
                if not name.endswith(".py"):
                    continue
                if time.monotonic() > clock:
                    return True
                file = os.path.realpath(os.path.join(folder, name))
                if file in read or not self.contains(file):
                    continue
                data = read_start(file, MAX_FILE_BYTES)
                left -= len(data)
                found = True
                if left < 0 or time.thread_time() > ends or words.search(data):
                    return True
        return not found

    def _repository(self) -> Path:
        """Return the nearest folder above the script that is a repository or a project, else the script's folder."""
        folders = [folder for folder in (self.script.parent, *self.script.parents) if self.contains(str(folder))]
        for folder in folders[:MAX_PARENTS]:
            if any((folder / mark).exists() for mark in PROJECT_MARKS):
                return folder
        return self.script.parent

    def _folders(self) -> Iterator[Path]:
        return (Path(folder) for folder in self._listings())

    def _listings(self) -> dict[str, list[str]]:
        """Return the entries of the folders of the script's repository, the upper folders first, within limits."""
        if self._listed is None:
            self._listed = {}
            ends, clock = time.thread_time() + MAX_SEARCH_SECONDS, time.monotonic() + MAX_CLOCK_SECONDS
            waiting = [str(self._repository())]
            while waiting and len(self._listed) < MAX_FOLDERS:
                if time.thread_time() > ends or time.monotonic() > clock:
                    break
                folder = waiting.pop(0)
                names, folders = _entries(folder)
                self._listed[folder] = names
                waiting += (os.path.join(folder, name) for name in folders)
        return self._listed

    def top(self) -> Path:
        """Return the folder above the script's top package, from which ``python -m`` finds the script."""
        return Path(top_folder(str(self.script.parent)))


def _entries(folder: str) -> tuple[list[str], list[str]]:
    """Return the names in a folder, and those of its folders that may have modules; nothing if it can't be read."""
    names: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(MAX_ENTRIES), entries, strict=False):
                names.append(entry.name)
                if entry.name not in NO_SOURCES and entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
    except OSError:
        return [], []
    return names, sorted(folders)


class _Reading:
    """Search for a script's modules, with its limits."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._closure = Closure()
        self._search = [str(workspace.script.parent)]
        self._top = str(workspace.top())  # Python searches this folder if the script is run as a module.
        self._above = installed_folders(self._top, workspace.contains)
        self._bytes = 0
        self._ends = time.thread_time() + MAX_SECONDS
        self._ends_by_clock = time.monotonic() + MAX_CLOCK_SECONDS
        self._seen: set[str] = {os.path.realpath(workspace.script)}
        self._found: dict[tuple[str, str], bool] = {}

    def read(self, script: Facts) -> Closure:
        closure = self._closure
        closure.script = script
        waiting: list[tuple[str, Facts]] = [(str(self._workspace.script), script)]
        while waiting:
            path, facts = waiting.pop()
            closure.complete &= not facts.opaque
            for folder in facts.folders:
                if folder not in self._search:
                    self._search.append(folder)
                    closure.complete &= self._workspace.contains(folder)
            for place in facts.runs if facts is script else ():
                file = os.path.join(self._search[0], place.what)
                found = self._load(file) if os.path.isfile(file) else None
                if found is not None:
                    closure.executed.add(file)
                    closure.modules[file] = found
                    waiting.append((file, found))
            for imported in facts.imports:
                for file in self._files(path, imported, of_script=facts is script):
                    found = self._load(file)
                    if found is not None:
                        closure.modules[file] = found
                        waiting.append((file, found))
        if any(closure.reach.runs(facts, place) for facts in closure.facts for place in facts.loads):
            closure.starts_elsewhere = self._workspace.mentions(STARTS_GROUP, self._seen)
        return closure

    def _files(self, path: str, imported: Import, *, of_script: bool) -> Iterator[str]:
        """Yield the files that an import reads."""
        closure = self._closure
        parts = [part for part in imported.module.split(".") if part]
        if imported.level:
            folder = os.path.dirname(path)
            for _ in range(min(imported.level, MAX_PARENTS) - 1):
                folder = os.path.dirname(folder)
            yield from self._below(folder, parts, imported.names)
            return
        first = parts[0]
        names = parts[1:2] or imported.names
        folder_ = next(
            (folder for folder in [*self._search, self._top, *self._above] if self._has(folder, first, names)), None
        )
        if folder_ is None:
            if first not in sys.stdlib_module_names and first != "__main__":
                closure.foreign.add(first)
            return
        if of_script and folder_ in self._search:
            closure.own.add(first)
        yield from self._below(folder_, parts, imported.names)

    def _has(self, folder: str, name: str, names: Sequence[str]) -> bool:
        """Return True if a folder has a module, of which an import wants some names.

        A folder without ``__init__.py`` has nothing but modules, and Python prefers an installed library. If it has the
        name of a library, or if it is the script's own, it counts only for an import of one of its modules.
        """
        key = (folder, name)
        if key not in self._found:
            self._found[key] = is_module(folder, name)
        if not self._found[key]:
            return False
        doubted = self._workspace.is_around(folder, name) or (name in LIBRARIES and is_plain(folder, name))
        return not doubted or any(is_module(os.path.join(folder, name), wanted) for wanted in names)

    def _below(self, folder: str, parts: list[str], names: tuple[str, ...]) -> Iterator[str]:
        """Yield the files of a dotted module below a folder, with its packages' own and its submodules."""
        for part in parts:
            package = os.path.join(folder, part)
            if os.path.isfile(f"{package}/__init__.py"):
                yield f"{package}/__init__.py"
            elif os.path.isfile(f"{package}.py"):
                yield f"{package}.py"
                return  # Further parts are names in this module.
            elif not os.path.isdir(package):
                # The module is missing, is made at run time, or is compiled.
                self._incomplete(unread=_is_compiled(folder, part))
                return
            folder = package
        if not parts and os.path.isfile(f"{folder}/__init__.py"):
            yield f"{folder}/__init__.py"
        for name in names:
            for file in (f"{folder}/{name}.py", f"{folder}/{name}/__init__.py"):
                if name != "*" and os.path.isfile(file):
                    yield file

    def _load(self, file: str) -> Facts | None:
        """Return the facts about a file; None if it was read before, or can't be read."""
        real = os.path.realpath(file)
        if real in self._seen:
            return None
        self._seen.add(real)
        if len(self._seen) > MAX_FILES or self._is_late() or not self._workspace.contains(real):
            self._incomplete()
            return None
        facts, size = _facts_of(real)
        self._bytes += size
        if facts is None or self._bytes > MAX_BYTES:
            text = read_start(real, MAX_FILE_BYTES)
            self._incomplete(unread=self._bytes > MAX_BYTES or STARTS_GROUP.search(text) is not None)
            return None
        return facts

    def _is_late(self) -> bool:
        return time.thread_time() > self._ends or time.monotonic() > self._ends_by_clock

    def _incomplete(self, *, unread: bool = True) -> None:
        self._closure.complete = False
        self._closure.unread |= unread


def _is_compiled(folder: str, name: str) -> bool:
    """Return True if a folder has a compiled module of a name, or its Cython source."""
    ends = (".so", ".pyd", ".pyx", ".pyc")
    return any(entry.startswith(f"{name}.") and entry.endswith(ends) for entry in _entries(folder)[0])


_remembered: OrderedDict[str, tuple[tuple[int, int, int], Facts | None]] = OrderedDict()
_lock = Lock()


def _facts_of(path: str) -> tuple[Facts | None, int]:
    """Return facts and size (bytes) of a file, cached until the file changes; no facts if it can't be analysed."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > MAX_FILE_BYTES:
                return None, 0
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            with _lock:
                known = _remembered.get(path)
            if known is not None and known[0] == stamp:
                return known[1], status.st_size
            data = file.read(MAX_FILE_BYTES)
    except OSError:
        return None, 0
    facts: Facts | None = None
    try:
        tree = ast.parse(data, filename=os.path.basename(path))
        facts = read_facts(walk(tree), path)
        facts.training = observe(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        facts = None  # The file is not valid Python.
    with _lock:
        _remembered[path] = (stamp, facts)
        _remembered.move_to_end(path)
        while len(_remembered) > REMEMBERED:
            _remembered.popitem(last=False)
    return facts, len(data)
