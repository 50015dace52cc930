"""The engine: the required protocol of `jupyterlab_t9kjob.core.engine.protocol`, and nothing else."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from jupyterlab_t9kjob.core.engine.info import EngineFacts, EngineInfo, RestartTexts
from jupyterlab_t9kjob.core.engine.interpreter import Interpreter, ResolveKernel
from jupyterlab_t9kjob.core.engine.protocol import Edited, Listener, Prepare
from jupyterlab_t9kjob.core.errors import Conflict, FieldError, NotFound
from jupyterlab_t9kjob.core.features import only
from jupyterlab_t9kjob.core.job import Action, Attempt, Job, JobSummary, LogStream, Phase, Reason, Replica, job_id
from jupyterlab_t9kjob.core.log_sources import LogReader
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.core.translation import _

from .process import JobProcess

# [facts]
FACTS = EngineFacts(
    shares_lab_filesystem=True,
    runs_on_lab_machine=True,
    runs_in_kernel=True,
    restart_texts=RestartTexts(without_torchrun={"Never": "A process that fails is not started again."}),
    description="Runs one script as a process of this machine, once.",
)
CAPABILITIES = only(reason="Simple processes run one script, once.")
# [/facts]


# [job]
@dataclass
class SimpleJob:
    """A job that the engine remembers as long as the server runs."""

    uid: str
    spec: JobSpec
    command: list[str]
    request_id: str
    rerun_of: str | None
    process: JobProcess
    deleted: bool = False
    remove: bool = False
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def phase(self) -> Phase:
        """Phase of the job: that of its process."""
        if self.process.ended_at is not None:
            return "Succeeded" if self.process.exit_code == 0 else "Failed"
        return "Running" if self.process.started_at is not None else "Pending"

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return self.phase in ("Succeeded", "Failed")

    def actions(self) -> list[Action]:
        """Return what can be asked of the job now."""
        return ["rerun", "delete", "remove"] if self.has_ended else ["stop", "delete"]

    def view(self) -> Job:
        """Return the job as the API shows it."""
        process = self.process
        pending = None
        if process.stopping and not self.has_ended:
            pending = "deleting" if self.deleted else "stopping"
        return Job(
            id=job_id(SimpleProcesses.name, "", self.spec.name, self.uid),
            engine=SimpleProcesses.name,
            namespace="",
            name=self.spec.name,
            uid=self.uid,
            phase=self.phase,
            reason=self._reason(),
            pending_action=pending,
            ended_by=("user" if process.stopping else "itself") if self.has_ended else None,
            created_at=process.created_at,
            started_at=process.started_at,
            ended_at=process.ended_at,
            running_since=None if self.has_ended else process.started_at,
            ran_seconds=process.ended_at - process.started_at if process.ended_at and process.started_at else 0.0,
            replicas_running=int(self.phase == "Running"),
            processes=1,
            deleted=self.deleted,
            actions=self.actions(),
            log_dirs=self.spec.tensorboard.log_dirs,
            spec=self.spec,
            command=self.command,
            working_dir=self.spec.working_dir,
            log_dir_paths=[None for _path in self.spec.tensorboard.log_dirs],
            request_id=self.request_id,
            rerun_of=self.rerun_of,
        )

    def _reason(self) -> Reason | None:
        if self.phase != "Failed":
            return None
        if self.process.stopping:
            return Reason(code="Stopped", sentence=_("Stopped by you."))
        code = self.process.exit_code or 0
        return Reason(code="ExitCode", sentence=_("The process ended with exit code {exit_code}.", exit_code=code))


# [/job]


class SimpleProcesses:
    """Plain processes of this machine.

    Parameters
    ----------
    resolve_kernel
        Finds the Python of a kernel.
    """

    # [identity]
    name = "simple-processes"
    label = "Simple processes"
    facts = FACTS
    order = 50

    def __init__(self, resolve_kernel: ResolveKernel) -> None:
        self._resolve_kernel = resolve_kernel
        self._jobs: dict[str, SimpleJob] = {}
        self._listeners: list[Listener] = []

    async def info(self) -> EngineInfo:
        """Return the engine's present state: it is always available."""
        return EngineInfo(name=self.name, label=self.label, facts=self.facts, available=True, capabilities=CAPABILITIES)

    # [/identity]

    # [lifetime]
    async def start(self) -> None:
        """Do nothing: no job outlives the server that started it."""

    async def stop(self) -> None:
        """End all processes, since nothing could find them again."""
        tasks = [task for job in self._jobs.values() for task in job.tasks]
        for job in self._jobs.values():
            job.process.end()
        await asyncio.gather(*tasks, return_exceptions=True)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after every change of a job; return a function that ends the subscription."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _notify(self, job: SimpleJob) -> None:
        view = job.view()
        summary = view.summary() if job.uid in self._jobs else None
        for listener in list(self._listeners):
            listener(view.id, summary)

    # [/lifetime]

    # [reading]
    async def jobs(self) -> list[JobSummary]:
        """Return all jobs, newest first."""
        return [job.view().summary() for job in reversed(self._jobs.values())]

    async def job(self, uid: str) -> Job:
        """Return one job in full."""
        return self._get(uid).view()

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the process as the only replica, with its only attempt."""
        job = self._get(uid)
        process = job.process
        times = {"started_at": process.started_at, "ended_at": process.ended_at, "exit_code": process.exit_code}
        attempts = [Attempt(number=1, **times)] if process.started_at is not None else []
        return [
            Replica(
                name="worker-0",
                type="worker",
                index=0,
                status=job.phase,
                ready=job.phase == "Running",
                pid=process.pid,
                ranks=[0],
                processes=1,
                attempts=attempts,
                **times,
            )
        ]

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that a request created."""
        return next((job.view() for job in self._jobs.values() if job.request_id == request_id), None)

    def _get(self, uid: str) -> SimpleJob:
        if uid not in self._jobs:
            raise NotFound(f"There is no job {uid}.", code="NoSuchJob")
        return self._jobs[uid]

    # [/reading]

    # [creating]
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
        """Create a job and start its process; the same `request_id` again returns the first job."""
        known = await self.created_by(request_id)
        if known is not None:
            return known
        if any(job.spec.name == spec.name and not job.deleted for job in self._jobs.values()):
            raise Conflict(f"There is a job named “{spec.name}” already.", field="/spec/name", code="NameTaken")
        if spec.paused:
            raise FieldError("Simple processes can't be paused.", field="/spec/paused", code="Unsupported")
        interpreter = await self._resolve_kernel(spec.runtime.kernel)
        if prepare is not None:
            await prepare()
        process = JobProcess(lambda: self._changed(job))
        job = SimpleJob(uuid.uuid4().hex, spec, command_of(spec, interpreter), request_id, rerun_of, process)
        self._jobs[job.uid] = job
        env = {**interpreter.env, **{variable.name: variable.value or "" for variable in spec.env}}
        task = asyncio.create_task(process.run(job.command, env, spec.working_dir))
        job.tasks.add(task)
        task.add_done_callback(job.tasks.discard)
        self._notify(job)
        return job.view()

    # [/creating]

    # [acting]
    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Stop or delete a job: both end its process."""
        job = self._get(uid)
        if action not in ("stop", "delete") or (action == "stop" and job.has_ended):
            raise Conflict(f"{job.spec.name} can't be asked to {action} now.")
        if action == "delete":
            job.deleted, job.remove = True, job.remove or remove
        if job.has_ended:
            self._changed(job)
        else:
            job.process.end()
        return job.view()

    async def remove(self, uid: str) -> None:
        """Forget an ended job, and its log with it."""
        job = self._get(uid)
        if not job.has_ended:
            raise Conflict(f"{job.spec.name} still runs.", hint="Stop or delete it first.")
        del self._jobs[uid]
        self._notify(job)

    def _changed(self, job: SimpleJob) -> None:
        if job.remove and job.has_ended:
            self._jobs.pop(job.uid, None)
        self._notify(job)

    # [/acting]

    # [logs]
    async def log_sources(self, uid: str) -> list[LogReader]:
        """Return the output of the process as the only stream, which is read from memory."""
        job = self._get(uid)
        stream = LogStream(
            id="worker-0.1.rank-0",
            replica="worker-0",
            attempt=1,
            source="rank",
            local_rank=0,
            rank=0,
            size=job.process.log.size,
            complete=job.has_ended,
        )
        return [LogReader(stream, job.process.log.read)]

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Call `grown` when the process has written more; return a function that ends the subscription."""
        return self._get(uid).process.log.follow(grown)

    # [/logs]


def command_of(spec: JobSpec, interpreter: Interpreter) -> list[str]:
    """Return the command of a job: a script or module in the kernel's Python, or a program."""
    entrypoint = spec.entrypoint
    if entrypoint.kind == "command":
        return [entrypoint.value, *spec.args]
    module = ["-m"] if entrypoint.kind == "module" else []
    return [interpreter.python, *module, entrypoint.script, *spec.args]
