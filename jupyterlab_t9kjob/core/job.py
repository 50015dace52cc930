"""The API's models of a job: phase, reason, replicas, attempts, events and log streams.

All times are seconds since the epoch (UTC), as floats.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, computed_field, model_validator
from typing_extensions import Self

from .evictions.model import Continuation, Continues
from .spec import Device, JobSpec, Model
from .sweep import SweepMember
from .translation import Text

Phase = Literal["Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed", "Unknown"]
State = Literal[Phase, "Stopped"]
"""Shown state of a job: its phase, or ``Stopped`` for a failed job that its user or its sweep stopped."""

ACTIVE_PHASES: frozenset[str] = frozenset({"Pending", "Running", "Paused", "Resuming"})
ENDED_PHASES: frozenset[str] = frozenset({"Succeeded", "Failed"})
"""Phases in which a job writes nothing more; the state of a job in `Unknown` can't be read now."""

Action = Literal["stop", "pause", "resume", "rerun", "remove", "delete"]
PendingAction = Literal["submitting", "stopping", "pausing", "resuming", "deleting"]
EndedBy = Literal["itself", "user", "platform", "deadline"]
ENGINE_NAME_PATTERN = r"^[a-z][a-z0-9-]{0,39}$"
EngineName = Annotated[str, StringConstraints(pattern=ENGINE_NAME_PATTERN)]
"""Name of an engine: lower-case letters, digits and hyphens. A colon would split job ids (`job_id`)."""
DEFAULT_ENGINE = "local"
"""Engine of a request that names none."""

MOST_NODES = 8
"""Number of nodes in a job's row."""

Time = Annotated[float, Field(description="Seconds since the epoch, UTC.")]


class Fix(Model):
    """A change of fields that one click applies."""

    label: Text
    changes: dict[str, Any] = Field(description="New values by JSON pointer: /spec/… into the spec, /sweep/left_out.")


class Link(Model):
    """Target of a reason or check: a log position, a line of a file, a field, or a page."""

    kind: Literal["log", "file", "field", "url"]
    label: Text
    stream: str | None = None
    offset: int | None = None
    path: str | None = Field(None, description="Path of a file in the contents API.")
    line: int | None = None
    cell: int | None = Field(None, description="Cell of a notebook, from 1, to which `line` belongs.")
    field: str | None = Field(None, description="JSON pointer into the spec.")
    url: str | None = None


class Reason(Model):
    """Reason of a state: a code for programs, a sentence for people, and what the user can do."""

    code: str
    sentence: Text
    hint: Text | None = None
    fix: Fix | None = None
    verbatim: str | None = None
    links: list[Link] = Field(default_factory=list)


class Progress(Model):
    """Progress that the job reports in its log."""

    text: Text = Field(description="“Epoch 4 of 10, batch 412 of 938”.")
    fraction: float | None = Field(None, ge=0, le=1)
    rate: Text | None = Field(None, description="“22.7 batches a second”.")
    eta_seconds: float | None = Field(None, description="Remaining seconds; null before three steps were measured.")
    metrics: dict[str, float] = Field(default_factory=dict)
    updated_at: Time


class Stall(Model):
    """A running job makes no progress."""

    kind: Literal["progress", "output"] = Field(
        description="progress: the next step takes far longer than the steps before. output: the job has reported no"
        " steps yet, has written no line and had no event."
    )
    since: Time = Field(description="Time of the last step, or of the last line or event.")
    finding: Text | None = Field(
        None, description="Finding from the stacks: “7 ranks wait in all_reduce, rank 3 is in data loading”."
    )


class Frame(Model):
    """One frame of a Python traceback."""

    file: str
    path: str | None = Field(
        None, description="Path in the contents API; null if the file does not lie below its root."
    )
    line: int
    function: str
    code: str | None = None
    library: bool = False


class LastOutput(Model):
    """The last lines of a log, which need not show why its process ended."""

    stream: str
    offset: int = Field(description="Offset of the first line in the stream, in bytes.")
    lines: list[str]


class Failure(Model):
    """The first rank that failed, with the error that ended it where that is known."""

    replica: str
    attempt: int
    rank: int | None = None
    local_rank: int | None = None
    exit_code: int
    signaled: bool | None = Field(
        None, description="True if a signal ended it, so that the exit code is 128 plus its number; null if unknown."
    )
    ended: Text | None = Field(None, description="The exit code in words: “Error (1)”, “Killed (137)”.")
    error: str | None = Field(
        None,
        description="Error that ended it: the last line of a traceback, or a line of a known form; null if unknown.",
    )
    note: Text | None = Field(
        None, description="Sentence about the origin of the error, or about other errors in the log."
    )
    frames: list[Frame] = Field(default_factory=list)
    time: Time | None = None
    link: Link | None = None
    last_output: LastOutput | None = None


class JobSummary(Model):
    """One row of the list of jobs, as the stream pushes it."""

    id: str
    engine: EngineName
    namespace: str
    name: str
    uid: str
    display_name: str | None = None
    phase: Phase
    reason: Reason | None = None
    pending_action: PendingAction | None = None
    ended_by: EndedBy | None = None
    created_at: Time
    started_at: Time | None = None
    ended_at: Time | None = None
    ran_seconds: float = Field(
        0.0,
        ge=0,
        description="Seconds that the ended attempts of the first replica ran, without pauses.",
    )
    running_since: Time | None = Field(
        None, description="Start of the first replica's running attempt; null if none runs."
    )
    attempt: int = Field(1, description="Number of the newest attempt of any replica, from 1.")
    restarts: int = 0
    replicas: int = 1
    replicas_running: int = 0
    nodes: list[str] = Field(
        default_factory=list, max_length=MOST_NODES, description="Nodes of the newest attempts, the first 8 of them."
    )
    processes: int | None = Field(None, description="Number of ranks of the whole job; null if unknown.")
    queue: str | None = Field(None, description="Queue that the job is in, or waits in.")
    devices: Device | None = Field(None, description="Accelerators that the whole job requests.")
    devices_held: int | None = Field(None, description="Number of accelerators that the job has now; null if unknown.")
    gpu_hours: float | None = Field(
        None,
        description="GPU-hours of the ended attempts: requested accelerators times hours; null for a job without any. "
        "The running attempt adds `devices.count` for each hour since `running_since`.",
    )
    progress: Progress | None = None
    stalled: Stall | None = Field(None, description="Why the running job seems to be stuck; null if it does not.")
    mine: bool = True
    owner: str | None = None
    read_only: Text | None = Field(None, description="Why the job can't be changed here.")
    deleted: bool = False
    actions: list[Action] = Field(default_factory=list)
    refused: dict[Action, Text] = Field(
        default_factory=dict,
        description="Actions that the phase allows and the account or the cluster does not, with the reasons.",
    )
    entrypoint_path: str | None = Field(None, description="Path of the entrypoint in the contents API.")
    log_dirs: list[str] = Field(default_factory=list, description="Log directories for TensorBoard.")
    sweep: SweepMember | None = Field(None, description="The job's place in its sweep; null if it belongs to none.")
    request_id: str | None = Field(None, description="Id of the submission. Runs that the job recorded name it, too.")
    continues: Continues | None = Field(None, description="The evicted job that this job continues, if it does.")
    continuation: Continuation | None = Field(None, description="What followed the job's eviction; null: nothing yet.")

    # mypy knows no decorated properties (python/mypy#1362).
    @computed_field  # type: ignore[prop-decorator]
    @property
    def state(self) -> State:
        """The phase, or Stopped for a failed job that its user or its sweep stopped."""
        by_sweep = self.reason is not None and self.reason.code.startswith("Sweep")
        return "Stopped" if self.phase == "Failed" and (self.ended_by == "user" or by_sweep) else self.phase

    @model_validator(mode="before")
    @classmethod
    def _drop_state(cls, values: Any) -> Any:
        """Let a job be read from its own JSON: the state follows from the other fields."""
        if isinstance(values, dict) and "state" in values:
            return {name: value for name, value in values.items() if name != "state"}
        return values

    @model_validator(mode="after")
    def _count_gpu_hours(self) -> Self:
        if self.gpu_hours is None and self.devices is not None and self.devices.count:
            self.gpu_hours = self.devices.count * self.ran_seconds / 3600
        return self

    def gpu_hours_until(self, now: float) -> float | None:
        """Return the GPU-hours of all attempts up to a time in seconds since the epoch; None without accelerators."""
        if self.gpu_hours is None or self.devices is None or self.running_since is None:
            return self.gpu_hours
        return self.gpu_hours + self.devices.count * max(0.0, now - self.running_since) / 3600


class Job(JobSummary):
    """A job in full, for the job's tab."""

    def summary(self) -> JobSummary:
        """Return the part of the job that lists show."""
        return JobSummary.model_construct(**{name: getattr(self, name) for name in JobSummary.model_fields})

    spec: JobSpec
    command: list[str] = Field(description="argv of the first replica.")
    working_dir: str | None = None
    working_dir_path: str | None = Field(None, description="Path in the contents API; null if it has none.")
    log_dir_paths: list[str | None] = Field(default_factory=list)
    log_location: str | None = Field(None, description="Directory of the log files.")
    failure: Failure | None = None
    limited: list[Text] = Field(
        default_factory=list, description="Sentences about parts of the job that this account has no permission to see."
    )
    tensorboard_url: str | None = Field(None, description="Page of the TensorBoard that the platform runs for the job.")
    rerun_of: str | None = Field(None, description="Id of the job that this one repeats, or was cloned from.")
    imported_manifest: bool = Field(False, description="The job was imported together with its manifest.")


class Attempt(Model):
    """One attempt of a replica: its run between two restarts."""

    number: int
    started_at: Time | None = None
    ended_at: Time | None = None
    exit_code: int | None = None
    ended: Text | None = Field(None, description="End of the attempt: “Error (1)”, “Killed (137)”.")
    worker_restarts: int = 0
    restart: int | None = Field(
        None, description="Number of the restart that began the attempt; null for the first one and after a pause."
    )


class PodMount(Model):
    """A volume of a container."""

    path: str
    source: Text = Field(description="“PVC t9k-mnt”, “memory”, “ConfigMap x”.")
    sub_path: str | None = None
    read_only: bool = False


class Pod(Model):
    """A replica's pod as it is in the cluster."""

    name: str
    uid: str
    created_at: Time
    ip: str | None = None
    image: str | None = Field(None, description="Image of the training container.")
    command: list[str] = Field(default_factory=list, description="Command and arguments of the training container.")
    mounts: list[PodMount] = Field(default_factory=list)
    device: Device | None = Field(None, description="Accelerators that the pod has or requests.")


class Replica(Model):
    """A replica of a job, and its newest attempt."""

    name: str = Field(description="“worker-0”.")
    type: str
    index: int
    status: str = Field(description="Status as kubectl shows it: Running, Completed, Error, Pending …")
    ready: bool = False
    node: str | None = None
    pid: int | None = None
    ranks: list[int] = Field(default_factory=list, description="Global ranks; empty while unknown.")
    processes: int | None = None
    devices: list[str] = Field(default_factory=list)
    restarts: int = 0
    started_at: Time | None = None
    ended_at: Time | None = None
    exit_code: int | None = None
    attempts: list[Attempt] = Field(default_factory=list)
    reason: Reason | None = Field(
        None, description="Why the replica waits or failed; null if `status` says everything."
    )
    pod: Pod | None = Field(None, description="The replica's pod; null without a cluster, and while there is no pod.")


class Event(Model):
    """An event of a job; repeats are folded into `count`."""

    time: Time
    type: Literal["Normal", "Warning"] = "Normal"
    reason: str
    message: Text
    replica: str | None = None
    object: str | None = Field(
        None, description="Object of the cluster that the event is about: “Pod train-1-worker-0”."
    )
    count: int = 1
    first_time: Time | None = Field(None, description="Time of the first folded event.")


class MissingSpan(Model):
    """A part of a log that was lost before it could be kept."""

    sentence: Text = Field(description="The missing part, and the reason.")
    offset: int = Field(description="Offset of the missing part in the stream, in bytes.")
    since: Time | None = None
    until: Time | None = None


class LogStream(Model):
    """A log stream. A rank has two, since torchrun separates stdout and stderr; the launcher has one."""

    id: str = Field(description="“worker-0.1.rank-0.out”: replica, attempt, source, file.")
    replica: str
    attempt: int
    source: Literal["rank", "launcher", "container", "init"]
    output: Literal["stdout", "stderr", "both"] = "both"
    container: str | None = Field(None, description="Name of the container; null for the training container.")
    local_rank: int | None = None
    rank: int | None = Field(None, description="Global rank; null while unknown.")
    worker_restart: int = Field(0, description="Number of torchrun's own restart within the attempt.")
    size: int = Field(description="Bytes that were written, including removed ones.")
    removed: int = Field(0, description="Bytes that were cut out to keep the job's log below its cap.")
    first_time: Time | None = None
    last_time: Time | None = None
    complete: bool = Field(False, description="True if nothing more will be written.")
    missing: list[MissingSpan] = Field(default_factory=list, description="Missing parts.")
    waiting: Text | None = Field(None, description="Sentence that says why the log is still empty.")


class ManifestView(Model):
    """A job as it was submitted and as it is now."""

    submitted: dict[str, Any]
    current: dict[str, Any] | None = Field(
        None, description="Null if the job is in no cluster, or its object was deleted."
    )
    submitted_text: str = Field("", description="`submitted` as YAML.")
    current_text: str | None = Field(None, description="`current` as YAML, with the status as the last field.")


def job_id(engine: str, namespace: str, name: str, uid: str) -> str:
    """Return ``engine:namespace:name:uid``.

    Parameters
    ----------
    engine, namespace, name, uid
        Parts of the id without colons. The namespace may be empty.
    """
    return f"{engine}:{namespace}:{name}:{uid}"


def parse_job_id(value: str) -> tuple[str, str, str, str]:
    """Split a job id into engine, namespace, name and uid.

    Raises
    ------
    ValueError
        If the id does not have exactly four parts.
    """
    parts = value.split(":")
    if len(parts) != 4:
        raise ValueError(f"not a job id: {value!r}")
    return parts[0], parts[1], parts[2], parts[3]
