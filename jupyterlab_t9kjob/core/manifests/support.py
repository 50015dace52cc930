"""What a kind can't do of a spec, and what can't be right, at the field: `problems` and `CAPABILITIES`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from ..checks import Capability, Check
from ..errors import FieldError
from ..features import unsupported
from ..lab import on_volume
from ..quantity import amount
from ..spec import JobSpec
from .convert import render
from .entrypoints import log_directory, program_of
from .kinds.dialect import CURRENT, Dialect
from .kinds.formats import FORMATS
from .kinds.pod_template import volume_names
from .leaks import leaks, variables_of
from .model import Kind
from .names import ENV_POD, ENV_POD_UID, PREFIX, SHM, SHM_PATH
from .text.merge_patch import apply

_EVERYWHERE: Final[dict[str, str | None]] = {
    "pause": None,
    "torchrun": None,
    "replicas": None,
    "deadline": None,
    "devices": None,
    "restarts": None,
    "elastic": None,
    "restart_always": None,
    "secrets": None,
    "queue": None,
    "scheduling": None,
    "image": None,
    "mounts": None,
    "shm": None,
    "resource_limits": None,
    "debug": None,
    "security": None,
    "extra": None,
    "source": "Copying the source into a cluster is not possible yet; jobs run the files on their volumes.",
    "exec": "Opening a terminal in a replica is not possible yet.",
}
_T9K: Final[dict[str, str | None]] = {
    "priority": None,
    "scaling_weight": None,
    "skip_init": None,
    "resume": None,
    "resume_command": None,
    "replica_types": None,
    "cluster_tensorboard": None,
    "ttl": "A PyTorchTrainingJob stays until it is deleted; T9k has no time to live for it.",
}
_PYTORCHJOB: Final[dict[str, str | None]] = {
    "ttl": None,
    "priority": "A PyTorchJob has no numbers for priorities; name a priority class instead.",
    "scaling_weight": "A PyTorchJob scales its Workers only, so types have no weights.",
    "skip_init": "A PyTorchJob always runs its init containers.",
    "resume": "A PyTorchJob that is resumed runs the same command as before.",
    "resume_command": "A PyTorchJob that is resumed runs the same command as before.",
    "replica_types": "A PyTorchJob has one Master and one group of Workers, and no other types.",
    "cluster_tensorboard": "The training operator runs no TensorBoard; the one in JupyterLab is used.",
}


def _capabilities(*tables: Mapping[str, str | None]) -> dict[str, Capability]:
    reasons = {name: reason for table in tables for name, reason in table.items()}
    return {name: Capability(supported=reason is None, reason=reason) for name, reason in reasons.items()}


CAPABILITIES: Final[dict[Kind, dict[str, Capability]]] = {
    "t9k": _capabilities(_EVERYWHERE, _T9K),
    "kubeflow": _capabilities(_EVERYWHERE, _PYTORCHJOB),
}

# What the job itself gives torchrun; kube-engines.md §3.3 for the rendezvous' host.
_OURS: Final = {
    "--nnodes": None,
    "--nproc": None,
    "--rdzv-backend": None,
    "--rdzv-endpoint": None,
    "--rdzv-id": None,
    "--max-restarts": None,
    "--standalone": None,
    "--node-rank": None,
    "--no-python": None,
    "--rdzv-conf": "kubeflow",
}
_LOG_OPTIONS: Final = ("--log-dir", "--tee", "-t", "--redirects", "-r")


def problems(spec: JobSpec, kind: Kind, *, dialect: Dialect = CURRENT) -> list[Check]:
    """Return what is wrong with a spec on a kind, errors first, before any cluster is asked.

    Parameters
    ----------
    spec
        A job from a form or a manifest.
    kind
        The engine that is to run it.
    dialect
        The cluster's spelling of a PyTorchTrainingJob: the older one has no words for some things.
    """
    order = {"error": 0, "warning": 1, "hint": 2, "passed": 3}
    checks = [
        *unsupported(spec, CAPABILITIES[kind]),
        *(_of_the_dialect(spec, dialect) if kind == "t9k" else ()),
        *_metadata(spec),
        *_programs(spec, kind),
        *_sizes(spec, kind),
        *_volumes(spec),
        *_security(spec),
        *_extra(spec, kind),
        *leaks(spec),
    ]
    return sorted(checks, key=lambda check: order[check.level])


def _of_the_dialect(spec: JobSpec, dialect: Dialect) -> Iterator[Check]:
    if not dialect.pause:
        reason = "This cluster's version of PyTorchTrainingJob can't be paused."
        if spec.paused:
            yield _error("Unsupported", reason, "/spec/paused", "Leave it out.")
        if spec.resume:
            yield _error("Unsupported", reason, "/spec/resume", "Leave it out.")
    if not dialect.elastic and spec.elastic and spec.elastic.max != spec.total_replicas:
        message = "This cluster's version of PyTorchTrainingJob takes the number of replicas as the maximum."
        yield _error("Unsupported", message, "/spec/elastic/max", f"Set {spec.total_replicas}.")


def _metadata(spec: JobSpec) -> Iterator[Check]:
    for field, names in (("labels", spec.labels), ("annotations", spec.annotations)):
        for name in names:
            if name.startswith(PREFIX):
                pointer = f"/spec/{field}/{name.replace('~', '~0').replace('/', '~1')}"
                yield _error("Reserved", f"Names that begin with {PREFIX} are ours.", pointer, "Choose another.")


def _programs(spec: JobSpec, kind: Kind) -> Iterator[Check]:
    kinds = {program_of(spec, group).entrypoint.kind for group in spec.replica_specs}
    if kind == "t9k" and spec.torchrun and "command" in kinds and len(kinds) > 1:
        message = "With torchrun on, either all replica types run a command or none does."
        yield _error("MixedEntrypoints", message, "/spec/replica_specs", "Choose a script for each, or turn it off.")
    for index, group in enumerate(spec.replica_specs):
        if not (group.runtime or spec.runtime).image:
            field = f"/spec/replica_specs/{index}/runtime/image" if group.runtime else "/spec/runtime/image"
            message = "A job in a cluster needs an image."
            yield _error("NoImage", message, field, "Choose one that has the PyTorch that the script needs.")
        if group.entrypoint is not None and group.entrypoint.kind == "notebook":
            field = f"/spec/replica_specs/{index}/entrypoint/value"
            message = "Only the job's own entrypoint can be a notebook, not that of one replica type."
            yield _error("NotebookOfOneType", message, field, "Save the notebook as a script.")
    for index, option in enumerate(spec.torchrun.extra_options if spec.torchrun else []):
        name = option.split("=", 1)[0].replace("_", "-")
        ours = any(name.startswith(own) and only in (None, kind) for own, only in _OURS.items())
        if ours or (spec.keep_logs and name in _LOG_OPTIONS):
            message = f"The option {name} of torchrun is set by the job itself."
            hint = "Remove it from the extra options."
            if not ours:
                hint += " Or switch off that the logs are kept."
            yield _error("OwnOption", message, f"/spec/torchrun/extra_options/{index}", hint)
    for field, variable in variables_of(spec):
        if variable.name in (ENV_POD, ENV_POD_UID):
            message = f"{variable.name} is set by the job itself: it leads to the logs."
            yield _error("Reserved", message, f"{field}/name", "Choose another name.")
        elif kind == "t9k" and variable.name == "NVIDIA_VISIBLE_DEVICES":
            message = "T9k may refuse pods that set NVIDIA_VISIBLE_DEVICES."
            hint = "Ask for GPUs instead; the platform sets it."
            yield _warning("RefusedVariable", message, field, hint)


def _sizes(spec: JobSpec, kind: Kind) -> Iterator[Check]:
    torchrun, elastic = spec.torchrun, spec.elastic
    for index, group in enumerate(spec.replica_specs):
        field = f"/spec/replica_specs/{index}/resources"
        device = group.resources.device
        if torchrun and torchrun.proc_per_node == "gpu" and not (device and device.count):
            message = "One process per GPU was asked for, and no GPUs."
            yield _error("NoDevicesAsked", message, f"{field}/device", "Set how many GPUs the job needs.")
        for name in ("cpu", "memory"):
            quantity = getattr(group.resources, name)
            for bound in ("request", "limit"):
                text = getattr(quantity, bound)
                if text is not None and amount(text) is None:
                    message = f"“{text[:40]}” is no quantity."
                    yield _error("BadQuantity", message, f"{field}/{name}/{bound}", "Write it like 4, 500m or 16Gi.")
            least, most = amount(quantity.request), amount(quantity.limit)
            if least is not None and most is not None and least > most:
                message = f"The request for {name} is above its limit."
                yield _error("RequestAboveLimit", message, f"{field}/{name}/request", f"Ask for {quantity.limit}.")
        shm, memory = amount(spec.shm.size_limit) if spec.shm else None, amount(group.resources.memory.limit)
        if shm is not None and memory is not None and shm > memory:
            message = f"{SHM_PATH} may grow beyond the memory limit, which it counts against."
            yield _warning("ShmAboveMemory", message, "/spec/shm/size_limit", "Raise the memory limit, or lower it.")
    if spec.shm and spec.shm.size_limit is not None and amount(spec.shm.size_limit) is None:
        message = f"“{spec.shm.size_limit[:40]}” is no quantity."
        yield _error("BadQuantity", message, "/spec/shm/size_limit", "Write it like 8Gi.")
    if elastic is None:
        return
    replicas = elastic.expected or spec.total_replicas
    if elastic.min > elastic.max:
        message = "The least number of replicas is above the largest."
        yield _error("ElasticBounds", message, "/spec/elastic/min", f"Set {elastic.max} or less.")
    elif not elastic.min <= replicas <= elastic.max:
        field = "/spec/elastic/expected" if elastic.expected else "/spec/replica_specs/0/replicas"
        message = f"{replicas} replicas are not between {elastic.min} and {elastic.max}."
        yield _error("ElasticBounds", message, field, "Choose a number between the two.")
    if kind == "kubeflow" and len(spec.replica_specs) > 1:
        message = "An elastic PyTorchJob has Workers only, so it can have one replica type."
        yield _error("Unsupported", message, "/spec/elastic", "Leave it out, or use one type.")


def _volumes(spec: JobSpec) -> Iterator[Check]:
    shm = (spec.shm and spec.shm.volume) or SHM
    seen: dict[str, str] = {}
    claims: dict[str, str] = {shm: ""} if spec.shm else {}
    for index, (mount, name) in enumerate(zip(spec.mounts, volume_names(spec.mounts, shm), strict=True)):
        field, path = f"/spec/mounts/{index}", str(PurePosixPath(mount.mount_path))
        if not mount.mount_path.startswith("/") or ":" in mount.mount_path:
            yield _error("NotAbsolute", "A mount path is absolute, and has no colon.", f"{field}/mount_path")
        if mount.sub_path and (mount.sub_path.startswith("/") or ".." in mount.sub_path.split("/")):
            message = "A folder of a volume is named from its root, without .. in it."
            yield _error("BadSubPath", message, f"{field}/sub_path")
        if path in seen or (path == SHM_PATH and spec.shm):
            taken = seen.get(path) or "the memory volume"
            message = f"{path} is where {taken} is mounted already."
            yield _error("MountedTwice", message, f"{field}/mount_path", "Choose another path.")
        if claims.setdefault(name, mount.claim) != mount.claim:
            message = f"Two volumes are called {name}."
            yield _error("VolumeTwice", message, f"{field}/volume", "Choose another name.")
        seen[path] = mount.claim
    if spec.tensorboard.cluster is not None:
        for path in spec.tensorboard.log_dirs or filter(None, [log_directory(spec)]):
            if on_volume(path, spec.mounts) is None:
                message = f"{path} is on no volume of the job, so the cluster's TensorBoard can't see it."
                hint = "Choose a folder below one of the mounts."
                yield _warning("LogDirectoryNotMounted", message, "/spec/tensorboard/log_dirs", hint)


def _security(spec: JobSpec) -> Iterator[Check]:
    if not spec.security.restricted:
        return
    if spec.security.uid == 0:
        message = "The restricted standard does not let pods run as user 0 (root)."
        yield _error("RunsAsRoot", message, "/spec/security/uid", "Enter the id of another user.")
    elif spec.security.uid is None:
        message = "Pods that fit the restricted standard start only if their image names a user other than root by id."
        hint = "Enter the id of a user if you don't know the image's."
        yield _warning("UserOfImage", message, "/spec/security/uid", hint)


def _extra(spec: JobSpec, kind: Kind) -> Iterator[Check]:
    """Check that the extra content leaves the job what it is; `render` finds what breaks its shape."""
    form = FORMATS[kind]
    plain: dict[str, Any] = form.build(spec)
    changed = apply(plain, spec.extra)
    metadata = changed.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if (changed.get("apiVersion"), changed.get("kind"), name) != (form.api_version, form.kind, spec.name):
        message = "The extra content changes the kind or the name of the job."
        yield _error("Extra", message, "/spec/extra", "Remove apiVersion, kind and metadata.name from it.")
        return
    try:
        render(spec, kind)
    except FieldError as error:
        yield _error("Extra", error.message, "/spec/extra", error.hint)


def _error(code: str, message: str, field: str, hint: str | None = None) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _warning(code: str, message: str, field: str, hint: str | None = None) -> Check:
    return Check(level="warning", code=code, message=message, field=field, hint=hint)
