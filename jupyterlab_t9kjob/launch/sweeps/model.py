"""Models of the sweep API: the sweep of a form, the jobs that it becomes, and its creation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from ...core.checks import Check
from ...core.job import DEFAULT_ENGINE, EngineName
from ...core.spec import JobSpec, Model, Namespace, PathText, PlainText
from ...core.sweep import MOST_AT_A_TIME, MedianRule, OnFailure
from ...core.translation import Text

FieldName = Annotated[PlainText, StringConstraints(min_length=2, max_length=200)]


class SweepField(Model):
    """A field with several values."""

    field: FieldName = Field(
        description="An option of the script (`--lr`), an assignment without a flag (`lr=`), or a JSON pointer to a"
        " value in the spec (`/env/0/value`)."
    )
    values: PlainText = Field(
        max_length=20_000, description="As typed: `0.1, 0.01`, `8..64 step 8`, `1e-4..1e-2 log 5`, `0..1 lin 5`."
    )


class Sweep(Model):
    """A sweep: fields with several values, or a file of rows, or both."""

    fields: list[SweepField] = Field(default_factory=list, max_length=20)
    rows_path: PathText | None = Field(
        None,
        description="Contents API path of a CSV or TSV file with a header, a JSON list, or JSON lines; a job per row.",
    )
    method: Literal["grid", "random"] = Field("grid", description="All combinations, or `count` random ones.")
    count: int = Field(6, ge=1, le=10_000, description="Number of jobs of a random sweep.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of a random sweep; the same seed gives the same jobs.")
    left_out: list[int] = Field(
        default_factory=list, max_length=10_000, description="Numbers of the jobs that are not created."
    )
    at_a_time: int = Field(
        1, ge=1, le=MOST_AT_A_TIME, description="Number of jobs that are pending or running together."
    )
    on_failure: OnFailure = "continue"
    rule: MedianRule | None = Field(None, description="Rule that stops jobs early; null for none.")


class ExpandSweep(Model):
    """Request for the jobs of a sweep. Nothing is created."""

    engine: EngineName = DEFAULT_ENGINE
    namespace: Namespace = ""
    spec: JobSpec = Field(description="The job that all jobs of the sweep start from.")
    sweep: Sweep
    path: str | None = Field(None, description="The file that the form was opened for.")


class SweepJob(Model):
    """One job of a sweep."""

    number: int
    name: str
    values: dict[str, str] = Field(description="The job's own values, by field.")
    left_out: bool = False
    starts_first: bool = Field(description="True if the job does not wait for other jobs of the sweep.")
    spec: JobSpec


class SweepPreview(Model):
    """The jobs of a sweep with their checks."""

    fields: list[str] = Field(description="The fields with values, in the order of columns.")
    jobs: list[SweepJob] = Field(description="Empty if the sweep has an error or too many jobs.")
    total: int | None = Field(description="Number of combinations; null if a range has any number of values.")
    limit: int = Field(description="Greatest number of jobs that a sweep may have here.")
    summary: Text = Field(description="“6 jobs, 2 at a time”.")
    checks: list[Check] = Field(default_factory=list)
