"""Reads specifications from jobs' objects and finds the jobs' files in the lab; this is slow and runs in threads."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ....core.lab import Lab
from ....core.manifests import ManifestError, parse, rank_logs
from ....core.manifests.entrypoints import working_directory
from ....core.spec import JobSpec
from ....core.system.disk_threads import DiskSilent, real_path
from ....core.translation import Text
from ..client.api import Json
from ..objects.compressed import Held, Packed, Packer
from ..scheduling.job_size import Size, size_of

_SPECS: Final = Packer[JobSpec]()

ContentsPath = Callable[[Path], "str | None"]
"""Returns the contents API's path of a file; None if the file is not below the contents root."""


@dataclass(frozen=True)
class Paths:
    """A job's files as the lab sees them; a path that the lab does not see is None.

    Attributes
    ----------
    entrypoint, working_dir
        Contents API paths.
    log_dirs
        TensorBoard log directories that the lab sees: path on disk and contents API path.
    ranks
        Folder that has a folder with the ranks' log files for each pod.
    frames
        Contents API paths of the files in the failure's traceback, by their names there.
    """

    entrypoint: str | None = None
    working_dir: str | None = None
    log_dirs: tuple[tuple[Path, str | None], ...] = ()
    ranks: Path | None = None
    frames: Mapping[str, str | None] = field(default_factory=dict)


NOWHERE: Final = Paths()


@dataclass(frozen=True)
class Reading:
    """Facts that were read from a job's object; see the attributes of `TrackedJob`."""

    spec: Packed[JobSpec] | None = None
    size: Size | None = None
    problem: Text | None = None
    paths: Paths = NOWHERE


@dataclass(frozen=True)
class Unread:
    """Parts of a job that are still to be read; they don't change, so any thread may read them.

    Attributes
    ----------
    manifest
        The job's object.
    namespace
        The job's namespace.
    files
        Names of the files in the traceback of the job's failure.
    """

    manifest: Held[Json]
    namespace: str
    files: frozenset[str]

    def read(self, lab: Lab | None, contents: ContentsPath) -> Reading:
        """Read the job's specification, and find its files in the lab (blocking).

        Parameters
        ----------
        lab
            The lab; None if it is not known yet.
        contents
            Returns the contents API's path of a file.
        """
        try:
            # A pause belongs to the state of this job; a clone or a repetition of the job starts.
            spec = parse(self.manifest.value).spec.model_copy(update={"paused": False})
        except ManifestError as error:
            return Reading(problem=error.message)
        try:
            paths = NOWHERE if lab is None else _paths(spec, lab, self.namespace, contents, self.files)
        except DiskSilent:
            paths = NOWHERE
        return Reading(_SPECS.pack(spec), size_of(spec), None, paths)


def _paths(spec: JobSpec, lab: Lab, namespace: str, contents: ContentsPath, files: Iterable[str]) -> Paths:
    def here(path: str | None) -> Path | None:
        return lab.in_lab(path, spec.mounts, namespace) if path else None

    def contents_of(path: str | None) -> str | None:
        file = here(path)
        return contents(file) if file is not None else None

    in_file = spec.entrypoint.kind in ("script", "notebook")
    log_dirs = [directory for path in spec.tensorboard.log_dirs if (directory := here(path)) is not None]
    cwd = working_directory(spec) or "/"
    return Paths(
        entrypoint=contents_of(spec.entrypoint.value) if in_file else None,
        working_dir=contents_of(spec.working_dir),
        log_dirs=tuple((directory, contents(directory)) for directory in log_dirs),
        ranks=here(rank_logs(spec)),
        frames={file: contents_of(posixpath.join(cwd, file)) for file in files},
    )


def contents_path(folder: Path) -> ContentsPath:
    """Return a function that returns the contents API's path of a file; links are followed.

    Parameters
    ----------
    folder
        The contents root.
    """
    roots = tuple(dict.fromkeys((folder, Path(os.path.realpath(folder)))))

    def below(path: Path) -> str | None:
        for root in roots:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix().removeprefix(".")
        return None

    def name(path: Path) -> str | None:
        shown = below(path)
        return shown if shown is not None else below(Path(real_path(str(path))))

    return name
