"""Stacks as an engine returns them, checked: what `taker` writes comes from the processes of a job."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..base_model import BUILDS_IN_ANY_THREAD
from ..translation import Text

MOST_RANKS = 4096
_Name = Annotated[str, StringConstraints(max_length=300)]
_File = Annotated[str, StringConstraints(max_length=4096)]
Method = Literal["py-spy", "faulthandler", "debug-server"]
Problem = Literal["NoProgram", "Refused", "Gone", "Timeout", "Failed"]


class _Raw(BaseModel):
    # Takers of other versions may write more.
    model_config = ConfigDict(extra="ignore", defer_build=BUILDS_IN_ANY_THREAD)


class RawFrame(_Raw):
    """A frame; the innermost one is the first of its thread."""

    function: _Name
    file: _File
    line: int = Field(ge=0, lt=2**31)
    native: bool = False


class RawThread(_Raw):
    """A thread. `pid` is that of a child process of the rank, such as a worker that loads data; None for the rank."""

    name: _Name = ""
    main: bool = False
    active: bool = False
    pid: int | None = None
    frames: list[RawFrame] = Field(default_factory=list, max_length=200)


class RawRank(_Raw):
    """A rank with its threads, or with the reason why they are missing.

    Attributes
    ----------
    state
        State of the process as Linux writes it: R, S, D, T, Z.
    traces
        What the recorders of collectives in the process have kept, as `traces` reads it.
    problem, words
        Code of the reason, and the words of the program that failed.
    """

    pid: int
    replica: _Name | None = None
    rank: int | None = None
    local_rank: int | None = None
    state: Annotated[str, StringConstraints(max_length=1)] = ""
    threads: list[RawThread] = Field(default_factory=list, max_length=128)
    problem: Problem | None = None
    words: Annotated[str, StringConstraints(max_length=4096)] | None = None
    traces: list[dict[str, Any]] = Field(default_factory=list, max_length=4)


class RawStacks(_Raw):
    """The answer of a taker.

    Attributes
    ----------
    seconds
        How long it took.
    scope
        kernel.yama.ptrace_scope; None if the kernel has no Yama.
    capable
        True if the taker had the capability SYS_PTRACE.
    ras
        What NCCL's RAS subsystem says about the whole job; None if it was not asked or does not answer.
    addresses
        IP addresses of the machine or container.
    """

    seconds: float = 0.0
    method: Method = "py-spy"
    native: bool = False
    scope: int | None = None
    capable: bool = False
    ranks: list[RawRank] = Field(default_factory=list, max_length=MOST_RANKS)
    ras: Annotated[str, StringConstraints(max_length=8 << 20)] | None = None
    addresses: list[_Name] = Field(default_factory=list, max_length=64)


class TakenStacks(BaseModel):
    """Stacks of all replicas of a job.

    Attributes
    ----------
    stacks
        The answers, by name of the replica; an answer of several replicas names the replica of each rank.
    missing
        Replicas without an answer, each with the sentence that says why.
    notes
        Replicas some of whose ranks have no stacks, each with the sentence that says what else was tried, and why in
        vain.
    """

    stacks: list[tuple[str, RawStacks]] = Field(default_factory=list)
    missing: dict[str, Text] = Field(default_factory=dict)
    notes: dict[str, Text] = Field(default_factory=dict)
