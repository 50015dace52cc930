"""A job's membership in a sweep: several jobs that differ in the values of some fields.

The membership is an annotation of the job's spec, so it is stored wherever the job is: in its local record, or on its
object in a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field, ValidationError

from .spec import JobSpec, Model, PlainText

ANNOTATION: Final = "jupyterlab-t9kjob/sweep"
MOST_AT_A_TIME: Final = 10_000

OnFailure = Literal["continue", "start_no_more", "stop_others"]


class MedianRule(Model):
    """Rule that stops a job which is worse than the other jobs of its sweep.

    At the job's newest step, its best value so far is compared with the median of the other jobs' averages up to the
    same step, as in Vizier.
    """

    metric: PlainText = Field(min_length=1, max_length=200, description="Name of the metric: `val_loss`, `val/acc`.")
    goal: Literal["minimize", "maximize"] = "minimize"
    after: int = Field(0, ge=0, le=2**53, description="Step before which no job is stopped.")
    least_jobs: int = Field(3, ge=1, le=1000, description="Number of other jobs that must have reached the step.")


class Verdict(Model):
    """Reason for which the rule of a sweep stops a job."""

    metric: str = Field(max_length=200)
    value: str = Field(max_length=40, description="The job's best value so far.")
    median: str = Field(max_length=40, description="Median of the other jobs' averages.")
    step: int = Field(description="Newest step of the job, or the number of its reports in the log.")
    of: Literal["step", "report"] = Field("step", description="Unit of `step`; reports if no event files exist.")


class SweepMember(Model):
    """The place of a job in its sweep."""

    id: str = Field(pattern=r"^[a-z0-9]{1,40}$", description="Id of the sweep.")
    name: str = Field(description="Name of the sweep, with which the names of its jobs begin.")
    number: int = Field(ge=1, description="Number of the job in the sweep, from 1.")
    round: int = Field(0, ge=0, description="0 for the sweep's first jobs, then the number of the retry.")
    at_a_time: int = Field(ge=1, le=MOST_AT_A_TIME, description="Number of jobs that are pending or running together.")
    on_failure: OnFailure = Field(
        "continue", description="Effect of a failed job on the others: none, no further job starts, or all are stopped."
    )
    rule: MedianRule | None = Field(None, description="Rule that stops jobs early; null for none.")
    values: dict[str, str] = Field(default_factory=dict, description="The job's own values, by field of the sweep.")

    @property
    def queue(self) -> str:
        """Name of the queue in which the jobs of one round of the sweep wait for their turn."""
        return f"{self.id}-{self.round}"


def member_of(annotations: Mapping[str, str]) -> SweepMember | None:
    """Return the membership that annotations describe; None if they describe none that can be read."""
    text = annotations.get(ANNOTATION)
    if not text:
        return None
    try:
        return SweepMember.model_validate_json(text)
    except ValidationError:  # Another version wrote it, or a user.
        return None


def verdict_of(annotation: str | None) -> Verdict | None:
    """Return the verdict that an annotation describes; None if it describes none that can be read."""
    try:
        return Verdict.model_validate_json(annotation or "")
    except ValidationError:
        return None


def with_member(spec: JobSpec, member: SweepMember | None) -> JobSpec:
    """Return a spec with another membership; None removes it.

    Parameters
    ----------
    spec
        The specification.
    member
        Place of the job in its sweep; None for a job without a sweep.
    """
    annotations = {name: value for name, value in spec.annotations.items() if name != ANNOTATION}
    if member is not None:
        annotations[ANNOTATION] = member.model_dump_json(exclude_none=True)  # Older versions know no rule.
    return spec.model_copy(update={"annotations": annotations})
