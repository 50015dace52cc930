"""Rules by which a snapshot leaves files out: git's own ignore files, and the patterns of the form.

The rules are git's. A rule of a deeper folder precedes one of a higher folder, the last rule of a file precedes the
others, and a file in a folder that is left out can't be included again. The ignore files do not apply to files that git
tracks. The patterns of the form precede all ignore files, and apply to all files.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import pathspec

from ..core.system.files import open_regular
from ..core.system.local_git import git

ALWAYS: Final = (".git", ".t9kjob")
"""Names that no snapshot contains: the repository's own data, and our folders on volumes."""
GITIGNORE: Final = ".gitignore"
_MOST_BYTES: Final = 1024 * 1024
"""Largest ignore file that is read."""
_MOST_WILDCARDS: Final = 3
"""Most stars in one part of a pattern, and most parts ``**``: the time of a regular expression grows exponentially."""


@dataclass(frozen=True)
class Rules:
    """Rules of one ignore file or of the form.

    Attributes
    ----------
    base
        Folder of the rules, relative to the top of the rules; empty for the top itself.
    name
        Name of the ignore file, to show; empty for the form's patterns, which are shown themselves.
    lines
        The patterns.
    spec
        The compiled patterns.
    """

    base: str
    name: str
    lines: tuple[str, ...]
    spec: pathspec.GitIgnoreSpec

    @classmethod
    def of(cls, base: str, name: str, lines: Sequence[str]) -> Rules:
        """Return compiled rules.

        Parameters
        ----------
        base
            Folder of the rules, relative to the top of the rules; empty for the top itself.
        name
            Name of the ignore file; empty for the form's patterns.
        lines
            The patterns.

        Raises
        ------
        ValueError
            If a pattern is invalid, or has too many wildcards.
        """
        slow = next(filter(_is_slow, lines), None)
        if slow is not None:
            raise ValueError(f"{slow!r} has more than {_MOST_WILDCARDS} wildcards")
        return cls(base, name, tuple(lines), pathspec.GitIgnoreSpec.from_lines(lines))

    def match(self, path: str) -> tuple[bool, str] | None:
        """Return whether a path is left out, and by which rule; None if no pattern matches.

        Parameters
        ----------
        path
            Path relative to the top of the rules. The path of a folder ends with a slash.
        """
        if self.base and not path.startswith(f"{self.base}/"):
            return None
        found = self.spec.check_file(path.removeprefix(f"{self.base}/") if self.base else path)
        if found.include is None:
            return None
        rule = self.lines[found.index] if not self.name and found.index is not None else self.name
        return found.include, rule


class Ignore:
    """All rules of a folder that is copied.

    Parameters
    ----------
    folder
        The folder.
    leave_out
        Patterns of the form.

    Raises
    ------
    ValueError
        If a pattern is invalid.
    """

    def __init__(self, folder: Path, leave_out: Sequence[str]) -> None:
        self._folder = folder
        self.repository = repository_of(folder)
        top = self.repository or folder
        relative = folder.relative_to(top)
        self.prefix = "" if relative == Path() else f"{relative.as_posix()}/"
        self._own = Rules.of(self.prefix.rstrip("/"), "", leave_out)
        self._files: list[Rules] = []
        if self.repository is not None:
            self._add("", self.repository / ".git" / "info" / "exclude")
            for parent in reversed(relative.parents) if self.prefix else ():
                self._add("" if parent == Path() else parent.as_posix(), top / parent / GITIGNORE)

    def enter(self, folder: str, path: Path) -> None:
        """Read the ignore file of a folder whose files are going to be copied.

        Parameters
        ----------
        folder
            Path relative to the copied folder; empty for the copied folder itself.
        path
            Absolute path of the folder.
        """
        self._add(f"{self.prefix}{folder}".rstrip("/"), path / GITIGNORE)

    def rule_for(self, path: str) -> str | None:
        """Return the rule that leaves out a path; None if it is copied.

        Parameters
        ----------
        path
            Path relative to the copied folder. The path of a folder ends with a slash; the rule for a folder does not
            apply to the files in it that git tracks.
        """
        found = self._own_rule(path)
        for rules in reversed(self._files) if found is None else ():
            found = rules.match(self.prefix + path)
            if found is not None:
                found = (found[0] and not self._is_tracked(path), found[1])
                break
        return found[1] if found is not None and found[0] else None

    def tracked_in(self, folder: str) -> Iterator[str]:
        """Yield the paths of the files that git tracks in a folder, at any depth, unless the form leaves them out.

        Parameters
        ----------
        folder
            Path relative to the copied folder, with a slash at its end.
        """
        known: dict[str, bool] = {}

        def is_left_out(path: str) -> bool:
            above = path.rstrip("/").rpartition("/")[0]
            if above and f"{above}/" not in known:
                known[f"{above}/"] = is_left_out(f"{above}/")
            found = self._own_rule(path)
            return bool(above and known[f"{above}/"]) or (found is not None and found[0])

        if is_left_out(folder):
            return
        first, last = (bisect_left(self._tracked, end) for end in (folder, f"{folder[:-1]}0"))  # "0" follows "/".
        yield from (path for path in self._tracked[first:last] if not is_left_out(path))

    def _own_rule(self, path: str) -> tuple[bool, str] | None:
        if path.rstrip("/").rpartition("/")[2] in ALWAYS:
            return True, ""
        return self._own.match(self.prefix + path)

    def _is_tracked(self, path: str) -> bool:
        place = bisect_left(self._tracked, path)
        return self._tracked[place : place + 1] == [path]

    @cached_property
    def _tracked(self) -> list[str]:
        """Sorted paths of the files in the folder that git tracks; empty without git."""
        answer = git(self._folder, "ls-files", "-z") if self.repository is not None else None
        return sorted((answer or b"").decode("utf-8", "surrogateescape").split("\0")[:-1])

    def _add(self, base: str, path: Path) -> None:
        lines = [line for line in _lines(path) if not _is_slow(line)]
        if lines:
            try:
                self._files.append(Rules.of(base, path.name, lines))
            except ValueError:  # git ignores such a file's rule as well
                return


def repository_of(folder: Path) -> Path | None:
    """Return the nearest folder with a `.git` that is the given folder or above it; None without a repository."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return candidate
    return None


def _is_slow(pattern: str) -> bool:
    """Return True for a pattern that could take long to match a file's name."""
    parts = pattern.split("/")
    stars = max(len(re.findall(r"\*+", part)) for part in parts)
    return stars > _MOST_WILDCARDS or parts.count("**") > _MOST_WILDCARDS


def _lines(path: Path) -> list[str]:
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return []
    return data.decode("utf-8", "replace").splitlines()
