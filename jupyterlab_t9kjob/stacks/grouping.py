"""Puts ranks with equal stacks into groups, and says in words what each group does."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ..core.stacks.raw import RawFrame, RawRank, RawThread
from ..core.translation import Text, _, _n
from .known_frames import is_library, known, title_of, title_of_one
from .model import StackFrame, StackGroup, StackMember, StackThread

MOST_NAMED: Final = 3
"""Groups that a finding names."""
MOST_THREADS: Final = 64
WAITING: Final = ("collective", "joining")
"""Activities of a rank that waits for other ranks."""

Key = tuple[tuple[str, str, int], ...]
Shown = Callable[[RawFrame], StackFrame]


@dataclass(frozen=True)
class Member:
    """A rank with the replica that it belongs to."""

    replica: str
    rank: RawRank


def key_of(frames: Sequence[RawFrame]) -> Key:
    """Return the part of a stack in which the ranks of a group do not differ.

    Lines count in the user's own files only: a library waits in a loop, and the line in the loop is random. So is what
    a library calls inside a collective call.
    """
    meaning = known(frames)
    if meaning is not None and meaning[0] == "collective":
        outer = frames.index(meaning[1])
        if all(is_library(frame) for frame in frames[:outer]):
            frames = frames[outer:]
    return tuple((frame.function, frame.file, 0 if is_library(frame) else frame.line) for frame in frames)


def python_frames(thread: RawThread) -> list[RawFrame]:
    """Return the frames that decide about groups and titles: those of Python."""
    return [frame for frame in thread.frames if not frame.native]


def groups_of(members: Sequence[Member], shown: Shown) -> list[StackGroup]:
    """Return the groups of equal stacks, the smallest first.

    Of groups of one size, those that wait for other ranks come last: the others are what they wait for. The rest is in
    the order of the ranks.

    Parameters
    ----------
    members
        The ranks with threads.
    shown
        Makes the API's model of a frame.
    """
    found: dict[Key, list[Member]] = defaultdict(list)
    for member in members:
        found[key_of(python_frames(member.rank.threads[0]))].append(member)
    groups = [_group(sorted(each, key=_order), shown) for each in found.values()]
    return sorted(groups, key=lambda group: (len(group.members), group.doing in WAITING, _number(group)))


def _order(member: Member) -> tuple[float, str, int]:
    rank = member.rank.rank
    return (float("inf") if rank is None else rank, member.replica, member.rank.pid)


def _number(group: StackGroup) -> float:
    rank = group.members[0].rank
    return float("inf") if rank is None else rank


def _group(members: Sequence[Member], shown: Shown) -> StackGroup:
    first = members[0].rank
    main, others = first.threads[0], first.threads[1:MOST_THREADS]
    frames = python_frames(main)
    doing, function = None, frames[0].function if frames else ""
    meaning = known(frames)
    if meaning is not None:
        doing, function = meaning[0], meaning[1].function
    elif frames:
        own = next((frame for frame in frames if not is_library(frame)), frames[0])
        # The name of a file says more than “<module>”.
        function = posixpath.basename(own.file) if own.function == "<module>" else own.function
    number = first.rank
    title = title_of(doing, function, len(members))
    if len(members) == 1 and number is not None:
        title = title_of_one(doing, function, number)
    return StackGroup(
        members=[
            StackMember(
                rank=member.rank.rank,
                replica=member.replica,
                pid=member.rank.pid,
                state=member.rank.state,
                other_threads=len(member.rank.threads) - 1,
            )
            for member in members
        ],
        title=title,
        place=place_of(frames),
        doing=doing,
        note=_note({member.rank.state for member in members}, len(members)),
        frames=[shown(frame) for frame in main.frames],
        threads=[
            StackThread(name=thread.name, pid=thread.pid, frames=[shown(frame) for frame in thread.frames])
            for thread in others
        ],
    )


def place_of(frames: Sequence[RawFrame]) -> str | None:
    """Return the innermost line of the user's own files: “train.py:88”; None if there is none."""
    own = next((frame for frame in frames if not is_library(frame)), None)
    return None if own is None else f"{posixpath.basename(own.file)}:{own.line}"


def _note(states: set[str], count: int) -> Text | None:
    """Return a sentence about the state of the processes; None if the states differ or need no sentence."""
    if states == {"D"}:
        return _n("The process waits for a disk or the network.", "All wait for a disk or the network.", count)
    if states == {"T"}:
        return _n("The process is stopped by a signal.", "All are stopped by a signal.", count)
    if states == {"R"}:
        return _n("The process computes.", "All compute.", count)
    return None


def finding_of(groups: Sequence[StackGroup], *, places: bool = False) -> Text | None:
    """Return what the groups do, the largest group first: “7 ranks wait in all_reduce, rank 3 is in data loading”.

    Parameters
    ----------
    groups
        The groups, the smallest first.
    places
        True to name the line of each group.
    """
    if not groups:
        return None
    odd = groups[:-1]
    named = [groups[-1], *odd[: MOST_NAMED - 1]]
    texts = [_with_place(group) if places else group.title for group in named]
    left = sum(len(group.members) for group in odd[MOST_NAMED - 1 :])
    said = texts[0]
    for text in texts[1:]:
        said = (
            _("{first}; {second}", first=said, second=text)
            if places
            else _("{first}, {second}", first=said, second=text)
        )
    if left:
        said = _n("{said}, {n} other rank is elsewhere", "{said}, {n} other ranks are elsewhere", left, said=said)
    return said


def _with_place(group: StackGroup) -> Text:
    if group.place is None:
        return group.title
    return _("{title} ({place})", title=group.title, place=group.place)
