"""Creates the services behind the handlers. Imported at the first request, so that the server starts quickly."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .contents_paths import ContentsRoot
from .core.engine.context import EngineContext
from .core.errors import Unavailable
from .engines.registry import load_engines
from .experiments.artifacts.service import Artifacts
from .experiments.library.index import machine_folder
from .experiments.service import Experiments
from .jobs.engines import Engines
from .jobs.feed.feed import Feed
from .jobs.history import History
from .jobs.metrics.reader import MetricReader
from .jobs.resources import ResourceService
from .jobs.service import JobService
from .jobs.stalls import Patience
from .jobs.sweeps.median_rule import SweepRules
from .jobs.sweeps.runner import SweepRunner
from .jobs.sweeps.service import SweepService
from .jobs.terminals import Terminals
from .launch.kernels.kernel_processes import kernel_processes
from .launch.kernels.kernels import Kernels
from .launch.service import Launch
from .logs.serving.follow import LogService
from .notifications.service import NotificationService
from .presets.configuration import Configuration
from .presets.service import Presets
from .resuming.evictions import Evictions
from .snapshots.limits import Limits
from .snapshots.service import Snapshots
from .stacks.service import Stacks
from .tensorboard.manager import TensorBoardManager
from .tries.service import Tries


@dataclass(kw_only=True)
class Services:
    """The services of a running extension.

    Attributes
    ----------
    jobs
        Access to the jobs of all engines.
    sweeps
        Jobs of sweeps together.
    sweep_runner
        Starts the next jobs of sweeps in clusters.
    sweep_rules
        Ends jobs that are worse than the others of their sweep.
    evictions
        Continues evicted jobs.
    launch
        Fills and checks the launch form.
    logs
        Log lines of jobs.
    tensorboards
        TensorBoard processes.
    feed
        Pushes changes to the pages.
    snapshots
        Snapshots of the code of jobs.
    presets
        Presets of the launch form, and the administrator's locks.
    tries
        Tries of jobs on this machine.
    experiments
        Runs that trainings recorded.
    stacks
        Stacks of the ranks of jobs.
    terminals
        Terminals in jobs.
    history_bytes
        Bytes of the records of jobs above which the oldest ones are removed; None for any number.
    history
        Disk space of the records of jobs.
    notifications
        Notices of the ends and delays of jobs, in pages and through webhooks.
    artifacts
        Artifacts of these runs, and the graph of runs and artifacts.
    resources
        Use of CPU, memory, GPUs, network and disk by jobs.
    metrics
        Metrics that jobs reported.
    """

    jobs: JobService
    launch: Launch
    logs: LogService
    tensorboards: TensorBoardManager
    feed: Feed
    snapshots: Snapshots
    presets: Presets
    tries: Tries
    experiments: Experiments
    stacks: Stacks
    notifications: NotificationService
    evictions: Evictions
    history_bytes: int | None = None
    artifacts: Artifacts = field(init=False)
    history: History = field(init=False)
    sweeps: SweepService = field(init=False)
    sweep_runner: SweepRunner = field(init=False)
    sweep_rules: SweepRules = field(init=False)
    resources: ResourceService = field(init=False)
    terminals: Terminals = field(init=False)
    metrics: MetricReader = field(init=False)

    def __post_init__(self) -> None:
        metrics = self.metrics = MetricReader(self.jobs.engines)
        self.artifacts = Artifacts(self.experiments, self.jobs)
        self.resources = ResourceService(self.jobs.engines)
        self.history = History(self.jobs, self.stacks.folder_of, self.history_bytes)
        self.terminals = Terminals(self.jobs)
        self.sweeps = SweepService(self.jobs, metrics)
        self.sweep_runner = SweepRunner(self.jobs)
        self.sweep_rules = SweepRules(self.jobs, metrics)

    async def start(self) -> None:
        """Start the services that run in the background."""
        await self.presets.start()
        await self.jobs.start()
        await self.snapshots.start()
        await self.tries.start()
        await self.stacks.start()
        await self.tensorboards.start()
        await self.feed.start()
        await self.notifications.start()
        await self.sweep_runner.start()
        await self.sweep_rules.start()
        await self.evictions.start()
        await self.history.start()

    async def stop(self) -> None:
        """Stop the services. Jobs go on; TensorBoard processes and tries end."""
        await self.history.stop()
        await asyncio.gather(
            self.sweep_runner.stop(),
            self.sweep_rules.stop(),
            self.evictions.stop(),
            self.stacks.stop(),
            self.notifications.stop(),
        )
        await self.feed.stop()
        await self.snapshots.stop()
        await asyncio.gather(self.tensorboards.stop(), self.jobs.stop(), self.tries.stop(), self.experiments.stop())


def make_services(
    *,
    home: Path,
    contents_manager: Any,
    kernel_spec_manager: Any,
    kernel_manager: Any,
    session_manager: Any,
    parent: Any,
    tensorboard: dict[str, Any],
    sweep_limit: int,
    limits: Limits,
    configuration: Configuration,
    patience: Patience,
    notifications: dict[str, Any],
    history_bytes: int | None,
) -> Services:
    """Create the services and connect them.

    Parameters
    ----------
    home
        Directory of the records of jobs.
    contents_manager, kernel_spec_manager, kernel_manager, session_manager
        Managers of the Jupyter server.
    parent
        The server extension, whose traits are the settings of the engines.
    tensorboard
        Settings of the TensorBoard manager, by keyword.
    sweep_limit
        Greatest number of jobs in a sweep.
    history_bytes
        Bytes of the records of jobs above which the oldest ones are removed; None for any number.
    limits
        Limits of copies of code.
    configuration
        The administrator's presets and locks.
    patience
        Limits after which a job counts as stuck.
    notifications
        Settings of notifications, by keyword.
    """
    root = ContentsRoot(contents_manager)
    kernels = Kernels(kernel_spec_manager, kernel_manager.default_kernel_name)

    try:
        folder = root.folder
    except Unavailable:
        folder = None
    lab_kernels = partial(kernel_processes, kernel_manager, session_manager)
    jobs = JobService(
        Engines(load_engines(EngineContext(home, folder, kernels.interpreter, lab_kernels, parent))), patience
    )
    tensorboards = TensorBoardManager(root, **tensorboard)
    feed = Feed(jobs, tensorboards, jobs.engines.capacity_source(), jobs.engines.attend)
    jobs.engines.listen_info(feed.read_engines_soon)
    code = Snapshots(jobs, root, home, limits)
    presets = Presets(home, configuration, jobs, limits.git_image)
    launch = Launch(root, kernels, jobs, code.taking, presets, sweep_limit)
    tries = Tries(root, kernels, jobs, home)
    experiments = Experiments(root, jobs, home, machine_folder())
    stacks = Stacks(root, jobs, home)
    notices = NotificationService(jobs, feed.publish_notice, home, **notifications)
    logs = LogService(jobs)
    return Services(
        jobs=jobs,
        launch=launch,
        logs=logs,
        tensorboards=tensorboards,
        feed=feed,
        snapshots=code,
        presets=presets,
        tries=tries,
        experiments=experiments,
        stacks=stacks,
        notifications=notices,
        evictions=Evictions(jobs, root, launch.admit),
        history_bytes=history_bytes,
    )
