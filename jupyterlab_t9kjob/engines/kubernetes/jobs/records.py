"""Our own record of a job in a cluster, on disk: what the cluster forgets.

``<home>/cluster/<engine>/<namespace>/<uid>/record.json``, beside it what the logs keep. A record is small, and is
replaced as a whole; where it can't be written the job is none the worse for it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import Field, ValidationError

from ....core.job import EndedBy, Event, Failure, Phase, Progress, Reason, Replica, Time
from ....core.manifests.convert import LAST_APPLIED
from ....core.manifests.leaks import masked
from ....core.manifests.names import SPEC
from ....core.spec import Model
from ....core.system.disk import trouble_of
from ....core.system.disk_threads import on_disk
from ....core.system.files import write_atomically
from ..client.api import Json
from ..client.json_access import part
from ..objects.attempts import AttemptRecord
from ..reasons.causes import EndingRecord

T = TypeVar("T")

log = logging.getLogger(__name__)

WRITE_SECONDS = 1.0
"""Between two writes of the same record, however often it changes."""
RETRY_SECONDS = 15.0
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of a record that is read; a manifest has 1.5 MiB at most."""
MOST_EVENTS: Final = 300
_GONE: Final = ".gone-"
_UID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Record(Model):
    """What is kept of a job.

    Attributes
    ----------
    cluster
        Which cluster it is in, see `Connection.cluster`.
    server
        The cluster's address, for people.
    mine
        Whether it was submitted from this home.
    submitted
        Its manifest as it was sent; None for a job that somebody else made.
    last
        Its object as last seen; of somebody else's job without its secrets, see `without_secrets`.
    withheld
        Whether such values were left out of it.
    phase, reason, ended_by
        As last known.
    started_at, ended_at
        When it first ran, and when it was first seen to have ended.
    lives
        All attempts, by replica, see `attempts`.
    endings
        How the replicas' newest pods ended, by replica, see `causes.keep`.
    failures
        How replicas failed in their newest attempts, by replica, as their logs tell it.
    progress
        How far it was when this was written.
    replicas, events
        As last known.
    deleted
        Whether its object is gone.
    remove
        Whether the record is to go as soon as that is so.
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
"""Makes a record when it is about to be written: what changes often is not made for nothing."""


class Records:
    """The records of one engine.

    Parameters
    ----------
    path
        Where they are; made when the first one is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._due: dict[str, Make] = {}
        self._dropping: set[str] = set()
        self._wake = asyncio.Event()
        self._trouble: str | None = None
        # One thread, so that what is written and removed keeps its order.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="t9kjob-records")
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> list[Record]:
        """Begin to write, and return what is there."""
        self._task = asyncio.create_task(self._run(), name="write records")
        return await self._in_thread(self._load)

    async def stop(self) -> None:
        """Write what is still to be written."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            await self._write_due()
            self._thread.shutdown(wait=False)

    def folder(self, namespace: str, uid: str) -> Path | None:
        """Return the folder of a job; None if its names can't be a path's."""
        if not (_UID.fullmatch(uid) and _NAMESPACE.fullmatch(namespace)):
            return None
        return self.path / namespace / uid

    def put(self, uid: str, make: Make) -> None:
        """Write a record, soon; not one that is just being dropped."""
        if uid not in self._dropping:
            self._due[uid] = make
            self._wake.set()

    async def put_now(self, uid: str, make: Make) -> None:
        """Write a record before anything else is done; a disk that takes none is noted, and tried again."""
        self.put(uid, make)
        await self._write_due()

    async def drop(self, record: Record) -> None:
        """Remove a job's folder.

        Raises
        ------
        OSError
            If the disk does not let it go.
        """
        self._due.pop(record.uid, None)
        self._dropping.add(record.uid)
        try:
            folder = self.folder(record.namespace, record.uid)
            if folder is not None:
                gone = await self._in_thread(_set_aside, folder)
                if gone is not None:
                    await on_disk(gone, shutil.rmtree, gone, ignore_errors=True)  # logs may be many, or large
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
            make = self._due.pop(uid, None)
            if make is None:
                continue  # it was dropped meanwhile
            try:
                record = make()
                # here and not in the thread, for what is in it changes
                await self._in_thread(self._write, record.namespace, uid, _encoded(record))
            except asyncio.CancelledError:
                self._due.setdefault(uid, make)  # `stop` writes it
                raise
            except OSError as error:
                self._due.setdefault(uid, make)
                trouble = trouble_of(error, self.path).sentence
                if trouble != self._trouble:  # once, however often it is tried again
                    log.warning("The record of a job in the cluster could not be written: %s", trouble)
                self._trouble = trouble
            except Exception:
                log.exception("The record of the job %s could not be made", uid)  # the others are written
            else:
                self._trouble = None

    def _write(self, namespace: str, uid: str, data: bytes) -> None:
        folder = self.folder(namespace, uid)
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(folder / "record.json", data)

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
    """Return a record; None for anything else that lies there."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        record = Record.model_validate_json(path.read_bytes())
    except (OSError, ValidationError, ValueError) as error:
        log.warning("The record %s can't be read: %s", path, type(error).__name__)
        return None
    return record if (record.namespace, record.uid) == path.parts[-3:-1] and record.version == 1 else None


def _encoded(record: Record) -> bytes:
    """Return a record as it is stored; exit codes become words when they are read, in the reader's language."""
    return record.model_dump_json(exclude={"failures": {"__all__": {"ended"}}}).encode()


def _set_aside(folder: Path) -> Path | None:
    gone = folder.with_name(f"{_GONE}{folder.name}")
    try:
        return folder.rename(gone)
    except FileNotFoundError:
        return None


def without_secrets(manifest: Json) -> Json:
    """Return a job's object without the values of environment variables, and without secrets in its commands.

    Names stay, and references to Secrets. kubectl's copy of the object, and our note of what it can't say, go.
    """
    kept: Json = _without_values(manifest)
    annotations = part(kept, "metadata", "annotations")
    annotations.pop(LAST_APPLIED, None)
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
    """Return why a job has ended whose object went while it was active."""
    return Reason(code="Deleted", sentence="It was deleted before it had ended.")
