"""Optional protocols of engines: each adds one ability to `core.engine.protocol.Engine`.

An engine satisfies a protocol by having its methods; nothing is registered. `JobService` answers for one without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..capacity import Capacity, NodeList, QueueList
    from ..checks import Capability, Preview
    from ..job import Event, Job, ManifestView
    from ..lab import Lab
    from ..manifests.schema import KindSchema
    from ..resources import Samples, SampleSpan
    from ..spec import JobSpec
    from ..stacks.raw import TakenStacks
    from ..sweep import Verdict
    from ..translation import Text
    from .info import Volume
    from .protocol import Edited, Engine


@runtime_checkable
class HasEvents(Protocol):
    """The engine records events of its jobs."""

    async def events(self, uid: str) -> list[Event]:
        """Return a job's events, newest first; repeated events are one entry with a count.

        Raises
        ------
        NotFound
            If there is no such job.
        """


@runtime_checkable
class KnowsOutput(Protocol):
    """The engine knows when a job last wrote something, so that a job that falls silent is noticed."""

    async def last_output(self, uid: str) -> float | None:
        """Return the time of the last line of any rank, in seconds since the epoch.

        None if the engine does not follow the job's log now. A job that has written nothing has the time of its start.

        Raises
        ------
        NotFound
            If there is no such job.
        """


@runtime_checkable
class TakesStacks(Protocol):
    """The engine takes the stacks of a job's ranks."""

    async def stacks_capability(self, uid: str) -> Capability:
        """Return whether stacks of a job can be taken now, or why not.

        Raises
        ------
        NotFound
            If there is no such job.
        """

    async def take_stacks(self, uid: str, *, native: bool) -> TakenStacks:
        """Take the stacks of all ranks that run. The processes stand still for some milliseconds.

        Parameters
        ----------
        uid
            The job.
        native
            True for frames of C as well.

        Raises
        ------
        JobError
            If no replica can be asked.
        """


@runtime_checkable
class KeepsTraces(Protocol):
    """The engine's jobs write the files of PyTorch's flight recorder to a folder that the lab sees."""

    def trace_folder(self, uid: str) -> Path:
        """Return the folder of a job, which need not exist.

        Raises
        ------
        NotFound
            If there is no such job.
        """


@runtime_checkable
class Previews(Protocol):
    """The engine renders and checks a job before it is submitted."""

    async def preview(
        self, spec: JobSpec, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a spec without creating anything.

        Parameters
        ----------
        spec, namespace
            The job.
        edited
            A manifest that would be submitted instead of the spec's own.
        dry_run
            Also ask the cluster whether it would accept the job.

        Raises
        ------
        JobError
            If a dry run is refused, or cannot be made.
        """


@runtime_checkable
class HasManifests(Protocol):
    """The engine's jobs are written as manifests, of the kind that `EngineFacts.manifest_kind` names."""

    async def manifest(self, uid: str) -> ManifestView:
        """Return a job's manifest as submitted and as it is now.

        Raises
        ------
        NotFound
            If there is no such job.
        """


@runtime_checkable
class HasDialect(Protocol):
    """The engine's cluster may use another dialect of the manifest kind than the usual one."""

    async def dialect(self) -> Any:
        """Return the dialect as the kind's `translate` accepts it; the usual one until the cluster has answered."""


@runtime_checkable
class HasManifestSchema(Protocol):
    """The engine's cluster has a schema of the manifest kind. Other engines use the kind's known fields."""

    async def manifest_schema(self) -> KindSchema:
        """Return the cluster's schema of the manifest kind; that of the known fields if it can't be read."""


@runtime_checkable
class InheritsFromLab(Protocol):
    """The engine's jobs take volumes, image and ids from JupyterLab's own pod."""

    async def lab(self, namespace: str | None = None) -> Lab | None:
        """Return the lab's defaults for jobs, with the namespace's security standard if one is given; None for none."""


@runtime_checkable
class HasVolumes(Protocol):
    """The engine's jobs mount volumes."""

    async def volumes(self, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can mount.

        Raises
        ------
        NotAllowed
            If the account has no permission to list volumes.
        FieldError
            If the namespace does not exist.
        """


@runtime_checkable
class HasQueues(Protocol):
    """The engine's jobs can be put into queues."""

    async def queues(self, namespace: str) -> QueueList:
        """Return the queues that a job in a namespace can be put into."""


@runtime_checkable
class HasResources(Protocol):
    """The engine knows, or may know, what its jobs use of CPU, memory, GPUs, network and disk.

    States: no samples yet (`Samples.tiers` is empty, `unavailable` is None), samples, samples with `trouble` (the
    source was lost, older samples are kept), and `unavailable` with the reason and who can change that.
    """

    async def samples(self, uid: str, span: SampleSpan) -> Samples:
        """Return a job's samples, also after its end.

        Parameters
        ----------
        uid
            The job.
        span
            Range and number of points that are needed, for engines that ask another service.

        Raises
        ------
        NotFound
            If there is no such job.
        """

    async def samples_version(self, uid: str) -> str:
        """Return a text that changes when there are newer samples. It is called once a second while a page waits.

        Raises
        ------
        NotFound
            If there is no such job.
        """


@runtime_checkable
class HasCapacity(Protocol):
    """The engine knows how much of its resources is free."""

    async def capacity(self, namespace: str) -> Capacity:
        """Return what is free now, and the quotas of a namespace; of all watched namespaces if it is empty."""


@runtime_checkable
class HasNodes(Protocol):
    """The engine knows its nodes."""

    async def nodes(self) -> NodeList:
        """Return the nodes with what is free on each."""


@runtime_checkable
class LeasesSweeps(Protocol):
    """The engine keeps leases, so that of several labs only one starts the next jobs of a sweep."""

    async def lease_sweep(self, uid: str, holder: str, seconds: float) -> bool:
        """Take or renew the lease of a sweep; return False if another lab holds it.

        Parameters
        ----------
        uid
            The job that carries the lease: the first one of the sweep that has not ended.
        holder
            Id of this lab.
        seconds
            Time after which another lab may take the lease.
        """


@runtime_checkable
class EndsForSweep(Protocol):
    """The engine ends a job on account of its sweep, and keeps the reason."""

    async def end_for_sweep(self, uid: str, verdict: Verdict) -> None:
        """End a job that is worse than the other jobs of its sweep.

        Nothing happens if the job was ended for this before and a user has resumed it.

        Parameters
        ----------
        uid
            The job.
        verdict
            Reason for the end; the engine keeps it.

        Raises
        ------
        JobError
            If the job can't be ended now.
        """


@runtime_checkable
class KeepsHistory(Protocol):
    """The engine keeps a folder for each job on this disk, with its record, and `logs` and `resources` in it."""

    def history_folders(self) -> dict[str, Path]:
        """Return the folders by the uid of their job. A folder need not exist."""


@runtime_checkable
class ImportsJobs(Protocol):
    """The engine shows jobs from archives that another lab exported."""

    async def import_job(self, archive: Path) -> tuple[Job, dict[str, bytes]]:
        """Import an archive; return the new job, and its stacks as JSON by id, which are not checked.

        Parameters
        ----------
        archive
            The archive. Its content may come from anywhere.

        Raises
        ------
        BadRequest
            If the file is no archive of a job.
        TooLarge
            If the archive, or its unpacked content, exceeds a limit.
        OSError
            If the archive can't be read, or the disk is full.
        """


class CapacitySource(Protocol):
    """Keeps the capacity current while at least one client subscribes."""

    async def now(self) -> Capacity:
        """Return the current capacity.

        Raises
        ------
        JobError
            If the capacity is unknown.
        """

    def subscribe(self, moved: Callable[[], None]) -> Callable[[], None]:
        """Call `moved` after every change of the capacity; return a function that ends the subscription."""


@runtime_checkable
class SharesCapacity(Protocol):
    """The engine keeps the capacity in the sidebar up to date."""

    def capacity_source(self) -> CapacitySource:
        """Return the source. If several engines have one, the sidebar shows that of the first engine."""


@runtime_checkable
class Refreshes(Protocol):
    """The engine caches the resources of its cluster and the account's permissions."""

    async def refresh(self) -> None:
        """Read the resources and permissions again."""


@runtime_checkable
class ListsLater(Protocol):
    """The engine reads the list of its jobs after `start` has returned, for example from a cluster."""

    async def ready(self) -> None:
        """Wait until the jobs have been listed once, or a few seconds if the cluster does not answer."""


@runtime_checkable
class ReadsLater(Protocol):
    """The engine lists a job before it has read the job's specification, so that a long list appears quickly."""

    async def read(self) -> None:
        """Wait until the rows of all listed jobs have the facts that are in their specifications."""


@runtime_checkable
class SpansNamespaces(Protocol):
    """The engine lists the jobs of some namespaces, and of others on request."""

    async def watch_all_namespaces(self) -> Text | None:
        """List the jobs of all namespaces that the account may list, from now on.

        Returns
        -------
        Text or None
            Why jobs of other namespaces are missing; None if none are.
        """


@runtime_checkable
class AnnouncesInfo(Protocol):
    """The engine knows when its `info` has changed. Without this protocol it is asked every ten seconds."""

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` after every change of `info`; return a function that ends the subscription."""


@runtime_checkable
class RunsTries(Protocol):
    """The engine runs jobs on this machine, so it can also try a job here before it is submitted elsewhere."""

    def engine_for_tries(self, home: Path) -> Engine:
        """Return an engine whose jobs have low priority and records of their own, apart from the jobs of this engine.

        Parameters
        ----------
        home
            Folder for the records of the tries; it may not exist yet.
        """


@runtime_checkable
class Attends(Protocol):
    """The engine works harder while a page is open, for example to notice a lost connection sooner."""

    def attend(self) -> Callable[[], None]:
        """Note that a page is open; return a function to call when the last page is closed."""
