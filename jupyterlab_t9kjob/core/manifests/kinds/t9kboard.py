"""Converts ``tensorboardSpec`` of a PyTorchTrainingJob, the TensorBoard that T9k runs (t9k-facts.md, Spec)."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import Any

from ...lab import on_volume
from ...spec import ClusterTensorBoard, JobSpec, Mount
from ..entrypoints import log_directory
from .pod_template import build_resources, canonical_resources, compact
from .template_reader import read_resources


def build_tensorboard(spec: JobSpec) -> dict[str, Any] | None:
    """Return the ``tensorboardSpec`` of a job; None if the job requests no TensorBoard in the cluster."""
    board = spec.tensorboard.cluster
    if board is None:
        return None
    claims: dict[str, list[str]] = {}
    for path in spec.tensorboard.log_dirs or filter(None, [log_directory(spec)]):
        if found := on_volume(path, spec.mounts):
            claims.setdefault(found[0], []).append(str(found[1]))
    volumes = [{"name": claim, "subPath": paths} for claim, paths in claims.items()]
    return {
        **compact({"image": board.image, "resources": build_resources(board.resources)}),
        **compact({"logDir": compact({"pvc": volumes})}),
    }


def canonical_tensorboard(board: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a ``tensorboardSpec`` with paths and quantities in canonical form."""
    if board is None:
        return None
    source = board.get("logDir", {})
    volumes = [
        compact({**volume, "subPath": [_canonical_path(path) for path in volume.get("subPath", [])]})
        for volume in source.get("pvc", [])
    ]
    resources = canonical_resources(board.get("resources", {}))
    return {
        **{key: value for key, value in board.items() if key not in ("logDir", "resources")},
        **compact({"resources": resources, "logDir": compact({**source, "pvc": volumes})}),
    }


def _canonical_path(path: str) -> str:
    return posixpath.normpath(path.lstrip("/") or ".")


def read_tensorboard(board: dict[str, Any], mounts: list[Mount]) -> dict[str, Any]:
    """Return `JobSpec.tensorboard` as fields; its log directories are empty if the job does not see all of them.

    Parameters
    ----------
    board
        A canonical ``tensorboardSpec``.
    mounts
        The job's mounts.
    """
    paths = [
        _in_job(volume.get("name", ""), path, mounts)
        for volume in board.get("logDir", {}).get("pvc", [])
        for path in volume.get("subPath", [])
    ]
    known = [path for path in paths if path is not None]
    cluster = ClusterTensorBoard(image=board.get("image"), resources=read_resources(board.get("resources", {})))
    return {"log_dirs": known if len(known) == len(paths) else [], "cluster": cluster}


def _in_job(claim: str, path: str, mounts: list[Mount]) -> str | None:
    """Return the path in the job of a path on a PVC; None if the job does not mount it."""
    for mount in mounts:
        root = (mount.sub_path or "").lstrip("/")
        if mount.claim == claim and PurePosixPath(path).is_relative_to(root):
            return str(PurePosixPath(mount.mount_path) / PurePosixPath(path).relative_to(root))
    return None
