"""Reads runs in file stores of MLflow (`mlruns/<experiment>/<run>/`), without MLflow. Nothing is changed.

A metric is a file of lines `<milliseconds> <value> <step>`; a parameter or tag is a file with its value.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ..facts import Chunk, Facts, MetricLog, is_folder, read_part
from ..model import Origin
from ..series import PART_BYTES, Part, Position, Series
from .yaml_files import NotReadable, plain, read_bytes, read_mapping, text

META: Final = "meta.yaml"
_STATUS: Final = {1: "Running", 2: "Running", 3: "Complete", 4: "Error", 5: "Error"}
_NAMES: Final = {"RUNNING": 1, "SCHEDULED": 2, "FINISHED": 3, "FAILED": 4, "KILLED": 5}
_MOST_FILES: Final = 5000
_MOST_VALUE: Final = 64 * 1024
_ENVIRONMENT: Final = {
    "mlflow.source.git.commit": "commit",
    "mlflow.source.git.branch": "branch",
    "mlflow.source.name": "source",
    "mlflow.user": "user",
}


class MlflowSource:
    """Runs of MLflow."""

    origin: Origin = "mlflow"
    closed = True

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return True if a folder is a run. The parameters are those of `experiments.facts.Source.is_run`."""
        return META in names and "params" in names and "metrics" in names

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return all names."""
        return names

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return modification time and size of the files that are read."""
        return dict(islice(self._all_files(folder), _MOST_FILES))

    @staticmethod
    def _all_files(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
        try:
            status = (folder / META).lstat()
        except OSError:
            return
        yield META, (status.st_mtime_ns, status.st_size)
        for part in filter(is_folder, (folder / "params", folder / "metrics", folder / "tags")):
            for path, _folders, names in os.walk(part):
                for name in sorted(names):
                    file = Path(path, name)
                    try:
                        status = file.lstat()
                    except OSError:
                        continue
                    if not stat.S_ISLNK(status.st_mode):
                        yield file.relative_to(folder).as_posix(), (status.st_mtime_ns, status.st_size)

    def facts(self, folder: Path) -> Facts:
        """Read everything except the metrics."""
        meta = read_mapping(folder / META)
        if not meta:
            raise NotReadable(f"{META} is empty")
        names = [name for name, _file in islice(self._all_files(folder), _MOST_FILES + 1)]
        values = {name: self._value(folder / name) for name in names[:_MOST_FILES] if not name.startswith("metrics/")}
        tags = {name.removeprefix("tags/"): value for name, value in values.items() if name.startswith("tags/")}
        status = meta.get("status")
        number = _NAMES.get(status, 0) if isinstance(status, str) else status
        return Facts(
            origin=self.origin,
            name=text(meta.get("run_name") or tags.get("mlflow.runName") or folder.name),
            suffix=folder.name[:6],
            status=_STATUS.get(number, "") if isinstance(number, int) else "",
            started=_moment(meta.get("start_time")),
            ended=_moment(meta.get("end_time")),
            description=text(tags.get("mlflow.note.content") or "", 10_000),
            labels=[text(f"{name}={value}") for name, value in tags.items() if not name.startswith("mlflow.")],
            parameters={
                text(name.removeprefix("params/")): plain(_number(value))
                for name, value in values.items()
                if name.startswith("params/")
            },
            environment={
                "experiment": text(self._experiment(folder)),
                **{key: text(tags[name]) for name, key in _ENVIRONMENT.items() if name in tags},
            },
            partial=len(names) > _MOST_FILES,
        )

    @staticmethod
    def _value(path: Path) -> str:
        try:
            return read_bytes(path, _MOST_VALUE).decode(errors="replace").strip()
        except (OSError, NotReadable):
            return ""

    @staticmethod
    def _experiment(folder: Path) -> Any:
        """Return the name of the experiment, which is in a file of the folder above."""
        try:
            return read_mapping(folder.parent / META).get("name") or folder.parent.name
        except (OSError, NotReadable):
            return folder.parent.name

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read on in all files of metrics. The parameters are those of `experiments.facts.Source.metrics`."""
        for name, (_time, size) in files.items():
            if not name.startswith("metrics/"):
                continue
            metric = text(name.removeprefix("metrics/"))
            if size < log.offsets.get(name, 0):  # The file was replaced.
                log.offsets.pop(name)
                log.series.pop(metric, None)
            for offset, points in _points(folder / name, log.offsets.get(name, 0), size):
                values = [value for value, _position in points]
                log.series.setdefault(metric, Series()).extend(
                    values, [position for _v, position in points].__getitem__
                )
                log.offsets[name] = offset
            if time.monotonic() > end:
                return False
        return True

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield the values of a metric. The parameters are those of `experiments.facts.Source.chunks`."""
        for name, (_time, size) in self.files(folder).items():
            if name.startswith("metrics/") and text(name.removeprefix("metrics/")) == metric:
                for _offset, points in _points(folder / name, 0, size):
                    if points:
                        values, positions = zip(*points, strict=True)
                        yield Chunk(values, positions.__getitem__)


def _points(path: Path, offset: int, size: int) -> Iterator[tuple[int, list[tuple[float, Position]]]]:
    """Yield the values of complete lines from an offset on, with the offset behind them."""
    while offset < size:
        try:
            content = read_part(path, offset, PART_BYTES)
        except OSError:  # The next round tries again.
            return
        end = content.rfind(b"\n") + 1
        if end == 0:
            return
        offset += end
        yield offset, [point for line in content[:end].splitlines() if (point := _point(line)) is not None]


def _point(line: bytes) -> tuple[float, Position] | None:
    words = line.split()
    try:
        step = float(int(words[2])) if len(words) > 2 else None
        return float(words[1]), Position(step, None, int(words[0]) / 1000)
    except (ValueError, IndexError, OverflowError):
        return None


def _moment(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, int) and 0 < milliseconds < 1e15 else None


def _number(value: str) -> Any:
    """Return the value of a parameter, which MLflow writes as text, as a number if it is one."""
    if value in ("True", "False"):
        return value == "True"
    try:
        return int(value) if value.lstrip("+-").isdigit() and len(value) < 20 else float(value)
    except ValueError:
        return value
