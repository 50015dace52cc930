"""Problems of a spec on a manifest kind, each with its field: `problems`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from ..checks import Check
from ..errors import FieldError
from ..evictions.model import CONTINUES, continues_of
from ..features import nested_launchers, unsupported
from ..lab import on_volume
from ..running.source import PYTHON_PATH, running
from ..spec import MAX_CONFIG_BYTES, JobSpec
from ..sweep import member_of
from ..texts.quantity import amount
from ..translation import Text, _, sentences
from .convert import overridden, render
from .diagnostics import diagnosed, hook_folder
from .entrypoints import log_directory
from .kinds.formats import outside_bounds
from .kinds.pod_template import volume_names
from .leaks import leaks, variables_of
from .model import Kind
from .names import ENV_POD, ENV_POD_UID, PREFIX, SHM, SHM_PATH
from .registry import KINDS, patched

_OURS: Final = (
    "--nnodes",
    "--nproc",
    "--rdzv-backend",
    "--rdzv-endpoint",
    "--rdzv-id",
    "--max-restarts",
    "--standalone",
    "--node-rank",
    "--no-python",
)
"""Options of torchrun that each job sets itself."""
_ABOVE_LIMIT: Final = {
    "cpu": _("The request for cpu is above its limit."),
    "memory": _("The request for memory is above its limit."),
}
_LOG_OPTIONS: Final = ("--log-dir", "--tee", "-t", "--redirects", "-r")


def problems(spec: JobSpec, kind: Kind, *, dialect: Any = None) -> list[Check]:
    """Return the problems of a spec on a kind, errors first. No cluster is asked.

    Parameters
    ----------
    spec
        A job from a form or a manifest.
    kind
        The manifest kind.
    dialect
        The cluster's dialect of the kind, which may lack some fields; None for the usual one.
    """
    form = KINDS[kind]
    dialect = form.usual if dialect is None else dialect
    order = {"error": 0, "warning": 1, "hint": 2, "passed": 3}
    checks = [
        *unsupported(spec, form.capabilities),
        *nested_launchers(spec),
        *form.problems(spec, dialect),
        *form.unsayable(patched(form, spec), spec, dialect),
        *_metadata(spec),
        *_programs(spec, kind),
        *_sizes(spec),
        *_volumes(spec),
        *_config_files(spec),
        *_diagnostics(spec),
        *_security(spec),
        *_extra(spec, kind),
        *leaks(spec),
    ]
    return sorted(checks, key=lambda check: order[check.level])


def _metadata(spec: JobSpec) -> Iterator[Check]:
    for field, names in (("labels", spec.labels), ("annotations", spec.annotations)):
        for name in names:
            if name.startswith(PREFIX) and (field == "labels" or not _is_fact(name, spec.annotations[name])):
                pointer = f"/spec/{field}/{name.replace('~', '~0').replace('/', '~1')}"
                message = _("Names that begin with {prefix} are ours.", prefix=PREFIX)
                yield _error("Reserved", message, pointer, _("Choose another."))


def _is_fact(name: str, annotation: str) -> bool:
    """Return True for an annotation by which this server marks the jobs that it creates together or one by one."""
    return member_of({name: annotation}) is not None or (name == CONTINUES and continues_of(annotation) is not None)


def _programs(spec: JobSpec, kind: Kind) -> Iterator[Check]:
    for index, group in enumerate(spec.replica_specs):
        if KINDS[kind].needs_image and not (group.runtime or spec.runtime).image:
            field = f"/spec/replica_specs/{index}/runtime/image" if group.runtime else "/spec/runtime/image"
            message = _("A job in a cluster needs an image.")
            yield _error("NoImage", message, field, _("Choose one that has the PyTorch that the script needs."))
        if group.entrypoint is not None and group.entrypoint.kind == "notebook":
            field = f"/spec/replica_specs/{index}/entrypoint/value"
            message = _("Only the job's own entrypoint can be a notebook, not that of one replica type.")
            yield _error("NotebookOfOneType", message, field, _("Save the notebook as a script."))
    for index, option in enumerate(spec.torchrun.extra_options if spec.torchrun else []):
        name = option.split("=", 1)[0].replace("_", "-")
        ours = name.startswith((*_OURS, *KINDS[kind].own_options))
        if ours or (spec.keep_logs and name in _LOG_OPTIONS):
            message = _("The option {option} of torchrun is set by the job itself.", option=name)
            hint = sentences(
                _("Remove it from the extra options."), None if ours else _("Or switch off that the logs are kept.")
            )
            yield _error("OwnOption", message, f"/spec/torchrun/extra_options/{index}", hint)
    for field, variable in variables_of(spec):
        if variable.name in (ENV_POD, ENV_POD_UID):
            message = _("{name} is set by the job itself: it leads to the logs.", name=variable.name)
            yield _error("Reserved", message, f"{field}/name", _("Choose another name."))


def _sizes(spec: JobSpec) -> Iterator[Check]:
    torchrun, elastic = spec.torchrun, spec.elastic
    for index, group in enumerate(spec.replica_specs):
        field = f"/spec/replica_specs/{index}/resources"
        device = group.resources.device
        if torchrun and torchrun.proc_per_node == "gpu" and not (device and device.count):
            message = _("One process per GPU was asked for, and no GPUs.")
            yield _error("NoDevicesAsked", message, f"{field}/device", _("Set how many GPUs the job needs."))
        for name in ("cpu", "memory"):
            quantity = getattr(group.resources, name)
            for bound in ("request", "limit"):
                text = getattr(quantity, bound)
                if text is not None and amount(text) is None:
                    message, hint = _("“{text}” is no quantity.", text=text[:40]), _("Write it like 4, 500m or 16Gi.")
                    yield _error("BadQuantity", message, f"{field}/{name}/{bound}", hint)
            least, most = amount(quantity.request), amount(quantity.limit)
            if least is not None and most is not None and least > most:
                hint = _("Ask for {limit}.", limit=quantity.limit)
                yield _error("RequestAboveLimit", _ABOVE_LIMIT[name], f"{field}/{name}/request", hint)
        shm, memory = amount(spec.shm.size_limit) if spec.shm else None, amount(group.resources.memory.limit)
        if shm is not None and memory is not None and shm > memory:
            message = _("{path} may grow beyond the memory limit, which it counts against.", path=SHM_PATH)
            yield _warning("ShmAboveMemory", message, "/spec/shm/size_limit", _("Raise the memory limit, or lower it."))
    if spec.shm and spec.shm.size_limit is not None and amount(spec.shm.size_limit) is None:
        message = _("“{text}” is no quantity.", text=spec.shm.size_limit[:40])
        yield _error("BadQuantity", message, "/spec/shm/size_limit", _("Write it like 8Gi."))
    if elastic is None:
        return
    replicas = spec.initial_replicas
    if elastic.min > elastic.max:
        message = _("The least number of replicas is above the largest.")
        yield _error("ElasticBounds", message, "/spec/elastic/min", _("Set {most} or less.", most=elastic.max))
    elif not elastic.min <= replicas <= elastic.max:
        field = "/spec/elastic/expected" if elastic.expected else "/spec/replica_specs/0/replicas"
        yield outside_bounds(replicas, elastic, field)


def _volumes(spec: JobSpec) -> Iterator[Check]:
    shm = (spec.shm and spec.shm.volume) or SHM
    seen: dict[str, str] = {}
    claims: dict[str, str] = {shm: ""} if spec.shm else {}
    for index, (mount, name) in enumerate(zip(spec.mounts, volume_names(spec.mounts, shm), strict=True)):
        field, path = f"/spec/mounts/{index}", str(PurePosixPath(mount.mount_path))
        if not mount.mount_path.startswith("/") or ":" in mount.mount_path:
            yield _error("NotAbsolute", _("A mount path is absolute, and has no colon."), f"{field}/mount_path")
        if mount.sub_path and (mount.sub_path.startswith("/") or ".." in mount.sub_path.split("/")):
            message = _("A folder of a volume is named from its root, without .. in it.")
            yield _error("BadSubPath", message, f"{field}/sub_path")
        if path in seen or (path == SHM_PATH and spec.shm):
            message = _("{path} is where the memory volume is mounted already.", path=path)
            if claim := seen.get(path):
                message = _("{path} is where {claim} is mounted already.", path=path, claim=claim)
            yield _error("MountedTwice", message, f"{field}/mount_path", _("Choose another path."))
        if claims.setdefault(name, mount.claim) != mount.claim:
            message = _("Two volumes are called {name}.", name=name)
            yield _error("VolumeTwice", message, f"{field}/volume", _("Choose another name."))
        seen[path] = mount.claim
    if spec.tensorboard.cluster is not None:
        for path in spec.tensorboard.log_dirs or filter(None, [log_directory(spec)]):
            if on_volume(path, spec.mounts) is None:
                message = _("{path} is on no volume of the job, so the cluster's TensorBoard can't see it.", path=path)
                hint = _("Choose a folder below one of the mounts.")
                yield _warning("LogDirectoryNotMounted", message, "/spec/tensorboard/log_dirs", hint)


def _config_files(spec: JobSpec) -> Iterator[Check]:
    seen = {str(PurePosixPath(mount.mount_path)) for mount in spec.mounts}
    left = MAX_CONFIG_BYTES
    for index, file in enumerate(spec.config_files):
        field, path = f"/spec/config_files/{index}", str(PurePosixPath(file.path))
        if not file.path.startswith("/") or ":" in file.path or file.path.endswith("/"):
            message = _("The path of a config file is absolute, names a file, and has no colon.")
            yield _error("NotAbsolute", message, f"{field}/path", _("Write it like {path}.", path="/etc/nccl.conf"))
        if path in seen:
            message = _("Something else is at {path} already.", path=path)
            yield _error("MountedTwice", message, f"{field}/path", _("Choose another path."))
        seen.add(path)
        left -= len(file.text.encode())
        if left < 0:
            message = _("The config files are larger than {size} KiB together.", size=MAX_CONFIG_BYTES // 1024)
            yield _error("ConfigTooLarge", message, f"{field}/text", _("Put large files on a volume of the job."))
            return


def _diagnostics(spec: JobSpec) -> Iterator[Check]:
    if not spec.diagnostics.any:
        return
    field = "/spec/diagnostics"
    if hook_folder(spec) is None:
        message = _("Diagnostics need a volume that the job can write.")
        yield _error("NoVolume", message, field, _("Mount a volume, or switch the diagnostics off."))
    for place, variable in variables_of(spec):
        if variable.name == PYTHON_PATH and variable.secret is not None:
            message = _("Diagnostics can't be added to a {name} from a Secret.", name=PYTHON_PATH)
            yield _error("PathFromSecret", message, place, _("Give its value, or switch the diagnostics off."))


def _security(spec: JobSpec) -> Iterator[Check]:
    if not spec.security.restricted:
        return
    if spec.security.uid == 0:
        message = _("The restricted standard does not let pods run as user 0 (root).")
        yield _error("RunsAsRoot", message, "/spec/security/uid", _("Enter the id of another user."))
    elif spec.security.uid is None:
        message = _(
            "Pods that fit the restricted standard start only if their image names a user other than root by id."
        )
        hint = _("Enter the id of a user if you don't know the image's.")
        yield _warning("UserOfImage", message, "/spec/security/uid", hint)


def _extra(spec: JobSpec, kind: Kind) -> Iterator[Check]:
    """Check that the extra content changes neither kind nor name of the job, and that `render` accepts it."""
    form = KINDS[kind]
    changed = patched(form, diagnosed(running(spec)))
    metadata = changed.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if (changed.get("apiVersion"), changed.get("kind"), name) != (form.api_version, form.kind, spec.name):
        message = _("The extra content changes the kind or the name of the job.")
        yield _error("Extra", message, "/spec/extra", _("Remove apiVersion, kind and metadata.name from it."))
        return
    try:
        render(spec, kind)
    except FieldError as error:
        yield Check(level="error", code="Extra", message=error.message, field="/spec/extra", hint=error.hint)
        return
    for field in overridden(spec, kind) if spec.extra else []:
        message = _("Without effect: the extra content sets this in the manifest.")
        yield _warning("Overridden", message, field, _("Remove it from the extra content."))


def _error(code: str, message: Text, field: str, hint: Text | None = None) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _warning(code: str, message: Text, field: str, hint: Text | None = None) -> Check:
    return Check(level="warning", code=code, message=message, field=field, hint=hint)
