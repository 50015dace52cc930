"""A job as the API gives it: its phase, reason, replicas, attempts, events and log streams.

All times are seconds since the epoch (UTC), as floats.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from .spec import Device, JobSpec, Model
from .translation import Sentence

Phase = Literal["Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed", "Unknown"]
ACTIVE_PHASES: frozenset[str] = frozenset({"Pending", "Running", "Paused", "Resuming"})

Action = Literal["stop", "pause", "resume", "rerun", "remove", "delete"]
PendingAction = Literal["submitting", "stopping", "pausing", "resuming", "deleting"]
EndedBy = Literal["itself", "user", "platform", "deadline"]
ENGINE_NAME_PATTERN = r"^[a-z][a-z0-9-]{0,39}$"
EngineName = Annotated[str, StringConstraints(pattern=ENGINE_NAME_PATTERN)]
"""Name of an engine: lower-case letters, digits and hyphens. A colon would split job ids (`job_id`)."""
DEFAULT_ENGINE = "local"
"""Engine of a request that names none."""

Time = Annotated[float, Field(description="Seconds since the epoch, UTC.")]


class Fix(Model):
    """A change of named fields of the spec that one click applies."""

    label: Sentence
    changes: dict[str, Any] = Field(description="JSON pointer into the spec → new value.")


class Link(Model):
    """Where a reason or a check points: a log position, a line of a file, or a field."""

    kind: Literal["log", "file", "field", "url"]
    label: Sentence
    stream: str | None = None
    offset: int | None = None
    path: str | None = Field(None, description="A file as the server's contents API names it.")
    line: int | None = None
    field: str | None = Field(None, description="JSON pointer into the spec.")
    url: str | None = None


class Reason(Model):
    """Why something is as it is: for programs, for people, and what to do about it."""

    code: str
    sentence: Sentence
    hint: Sentence | None = None
    fix: Fix | None = None
    verbatim: str | None = None
    links: list[Link] = Field(default_factory=list)


class Progress(Model):
    """How far the job says that it is, read from its log."""

    text: Sentence = Field(description="For people: “Epoch 4 of 10, batch 412 of 938”.")
    fraction: float | None = Field(None, ge=0, le=1)
    rate: Sentence | None = Field(None, description="“22.7 batches a second”.")
    eta_seconds: float | None = Field(None, description="After three measured steps, else null.")
    metrics: dict[str, float] = Field(default_factory=dict)
    updated_at: Time


class Frame(Model):
    """One frame of a Python traceback."""

    file: str
    path: str | None = Field(None, description="Contents API path, if it lies below the root.")
    line: int
    function: str
    code: str | None = None
    library: bool = False


class LastOutput(Model):
    """The last lines of a log, which need not tell why its process ended."""

    stream: str
    offset: int = Field(description="Where the first of the lines begins in the stream.")
    lines: list[str]


class Failure(Model):
    """The first rank that failed, with the error that ended it where that is known."""

    replica: str
    attempt: int
    rank: int | None = None
    local_rank: int | None = None
    exit_code: int
    signaled: bool | None = Field(
        None, description="Whether a signal ended it, so that the exit code is 128 and its number; null if unknown."
    )
    ended: Sentence | None = Field(None, description="The exit code in words: “Error (1)”, “Killed (137)”.")
    error: str | None = Field(
        None, description="The error that ended it: a traceback's last line, or one of a known form; null if unknown."
    )
    note: Sentence | None = Field(
        None, description="A sentence on how the error came about, or on what else the log has."
    )
    frames: list[Frame] = Field(default_factory=list)
    time: Time | None = None
    link: Link | None = None
    last_output: LastOutput | None = None


class JobSummary(Model):
    """One row of the list; what the stream pushes for every job."""

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
        description="How long the ended attempts of the first replica ran; a pause is in none of them.",
    )
    running_since: Time | None = Field(
        None, description="When the attempt of the first replica began that runs now, if one does."
    )
    attempt: int = Field(1, description="The newest attempt of any replica, from 1.")
    restarts: int = 0
    replicas: int = 1
    replicas_running: int = 0
    processes: int | None = Field(None, description="Ranks of the whole job, where known.")
    queue: str | None = Field(None, description="That it is in, or waits in.")
    devices: Device | None = Field(None, description="Accelerators that the whole job asks for.")
    devices_held: int | None = Field(None, description="How many of them it has now; null where nobody tells.")
    progress: Progress | None = None
    mine: bool = True
    owner: str | None = None
    read_only: Sentence | None = Field(None, description="Why nothing can be done to it from here.")
    deleted: bool = False
    actions: list[Action] = Field(default_factory=list)
    refused: dict[Action, Sentence] = Field(
        default_factory=dict,
        description="What its phase would allow, and the account or the cluster does not; each with the reason.",
    )
    entrypoint_path: str | None = Field(None, description="Contents API path of what it runs.")
    log_dirs: list[str] = Field(default_factory=list, description="TensorBoard log directories.")


class Job(JobSummary):
    """Everything that the job's tab shows in its header and overview."""

    def summary(self) -> JobSummary:
        """Return the part of the job that lists show."""
        return JobSummary.model_construct(**{name: getattr(self, name) for name in JobSummary.model_fields})

    spec: JobSpec
    command: list[str] = Field(description="The argv that runs on the first replica.")
    working_dir: str | None = None
    working_dir_path: str | None = Field(None, description="Contents API path, if it has one.")
    log_dir_paths: list[str | None] = Field(default_factory=list)
    log_location: str | None = Field(None, description="Directory that keeps the log files.")
    failure: Failure | None = None
    limited: list[Sentence] = Field(
        default_factory=list, description="What of the job this account has no permission to see, a sentence each."
    )
    tensorboard_url: str | None = Field(None, description="Page of the TensorBoard that the platform runs for it.")
    request_id: str | None = None
    rerun_of: str | None = Field(None, description="Id of the job that this one repeats.")


class Attempt(Model):
    """One life of a replica."""

    number: int
    started_at: Time | None = None
    ended_at: Time | None = None
    exit_code: int | None = None
    ended: Sentence | None = Field(None, description="In words: “Error (1)”, “Killed (137)”.")
    worker_restarts: int = 0
    restart: int | None = Field(
        None, description="Which of the counted restarts began it; null where none did, as at first and after a pause."
    )


class PodMount(Model):
    """A volume as a container of a pod has it."""

    path: str
    source: Sentence = Field(description="In words: “PVC t9k-mnt”, “memory”, “ConfigMap x”.")
    sub_path: str | None = None
    read_only: bool = False


class Pod(Model):
    """A replica's pod as it really is: what the cluster has made of what was asked for."""

    name: str
    uid: str
    created_at: Time
    ip: str | None = None
    image: str | None = Field(None, description="Of the training container.")
    command: list[str] = Field(default_factory=list, description="Its command and arguments.")
    mounts: list[PodMount] = Field(default_factory=list)
    device: Device | None = Field(None, description="Accelerators that it was given or asks for.")


class Replica(Model):
    """One node's worth of the job."""

    name: str = Field(description="“worker-0”.")
    type: str
    index: int
    status: str = Field(description="kubectl's words: Running, Completed, Error, Pending …")
    ready: bool = False
    node: str | None = None
    pid: int | None = None
    ranks: list[int] = Field(default_factory=list, description="Global ranks, once known.")
    processes: int | None = None
    devices: list[str] = Field(default_factory=list)
    restarts: int = 0
    started_at: Time | None = None
    ended_at: Time | None = None
    exit_code: int | None = None
    attempts: list[Attempt] = Field(default_factory=list)
    reason: Reason | None = Field(None, description="Why it waits or failed, where there is more to say than `status`.")
    pod: Pod | None = Field(None, description="Null on one machine, and while there is none.")


class Event(Model):
    """One thing that happened; repeats are folded into `count`."""

    time: Time
    type: Literal["Normal", "Warning"] = "Normal"
    reason: str
    message: Sentence
    replica: str | None = None
    object: str | None = Field(None, description="In a cluster what it happened to: “Pod train-1-worker-0”.")
    count: int = 1
    first_time: Time | None = Field(None, description="Of the first of those that are folded.")


class MissingSpan(Model):
    """A part of a log that was lost before anybody could keep it."""

    sentence: Sentence = Field(description="What is not here and why.")
    offset: int = Field(description="Where in the file it would be.")
    since: Time | None = None
    until: Time | None = None


class LogStream(Model):
    """One file of log bytes.

    A rank has two (torchrun keeps its stdout and stderr apart), the launcher one.
    """

    id: str = Field(description="“worker-0.1.rank-0.out”: replica, attempt, source, file.")
    replica: str
    attempt: int
    source: Literal["rank", "launcher", "container", "init"]
    output: Literal["stdout", "stderr", "both"] = "both"
    container: str | None = Field(None, description="A pod's container, where it is not the training one.")
    local_rank: int | None = None
    rank: int | None = Field(None, description="Global rank, once torchrun has told it.")
    worker_restart: int = Field(0, description="torchrun's own restart count within the attempt.")
    size: int = Field(description="Bytes that were written, those that have been removed since included.")
    removed: int = Field(0, description="Of these, bytes that were cut out to keep the job's log below its cap.")
    first_time: Time | None = None
    last_time: Time | None = None
    complete: bool = Field(False, description="Nothing more will be written.")
    missing: list[MissingSpan] = Field(default_factory=list, description="What is not here.")
    waiting: Sentence | None = Field(None, description="Why nothing comes yet, a sentence.")


class CheckpointFile(Model):
    """One checkpoint file."""

    path: str = Field(description="As the contents API names it.")
    time: Time = Field(description="When it was changed last.")


class Checkpoints(Model):
    """Checkpoint files in a job's folders that were changed while the job ran."""

    folders: list[str] = Field(default_factory=list, description="Where they were looked for, as contents API paths.")
    count: int = 0
    size: int = Field(0, description="Bytes of all of them.")
    newest: CheckpointFile | None = None
    complete: bool = Field(True, description="False: there were too many files or folders to look at all.")


class ManifestView(Model):
    """A job as it was submitted and as it is now."""

    submitted: dict[str, Any]
    current: dict[str, Any] | None = Field(None, description="Null where it is in no cluster, or there no more.")
    submitted_text: str = Field("", description="The same as YAML, as people write it.")
    current_text: str | None = Field(None, description="As YAML; the status is the last of its fields.")


def job_id(engine: str, namespace: str, name: str, uid: str) -> str:
    """Return ``engine:namespace:name:uid``."""
    return f"{engine}:{namespace}:{name}:{uid}"


def parse_job_id(value: str) -> tuple[str, str, str, str]:
    """Split a job id into engine, namespace, name and uid.

    Raises
    ------
    ValueError
        If it does not have exactly four parts.
    """
    parts = value.split(":")
    if len(parts) != 4:
        raise ValueError(f"not a job id: {value!r}")
    return parts[0], parts[1], parts[2], parts[3]
