"""Volumes of a lab that runs outside a pod, from the trait ``kubernetes_volumes``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError, field_validator

from ....core.lab import LabMount
from ....core.spec import Model, Namespace, PathText

ClaimName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$")]


class LabVolume(Model):
    """One entry of the trait ``kubernetes_volumes``.

    Attributes
    ----------
    claim, namespace
        Name and namespace of the PVC; an empty namespace is the connection's own.
    sub_path
        Folder of the PVC that the lab sees; null for its root.
    lab_path
        Path at which the lab sees the PVC.
    mount_path
        Path at which jobs mount the PVC; null for `lab_path`.
    read_only
        True if jobs may only read the PVC.
    """

    claim: ClaimName
    namespace: Namespace = ""
    sub_path: PathText | None = None
    lab_path: PathText
    mount_path: PathText | None = None
    read_only: bool = False

    @field_validator("lab_path")
    @classmethod
    def _lab_path_is_absolute(cls, value: str) -> str:
        path = Path(value).expanduser()
        if not path.is_absolute():
            raise ValueError("must be an absolute path")
        return str(path)

    @field_validator("mount_path")
    @classmethod
    def _mount_path_is_absolute(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("/") or ":" in value):
            raise ValueError("must be an absolute path without a colon")
        return value

    @field_validator("sub_path")
    @classmethod
    def _sub_path_is_below_the_root(cls, value: str | None) -> str | None:
        if value is not None and (value.startswith("/") or ".." in value.split("/")):
            raise ValueError("must be named from the PVC's root, without ..")
        return value or None


def lab_mounts(entries: Sequence[Any], namespace: str) -> tuple[LabMount, ...]:
    """Return the mounts that the entries of the trait describe.

    Parameters
    ----------
    entries
        Objects with the fields of `LabVolume`.
    namespace
        Namespace of the entries that name none.

    Raises
    ------
    ValueError
        If an entry is wrong; the message names the entry and its field.
    """
    found = []
    for index, entry in enumerate(entries):
        try:
            volume = LabVolume.model_validate(entry, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f".{part}" for part in first["loc"])
            message = f"kubernetes_volumes[{index}]{where}: {first['msg'].removeprefix('Value error, ')}"
            raise ValueError(message) from None
        found.append(
            LabMount(
                claim=volume.claim,
                namespace=volume.namespace or namespace,
                lab_path=Path(volume.lab_path),
                mount_path=PurePosixPath(volume.mount_path or PurePosixPath(Path(volume.lab_path).as_posix())),
                sub_path=volume.sub_path,
                read_only=volume.read_only,
            )
        )
    return tuple(found)
