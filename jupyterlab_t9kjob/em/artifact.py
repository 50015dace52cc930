"""`Artifact`: files that a run used or produced."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import Any

from . import files
from .asset import METADATA, Asset, read_metadata

REFERENCES = "references.yaml"


class Artifact(Asset):
    """Files and references that a run used or produced.

    Do not create it yourself: use `create_artifact` or `load_artifact`.

    Parameters
    ----------
    metadata
        Content of the file `metadata.yaml`.
    local
        The directory; None in a process that does not record.
    """

    def __init__(self, metadata: dict[str, Any], local: str | None) -> None:
        super().__init__(metadata, local)
        self._references: dict[str, str] = {}
        if self._folder is not None and (self._folder / REFERENCES).exists():
            from .load import read_mapping  # needs PyYAML

            self._references = read_mapping(self._folder / REFERENCES)

    @classmethod
    def create(cls, name: str, labels: list[str] | None, description: str, recording: bool) -> Artifact:
        """Create an artifact and its directory.

        Parameters
        ----------
        name, labels, description
            As in `create_artifact`.
        recording
            False in a process that does not record; its artifact has no directory.
        """
        alternative = files.alternative_name(files.check_name(name))
        metadata = {
            "name": name,
            "labels": [str(label) for label in labels or []],
            "description": description,
            "createdTimestamp": files.now(),
            "alternativeName": alternative,
            "remote": [],
        }
        if not recording:
            return cls(metadata, None)
        local = files.parent_directory(files.ARTIFACTS) / alternative
        files.make_directory(local, {METADATA: {"kind": "Artifact", **metadata}})
        return cls(metadata, str(local))

    @classmethod
    def load(cls, path: str) -> Artifact:
        """Return the artifact of a directory. Raises `FileNotFoundError` or `ValueError`."""
        return cls(read_metadata(path, "Artifact"), path)

    @property
    def created_timestamp(self) -> str:
        """Time of creation, ISO 8601."""
        return self._created

    @property
    def objects(self) -> dict[str, dict[str, Any]]:
        """Files with size and MD5 sum, and references, by their paths. The files are read each time."""
        found: dict[str, dict[str, Any]] = {}
        for path, file in self.walk():
            if path not in (METADATA, REFERENCES):
                found[path] = {"path": path, "size_bytes": file.stat().st_size, "checksum": _md5(file)}
        found.update({path: {"path": path, "uri": uri} for path, uri in self._references.items()})
        return found

    def walk(self) -> list[tuple[str, Path]]:
        """Return all files below the directory with their paths in the artifact."""
        return files.walk(self._folder) if self._folder is not None else []

    def add_file(self, file_path: str, obj_path: str | None = None) -> None:
        """Copy a file into the artifact.

        Parameters
        ----------
        file_path
            The file.
        obj_path
            Its path in the artifact; by default the file's name. If the path ends with a slash, the name is appended.
        """
        source = Path(file_path)
        if not source.is_file():
            raise FileNotFoundError(f"There is no file {file_path}.")
        path = object_path(source.name, obj_path)
        if path in self._references:
            raise ValueError(f"{path} is a reference in the artifact {self._name}.")
        if self._folder is not None:
            target = self._folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._folder.parent / f".{self._folder.name}.{os.getpid()}.copy"
            try:
                shutil.copyfile(str(source), str(temporary))
                temporary.replace(target)
            except BaseException:
                files.remove(temporary)
                raise

    def add_dir(self, dir_path: str, obj_path: str | None = None) -> None:
        """Copy a folder into the artifact. Links to folders are not followed.

        Parameters
        ----------
        dir_path
            The folder.
        obj_path
            Its path in the artifact; by default the folder's name. If the path ends with a slash, the name is appended.
        """
        folder = Path(dir_path)
        if not folder.is_dir():
            raise NotADirectoryError(f"There is no folder {dir_path}.")
        top = object_path(folder.absolute().name, obj_path)
        for path, file in files.walk(folder):
            if file.is_file():
                self.add_file(str(file), f"{top}/{path}")

    def add_reference(self, uri: str, obj_path: str | None = None) -> None:
        """Add the address of an object that is stored elsewhere.

        Parameters
        ----------
        uri
            The address.
        obj_path
            Its path in the artifact; by default the last part of the address. If the path ends with a slash, the last
            part is appended.
        """
        path = object_path(uri.rstrip("/").rsplit("/", 1)[-1], obj_path)
        if self._folder is None:
            return
        if (self._folder / path).exists():
            raise ValueError(f"{path} is a file in the artifact {self._name}.")
        self._references[path] = uri
        files.write_yaml(self._folder / REFERENCES, self._references)

    def upload(self, folder: str = "default", make_folder: bool = False, conflict_strategy: str = "new") -> None:
        """Upload the artifact.

        Parameters
        ----------
        folder, make_folder, conflict_strategy
            As in `em.upload`.
        """
        from .server.uploads import upload_artifact

        upload_artifact(self, folder, make_folder, conflict_strategy)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file `metadata.yaml`."""
        return {
            "kind": "Artifact",
            "name": self._name,
            "labels": self._labels,
            "description": self._description,
            "createdTimestamp": self._created,
            "alternativeName": self._alternative_name,
            "remote": self._remote,
        }

    def parse_from_dict(self, data: dict[str, Any]) -> None:
        """Take over the content of a file `metadata.yaml`."""
        super().parse_from_dict(data)
        self._created = str(data.get("createdTimestamp"))


def object_path(name: str, obj_path: str | None) -> str:
    """Return the path of an object in its artifact.

    Parameters
    ----------
    name
        Name of the file.
    obj_path
        The wanted path, or None. A path that ends with a slash is a folder.
    """
    wanted = name if obj_path is None else obj_path + name if obj_path.endswith("/") else obj_path
    path = PurePosixPath(wanted.lstrip("/"))
    if not path.parts or ".." in path.parts or str(path) in (METADATA, REFERENCES):
        raise ValueError(f"{wanted!r} can't be the path of an object in an artifact.")
    return str(path)


def _md5(file: Path) -> str:
    digest = hashlib.new("md5")  # noqa: S324 (T9k's format)
    with file.open("rb") as content:
        for chunk in iter(lambda: content.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()
