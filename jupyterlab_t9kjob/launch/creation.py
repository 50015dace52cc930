"""Creates the job of a form or manifest: the one way for the REST API, the command line and `Client`."""

from __future__ import annotations

from functools import partial

from ..core.errors import JobError
from ..core.job import Job
from ..jobs.service import JobService
from . import manifests
from .model import SpecOrManifest
from .service import Launch


async def create(
    launch: Launch, jobs: JobService, request: SpecOrManifest, *, request_id: str, cloned_from: str | None = None
) -> Job:
    """Create a job. Further calls with the same `request_id` return the same job.

    Parameters
    ----------
    launch
        Reads and admits the job.
    jobs
        All engines.
    request
        The job.
    request_id
        Id of the request.
    cloned_from
        Id of the job from which the spec was cloned; None for a new job.

    Raises
    ------
    JobError
        If the job can't run. An error about a manifest has the line and column of its field.
    """
    wanted = await launch.submission(request)
    try:
        return await jobs.create(
            wanted.spec,
            engine=request.engine,
            namespace=wanted.namespace,
            request_id=request_id,
            admit=partial(launch.admit, path=request.path),
            edited=wanted.edited,
            cloned_from=cloned_from,
        )
    except JobError as problem:
        if wanted.edited is not None:
            await manifests.locate(problem, wanted.edited.text)
        raise
