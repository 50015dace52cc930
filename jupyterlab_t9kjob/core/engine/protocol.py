"""The protocol that every engine satisfies. `JobService` and all code above it know engines only by this protocol.

An engine is one place where jobs run: this machine, a kind of object in a cluster, a batch system. An engine with
more abilities also satisfies protocols of `core.engine.options`. `docs/developer/write-an-engine.md` is a tutorial.

States
------
A job has one of seven phases. Only its engine changes the phase, and it notifies its listeners of every change::

    Pending ──▶ Running ──▶ Succeeded | Failed        an ended job never leaves its phase
       ▲           │
       │           ▼
    Resuming ◀── Paused                               only engines with the capability `pause`

`Unknown` is the phase of a job whose state cannot be read now. Between a request and its effect the phase does not
change, and `JobSummary.pending_action` names the request. A deleted job has `deleted` set until its record is removed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..job import Action, EngineName, Job, JobSummary, Replica
from ..log_sources import LogSource
from ..spec import JobSpec
from ..translation import Text
from .info import EngineFacts, EngineInfo


@dataclass(frozen=True)
class Edited:
    """A manifest that a user wrote or changed by hand. It is submitted unchanged.

    Attributes
    ----------
    manifest
        The manifest.
    text
        The manifest as YAML text.
    """

    manifest: dict[str, Any]
    text: str


Listener = Callable[[str, JobSummary | None], None]
"""Called with a job's id and its new summary; the summary is None if the job is no longer listed."""

Prepare = Callable[[], Awaitable[None]]
"""Writes what a job needs on disk, such as the script of a notebook. Called once the engine has accepted the job."""


class Engine(Protocol):
    """One place where jobs run.

    Contract
    --------
    - `start` is awaited once, before any other coroutine; `stop` is awaited once, as the last one, also if
      `start` failed. Jobs outlive both.
    - All coroutines run on the event loop of the Jupyter server and never block it: they read files and wait for
      processes in threads.
    - A failure that a user can see is raised as a `core.errors.JobError`. Any other exception counts as a defect of the
      engine: it is logged, and other engines go on.
    - Parameters called `uid` are the last part of a job's id, `JobSummary.uid`. A uid that the engine does not know
      raises `NotFound`.
    - The engine keeps the identity of its jobs: `JobSummary.id` is ``job_id(name, namespace, job's name, uid)``, and a
      uid is never used twice.

    Attributes
    ----------
    name
        The engine's name in ids, requests and settings; also the name of its entry point.
    label
        The engine's name on the screen: “This machine”.
    facts
        Facts about its jobs. They never change.
    order
        Position in lists: engines are sorted by this number, then by name. Those of this package have 10, 20 and 30.
    """

    name: EngineName
    label: Text
    facts: EngineFacts
    order: int

    async def start(self) -> None:
        """Load the existing jobs and begin to watch them.

        If the engine can't work now, for example because its cluster does not answer, this method returns nevertheless.
        The engine reports the reason in `info` and retries by itself.
        """

    async def stop(self) -> None:
        """Stop watching. Jobs go on."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after every change of a job, on the event loop.

        Returns
        -------
        Callable
            Ends the subscription.
        """

    async def info(self) -> EngineInfo:
        """Return the engine's present state. The method is called often and must be fast."""

    async def jobs(self) -> list[JobSummary]:
        """Return all jobs that the engine knows, newest first; an empty list while it has no connection."""

    async def job(self, uid: str) -> Job:
        """Return one job in full.

        Raises
        ------
        NotFound
            If there is no such job.
        """

    async def replicas(self, uid: str) -> list[Replica]:
        """Return the job's replicas with their attempts, in the spec's order. Planned replicas are included.

        Raises
        ------
        NotFound
            If there is no such job.
        """

    async def created_by(self, request_id: str) -> Job | None:
        """Return the job that a request created, through this server or another one; None if there is none."""

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
        """Create a job and start it, unless `spec.paused` is set.

        Parameters
        ----------
        spec
            The job.
        namespace
            Namespace of the job; empty if the engine has no namespaces.
        request_id
            Id of the request. If a job of this id exists, that job is returned and no job is created.
        edited
            A manifest that is submitted unchanged instead of the spec's own; the spec describes it. None for engines
            without a manifest kind.
        rerun_of
            Id of the job that the new job repeats, or was cloned from.
        prepare
            Awaited after all checks have passed, and before the job's processes start.

        Raises
        ------
        FieldError
            If a field of the spec can't run on this engine. No job was created.
        Conflict
            If the name is taken.
        NotAllowed
            If the account lacks a permission.
        Unavailable
            If the engine can't be reached.
        """

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Begin to stop, pause, resume or delete a job; return it with the `pending_action`.

        Parameters
        ----------
        uid
            The job.
        action
            One of the job's `actions`. The same request again has no further effect.
        remove
            For `delete`: remove the record and the logs as soon as the job has ended, also if this server is killed
            before.

        Raises
        ------
        Conflict
            If the job's phase does not allow the action.
        """

    async def remove(self, uid: str) -> None:
        """Remove the record and the logs of an ended job, and none of the user's files. Notify listeners with None.

        Raises
        ------
        Conflict
            If the job has not ended.
        """

    async def log_sources(self, uid: str) -> Sequence[LogSource]:
        """Return the log streams that exist now, in a stable order, each as a file or as a reader.

        Raises
        ------
        NotFound
            If there is no such job.
        Unavailable
            If the logs cannot be listed now.
        """

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called.

        If the job has ended, logs that must be fetched are complete when this method returns.

        Parameters
        ----------
        uid
            The job.
        grown
            Called on the event loop after this server has received more bytes. The server watches the size of a
            `LogFile` that other processes write. It notices the growth of a `LogReader` only by this call.

        Returns
        -------
        Callable
            Ends the subscription.
        """
