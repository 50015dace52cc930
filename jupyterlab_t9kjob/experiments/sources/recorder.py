"""Reads runs of the recorder `jupyterlab_t9kjob.em` and of T9k's SDK (t9k-facts.md, Recorder: files)."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..facts import Chunk, Facts, MetricLog, is_folder, read_part, wanted_parts
from ..model import Origin
from ..series import BOUNDED_BYTES, NOWHERE, PART_BYTES, Part, Series
from . import yaml_files
from .metric_file import Batch, read_batch
from .yaml_files import NotReadable, plain, read_mapping, seconds, text

METADATA: Final = "metadata.yaml"
METRICS: Final = "metrics"
ALTERNATIVE_NAME: Final = re.compile(r"_\d{6}_\d{6}_([a-z0-9]{6})\Z")
LONGEST_LABEL: Final = 10_000

_FILES: Final = (METADATA, "index.yaml", "hyperparameters.yaml", "platform.yaml", "git.yaml")
_OF_RUNS: Final = frozenset({METRICS, "index.yaml", "hyperparameters.yaml"})
"""Names of which the folder of a run has at least one, and that of an artifact usually none."""
_KIND: Final = re.compile(rb"^kind:[ \t]*['\"]?(\w+)", re.MULTILINE)
_HEAD_BYTES: Final = 4096
_MOST_FILES: Final = 1000
"""Number of types of metrics that are read, the first by name."""
_MOST_PART: Final = 64 * 1024 * 1024
"""Largest size of one item of a metrics file."""


class RecorderSource:
    """Runs of the recorder."""

    origin: Origin = "recorder"
    closed = True

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return True if a folder is a run: it has the files of a run, and `metadata.yaml` says so.

        Other programs have files of these names too. A file that says nothing, such as one that is just being
        rewritten, is that of a run if the folder has the name of one.

        The parameters are those of `experiments.facts.Source.is_run`.
        """
        if METADATA not in names or names.isdisjoint(_OF_RUNS):
            return False
        try:
            said = _KIND.search(read_part(folder / METADATA, 0, _HEAD_BYTES))
        except OSError:
            said = None
        return said[1] == b"Run" if said else ALTERNATIVE_NAME.search(folder.name) is not None

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return all names."""
        return names

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return modification time and size of the files that are read."""
        found: dict[str, tuple[int, int]] = {}
        for name in _FILES:
            try:
                status = (folder / name).lstat()
            except OSError:
                continue
            found[name] = status.st_mtime_ns, status.st_size
        for entry in _metric_files(folder)[:_MOST_FILES]:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found[f"{METRICS}/{entry.name}"] = status.st_mtime_ns, status.st_size
        return found

    def facts(self, folder: Path) -> Facts:
        """Read the files except the metrics. Only `metadata.yaml` must be readable."""
        metadata = read_mapping(folder / METADATA)
        if not metadata:
            raise NotReadable(f"{METADATA} is empty")
        if metadata.get("kind", "Run") != "Run":
            raise NotReadable(f"{METADATA} describes no run")
        named = ALTERNATIVE_NAME.search(folder.name)
        facts = Facts(
            origin=self.origin,
            name=text(metadata.get("name") or folder.name),
            suffix=named[1] if named else "",
            status=text(metadata.get("status") or ""),
            started=seconds(metadata.get("startTimestamp")),
            ended=seconds(metadata.get("endTimestamp")),
            description=text(metadata.get("description") or "", LONGEST_LABEL),
            labels=[text(label, LONGEST_LABEL) for label in _listed(metadata.get("labels"))],
            associations=_associations(metadata.get("associations")),
            partial=len(_metric_files(folder)) > _MOST_FILES,
        )
        facts.parameters = yaml_files.flat(self._mapping(folder, "hyperparameters.yaml", facts))
        platform = self._mapping(folder, "platform.yaml", facts)
        packages = platform.pop("pypkgs", None)
        facts.packages = {text(k): text(v) for k, v in packages.items()} if isinstance(packages, dict) else {}
        facts.git = {text(k): plain(v, 1000) for k, v in self._mapping(folder, "git.yaml", facts).items()}
        facts.environment = {text(k): plain(v) for k, v in platform.items() if v is not None}
        for name, key in (("commit", "commit"), ("branch", "branch"), ("dirty", "is_dirty")):
            if facts.git.get(key) is not None:
                facts.environment[name] = facts.git[key]
        if "torch" in facts.packages:
            facts.environment["torch"] = facts.packages["torch"]
        return facts

    @staticmethod
    def _mapping(folder: Path, name: str, facts: Facts) -> dict[str, Any]:
        try:
            return read_mapping(folder / name)
        except (OSError, NotReadable) as problem:
            facts.problems.append(f"{name}: {problem}"[:500])
            return {}

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read on in all files of metrics. The parameters are those of `experiments.facts.Source.metrics`."""
        complete = True
        for name, (_time, size) in files.items():
            if not name.startswith(f"{METRICS}/"):
                continue
            kind = metric_type(name)
            if size < log.offsets.get(name, 0):  # The file was replaced.
                log.offsets.pop(name)
                log.series = {metric: s for metric, s in log.series.items() if not metric.startswith(f"{kind}.")}
            for offset, batch in batches(folder / name, log.offsets.get(name, 0), size):
                low, high = batch.bounds() if size > BOUNDED_BYTES else (NOWHERE, NOWHERE)
                for metric, (values, locate) in batch.values.items():
                    series = log.series.setdefault(f"{kind}.{metric}", Series())
                    series.note(Part(name, offset, offset + batch.end, 0, len(values), low, high))
                    series.extend(values, locate)
                log.offsets[name] = offset + batch.end
                log.unreadable += batch.unreadable
                if time.monotonic() > end:
                    complete = False
                    break
        return complete

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield the values of a metric, named `<type>.<metric>`.

        The parameters are those of `experiments.facts.Source.chunks`.
        """
        for name, begin, end, part in wanted_parts(self.files(folder), parts):
            kind = metric_type(name)
            if name.startswith(f"{METRICS}/") and metric.startswith(f"{kind}."):
                for _offset, batch in batches(folder / name, begin, end):
                    found = batch.values.get(metric[len(kind) + 1 :])
                    if found is not None:
                        yield Chunk(*found, part)


def _metric_files(folder: Path) -> list[os.DirEntry[str]]:
    """Return all files of metrics by name."""
    if not is_folder(folder / METRICS):
        return []
    try:
        with os.scandir(folder / METRICS) as entries:
            found = [e for e in entries if e.name.endswith(".yaml") and e.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found, key=lambda entry: entry.name)


def metric_type(name: str) -> str:
    """Return the type of the metrics in a file."""
    return text(name.removeprefix(f"{METRICS}/").removesuffix(".yaml"))


def batches(path: Path, offset: int, size: int) -> Iterator[tuple[int, Batch]]:
    """Yield the items of a metrics file from an offset on, and where they begin; an unreadable file ends the iteration.

    Parameters
    ----------
    path
        The file.
    offset
        Begin of an item, in bytes.
    size
        Offset at which to end, in bytes.
    """
    most = PART_BYTES
    while offset < size:
        try:
            content = read_part(path, offset, min(most, size - offset))
        except OSError:  # The next round tries again.
            return
        batch = read_batch(content)
        if batch.end == 0:
            if len(content) < min(most, size - offset) or most >= _MOST_PART:
                return
            most *= 4
            continue
        yield offset, batch
        offset += batch.end
        most = PART_BYTES


def _listed(value: Any) -> list[Any]:
    return value[:1000] if isinstance(value, list) else [] if value is None else [value]


def _associations(value: Any) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {"input": [], "output": []}
    for role, entries in found.items():
        for entry in _listed(value.get(role) if isinstance(value, dict) else None):
            if isinstance(entry, dict):
                entries.append({text(key): text(item, 4096) for key, item in entry.items()})
    return {role: entries for role, entries in found.items() if entries}
