"""Sentences about ranks whose stacks could not be taken: which setting forbids it, and who can change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ..core.engine.info import EngineFacts
from ..core.stacks.raw import Problem, RawRank, RawStacks
from ..core.translation import Text, _, _n, listing
from .model import MissingStacks

MOST_NAMED = 8


def missing_of(answer: RawStacks, facts: EngineFacts, note: Text | None = None) -> list[MissingStacks]:
    """Return the ranks of an answer without stacks, together if the reason is the same.

    Parameters
    ----------
    answer
        The answer of a machine or container.
    facts
        Facts about the jobs of the engine.
    note
        Sentence about what else was tried for ranks without py-spy or without the permission to trace.
    """
    found: dict[tuple[Problem, str | None], list[RawRank]] = defaultdict(list)
    for rank in answer.ranks:
        if not rank.threads:
            code = rank.problem or "Failed"
            found[code, rank.words if code == "Failed" else None].append(rank)
    return [
        MissingStacks(
            who=_who(ranks),
            sentence=_sentence(code, answer, facts),
            hint=note if note is not None and code in ("NoProgram", "Refused") else _hint(code, answer, facts),
            verbatim=words or next((rank.words for rank in ranks if rank.words), None),
        )
        for (code, words), ranks in found.items()
    ]


def _who(ranks: Sequence[RawRank]) -> Text:
    numbers = [str(rank.rank) for rank in ranks if rank.rank is not None]
    if not numbers:
        return _n("1 process", "{n} processes", len(ranks))
    if len(numbers) == 1:
        return _("Rank {rank}", rank=numbers[0])
    return _("Ranks {ranks}", ranks=listing(numbers, MOST_NAMED))


def _sentence(code: Problem, answer: RawStacks, facts: EngineFacts) -> Text:
    match code:
        case "NoProgram":
            return _("py-spy was not found.")
        case "Refused" if answer.scope == 1 and not answer.capable:
            return _("Linux lets only a parent process read a process: kernel.yama.ptrace_scope is 1.")
        case "Refused" if answer.scope is not None and answer.scope >= 2 and not answer.capable:
            return _(
                "Linux lets only an administrator read a process: kernel.yama.ptrace_scope is {scope}.",
                scope=answer.scope,
            )
        case "Refused" if facts.has_pods:
            return _("The container's security settings forbid reading a process.")
        case "Refused":
            return _(
                "Linux forbids reading the process: it belongs to another user, or a security profile is in force."
            )
        case "Gone":
            return _("The process ended meanwhile.")
        case "Timeout":
            return _("py-spy gave no answer in time.")
    return _("py-spy failed.")


def _hint(code: Problem, answer: RawStacks, facts: EngineFacts) -> Text | None:
    if code == "NoProgram":
        return _("Install it in the job's Python: {command}.", command="pip install py-spy")
    if code != "Refused":
        return None
    if facts.has_pods:
        return _(
            "Your cluster's administrator can allow the capability SYS_PTRACE for the job's containers, or set an image"
            " for debug containers ({trait}).",
            trait="kubernetes_debug_image",
        )
    if answer.scope:
        command = "sysctl kernel.yama.ptrace_scope=0"
        return _("The administrator of this machine can change that with {command}.", command=command)
    return _("The administrator of this machine can allow the capability SYS_PTRACE.")
