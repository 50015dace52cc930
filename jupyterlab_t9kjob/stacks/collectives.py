"""Says in words which collective the ranks of a job wait in, which ranks have not joined, and which calls differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from ..core.stacks.traces import Call, Trace
from ..core.translation import Text, _, _n, listing
from .model import Collective, CollectiveCall

MOST_COLLECTIVES: Final = 20
MOST_NAMED: Final = 8
DEFAULT: Final = "default_pg"
_EQUAL_SIZES: Final = ("allreduce", "all_reduce", "broadcast", "all_gather", "allgather", "reduce", "reduce_scatter")
"""Collectives in which all ranks have tensors of the same sizes."""

Key = tuple[str, tuple[tuple[int, ...], ...], str]


def collectives_of(traces: Sequence[Trace], expected: int | None) -> list[Collective]:
    """Return the first collective of each process group and backend that has not ended.

    Those with a cause to show come first.

    Parameters
    ----------
    traces
        Content of the recorders of the ranks; several of one rank are joined.
    expected
        Number of ranks of the job; None if unknown.
    """
    members: dict[str, set[int]] = defaultdict(set)
    # The backends of a group, such as `cpu:gloo,cuda:nccl`, have numbers of their own.
    calls: dict[tuple[str, str, str], dict[int, dict[int, Call]]] = defaultdict(lambda: defaultdict(dict))
    for trace in traces:
        for name, ranks in trace.groups.items():
            members[name].update(ranks)
        for call in trace.calls:
            calls[call.group, call.description, call.backend][trace.rank][call.sequence] = call
    answered = {trace.rank for trace in traces}
    found = []
    for (group, description, _backend), by_rank in calls.items():
        everyone = (
            answered | set(range(expected or 0)) if description == DEFAULT else members.get(group) or set(by_rank)
        )
        waiting = _waiting(by_rank, everyone, answered, group if description != DEFAULT else "")
        if waiting is not None:
            found.append(waiting)
    return sorted(found, key=lambda each: not (each.missing or len(each.calls) > 1))[:MOST_COLLECTIVES]


def _waiting(
    by_rank: dict[int, dict[int, Call]], everyone: set[int], answered: set[int], group: str
) -> Collective | None:
    open_ones = [number for calls in by_rank.values() for number, call in calls.items() if not call.done]
    if not open_ones:
        return None
    sequence = min(open_ones)
    kinds: dict[Key, list[int]] = defaultdict(list)
    examples: dict[Key, Call] = {}
    joined: set[int] = set()
    for rank, calls in sorted(by_rank.items()):
        call = calls.get(sequence)
        if call is None:
            if max(calls) > sequence:  # The recorder no longer has the collective.
                joined.add(rank)
            continue
        joined.add(rank)
        if not call.done:
            key = _key(call)
            kinds[key].append(rank)
            examples[key] = call
    shown = [_shown(examples[key], ranks) for key, ranks in sorted(kinds.items(), key=lambda item: len(item[1]))]
    missing = sorted((everyone & answered) - joined)
    return Collective(
        group=group,
        sequence=sequence,
        calls=shown,
        missing=missing,
        silent=sorted(everyone - answered),
        finding=_finding(shown, missing, sequence),
    )


def _key(call: Call) -> Key:
    compares = call.name.strip("_") in _EQUAL_SIZES
    return call.name, call.inputs if compares else (), call.dtype if compares else ""


def _shown(call: Call, ranks: list[int]) -> CollectiveCall:
    return CollectiveCall(
        ranks=ranks,
        name=call.name,
        backend=call.backend,
        inputs=[list(shape) for shape in call.inputs],
        outputs=[list(shape) for shape in call.outputs],
        dtype=call.dtype,
    )


def _finding(calls: Sequence[CollectiveCall], missing: Sequence[int], sequence: int) -> Text:
    if len({call.name for call in calls}) > 1:
        what = [_("{ranks} in {call}", ranks=named_ranks(call.ranks), call=call.name) for call in calls]
        text = _(
            "The ranks call different collectives as number {number}: {calls}", number=sequence, calls=listing(what)
        )
    elif len(calls) > 1:
        text = _(
            "The ranks call {call}, number {number}, with tensors of different sizes or types",
            call=calls[0].name,
            number=sequence,
        )
    else:
        count = sum(len(call.ranks) for call in calls)
        text = _n(
            "{n} rank waits in {call}, number {number}",
            "{n} ranks wait in {call}, number {number}",
            count,
            call=calls[0].name,
            number=sequence,
        )
    if not missing:
        return text
    late = _n("{ranks} has not joined", "{ranks} have not joined", len(missing), ranks=named_ranks(missing))
    return _("{one}; {other}", one=text, other=late)


def named_ranks(ranks: Sequence[int]) -> Text:
    """Return “rank 3” or “ranks 0, 1 and 2”."""
    named = listing([str(rank) for rank in ranks], MOST_NAMED)
    return _("rank {rank}", rank=named) if len(ranks) == 1 else _("ranks {ranks}", ranks=named)
