"""The server extension: its settings, start and stop, and access to the services."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_core.paths import jupyter_data_dir
from jupyter_server._tz import utcnow
from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Dict, Enum, Float, Integer, TraitError, Unicode, default

from .core.code.git_address import GIT_SYNC_IMAGE
from .core.errors import Unavailable
from .core.system.tasks import spawn
from .core.translation import Catalogue, _, use_catalogue
from .handlers.routes import handlers
from .traits import JsonList

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from .core.engine.terminals import ShellSettings
    from .handlers.base import Socket
    from .services import Services
    from .tensorboard.process import Loader

DOMAIN = "jupyterlab_t9kjob"
"""Name of our messages in a language pack, the same as the front end's."""

START_SECONDS = 10.0
"""Delay between the server's start and the start of the services, if no request needs them before.

A page that opens with the server, as from `jupyter lab` or a hub, then gets its first answers without waiting for our
imports, which hold the interpreter for about half a second. Our own pages connect after JupyterLab's layout is shown.
"""
STOP_SECONDS = 5.0
ACTIVE_PHASES = frozenset({"Pending", "Running", "Resuming"})


class T9kJobApp(ExtensionApp):
    """The server part of jupyterlab_t9kjob."""

    name = "jupyterlab_t9kjob"
    description = "Run PyTorch DDP scripts and notebooks as distributed jobs."
    # The extension has no page of its own.
    extension_url = "/"
    load_other_extensions = True

    home = Unicode(
        help="Directory for the records and logs of jobs; by default `t9kjob` in Jupyter's data directory."
    ).tag(config=True)
    grace_seconds = Float(
        10.0, min=0, help="Seconds between SIGTERM and SIGKILL when the processes of a local job are ended."
    ).tag(config=True)
    device_pool = JsonList(
        Unicode(),
        default_value=None,
        allow_none=True,
        help="Accelerators that local jobs may use, by index or UUID; None for all that are found."
        " The server's own CUDA_VISIBLE_DEVICES limits them further.",
    ).tag(config=True)
    keep_finished_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days for which the record and logs of a local job are kept after its end; None for ever. Files that the"
        " job wrote are never removed, nor are records of another machine in the same home.",
    ).tag(config=True)
    log_bytes_per_job = Integer(
        None,
        allow_none=True,
        min=1_000_000,
        help="Bytes of a job's log that are kept on disk; None for any number. If a log is larger, the middle of its"
        " largest files is removed while the job runs, and the log says so. The file system must be able to make holes"
        " in files, as those of Linux are.",
    ).tag(config=True)
    local_jobs_are_activity = Bool(
        True,
        help="Count the server as active while a local job runs, so that the server is not culled as idle.",
    ).tag(config=True)
    activity_interval = Float(
        30.0, min=0.01, help="Seconds between two updates of the server's last activity while local jobs run."
    ).tag(config=True)
    tensorboard_idle_seconds = Float(
        3600.0, min=1, help="Seconds after which a TensorBoard that no page shows is stopped."
    ).tag(config=True)
    tensorboard_limit = Integer(10, min=1, help="TensorBoards that may run at the same time.").tag(config=True)
    tensorboard_reload_seconds = Float(5.0, min=0.1, help="Seconds between two reads of new data by TensorBoard.").tag(
        config=True
    )
    tensorboard_loader = Enum(
        ("auto", "fast", "slow"),
        "auto",
        help="Reader of event files. fast: TensorBoard's data server, which listens on a TCP port from which every user"
        " of the machine can read. slow: TensorBoard's reader in Python. auto: the fast one in a network namespace of"
        " its own if the system allows that, else the slow one.",
    ).tag(config=True)
    no_progress_seconds = Float(
        300.0,
        min=1,
        help="Seconds without a step after which a running job counts as stuck, if that is also ten times the median of"
        " its last 100 steps.",
    ).tag(config=True)
    no_output_seconds = Float(
        600.0,
        min=1,
        help="Seconds without a line of output and without an event after which a running job counts as stuck, while"
        " its steps are not known.",
    ).tag(config=True)
    history_bytes = Integer(
        None,
        allow_none=True,
        min=1_000_000,
        help="Bytes of the records of all jobs with their logs, samples and stacks; None for any number. Above it, the"
        " jobs that ended first lose their records. Files that jobs wrote are never removed.",
    ).tag(config=True)
    archive_bytes = Integer(
        4_000_000_000,
        min=1_000_000,
        help="Largest size in bytes of the archive of a job that is imported, and of its unpacked content.",
    ).tag(config=True)
    sweep_limit = Integer(24, min=1, max=1000, help="Jobs that a sweep may have.").tag(config=True)
    presets = JsonList(
        help="Presets that every launch form offers: a list of {name, values, args, engines}. The values are given by"
        " JSON pointer into the spec of a job, such as /runtime/image.",
    ).tag(config=True)
    locks = JsonList(
        help="Rules for the fields of all jobs: a list of {field, reason, engines} with one of value, allowed and"
        " maximum. The field is a JSON pointer into the spec of a job, or into its manifest (/manifest/spec/…). The"
        " server refuses jobs that break a rule.",
    ).tag(config=True)
    presets_file = Unicode(
        help="YAML or JSON file with further presets and locks, under the keys presets and locks. It is read again when"
        " it changes. No job can be submitted until it could be read once.",
    ).tag(config=True)
    webhooks = JsonList(
        help="Webhooks that get messages about the ends and delays of the jobs of this server's user: a list of"
        " {service, address, key, keyword, name}; the service is slack, feishu, dingtalk or json. Pages show only"
        " the end of the address.",
    ).tag(config=True)
    webhook_group_seconds = Float(
        30.0, min=0, help="Seconds for which events of jobs are collected into one message of a webhook."
    ).tag(config=True)
    webhook_retry_seconds = JsonList(
        Float(),
        [60.0, 540.0],
        help="Seconds before each further try to send a message that a webhook did not accept.",
    ).tag(config=True)
    snapshot_bytes = Integer(
        200_000_000, min=1_000_000, help="Largest size in bytes of the copy of a job's code that is made at submission."
    ).tag(config=True)
    snapshots_bytes = Integer(
        5_000_000_000,
        min=1_000_000,
        help="Bytes of all copies of code on a volume or on this machine. Above that, the oldest copies that no active"
        " job uses are removed.",
    ).tag(config=True)
    git_protocols = JsonList(
        Unicode(),
        ["https", "ssh"],
        help="Protocols by which jobs can read git repositories and their submodules: https, ssh, http, git, file. With"
        " file, every user can read each repository on the server's disk that the server's account can read.",
    ).tag(config=True)
    git_image = Unicode(
        GIT_SYNC_IMAGE, help="Image of git-sync, version 4, which clones the repository of a job in a cluster."
    ).tag(config=True)
    log_bytes_in_flight = Integer(
        1024 * 1024,
        min=1,
        help="Bytes of log that are sent to a page ahead of what it has shown. A slow page costs no more memory.",
    ).tag(config=True)

    kubernetes = Bool(True, help="Offer the engines of a cluster if there are credentials for one.").tag(config=True)
    kubernetes_context = Unicode(
        None,
        allow_none=True,
        help="Context of the kubeconfig; None for the pod's own service account, or else the current context.",
    ).tag(config=True)
    kubernetes_namespaces = JsonList(
        Unicode(), help="Namespaces whose jobs are listed in addition to the connection's own namespace."
    ).tag(config=True)
    kubernetes_volumes = JsonList(
        Dict(),
        help="Volumes of the cluster that are mounted on this machine, for a lab outside a pod: a list of {claim,"
        " lab_path, mount_path, sub_path, namespace, read_only}. Jobs see the files of lab_path at mount_path.",
    ).tag(config=True)
    kubernetes_owner = Unicode(
        help="Owner noted on jobs in a cluster, to tell a user's own jobs from others. A hint, no proof. By default the"
        " hub's user, the notebook's name, or the user of this process."
    ).tag(config=True)
    keep_rank_logs = Bool(
        True,
        help="Let jobs in a cluster write the log of each rank below .t9kjob/logs on their volume. These logs are"
        " complete whether this server runs or not.",
    ).tag(config=True)
    follow_replicas = Integer(
        16,
        min=0,
        help="Own jobs of up to this many replicas have the logs of their pods followed even if no page shows them.",
    ).tag(config=True)
    followed_logs = Integer(
        64,
        min=1,
        help="Logs of containers that are followed at the same time, each on a connection to the cluster. If there are"
        " more, they take turns; no lines are lost by that.",
    ).tag(config=True)

    @default("home")
    def _default_home(self) -> str:
        return str(Path(jupyter_data_dir()) / "t9kjob")

    @default("kubernetes_owner")
    def _default_owner(self) -> str:
        return default_owner(os.environ)

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
        from jupyterlab_server.translation_utils import translator

        from .jobs.stalls import Patience
        from .presets.configuration import Configuration
        from .services import make_services
        from .tensorboard.board import Settings as TensorBoardSettings

        # The bundle follows the language that is set in JupyterLab, and reads its language pack.
        bundle = cast("Catalogue", translator.load(DOMAIN))
        use_catalogue(lambda: bundle)
        assert self.serverapp is not None  # noqa: S101
        return make_services(
            home=Path(self.home).expanduser(),
            contents_manager=self.serverapp.contents_manager,
            kernel_spec_manager=self.serverapp.kernel_spec_manager,
            kernel_manager=self.serverapp.kernel_manager,
            session_manager=self.serverapp.session_manager,
            parent=self,
            sweep_limit=self.sweep_limit,
            history_bytes=self.history_bytes,
            patience=Patience(self.no_progress_seconds, self.no_output_seconds),
            tensorboard={
                "idle_seconds": self.tensorboard_idle_seconds,
                "limit": self.tensorboard_limit,
                "settings": TensorBoardSettings(
                    reload_interval=self.tensorboard_reload_seconds, loader=cast("Loader", self.tensorboard_loader)
                ),
            },
            configuration=Configuration(
                self.presets, self.locks, Path(self.presets_file).expanduser() if self.presets_file else None
            ),
            notifications={
                "webhooks": self.webhooks,
                "group_seconds": self.webhook_group_seconds,
                "retry_seconds": self.webhook_retry_seconds,
            },
            snapshots={
                "most_bytes": self.snapshot_bytes,
                "store_bytes": self.snapshots_bytes,
                "git_protocols": self.git_protocols,
                "git_image": self.git_image,
            },
        )

    async def stop_extension(self) -> None:
        """Close the WebSockets and stop the services within `STOP_SECONDS`; jobs continue to run."""
        self.stopping = True
        for socket in list(self.sockets):
            socket.close(1001, "the server stops")
        tasks: list[asyncio.Task[Any]] = [task for socket in self.sockets for task in socket.end()]
        tasks += [task for task in (self._activity, self._later, self._starting) if task is not None]
        for task in tasks:
            task.cancel()
        ends = [*tasks, *([asyncio.create_task(self._services.stop())] if self._services else [])]
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


def default_owner(environment: Mapping[str, str]) -> str:
    """Return the user of this lab: the hub's user, or else the notebook's name, or else the user of this process.

    On T9k all labs run as the same user and differ by the notebook's name (t9k.md §4.2).
    """
    if user := environment.get("JUPYTERHUB_USER"):
        return user
    if notebook := re.search(r"/(?:name|notebook/[^/]+)/([^/]+)/?$", environment.get("NB_PREFIX", "")):
        return notebook[1]
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # The uid has no entry in the user database.
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else ""
