"""Volumes of a job in a cluster: mounts that the job needs, paths in the lab and in the job, and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..core.checks import Check
from ..core.code.model import CodeSource, GitRepository
from ..core.engine.info import Volume
from ..core.errors import FieldError
from ..core.lab import Lab, LabMount
from ..core.spec import JobSpec, Mount
from ..core.translation import Text, _, alternatives, listing

MANY: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
ONE_POD: Final = "ReadWriteOncePod"
LISTED: Final = 10


# -- paths -------------------------------------------------------------------------------------------------------------


def placed(spec: JobSpec, path: Path, lab: Lab, namespace: str) -> tuple[JobSpec, str]:
    """Return a spec with the mount that a file of the lab needs, and the file's path in the job (blocking).

    Parameters
    ----------
    spec
        The job.
    path
        Path of the file in the lab.
    lab
        The lab, with its mounts.
    namespace
        The job's namespace.

    Returns
    -------
    spec, path
        The spec, with a mount added if the file needs one. The lab's own path if no mount makes the file visible.
    """
    seen = lab.seen_by(path, spec.mounts, namespace)
    found = lab.in_job(path, namespace) if seen is None else None
    if found is not None and found[0].mount.mount_path not in {mount.mount_path for mount in spec.mounts}:
        spec, seen = spec.model_copy(update={"mounts": [*spec.mounts, found[0].mount]}), found[1]
    return spec, str(path if seen is None else seen)


def to_job(spec: JobSpec, lab: Lab, namespace: str) -> JobSpec:
    """Return a spec with the lab's paths replaced by paths in the job, and with the mounts that they need (blocking).

    The job also mounts the lab's home, where ``pip install --user`` writes, and the lab's volumes that are mounted
    below any of these mounts.

    Parameters
    ----------
    spec
        A job with paths of the lab.
    lab
        The lab, with its mounts.
    namespace
        The job's namespace.
    """

    def move(path: str) -> str:
        nonlocal spec
        spec, seen = placed(spec, Path(path), lab, namespace)
        return seen

    fields = _moved(spec, move)
    if lab.home is not None:
        spec, _home = placed(spec, lab.home, lab, namespace)
    mounts = list(spec.mounts)
    for mount in lab.mounts:
        below = any(mount.mount_path.is_relative_to(other.mount_path) for other in mounts)
        taken = any(str(mount.mount_path) == other.mount_path for other in mounts)
        if mount.namespace == namespace and below and not taken:
            mounts.append(mount.mount)
    return spec.model_copy(update={**fields, "mounts": mounts})


def to_lab(spec: JobSpec, lab: Lab, namespace: str) -> JobSpec:
    """Return a spec with paths in the job replaced by the lab's paths, where the lab sees the files (blocking).

    Parameters
    ----------
    spec
        A job with paths in its pods.
    lab
        The lab, with its mounts.
    namespace
        The job's namespace.
    """

    def move(path: str) -> str:
        return str(lab.in_lab(path, spec.mounts, namespace) or path)

    return spec.model_copy(update=_moved(spec, move))


def _moved(spec: JobSpec, move: Callable[[str], str]) -> dict[str, object]:
    """Return the fields of a spec that hold paths, with `move` applied to each path."""

    def of_file(path: str, kind: str) -> str:
        return move(path) if kind in ("script", "notebook") and path.startswith("/") else path

    entrypoint = spec.entrypoint
    groups = [
        group
        if group.entrypoint is None
        else group.model_copy(
            update={
                "entrypoint": group.entrypoint.model_copy(
                    update={"value": of_file(group.entrypoint.value, group.entrypoint.kind)}
                )
            }
        )
        for group in spec.replica_specs
    ]
    board = spec.tensorboard
    return {
        "entrypoint": entrypoint.model_copy(update={"value": of_file(entrypoint.value, entrypoint.kind)}),
        "working_dir": move(spec.working_dir) if spec.working_dir else spec.working_dir,
        "replica_specs": groups,
        "tensorboard": board.model_copy(update={"log_dirs": [move(path) for path in board.log_dirs]}),
        "source": _moved_source(spec.source, move),
    }


def _moved_source(source: CodeSource | None, move: Callable[[str], str]) -> CodeSource | None:
    """Return a source whose folder is moved. A snapshot is taken anew; a commit stays."""
    if isinstance(source, GitRepository):
        worktree = move(source.worktree) if source.worktree else None
        return source.model_copy(update={"worktree": worktree, "path": None, "image": None, "secret": None})
    return source and source.model_copy(update={"folder": move(source.folder), "taken": None})


def outside(path: str, lab: Lab, namespace: str, mounts: Sequence[Mount], field: str) -> FieldError:
    """Return the error for a file of the lab that the job can't see, with a hint at a solution (blocking).

    Parameters
    ----------
    path
        Path of the file in the lab.
    lab
        The lab, with its mounts.
    namespace
        The job's namespace.
    mounts
        The job's mounts.
    field
        JSON pointer of the field that holds the path.
    """
    found = lab.in_job(Path(path), namespace)
    if found is not None:
        mount, place = found
        there = next((other for other in mounts if other.mount_path == mount.mount.mount_path), None)
        claim, mount_path = mount.claim, str(mount.mount_path)
        message = _("{path} is on the PVC {claim}, which the job does not mount.", path=path, claim=claim)
        if there is None:
            hint = _(
                "Mount the PVC {claim} at {mount_path}. The job then sees the file as {place}.",
                claim=claim,
                mount_path=mount_path,
                place=str(place),
            )
        else:
            hint = _(
                "Mount the PVC {claim} at {mount_path} instead of {other}.",
                claim=claim,
                mount_path=mount_path,
                other=there.claim,
            )
        return FieldError(message, code="NotMounted", field=field, hint=hint)
    message = _("{path} is on no PVC, so a job in the cluster can't see it.", path=path)
    usable = [mount for mount in lab.mounts if mount.namespace == namespace and not mount.read_only]
    if usable:
        folders = alternatives([_named(mount) for mount in usable[:LISTED]])
        hint = _("Copy the file to a folder of {folders}.", folders=folders)
    elif lab.mounts:
        hint = _(
            "JupyterLab has no volume of the namespace {namespace}. Choose another namespace, or a PVC of this one.",
            namespace=namespace,
        )
    else:
        hint = _(
            "Choose the PVC that holds the file and enter its path there, or configure where JupyterLab has PVCs"
            " mounted: T9kJobApp.kubernetes_volumes."
        )
    return FieldError(message, code="OutsideVolumes", field=field, hint=hint)


def _named(mount: LabMount) -> Text:
    return _("{path} (PVC {claim})", path=str(mount.lab_path), claim=mount.claim)


# -- checks ------------------------------------------------------------------------------------------------------------


def unknown_claim(spec: JobSpec, namespace: str, volumes: Sequence[Volume]) -> FieldError | None:
    """Return the error for the first mount whose PVC does not exist; None if all exist.

    Parameters
    ----------
    spec
        The job.
    namespace
        The job's namespace.
    volumes
        PVCs of the namespace.
    """
    claims = {volume.claim for volume in volumes}
    for index, mount in enumerate(spec.mounts):
        if mount.claim not in claims:
            return FieldError(
                _("There is no PVC {claim} in the namespace {namespace}.", claim=mount.claim, namespace=namespace),
                code="NoSuchVolume",
                field=f"/spec/mounts/{index}/claim",
                hint=_("PVCs of this namespace: {claims}.", claims=listing(sorted(claims), LISTED))
                if claims
                else _("The namespace has no PVC. Choose another namespace, or create a PVC."),
            )
    return None


def mount_checks(spec: JobSpec, lab: Lab, namespace: str, volumes: Sequence[Volume]) -> Iterator[Check]:
    """Yield warnings and hints about the volumes of a job.

    Parameters
    ----------
    spec
        The job.
    lab
        The lab, whose own mounts matter for volumes that one node can mount.
    namespace
        The job's namespace.
    volumes
        PVCs of the namespace; empty if the account may not list them.
    """
    modes = {mount.claim: tuple(mount.access_modes) for mount in lab.mounts if mount.namespace == namespace}
    in_lab = frozenset(modes)
    modes |= {volume.claim: tuple(volume.access_modes) for volume in volumes}
    phases = {volume.claim: volume.phase for volume in volumes}
    replicas = max(spec.total_replicas, spec.elastic.max if spec.elastic else 0)
    said: set[str] = set()
    for index, mount in enumerate(spec.mounts):
        if mount.claim in said:
            continue
        said.add(mount.claim)
        field = f"/spec/mounts/{index}/claim"
        if phases.get(mount.claim) == "Lost":
            message = _("The PVC {claim} has lost its volume.", claim=mount.claim)
            yield _warning("VolumeLost", message, field, _("Ask the administrator of the cluster's storage."))
        of_claim = modes.get(mount.claim, ())
        if not of_claim or MANY.intersection(of_claim):
            continue
        if ONE_POD in of_claim:
            if replicas > 1 or mount.claim in in_lab:
                message = _(
                    "The PVC {claim} can be used by one pod at a time ({mode}).", claim=mount.claim, mode=ONE_POD
                )
                hint = _("The other pods will wait. Use a ReadWriteMany PVC.")
                yield _warning("OnePodAtATime", message, field, hint)
        elif replicas > 1:
            message = _("The PVC {claim} can be mounted on one node at a time (ReadWriteOnce).", claim=mount.claim)
            hint = _(
                "Those of the job's {replicas} replicas that are on other nodes will wait. Use a ReadWriteMany PVC.",
                replicas=replicas,
            )
            yield _warning("OneNodeAtATime", message, field, hint)
        elif mount.claim in in_lab:
            message = _(
                "The PVC {claim} can be mounted on one node at a time, and JupyterLab has mounted it.",
                claim=mount.claim,
            )
            hint = _("The job will wait unless JupyterLab's own node has room for it.")
            yield Check(level="hint", code="OneNodeAtATime", message=message, field=field, hint=hint)


def _warning(code: str, message: Text, field: str, hint: Text) -> Check:
    return Check(level="warning", code=code, message=message, field=field, hint=hint)
