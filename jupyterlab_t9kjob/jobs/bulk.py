"""Actions on many jobs at once, for the table of jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from ..core.errors import Conflict, JobError
from ..core.job import ACTIVE_PHASES
from ..core.spec import Model
from ..core.translation import Text, _
from .service import JobService

MOST_JOBS: Final = 1000
"""Largest number of jobs in a request."""
AT_ONCE: Final = 8
"""Number of jobs that are changed at the same time."""

BulkAction = Literal["stop", "pause", "resume", "delete", "remove"]


class JobActions(Model):
    """An action on several jobs. Deletion and removal leave active jobs alone."""

    action: BulkAction
    ids: list[Annotated[str, StringConstraints(max_length=1000)]] = Field(min_length=1, max_length=MOST_JOBS)
    remove: bool = Field(False, description="For `delete`: also remove the records and the logs.")


class JobProblem(Model):
    """A job that was not changed."""

    id: str
    message: Text = Field(description="Why the job was not changed.")
    code: str
    hint: Text | None = None


class JobActionsResult(Model):
    """Outcome of an action on several jobs."""

    done: list[str] = Field(description="Ids of the jobs on which the action was requested.")
    problems: list[JobProblem] = Field(default_factory=list, description="The jobs that were not changed.")


async def act_on_all(service: JobService, request: JobActions) -> JobActionsResult:
    """Act on several jobs, a few at a time; a job that can't be changed does not affect the others.

    Parameters
    ----------
    service
        The jobs.
    request
        The action and the jobs.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def one(ident: str) -> JobProblem | None:
        async with places:
            try:
                await _act(service, ident, request)
            except JobError as error:
                return JobProblem(id=ident, message=error.message, code=error.code, hint=error.hint)
        return None

    ids = list(dict.fromkeys(request.ids))
    answers = await asyncio.gather(*map(one, ids))
    return JobActionsResult(
        done=[ident for ident, problem in zip(ids, answers, strict=True) if problem is None],
        problems=[problem for problem in answers if problem is not None],
    )


async def _act(service: JobService, ident: str, request: JobActions) -> None:
    if request.action in ("stop", "pause", "resume"):
        await service.act(ident, request.action)
        return
    job = await service.job(ident)
    if job.phase in ACTIVE_PHASES:
        raise Conflict(_("{name} has not ended, so it was left alone.", name=job.name), code="Active")
    if request.action == "remove" or (job.deleted and request.remove):
        await service.remove(ident)
    else:
        await service.delete(ident, remove=request.remove)
