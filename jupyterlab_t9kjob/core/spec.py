"""`JobSpec`, the description of a job that the form, the manifests and the engines share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, model_validator

from .base_model import Model as Model
from .base_model import PathText as PathText
from .base_model import PlainText as PlainText
from .code.model import CodeSource

NAME_PATTERN = r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$"
"""Pattern of job names that all engines accept."""

MAX_INT32 = 2**31 - 1
"""Largest count, id or number of seconds: a larger one does not fit into fields of manifests."""

MAX_NODES = 10_000
"""Largest number of replicas of a replica type."""

MAX_PROCESSES = 1024
"""Largest number of processes or accelerators of a replica."""

MAX_CONFIG_BYTES = 65_536
"""Largest size of all config files of a job together, in bytes: the job's object keeps them in an annotation."""

MAX_PRIORITY = 100
"""Largest priority of a job in its queue (T9k's scheduler)."""

NAMESPACE_PATTERN = r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$"
"""Pattern of Kubernetes namespaces; empty for the engine's own namespace."""

RUNTIME_PATTERN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
"""Pattern of the names of training runtimes (DNS subdomain names)."""

ENV_NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"

RestartPolicy = Literal["Never", "OnFailure", "Always", "ExitCode"]
CleanUp = Literal["None", "Unfinished", "All"]
EntrypointKind = Literal["script", "module", "notebook", "command"]

Namespace = Annotated[str, StringConstraints(pattern=NAMESPACE_PATTERN)]
JobName = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]


class Entrypoint(Model):
    """Program that a job runs.

    Attributes
    ----------
    kind
        A script file, a module (``python -m value``), a notebook, or a command.
    value
        Absolute path of the file in the job, dotted name of the module, or the command.
    """

    kind: EntrypointKind = "script"
    value: Annotated[PathText, StringConstraints(min_length=1)]

    @property
    def script(self) -> str:
        """The value that runs: for a notebook, the script ``<name>.t9kjob.py`` that is written beside it."""
        return self.value.removesuffix(".ipynb") + ".t9kjob.py" if self.kind == "notebook" else self.value


class SecretRef(Model):
    """A key of a Kubernetes Secret. The secret's value is not part of the API."""

    name: str
    key: str


class EnvVar(Model):
    """One environment variable: a plain value, or a reference to a secret."""

    name: Annotated[str, StringConstraints(pattern=ENV_NAME_PATTERN, max_length=256)]
    value: PlainText | None = None
    secret: SecretRef | None = None

    @model_validator(mode="after")
    def _one_source(self) -> EnvVar:
        if self.value is not None and self.secret is not None:
            raise ValueError("give a value or a secret, not both")
        return self


class TrainingRuntime(Model):
    """A runtime of Kubeflow Trainer: a template of jobs that an administrator offers."""

    name: Annotated[str, StringConstraints(pattern=RUNTIME_PATTERN, max_length=253)]
    in_namespace: bool = Field(
        False, description="True for a TrainingRuntime of the job's namespace, false for one of the whole cluster."
    )


class Runtime(Model):
    """Container image (cluster) or Jupyter kernel (local) in which a job runs."""

    image: str | None = None
    pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    pull_secrets: list[str] = Field(default_factory=list)
    kernel: Annotated[str, StringConstraints(max_length=256)] | None = Field(
        None, description="Name of a kernelspec; null for the default one."
    )
    training_runtime: TrainingRuntime | None = Field(
        None, description="For a TrainJob: null for `torch-distributed` of the cluster. Other engines ignore it."
    )


class Quantity(Model):
    """A request and a limit as Kubernetes quantities (``500m``, ``16Gi``)."""

    request: str | None = None
    limit: str | None = None


class Device(Model):
    """Accelerators of one replica. The count is request and limit."""

    name: str = "nvidia.com/gpu"
    count: Annotated[int, Field(ge=0, le=MAX_PROCESSES)]


class Resources(Model):
    """Resources that one replica requests."""

    cpu: Quantity = Field(default_factory=Quantity)
    memory: Quantity = Field(default_factory=Quantity)
    device: Device | None = None

    @property
    def device_count(self) -> int:
        """Number of accelerators of one replica."""
        return self.device.count if self.device is not None else 0


class ReplicaSpec(Model):
    """One type of equal replicas. The first replica of the first type is the master."""

    type: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] = "worker"
    replicas: Annotated[int, Field(ge=1, le=MAX_NODES)] = 1
    restart_policy: RestartPolicy = "Never"
    resources: Resources = Field(default_factory=Resources)
    entrypoint: Entrypoint | None = None
    args: list[PlainText] | None = None
    runtime: Runtime | None = None
    env: list[EnvVar] | None = None
    scaling_weight: int | None = None


class Torchrun(Model):
    """Settings of torchrun; null in the spec means that torchrun is off."""

    proc_per_node: Annotated[int, Field(ge=1, le=MAX_PROCESSES)] | Literal["gpu"] = 1
    max_restarts: Annotated[int, Field(ge=0, le=MAX_INT32)] = 0
    rdzv_backend: Literal["c10d"] = "c10d"
    extra_options: list[PlainText] = Field(default_factory=list)


class Elastic(Model):
    """Bounds of an elastic job, in replicas."""

    min: Annotated[int, Field(ge=1)]
    max: Annotated[int, Field(ge=1)]
    expected: Annotated[int, Field(ge=1)] | None = None


class RunPolicy(Model):
    """Restarts, deadline and clean-up of the whole job.

    Attributes
    ----------
    backoff_limit
        Number of restarts that all replicas share.
    active_deadline_seconds
        Running time after which the job is ended, in seconds; null for no deadline.
    clean_up
        Pods that are removed when the job ends.
    ttl_seconds
        Time after which the object of an ended job is deleted, in seconds; not on every engine.
    resume_evicted
        True if a new job resumes from the newest checkpoint when the job failed because it was evicted.
    """

    backoff_limit: Annotated[int, Field(ge=0, le=MAX_INT32)] = 3
    active_deadline_seconds: Annotated[int, Field(ge=1, le=MAX_INT32)] | None = None
    clean_up: CleanUp = "Unfinished"
    ttl_seconds: Annotated[int, Field(ge=0)] | None = None
    resume_evicted: bool = False


class Scheduling(Model):
    """Queue, priority and nodes of the replicas in a cluster."""

    queue: str | None = None
    priority: Annotated[int, Field(ge=0, le=MAX_PRIORITY)] | None = None
    priority_class: str | None = None
    node_selector: dict[str, str] = Field(default_factory=dict)
    tolerations: list[dict[str, Any]] = Field(default_factory=list)
    scheduler: str | None = None


class Mount(Model):
    """A PVC and its path in the job."""

    claim: str
    mount_path: str
    sub_path: str | None = None
    read_only: bool = False
    volume: str | None = Field(None, description="Name of the volume in the pod; null for a generated one.")


class ConfigFile(Model):
    """A small text file at a path of its own, in the pods of a job in a cluster.

    Attributes
    ----------
    path
        Absolute path in the job.
    text
        Content of the file. Everybody who may read the job can read it.
    """

    path: PathText
    text: Annotated[PlainText, StringConstraints(max_length=MAX_CONFIG_BYTES)]


class Shm(Model):
    """Memory volume at ``/dev/shm``."""

    size_limit: str | None = None
    volume: str | None = Field(None, description="Name of the volume in the pod; null for “dshm”.")


class Security(Model):
    """User and group ids of the job's processes, and restrictions of its pods.

    Attributes
    ----------
    uid, gid, fs_group
        User, group, and group of volumes; None for those of the image.
    restricted
        True if the pods get the fields that the restricted Pod Security Standard requires.
    """

    uid: int | None = None
    gid: int | None = None
    fs_group: int | None = None
    restricted: bool = False


class ClusterTensorBoard(Model):
    """A TensorBoard that the platform runs for the job."""

    image: str | None = None
    resources: Resources = Field(default_factory=Resources)


class TensorBoardSpec(Model):
    """Directories to which the job writes event files (absolute paths), and a TensorBoard of the platform."""

    log_dirs: Annotated[list[PathText], Field(max_length=100)] = Field(default_factory=list)
    cluster: ClusterTensorBoard | None = None


class Debug(Model):
    """Debug mode of one replica type: it waits instead of running the job's command."""

    skip_init: bool = False
    command: Annotated[list[PlainText], Field(min_length=1, max_length=1000)] = Field(
        default_factory=lambda: ["sleep", "inf"]
    )


class Diagnostics(Model):
    """Aids for finding the cause of a hang, which the job's processes set up when they start.

    Attributes
    ----------
    stacks
        True if the ranks write their Python stacks when they get a signal, so that no right to trace them is needed.
    collectives
        True if PyTorch's flight recorder keeps the last collectives of each rank.
    """

    stacks: bool = False
    collectives: bool = False

    @property
    def any(self) -> bool:
        """True if one of them is on."""
        return self.stacks or self.collectives


class ResumeSpec(Model):
    """Command of one replica type when the job is resumed."""

    type: str
    command: list[str] | None = None
    args: list[str] | None = None
    skip_init: bool = False


class JobSpec(Model):
    """Description of a job for any engine. Engine and namespace are not part of it.

    Raises
    ------
    pydantic.ValidationError
        If a field is malformed; the API answers 422 with field, message and hint.
    """

    name: JobName
    display_name: Annotated[str, StringConstraints(max_length=256)] | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    entrypoint: Entrypoint
    args: Annotated[list[PlainText], Field(max_length=10_000)] = Field(default_factory=list)
    working_dir: PathText | None = Field(
        None, description="Null for the folder of the script, an empty text for the directory of the image."
    )
    env: list[EnvVar] = Field(default_factory=list)
    runtime: Runtime = Field(default_factory=Runtime)
    replica_specs: Annotated[list[ReplicaSpec], Field(min_length=1, max_length=64)] = Field(
        default_factory=lambda: [ReplicaSpec()]
    )
    torchrun: Torchrun | None = Field(default_factory=Torchrun)
    elastic: Elastic | None = None
    run_policy: RunPolicy = Field(default_factory=RunPolicy)
    paused: bool = False
    debug: dict[str, Debug] | None = Field(
        None, description="Debug mode by replica type; an empty object turns it on with defaults."
    )
    resume: list[ResumeSpec] = Field(default_factory=list)
    scheduling: Scheduling = Field(default_factory=Scheduling)
    mounts: list[Mount] = Field(default_factory=list)
    config_files: Annotated[list[ConfigFile], Field(max_length=20)] = Field(default_factory=list)
    shm: Shm | None = Field(default_factory=Shm)
    security: Security = Field(default_factory=Security)
    tensorboard: TensorBoardSpec = Field(default_factory=TensorBoardSpec)
    keep_logs: bool = True
    diagnostics: Diagnostics = Field(default_factory=Diagnostics)
    source: CodeSource | None = Field(
        None, description="Snapshot or git repository that runs; null: the files as they are."
    )
    extra: dict[str, Any] = Field(
        default_factory=dict,
        description="JSON merge patch that is applied to the manifest last; `$by` patches single items of lists.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> JobSpec:
        types = [group.type for group in self.replica_specs]
        if len(set(types)) != len(types):
            raise ValueError("two replica types have the same name")
        if self.elastic is not None and self.torchrun is None:
            raise ValueError("an elastic job needs torchrun")
        return self

    @property
    def total_replicas(self) -> int:
        """Number of replicas of all types together."""
        return sum(group.replicas for group in self.replica_specs)

    @property
    def initial_replicas(self) -> int:
        """Number of replicas that are asked for at the start: those that an elastic job expects, otherwise all."""
        return (self.elastic.expected if self.elastic is not None else None) or self.total_replicas
