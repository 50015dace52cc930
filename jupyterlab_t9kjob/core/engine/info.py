"""The API's models of an engine: its facts, its state, and the machine or cluster behind it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..checks import Capability
from ..job import EngineName
from ..spec import Model, RestartPolicy
from ..translation import Text


class RestartTexts(Model):
    """Effect of each restart policy on an engine, as a sentence for the form; a policy may be missing."""

    with_torchrun: dict[RestartPolicy, Text] = Field(default_factory=dict)
    without_torchrun: dict[RestartPolicy, Text] = Field(default_factory=dict)


class EngineFacts(Model):
    """Facts about the jobs of an engine. They never change while the server runs.

    The defaults describe a minimal engine: its jobs run elsewhere, and have neither namespaces nor manifests nor pods.
    """

    shares_lab_filesystem: bool = Field(
        False, description="Jobs see the files of this Jupyter server at the same paths."
    )
    runs_on_lab_machine: bool = Field(
        False,
        description="Jobs are processes of the machine or container of this Jupyter server: they use its CPU and GPUs,"
        " end with it, and count as its activity.",
    )
    runs_in_kernel: bool = Field(
        False, description="Jobs run with the Python of a kernel; otherwise in a container image."
    )
    outlives_server: bool = Field(
        False, description="Jobs go on when this Jupyter server ends, and the next server finds them again."
    )
    creates_jobs: bool = Field(True, description="The engine creates jobs; false for one that only shows jobs.")
    queues_sweeps: bool = Field(
        False,
        description="Jobs of a sweep wait for their turn by themselves. Otherwise they are created paused, and a server"
        " resumes the next one.",
    )
    has_namespaces: bool = Field(False, description="Jobs live in namespaces that the user can choose.")
    has_pods: bool = Field(False, description="Replicas are pods, with an image, mounts and a node.")
    manifest_kind: str | None = Field(
        None, description="Name of the manifest kind in which jobs are written; null: jobs have no manifest."
    )
    manifest_object: str | None = Field(
        None, description="`kind` of the objects that such manifests describe: “PyTorchJob”; null: no manifest."
    )
    restart_texts: RestartTexts = Field(default_factory=RestartTexts)
    description: Text | None = Field(
        None,
        description="What it means to choose the engine, a sentence for the form: what the job will be, and what runs"
        " it; null: nothing is said.",
    )


class DeviceInfo(Model):
    """One accelerator of a machine."""

    index: int = Field(description="As nvidia-smi counts.")
    id: str = Field(description="By which jobs get it: an index or a UUID.")
    name: str = Field(description="Its model.")
    uuid: str | None = None
    memory_total: int | None = Field(None, description="Bytes.")
    memory_used: int | None = Field(None, description="Bytes.")
    claimed_by: str | None = Field(None, description="Name of the local job that has it for itself.")
    used_by: Text | None = Field(
        None, description="All who use it, in words: “train-1”, “a notebook kernel: eda.ipynb”; null where it is free."
    )


class Machine(Model):
    """The machine of an engine whose jobs share it with this Jupyter server."""

    hostname: str
    cpus: int = Field(description="Cores that this process may use.")
    memory_total: int | None = Field(None, description="Bytes.")
    memory_available: int | None = Field(None, description="Bytes.")
    devices: list[DeviceInfo] = Field(default_factory=list)
    devices_problem: Text | None = Field(None, description="Problem of the GPUs' driver, a sentence.")


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
"""Codes of reasons why changes in a cluster may have been missed."""


class RuntimeImage(Model):
    """An image that an administrator of the cluster offers for training, in a TrainingRuntime of Kubeflow Trainer."""

    image: str
    runtime: str = Field(description="Name of the runtime.")
    namespace: str | None = Field(None, description="Namespace of the runtime; null for the whole cluster.")
    framework: str | None = Field(None, description="As the runtime's label says: torch, deepspeed, torchtune.")
    nodes: int | None = Field(None, description="Number of nodes of a job that says none; null: the runtime has none.")
    processes: str | None = Field(None, description="Processes per node of a job that says none: a number or a word.")
    gpus: int | None = Field(None, description="GPUs per node of a job that says none.")


class ClusterInfo(Model):
    """The cluster of an engine, as this server's account sees it."""

    server: str = Field(description="Host of the API server, without credentials.")
    context: str | None = Field(None, description="The kubeconfig's; null in a pod.")
    version: str | None = Field(None, description="The API server's.")
    found: Text = Field(
        description="The part of the system that the engine uses, in words: “PyTorchJob of kubeflow.org/v1”."
    )
    rights: dict[str, Capability] = Field(
        default_factory=dict,
        description="Permissions of the account: create_jobs, delete_jobs, change_jobs, list_jobs, watch_jobs,"
        " list_pods, watch_pods, read_logs, list_events, watch_events, list_quotas, watch_quotas, list_volumes,"
        " get_volumes, list_namespaces, on engines that need Services also create_services; each with the reason where"
        " it is missing.",
    )
    stale_since: float | None = Field(
        None, description="Since when changes may have been missed, seconds since the epoch; null while all is well."
    )
    stale_code: StaleCode | None = Field(None, description="Why, for programs.")
    stale_reason: Text | None = Field(None, description="Why, a sentence.")
    stale_hint: Text | None = Field(None, description="Advice to the user, a sentence or two.")
    stale_verbatim: str | None = Field(None, description="The cluster's own words.")
    image: str | None = Field(None, description="The lab's own, which new jobs get if its Python has torch.")
    images: list[RuntimeImage] = Field(
        default_factory=list, description="Images of the training runtimes that this account may list."
    )


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
    """State of an engine: whether it is available, what it can do, and where its jobs run."""

    name: EngineName
    label: Text = Field(description="For people: “This machine”.")
    facts: EngineFacts = Field(default_factory=EngineFacts)
    available: bool
    reason: Text | None = Field(None, description="Why it is not available, a sentence.")
    looking: bool = Field(False, description="The engine is still looking for its cluster.")
    namespaces: list[str] = Field(default_factory=list)
    default_namespace: str = ""
    lacks: list[Literal["resources", "stacks"]] = Field(
        default_factory=list, description="Parts of a job's page that the engine has nothing for."
    )
    capabilities: dict[str, Capability] = Field(default_factory=dict)
    machine: Machine | None = None
    cluster: ClusterInfo | None = None
    grace_seconds: float | None = Field(
        None, description="Seconds for which processes that are asked to end may run before they are killed."
    )
