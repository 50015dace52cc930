"""The log streams of a job in a cluster, from what lies on disk and what its pods tell."""

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
from ....logs.serving.sift import first_rank, first_ranks, sifted_path
from ....logs.storage import cuts
from ....logs.storage.index import span
from ....logs.storage.records import LOG_SUFFIX, SpoolRecord, key_of, read_records
from ....logs.storage.spool import INDEX_SUFFIX
from ..client.api import Json
from ..objects.container_runs import ContainerState, containers_of
from ..objects.events import uid_of
from ..objects.kinds import ReplicaView
from ..objects.text import joined
from ..reasons.replica import container_reason
from .rank_files import RankLog, find_rank_logs
from .spool_store import cuts_path

FOR_EVER: Final = (-math.inf, math.inf)
_SOURCES: Final = {"init": 0, "container": 1, "launcher": 2, "rank": 3}


@dataclass(frozen=True)
class Listing:
    """What there is of a job's log.

    Attributes
    ----------
    folder
        Where its spools and the indexes of its rank files lie.
    ranks
        The folder of its rank files, if the lab sees it.
    places, events
        Its replicas as last seen, and the cluster's events of them.
    ended
        Whether the job has ended.
    troubles
        Why the log of a container (pod uid, name) can't be kept at the moment, where that is so.
    trouble
        Why no log can.
    lifetime
        From when to when the job's pods can have begun, in seconds since the epoch: another job of the same name has
        its rank files in the same folder.
    """

    folder: Path
    ranks: Path | None
    places: Sequence[ReplicaView]
    ended: bool
    troubles: Mapping[tuple[str, str], str]
    trouble: str | None
    lifetime: tuple[float, float] = FOR_EVER
    events: Sequence[Json] = ()

    def files(self) -> list[LogFile]:
        """Return the streams, by replica, attempt and source (blocking)."""
        read = sorted(read_records(self.folder).items(), key=lambda item: (item[1].started_at or 0.0, item[0]))
        records = dict(read)
        pods = _Pods(self.folder, self.places, self.events, records)
        found = [self._spooled(record, pods) for record in records.values()]
        found += self._not_begun(records, pods)
        if self.ranks is not None:
            first, last = self.lifetime
            ranks = [log for log in find_rank_logs(self.ranks) if pods.knows(log.pod_uid) or first <= log.begun <= last]
            newest = _newest_restarts(ranks)
            found += [self._rank(log, pods, newest[log.pod_uid, log.life]) for log in ranks]
            with_ranks = {log.pod_uid for log in ranks}
            found += [
                self._launcher(record) for record in records.values() if record.pod_uid in with_ranks and record.main
            ]
        have = {file.stream.replica for file in found}
        found += [_gone(place, self.folder) for place in self.places if _is_gone(place) and place.name not in have]
        return list(_told_apart(sorted(found, key=_order)))

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

    def _waiting(self, record: SpoolRecord, pods: _Pods) -> str | None:
        place, state = pods.containers.get((record.pod_uid, record.container), (None, None))
        if place is None or state is None or state.current is not None:
            return self._trouble(record.pod_uid, record.container)
        return self._why(place, state, pods)

    def _trouble(self, pod_uid: str, container: str) -> str | None:
        return self.troubles.get((pod_uid, container), self.trouble)

    def _why(self, place: ReplicaView, state: ContainerState, pods: _Pods) -> str | None:
        """Say why nothing comes from a container: its log can't be kept, or it is still to be started."""
        trouble = self._trouble(state.pod_uid, state.name)
        if trouble is not None or not state.waits:
            return trouble
        reason = container_reason(place, state.name, pods.events.get(state.pod_uid, ()), now=time.time())
        if reason is None:
            return None
        return joined(reason.sentence + ("" if reason.sentence.endswith("…") else "."), reason.hint)

    def _not_begun(self, records: Mapping[str, SpoolRecord], pods: _Pods) -> Iterator[LogFile]:
        """Give a stream to each container that has none yet: it waits, or nobody has asked for its log."""
        for place in self.places:
            states = containers_of(place)
            trains = any(state.main and state.current is not None for state in states)
            for state in states:
                if trains and state.source == "init" and state.current is None:
                    continue
                life = state.current
                restart = life.restart if life is not None else 0
                key = key_of(state.pod_uid, state.name, restart)
                if key in records:
                    continue
                number = place.earlier + 1 + (restart if state.main else 0)
                path = self.folder / (key + LOG_SUFFIX)
                stream = LogStream(
                    id=_id(place.name, number, state.source, state.name, state.main, restart),
                    replica=place.name,
                    attempt=number,
                    source=state.source,
                    container=None if state.main else state.name,
                    size=0,
                    waiting=self._why(place, state, pods),
                )
                yield LogFile(stream, path, path.with_name(path.name + INDEX_SUFFIX), cuts_path(path))

    def _rank(self, log: RankLog, pods: _Pods, newest: int) -> LogFile:
        first = pods.first_rank(log, newest)
        replica, base = pods.replica(log.pod_uid)
        number = base + log.life + 1
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
            complete=self.ended or not pods.runs(log.pod_uid, log.life),
        )
        return LogFile(stream, log.path, index if index.exists() else None, within=self.ranks)


class _Pods:
    """The pods of a job: whose each is, its containers, and the events of it."""

    def __init__(
        self, folder: Path, places: Sequence[ReplicaView], events: Sequence[Json], records: Mapping[str, SpoolRecord]
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
        for place in places:
            if place.pod_uid is not None:
                self._replicas[place.pod_uid] = (place.name, place.earlier)
            for state in containers_of(place):
                self._replicas[state.pod_uid] = (place.name, place.earlier)
                self.containers[state.pod_uid, state.name] = place, state
                if state.main and state.current is not None and state.runs:
                    self._running[state.pod_uid] = state.current.restart
        self._only = places[0].name if len(places) == 1 else None

    def knows(self, pod_uid: str) -> bool:
        """Whether a pod is certainly one of the job's."""
        return pod_uid in self._replicas

    def replica(self, pod_uid: str) -> tuple[str, int]:
        """Return whose a pod is, and how many attempts that replica had before it."""
        known = self._replicas.get(pod_uid)
        if known is not None:
            return known
        return (self._only or f"pod-{pod_uid[:8]}", 0)

    def first_rank(self, log: RankLog, newest: int) -> int | None:
        """Return the global rank of a pod's local rank 0, if that is known.

        Parameters
        ----------
        log
            The file of one of its ranks. Ranks may change when torchrun starts its workers again.
        newest
            torchrun's newest restart count in that life of the pod.
        """
        if self._only is not None:
            return 0
        launcher = self._launchers.get((log.pod_uid, log.life))
        if launcher is None:
            return None
        told = first_ranks(launcher)
        if not told:
            return first_rank(launcher)
        if len(told) in (1, newest + 1):
            return told[min(log.worker_restart, len(told) - 1)]
        return told[-1] if log.worker_restart == newest else None

    def runs(self, pod_uid: str, life: int) -> bool:
        """Whether that life of the training container may still write."""
        return pod_uid in self._running and self._running[pod_uid] <= life


def _newest_restarts(ranks: Iterable[RankLog]) -> dict[tuple[str, int], int]:
    """Return torchrun's newest restart count by pod uid and life."""
    newest: dict[tuple[str, int], int] = {}
    for log in ranks:
        key = (log.pod_uid, log.life)
        newest[key] = max(newest.get(key, 0), log.worker_restart)
    return newest


def _told_apart(files: list[LogFile]) -> Iterator[LogFile]:
    """Give streams of one name another one: of pods of which nobody knows that there was one before."""
    known: set[str] = set()
    for file in files:
        name, again = file.stream.id, 1
        while name in known:
            again += 1
            name = f"{file.stream.id}.{again}"
        known.add(name)
        yield file if again == 1 else replace(file, stream=file.stream.model_copy(update={"id": name}))


def _is_gone(place: ReplicaView) -> bool:
    return place.pod is None and place.pod_uid is not None


def _gone(place: ReplicaView, folder: Path) -> LogFile:
    """Return the stream of a pod of which nobody has anything."""
    stream = LogStream(
        id=f"{place.name}.{place.earlier + 1}.container.out",
        replica=place.name,
        attempt=place.earlier + 1,
        source="container",
        size=0,
        complete=True,
        missing=[MissingSpan(sentence="Its log is gone with its pod; nobody followed it.", offset=0)],
    )
    return LogFile(stream, folder / f"{place.name}.gone", None)


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
