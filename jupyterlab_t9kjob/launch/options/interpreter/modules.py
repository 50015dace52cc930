"""Search for the modules of the workspace that a script imports, without importing them (blocking)."""

from __future__ import annotations

# ruff: noqa: PTH112, PTH113, PTH118, PTH120  (an import has names of any length: `Path` raises at them)
import ast
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ....core.system.files import FileStamps, open_regular
from .module import Module

MAX_FILES: Final = 300
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_FILE_BYTES: Final = 1024 * 1024
MAX_SECONDS, MAX_CLOCK_SECONDS = 1.0, 3.0  # Of the processor, and by the clock: a busy machine gets more.
MAX_ENTRIES: Final = 5000
MAX_SUBENTRIES: Final = 50
MAX_PARENTS: Final = 32
MAX_ABOVE: Final = 4
SOURCES: Final = ("", "src", "lib", "python")
"""Folders of a project from which its packages are imported."""
BINARY: Final = (".so", ".pyd", ".pyx")


class Modules:
    """The script and the modules that it imports.

    Parameters
    ----------
    root
        Folder of the workspace; files outside of it are never read, also not through symbolic links.
    script
        Path of the script.
    source
        Text of the script.
    tree
        Syntax tree of the script.
    around
        True to search also the folders around the script's own for packages of its project.

    Attributes
    ----------
    main
        The script.
    search
        Folders in which Python searches for modules; the interpreter adds those that the script adds to `sys.path`.
    left_out
        Names of modules that were not read because of a limit or because they can't be parsed.
    """

    def __init__(
        self, root: Path, script: Path, source: str, tree: ast.Module | None = None, *, around: bool = False
    ) -> None:
        self._root = os.path.realpath(root)
        self.main = Module("__main__", str(script), source, tree=tree)
        self.search = [str(script.parent)]
        self._top = top_folder(str(script.parent))
        self._around = installed_folders(self._top, self.contains) if around else []
        self.left_out: dict[str, None] = {}
        self._by_file: dict[str, Module | None] = {os.path.realpath(script): self.main}
        self._found: dict[tuple[str, str], str | None] = {}
        self._listings: dict[str, frozenset[str] | None] = {}
        self._imported: dict[str, list[Module]] = {}
        self._loaded: dict[str, Module | None] = {}
        self._bytes = 0
        self._ends = time.thread_time() + MAX_SECONDS, time.monotonic() + MAX_CLOCK_SECONDS
        self._stamps = FileStamps()

    def contains(self, path: str) -> bool:
        """Return True if a path is in the root after symbolic links were followed."""
        try:
            real = os.path.realpath(path)
        except ValueError:  # The path has a NUL.
            return False
        return real == self._root or real.startswith(self._root.rstrip("/") + "/")

    def may_read(self, path: str) -> bool:
        """Return True if a file or folder with options may be read; `is_current` then notices its changes."""
        if not self.contains(path):
            return False
        self._stamps.note(path)
        return True

    def add_folder(self, path: str, *, first: bool = True) -> None:
        """Add a folder to those in which Python searches for modules.

        Parameters
        ----------
        path
            The folder. It is ignored if it is known or if there are 50 folders.
        first
            True to search it before the others.
        """
        if path not in self.search and len(self.search) < 50:
            self.search.insert(0 if first else len(self.search), path)

    def find(self, name: str, importer: Module, level: int = 0) -> Module | None:
        """Return a module of the workspace.

        Parameters
        ----------
        name
            Dotted name; empty for ``from . import x``.
        importer
            The module with the import.
        level
            Number of dots before the name.

        Returns
        -------
        module
            The module; None if it is not in the workspace or can't be read.
        """
        parts = [part for part in name.split(".") if part]
        if level:
            folder = importer.folder
            for _ in range(min(level, MAX_PARENTS) - 1):
                folder = os.path.dirname(folder)
            package = self._package(folder, ".".join(importer.name.split(".")[:-level]))
            return self._descend(package, parts)
        if not parts:
            return None
        for place in [*self.search, self._top]:
            if self._file(place, parts[0]) is not None:
                return self._descend(self._module(place, parts[0], parts[0]), parts[1:])
        for place in self._around if parts[0] not in sys.stdlib_module_names else ():
            if (self._file(place, parts[0]) or "").endswith(".py"):
                return self._descend(self._module(place, parts[0], parts[0]), parts[1:])
        return None

    def submodule(self, package: Module, name: str) -> Module | None:
        """Return a module in a package; None if there is none.

        Parameters
        ----------
        package
            The package. Other modules have no submodules.
        name
            Name of the module without the package.
        """
        if package.package is None or not name.isidentifier():
            return None
        return self._module(package.package, name, f"{package.name}.{name}")

    def named_submodule(self, package: Module, name: str, node: ast.ImportFrom) -> Module | None:
        """Return the submodule that ``from package import name`` gives; None if the package defines the name itself.

        Parameters
        ----------
        package, name
            The package, and the name in the import.
        node
            The import. In the package's own ``from . import name``, the name is that of the submodule.
        """
        own = package.bindings.get(name) not in (None, node)
        return None if own else self.submodule(package, name)

    def imported(self, module: Module) -> list[Module]:
        """Return the modules of the workspace that a module imports, by its text."""
        known = self._imported.get(module.path)
        if known is not None:
            return known
        found = self._imported[module.path] = []
        for level, name, names in module.imports:
            imported = self.find(name, module, level)
            if imported is not None:
                found.append(imported)
                found += filter(None, (self.submodule(imported, part) for part in names))
        return found

    def _descend(self, module: Module | None, parts: list[str]) -> Module | None:
        for part in parts:
            module = self.submodule(module, part) if module is not None else None
        return module

    def _file(self, folder: str, name: str) -> str | None:
        """Return the path of a module's file, or of a package's folder without ``__init__.py``."""
        key = (folder, name)
        if key not in self._found:
            names = self._listing(folder)
            base, found = os.path.join(folder, name), None
            if names is None or name in names or f"{name}.py" in names:
                candidates = (f"{base}/__init__.py", f"{base}.py")
                found = next((file for file in candidates if os.path.isfile(file)), None)
                if found is None and os.path.isdir(base) and is_module(folder, name):
                    found = base
            self._found[key] = found
        return self._found[key]

    def _listing(self, folder: str) -> frozenset[str] | None:
        """Return the names in a folder; None if there are too many."""
        if folder not in self._listings:
            try:
                with os.scandir(folder) as entries:
                    names = [entry.name for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)]
            except (OSError, ValueError):
                names = []
            self._listings[folder] = frozenset(names) if len(names) < MAX_ENTRIES else None
        return self._listings[folder]

    def _module(self, folder: str, name: str, dotted: str) -> Module | None:
        file = self._file(folder, name)
        if file is None:
            return None
        if not file.endswith(".py"):
            return self._package(file, dotted)
        return self._load(file, dotted, os.path.dirname(file) if file.endswith("__init__.py") else None)

    def _package(self, folder: str, dotted: str) -> Module | None:
        init = os.path.join(folder, "__init__.py")
        if os.path.isfile(init):
            return self._load(init, dotted, folder)
        return Module(dotted, folder, "", folder, ast.Module([], []))

    def _load(self, file: str, dotted: str, package: str | None) -> Module | None:
        if file in self._loaded:
            return self._loaded[file]
        real = os.path.realpath(file)
        if real not in self._by_file:
            text = self._read(real)
            self._by_file[real] = Module(dotted, file, text, package) if text is not None else None
            if text is None:
                self.left_out[dotted] = None
        self._loaded[file] = self._by_file[real]
        return self._by_file[real]

    def _read(self, real: str) -> str | None:
        late = time.thread_time() > self._ends[0] or time.monotonic() > self._ends[1]
        if late or len(self._by_file) > MAX_FILES or not self.contains(real):
            return None
        try:
            with open_regular(real) as file:
                status = os.fstat(file.fileno())
                self._bytes += status.st_size
                if status.st_size > MAX_FILE_BYTES or self._bytes > MAX_BYTES:
                    return None
                self._stamps.note(real)
                return file.read(MAX_FILE_BYTES).decode("utf-8-sig", "replace").replace("\r\n", "\n")
        except OSError:
            return None

    def is_current(self) -> bool:
        """Return True if the files that were read, and those that were searched for, are as they were."""
        known, self._found, self._listings = self._found, {}, {}
        return self._stamps.are_current() and all(self._file(*key) == found for key, found in known.items())


def top_folder(folder: str) -> str:
    """Return the folder above the top package of a folder, from which ``python -m`` finds its modules."""
    for _ in range(MAX_PARENTS):
        if not os.path.isfile(os.path.join(folder, "__init__.py")) or os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    return folder


def installed_folders(top: str, contains: Callable[[str], bool]) -> list[str]:
    """Return the folders around a script's top folder from which packages of its project are imported.

    Projects are often installed in place, so that Python finds what is beside the script's folders.

    Parameters
    ----------
    top
        The folder from which ``python -m`` finds the script.
    contains
        Returns True for paths in the workspace.
    """
    above = [top]
    while len(above) < MAX_ABOVE and contains(parent := os.path.dirname(above[-1])) and parent != above[-1]:
        above.append(parent)
    return [os.path.join(folder, name) if name else folder for folder in above for name in SOURCES]


def is_module(folder: str, name: str) -> bool:
    """Return True if Python finds a module in a folder: a file, a package, or a folder with Python files.

    Parameters
    ----------
    folder
        A folder in which Python searches.
    name
        Name of the module, without dots.
    """
    base = os.path.join(folder, name)
    try:
        if os.path.isfile(f"{base}.py") or os.path.isfile(f"{base}/__init__.py"):
            return True
        if os.path.isdir(base):
            with os.scandir(base) as entries:
                return any(_python(entry) for _, entry in zip(range(MAX_ENTRIES), entries, strict=False))
        with os.scandir(folder) as entries:
            some = zip(range(MAX_ENTRIES), entries, strict=False)
            return any(e.name.startswith(f"{name}.") and e.name.endswith(BINARY) for _, e in some)
    except (OSError, ValueError):
        return False


def is_plain(folder: str, name: str) -> bool:
    """Return True if `folder` has a folder `name` without ``__init__.py``, and no module of this name beside it."""
    base = os.path.join(folder, name)
    return os.path.isdir(base) and not os.path.isfile(f"{base}/__init__.py") and not os.path.isfile(f"{base}.py")


def _python(entry: os.DirEntry[str], depth: int = 0) -> bool:
    """Return True for a file that Python imports, and for a folder with such a file, two folders deep at most."""
    if entry.name.endswith((".py", *BINARY)):
        return True
    try:
        if depth > 1 or entry.name.startswith(".") or not entry.is_dir():
            return False
        with os.scandir(entry.path) as entries:
            return any(_python(inner, depth + 1) for _, inner in zip(range(MAX_SUBENTRIES), entries, strict=False))
    except OSError:
        return False


def is_search_path(node: ast.expr) -> bool:
    """Return True if an expression is ``sys.path``."""
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr="path"):
            return True
    return False
