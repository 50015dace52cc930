"""Models of the experiments' API.

Times are seconds since the epoch. Numbers that are not finite are the texts `nan`, `inf` and `-inf`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, PlainSerializer, StringConstraints, WithJsonSchema
from typing_extensions import TypedDict

from ..core.base_model import Model, PlainText
from ..core.job import EngineName, Time
from ..core.translation import Text

Origin: TypeAlias = Literal["recorder", "events", "mlflow", "wandb", "job"]
Status: TypeAlias = Literal["running", "complete", "error", "stale", "unknown"]
Axis: TypeAlias = Literal["step", "epoch", "time"]

MOST_RUNS: Final = 100
MOST_METRICS: Final = 50
MOST_WIDTH: Final = 4000

_NUMBER: Final = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}


def json_number(value: Any) -> Any:
    """Return a value as JSON can hold it: a number that is not finite as a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return value


def _json_numbers(values: list[float]) -> list[Any]:
    return values if all(map(math.isfinite, values)) else [json_number(value) for value in values]


Number = Annotated[float, PlainSerializer(json_number), WithJsonSchema(_NUMBER, mode="serialization")]
Numbers = Annotated[
    list[float],
    PlainSerializer(_json_numbers),
    WithJsonSchema({"type": "array", "items": _NUMBER}, mode="serialization"),
]
Value = Annotated[
    bool | int | float | str | None,
    PlainSerializer(json_number),
    WithJsonSchema({"type": ["number", "string", "boolean", "null"]}, mode="serialization"),
]
RunId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MetricName = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class JobRef(Model):
    """The job of a run."""

    id: str
    engine: EngineName
    namespace: str
    uid: str
    name: str


class RunMetric(TypedDict):
    """One metric of a run in short. Minimum and maximum are those of the finite values.

    It is a dictionary, since an answer may have 100 000 of them and a model takes ten times as long to make.
    """

    last: Number
    last_step: float | None
    min: Annotated[float | None, Field(description="Null if no value is finite.")]
    min_step: float | None
    max: float | None
    max_step: float | None
    count: int
    curve: Annotated[
        list[float],
        Field(description="At most 44 values, reduced by extremes; empty unless asked by `curves`."),
    ]


class RunRow(Model):
    """One row of the table of runs."""

    id: str
    name: str
    suffix: str = Field("", description="Six characters that tell runs of one name apart; may be empty.")
    origin: Origin
    status: Status
    sentence: Text = Field(description="“Running, epoch 11 of 15”, “Running, but its process has gone”.")
    path: str | None = Field(None, description="Folder in the contents API; null for a job that has no folder.")
    job: JobRef | None = None
    started_at: Time | None = None
    ended_at: Time | None = None
    seconds: float | None = None
    epoch: Number | None = None
    parameters: dict[str, Value] = Field(default_factory=dict, description="Nested names are joined by dots.")
    metrics: dict[str, RunMetric] = Field(default_factory=dict, description="By `<type>.<metric>` or tag.")
    environment: dict[str, Value] = Field(default_factory=dict)
    labels: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    note: str = ""
    archived: bool = False


class RunColumn(Model):
    """A column that the table of runs can have."""

    name: str
    group: Literal["parameters", "metrics", "environment"]
    kind: Literal["number", "text", "boolean"]
    runs: int = Field(description="Number of runs that have it.")
    distinct: int = Field(description="Number of different values, at most 1000; 0 for metrics.")
    goal: Literal["min", "max"] | None = Field(None, description="Direction in which the metric improves.")


class Unreadable(Model):
    """A folder or file that can't be read as a run."""

    path: str
    problem: Text


class RunTable(Model):
    """Runs below a folder, or the changes since a revision."""

    revision: int
    complete: bool = Field(description="False if the answer has only the changes since the revision of the request.")
    scanning: bool = Field(description="True while folders are searched; more runs may follow.")
    runs: list[RunRow]
    removed: list[str] = Field(default_factory=list, description="Ids of runs that are gone.")
    columns: list[RunColumn]
    unreadable: list[Unreadable] = Field(default_factory=list, description="The first 50.")
    unreadable_count: int = 0
    left_out: Text | None = Field(
        None, description="Part that the search did not reach; null if it reached everything."
    )
    index_problem: Text | None = Field(
        None, description="Why the index of runs can't be used now; null if it can, or if it is in memory."
    )


class Parameter(Model):
    """One hyperparameter."""

    name: str
    value: Value


class FileEntry(Model):
    """A file of a run or artifact."""

    path: str = Field(description="Path in the contents API.")
    size: int
    modified_at: Time


class Association(Model):
    """An input or output of a run."""

    id: str | None = Field(None, description="Id of the artifact; null if it is not found or no artifact.")
    kind: str
    name: str
    path: str | None = Field(None, description="Folder in the contents API; null if it is not found there.")
    place: str | None = Field(None, description="Folder on the disk, if it is outside the contents root.")
    found: bool


class RunDetail(Model):
    """A run in full."""

    run: RunRow
    parameters: list[Parameter]
    description: str = ""
    environment: dict[str, Value] = Field(default_factory=dict)
    packages: dict[str, str] = Field(default_factory=dict)
    git: dict[str, Value] = Field(default_factory=dict)
    metrics: list[str] = Field(default_factory=list, description="Names of all metrics.")
    files: list[FileEntry] = Field(default_factory=list, description="The first 1000.")
    inputs: list[Association] = Field(default_factory=list)
    outputs: list[Association] = Field(default_factory=list)
    checkpoints: list[FileEntry] = Field(
        default_factory=list, description="The newest checkpoint of the job; its size is that of all together."
    )
    checkpoint_files: list[FileEntry] = Field(
        default_factory=list, description="The newest 200 checkpoints of the job, newest first, with their own sizes."
    )
    sources: dict[str, Text] = Field(default_factory=dict, description="Where each part comes from.")
    problems: list[Text] = Field(default_factory=list, description="What could not be read of the run.")
    attempts: list[str] = Field(default_factory=list, description="Ids of all runs of the same job, oldest first.")


class CurvesRequest(Model):
    """Request for curves."""

    runs: Annotated[list[RunId], Field(max_length=MOST_RUNS)]
    metrics: Annotated[list[MetricName], Field(max_length=MOST_METRICS)]
    x: Axis = "step"
    width: Annotated[int, Field(ge=1, le=MOST_WIDTH)] = 1000
    first: float | None = Field(None, description="Smallest x.")
    last: float | None = Field(None, description="Largest x.")


class NotFinite(Model):
    """Values of a curve that are not finite."""

    count: int = 0
    first_step: Number | None = None
    last_step: Number | None = None


class Curve(Model):
    """A metric of a run, reduced to minimum and maximum of each pixel in the order of appearance."""

    run: str
    metric: str
    x: list[float]
    y: Numbers
    means: Numbers | None = Field(
        None, description="Means of the values for which the points stand; null if each point is one value."
    )
    count: int = Field(description="Number of points in the file.")
    not_finite: NotFinite = Field(default_factory=NotFinite)
    truncated: bool = Field(False, description="True if parts of the files were not read, or the width was reduced.")


class CurvesLeftOut(Model):
    """Runs whose curves could not be read."""

    runs: list[str] = Field(description="Their ids.")
    problem: Text


class Curves(Model):
    """Curves of several runs and metrics. Metrics that a run does not have are left out."""

    curves: list[Curve]
    left_out: list[CurvesLeftOut] = Field(
        default_factory=list, description="Runs whose disk does not answer. If no other run is left, the request fails."
    )


class StepMetric(Model):
    """A metric at a step."""

    metric: MetricName
    step: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ValuesAtRequest(Model):
    """Request for the values of metrics at a step."""

    runs: Annotated[list[RunId], Field(max_length=1000)]
    metrics: Annotated[list[StepMetric], Field(max_length=20)]


class ValuesAt(Model):
    """Values of metrics at a step.

    A run has the value of its greatest recorded step that is not after the step. A run that has not reached the step
    has none.
    """

    values: list[list[Number | None]] = Field(
        description="For each metric of the request, one value for each run; null without a value."
    )
    complete: bool = Field(description="False if there was no time to read the files of all runs, or a disk is silent.")


class Point(Model):
    """One value of a metric."""

    step: Number | None = None
    epoch: Number | None = None
    time: Time | None = None
    value: Number


class Points(Model):
    """Values of a metric as they are in the file."""

    points: list[Point]
    first: int = Field(description="Number of the first point, from 0.")
    count: int = Field(description="Number of all points.")


class EditRun(Model):
    """Change of what the user noted about a run. The run's own files stay as they are."""

    tags: (
        Annotated[list[Annotated[PlainText, StringConstraints(min_length=1, max_length=100)]], Field(max_length=50)]
        | None
    ) = None
    note: Annotated[PlainText, StringConstraints(max_length=20_000)] | None = None
    archived: bool | None = None


class RemoveRuns(Model):
    """Request to delete runs or artifacts."""

    ids: Annotated[list[RunId], Field(min_length=1, max_length=1000)]
    dry_run: bool


class RemovalItem(Model):
    """A folder that is deleted."""

    id: str
    path: str
    size: int = Field(description="Bytes.")
    files: int
    ours: bool = Field(description="True if the recorder wrote it; False for files of another program.")


class Removal(Model):
    """Answer of a removal: the folders that are deleted, or were deleted."""

    items: list[RemovalItem]
    size: int = Field(description="Bytes of all items.")
