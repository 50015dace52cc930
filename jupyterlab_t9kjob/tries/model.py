"""The API's models of tries."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ..core.job import Failure, Reason, Time
from ..core.spec import Model
from ..core.translation import Text
from ..launch.model import SpecOrManifest

MOST_PROCESSES = 8
MOST_STEPS = 10_000
LEAST_SECONDS = 5
MOST_SECONDS = 600

TryState: TypeAlias = Literal["running", "passed", "failed", "not_tried", "stopped"]


class TryRequest(SpecOrManifest):
    """Request to try a job on this machine."""

    processes: Annotated[int, Field(ge=1, le=MOST_PROCESSES)] = Field(
        2, description="Processes that torchrun starts; without effect if torchrun is off."
    )
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] | None = Field(
        20,
        description="Training steps after which the try has passed, counted in log and events; null: by time.",
    )
    seconds: Annotated[int, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)] = Field(
        60, description="Seconds after which the try has passed if it runs without an error."
    )


class TryLine(Model):
    """A line of the output of a try."""

    rank: int | None
    text: str


class Try(Model):
    """A try of a job on this machine.

    What this machine can't try, such as nccl without a GPU, is `not_tried` and never `failed`.
    """

    id: str
    revision: int = Field(0, description="Grows with every change.")
    state: TryState = "running"
    sentence: Text
    hint: Text | None = None
    processes: int | None = Field(None, description="Number of ranks; null if the script decides.")
    steps: int | None = Field(None, description="Steps after which it ends; null: by time.")
    seconds: int = Field(description="Seconds after which it ends.")
    steps_done: int = Field(0, description="Steps that were counted; 0 if the script reports none.")
    started_at: Time | None = None
    ran_seconds: float = Field(0.0, description="Seconds that it has run, at the time of the answer.")
    metrics: dict[str, float] = Field(default_factory=dict, description="Metrics that the log reports.")
    command: str = Field("", description="The command; empty if nothing was started.")
    notes: list[Text] = Field(default_factory=list, description="Sentences about differences from the job.")
    untried: list[Text] = Field(default_factory=list, description="Parts of the job that a try here leaves out.")
    reason: Reason | None = Field(None, description="Why it failed; null if it did not.")
    failure: Failure | None = Field(None, description="The rank that failed first; null if none did.")
    lines: list[TryLine] = Field(default_factory=list, description="The last lines of the ranks' output.")
