"""Base of runs and artifacts: name, labels, description and place on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import files

METADATA = "metadata.yaml"


class Asset:
    """A directory with a file `metadata.yaml`.

    Parameters
    ----------
    metadata
        Content of that file.
    local
        The directory; None in a process that does not record.
    """

    def __init__(self, metadata: dict[str, Any], local: str | None) -> None:
        self.parse_from_dict(metadata)
        self._local = local
        # The script may change its working directory.
        self._folder = Path(local).absolute() if local is not None else None

    @property
    def name(self) -> str:
        """Name."""
        return self._name

    @property
    def labels(self) -> list[str]:
        """Labels."""
        return self._labels

    @property
    def description(self) -> str:
        """Description."""
        return self._description

    @property
    def alternative_name(self) -> str:
        """Name of the directory: the name, the time of creation and random characters."""
        return self._alternative_name

    @property
    def remote(self) -> list[dict[str, str]]:
        """Uploads and downloads."""
        return self._remote

    @property
    def local(self) -> str | None:
        """The directory; None in a process that does not record."""
        return self._local

    def add_remote(self, entry: dict[str, str]) -> None:
        """Record an upload or download."""
        self._remote.append(entry)
        self._save_metadata()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file `metadata.yaml`."""
        raise NotImplementedError

    def parse_from_dict(self, data: dict[str, Any]) -> None:
        """Take over the content of a file `metadata.yaml`."""
        self._name = str(data["name"])
        self._labels = list(data.get("labels") or [])
        self._description = str(data.get("description") or "")
        self._alternative_name = str(data["alternativeName"])
        self._remote = list(data.get("remote") or [])

    def _save_metadata(self) -> None:
        if self._folder is not None:
            files.write_yaml(self._folder / METADATA, self.to_dict())


def read_metadata(path: str, kind: str) -> dict[str, Any]:
    """Return the metadata of a directory. The name of the directory is the alternative name.

    Parameters
    ----------
    path
        The directory.
    kind
        `Run` or `Artifact`.

    Raises
    ------
    OSError, ValueError
        If the file can't be read or belongs to something else.
    """
    from .load import read_mapping  # needs PyYAML

    metadata = read_mapping(Path(path) / METADATA)
    if metadata.get("kind") != kind:
        raise ValueError(f"{path} is not the directory of {'a run' if kind == 'Run' else 'an artifact'}.")
    return {"name": kind.lower(), **metadata, "alternativeName": Path(path).absolute().name}
