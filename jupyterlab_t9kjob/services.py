"""What the handlers work with, put together. Imported when it is first needed, not at the server's start."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .contents_paths import ContentsRoot
from .core.engine import Engine
from .core.errors import Unavailable
from .engines.kubernetes.cluster.connection import Cluster
from .engines.kubernetes.cluster.settings import Settings as ClusterSettings
from .engines.kubernetes.engine import KubernetesEngine
from .engines.kubernetes.objects.kubeflow import Kubeflow
from .engines.kubernetes.objects.t9k import T9k
from .engines.local.engine import LocalEngine
from .engines.local.plan.command import Interpreter
from .engines.local.settings import Settings
from .jobs.feed import Feed
from .jobs.service import JobService
from .launch.kernels.kernel_processes import kernel_processes
from .launch.kernels.kernels import Kernels
from .launch.service import Launch
from .logs.serving.follow import LogService
from .tensorboard.manager import TensorBoardManager


@dataclass
class Services:
    """The parts of a running extension.

    Attributes
    ----------
    jobs
        The engines.
    launch
        From a file to a job.
    logs
        Log lines.
    tensorboards
        TensorBoard processes.
    feed
        What pages are told.
    """

    jobs: JobService
    launch: Launch
    logs: LogService
    tensorboards: TensorBoardManager
    feed: Feed

    async def start(self) -> None:
        """Start what runs by itself."""
        await self.jobs.start()
        await self.tensorboards.start()
        await self.feed.start()

    async def stop(self) -> None:
        """Stop it. Jobs go on; TensorBoards end."""
        await self.feed.stop()
        await asyncio.gather(self.tensorboards.stop(), self.jobs.stop())


def make_services(
    *,
    home: Path,
    contents_manager: Any,
    kernel_spec_manager: Any,
    kernel_manager: Any,
    session_manager: Any,
    local: Settings,
    cluster: ClusterSettings,
    tensorboard: dict[str, Any],
) -> Services:
    """Put the parts together.

    Parameters
    ----------
    home
        Directory that keeps the jobs.
    contents_manager, kernel_spec_manager, kernel_manager, session_manager
        The Jupyter server's.
    local
        Settings of the local engine.
    cluster
        Settings of the engines in a cluster.
    tensorboard
        Settings of the TensorBoard manager, by keyword.
    """
    root = ContentsRoot(contents_manager)
    kernels = Kernels(kernel_spec_manager, kernel_manager.default_kernel_name)

    async def resolve(name: str | None) -> Interpreter:
        kernel, env = await kernels.usable(name)
        assert kernel.python is not None  # noqa: S101
        return Interpreter(python=kernel.python, env=env, kernel=kernel.name)

    try:
        folder = root.folder
    except Unavailable:
        folder = None
    lab_kernels = partial(kernel_processes, kernel_manager, session_manager)
    engines: dict[str, Engine] = {"local": LocalEngine(home, folder, resolve, local, lab_kernels=lab_kernels)}
    shared = Cluster(cluster)
    if cluster.enabled:
        for kind in (T9k(), Kubeflow()):
            engines[kind.engine] = KubernetesEngine(kind, shared, home, folder)
    jobs = JobService(engines)
    tensorboards = TensorBoardManager(root, **tensorboard)
    feed = Feed(jobs, tensorboards, shared.capacity, shared.attend)
    shared.listen(feed.look_at_engines)
    return Services(jobs, Launch(root, kernels, jobs), LogService(jobs), tensorboards, feed)
