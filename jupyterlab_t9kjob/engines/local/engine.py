"""The local engine: jobs on this machine, run by detached supervisors through torchrun."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from ...core.engine import Check, EngineInfo, Listener, LogFile, Preview
from ...core.errors import Conflict, FieldError, NotFound, Unavailable
from ...core.job import Action, EngineName, Event, Job, JobSummary, ManifestView, Replica
from ...core.spec import JobSpec
from .checks import CAPABILITIES, Checker, first_error
from .command import Interpreter, command_text, plan_replicas, working_directory
from .devicepool import DevicePool
from .machine import machine
from .record import ACTIVE, MachineId, RunPlan, new_record, runtime_directory
from .settings import Settings
from .store import Store
from .storedjob import StoredJob
from .views import Views, events_of

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

ResolveKernel = Callable[[str | None], Awaitable[Interpreter]]
"""Finds the Python of a kernel by name (None: the default one); raises `FieldError`."""

LEAVING_SECONDS = 5.0
"""How long a supervisor that has recorded the job's end may take to leave."""
CLEANING_SECONDS = 600.0
"""Between two looks for records that are older than they are kept."""
_POLL_SECONDS = 0.2
_DESIRED: dict[Action, str] = {
    "pause": "pause",
    "resume": "run",
    "stop": "stop",
    "delete": "delete",
}


class LocalEngine:
    """Jobs on this machine.

    Parameters
    ----------
    home
        Directory that keeps the jobs; made if missing.
    root
        The contents root, to name files as the contents API does.
    resolve_kernel
        Finds a kernel's Python.
    settings
        What an administrator may change.
    machine_identity
        Who this machine is; only tests give another one.
    """

    name: EngineName = "local"

    def __init__(
        self,
        home: Path,
        root: Path | None,
        resolve_kernel: ResolveKernel,
        settings: Settings | None = None,
        machine_identity: MachineId | None = None,
    ) -> None:
        self._store = Store(home, machine_identity)
        self._root = root
        self._views = Views(root)
        self._resolve = resolve_kernel
        self._settings = settings or Settings()
        self._pool = DevicePool(self._settings.device_pool)
        self._listeners: list[Listener] = []
        self._ids: dict[str, str] = {}
        # Everything about the store happens in this one thread, so it needs no locks.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="t9kjob-local")
        self._tasks: list[asyncio.Task[None]] = []
        self._unavailable: str | None = _why_unavailable()

    # --- life --------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load what exists, finish what was cut short, and begin to watch."""
        if self._unavailable is None:
            try:
                await self._in_thread(self._store.open)
            except OSError as error:
                self._unavailable = f"The folder for local jobs can't be used: {error}."
        if self._unavailable is None:
            await self._in_thread(self._name_all)
            self._tasks = [asyncio.create_task(self._watch())]
            if self._settings.keep_seconds is not None:
                self._tasks.append(asyncio.create_task(self._clean(self._settings.keep_seconds)))

    async def stop(self) -> None:
        """Stop watching. Jobs go on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        self._thread.shutdown(wait=False)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return how to stop that."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    # --- reading -----------------------------------------------------------------------------

    async def info(self) -> EngineInfo:
        """Say what this engine is and can do, now."""
        return EngineInfo(
            name="local",
            label="This machine",
            available=self._unavailable is None,
            reason=self._unavailable,
            namespaces=[""],
            capabilities=CAPABILITIES,
            machine=await asyncio.to_thread(machine, self._pool),
        )

    async def jobs(self) -> list[JobSummary]:
        """Return all jobs, newest first."""
        summaries = await self._in_thread(lambda: [self._summary(job) for job in self._store.jobs.values()])
        return sorted(summaries, key=lambda job: job.created_at, reverse=True)

    async def job(self, uid: str) -> Job:
        """Return one job in full."""
        return await self._in_thread(lambda: self._job(self._store.get(uid)))

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts."""
        return await self._in_thread(lambda: self._views.replicas(self._store.get(uid)))

    async def events(self, uid: str) -> list[Event]:
        """Return the job's events, newest first, repeats folded."""
        job = self._store.get(uid)
        return events_of(await asyncio.to_thread(job.files.read_events))

    async def manifest(self, uid: str) -> ManifestView:
        """Return the job's spec; a local job has no other manifest."""
        job = self._store.get(uid)
        return ManifestView(submitted=job.spec or {}, current=None)

    async def log_files(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now, in a stable order."""
        job = self._store.get(uid)
        return await asyncio.to_thread(self._views.log_files, job)

    # --- creating ----------------------------------------------------------------------------

    async def preview(self, spec: JobSpec, namespace: str) -> Preview:
        """Render and check a spec without creating anything."""
        try:
            interpreters = await self._interpreters(spec)
        except FieldError as error:
            return Preview(command="", summary=error.message, checks=[_check(error)])
        checks = await self._check(spec, interpreters)
        plans = plan_replicas(spec, interpreters, self._root)
        kernel_env = interpreters[spec.replica_specs[0].type].env
        added = {k: v for k, v in plans[0]["env"].items() if kernel_env.get(k) != v}
        return Preview(
            command=command_text(plans[0], working_directory(spec, self._root), len(plans)),
            environment=added,
            summary=_summary(spec, [plan["processes"] for plan in plans]),
            checks=checks,
        )

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that this request has created, also through another server; None if it has not."""
        job = await self._in_thread(self._store.by_request, request_id)
        return await self.job(job.uid) if job is not None else None

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        rerun_of: str | None = None,
    ) -> Job:
        """Create a job and start it; the same `request_id` again returns the first one.

        Raises
        ------
        FieldError
            If the spec can't run here; nothing is on disk then.
        Conflict
            If the name is taken.
        Unavailable
            If the engine or the disk can't be used.
        """
        if self._unavailable is not None:
            raise Unavailable(self._unavailable)
        interpreters = await self._interpreters(spec)
        problem = first_error(await self._check(spec, interpreters))
        if problem is not None and problem.code != "NameTaken":  # the store decides on names
            raise FieldError(problem.message, reason=problem.code, field=problem.field, hint=problem.hint)
        plan = await asyncio.to_thread(self._plan, spec, interpreters)
        record = new_record(plan, self._store.machine, paused=spec.paused, rerun_of=rerun_of)
        document = spec.model_dump(mode="json")
        try:
            job = await self._in_thread(self._store.create, document, plan, record, request_id)
        except OSError as error:
            raise Unavailable(
                "The job could not be written.",
                verbatim=str(error),
                hint="Make room on the disk that holds Jupyter's data directory.",
            ) from error
        await self._announce_changes()
        return await self.job(job.uid)

    # --- acting ------------------------------------------------------------------------------

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Stop, pause, resume or delete; what is asked for shows as `pending_action`.

        Parameters
        ----------
        remove
            With a delete: drop the record and logs as well when the job has ended, be it by another server.

        Raises
        ------
        Conflict
            If the job's phase, or its machine, does not allow it.
        """
        job = await self._in_thread(self._act, uid, action, remove)
        await self._announce_changes()
        return job

    async def remove(self, uid: str) -> None:
        """Drop the record and logs of a finished or deleted job; never the user's files.

        Raises
        ------
        Conflict
            If it has not ended.
        """
        end = time.monotonic() + LEAVING_SECONDS
        while not await self._in_thread(self._remove, uid):
            if time.monotonic() > end:
                raise Conflict("This job still runs.", hint="Stop or delete it first.")
            await asyncio.sleep(_POLL_SECONDS)
        await self._announce_changes()

    def _act(self, uid: str, action: Action, remove: bool) -> Job:
        job = self._store.get(uid)
        self._demand(job, action)
        try:
            return self._job(self._store.want(uid, "remove" if remove else _DESIRED[action]))
        except OSError as error:
            raise Unavailable("The request could not be written.", verbatim=str(error)) from error

    def _remove(self, uid: str) -> bool:
        job = self._store.get(uid)
        self._demand(job, "remove")
        return self._store.remove(uid)

    def _demand(self, job: StoredJob, action: Action) -> None:
        """Raise `Conflict` unless the action makes sense now."""
        summary = self._summary(job)
        if action in summary.actions or (action == "delete" and summary.pending_action == "deleting"):
            return
        if summary.read_only is not None:
            raise Conflict(summary.read_only, reason="ReadOnly")
        if action == "remove" and summary.phase in ACTIVE:
            raise Conflict("This job has not ended.", hint="Stop or delete it first.")
        if summary.phase not in ACTIVE:
            raise Conflict(f"This job has ended, so it can't be asked to {action}.")
        if summary.pending_action in ("stopping", "deleting"):
            raise Conflict(f"This job is {summary.pending_action}, so it can't be asked to {action}.")
        raise Conflict(f"A job that is {summary.phase.lower()} can't be asked to {action}.")

    # --- inside ------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            try:
                await self._announce_changes()
            except Exception:  # a home that vanished for a while must not end the watch
                log.exception("Looking for changes of local jobs failed")
                await asyncio.sleep(5)
            await asyncio.sleep(_POLL_SECONDS)

    async def _clean(self, keep_seconds: float) -> None:
        """Drop what was kept long enough; the watch announces it."""
        while True:
            for uid in await self._in_thread(self._store.ended_before, time.time() - keep_seconds):
                try:
                    await self._in_thread(self._store.remove, uid)
                except (OSError, NotFound) as error:  # the next one may go
                    log.warning("The old record of job %s could not be removed: %s", uid, error)
            await asyncio.sleep(CLEANING_SECONDS)

    def _changes(self) -> list[tuple[str, JobSummary | None]]:
        return [
            (uid, self._summary(self._store.jobs[uid]) if uid in self._store.jobs else None)
            for uid in self._store.scan()
        ]

    async def _announce_changes(self) -> None:
        for uid, summary in await self._in_thread(self._changes):
            self._announce(uid, summary)

    def _announce(self, uid: str, summary: JobSummary | None) -> None:
        if summary is None:
            name = self._ids.pop(uid, None)
        else:
            name = self._ids[uid] = summary.id
        for listener in list(self._listeners) if name is not None else []:
            listener(name or "", summary)

    def _name_all(self) -> None:
        self._ids = {uid: self._views.id_of(job) for uid, job in self._store.jobs.items()}

    def _summary(self, job: StoredJob) -> JobSummary:
        return self._views.summary(job, foreign=self._store.is_foreign(job))

    def _job(self, job: StoredJob) -> Job:
        return self._views.job(job, foreign=self._store.is_foreign(job))

    async def _in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(function, *args, **kwargs))

    async def _interpreters(self, spec: JobSpec) -> dict[str, Interpreter]:
        found = {}
        for group in spec.replica_specs:
            kernel = group.runtime.kernel if group.runtime is not None else None
            found[group.type] = await self._resolve(kernel or spec.runtime.kernel)
        return found

    async def _check(self, spec: JobSpec, interpreters: dict[str, Interpreter]) -> list[Check]:
        names = await self._in_thread(self._store.names)
        devices = len(await asyncio.to_thread(self._pool.ids))
        checker = Checker(spec, interpreters, self._root, devices, names)
        return await asyncio.to_thread(checker.run)

    def _plan(self, spec: JobSpec, interpreters: dict[str, Interpreter]) -> RunPlan:
        uid = uuid.uuid4().hex
        deadline = spec.run_policy.active_deadline_seconds
        replicas = plan_replicas(spec, interpreters, self._root)
        return RunPlan(
            uid=uid,
            name=spec.name,
            lock=str(runtime_directory() / f"{uid}.lock"),
            cwd=str(working_directory(spec, self._root)),
            replicas=replicas,
            backoff_limit=spec.run_policy.backoff_limit,
            backoff_seconds=self._settings.backoff_seconds,
            deadline_seconds=deadline,
            grace_seconds=self._settings.grace_seconds,
            rendezvous_port=self._settings.rendezvous_port,
            devices=self._pool.plan(),
        )


def _summary(spec: JobSpec, processes: list[int | None]) -> str:
    if spec.torchrun is None:
        count: int | None = len(processes)
    else:
        count = None if None in processes else sum(filter(None, processes))
    what = "One process per GPU" if count is None else f"{count} process{'es' * (count != 1)}"
    replicas = f" in {len(processes)} replicas" if len(processes) > 1 and spec.torchrun else ""
    return f"{what}{replicas} on this machine"


def _check(error: FieldError) -> Check:
    return Check(level="error", code=error.reason, message=error.message, hint=error.hint, field=error.field)


def _why_unavailable() -> str | None:
    if sys.platform == "win32":
        return (
            "Jobs on this machine need Linux or macOS: Windows has neither the signals nor the "
            "file locks that they rely on. Run JupyterLab in WSL."
        )
    return None
