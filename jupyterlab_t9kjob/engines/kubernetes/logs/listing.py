"""Lists the log streams of a job in a cluster, from the files on disk and the states of its pods."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ....core.job import LogStream, MissingSpan
from ....core.log_sources import LogFile
from ....core.translation import Text, _, sentences
from ....logs.serving.sift import first_rank, first_ranks, sifted_path
from ....logs.storage import cuts
from ....logs.storage.index import span
from ....logs.storage.records import LOG_SUFFIX, SpoolRecord, key_of, read_records
from ....logs.storage.spool import INDEX_SUFFIX
from ..client.api import Json
from ..objects.events import uid_of
from ..objects.kinds import ReplicaView
from ..objects.pods.container_runs import ContainerState, containers_of
from ..reasons.replica import container_reason
from .rank_files import RankLog, find_rank_logs
from .spool_store import cuts_path

FOR_EVER: Final = (-math.inf, math.inf)
"""Lifetime of a job whose start and end are not known."""
_SOURCES: Final = {"init": 0, "container": 1, "launcher": 2, "rank": 3}


@dataclass(frozen=True)
class Listing:
    """Facts from which the log streams of a job are listed.

    Attributes
    ----------
    folder
        Folder of the spools and of the indexes of the ranks' files.
    ranks
        Folder of the ranks' files; None if the lab does not see it.
    replicas
        The job's replicas as last seen.
    ended
        True if the job has ended.
    troubles
        Why the log of a container can't be kept at the moment, by pod uid and container name.
    trouble
        Why no log can be kept at the moment; None if logs can be kept.
    lifetime
        First and last time at which a pod of the job can have started, in seconds since the epoch. Another job of the
        same name may have its files in the same folder.
    events
        The cluster's events of the replicas.
    """

    folder: Path
    ranks: Path | None
    replicas: Sequence[ReplicaView]
    ended: bool
    troubles: Mapping[tuple[str, str], Text]
    trouble: Text | None
    lifetime: tuple[float, float] = FOR_EVER
    events: Sequence[Json] = ()

    def files(self) -> list[LogFile]:
        """Return the streams, sorted by replica, attempt and source (blocking)."""
        read = sorted(read_records(self.folder).items(), key=lambda item: (item[1].started_at or 0.0, item[0]))
        records = dict(read)
        pods = _Pods(self.folder, self.replicas, self.events, records)
        found = [self._spooled(record, pods) for record in records.values()]
        found += self._not_begun(records, pods)
        if self.ranks is not None:
            first, last = self.lifetime
            ranks = [log for log in find_rank_logs(self.ranks) if pods.knows(log.pod_uid) or first <= log.begun <= last]
            newest = _newest_restarts(ranks)
            found += [self._rank(log, pods, newest[log.pod_uid, log.container_run]) for log in ranks]
            with_ranks = {log.pod_uid for log in ranks}
            found += [
                self._launcher(record) for record in records.values() if record.pod_uid in with_ranks and record.main
            ]
        have = {file.stream.replica for file in found}
        found += [
            _gone(replica, self.folder) for replica in self.replicas if _is_gone(replica) and replica.name not in have
        ]
        return list(_with_unique_ids(sorted(found, key=_order)))

    def _spooled(self, record: SpoolRecord, pods: _Pods) -> LogFile:
        path = self.folder / (record.key + LOG_SUFFIX)
        index = path.with_name(path.name + INDEX_SUFFIX)
        record_of_cuts = cuts_path(path)
        cut = cuts.read(record_of_cuts)
        first, last = span(index) or (None, None)
        stream = LogStream(
            id=_id(record.replica, record.number, record.source, record.container, record.main, record.restart),
            replica=record.replica,
            attempt=record.number,
            source="init" if record.source == "init" else "container",
            container=None if record.main else record.container,
            size=_size(path),
            removed=cut.end - cut.start if cut is not None else 0,
            first_time=first,
            last_time=last,
            complete=record.complete,
            missing=record.missing,
            waiting=None if record.complete else self._waiting(record, pods),
        )
        return LogFile(stream, path, index, record_of_cuts)

    def _launcher(self, record: SpoolRecord) -> LogFile:
        path = sifted_path(self.folder / (record.key + LOG_SUFFIX))
        index = path.with_name(path.name + INDEX_SUFFIX)
        first, last = span(index) or (None, None)
        stream = LogStream(
            id=f"{record.replica}.{record.number}.launcher.out",
            replica=record.replica,
            attempt=record.number,
            source="launcher",
            size=_size(path),
            first_time=first,
            last_time=last,
            complete=record.complete,
        )
        return LogFile(stream, path, index)

    def _waiting(self, record: SpoolRecord, pods: _Pods) -> Text | None:
        replica, state = pods.containers.get((record.pod_uid, record.container), (None, None))
        if replica is None or state is None or state.current is not None:
            return self._trouble(record.pod_uid, record.container)
        return self._why(replica, state, pods)

    def _trouble(self, pod_uid: str, container: str) -> Text | None:
        return self.troubles.get((pod_uid, container), self.trouble)

    def _why(self, replica: ReplicaView, state: ContainerState, pods: _Pods) -> Text | None:
        """Return why a container's stream is empty: its log can't be kept, or the container is yet to be started."""
        trouble = self._trouble(state.pod_uid, state.name)
        if trouble is not None or not state.waits:
            return trouble
        reason = container_reason(replica, state.name, pods.events.get(state.pod_uid, ()), now=time.time())
        if reason is None:
            return None
        # A sentence that was cut short ends in an ellipsis.
        is_whole = not reason.sentence.endswith("…")
        sentence = _("{sentence}.", sentence=reason.sentence) if is_whole else reason.sentence
        return sentences(sentence, reason.hint)

    def _not_begun(self, records: Mapping[str, SpoolRecord], pods: _Pods) -> Iterator[LogFile]:
        """Yield a stream for each container that has no record yet: it waits, or its log has not been read."""
        for replica in self.replicas:
            states = containers_of(replica)
            trains = any(state.main and state.current is not None for state in states)
            for state in states:
                if trains and state.source == "init" and state.current is None:
                    continue
                run = state.current
                restart = run.restart if run is not None else 0
                key = key_of(state.pod_uid, state.name, restart)
                if key in records:
                    continue
                number = replica.earlier + 1 + (restart if state.main else 0)
                path = self.folder / (key + LOG_SUFFIX)
                stream = LogStream(
                    id=_id(replica.name, number, state.source, state.name, state.main, restart),
                    replica=replica.name,
                    attempt=number,
                    source=state.source,
                    container=None if state.main else state.name,
                    size=0,
                    waiting=self._why(replica, state, pods),
                )
                yield LogFile(stream, path, path.with_name(path.name + INDEX_SUFFIX), cuts_path(path))

    def _rank(self, log: RankLog, pods: _Pods, newest: int) -> LogFile:
        first = pods.first_rank(log, newest)
        replica, base = pods.replica(log.pod_uid)
        number = base + log.container_run + 1
        index = log.index_in(self.folder)
        began, last = span(index) or (None, None)
        parts = [replica, str(number), f"rank-{log.local_rank}"]
        if log.worker_restart:
            parts.append(f"r{log.worker_restart}")
        parts.append("err" if log.output == "stderr" else "out")
        stream = LogStream(
            id=".".join(parts),
            replica=replica,
            attempt=number,
            source="rank",
            output=log.output,
            local_rank=log.local_rank,
            rank=log.local_rank + first if first is not None else None,
            worker_restart=log.worker_restart,
            size=log.size,
            first_time=began,
            last_time=last,
            complete=self.ended or not pods.runs(log.pod_uid, log.container_run),
        )
        return LogFile(stream, log.path, index if index.exists() else None, within=self.ranks)


class _Pods:
    """The pods of a job, with their replicas, containers and events."""

    def __init__(
        self, folder: Path, replicas: Sequence[ReplicaView], events: Sequence[Json], records: Mapping[str, SpoolRecord]
    ) -> None:
        self._launchers = {
            (record.pod_uid, record.restart): sifted_path(folder / (record.key + LOG_SUFFIX))
            for record in records.values()
            if record.main
        }
        self.containers: dict[tuple[str, str], tuple[ReplicaView, ContainerState]] = {}
        self.events: dict[str, list[Json]] = {}
        for event in events:
            self.events.setdefault(uid_of(event), []).append(event)
        self._running: dict[str, int] = {}
        self._replicas: dict[str, tuple[str, int]] = {}
        for record in records.values():
            base = record.number - 1 - (record.restart if record.main else 0)
            self._replicas[record.pod_uid] = (record.replica, base)
        for replica in replicas:
            if replica.pod_uid is not None:
                self._replicas[replica.pod_uid] = (replica.name, replica.earlier)
            for state in containers_of(replica):
                self._replicas[state.pod_uid] = (replica.name, replica.earlier)
                self.containers[state.pod_uid, state.name] = replica, state
                if state.main and state.current is not None and state.runs:
                    self._running[state.pod_uid] = state.current.restart
        self._only = replicas[0].name if len(replicas) == 1 else None

    def knows(self, pod_uid: str) -> bool:
        """Return True if a pod certainly belongs to the job."""
        return pod_uid in self._replicas

    def replica(self, pod_uid: str) -> tuple[str, int]:
        """Return the name of a pod's replica, and the number of the replica's attempts before the pod."""
        known = self._replicas.get(pod_uid)
        if known is not None:
            return known
        return (self._only or f"pod-{pod_uid[:8]}", 0)

    def first_rank(self, log: RankLog, newest: int) -> int | None:
        """Return the global rank of a pod's local rank 0; None if it is not known.

        Parameters
        ----------
        log
            The file of one of the pod's ranks. Ranks may change when torchrun restarts its workers.
        newest
            torchrun's highest restart count in the file's container run.
        """
        if self._only is not None:
            return 0
        launcher = self._launchers.get((log.pod_uid, log.container_run))
        if launcher is None:
            return None
        ranks = first_ranks(launcher)
        if not ranks:
            return first_rank(launcher)
        if len(ranks) in (1, newest + 1):
            return ranks[min(log.worker_restart, len(ranks) - 1)]
        return ranks[-1] if log.worker_restart == newest else None

    def runs(self, pod_uid: str, run: int) -> bool:
        """Return True if a run of the training container may still write.

        Parameters
        ----------
        pod_uid
            Uid of the pod.
        run
            Number of the run in the pod, from 0.
        """
        return pod_uid in self._running and self._running[pod_uid] <= run


def _newest_restarts(ranks: Iterable[RankLog]) -> dict[tuple[str, int], int]:
    """Return torchrun's highest restart count by pod uid and container run."""
    newest: dict[tuple[str, int], int] = {}
    for log in ranks:
        key = (log.pod_uid, log.container_run)
        newest[key] = max(newest.get(key, 0), log.worker_restart)
    return newest


def _with_unique_ids(files: list[LogFile]) -> Iterator[LogFile]:
    """Yield the files with unique ids: if attempts of earlier pods are not known, two pods get the same id."""
    ids: set[str] = set()
    for file in files:
        name, again = file.stream.id, 1
        while name in ids:
            again += 1
            name = f"{file.stream.id}.{again}"
        ids.add(name)
        yield file if again == 1 else replace(file, stream=file.stream.model_copy(update={"id": name}))


def _is_gone(replica: ReplicaView) -> bool:
    return replica.pod is None and replica.pod_uid is not None


def _gone(replica: ReplicaView, folder: Path) -> LogFile:
    """Return an empty stream for a pod that no longer exists and whose log was never read."""
    stream = LogStream(
        id=f"{replica.name}.{replica.earlier + 1}.container.out",
        replica=replica.name,
        attempt=replica.earlier + 1,
        source="container",
        size=0,
        complete=True,
        missing=[MissingSpan(sentence=_("The log is lost with its pod: no lab followed it."), offset=0)],
    )
    return LogFile(stream, folder / f"{replica.name}.gone", None)


def _id(replica: str, number: int, source: str, container: str, main: bool, restart: int) -> str:
    if main:
        return f"{replica}.{number}.container.out"
    again = f".r{restart}" if restart else ""
    return f"{replica}.{number}.{source}-{container}{again}.out"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _order(file: LogFile) -> tuple[object, ...]:
    stream = file.stream
    natural = tuple(int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", stream.replica))
    rank = -1 if stream.local_rank is None else stream.local_rank
    where = (stream.attempt, _SOURCES.get(stream.source, 1), stream.container or "", stream.worker_restart, rank)
    return natural, where, stream.output == "stderr"
