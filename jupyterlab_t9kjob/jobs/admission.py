"""`Admission`, the result of the checks that precede the creation of a job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from ..core.engine.protocol import Prepare
from ..core.errors import JobError
from ..core.job import Job
from ..core.spec import JobSpec


async def nothing() -> None:
    """Prepare nothing."""


async def _no_effect(_job: Job | None) -> None:
    pass


@dataclass(frozen=True)
class Admission:
    """A job that may be created.

    Attributes
    ----------
    spec
        The spec to submit, which names the snapshot that was taken.
    prepare
        Awaited after the engine's own checks and before the job's processes start.
    finish
        Awaited with the new job, or with None if the creation failed.
    """

    spec: JobSpec
    prepare: Prepare = nothing
    finish: Callable[[Job | None], Awaitable[None]] = _no_effect


Admit = Callable[[JobSpec, str, str], Awaitable[Admission]]
"""Check before the creation of a job, given spec, engine and namespace; raises `FieldError` for an impossible job."""


async def agreed(admitted: Admission, check: Callable[[JobSpec, str], Awaitable[None]], engine: str) -> Admission:
    """Return an admission whose spec passes a check. The spec already names the snapshot of its code.

    Parameters
    ----------
    admitted
        The admission.
    check
        Awaited with the spec and the engine; raises an error to refuse the spec.
    engine
        Name of the engine.

    Raises
    ------
    FieldError
        If the check refuses the spec. The admission is finished without a job.
    """
    try:
        await check(admitted.spec, engine)
    except BaseException:
        await admitted.finish(None)
        raise
    return admitted


async def finished(admitted: Admission, creation: Awaitable[Job]) -> Job:
    """Return the job of a creation, and finish its admission.

    The admission stays open if it is unknown whether the job exists: the answer was lost, or the server stops.

    Parameters
    ----------
    admitted
        The admission.
    creation
        Creates the job.

    Raises
    ------
    JobError
        If the creation fails. After an error with a status below 500, the admission is finished without a job.
    """
    try:
        job = await creation
    except JobError as error:
        if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            await admitted.finish(None)
        raise
    await admitted.finish(job)
    return job
