"""What every engine offers to `JobService`; handlers and launch code know engines only so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field

from .capacity import Capacity, NodeList, QueueList
from .checks import Capability, Preview
from .engine_facts import EngineFacts
from .job import (
    Action,
    EngineName,
    Event,
    Job,
    JobSummary,
    LogStream,
    ManifestView,
    Replica,
)
from .spec import JobSpec, Model
from .translation import Sentence

if TYPE_CHECKING:
    from .lab import Lab
    from .manifests import Dialect


class DeviceInfo(Model):
    """One accelerator of a machine."""

    index: int = Field(description="As nvidia-smi counts.")
    id: str = Field(description="By which jobs get it: an index or a UUID.")
    name: str = Field(description="Its model.")
    uuid: str | None = None
    memory_total: int | None = Field(None, description="Bytes.")
    memory_used: int | None = Field(None, description="Bytes.")
    claimed_by: str | None = Field(None, description="Name of the local job that has it for itself.")
    used_by: Sentence | None = Field(
        None, description="All who use it, in words: “train-1”, “a notebook kernel: eda.ipynb”; null where it is free."
    )


class Machine(Model):
    """Size of the machine that the local engine runs on."""

    hostname: str
    cpus: int = Field(description="Cores that this process may use.")
    memory_total: int | None = Field(None, description="Bytes.")
    memory_available: int | None = Field(None, description="Bytes.")
    devices: list[DeviceInfo] = Field(default_factory=list)
    devices_problem: Sentence | None = Field(None, description="What is wrong with the GPUs' driver, a sentence.")


StaleCode = Literal[
    "Unreachable",
    "NameUnknown",
    "Untrusted",
    "ProxyFailed",
    "NoCredentials",
    "Forbidden",
    "NotServed",
    "Busy",
    "ServerError",
    "Refused",
    "Silent",
]
"""Why changes in a cluster may have been missed."""


class ClusterInfo(Model):
    """The cluster of an engine, as this server's account sees it."""

    server: str = Field(description="Host of the API server, without credentials.")
    context: str | None = Field(None, description="The kubeconfig's; null in a pod.")
    version: str | None = Field(None, description="The API server's.")
    found: Sentence = Field(description="What makes the engine work, in words: “PyTorchJob of kubeflow.org/v1”.")
    rights: dict[str, Capability] = Field(
        default_factory=dict,
        description="Permissions of the account: create_jobs, delete_jobs, change_jobs, list_jobs, watch_jobs,"
        " list_pods, watch_pods, read_logs, list_events, watch_events, list_quotas, watch_quotas, list_volumes,"
        " get_volumes, list_namespaces; each with the reason where it is missing.",
    )
    stale_since: float | None = Field(
        None, description="Since when changes may have been missed, seconds since the epoch; null while all is well."
    )
    stale_code: StaleCode | None = Field(None, description="Why, for programs.")
    stale_reason: Sentence | None = Field(None, description="Why, a sentence.")
    stale_hint: Sentence | None = Field(None, description="What to do, a sentence or two.")
    stale_verbatim: str | None = Field(None, description="The cluster's own words.")
    image: str | None = Field(None, description="The lab's own, which new jobs get if its Python has torch.")


class Volume(Model):
    """A PersistentVolumeClaim, as the form offers it."""

    claim: str
    access_modes: list[str] = Field(default_factory=list)
    capacity: str | None = None
    phase: str | None = Field(None, description="Bound, Pending, Lost.")
    storage_class: str | None = None
    lab_path: str | None = Field(None, description="Where this lab has it mounted.")
    mount_path: str | None = Field(None, description="Where jobs get it by default.")
    sub_path: str | None = None


class EngineInfo(Model):
    """An engine as found: available or why not, and what it can do."""

    name: EngineName
    label: Sentence = Field(description="For people: “This machine”.")
    facts: EngineFacts = Field(default_factory=EngineFacts)
    available: bool
    reason: Sentence | None = Field(None, description="Why it is not available, a sentence.")
    looking: bool = Field(False, description="Whether it is still being found out whether it is available.")
    namespaces: list[str] = Field(default_factory=list)
    default_namespace: str = ""
    capabilities: dict[str, Capability] = Field(default_factory=dict)
    machine: Machine | None = None
    cluster: ClusterInfo | None = None
    grace_seconds: float | None = Field(
        None, description="How long processes that are asked to end have for it before they are killed."
    )


@dataclass(frozen=True)
class LogFile:
    """A log stream on disk.

    Attributes
    ----------
    stream
        What the API says of it.
    path
        The bytes as they were written.
    index
        (time, offset) pairs beside it, see `jupyterlab_t9kjob.logs.storage.index`; None if there is none.
    cuts
        Record of what was cut out of it, see `jupyterlab_t9kjob.logs.storage.cuts`; None if nothing ever is.
    within
        Folder below which somebody else may have put links: none are followed there. None where all is ours.
    """

    stream: LogStream
    path: Path
    index: Path | None
    cuts: Path | None = None
    within: Path | None = None


@dataclass(frozen=True)
class Edited:
    """A manifest that a user wrote or changed by hand; it is submitted as it is.

    Attributes
    ----------
    manifest
        As edited.
    text
        The same as YAML text.
    """

    manifest: dict[str, Any]
    text: str


Listener = Callable[[str, JobSummary | None], None]
"""Called with a job's id and its new summary; None when the job is gone from the list."""


Prepare = Callable[[], Awaitable[None]]
"""Makes ready what a job needs on disk; called when nothing is left to refuse it."""


class Engine(Protocol):
    """One place where jobs run.

    All methods are coroutines that never block the loop and raise `core.errors.JobError`.
    `job` parameters are uids.
    """

    name: EngineName

    async def start(self) -> None:
        """Load what exists and begin to watch; called once, before anything else."""

    async def stop(self) -> None:
        """Stop watching. Jobs go on."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; returns how to stop that."""

    async def info(self) -> EngineInfo:
        """Say what this engine is and can do, now."""

    async def jobs(self) -> list[JobSummary]:
        """Return all jobs, newest first."""

    async def job(self, uid: str) -> Job:
        """Return one job in full."""

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts."""

    async def events(self, uid: str) -> list[Event]:
        """Return the job's events, newest first, repeats folded."""

    async def manifest(self, uid: str) -> ManifestView:
        """Return the job as submitted and as it is."""

    async def log_files(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now, in a stable order."""

    async def look_at_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Keep a job's logs up to date as long as somebody looks; returns how to stop that.

        Where logs have to be fetched, those of jobs that have ended are here when this returns.

        Parameters
        ----------
        uid
            The job's.
        grown
            Called whenever this server has written more of them; files that others write are to be looked at.
        """

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a spec without creating anything.

        Parameters
        ----------
        edited
            The manifest that is submitted instead of the spec's own.
        dry_run
            Ask the cluster as well.
        """

    async def lab(self, namespace: str | None = None) -> Lab | None:
        """Return what jobs inherit from the lab, in a namespace if one is named; None where they run beside it."""

    async def dialect(self) -> Dialect:
        """Return how a PyTorchTrainingJob is spelled here; the current spelling where there is no cluster."""

    async def volumes(self, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can have; raises `NotAllowed` where nobody may list them."""

    async def queues(self, namespace: str) -> QueueList:
        """Return the queues that a job in a namespace can be put into; none where there is no such thing."""

    async def capacity(self, namespace: str) -> Capacity:
        """Return what is free now, and the quotas of a namespace; of all that are watched if it is empty."""

    async def nodes(self) -> NodeList:
        """Return the nodes with what is free on each."""

    async def refresh(self) -> None:
        """Look again at what there is and what this account may do."""

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that this request has created, also through another server; None if it has not."""

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> Job:
        """Create a job; the same `request_id` again returns the first one.

        With `edited` that manifest is submitted; the spec is what it says.
        """

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Stop, pause, resume or delete; what is asked for shows as `pending_action`.

        With `remove` a deleted job's record and logs go as soon as it has ended, also if this server is killed before.
        """

    async def remove(self, uid: str) -> None:
        """Drop the record and logs of a finished or deleted job."""
