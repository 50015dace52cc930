"""Handlers of engines and jobs: list, create, act, details."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..base import ApiHandler, guarded

if TYPE_CHECKING:
    from ...core.job import Action

PAGE = 200
LARGEST_PAGE = 1000


class EnginesHandler(ApiHandler):
    """``engines``."""

    @guarded
    async def get(self) -> None:
        """List the engines."""
        from ..messages import EngineList

        services = await self.app.services()
        self.reply(EngineList(engines=await services.jobs.engines.infos()))

    @guarded
    async def post(self) -> None:
        """Look for engines and permissions again, and list the engines."""
        from ..messages import EngineList

        services = await self.app.services()
        await services.jobs.engines.refresh()
        self.reply(EngineList(engines=await services.jobs.engines.infos()))


class JobsHandler(ApiHandler):
    """``jobs``."""

    @guarded
    async def get(self) -> None:
        """List jobs, newest first."""
        from ...jobs.query import Query
        from ..messages import JobPage

        query = Query(
            name=self.get_query_argument("name", None),
            phases=frozenset(self.get_query_arguments("phase")),
            engine=self.get_query_argument("engine", None),
            deleted=self.switch("deleted"),
        )
        limit = self.query("limit", PAGE, least=1, most=LARGEST_PAGE)
        offset = self.query("offset", 0)
        services = await self.app.services()
        jobs = await services.jobs.jobs(query)
        self.reply(JobPage(jobs=jobs[offset : offset + limit], total=len(jobs)))

    @guarded
    async def post(self) -> None:
        """Create a job, or with `dry_run` only validate it."""
        from ...launch.creation import create
        from ..messages import CreateJob

        request = self.read(CreateJob)
        services = await self.app.services()
        if request.dry_run:
            self.reply(await services.launch.preview(request))
            return
        job = await create(
            services.launch,
            services.jobs,
            request,
            request_id=request.request_id,
            cloned_from=request.cloned_from,
        )
        self.reply(job, 201)


class JobHandler(ApiHandler):
    """``jobs/{id}``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return all details of a job."""
        services = await self.app.services()
        self.reply(await services.jobs.job(ident))

    @guarded
    async def delete(self, ident: str) -> None:
        """End and delete a job."""
        remove = self.switch("remove")
        services = await self.app.services()
        self.reply(await services.jobs.delete(ident, remove=remove), 202)


class ActionHandler(ApiHandler):
    """``jobs/{id}/{action}``."""

    @guarded
    async def post(self, ident: str, action: str) -> None:
        """Stop, pause, resume, rerun or remove a job.

        Parameters
        ----------
        ident
            Id of the job.
        action
            ``stop``, ``pause``, ``resume``, ``rerun`` or ``remove``.
        """
        services = await self.app.services()
        if action == "remove":
            await services.jobs.remove(ident)
            self.set_status(204)
        elif action == "rerun":
            self.reply(await services.jobs.rerun(ident, admit=services.launch.admit), 201)
        else:
            self.reply(await services.jobs.act(ident, cast("Action", action)))


class JobActionsHandler(ApiHandler):
    """``job-actions``."""

    @guarded
    async def post(self) -> None:
        """Stop, pause, resume, delete or remove several jobs."""
        from ...jobs.bulk import JobActions, act_on_all

        request = self.read(JobActions)
        services = await self.app.services()
        self.reply(await act_on_all(services.jobs, request))


class SpaceHandler(ApiHandler):
    """``space``."""

    @guarded
    async def get(self) -> None:
        """Return the disk space of the records of jobs."""
        services = await self.app.services()
        self.reply(await services.history.space())


class ReplicasHandler(ApiHandler):
    """``jobs/{id}/replicas``."""

    @guarded
    async def get(self, ident: str) -> None:
        """List the replicas with their attempts."""
        from ..messages import ReplicaList

        services = await self.app.services()
        self.reply(ReplicaList(replicas=await services.jobs.replicas(ident)))


class EventsHandler(ApiHandler):
    """``jobs/{id}/events``."""

    @guarded
    async def get(self, ident: str) -> None:
        """List the events, newest first."""
        from ..messages import EventList

        services = await self.app.services()
        self.reply(EventList(events=await services.jobs.events(ident)))


class ManifestHandler(ApiHandler):
    """``jobs/{id}/manifest``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the manifest as submitted and as it is now."""
        services = await self.app.services()
        self.reply(await services.jobs.manifest(ident))


class CheckpointsHandler(ApiHandler):
    """``jobs/{id}/checkpoints``."""

    @guarded
    async def get(self, ident: str) -> None:
        """Return the checkpoint files that were changed while the job ran, and how a clone resumes from them."""
        from ...contents_paths import ContentsRoot
        from ...jobs.checkpoints import Checkpoints, checkpoints_of
        from ...resuming.checkpoints import with_resumes

        services = await self.app.services()
        job = await services.jobs.job(ident)
        if not services.jobs.engines.facts(job.engine).creates_jobs:
            self.reply(Checkpoints())  # Paths of an imported job are those of another machine.
            return
        root = ContentsRoot(self.contents_manager)
        self.reply(await with_resumes(await checkpoints_of(job, root), job, root, services.jobs.engines))
