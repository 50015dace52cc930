"""Facts about the continuation of evicted jobs, and the rules for it.

Both facts are annotations of the jobs' objects in a cluster: the evicted job names the job that continues it, or says
why none does, and the new job names the job that it continues.
"""

from __future__ import annotations

from typing import Final, TypeVar

from pydantic import Field, ValidationError

from ..base_model import Model, PathText, PlainText
from ..translation import STORED, Text

CONTINUES: Final = "jupyterlab-t9kjob/continues"
CONTINUED: Final = "jupyterlab-t9kjob/continued"
"""Annotations: a `Continues` of the new job, a `Continuation` of the evicted job."""

EVICTIONS: Final = frozenset({"Evicted", "Preempted", "NodeLost", "NodeShutdown", "Drained", "Tainted"})
"""Codes of the reasons of jobs that failed because the cluster took the node of a replica from them."""
MOST_CONTINUATIONS: Final = 3
"""Jobs that continue a job one after the other. The last one is not continued again."""
CONTINUED_SECONDS: Final = 24 * 3600.0
"""Time after the end of a job in which it can be continued."""

_LONGEST: Final = 10_000
"""Longest annotation that is read, in characters."""

SomeModel = TypeVar("SomeModel", bound=Model)


class Continues(Model):
    """The evicted job that a job continues."""

    job: PlainText = Field(min_length=1, max_length=1000, description="Id of the evicted job.")
    checkpoint: PathText = Field(description="Checkpoint from which the job resumes, as the job sees it.")
    number: int = Field(ge=1, le=1000, description="Number of the continuation: 1 continues the job of a user.")


class Continuation(Model):
    """The job that continues an evicted job, or the reason why none does."""

    job: PlainText | None = Field(None, max_length=1000, description="Id of the job; null if none was created.")
    problem: Text | None = Field(None, description="Why no job was created, a sentence.")


def continues_of(annotation: str | None) -> Continues | None:
    """Return which job a job continues, by its annotation; None if it continues none."""
    return _read(Continues, annotation)


def continuation_of(annotation: str | None) -> Continuation | None:
    """Return what followed the eviction of a job, by its annotation; None if nothing did yet."""
    return _read(Continuation, annotation)


def annotation_of(fact: Continues | Continuation) -> str:
    """Return the value of the annotation that keeps a fact."""
    return fact.model_dump_json(exclude_none=True, context=STORED)


def _read(model: type[SomeModel], annotation: str | None) -> SomeModel | None:
    if not annotation or len(annotation) > _LONGEST:
        return None
    try:
        return model.model_validate_json(annotation)
    except ValidationError:  # Another version wrote it, or a user.
        return None
