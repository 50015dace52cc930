"""Creates the services behind the handlers. Imported at the first request, so that the server starts quickly."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .contents_paths import ContentsRoot
from .core.engine_context import EngineContext
from .core.errors import Unavailable
from .core.interpreter import Interpreter
from .engines.registry import load_engines
from .jobs.feed import Feed
from .jobs.service import JobService
from .launch.kernels.kernel_processes import kernel_processes
from .launch.kernels.kernels import Kernels
from .launch.service import Launch
from .logs.serving.follow import LogService
from .tensorboard.manager import TensorBoardManager


@dataclass
class Services:
    """The services of a running extension.

    Attributes
    ----------
    jobs
        Access to the jobs of all engines.
    launch
        Fills and checks the launch form.
    logs
        Log lines of jobs.
    tensorboards
        TensorBoard processes.
    feed
        Pushes changes to the pages.
    """

    jobs: JobService
    launch: Launch
    logs: LogService
    tensorboards: TensorBoardManager
    feed: Feed

    async def start(self) -> None:
        """Start the services that run in the background."""
        await self.jobs.start()
        await self.tensorboards.start()
        await self.feed.start()

    async def stop(self) -> None:
        """Stop the services. Jobs go on; TensorBoard processes end."""
        await self.feed.stop()
        await asyncio.gather(self.tensorboards.stop(), self.jobs.stop())


def make_services(
    *,
    home: Path,
    contents_manager: Any,
    kernel_spec_manager: Any,
    kernel_manager: Any,
    session_manager: Any,
    parent: Any,
    tensorboard: dict[str, Any],
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
    jobs = JobService(load_engines(EngineContext(home, folder, resolve, lab_kernels, parent)))
    tensorboards = TensorBoardManager(root, **tensorboard)
    feed = Feed(jobs, tensorboards, jobs.capacity_source(), jobs.attend)
    jobs.listen_info(feed.look_at_engines)
    return Services(jobs, Launch(root, kernels, jobs), LogService(jobs), tensorboards, feed)
