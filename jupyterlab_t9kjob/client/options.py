"""`JobOptions`, the values that a user gives for a new job, and their place in its specification.

Values that are not given keep what the form fills in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..core.errors import FieldError
from ..core.spec import JobSpec
from ..core.texts.validation import explain
from ..core.translation import _
from ..jobs.renaming import renamed
from ..presets.pointers import is_field, parts_of, put
from .words import config_file, demand_list, mount, processes, secret_variable, toleration, training_runtime

if TYPE_CHECKING:
    from ..launch.model import ScriptOption

SomeModel = TypeVar("SomeModel", bound=BaseModel)


@dataclass(frozen=True)
class JobOptions:
    """Values for a new job; None and empty values keep those of the form.

    Attributes
    ----------
    name, kernel, image, training_runtime, queue
        As in the form.
    working_dir
        Working directory; a relative one is in that of this program.
    args
        Arguments of the script. Options that the form fills in stay, unless they are given here.
    nodes, processes, gpus
        Number of nodes, of processes per node (or ``gpu``), of GPUs per node.
    cpu, memory
        Resources per node as Kubernetes quantities (``4``, ``16Gi``).
    env
        Environment variables.
    secrets
        Environment variables from secrets: ``secret:key`` by the name of the variable.
    mounts
        Volumes: ``claim:path``, ``claim/folder:path`` or ``claim:path:ro``.
    restarts
        Restarts after failures, of the whole job; 0 for none.
    deadline_seconds
        Time after which the job is ended.
    ttl_seconds
        Time after which the object of an ended job is deleted.
    clean_up
        Pods that are removed at the end: ``None``, ``Unfinished`` or ``All``.
    paused
        True to create the job paused.
    labels, annotations
        Of the job's object.
    node_selector, tolerations, priority_class, scheduler
        Where the pods run. A toleration is ``key=value:effect``, ``key:effect``, ``key`` or ``all``.
    pull_secrets, pull_policy
        How the image is pulled.
    config_files
        Text files of this machine and their paths in the job's pods, as ``FILE:/path``.
    shm
        Size of the memory volume at ``/dev/shm``, such as ``2Gi``.
    rdma, rdma_resource
        True for one RDMA device per node; name of the resource if it is not ``rdma/hca``.
    host_network
        True if the pods use the network of their node.
    git, git_ref, git_folder, git_secret, git_submodules, git_history
        A git repository as the code: its address, or ``.`` for that of the clone in which the file lies; branch, tag or
        commit; folder of the modules; Secret with the credentials; what is cloned.
    values
        Further values by field of the specification: ``run_policy.clean_up`` or ``/run_policy/clean_up``.
    """

    name: str | None = None
    kernel: str | None = None
    image: str | None = None
    training_runtime: str | None = None
    working_dir: str | None = None
    queue: str | None = None
    args: Sequence[str] = ()
    nodes: int | None = None
    processes: int | str | None = None
    gpus: int | None = None
    cpu: str | None = None
    memory: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[str] = ()
    config_files: Sequence[str] = ()
    restarts: int | None = None
    deadline_seconds: int | None = None
    ttl_seconds: int | None = None
    clean_up: str | None = None
    paused: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[str] = ()
    priority_class: str | None = None
    scheduler: str | None = None
    pull_secrets: Sequence[str] = ()
    pull_policy: str | None = None
    shm: str | None = None
    rdma: bool = False
    rdma_resource: str | None = None
    host_network: bool = False
    git: str | None = None
    git_ref: str | None = None
    git_folder: str | None = None
    git_secret: str | None = None
    git_submodules: bool = False
    git_history: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("args", "mounts", "config_files", "tolerations", "pull_secrets"):
            demand_list(name, getattr(self, name))

    @property
    def any(self) -> bool:
        """True if a value is given."""
        values = [getattr(self, each.name) for each in fields(self)]
        return any(value is not None and value is not False and value not in ((), [], {}) for value in values)

    def applied(self, spec: JobSpec, options: Sequence[ScriptOption] = (), *, namespace: str = "") -> JobSpec:
        """Return a specification with the given values.

        Parameters
        ----------
        spec
            The filled form.
        options
            Options of the script, by which given arguments replace those of the form.
        namespace
            The job's namespace; empty if it has none.

        Raises
        ------
        FieldError
            If a value is not valid.
        """
        if self.name is not None:
            valid_spec({**spec.model_dump(mode="json"), "name": self.name})
            spec = renamed(spec, self.name)
        document = spec.model_dump(mode="json")
        if self.args:
            document["args"] = with_arguments(spec.args, self.args, options)
        self._set_cluster_values(document)
        _set_given(document["runtime"], kernel=self.kernel, image=self.image)
        if self.training_runtime is not None:
            document["runtime"]["training_runtime"] = training_runtime(self.training_runtime, namespace)
        _set_given(document["run_policy"], backoff_limit=self.restarts, active_deadline_seconds=self.deadline_seconds)
        if self.working_dir is not None:
            document["working_dir"] = self.working_dir and str(Path(self.working_dir).absolute())
        document["paused"] = document["paused"] or self.paused
        self._set_replicas(document)
        given = [
            *({"name": name, "value": value} for name, value in self.env.items()),
            *map(secret_variable, self.secrets.items()),
        ]
        names = {variable["name"] for variable in given}
        document["env"] = [*(each for each in document["env"] if each["name"] not in names), *given]
        document["mounts"] = [*document["mounts"], *map(mount, self.mounts)]
        for name, value in self.values.items():
            set_value(document, name, value)
        return valid_spec(document)

    def _set_cluster_values(self, document: dict[str, Any]) -> None:
        scheduling, runtime = document["scheduling"], document["runtime"]
        document["labels"] |= self.labels
        document["annotations"] |= self.annotations
        scheduling["node_selector"] |= self.node_selector
        scheduling["tolerations"] += map(toleration, self.tolerations)
        _set_given(scheduling, queue=self.queue, priority_class=self.priority_class, scheduler=self.scheduler)
        _set_given(runtime, pull_policy=self.pull_policy)
        runtime["pull_secrets"] = list(dict.fromkeys([*runtime["pull_secrets"], *self.pull_secrets]))
        _set_given(document["run_policy"], ttl_seconds=self.ttl_seconds, clean_up=self.clean_up)
        document["config_files"] += map(config_file, self.config_files)
        if self.shm is not None:
            document["shm"] = {**(document["shm"] or {}), "size_limit": self.shm}

    def _set_replicas(self, document: dict[str, Any]) -> None:
        groups = document["replica_specs"]
        for group in groups:
            if self.restarts == 0:
                group["restart_policy"] = "Never"
            elif self.restarts is not None and group["restart_policy"] == "Never":
                group["restart_policy"] = "OnFailure"  # Otherwise no replica would use the restarts.
        if self.nodes is not None:
            # Types before the last one, such as a master, keep their number.
            groups[-1]["replicas"] = self.nodes - sum(group["replicas"] for group in groups[:-1])
            if document["elastic"] and document["elastic"]["expected"] is not None:
                document["elastic"]["expected"] = self.nodes
        for group in groups:
            resources = group["resources"]
            if self.gpus is not None:
                name = (resources["device"] or {}).get("name", "nvidia.com/gpu")
                resources["device"] = {"name": name, "count": self.gpus} if self.gpus else None
            for part, amount in (("cpu", self.cpu), ("memory", self.memory)):
                if amount is not None:
                    resources[part] = {"request": amount, "limit": amount}
        torchrun = document["torchrun"]
        if self.processes is not None:
            document["torchrun"] = {**(torchrun or {}), "proc_per_node": processes(self.processes)}
        elif self.gpus is not None and torchrun is not None:
            # The form does the same: one process for each GPU, or at most one for each core if there are no GPUs.
            torchrun["proc_per_node"] = "gpu" if self.gpus else min(2, os.cpu_count() or 1)


def _set_given(document: dict[str, Any], **values: Any) -> None:
    document.update({name: value for name, value in values.items() if value is not None})


def set_value(document: dict[str, Any], name: str, value: Any) -> None:
    """Set a field of a specification.

    Parameters
    ----------
    document
        The specification as JSON; it is changed.
    name
        ``run_policy.backoff_limit``, or the JSON pointer ``/run_policy/backoff_limit``.
    value
        The value.

    Raises
    ------
    FieldError
        If a specification has no such field.
    """
    parts = parts_of(name) if name.startswith("/") else name.split(".")
    if not is_field(parts) or not put(document, parts, value):
        raise FieldError(
            _("A job has no field {field}.", field=name[:200]),
            code="NoSuchField",
            hint=_("The REST reference lists the fields of a job (JobSpec). Example: run_policy.backoff_limit."),
        )


def read_value(text: str) -> Any:
    """Return the value that a word of the command line means: JSON, or else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def valid(model: type[SomeModel], **values: Any) -> SomeModel:
    """Return values as a model.

    Parameters
    ----------
    model
        The model.
    values
        Values of its fields.

    Raises
    ------
    FieldError
        If a value is not valid.
    """
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        raise explain(error, values) from None


def valid_spec(document: dict[str, Any]) -> JobSpec:
    """Return a document as a specification.

    Raises
    ------
    FieldError
        If a field is not valid.
    """
    try:
        return JobSpec.model_validate(document, strict=True)
    except ValidationError as error:
        raise explain(error, document, "/spec") from None


def with_arguments(filled: Sequence[str], given: Sequence[str], options: Iterable[ScriptOption]) -> list[str]:
    """Return the arguments of a script: those of the form, without the options that are given, then the given ones.

    Parameters
    ----------
    filled
        Arguments of the form: options of the script with their values.
    given
        Arguments of the user.
    options
        Options of the script.
    """
    spellings = {flag: option for option in options for flag in option.flags}
    own = {id(spellings[word]) for word in map(_flag, given) if word in spellings}
    kept: list[str] = []
    skips = False  # True for the value of an option that is left out.
    for word in filled:
        flag = _flag(word)
        if flag in spellings:
            skips = id(spellings[flag]) in own
            if not skips:
                kept.append(word)
            skips = skips and flag == word
        elif skips:
            skips = False
        else:
            kept.append(word)
    return [*kept, *given]


def _flag(word: str) -> str:
    return word.partition("=")[0]
