"""Hydra's configurations in YAML: values, groups, and the defaults list that joins them."""

from __future__ import annotations

# ruff: noqa: PTH112, PTH113, PTH118, PTH208  (names come from files: `Path` raises at some of them)
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import yaml

from ..texts import one_line

MAX_BYTES: Final = 128 * 1024
MAX_FILES: Final = 100
MAX_ENTRIES: Final = 500
MAX_DEPTH: Final = 12
MAX_NODES: Final = 20_000
"""Values of a file, each alias counted with all that it stands for."""
SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True)
class Entry:
    """A value of the configuration.

    Attributes
    ----------
    key
        Its dotted name.
    value
        A constant, or a list of constants; ``???`` if it must be given.
    comment
        The comment beside it, or above it.
    line, file
        Its place.
    """

    key: str
    value: Any
    comment: str | None
    line: int
    file: str


@dataclass(frozen=True)
class ConfigFolder:
    """The folder with the configurations, and a function that is True for the files that may be read."""

    path: str
    may_read: Callable[[str], bool]

    def file(self, name: str) -> str | None:
        """Return the file of a configuration; None if there is none."""
        for suffix in SUFFIXES:
            path = os.path.normpath(os.path.join(self.path, f"{name}{suffix}"))
            if self.may_read(path) and os.path.isfile(path):
                return path
        return None

    def options(self, group: str) -> list[str]:
        """Return the configurations of a group."""
        folder = os.path.normpath(os.path.join(self.path, group))
        if not self.may_read(folder) or not os.path.isdir(folder):
            return []
        names = sorted(os.listdir(folder))[:MAX_ENTRIES]
        return [name.rpartition(".")[0] for name in names if name.endswith(SUFFIXES)]

    def groups(self) -> list[str]:
        """Return the groups at the top of the folder."""
        names = sorted(os.listdir(self.path))[:MAX_ENTRIES] if os.path.isdir(self.path) else []
        return [name for name in names if name != "hydra" and self.options(name)]


@dataclass(frozen=True)
class _Place:
    """Place of a configuration in the defaults list of another one.

    Attributes
    ----------
    group
        Path of its group in the folder with the configurations.
    relative
        The group as the list names it, without the slash of an absolute one.
    target
        Package that the list names after ``@``; empty for none.
    parent
        Package of the configuration with the list.
    """

    group: str = ""
    relative: str = ""
    target: str = ""
    parent: str = ""

    def package(self, header: str = "") -> str:
        """Return the package; `header` is the one that the file itself names, empty for none."""
        default = self.group.replace("/", ".")
        if header in ("", "_group_") or self.target:
            wanted = self.target.replace("_group_", f"_global_.{default}")
        else:  # A file names its package from the top.
            wanted = f"_global_.{header}"
        own = "" if wanted == "_here_" else wanted or self.relative.replace("/", ".")
        whole = ".".join(part for part in (self.parent, own) if part)
        return whole.rpartition("_global_")[2].lstrip(".")

    @property
    def word(self) -> str:
        """The word that overrides the choice of the group."""
        package = self.package()
        return self.group if package == self.group.replace("/", ".") else f"{self.group}@{package or '_global_'}"


class Config:
    """A configuration that is composed of files.

    Parameters
    ----------
    folder
        The folder with the files.

    Attributes
    ----------
    entries
        Values by dotted name.
    groups
        Chosen and offered configurations of each group, by the word that overrides the choice.
    missing
        Names of configurations that were not found.
    """

    def __init__(self, folder: ConfigFolder) -> None:
        self._folder = folder
        self._files = 0
        self._bytes = 0
        self.entries: dict[str, Entry] = {}
        self.groups: dict[str, tuple[str | None, list[str]]] = {}
        self.missing: list[str] = []

    def read(self, name: str) -> None:
        """Read a primary configuration with what its defaults list names."""
        self._read(name, _Place())
        chosen = {key.lstrip("+").partition("@")[0] for key in self.groups}
        for group in self._folder.groups():
            if group not in chosen:
                self.groups[f"+{group}"] = (None, self._folder.options(group))

    def read_file(self, path: str) -> None:
        """Read a file without a defaults list."""
        root = self._parse(path)
        if root is not None:
            self._add(root[0], root[1], path, "", 0)

    def _read(self, name: str, place: _Place, depth: int = 0) -> None:
        path = self._folder.file(os.path.join(place.group, name))
        root = self._parse(path) if path is not None and depth < MAX_DEPTH else None
        if path is None or root is None:
            self.missing.append(os.path.join(place.group, name))
            return
        node, lines = root
        header = next((line for line in lines[:3] if line.startswith("# @package")), "")
        package = place.package(header.split()[-1] if header else "")
        items = next((value for key, value in _pairs(node) if key == "defaults"), None)
        listed = [item for item in _plain(items) if item] if items is not None else []
        if "_self_" not in listed:
            listed.insert(0, "_self_")
        for item in listed:
            if item == "_self_":
                self._add(node, lines, path, f"{package}." if package else "", 0, skip=("defaults",))
            elif isinstance(item, str):
                name, _, target = item.partition("@")
                head, _, tail = name.rpartition("/")
                self._read(tail, self._place(head, name, target, place.group, package), depth + 1)
            elif isinstance(item, dict):
                for key, chosen in item.items():
                    self._choose(str(key), chosen, place.group, package, depth)

    def _choose(self, key: str, chosen: Any, group: str, package: str, depth: int) -> None:
        """Read ``- group: option``."""
        words = key.split()
        if "override" in words:
            return  # hydra's own groups, or a choice that another configuration made
        name, _, target = words[-1].partition("@")
        place = self._place(name, name, target, group, package)
        if place.group.startswith("hydra/"):
            return
        offered = self._folder.options(place.group)
        options = chosen if isinstance(chosen, list) else [chosen]
        if not isinstance(chosen, list) and offered:
            self.groups[place.word] = (None if chosen is None else str(chosen), offered)
        for option in options:
            if option is None or option == "???" or "${" in str(option):
                continue
            if "optional" in words and self._folder.file(os.path.join(place.group, str(option))) is None:
                continue
            self._read(str(option).removesuffix(".yaml"), place, depth + 1)

    @staticmethod
    def _place(relative: str, name: str, target: str, group: str, package: str) -> _Place:
        """Return the place of an item; `name` begins with a slash if its group is not below the list's own."""
        relative = relative.strip("/")
        inner = relative if name.startswith("/") else os.path.normpath(os.path.join(group, relative))
        return _Place("" if inner == "." else inner, relative, target, package)

    def _parse(self, path: str) -> tuple[yaml.MappingNode, list[str]] | None:
        self._files += 1
        if self._files > MAX_FILES or self._bytes > MAX_BYTES:
            return None
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                text = file.read(MAX_BYTES + 1)
            self._bytes += len(text)
            if self._bytes > MAX_BYTES:
                return None
            decoded = text.decode("utf-8-sig", "replace")
            node = yaml.compose(decoded, Loader=yaml.SafeLoader)
            if node is not None and not _is_small(node):
                return None
        except (OSError, yaml.YAMLError, RecursionError, ValueError):
            return None
        if node is None:
            node = yaml.MappingNode("tag:yaml.org,2002:map", [])
        return (node, decoded.split("\n")) if isinstance(node, yaml.MappingNode) else None

    def _add(
        self, node: yaml.MappingNode, lines: list[str], path: str, prefix: str, depth: int, skip: tuple[str, ...] = ()
    ) -> None:
        for name, value in _pairs(node):
            key = f"{prefix}{name}"
            if name in skip or (name == "hydra" and not prefix) or len(self.entries) >= MAX_ENTRIES:
                continue
            if isinstance(value, yaml.MappingNode) and value.value and depth < MAX_DEPTH:
                self._add(value, lines, path, f"{key}.", depth + 1)
            elif not isinstance(value, yaml.MappingNode):
                plain = _plain(value)
                line = value.start_mark.line
                self.entries[key] = Entry(key, plain, _comment(lines, line, value), line + 1, path)


def _pairs(node: yaml.MappingNode) -> list[tuple[str, yaml.Node]]:
    return [(key.value, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]


def _is_small(node: yaml.Node) -> bool:
    """Return False for a file whose aliases stand for too many values, or for themselves."""
    waiting, count = [node], 0
    while waiting and count <= MAX_NODES:
        found = waiting.pop()
        count += 1
        if isinstance(found, yaml.SequenceNode):
            waiting += found.value[:MAX_NODES]
        elif isinstance(found, yaml.MappingNode):
            waiting += [value for _key, value in found.value[:MAX_NODES]]
    return count <= MAX_NODES


def _plain(node: yaml.Node) -> Any:
    """Return the value of a node as OmegaConf reads it."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag == "tag:yaml.org,2002:str" and node.style is None:
            try:
                return (
                    float(node.value) if any(c.isdigit() for c in node.value) and "_" not in node.value else node.value
                )
            except ValueError:
                return node.value
        try:
            return yaml.SafeLoader("").construct_object(node)
        # A value that its tag does not fit raises almost anything.
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError):
            return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return {str(key.value): _plain(value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _comment(lines: list[str], line: int, node: yaml.Node) -> str | None:
    """Return the comment after a value, or the one in the line above it."""
    end = node.end_mark
    rest = lines[end.line][end.column :].strip() if end.line < len(lines) else ""
    if rest.startswith("#"):
        return one_line(rest.lstrip("#"))
    above = lines[line - 1].strip() if line else ""
    return one_line(above.lstrip("#")) if above.startswith("#") and not above.startswith("# @package") else None
