"""The lab's volumes as an administrator describes them, for a lab that is no pod."""

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
        The PVC; an empty namespace is the connection's own.
    sub_path
        The folder of it that the lab sees; null for its root.
    lab_path
        Where the lab sees it.
    mount_path
        Where jobs get it; null for the same path.
    read_only
        Whether jobs may only read it.
    """

    claim: ClaimName
    namespace: Namespace = ""
    sub_path: PathText | None = None
    lab_path: PathText
    mount_path: PathText | None = None
    read_only: bool = False

    @field_validator("lab_path")
    @classmethod
    def _a_place_here(cls, value: str) -> str:
        path = Path(value).expanduser()
        if not path.is_absolute():
            raise ValueError("must be an absolute path")
        return str(path)

    @field_validator("mount_path")
    @classmethod
    def _a_place_there(cls, value: str | None) -> str | None:
        if value is not None and (not value.startswith("/") or ":" in value):
            raise ValueError("must be an absolute path without a colon")
        return value

    @field_validator("sub_path")
    @classmethod
    def _below_the_root(cls, value: str | None) -> str | None:
        if value is not None and (value.startswith("/") or ".." in value.split("/")):
            raise ValueError("must be named from the PVC's root, without ..")
        return value or None


def lab_mounts(entries: Sequence[Any], namespace: str) -> tuple[LabMount, ...]:
    """Return the volumes that an administrator describes.

    Parameters
    ----------
    entries
        Objects with the fields of `LabVolume`.
    namespace
        For those that name none.

    Raises
    ------
    ValueError
        If one is wrong; the text names the entry and its field.
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
