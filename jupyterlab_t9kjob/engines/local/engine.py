"""Local engine: jobs on this machine, run by detached supervisors through torchrun."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ...core.capacity import Capacity, NodeList
from ...core.checks import Capability, Check, Preview
from ...core.engine.info import EngineInfo
from ...core.engine.interpreter import Interpreter, LabKernels, ResolveKernel
from ...core.engine.protocol import Edited, Listener, Prepare
from ...core.errors import Conflict, FieldError, Unavailable
from ...core.job import Action, EngineName, Event, Job, JobSummary, ManifestView, Replica
from ...core.log_sources import LogFile
from ...core.spec import JobSpec
from ...core.stacks.raw import TakenStacks
from ...core.sweep import Verdict
from ...core.system.disk_threads import on_disk
from ...core.system.processes import MachineId
from ...core.translation import Text, _, sentences
from .devices.capacity import capacity_of, node_of
from .devices.machine import machine
from .devices.pool import DevicePool
from .facts import FACTS
from .jobs.api_views import Views
from .jobs.events import events_of
from .jobs.expiry import remove_expired
from .jobs.readings import ReadsJobs
from .jobs.refusals import DESIRED, NEEDS_UNIX, demand_action, no_manifest, unusable_home
from .jobs.stacks import stacks_capability, take_stacks
from .jobs.store import Store
from .jobs.store_thread import StoreThread
from .jobs.stored_job import StoredJob
from .plan.checks import CAPABILITIES, first_error
from .plan.planner import Planner
from .ranks.engine_part import OpensRankTerminals
from .settings import OF_TRIES, Settings
from .supervisor.records.record import new_record

log = logging.getLogger(__name__)

LEAVING_SECONDS = 5.0
"""Time that a supervisor may take to exit after it has recorded the job's end."""
_POLL_SECONDS, _RETRY_SECONDS = 0.2, 2.0
_WHY_UNAVAILABLE = NEEDS_UNIX if sys.platform == "win32" else None
_NOT_READ = _("The jobs can't be read: {problem}.", problem="")
_LOGS_NOT_READ = _("The logs can't be read: {problem}.", problem="")
_NOT_WRITTEN = _("The job could not be written: {problem}.", problem="")
_REQUEST_NOT_WRITTEN = _("The request could not be written: {problem}.", problem="")
_NOT_REMOVED = _("The job could not be removed: {problem}.", problem="")


class LocalEngine(OpensRankTerminals, ReadsJobs):
    """Jobs on this machine.

    Parameters
    ----------
    home
        Directory of the jobs; created if it is missing.
    root
        Root folder of the contents API, to which paths in the API's models are relative.
    resolve_kernel
        Finds a kernel's Python.
    settings
        Settings of the administrator.
    machine_identity
        Identity of this machine; only tests pass another one.
    lab_kernels
        Finds the processes of this lab's kernels, to name them as users of accelerators.
    """

    name: EngineName = "local"
    label: Text = _("This machine")
    facts = FACTS
    order = 10

    def __init__(
        self,
        home: Path,
        root: Path | None,
        resolve_kernel: ResolveKernel,
        settings: Settings | None = None,
        machine_identity: MachineId | None = None,
        lab_kernels: LabKernels | None = None,
    ) -> None:
        self._store = Store(home, machine_identity)
        self._views = Views(root)
        self._settings = settings or Settings()
        self._lab_kernels = lab_kernels
        self._pool = DevicePool(self._settings.device_pool)
        self._planner = Planner(root, resolve_kernel, self._settings, self._pool)
        self._listeners: list[Listener] = []
        self._ids: dict[str, str] = {}
        self._thread = StoreThread(self._store)
        self._tasks: list[asyncio.Task[None]] = []
        self._opened = False
        self._unavailable: Text | None = _WHY_UNAVAILABLE
        self._trouble: str | None = None

    # --- start and stop ----------------------------------------------------------------------

    async def start(self) -> None:
        """Read the jobs, finish those whose supervisors died, and begin to watch.

        While the home can't be used, the engine is unavailable and tries again.
        """
        if _WHY_UNAVAILABLE is None:
            await self._read_changes()
            self._tasks = [asyncio.create_task(self._watch())]
            if self._settings.keep_seconds is not None:
                expiry = remove_expired(self._store, self._thread, self._settings.keep_seconds)
                self._tasks.append(asyncio.create_task(expiry))

    async def stop(self) -> None:
        """Stop watching. Jobs keep running."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return a function that ends this."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def info(self) -> EngineInfo:
        """Return what this engine is and can do, and the state of this machine."""
        return EngineInfo(
            name=self.name,
            label=self.label,
            facts=self.facts,
            available=self._unavailable is None,
            reason=self._unavailable,
            namespaces=[""],
            capabilities=CAPABILITIES,
            machine=await asyncio.to_thread(machine, self._pool, await self._kernels()),
            grace_seconds=self._settings.grace_seconds,
        )

    async def jobs(self) -> list[JobSummary]:
        """Return all jobs, newest first."""
        try:
            summaries = await self._thread.call(lambda: [self._summary(job) for job in self._store.jobs.values()])
        except Unavailable:  # The disk does not answer, which `info` reports: use the last known rows.
            summaries = [job.summary for job in list(self._store.jobs.values()) if job.summary is not None]
        return sorted(summaries, key=lambda job: job.created_at, reverse=True)

    async def job(self, uid: str) -> Job:
        """Return one job in full."""
        return await self._thread.call(lambda: self._job(self._store.get(uid)))

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts."""
        return await self._thread.call(lambda: self._views.replicas(self._store.get(uid)))

    async def events(self, uid: str) -> list[Event]:
        """Return the job's events, newest first, repeats folded."""
        job = self._store.get(uid)
        replicas = len(job.record["replicas"]) if job.record is not None else 1
        return events_of(await on_disk(job.files.path, job.files.read_events), replicas)

    async def manifest(self, uid: str) -> ManifestView:
        """Return the job's spec; a local job has no other manifest."""
        job = self._store.get(uid)
        return ManifestView(submitted=job.spec or {}, current=None)

    async def log_sources(self, uid: str) -> list[LogFile]:
        """Return the log streams that exist now, in a stable order.

        Raises
        ------
        Unavailable
            If permission is missing, or their disk has an error.
        """
        job = self._store.get(uid)
        try:
            return await on_disk(job.files.path, self._views.log_files, job)
        except OSError as error:
            raise self._thread.unusable(_LOGS_NOT_READ, error) from error

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Do nothing: the logs are on disk. The parameters are those of `core.engine.protocol.Engine.follow_logs`."""
        self._store.get(uid)
        return lambda: None

    async def stacks_capability(self, uid: str) -> Capability:
        """Return whether stacks of a job can be taken, see `core.engine.options.TakesStacks`."""
        return stacks_capability(await self.job(uid), self._store.get(uid).plan)

    async def take_stacks(self, uid: str, *, native: bool) -> TakenStacks:
        """Take the stacks of all ranks. The parameters are those of `core.engine.options.TakesStacks.take_stacks`."""
        return await take_stacks(self._store.get(uid), native=native)

    def trace_folder(self, uid: str) -> Path:
        """Return the folder of the flight recorder's files, see `core.engine.options.KeepsTraces`."""
        return self._store.get(uid).files.diagnostics

    async def capacity(self, namespace: str) -> Capacity:
        """Return the free amounts of this machine."""
        return capacity_of((await self.nodes()).nodes[0])

    async def nodes(self) -> NodeList:
        """Return this machine as the only node."""
        found = await asyncio.to_thread(machine, self._pool, await self._kernels())
        return NodeList(time=time.time(), nodes=[node_of(found)])

    # --- creating ----------------------------------------------------------------------------

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a job. The parameters are those of `core.engine.options.Previews.preview`."""
        if edited is not None:
            raise no_manifest()
        try:
            interpreters = await self._planner.interpreters(spec)
        except FieldError as error:
            return Preview(command="", summary=error.message, checks=[Check.of(error)])
        return self._planner.preview(spec, interpreters, await self._check(spec, interpreters))

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that a request has created, also through another server; None if there is none."""
        await self._demand_home()
        job = await self._thread.demand(_NOT_READ, self._store.by_request, request_id)
        return await self.job(job.uid) if job is not None else None

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> Job:
        """Create a job and start it.

        The parameters are those of `core.engine.protocol.Engine.create`.

        Raises
        ------
        FieldError
            If the spec can't run here; nothing is written then.
        Conflict
            If the name is taken.
        Unavailable
            If the engine or the disk can't be used.
        """
        if edited is not None:
            raise no_manifest()
        await self._demand_home()
        interpreters = await self._planner.interpreters(spec)
        problem = first_error(await self._check(spec, interpreters))
        if problem is not None and await self._thread.demand(_NOT_WRITTEN, self._store.by_request, request_id) is None:
            kind = Conflict if problem.code == "NameTaken" else FieldError
            raise kind(problem.message, code=problem.code, field=problem.field, hint=problem.hint)
        if prepare is not None:
            await prepare()
        plan = await self._thread.demand(_NOT_WRITTEN, self._planner.plan, spec, interpreters)
        record = new_record(plan, self._store.machine, paused=spec.paused, rerun_of=rerun_of)
        document = self._planner.with_kernel(spec, interpreters).model_dump(mode="json")
        job = await self._thread.demand(_NOT_WRITTEN, self._store.create, document, plan, record, request_id)
        await self._read_changes()
        return await self.job(job.uid)

    def engine_for_tries(self, home: Path) -> LocalEngine:
        """Return an engine for tries of jobs; see `core.engine.options.RunsTries`."""
        return LocalEngine(home, self._planner.root, self._planner.resolve, OF_TRIES)

    # --- acting ------------------------------------------------------------------------------

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Stop, pause, resume or delete a job; the job's `pending_action` shows the request until it is done.

        The parameters are those of `core.engine.protocol.Engine.act`.

        Raises
        ------
        Conflict
            If the job's phase, or its machine, does not allow the action.
        Unavailable
            If the request can't be written.
        """
        job = await self._thread.demand(_REQUEST_NOT_WRITTEN, self._act, uid, action, remove)
        await self._read_changes()
        return job

    async def remove(self, uid: str) -> None:
        """Remove the record and logs of an ended or deleted job; the user's files are kept.

        Raises
        ------
        Conflict
            If the job has not ended.
        Unavailable
            If the disk does not allow the removal.
        """
        end = time.monotonic() + LEAVING_SECONDS
        while not await self._thread.demand(_NOT_REMOVED, self._remove, uid):
            if time.monotonic() > end:
                message = _("{name} still runs, so its record can't be removed.", name=self._store.get(uid).name)
                raise Conflict(message, hint=_("Stop or delete it first."))
            await asyncio.sleep(_POLL_SECONDS)
        await self._read_changes()

    async def end_for_sweep(self, uid: str, verdict: Verdict) -> None:
        """End a job for its sweep. The parameters are those of `core.engine.options.EndsForSweep.end_for_sweep`."""
        await self._thread.demand(_REQUEST_NOT_WRITTEN, self._store.end_for_sweep, uid, verdict.model_dump())

    def _act(self, uid: str, action: Action, remove: bool) -> Job:
        job = self._store.get(uid)
        self._demand(job, action)
        return self._job(self._store.want(uid, "remove" if remove else DESIRED[action]))

    def _remove(self, uid: str) -> bool:
        job = self._store.get(uid)
        self._demand(job, "remove")
        return self._store.remove(uid)

    def _demand(self, job: StoredJob, action: Action) -> None:
        demand_action(self._summary(job), action)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_POLL_SECONDS if self._unavailable is None else _RETRY_SECONDS)
            try:
                await self._read_changes()
            except Exception:  # A job with unexpected files must not end the watch over the others.
                log.exception("Reading changes of local jobs failed")
                await asyncio.sleep(_RETRY_SECONDS)

    async def _read_changes(self) -> None:
        """Read changes and notify listeners. While the home can't be used, the engine is unavailable."""
        try:
            changes = await self._thread.call(self._changes)
        except Unavailable as error:  # The disk does not answer; the message changes with the time.
            unusable = _("The folder for local jobs can't be used.")
            self._be_unavailable(sentences(unusable, error.message) or unusable, error.code)
        except OSError as error:
            reason = unusable_home(error, self._store.home)
            self._be_unavailable(reason, reason)
        else:
            if self._unavailable is not None:
                log.warning("The folder for local jobs can be used again.")
            self._unavailable = self._trouble = None
            for uid, summary in changes:
                self._announce(uid, summary)

    def _be_unavailable(self, reason: Text, trouble: str) -> None:
        if trouble != self._trouble:  # Logged once, since the home is tried again and again.
            log.warning("%s", reason)
        self._unavailable, self._trouble = reason, trouble

    async def _demand_home(self) -> None:
        """Raise `Unavailable` if the home can't be used, after one more attempt."""
        if self._unavailable is not None and _WHY_UNAVAILABLE is None:
            await self._read_changes()
        if self._unavailable is not None:
            raise Unavailable(self._unavailable)

    def _changes(self) -> list[tuple[str, JobSummary | None]]:
        if self._opened:
            changed = self._store.scan()
        else:
            self._store.open()
            self._opened, changed = True, set(self._store.jobs)
        return [(uid, self._summary(self._store.jobs[uid]) if uid in self._store.jobs else None) for uid in changed]

    def _announce(self, uid: str, summary: JobSummary | None) -> None:
        if summary is None:
            name = self._ids.pop(uid, None)
        else:
            name = self._ids[uid] = summary.id
        for listener in list(self._listeners) if name is not None else []:
            listener(name or "", summary)

    def _summary(self, job: StoredJob) -> JobSummary:
        if job.summary is None or job.active:  # The row of an ended job does not change.
            job.summary = self._views.summary(job, foreign=self._store.is_foreign(job))
        return job.summary

    def _job(self, job: StoredJob) -> Job:
        return self._views.job(job, foreign=self._store.is_foreign(job))

    async def _kernels(self) -> Mapping[int, str]:
        """Return the processes of the lab's kernels if any process uses an accelerator."""
        devices = await asyncio.to_thread(self._pool.devices)
        if self._lab_kernels is None or not any(device.gpu and device.gpu.pids for device in devices):
            return {}
        return await self._lab_kernels()

    async def _check(self, spec: JobSpec, interpreters: Mapping[str, Interpreter]) -> list[Check]:
        return await self._planner.check(spec, interpreters, await self._thread.call(self._store.names))
