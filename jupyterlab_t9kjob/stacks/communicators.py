"""Says in words which collectives the ranks of NCCL's communicators have launched, and which ranks are behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..core.stacks.ras import ANY_COLLECTIVE, Communicator, communicators_in
from ..core.stacks.raw import RawStacks
from ..core.translation import Text, _, _n, listing
from .collectives import MOST_COLLECTIVES, named_ranks
from .model import Collective, CollectiveCall

BACKEND: Final = "nccl"
Processes = dict[tuple[str, int], int | None]
"""Ranks by host and pid; None if several processes have the same address and pid."""


def ras_collectives(answers: Sequence[RawStacks], expected: int | None) -> list[Collective]:
    """Return a collective for each communicator whose ranks differ or do not answer NCCL.

    Parameters
    ----------
    answers
        The answers of all machines or containers. NCCL answers for the whole job, so one of them is read.
    expected
        Number of ranks of the job; None if unknown.
    """
    communicators = next((found for each in answers if each.ras and (found := communicators_in(each.ras))), [])
    processes = _processes(answers)
    return [_collective(*_numbered(each, processes, expected)) for each in communicators[:MOST_COLLECTIVES]]


def _processes(answers: Sequence[RawStacks]) -> Processes:
    found: Processes = {}
    for answer in answers:
        for rank in answer.ranks:
            for host in answer.addresses:
                # Each container has the loopback address.
                if len(answers) == 1 or not host.startswith("127."):
                    key = host, rank.pid
                    found[key] = None if key in found else rank.rank
    return found


def _numbered(communicator: Communicator, processes: Processes, expected: int | None) -> tuple[Communicator, str, bool]:
    """Return a communicator with the job's ranks, its name (empty for that of all ranks), and True for its own ranks.

    PyTorch numbers the ranks of the communicator of all ranks as the job does.
    """
    if communicator.size is not None and communicator.size == expected:
        return communicator, "", False
    ranks = communicator.silent.union(*communicator.counts.values())
    numbers = {rank: processes.get(communicator.processes.get(rank, ("", -1))) for rank in ranks}
    known = {rank: number for rank, number in numbers.items() if number is not None}
    if len(known) < len(ranks) or len(set(known.values())) < len(ranks):
        return communicator, communicator.ident, True
    counts = {
        name: {known[rank]: count for rank, count in by_rank.items()} for name, by_rank in communicator.counts.items()
    }
    mapped = replace(communicator, counts=counts, silent={known[rank] for rank in communicator.silent})
    return mapped, communicator.ident, False


def _collective(communicator: Communicator, group: str, own_ranks: bool) -> Collective:
    calls: list[CollectiveCall] = []
    everyone: set[int] = set()
    ahead_of_others: set[int] = set()
    number = 0
    for name, counts in sorted(communicator.counts.items()):
        if counts:
            least = min(counts.values())
            ahead = sorted(rank for rank, count in counts.items() if count > least)
            calls.append(CollectiveCall(ranks=ahead, name=name, backend=BACKEND))
            everyone.update(counts)
            ahead_of_others.update(ahead)
            number = least + 1
    missing = sorted(everyone - ahead_of_others)
    silent = sorted(communicator.silent)
    return Collective(
        source="ras",
        group=group,
        own_ranks=own_ranks,
        sequence=number if len(calls) == 1 else 0,
        calls=sorted(calls, key=lambda call: len(call.ranks)),
        missing=missing,
        silent=silent,
        finding=_finding(communicator, calls, missing, silent, number),
    )


def _finding(
    communicator: Communicator,
    calls: Sequence[CollectiveCall],
    missing: Sequence[int],
    silent: Sequence[int],
    number: int,
) -> Text:
    found: list[Text] = []
    if len(calls) == 1:
        found.append(_launched(calls[0], number))
        found.append(_n("{ranks} has not joined", "{ranks} have not joined", len(missing), ranks=named_ranks(missing)))
    elif calls and sum(len(call.ranks) for call in calls) == len({rank for call in calls for rank in call.ranks}):
        what = [_("{ranks} in {call}", ranks=named_ranks(call.ranks), call=call.name) for call in calls]
        found.append(_("The ranks call different collectives: {calls}", calls=listing(what)))
    elif missing:
        found.append(
            _n(
                "{ranks} has launched fewer collectives than the others",
                "{ranks} have launched fewer collectives than the others",
                len(missing),
                ranks=named_ranks(missing),
            )
        )
    elif communicator.counts:
        found.append(_("The ranks have launched different numbers of collectives"))
    if silent:
        found.append(_("NCCL gets no answer from {ranks}", ranks=named_ranks(silent)))
    text = found[0]
    for other in found[1:]:
        text = _("{one}; {other}", one=text, other=other)
    return text


def _launched(call: CollectiveCall, number: int) -> Text:
    if call.name == ANY_COLLECTIVE:
        return _n(
            "{n} rank has launched collective number {number}",
            "{n} ranks have launched collective number {number}",
            len(call.ranks),
            number=number,
        )
    return _n(
        "{n} rank has launched {call}, number {number}",
        "{n} ranks have launched {call}, number {number}",
        len(call.ranks),
        call=call.name,
        number=number,
    )
