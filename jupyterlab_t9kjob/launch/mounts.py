"""Volumes of a job in a cluster: which it needs of the lab's, its paths as both sides see them, and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..core.checks import Check
from ..core.engine_info import Volume
from ..core.errors import FieldError
from ..core.lab import Lab, LabMount
from ..core.spec import JobSpec, Mount
from .checks import listed

MANY: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
ONE_POD: Final = "ReadWriteOncePod"
LISTED: Final = 10


# -- paths -------------------------------------------------------------------------------------------------------------


def placed(spec: JobSpec, path: Path, lab: Lab, namespace: str) -> tuple[JobSpec, str]:
    """Return a spec whose job sees a file of the lab, and where it sees it (blocking).

    Returns
    -------
    spec, path
        The spec with the mount that the file needs, if it lacked it; the lab's own path where no mount would help.
    """
    seen = lab.seen_by(path, spec.mounts, namespace)
    found = lab.in_job(path, namespace) if seen is None else None
    if found is not None and found[0].mount.mount_path not in {mount.mount_path for mount in spec.mounts}:
        spec, seen = spec.model_copy(update={"mounts": [*spec.mounts, found[0].mount]}), found[1]
    return spec, str(path if seen is None else seen)


def to_job(spec: JobSpec, lab: Lab, namespace: str) -> JobSpec:
    """Return a spec with paths of the lab as its job in a cluster has it: with the mounts it needs (blocking).

    Beside what its paths need it gets the lab's home, where ``pip install --user`` goes, and what the lab has mounted
    below either.
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
    """Return the spec of a job in a cluster with its paths as the lab sees them, where it does (blocking)."""

    def move(path: str) -> str:
        return str(lab.in_lab(path, spec.mounts, namespace) or path)

    return spec.model_copy(update=_moved(spec, move))


def _moved(spec: JobSpec, move: Callable[[str], str]) -> dict[str, object]:
    """Return the fields of a spec that hold paths, each path moved."""

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
    }


def outside(path: str, lab: Lab, namespace: str, mounts: Sequence[Mount], field: str) -> FieldError:
    """Return the refusal of a file of the lab that a job would not find, with what would help (blocking)."""
    found = lab.in_job(Path(path), namespace)
    if found is not None:
        mount, place = found
        there = next((other for other in mounts if other.mount_path == mount.mount.mount_path), None)
        message = f"{path} is on the PVC {mount.claim}, which the job does not have."
        hint = f"Mount the PVC {mount.claim} at {mount.mount_path}; the job then sees the file as {place}."
        if there is not None:
            hint = f"Mount the PVC {mount.claim} at {mount.mount_path} instead of {there.claim}."
        return FieldError(message, code="NotMounted", field=field, hint=hint)
    message = f"{path} is on no PVC, so a job in the cluster can't see it."
    usable = [mount for mount in lab.mounts if mount.namespace == namespace and not mount.read_only]
    if usable:
        hint = f"Copy it to a folder of {listed([_named(mount) for mount in usable[:LISTED]], 'or')}."
    elif lab.mounts:
        hint = f"None of JupyterLab's volumes is in the namespace {namespace}: choose another, or a PVC that is."
    else:
        hint = (
            "Choose the PVC that it lies on and give its path there, or have JupyterLab's configuration say where"
            " PVCs are mounted: T9kJobApp.kubernetes_volumes."
        )
    return FieldError(message, code="OutsideVolumes", field=field, hint=hint)


def _named(mount: LabMount) -> str:
    return f"{mount.lab_path} (PVC {mount.claim})"


# -- what is wrong -----------------------------------------------------------------------------------------------------


def unknown_claim(spec: JobSpec, namespace: str, volumes: Sequence[Volume]) -> FieldError | None:
    """Return the refusal of the first mount whose PVC is not there."""
    claims = {volume.claim for volume in volumes}
    for index, mount in enumerate(spec.mounts):
        if mount.claim not in claims:
            some = listed(sorted(claims)[:LISTED])
            return FieldError(
                f"There is no PVC {mount.claim} in the namespace {namespace}.",
                code="NoSuchVolume",
                field=f"/spec/mounts/{index}/claim",
                hint=f"There is: {some}." if some else "There is none in it; choose another namespace, or make one.",
            )
    return None


def mount_checks(spec: JobSpec, lab: Lab, namespace: str, volumes: Sequence[Volume]) -> Iterator[Check]:
    """Return what there is to say about a job's volumes.

    Parameters
    ----------
    volumes
        The namespace's; empty where nobody may list them.
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
            message = f"The PVC {mount.claim} has lost its volume."
            yield _warning("VolumeLost", message, field, "Ask whoever looks after the cluster's storage.")
        of_claim = modes.get(mount.claim, ())
        if not of_claim or MANY.intersection(of_claim):
            continue
        if ONE_POD in of_claim:
            if replicas > 1 or mount.claim in in_lab:
                message = f"The PVC {mount.claim} can be used by one pod at a time ({ONE_POD})."
                yield _warning("OnePodAtATime", message, field, "The others will wait; use a ReadWriteMany PVC.")
        elif replicas > 1:
            message = f"The PVC {mount.claim} can be mounted on one node at a time (ReadWriteOnce)."
            hint = f"Of the job's {replicas} replicas those on other nodes will wait; use a ReadWriteMany PVC."
            yield _warning("OneNodeAtATime", message, field, hint)
        elif mount.claim in in_lab:
            message = f"The PVC {mount.claim} can be mounted on one node at a time, and JupyterLab has it."
            hint = "The job will wait unless there is room on JupyterLab's own node."
            yield Check(level="hint", code="OneNodeAtATime", message=message, field=field, hint=hint)


def _warning(code: str, message: str, field: str, hint: str) -> Check:
    return Check(level="warning", code=code, message=message, field=field, hint=hint)
