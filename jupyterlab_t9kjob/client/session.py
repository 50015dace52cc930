"""`Session`: the services of the extension in a process without a server.

A session and the labs that run at the same time see the same jobs: the truth about a job is in its directory or in the
cluster, and a session is one more reader of it. Parts that only some commands need are imported when they are used, so
that a list of jobs appears quickly.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final

import anyio
from typing_extensions import Self

from ..contents_paths import ContentsRoot
from ..core.engine.context import EngineContext
from ..core.engine.interpreter import Interpreter
from ..core.engine.options import ListsLater, SpansNamespaces
from ..engines.registry import load_engines
from ..jobs.engines import Engines
from ..jobs.service import JobService

if TYPE_CHECKING:
    from ..core.translation import Text
    from ..jobs.terminals import Terminals
    from ..launch.kernels.kernels import Kernels
    from ..launch.service import Launch
    from ..logs.serving.follow import LogService
    from ..presets.service import Presets
    from ..snapshots.service import Snapshots
    from .configuration import T9kJobApp

ROOT: Final = Path("/")
"""The contents root of a session: without JupyterLab, every file that the account can read may run."""
DEFAULT_KERNEL: Final = "python3"
STOP_SECONDS: Final = 5.0
CONNECT_SECONDS: Final = 30.0
"""Longest wait for a cluster: the client of Kubernetes alone takes seconds to import on a slow machine."""


class Session:
    """Services of one process, used as an asynchronous context manager.

    Parameters
    ----------
    settings
        Settings of the extension.
    connect_seconds
        Longest wait for clusters at the start.
    engine
        The only engine that is needed; None for all.
    once
        True if the session ends when the jobs have been read once: changes of jobs are not reported.

    Attributes
    ----------
    jobs
        Access to the jobs of all engines.
    """

    def __init__(
        self,
        settings: T9kJobApp,
        connect_seconds: float = CONNECT_SECONDS,
        *,
        engine: str | None = None,
        once: bool = False,
    ) -> None:
        # Following the logs of all own jobs is the work of a process that stays.
        settings.follow_replicas = 0
        self.settings = settings
        self._connect_seconds = connect_seconds
        self.home = settings.home_folder
        context = EngineContext(self.home, ROOT, self._resolve, _no_kernels, settings, once)
        self.jobs = JobService(Engines(load_engines(context, engine)), settings.patience())

    async def __aenter__(self) -> Self:
        try:
            await self.jobs.start()
            await self._connected()
            await self.jobs.stalls.check()  # a server has looked before it is asked
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _connected(self) -> None:
        """Wait until clusters have answered and their jobs have been listed, at most `connect_seconds`."""
        later = [engine for engine in self.jobs.engines.all() if isinstance(engine, ListsLater)]
        with anyio.move_on_after(self._connect_seconds):
            while True:
                await self.jobs.engines.ready()  # returns after some seconds at the latest
                if not any([(await engine.info()).looking for engine in later]):
                    return
                await asyncio.sleep(0.05)

    async def watch_all_namespaces(self) -> list[Text]:
        """List the jobs of all namespaces that the account may list; return why others are missing."""
        able = [engine for engine in self.jobs.engines.all() if isinstance(engine, SpansNamespaces)]
        missing = await asyncio.gather(*(engine.watch_all_namespaces() for engine in able))
        await self._connected()
        return [reason for reason in missing if reason is not None]

    async def stop(self) -> None:
        """Stop the services within `STOP_SECONDS`; jobs go on."""
        # A cluster that does not answer must not hold up a command that is done.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.jobs.stop(), STOP_SECONDS)

    @cached_property
    def root(self) -> ContentsRoot:
        """The contents root."""
        return ContentsRoot(ROOT)

    @cached_property
    def kernels(self) -> Kernels:
        """The kernels of this Python's environment and of this user."""
        from jupyter_client.kernelspec import KernelSpecManager

        from ..launch.kernels.kernels import Kernels

        return Kernels(KernelSpecManager(config=self.settings.config), DEFAULT_KERNEL)

    @cached_property
    def logs(self) -> LogService:
        """Log lines of jobs."""
        from ..logs.serving.follow import LogService

        return LogService(self.jobs)

    @cached_property
    def terminals(self) -> Terminals:
        """Shells and commands in jobs."""
        from ..jobs.terminals import Terminals

        return Terminals(self.jobs)

    @cached_property
    def snapshots(self) -> Snapshots:
        """Snapshots of the code of jobs."""
        from ..snapshots.service import Snapshots

        return Snapshots(self.jobs, self.root, self.home, self.settings.snapshot_limits())

    @cached_property
    def presets(self) -> Presets:
        """Presets of the form, and the administrator's locks."""
        from ..presets.service import Presets

        settings = self.settings
        return Presets(self.home, settings.presets_configuration(), self.jobs, settings.git_image)

    @cached_property
    def launch(self) -> Launch:
        """Fills, previews and admits jobs, with the code of the form."""
        from ..launch.service import Launch

        return Launch(
            self.root, self.kernels, self.jobs, self.snapshots.taking, self.presets, self.settings.sweep_limit
        )

    async def _resolve(self, name: str | None) -> Interpreter:
        return await self.kernels.interpreter(name)


async def _no_kernels() -> Mapping[int, str]:
    return {}
