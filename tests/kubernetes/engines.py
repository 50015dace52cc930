"""Ways to drive the engines in a cluster and to wait for what they do."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from jupyterlab_t9kjob.core.engine.protocol import Edited
from jupyterlab_t9kjob.core.job import Job, JobSummary
from jupyterlab_t9kjob.core.manifests import to_yaml
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Mount, Quantity, ReplicaSpec, Resources, Runtime, Torchrun
from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.engine import KubernetesEngine
from jupyterlab_t9kjob.engines.kubernetes.objects.indexed_job import IndexedJob
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from tests.kubernetes.harness import Kube, Volume
from tests.patience import PATIENCE

KINDS = {"t9k": T9k, "kubeflow": Kubeflow}
EVERY_KIND = {**KINDS, "indexed-job": IndexedJob}
PLURALS = {"t9k": "pytorchtrainingjobs", "kubeflow": "pytorchjobs"}
ENDED = ("Succeeded", "Failed")
MOUNT = "/t9k/mnt"
WAIT = PATIENCE


@dataclass
class Bench:
    """The engines of one server, and what was heard from them."""

    cluster: Cluster
    engines: dict[str, KubernetesEngine]
    kube: Kube
    volume: Volume | None
    image: str
    heard: list[tuple[str, JobSummary | None]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, ident: str, summary: JobSummary | None) -> None:
        self.heard.append((ident, summary))
        self._news.set()

    def spec(self, program: str = "true", *, replicas: int = 1, **fields: Any) -> JobSpec:
        """Describe a job that runs a line of shell; with a volume it has that."""
        mounts = [Mount(claim=self.volume.claim, mount_path=MOUNT)] if self.volume is not None else []
        defaults: dict[str, Any] = {
            "name": f"job-{uuid.uuid4().hex[:6]}",
            "entrypoint": Entrypoint(kind="command", value="sh"),
            "args": ["-c", program],
            "torchrun": None,
            "runtime": Runtime(image=self.image, pull_policy="IfNotPresent"),
            "mounts": mounts,
            "replica_specs": [ReplicaSpec(replicas=replicas)],
        }
        return JobSpec(**{**defaults, **fields})

    def script(self, text: str, name: str = "train.py") -> str:
        """Put a script on the volume; return its path as a job sees it."""
        assert self.volume is not None
        (self.volume.path / name).write_text(text)
        return f"{MOUNT}/{name}"

    def training(self, script: str, *, replicas: int = 2, processes: int = 1, **fields: Any) -> JobSpec:
        """Describe a job that runs a script by torchrun."""
        small = Resources(cpu=Quantity(request="50m"), memory=Quantity(request="128Mi"))
        return self.spec(
            **{
                "entrypoint": Entrypoint(value=script),
                "args": [],
                "torchrun": Torchrun(proc_per_node=processes),
                "replica_specs": [ReplicaSpec(replicas=replicas, resources=small)],
                **fields,
            }
        )

    async def submit(
        self, engine: str, spec: JobSpec, *, edit: Callable[[Any], None] | None = None, **more: Any
    ) -> Job:
        """Create a job; with `edit` its manifest is changed by hand first."""
        chosen = self.engines[engine]
        if edit is not None:
            preview = await chosen.preview(spec, self.kube.namespace)
            manifest = yaml.safe_load(preview.manifest or "")
            edit(manifest)
            more["edited"] = Edited(manifest, to_yaml(manifest))
        options = {"namespace": self.kube.namespace, "request_id": uuid.uuid4().hex, **more}
        return await chosen.create(spec, **options)

    async def until(self, job: Job, reached: Callable[[Job], Any], seconds: float = WAIT) -> Job:
        """Wait for what is heard of a job until it is as wanted."""
        engine = self.engines[job.engine]
        seen = job

        async def wait() -> Job:
            nonlocal seen
            while True:
                self._news.clear()
                seen = await engine.job(job.uid)
                if reached(seen):
                    return seen
                await self._news.wait()

        try:
            return await asyncio.wait_for(wait(), seconds)
        except asyncio.TimeoutError:
            events = [f"{event.object}: {event.message}" for event in await engine.events(job.uid)]
            told = seen.model_dump_json(indent=1, include={"phase", "reason", "pending_action", "actions", "deleted"})
            raise AssertionError(f"after {seconds} s: {told}\n{events}") from None

    async def until_known(self, engine: str, uid: str) -> Job:
        """Wait until a job is there that others have made."""
        await self.until_heard(lambda _ident, summary: summary is not None and summary.uid == uid)
        return await self.engines[engine].job(uid)

    async def until_phase(self, job: Job, *phases: str, seconds: float = WAIT) -> Job:
        return await self.until(job, lambda seen: seen.phase in phases and seen.pending_action is None, seconds)

    async def ended(self, job: Job) -> Job:
        return await self.until_phase(job, *ENDED)

    async def until_heard(self, heard: Callable[[str, JobSummary | None], Any], seconds: float = WAIT) -> None:
        """Wait for a message; those that came already count."""

        async def wait() -> None:
            while not any(heard(ident, summary) for ident, summary in self.heard):
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), seconds)


@contextmanager
def patient() -> Iterator[None]:
    """Have who asks wait until the cluster was looked at and its jobs were listed, however long a busy one takes."""
    with (
        patch("jupyterlab_t9kjob.engines.kubernetes.cluster.connection.READY_SECONDS", 60.0),
        patch("jupyterlab_t9kjob.engines.kubernetes.jobs.table.READY_SECONDS", 60.0),
    ):
        yield


@asynccontextmanager
async def serving(
    kube: Kube,
    image: str,
    home: Path,
    volume: Volume | None = None,
    kubeconfig: Path | None = None,
    kinds: Mapping[str, Callable[[], JobKind]] = EVERY_KIND,
    **settings: Any,
) -> AsyncIterator[Bench]:
    """Run the engines as a server does; several times on the same home is a server that was restarted."""
    before = os.environ.get("KUBECONFIG")
    os.environ["KUBECONFIG"] = str(kubeconfig or kube.kubeconfig)
    if volume is not None:
        settings.setdefault("volumes", ({"claim": volume.claim, "lab_path": str(volume.path), "mount_path": MOUNT},))
    cluster = Cluster(Settings(**{"owner": "tester", **settings}))
    root = volume.path if volume is not None else home
    engines = {name: KubernetesEngine(kind(), cluster, home, root) for name, kind in kinds.items()}
    bench = Bench(cluster, engines, kube, volume, image)
    try:
        for engine in engines.values():
            engine.listen(bench.hear)
            await engine.start()
        with patient():
            await cluster.discovered()
            yield bench
    finally:
        for engine in engines.values():
            await engine.stop()
        if before is not None:
            os.environ["KUBECONFIG"] = before
