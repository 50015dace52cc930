"""An engine without processes: jobs in memory, logs in real files. For what a real engine can't be made to do."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.capacity import Capacity, NamespaceQuota, NodeList, Queue, QueueList
from jupyterlab_t9kjob.core.checks import Capability, Preview
from jupyterlab_t9kjob.core.engine.info import ClusterInfo, EngineInfo, RuntimeImage, Volume
from jupyterlab_t9kjob.core.engine.protocol import Edited, Listener, Prepare
from jupyterlab_t9kjob.core.errors import Conflict, FieldError, NotAllowed, NotFound
from jupyterlab_t9kjob.core.evictions.model import (
    CONTINUES,
    Continuation,
    annotation_of,
    continuation_of,
    continues_of,
)
from jupyterlab_t9kjob.core.job import (
    EngineName,
    Event,
    Job,
    JobSummary,
    LogStream,
    ManifestView,
    Reason,
    Replica,
    job_id,
)
from jupyterlab_t9kjob.core.lab import Lab
from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.core.manifests import CURRENT, KINDS, Dialect, problems, render, to_yaml
from jupyterlab_t9kjob.core.manifests.schema import KindSchema, bundled_schema
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.core.sweep import member_of
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from jupyterlab_t9kjob.engines.local.facts import FACTS as LOCAL_FACTS
from jupyterlab_t9kjob.jobs.admission import Admission
from jupyterlab_t9kjob.launch.manifests import Submission
from jupyterlab_t9kjob.launch.model import LaunchPreview, SpecOrManifest
from jupyterlab_t9kjob.logs.storage import cuts, index
from jupyterlab_t9kjob.tensorboard.model import TensorBoard

if TYPE_CHECKING:
    from jupyterlab_t9kjob.app import T9kJobApp
    from jupyterlab_t9kjob.services import Services

PENDING = {"stop": "stopping", "pause": "pausing", "resume": "resuming", "delete": "deleting"}


class FakeCapacity:
    """A cluster of whose nodes only the number is told."""

    def __init__(self) -> None:
        self.lookers: list[Callable[[], None]] = []
        self.asked = 0
        self.told: dict[str, Any] = {"nodes": 1}

    def put(self, **told: Any) -> None:
        self.told |= told
        for moved in self.lookers:
            moved()

    async def now(self) -> Capacity:
        self.asked += 1
        return Capacity(**{"time": time.time(), **self.told})

    def subscribe(self, moved: Callable[[], None]) -> Callable[[], None]:
        self.lookers.append(moved)
        return lambda: self.lookers.remove(moved)


class FakeEngine:
    name = "local"
    label = "This machine"
    facts = LOCAL_FACTS
    order = 10

    def __init__(self, home: Path) -> None:
        self.home = home
        self.known: dict[str, Job] = {}
        self.requests: dict[str, str] = {}
        self.listeners: list[Listener] = []
        self.streams: dict[str, dict[str, LogFile]] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.refusal: Exception | None = None
        self.conflict: Conflict | None = None
        self.created = 0
        self.removals: list[str] = []
        self.looks = 0
        self.grown: dict[str, Callable[[], None]] = {}

    async def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)

    async def stop(self) -> None:
        self.listeners.clear()

    def listen(self, listener: Listener):
        self.listeners.append(listener)
        return lambda: listener in self.listeners and self.listeners.remove(listener)

    async def info(self) -> EngineInfo:
        return EngineInfo(
            name=self.name,
            label=self.label,
            facts=self.facts,
            available=True,
            capabilities={"pause": Capability(supported=True)},
        )

    async def jobs(self) -> list[JobSummary]:
        return [summary(job) for job in sorted(self.known.values(), key=lambda job: -job.created_at)]

    async def job(self, uid: str) -> Job:
        if self.refusal is not None:
            raise self.refusal
        if uid not in self.known:
            raise NotFound(f"There is no job {uid}.")
        return self.known[uid]

    async def replicas(self, uid: str) -> list[Replica]:
        await self.job(uid)
        return [Replica(name="worker-0", type="worker", index=0, status="Running")]

    async def events(self, uid: str) -> list[Event]:
        await self.job(uid)
        return [Event(time=1.0, reason="Created", message="It was created.")]

    async def manifest(self, uid: str) -> ManifestView:
        return ManifestView(submitted=(await self.job(uid)).spec.model_dump())

    async def log_sources(self, uid: str) -> list[LogFile]:
        self.looks += 1
        await self.job(uid)
        return [sized(file) for file in self.streams.get(uid, {}).values()]

    async def follow_logs(self, uid: str, grown: Callable[[], None]):
        await self.job(uid)
        self.grown[uid] = grown
        return lambda: None

    async def lab(self, namespace: str | None = None) -> None:
        return None

    async def dialect(self) -> Dialect:
        return CURRENT

    async def volumes(self, namespace: str) -> list[Volume]:
        return []

    async def manifest_schema(self) -> KindSchema:
        return self.schema or bundled_schema(KINDS[self.name])

    async def queues(self, namespace: str) -> QueueList:
        return QueueList()

    async def capacity(self, namespace: str) -> Capacity:
        quotas = [NamespaceQuota(namespace=namespace)] if namespace else []
        return Capacity(time=time.time(), quotas=quotas)

    async def nodes(self) -> NodeList:
        return NodeList(time=time.time())

    async def refresh(self) -> None: ...

    async def preview(self, spec: JobSpec, namespace: str, **_more: object) -> Preview:
        return Preview(command="torchrun", summary="1 process on this machine")

    async def created_by(self, request_id: str) -> Job | None:
        return self.known.get(self.requests.get(request_id, ""))

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
        await self.gate.wait()
        if request_id in self.requests:
            return self.known[self.requests[request_id]]
        if any(job.name == spec.name and not job.deleted for job in self.known.values()):
            raise Conflict(f"There is a job {spec.name} already.", field="/spec/name")
        if prepare is not None:
            await prepare()
        self.created += 1
        job = self.put(spec=spec, request_id=request_id, rerun_of=rerun_of, phase="Pending")
        self.requests[request_id] = job.uid
        return job

    async def act(self, uid: str, action: str, *, remove: bool = False) -> Job:
        job = await self.job(uid)
        if self.conflict is not None:
            raise self.conflict
        if job.phase in ("Succeeded", "Failed") and action != "delete":
            raise Conflict(f"{job.name} has ended, so it can't be {action}ed.")
        if remove:
            self.removals.append(uid)
        return self.change(uid, pending_action=PENDING[action])

    async def remove(self, uid: str) -> None:
        job = await self.job(uid)
        if not job.deleted and job.phase not in ("Succeeded", "Failed"):
            raise Conflict(f"{job.name} has not ended.", hint="Stop or delete it first.")
        del self.known[uid]
        self.tell(job.id, None)

    # -- what tests do to it ----------------------------------------------------------------------------------------

    def tell(self, ident: str, job: Job | None) -> None:
        for listener in list(self.listeners):
            listener(ident, summary(job) if job else None)

    def put(self, name: str = "train-1", spec: JobSpec | None = None, **fields: object) -> Job:
        spec = spec or JobSpec(name=name, entrypoint=Entrypoint(value="/work/train.py"))
        uid = f"u{len(self.known) + 1}-{os.urandom(4).hex()}"
        values = {
            **{"engine": "local", "namespace": "", "phase": "Running", "created_at": time.time(), "actions": ["rerun"]},
            **fields,
        }
        job = Job(
            id=job_id(values["engine"], values["namespace"], spec.name, uid),
            name=spec.name,
            uid=uid,
            spec=spec,
            command=["torchrun", "train.py"],
            reason=Reason(code="Started", sentence="It runs."),
            **values,
        )
        self.known[uid] = job
        self.tell(job.id, job)
        return job

    def change(self, uid: str, **fields: object) -> Job:
        job = self.known[uid] = self.known[uid].model_copy(update=fields)
        self.tell(job.id, job)
        return job

    def stream(self, job: Job, stream: str, **fields: object) -> Log:
        path = self.home / f"{job.uid}.{stream}.log"
        values = {"replica": "worker-0", "attempt": 1, "source": "rank", "size": 0, **fields}
        described = LogStream(id=stream, **values)
        self.streams.setdefault(job.uid, {})[stream] = LogFile(
            described, path, path.with_suffix(".index"), path.with_suffix(".cuts")
        )
        return Log(path)


class FakeCluster(FakeEngine):
    """An engine with manifests: what it is asked to create it keeps, and nothing runs."""

    def __init__(self, home: Path, name: EngineName, lab: Lab | None = None) -> None:
        super().__init__(home)
        self.name = self.label = name
        self.facts = {"t9k": T9k, "kubeflow": Kubeflow}[name].facts
        self.found_lab = lab
        self.spelling = CURRENT
        self.claims: dict[str, list[Volume]] = {}
        self.found_queues: dict[str, list[Queue]] = {}
        self.schema: KindSchema | None = None
        self.images: list[RuntimeImage] = []
        self.may_list = True
        self.submitted: list[tuple[JobSpec, str, Edited | None]] = []
        self.dry_runs = 0
        self.asked = 0
        self.leases: dict[str, str] = {}
        self.noted: asyncio.Queue[tuple[Job, Continuation]] = asyncio.Queue()
        self.note_refusals: list[Exception] = []

    async def info(self) -> EngineInfo:
        return EngineInfo(
            name=self.name,
            label=self.label,
            facts=self.facts,
            available=True,
            namespaces=["team", "other"],
            cluster=ClusterInfo(server="c", version=None, context=None, found="", images=self.images),
            default_namespace="team",
            capabilities=KINDS[self.name].capabilities,
        )

    async def lab(self, namespace: str | None = None) -> Lab | None:
        return self.found_lab

    async def dialect(self) -> Dialect:
        return self.spelling

    async def queues(self, namespace: str) -> QueueList:
        return QueueList(queues=self.found_queues.get(namespace, []))

    async def volumes(self, namespace: str) -> list[Volume]:
        self.asked += 1
        if not self.may_list:
            raise NotAllowed(f"This account may not list the PVCs of {namespace}.")
        if namespace not in self.claims:
            raise FieldError(
                f"There is no namespace {namespace}.",
                code="NoSuchNamespace",
                field="/namespace",
                hint="Choose another.",
            )
        return self.claims[namespace]

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        self.dry_runs += dry_run
        if dry_run and self.refusal is not None:
            raise self.refusal
        text = edited.text if edited else to_yaml(render(spec, self.name, dialect=self.spelling))
        return Preview(
            command="torchrun", summary="1 node", manifest=text, checks=[] if edited else problems(spec, self.name)
        )

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
        if any(job.name == spec.name and job.namespace == namespace for job in self.known.values()):
            raise Conflict(f"There is a job {spec.name} already.", field="/spec/name")
        if self.refusal is not None:
            raise self.refusal
        if prepare is not None:
            await prepare()
        self.submitted.append((spec, namespace, edited))
        continues = continues_of(spec.annotations.get(CONTINUES))
        job = self.put(
            spec=spec,
            phase="Paused" if spec.paused else "Pending",
            engine=self.name,
            namespace=namespace,
            continues=continues,
            sweep=member_of(spec.annotations),
            rerun_of=rerun_of,
        )
        self.requests[request_id] = job.uid
        return job

    async def lease_continuation(self, uid: str, holder: str, seconds: float) -> bool:
        return self.leases.setdefault(uid, holder) == holder

    async def note_continuation(self, uid: str, continuation: Continuation) -> None:
        if self.note_refusals:
            raise self.note_refusals.pop()
        read = continuation_of(annotation_of(continuation))
        assert read == continuation
        self.noted.put_nowait((self.change(uid, continuation=read), continuation))


class Log:
    """A log file that grows, with its index."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = path.with_suffix(".index")
        path.touch()

    def write(self, data: bytes, time: float | None = None) -> Log:
        with self.path.open("ab") as file:
            file.write(data)
        if time is not None:
            descriptor = os.open(self.index, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            index.append(descriptor, time, self.path.stat().st_size)
            os.close(descriptor)
        return self

    def cut(self, start: int, end: int, cap: int = 1000) -> Log:
        """Take out bytes, as the supervisor does."""
        cuts.append(self.path.with_suffix(".cuts"), cuts.Cut(start, end, cap))
        with self.path.open("r+b") as file:
            file.seek(start)
            file.write(b"\0" * (end - start))
        return self


class FakeLaunch:
    def __init__(self) -> None:
        self.admitted: list[JobSpec] = []
        self.refusal: Exception | None = None

    async def submission(self, request: SpecOrManifest) -> Submission:
        return Submission(request.spec, request.namespace)

    async def admit(self, spec: JobSpec, engine: str, namespace: str, *, path: str | None = None) -> Admission:
        if self.refusal is not None:
            raise self.refusal

        async def prepare() -> None:
            self.admitted.append(spec)

        return Admission(spec, prepare)

    async def preview(self, request: object) -> LaunchPreview:
        return LaunchPreview(command="torchrun", summary="1 process on this machine")


class FakeTensorBoards:
    def __init__(self) -> None:
        self.known: dict[str, TensorBoard] = {}
        self.listeners: list[object] = []

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def list(self) -> list[TensorBoard]:
        return list(self.known.values())

    def listen(self, listener):
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def put(self, ident: str, status: str | None = "running") -> None:
        board = None
        if status is not None:
            board = TensorBoard(id=ident, log_dirs=["/runs"], paths=["runs"], label=ident, status=status, url="x/")
            self.known[ident] = board
        else:
            del self.known[ident]
        for listener in self.listeners:
            listener(ident, board)


def summary(job: Job) -> JobSummary:
    return JobSummary(**{name: getattr(job, name) for name in JobSummary.model_fields})


def sized(file: LogFile) -> LogFile:
    size = file.path.stat().st_size if file.path.exists() else 0
    return dataclasses.replace(file, stream=file.stream.model_copy(update={"size": size}))


def fake_services(app: T9kJobApp, home: Path, engine: Any, launch: Any, tensorboards: Any, capacity: Any) -> Services:
    """Return real services over a fake engine, with the given parts; their files lie in `home`."""
    from jupyterlab_t9kjob.experiments.service import Experiments
    from jupyterlab_t9kjob.jobs.engines import Engines
    from jupyterlab_t9kjob.jobs.feed.feed import Feed
    from jupyterlab_t9kjob.jobs.service import JobService
    from jupyterlab_t9kjob.logs.serving.follow import LogService
    from jupyterlab_t9kjob.notifications.service import NotificationService
    from jupyterlab_t9kjob.presets.configuration import Configuration
    from jupyterlab_t9kjob.presets.service import Presets
    from jupyterlab_t9kjob.resuming.evictions import Evictions
    from jupyterlab_t9kjob.services import Services
    from jupyterlab_t9kjob.snapshots.limits import Limits
    from jupyterlab_t9kjob.snapshots.service import Snapshots
    from jupyterlab_t9kjob.stacks.service import Stacks
    from jupyterlab_t9kjob.tries.service import Tries

    assert app.serverapp is not None
    root = ContentsRoot(app.serverapp.contents_manager)
    jobs = JobService(Engines({"local": engine}))
    feed = Feed(jobs, tensorboards, capacity)
    return Services(
        jobs=jobs,
        launch=launch,
        logs=LogService(jobs),
        tensorboards=tensorboards,
        feed=feed,
        snapshots=Snapshots(jobs, root, home, Limits()),
        presets=Presets(home, Configuration(), jobs),
        tries=Tries(root, None, jobs, home),  # type: ignore[arg-type]
        experiments=Experiments(root, jobs, home),
        stacks=Stacks(root, jobs, home),
        evictions=Evictions(jobs, root, launch.admit),
        notifications=NotificationService(
            jobs,
            feed.publish_notice,
            home,
            app.webhooks,
            group_seconds=app.webhook_group_seconds,
            retry_seconds=app.webhook_retry_seconds,
        ),
    )
