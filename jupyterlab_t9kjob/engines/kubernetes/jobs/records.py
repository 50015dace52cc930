"""Records of jobs on disk: they keep what the cluster forgets.

A record is ``<home>/cluster/<engine>/<namespace>/<uid>/record.json``; the kept logs are beside it. A record is small
and is replaced as a whole. A record that can't be written does not affect its job.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import Field, ValidationError

from ....core.job import EndedBy, Event, Failure, Phase, Progress, Reason, Replica, Time
from ....core.manifests.leaks import masked
from ....core.manifests.names import SPEC
from ....core.manifests.own_fields import without_copies
from ....core.spec import Model
from ....core.system.disk import trouble_of
from ....core.system.disk_threads import on_disk
from ....core.system.files import write_atomically
from ....core.texts.wording import duration
from ....core.translation import STORED, _, sentences
from ..client.api import Json
from ..client.json_access import part, whole
from ..objects.pods.attempts import AttemptRecord
from ..reasons.causes import EndingRecord

T = TypeVar("T")

log = logging.getLogger(__name__)

WRITE_SECONDS = 1.0
"""Shortest time between two writes of the same record."""
RETRY_SECONDS = 15.0
"""Time before the next attempt when the disk has refused a record."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""Size limit of a record that is read. A manifest has at most 1.5 MiB."""
MOST_EVENTS: Final = 300
_GONE: Final = ".gone-"
_UID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Record(Model):
    """The record of a job.

    Attributes
    ----------
    cluster
        Identifier of the job's cluster; see `Connection.cluster`.
    server
        Address of the cluster, for users.
    mine
        True if the job was submitted from this home directory.
    submitted
        The manifest that was submitted; None for other people's jobs.
    last
        The job's object as last seen; without secrets for other people's jobs, see `without_secrets`.
    withheld
        True if secrets were removed from `last`.
    phase, reason, ended_by
        State as last seen.
    started_at, ended_at
        When the job first ran, and when its end was first seen.
    lives
        All attempts by replica; see `objects.attempts`.
    endings
        Ends of the replicas' newest pods, by replica; see `causes.keep`.
    failures
        Failures of the replicas' newest attempts as their logs show them, by replica.
    progress
        Progress at the time of writing.
    replicas, events
        Replicas and events as last seen.
    deleted
        True if the job's object no longer exists.
    remove
        True if the record is to be removed when the job's object is gone.
    """

    version: int = 1
    cluster: str
    server: str
    uid: str
    namespace: str
    mine: bool = False
    submitted: dict[str, Any] | None = None
    last: dict[str, Any] = Field(default_factory=dict)
    withheld: bool = False
    phase: Phase = "Unknown"
    reason: Reason | None = None
    ended_by: EndedBy | None = None
    started_at: Time | None = None
    ended_at: Time | None = None
    lives: dict[str, list[AttemptRecord]] = Field(default_factory=dict)
    endings: dict[str, EndingRecord] = Field(default_factory=dict)
    failures: dict[str, Failure] = Field(default_factory=dict)
    progress: Progress | None = None
    replicas: list[Replica] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)
    deleted: bool = False
    remove: bool = False


Make = Callable[[], Record]
"""Makes a record at the time of writing, so that a job that changes often costs one record a write."""
Removed = Callable[[], None]
"""Called instead of writing the record of a deleted job that another lab has removed."""


class Records:
    """Reads and writes the records of one engine.

    Parameters
    ----------
    path
        Directory of the records; it is created with the first record.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._due: dict[str, tuple[Make, Removed]] = {}
        self._known: set[str] = set()
        self._dropping: set[str] = set()
        self._wake = asyncio.Event()
        self._trouble: str | None = None
        # One thread, so that writes and removals keep their order.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="t9kjob-records")
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> list[Record]:
        """Start to write records, and return the existing ones."""
        self._task = asyncio.create_task(self._run(), name="write records")
        found = await self._in_thread(self._load)
        self._known |= {record.uid for record in found}
        return found

    async def stop(self) -> None:
        """Write the records that are still due, and stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._write_due()
            self._thread.shutdown(wait=False)

    def folder(self, namespace: str, uid: str) -> Path | None:
        """Return the folder of a job; None if the namespace or the uid can't be a folder's name.

        Parameters
        ----------
        namespace, uid
            Namespace and uid of the job.
        """
        if not (_UID.fullmatch(uid) and _NAMESPACE.fullmatch(namespace)):
            return None
        return self.path / namespace / uid

    def folders(self, jobs: Iterable[tuple[str, str]]) -> dict[str, Path]:
        """Return the folders of jobs, given as namespace and uid, by uid."""
        found = {uid: self.folder(namespace, uid) for namespace, uid in jobs}
        return {uid: folder for uid, folder in found.items() if folder is not None}

    def put(self, uid: str, make: Make, removed: Removed = lambda: None) -> None:
        """Write a record soon, unless it is being removed.

        Parameters
        ----------
        uid
            Uid of the job.
        make
            Makes the record.
        removed
            Called if another lab has removed the record.
        """
        if uid not in self._dropping:
            self._due[uid] = make, removed
            self._wake.set()

    async def put_now(self, uid: str, make: Make, removed: Removed = lambda: None) -> None:
        """Write a record, and return when it is written; if the disk refuses it, it is tried again later.

        The parameters are those of `put`.
        """
        self.put(uid, make, removed)
        await self._write_due()

    async def drop(self, record: Record) -> None:
        """Remove a job's folder with its record and logs.

        Raises
        ------
        OSError
            If the folder can't be removed.
        """
        self._due.pop(record.uid, None)
        self._known.discard(record.uid)
        self._dropping.add(record.uid)
        try:
            folder = self.folder(record.namespace, record.uid)
            if folder is not None:
                gone = await self._in_thread(_set_aside, folder)
                if gone is not None:
                    await on_disk(gone, shutil.rmtree, gone, ignore_errors=True)  # Logs may be large.
        finally:
            self._dropping.discard(record.uid)

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._write_due()
            await asyncio.sleep(RETRY_SECONDS if self._due else WRITE_SECONDS)
            if self._due:
                self._wake.set()

    async def _write_due(self) -> None:
        for uid in list(self._due):
            due = self._due.pop(uid, None)
            if due is None:
                continue  # The record was removed meanwhile.
            make, removed = due
            try:
                record = make()
                # Other labs remove only records of deleted jobs.
                old = record.deleted and uid in self._known
                # Encoded here and not in the thread: the record shares objects with its job, which changes.
                if await self._in_thread(self._write, record.namespace, uid, _encoded(record), old):
                    self._known.add(uid)
                else:
                    removed()
            except asyncio.CancelledError:
                self._due.setdefault(uid, due)  # `stop` writes the record.
                raise
            except OSError as error:
                self._due.setdefault(uid, due)
                trouble = trouble_of(error, self.path).sentence
                if trouble != self._trouble:  # Log each trouble once, not at every retry.
                    log.warning("The record of a job in the cluster could not be written: %s", trouble)
                self._trouble = trouble
            except Exception:
                log.exception("The record of the job %s could not be made", uid)
            else:
                self._trouble = None

    def _write(self, namespace: str, uid: str, data: bytes, old: bool) -> bool:
        """Write a record; return False if it is an old one that was removed, although the disk is there."""
        folder = self.folder(namespace, uid)
        if folder is None:
            return True
        path = folder / "record.json"
        if old and folder.parent.is_dir():
            if not path.exists():
                return False
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, data)
        return True

    def _load(self) -> list[Record]:
        for path in self.path.glob(f"*/{_GONE}*"):
            shutil.rmtree(path, ignore_errors=True)
        found = []
        for path in self.path.glob("*/*/record.json"):
            record = _read(path)
            if record is not None:
                found.append(record)
        return found

    async def _in_thread(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)


def _read(path: Path) -> Record | None:
    """Return the record in a file; None if the file has no valid record."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        record = Record.model_validate_json(path.read_bytes())
    except (OSError, ValidationError, ValueError) as error:
        log.warning("The record %s can't be read: %s", path, type(error).__name__)
        return None
    return record if (record.namespace, record.uid) == path.parts[-3:-1] and record.version == 1 else None


def _encoded(record: Record) -> bytes:
    """Return a record as JSON; `Failure.ended` is made from the exit code when an answer is written."""
    return record.model_dump_json(context=STORED, exclude={"failures": {"__all__": {"ended"}}}).encode()


def _set_aside(folder: Path) -> Path | None:
    """Rename a folder so that it no longer counts; return its new path, or None if it does not exist."""
    gone = folder.with_name(f"{_GONE}{folder.name}")
    try:
        return folder.rename(gone)
    except FileNotFoundError:
        return None


def without_secrets(manifest: Json) -> Json:
    """Return a job's object without the values of environment variables and without secrets in commands.

    Names of variables and references to Secrets stay. Annotations that hold a copy of the specification are removed:
    kubectl's, and ours if it or the specification has changed.
    """
    kept: Json = _without_values(manifest)
    annotations = part(kept, "metadata", "annotations")
    if annotations:
        kept["metadata"]["annotations"] = annotations = without_copies(annotations, _without_values)
    if kept.get("spec") != manifest.get("spec"):
        annotations.pop(SPEC, None)
    return kept


def _without_values(value: Any, *, variables: bool = False) -> Any:
    if isinstance(value, list):
        return [_without_values(one, variables=variables) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: masked(one) if _is_command(name, one) else _without_values(one, variables=name == "env")
        for name, one in value.items()
        if not (variables and name == "value")
    }


def _is_command(name: str, value: Any) -> bool:
    words = isinstance(value, list) and all(isinstance(word, str) for word in value)
    return words and name in ("command", "args", "extraOptions")


def with_masked_commands(replicas: Sequence[Replica]) -> list[Replica]:
    """Return replicas without secrets in the commands of their pods."""
    return [
        one.model_copy(update={"pod": one.pod.model_copy(update={"command": masked(one.pod.command)})})
        if one.pod is not None
        else one
        for one in replicas
    ]


def deleted_reason() -> Reason:
    """Return the reason of a job whose object was deleted while the job was active."""
    return Reason(code="Deleted", sentence=_("The job was deleted before it ended."))


def unseen_reason(last: Json) -> Reason:
    """Return the reason of a job that was active when last seen, and whose object was removed while no lab watched.

    Parameters
    ----------
    last
        The job's object as last seen.
    """
    ttl = whole(last, "spec", "runPolicy", "ttlSecondsAfterFinished")
    ttl = whole(last, "spec", "ttlSecondsAfterFinished") if ttl is None else ttl
    look = _("Its log may tell how it ended.")
    return Reason(
        code="DeletedUnseen",
        sentence=_("The job was removed from the cluster while no lab watched, so how it ended is not known."),
        hint=look
        if ttl is None
        else sentences(_("The cluster was to remove the job {time} after its end.", time=duration(ttl)), look),
    )
