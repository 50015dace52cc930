"""`Run`: one training with its hyperparameters, metrics, platform and data flow."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Mapping

from . import files
from .artifact import Artifact
from .asset import METADATA, Asset
from .hparams import Params
from .metric_files import MetricFile, file_name
from .process import facts
from .process.ranks import records
from .process.stdout import Tee

INDEX = "index.yaml"
HPARAMS = "hyperparameters.yaml"
PLATFORM = "platform.yaml"
GIT = "git.yaml"
LOG = "stdout.log"
METRICS = "metrics"
_MOST_OPEN = 64  # files of metrics; the script needs descriptors too

_HUB_KINDS = {"Model": "Model", "Dataset": "Dataset", "Branch": "branch", "Tag": "tag", "Commit": "commit"}
_JOB_LABELS = {"job": "T9KJOB_NAME", "job-uid": "T9KJOB_UID", "job-request": "T9KJOB_REQUEST"}

_open: set[Run] = set()  # runs of this process that have not ended


class Run(Asset):
    """One training.

    Do not create it yourself: use `create_run` or `load_run`. A run is a context manager that ends the run.

    Parameters
    ----------
    metadata
        Content of the file `metadata.yaml`.
    local
        The directory; None in a process that does not record, whose methods do nothing.
    hparams, metrics
        What the directory holds.
    upload_to
        Arguments of the upload when the run ends; None without one.
    """

    def __init__(
        self,
        metadata: dict[str, Any],
        local: str | None,
        hparams: Mapping[str, Any] | None = None,
        metrics: dict[str, str] | None = None,
        upload_to: dict[str, Any] | None = None,
    ) -> None:
        self._end: str | None
        super().__init__(metadata, local)
        self.hparams = Params(self._save_hparams, hparams)
        self._types = dict(metrics or {})
        self._upload_to = upload_to
        self._platform: dict[str, Any] = {}
        self._git: dict[str, Any] = {}
        self._writers: dict[str, MetricFile] = {}
        self._lock = threading.Lock()
        self._tee: Tee | None = None
        self.completes_at_exit = False
        self._ended = False
        self._lost = 0
        self._pid = os.getpid()

    @classmethod
    def create(
        cls,
        name: str,
        hparams: Mapping[str, Any] | None,
        labels: list[str] | None,
        description: str,
        upload_to: dict[str, Any] | None,
        all_ranks: bool,
    ) -> Run:
        """Create a run and its directory.

        Parameters
        ----------
        name, hparams, labels, description, all_ranks
            As in `create_run`.
        upload_to
            Arguments of the upload when the run ends; None without one.
        """
        alternative = files.alternative_name(files.check_name(name))
        metadata: dict[str, Any] = {
            "name": name,
            "labels": [*(str(label) for label in labels or []), *job_labels()],
            "description": description,
            "startTimestamp": files.now(),
            "endTimestamp": None,
            "status": "Running",
            "alternativeName": alternative,
            "associations": {"input": [], "output": []},
            "remote": [],
        }
        if not records(all_ranks):
            return cls(metadata, None, hparams)
        local = files.parent_directory(files.RUNS) / alternative
        run = cls(metadata, str(local), hparams, upload_to=upload_to)
        run._describe()
        files.make_directory(
            local,
            {
                METADATA: run.to_dict(),
                INDEX: run.index(),
                HPARAMS: run.hparams.as_dict(),
                PLATFORM: run.platform,
                GIT: run.git,
                LOG: b"",
                METRICS: None,
            },
        )
        run._begin()
        return run

    def resume(self) -> None:
        """Set a loaded run to Running again, in this process."""
        assert self._folder is not None  # noqa: S101
        self._status = "Running"
        self._end = None
        self._describe()
        files.write_yaml(self._folder / PLATFORM, self._platform)
        files.write_yaml(self._folder / GIT, self._git)
        self._save_metadata()
        self._begin()

    def _describe(self) -> None:
        self._platform, self._git = facts.platform_facts(), facts.git_facts()

    def _begin(self) -> None:
        assert self._folder is not None  # noqa: S101
        self._tee = Tee(self._folder / LOG)
        _open.add(self)

    @property
    def start_timestamp(self) -> str:
        """Time of the start, ISO 8601."""
        return self._start

    @property
    def end_timestamp(self) -> str | None:
        """Time of the end, ISO 8601; None while the run goes on."""
        return self._end

    @property
    def status(self) -> str:
        """`Running`, `Complete` or `Error`."""
        return self._status

    @property
    def associations(self) -> dict[str, list[dict[str, str]]]:
        """Inputs and outputs."""
        return self._associations

    asso = associations

    @property
    def metrics(self) -> dict[str, list[dict[str, Any]]]:
        """Metrics by type, read from the files."""
        from .load import read_metrics

        found = {}
        for kind, path in self._types.items() if self._folder is not None else ():
            items = read_metrics((self._folder / path).read_bytes()).items  # type: ignore[operator]
            found[kind] = [
                {
                    "value": item.value,
                    "sequence": {"epoch": item.epoch, "step": item.step, "timestamp": item.timestamp},
                }
                for item in items
            ]
        return found

    @property
    def platform(self) -> dict[str, Any]:
        """Machine and packages."""
        return self._platform

    @property
    def git(self) -> dict[str, Any]:
        """Repository and commit of the script."""
        return self._git

    @property
    def recording(self) -> bool:
        """True if this process records the run."""
        return self._folder is not None

    def log(self, type: str, metrics: Mapping[str, Any], step: int, epoch: float | None = None) -> None:  # noqa: A002
        """Record metrics.

        Parameters
        ----------
        type
            `train`, `val`, `test` or any other text.
        metrics
            Values by name; each is converted by `float`.
        step
            Number of the step.
        epoch
            Number of the epoch.
        """
        if self._folder is None:
            return
        with self._lock:
            try:
                (self._writers.get(type) or self._writer(type)).append(metrics, step, epoch)
            except OSError as problem:  # The training goes on.
                self._lost += 1
                if self._lost == 1:
                    warnings.warn(f"Metrics of the run {self._name} can't be written: {problem}", stacklevel=2)

    def _writer(self, kind: str) -> MetricFile:
        """Open the file of a type of metrics, and close that which was opened first of many; name it in the index."""
        assert self._folder is not None  # noqa: S101
        if len(self._writers) >= _MOST_OPEN:
            self._writers.pop(next(iter(self._writers))).close()
        kind = str(kind)
        path = f"{METRICS}/{file_name(kind)}"
        writer = self._writers[kind] = MetricFile(self._folder / path)
        if kind not in self._types:
            self._types[kind] = path
            files.write_yaml(self._folder / INDEX, self.index())
        return writer

    def mark_input(self, resource: Any) -> None:
        """Record an artifact, or an object of T9k's Asset Hub, as an input."""
        self._mark(resource, "input")

    def mark_output(self, resource: Any) -> None:
        """Record an artifact, or an object of T9k's Asset Hub, as an output."""
        self._mark(resource, "output")

    def _mark(self, resource: Any, role: str) -> None:
        kind = type(resource).__name__
        if isinstance(resource, Artifact):
            entry = {"kind": "Artifact", "name": resource.alternative_name, "localDir": resource.local or ""}
        elif kind in _HUB_KINDS and hasattr(resource, "id") and hasattr(resource, "path"):
            entry = {"kind": _HUB_KINDS[kind], "id": str(resource.id), "path": str(resource.path)}
        else:
            raise TypeError(f"{kind} can't be an input or output of a run.")
        if entry not in self._associations[role]:
            self._associations[role].append(entry)
            self._save_metadata()

    def finish(self) -> None:
        """End the run as Complete.

        Raises
        ------
        RuntimeError
            If this object's run has ended.
        """
        if self._ended:
            raise RuntimeError(f"The run {self._name} has ended.")
        self._end_as("Complete")
        if self._upload_to is not None and self.recording:
            self.upload(**self._upload_to)

    def _end_as(self, status: str) -> None:
        self._ended = True
        self._status, self._end = status, files.now()
        with self._lock:
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()
        self._save_metadata()
        if self._tee is not None:
            self._tee.close_copy()
        _open.discard(self)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is None or (isinstance(problem, SystemExit) and problem.code in (None, 0)):
            self.finish()
        else:
            self._end_as("Error")

    def upload(self, folder: str = "default", make_folder: bool = False, conflict_strategy: str = "new") -> None:
        """Upload the run and its artifacts.

        Parameters
        ----------
        folder, make_folder, conflict_strategy
            As in `em.upload`.
        """
        from .server.uploads import upload_run

        upload_run(self, self, folder, make_folder, conflict_strategy)

    def artifacts(self) -> list[tuple[Artifact, str]]:
        """Return the artifacts of the data flow with their roles, `input` or `output`.

        Raises
        ------
        FileNotFoundError
            If the directory of an artifact is gone.
        """
        assert self._folder is not None  # noqa: S101
        found = []
        for role in ("input", "output"):
            for entry in self._associations[role]:
                if entry["kind"] == "Artifact":
                    beside = self._folder.parent.parent / "artifacts" / entry["name"]
                    places = [Path(entry["localDir"]), beside] if entry["localDir"] else [beside]
                    place = next((place for place in places if place.is_dir()), None)
                    if place is None:
                        raise FileNotFoundError(f"The artifact {entry['name']} of the run {self._name} is gone.")
                    found.append((Artifact.load(str(place)), role))
        return found

    def index(self) -> dict[str, Any]:
        """Return the content of the file `index.yaml`."""
        return {
            "hyperparameters": HPARAMS,
            "metrics": self._types,
            "platform": PLATFORM,
            "git": GIT,
            "log": LOG,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file `metadata.yaml`."""
        return {
            "kind": "Run",
            "name": self._name,
            "labels": self._labels,
            "description": self._description,
            "startTimestamp": self._start,
            "endTimestamp": self._end,
            "status": self._status,
            "alternativeName": self._alternative_name,
            "associations": self._associations,
            "remote": self._remote,
        }

    def parse_from_dict(self, data: dict[str, Any]) -> None:
        """Take over the content of a file `metadata.yaml`."""
        super().parse_from_dict(data)
        self._start = str(data.get("startTimestamp"))
        end = data.get("endTimestamp")
        self._end = None if end is None else str(end)
        self._status = str(data.get("status"))
        associations = data.get("associations") or {}
        self._associations = {role: list(associations.get(role) or []) for role in ("input", "output")}

    def _save_hparams(self, values: dict[str, Any]) -> None:
        if self._folder is not None:
            files.write_yaml(self._folder / HPARAMS, values)


def job_labels() -> list[str]:
    """Return labels that name the job of this process; none outside of a job of JupyterLab."""
    return [f"{label}={os.environ[name]}" for label, name in _JOB_LABELS.items() if os.environ.get(name)]


@atexit.register
def _end_open() -> None:
    """End runs that their script did not end: those of `autolog` as the script ended, others as Error.

    A forked process does not end its parent's runs.
    """
    for run in [run for run in _open if run._pid == os.getpid()]:
        failed = not run.completes_at_exit or getattr(sys, "last_type", None) is not None
        run._end_as("Error" if failed else "Complete")
