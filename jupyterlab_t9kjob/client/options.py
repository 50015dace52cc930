"""`JobOptions`, the values that a user gives for a new job, and their place in its specification.

Values that are not given keep what the form fills in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..core.errors import FieldError
from ..core.spec import JobSpec
from ..core.texts.validation import explain
from ..core.translation import _
from ..jobs.renaming import renamed
from ..presets.pointers import is_field, parts_of, put

if TYPE_CHECKING:
    from ..launch.model import ScriptOption

SomeModel = TypeVar("SomeModel", bound=BaseModel)


@dataclass(frozen=True)
class JobOptions:
    """Values for a new job; None and empty values keep those of the form.

    Attributes
    ----------
    name, kernel, image, working_dir, queue
        As in the form.
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
        Restarts of the whole job.
    deadline_seconds
        Time after which the job is ended.
    paused
        True to create the job paused.
    values
        Further values by field of the specification: ``run_policy.clean_up`` or ``/run_policy/clean_up``.
    """

    name: str | None = None
    kernel: str | None = None
    image: str | None = None
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
    restarts: int | None = None
    deadline_seconds: int | None = None
    paused: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """True if a value is given."""
        values = [getattr(self, each.name) for each in fields(self)]
        return any(value is not None and value is not False and value not in ((), [], {}) for value in values)

    def applied(self, spec: JobSpec, options: Sequence[ScriptOption] = ()) -> JobSpec:
        """Return a specification with the given values.

        Parameters
        ----------
        spec
            The filled form.
        options
            Options of the script, by which given arguments replace those of the form.

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
        _set_given(document["runtime"], kernel=self.kernel, image=self.image)
        _set_given(document["scheduling"], queue=self.queue)
        _set_given(document["run_policy"], backoff_limit=self.restarts, active_deadline_seconds=self.deadline_seconds)
        _set_given(document, working_dir=self.working_dir)
        document["paused"] = document["paused"] or self.paused
        self._set_size(document)
        given = [
            *({"name": name, "value": value} for name, value in self.env.items()),
            *map(_secret, self.secrets.items()),
        ]
        names = {variable["name"] for variable in given}
        document["env"] = [*(each for each in document["env"] if each["name"] not in names), *given]
        document["mounts"] = [*document["mounts"], *map(_mount, self.mounts)]
        for name, value in self.values.items():
            set_value(document, name, value)
        return valid_spec(document)

    def _set_size(self, document: dict[str, Any]) -> None:
        groups = document["replica_specs"]
        if self.nodes is not None:
            # Types before the last one, such as a master, keep their number.
            groups[-1]["replicas"] = self.nodes - sum(group["replicas"] for group in groups[:-1])
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
            document["torchrun"] = {**(torchrun or {}), "proc_per_node": self.processes}
        elif self.gpus is not None and torchrun is not None:
            # The form does the same: one process for each GPU, or at most one for each core if there are no GPUs.
            torchrun["proc_per_node"] = "gpu" if self.gpus else min(2, os.cpu_count() or 1)


def _set_given(document: dict[str, Any], **values: Any) -> None:
    document.update({name: value for name, value in values.items() if value is not None})


def _secret(item: tuple[str, str]) -> dict[str, Any]:
    name, (secret, _colon, key) = item[0], item[1].partition(":")
    if not secret or not key:
        raise FieldError(
            _("The variable {name} names no key of a secret.", name=name),
            field="/spec/env",
            hint=_("Write it as NAME=secret:key."),
        )
    return {"name": name, "secret": {"name": secret, "key": key}}


def _mount(word: str) -> dict[str, Any]:
    """Return the mount that a word such as ``data/imagenet:/data:ro`` describes."""
    source, _colon, rest = word.partition(":")
    path, _colon, mode = rest.partition(":")
    claim, _slash, folder = source.partition("/")
    if not claim or not path.startswith("/") or mode not in ("", "ro", "rw"):
        raise FieldError(
            _("“{volume}” is no volume and path.", volume=word),
            field="/spec/mounts",
            hint=_("Write it as claim:/path, claim/folder:/path or claim:/path:ro."),
        )
    return {"claim": claim, "mount_path": path, "sub_path": folder or None, "read_only": mode == "ro"}


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
        problem = explain(error, document)
        problem.field = f"/spec{problem.field}" if problem.field else None
        raise problem from None


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


_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def seconds_of(text: str) -> int:
    """Return the seconds of a duration such as ``90``, ``10m``, ``2h30m`` or ``1d``.

    Raises
    ------
    ValueError
        If the text is no duration.
    """
    match = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    if match is None or not any(match.groups()):
        raise ValueError(text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
