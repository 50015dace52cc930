"""The server extension: start and stop, and access to the services."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from jupyter_server._tz import utcnow
from jupyter_server.extension.application import ExtensionApp
from traitlets import TraitError

from .core.errors import Unavailable
from .core.system.tasks import spawn
from .core.translation import _, use_catalogue
from .handlers.routes import handlers
from .languages import lab_catalogue
from .settings import T9kJobSettings

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from .core.engine.terminals import ShellSettings
    from .handlers.base import Socket
    from .services import Services
    from .tensorboard.process import Loader

START_SECONDS = 10.0
"""Delay between the server's start and the start of the services, if no request needs them before.

A page that opens with the server, as from `jupyter lab` or a hub, then gets its first answers without waiting for our
imports, which hold the interpreter for about half a second. Our own pages connect after JupyterLab's layout is shown.
"""
STOP_SECONDS = 5.0
ACTIVE_PHASES = frozenset({"Pending", "Running", "Resuming"})


class T9kJobApp(T9kJobSettings, ExtensionApp):
    """The server part of jupyterlab_t9kjob."""

    name = "jupyterlab_t9kjob"
    description = "Run PyTorch DDP scripts and notebooks as distributed jobs."
    # The extension has no page of its own.
    extension_url = "/"
    load_other_extensions = True

    def _link_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Read the configuration, and stop the server if a value is wrong.

        Jupyter Server would log the error and load the extension with the default of every trait, so that an
        administrator's `kubernetes=False` had no effect.
        """
        try:
            super()._link_jupyter_server_extension(serverapp)
        except TraitError as error:
            serverapp.log.critical("jupyterlab_t9kjob: bad configuration: %s", error)
            serverapp.exit(1)

    def initialize_settings(self) -> None:
        """Set the initial state; the services are imported and made at their first use."""
        self.sockets: set[Socket] = set()
        self.stopping = False
        self._services: Services | None = None
        self._starting: asyncio.Task[Services] | None = None
        self._later: asyncio.Task[None] | None = None
        self._activity: asyncio.Task[None] | None = None
        self._active_jobs: set[str] = set()
        catalogue = lab_catalogue()
        use_catalogue(lambda: catalogue)

    def initialize_handlers(self) -> None:
        """Register the routes."""
        self.handlers.extend(handlers())

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:
        """Start the services later (`START_SECONDS`), unless a request starts them before."""
        self._later = spawn(self._start_later(), "start the job service later")

    async def _start_later(self) -> None:
        await asyncio.sleep(START_SECONDS)
        try:
            await self.services()
        except Exception:  # The error is raised again at the first request.
            self.log.exception("jupyterlab_t9kjob could not start")

    # -- services -----------------------------------------------------------------------------------------------------

    async def services(self) -> Services:
        """Return the started services.

        Raises
        ------
        Unavailable
            If the services can't start (the next call tries again), or if the server is stopping.
        """
        if self.stopping:  # A page whose WebSocket was closed connects again at once.
            raise Unavailable(_("The server is stopping."), code="Stopping", hint=_("Start JupyterLab again."))
        if self._services is None:
            if self._starting is None:
                self._starting = spawn(self._start(), "start the job service")
            try:
                self._services = await asyncio.shield(self._starting)
            except OSError as error:
                raise Unavailable(
                    _("The job service can't start."),
                    verbatim=str(error),
                    hint=_(
                        "It keeps its records in {folder}, which must be writable. Another folder can be set:"
                        " --T9kJobApp.home.",
                        folder=self.home,
                    ),
                ) from error
            finally:
                if self._starting is not None and self._starting.done():
                    self._starting = None
        return self._services

    def shell(self) -> ShellSettings | None:
        """Return the shell of the server's terminals; None if the server has terminals switched off."""
        from .core.engine.terminals import ShellSettings

        settings = self.serverapp.web_app.settings if self.serverapp is not None else {}
        if not settings.get("terminals_available"):
            return None
        command = getattr(settings.get("terminal_manager"), "shell_command", None)
        return ShellSettings(tuple(command or [os.environ.get("SHELL") or "sh"]))

    async def _start(self) -> Services:
        services = await asyncio.to_thread(self._make_services)
        try:
            await services.start()
        except BaseException:
            await services.stop()
            raise
        self._facts = services.jobs.engines.facts
        services.jobs.engines.listen(self._note_job)
        for job in await services.jobs.jobs():
            self._note_job(job.id, job)
        self._activity = asyncio.create_task(self._note_activity())
        return services

    def _make_services(self) -> Services:
        from .services import make_services
        from .tensorboard.board import Settings as TensorBoardSettings

        assert self.serverapp is not None  # noqa: S101
        return make_services(
            home=self.home_folder,
            contents_manager=self.serverapp.contents_manager,
            kernel_spec_manager=self.serverapp.kernel_spec_manager,
            kernel_manager=self.serverapp.kernel_manager,
            session_manager=self.serverapp.session_manager,
            parent=self,
            sweep_limit=self.sweep_limit,
            history_bytes=self.history_bytes,
            patience=self.patience(),
            tensorboard={
                "idle_seconds": self.tensorboard_idle_seconds,
                "limit": self.tensorboard_limit,
                "settings": TensorBoardSettings(
                    reload_interval=self.tensorboard_reload_seconds, loader=cast("Loader", self.tensorboard_loader)
                ),
            },
            configuration=self.presets_configuration(),
            notifications={
                "webhooks": self.webhooks,
                "group_seconds": self.webhook_group_seconds,
                "retry_seconds": self.webhook_retry_seconds,
            },
            limits=self.snapshot_limits(),
        )

    async def stop_extension(self) -> None:
        """Close the WebSockets and stop the services within `STOP_SECONDS`; jobs continue to run."""
        self.stopping = True
        for socket in list(self.sockets):
            socket.close(1001, "the server stops")
        working = [task for socket in self.sockets for task in socket.end()]
        tasks: list[asyncio.Task[Any]] = [each for each in (self._activity, self._later, self._starting) if each]
        for task in tasks:
            task.cancel()
        ends = [*tasks, asyncio.create_task(_stopped(working, self._services))]
        self._services = self._starting = self._later = self._activity = None
        try:
            await asyncio.wait_for(asyncio.gather(*ends, return_exceptions=True), STOP_SECONDS)
        except asyncio.TimeoutError:
            self.log.warning("jupyterlab_t9kjob did not stop within %g seconds", STOP_SECONDS)

    # -- activity -----------------------------------------------------------------------------------------------------

    def current_activity(self) -> int | None:
        """Return the number of running local jobs if they count as activity of the server; None if there are none."""
        return len(self._active_jobs) if self.local_jobs_are_activity and self._active_jobs else None

    def _note_job(self, ident: str, job: Any) -> None:
        # the processes of such a job end with the container of this server
        if job is not None and job.phase in ACTIVE_PHASES and self._facts(job.engine).runs_on_lab_machine:
            self._active_jobs.add(ident)
        else:
            self._active_jobs.discard(ident)

    async def _note_activity(self) -> None:
        """Update the server's last activity, by which hubs cull idle servers, while local jobs run."""
        while True:
            if self.current_activity():
                self.settings["last_activity_times"][self.name] = utcnow()
            await asyncio.sleep(self.activity_interval)


async def _stopped(working: Sequence[asyncio.Task[None]], services: Services | None) -> None:
    """Stop the services; before that, terminals end their processes, which those in a cluster need a connection for."""
    if working:
        await asyncio.wait(working, timeout=STOP_SECONDS / 2)
    if services is not None:
        await services.stop()
