"""State of NCCL's communicators, from what its RAS subsystem writes. It is checked, since the job's processes write it.

NCCL from 2.28.7 on writes JSON, from 2.24 on text (``docs/userguide/source/troubleshooting/ras.rst`` and
``src/ras/client_support.cc`` of NCCL). The text names only the ranks of groups that are the smaller half; those of one
group without names are the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .raw import MOST_RANKS

MOST_COMMUNICATORS: Final = 1000
LONGEST_NAME: Final = 100
ANY_COLLECTIVE: Final = "collective"
"""Name with which NCCL before 2.26 counts all collectives together."""
_ROW: Final = re.compile(r" *(\d{1,6}) +\d+ +\d+ +[\d-]+ +(\d{1,6}) +\d+ +[A-Z]+ +[A-Z,]+")
_HEAD: Final = re.compile(r"#(\d{1,6})-(\d{1,6}) \(([0-9a-f]{1,16})\) ([A-Z]+)")
_DIFFER: Final = re.compile(r" *Communicator ranks have different (\w{1,40}) operation counts")
_SEVERAL: Final = re.compile(
    r" *(\d{1,6}) ranks have (?:launched up to operation (\d{1,18})|not launched any operations)"
)
_ONE: Final = re.compile(
    r" *Rank (\d{1,6}) has (?:launched up to operation (\d{1,18})|not launched any operations) -- (.{1,500})"
)
_RANK: Final = re.compile(r" *Rank (\d{1,6}) -- (.{1,500})")
_PROCESS: Final = re.compile(r"managed by process (\d{1,9}) on node (\S{1,100})")
_MISSING: Final = re.compile(r" *The missing ranks?: ([\d, ]{1,20000})")


@dataclass
class Communicator:
    """A communicator with ranks that differ or do not answer.

    Attributes
    ----------
    ident
        Its hash, as NCCL's own log has it.
    size
        Number of its ranks; None if unknown.
    counts
        Number of launched collectives by name, and by rank. Of a collective without ranks it is known only that the
        numbers differ.
    silent
        Ranks that do not answer NCCL.
    processes
        Host and pid of ranks.
    """

    ident: str
    size: int | None
    counts: dict[str, dict[int, int]] = field(default_factory=dict)
    silent: set[int] = field(default_factory=set)
    processes: dict[int, tuple[str, int]] = field(default_factory=dict)


def communicators_in(answer: str) -> list[Communicator]:
    """Return the communicators with ranks that differ or do not answer. Parts of another form are left out.

    Parameters
    ----------
    answer
        What RAS has written after the handshake, and the answers to the commands before, such as ``OK``.
    """
    begin = answer.find("\n{")
    if answer.startswith("{") or begin >= 0:
        try:
            return _of_json(json.loads(answer[max(0, begin) :]))
        except (ValueError, RecursionError):
            return []
    return _of_text(answer.splitlines())


# --- JSON -------------------------------------------------------------------------------------------------------------


def _of_json(document: Any) -> list[Communicator]:
    found = []
    for item in _items(_field(document, "communicators"), MOST_COMMUNICATORS):
        size = _field(item, "size")
        ident = str(_field(item, "hash")).removeprefix("0x")[:LONGEST_NAME]
        communicator = Communicator(ident, size if _is_number(size) else None)
        for rank in _items(_field(item, "ranks"), MOST_RANKS):
            number, counts = _field(rank, "rank"), _field(rank, "collective_counts")
            if _is_number(number) and isinstance(counts, dict):
                _note_process(communicator, number, rank)
                for name, count in list(counts.items())[:40]:
                    if _is_number(count):
                        communicator.counts.setdefault(name[:LONGEST_NAME], {})[number] = count
        for rank in _items(_field(item, "missing_ranks"), MOST_RANKS):
            number = _field(rank, "rank")
            if _is_number(number) and _field(_field(rank, "status"), "unresponsive") is True:
                _note_process(communicator, number, rank)
                communicator.silent.add(number)
        communicator.counts = {
            name: by_rank for name, by_rank in communicator.counts.items() if len(set(by_rank.values())) > 1
        }
        if communicator.counts or communicator.silent:
            found.append(communicator)
    return found


def _note_process(communicator: Communicator, rank: int, about: Any) -> None:
    host, pid = _field(about, "host"), _field(about, "pid")
    if isinstance(host, str) and _is_number(pid):
        communicator.processes[rank] = host[:LONGEST_NAME], pid


def _field(source: Any, name: str) -> Any:
    return source.get(name) if isinstance(source, dict) else None


def _items(value: Any, most: int) -> Sequence[Any]:
    return value[:most] if isinstance(value, list) else ()


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


# --- text -------------------------------------------------------------------------------------------------------------


@dataclass
class _Group:
    """Ranks with the same number of launched collectives. NCCL names all of them, or none."""

    count: int
    size: int
    ranks: set[int] = field(default_factory=set)


class _Reader:
    """Reads the part of the text that is about one communicator."""

    def __init__(self, communicator: Communicator) -> None:
        self.communicator = communicator
        self.groups: dict[str, list[_Group]] = {}
        self._name = ""
        self._lists_silent = False

    def begin(self, kind: str) -> None:
        """Begin a paragraph: INCOMPLETE, ERROR or MISMATCH."""
        self._name, self._lists_silent = "", kind == "INCOMPLETE"

    def read(self, line: str) -> None:
        """Read a line of the paragraph."""
        if differ := _DIFFER.match(line):
            self._name = differ[1]
            self.groups.setdefault(self._name, [])
        elif missing := _MISSING.match(line):
            self.communicator.silent.update(int(rank) for rank in re.findall(r"\d{1,6}", missing[1])[:MOST_RANKS])
        elif several := _SEVERAL.match(line):
            self._groups().append(_Group(int(several[2] or 0), int(several[1])))
        elif one := _ONE.match(line):
            self._groups().append(_Group(int(one[2] or 0), 1, {int(one[1])}))
            self._note_process(int(one[1]), one[3])
        elif named := _RANK.match(line):
            rank = int(named[1])
            self._note_process(rank, named[2])
            if self._lists_silent:
                self.communicator.silent.add(rank)
            elif self._groups():
                self._groups()[-1].ranks.add(rank)

    def _groups(self) -> list[_Group]:
        return self.groups.get(self._name, [])

    def _note_process(self, rank: int, about: str) -> None:
        process = _PROCESS.search(about)
        if process:
            self.communicator.processes[rank] = process[2], int(process[1])

    def finish(self) -> Communicator:
        """Return the communicator with the ranks of each group."""
        for name, groups in self.groups.items():
            named: set[int] = set().union(*(group.ranks for group in groups))
            others = set(range(min(self.communicator.size or 0, MOST_RANKS))) - named - self.communicator.silent
            nameless = [group for group in groups if not group.ranks]
            if len(nameless) == 1 and nameless[0].size == len(others):
                nameless.pop().ranks = others
            known = {} if nameless else {rank: group.count for group in groups for rank in group.ranks}
            self.communicator.counts[name] = known if len(set(known.values())) > 1 else {}
        return self.communicator


def _of_text(lines: Sequence[str]) -> list[Communicator]:
    sizes: dict[str, int] = {}
    readers: dict[str, _Reader] = {}
    reader: _Reader | None = None
    for line in lines:
        if head := _HEAD.match(line):
            key = f"{head[1]}-{head[2]}"
            if key not in readers and len(readers) < MOST_COMMUNICATORS:
                readers[key] = _Reader(Communicator(head[3], sizes.get(head[1])))
            reader = readers.get(key)
            if reader is not None:
                reader.begin(head[4])
        elif line and not line.startswith(" "):
            reader = None
        elif reader is not None:
            reader.read(line)
        elif row := _ROW.fullmatch(line.rstrip()):
            sizes[row[1]] = int(row[2])
    found = [reader.finish() for reader in readers.values()]
    return [each for each in found if each.counts or each.silent]
