"""The API's models of stacks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.checks import Capability
from ..core.job import Time
from ..core.spec import Model
from ..core.stacks.raw import Method
from ..core.translation import Text

Doing = Literal["collective", "joining", "data", "checkpoint", "compilation", "backward", "optimizer", "device"]

CollectiveSource = Literal["recorder", "ras"]


class TakeStacks(Model):
    """Take the stacks of all ranks of a job."""

    native: bool = Field(False, description="Also frames of C and C++, which takes longer.")


class StackFrame(Model):
    """A frame of a stack."""

    function: str
    file: str = Field(description="As the process names it.")
    path: str | None = Field(None, description="Path in the contents API; null if the lab does not see the file.")
    line: int = Field(description="From 1; 0 if it is unknown.")
    code: str | None = Field(None, description="The line as the file has it now.")
    library: bool = False
    native: bool = False


class StackThread(Model):
    """A thread beside the main one, or the main thread of a child process of the rank."""

    name: str
    pid: int | None = Field(None, description="The child process; null for a thread of the rank itself.")
    frames: list[StackFrame]


class StackMember(Model):
    """A rank of a group."""

    rank: int | None = Field(None, description="Global rank; null if it is unknown.")
    replica: str
    pid: int
    state: str = Field("", description="State of the process as Linux writes it: R, S, D, T, Z.")
    other_threads: int = 0


class StackGroup(Model):
    """Ranks with equal stacks: the same functions and files, and the same lines of the user's own files."""

    members: list[StackMember]
    title: Text = Field(description="“7 ranks wait in all_reduce”.")
    place: str | None = Field(None, description="Innermost line of the user's own files: “train.py:88”.")
    doing: Doing | None = Field(None, description="Kind of the innermost known frame; null if none is known.")
    note: Text | None = Field(None, description="Sentence about the state of the process, if that says something.")
    frames: list[StackFrame] = Field(description="The innermost frame first.")
    threads: list[StackThread] = Field(default_factory=list, description="Other threads of the group's first rank.")


class MissingStacks(Model):
    """Ranks or a replica without an answer."""

    who: Text
    sentence: Text
    hint: Text | None = None
    verbatim: str | None = None


class CollectiveCall(Model):
    """Ranks that call a collective in the same way."""

    ranks: list[int]
    name: str = Field(description="Such as “all_reduce”.")
    backend: str = Field("", description="Such as “gloo”; empty if unknown.")
    inputs: list[list[int]] = Field(default_factory=list, description="Sizes of the tensors that go in.")
    outputs: list[list[int]] = Field(default_factory=list, description="Sizes of the tensors that come out.")
    dtype: str = ""


class Collective(Model):
    """The first collective of a process group that has not ended, or that not all ranks of a communicator launched."""

    source: CollectiveSource = Field(
        "recorder", description="PyTorch's flight recorder, or NCCL's RAS subsystem, which counts what was launched."
    )
    group: str = Field(
        description="Name of the process group, or hash of NCCL's communicator; empty for that of all ranks."
    )
    own_ranks: bool = Field(
        False, description="The ranks are numbered as in the communicator; which ranks of the job they are is unknown."
    )
    sequence: int = Field(
        description="Number of the collective in its group, from 1; NCCL numbers each kind of call. 0 if it is unknown."
    )
    calls: list[CollectiveCall] = Field(
        description="One for each way of calling it among the ranks that wait, that of the fewest ranks first."
    )
    missing: list[int] = Field(default_factory=list, description="Ranks of the group that have not called it.")
    silent: list[int] = Field(default_factory=list, description="Ranks of the group of which nothing is known.")
    finding: Text = Field(description="“3 ranks wait in all_reduce, number 4; rank 2 has not joined”.")


class Recording(Model):
    """Files of the flight recorder, which PyTorch writes when a collective with NCCL times out."""

    time: Time
    ranks: int = Field(description="Ranks whose files were read.")
    unreadable: int = Field(0, description="Files that can't be read.")
    collectives: list[Collective]


class StackDump(Model):
    """Stacks of a job's ranks at one moment."""

    id: str
    time: Time
    seconds: float = Field(description="Duration of taking the stacks.")
    method: Method
    native: bool = False
    automatic: bool = Field(False, description="Taken by the server when the job stopped to make progress.")
    ranks: int = Field(description="Ranks whose stacks were taken.")
    expected: int | None = Field(None, description="Ranks of the job; null if unknown.")
    finding: Text | None = Field(None, description="“7 ranks wait in all_reduce, rank 3 is in data loading”.")
    detail: Text | None = Field(None, description="The finding with the places in the files.")
    groups: list[StackGroup] = Field(description="The smallest group first.")
    missing: list[MissingStacks] = Field(default_factory=list)
    collectives: list[Collective] = Field(
        default_factory=list,
        description="Collectives that the ranks wait in, if the flight recorder is on, PyTorch's debug server runs, or"
        " NCCL's RAS subsystem answers.",
    )


class StackList(Model):
    """The kept stacks of a job, and whether new ones can be taken."""

    available: Capability
    automatic: bool = Field(
        description="The server takes the stacks of this job by itself, once, when it stops to make progress."
    )
    dumps: list[StackDump] = Field(description="The newest first.")
    recording: Recording | None = Field(
        None, description="Files that the flight recorder wrote; null if there are none, or they can't be read in time."
    )
