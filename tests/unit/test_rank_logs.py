"""Rank files of a job in a cluster, on a volume that the job writes to: found, ordered, and never left by a link."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.fair_slots import Slots
from jupyterlab_t9kjob.engines.kubernetes.logs.job_logs import JobLogs
from jupyterlab_t9kjob.engines.kubernetes.logs.rank_files import RankIndexes, find_rank_logs
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView
from jupyterlab_t9kjob.logs.serving.pages import read_page
from jupyterlab_t9kjob.logs.serving.search import search
from jupyterlab_t9kjob.logs.serving.sources import Source, open_log
from jupyterlab_t9kjob.logs.storage.index import TimeIndex

pytestmark = pytest.mark.asyncio

POD = "0b5dbb3e-0c5f-4b0c-9a5b-3f1d8f9e1a11"
LATER = "9c1f7d2a-7a7e-4a1e-8e1c-2b7f5c8d2b22"


def write(folder: Path, pod: str, run: str, restart: int, rank: int, name: str, data: bytes, time: float) -> Path:
    path = folder / pod / run / f"attempt_{restart}" / str(rank) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
    os.utime(folder / pod / run / "attempt_0", (time, time))
    return path


def place(index: int, pod_uid: str, earlier: int = 0) -> ReplicaView:
    pod: dict[str, Any] = {"metadata": {"uid": pod_uid, "name": f"p-{index}"}, "spec": {}, "status": {}}
    return ReplicaView("worker", index, container="pytorch", pod_uid=pod_uid, pod=pod, earlier=earlier)


def logs(tmp_path: Path, *places: ReplicaView, **options: Any) -> JobLogs:
    found = JobLogs(None, "demo", tmp_path / "kept", ranks=tmp_path / "ranks", always=True, slots=Slots(1), **options)
    found.update(places, ended=True)
    return found


async def test_streams_are_named_as_on_one_machine(tmp_path: Path):
    ranks = tmp_path / "ranks"
    write(ranks, POD, "none_b", 0, 0, "stdout.log", b"second life\n", 200.0)
    write(ranks, POD, "none_a", 0, 0, "stdout.log", b"first life\n", 100.0)
    write(ranks, POD, "none_a", 0, 1, "stderr.log", b"", 100.0)
    write(ranks, POD, "none_a", 1, 0, "stdout.log", b"after a worker restart\n", 100.0)
    write(ranks, LATER, "none_c", 0, 0, "stdout.log", b"another pod\n", 300.0)
    job = logs(tmp_path, place(0, LATER, earlier=2), place(1, POD))
    files = {file.stream.id: file for file in await job.files() if file.stream.source == "rank"}
    assert list(files) == [
        "worker-0.3.rank-0.out",
        "worker-1.1.rank-0.out",
        "worker-1.1.rank-1.err",
        "worker-1.1.rank-0.r1.out",
        "worker-1.2.rank-0.out",
    ]
    assert files["worker-1.2.rank-0.out"].path.read_bytes() == b"second life\n"
    assert all(file.within == ranks and file.stream.complete for file in files.values())


async def test_a_pod_that_nobody_knows_is_the_only_replicas_or_told_by_its_uid(tmp_path: Path):
    write(tmp_path / "ranks", POD, "none_a", 0, 0, "stdout.log", b"x\n", 100.0)
    (file,) = (one for one in await logs(tmp_path, ReplicaView("worker", 0)).files() if one.stream.source == "rank")
    assert (file.stream.id, file.stream.rank) == ("worker-0.1.rank-0.out", 0)
    two = logs(tmp_path, ReplicaView("worker", 0), ReplicaView("worker", 1))
    (file,) = (one for one in await two.files() if one.stream.source == "rank")
    assert (file.stream.id, file.stream.rank) == ("pod-0b5dbb3e.1.rank-0.out", None)


async def test_another_job_of_the_same_name_keeps_its_rank_files_to_itself(tmp_path: Path):
    write(tmp_path / "ranks", POD, "none_a", 0, 0, "stdout.log", b"an earlier job\n", 100.0)
    write(tmp_path / "ranks", LATER, "none_b", 0, 0, "stdout.log", b"a later job\n", 300.0)

    async def pods(*places: ReplicaView, lifetime: tuple[float, float]) -> set[str]:
        files = await logs(tmp_path, *places, lifetime=lambda: lifetime).files()
        return {file.path.parts[-5] for file in files if file.stream.source == "rank"}

    only = ReplicaView("worker", 0)
    assert await pods(only, lifetime=(200.0, float("inf"))) == {LATER}
    assert await pods(only, lifetime=(50.0, 200.0)) == {POD}
    # what is known needs no clock, which may be wrong
    assert await pods(place(0, POD), lifetime=(200.0, float("inf"))) == {POD, LATER}


async def test_links_are_never_followed(tmp_path: Path):
    ranks, secret = tmp_path / "ranks", tmp_path / "secret"
    secret.mkdir()
    (secret / "stdout.log").write_text("secret")
    inner = secret / "attempt_0" / "0"
    inner.mkdir(parents=True)
    (inner / "stdout.log").write_text("secret")
    good = write(ranks, POD, "none_a", 0, 0, "stdout.log", b"good\n", 100.0)
    (good.parent / "stderr.log").symlink_to(secret / "stdout.log")
    (good.parent.parent / "1").symlink_to(secret)
    (ranks / POD / "none_b").symlink_to(secret)
    (ranks / LATER).symlink_to(secret)
    os.mkfifo(good.parent.parent / "stdout.log")
    job = logs(tmp_path, place(0, POD))
    files = [file for file in await job.files() if file.stream.source == "rank"]
    sources = [Source(file.stream.id, file.path, TimeIndex(file.index), None, file.within) for file in files]
    lines = read_page(sources, "start", "forward", 100).lines
    assert [line.text for line in lines] == ["good"]
    found = await search(sources, "secret", regex=False, case_sensitive=False, limit=10, context=0)
    assert found.hits == []
    # and not when one is put there between the listing and the reading
    good.parent.rename(good.parent.with_name("old"))
    good.parent.symlink_to(secret)
    assert read_page(sources, "start", "forward", 100).lines == []
    with pytest.raises(OSError):
        open_log(good, ranks)


async def test_what_is_no_rank_file_is_passed_over(tmp_path: Path):
    ranks = tmp_path / "ranks"
    for name in (
        "..x/a_b/attempt_0/0",
        f"{POD}/a_b/attempt_x/0",
        f"{POD}/a_b/attempt_0/zero",
        f"{POD}/a_b/attempt_0/0",
    ):
        (ranks / name).mkdir(parents=True)
        (ranks / name / "stdin.log").write_text("x")
    (ranks / POD / "a_b" / "attempt_0" / "0" / "stdout.log").mkdir()
    assert find_rank_logs(ranks) == []
    assert find_rank_logs(tmp_path / "nowhere") == []


async def test_times_are_those_at_which_a_file_was_seen_to_grow(tmp_path: Path):
    ranks, kept = tmp_path / "ranks", tmp_path / "kept"
    path = write(ranks, POD, "none_a", 0, 0, "stdout.log", b"one\n", 100.0)
    indexes = RankIndexes(kept)
    indexes.note(find_rank_logs(ranks), 500.0)
    path.write_bytes(b"one\ntwo\n")
    os.utime(path, (200.0, 200.0))
    indexes.note(find_rank_logs(ranks), 500.0)
    RankIndexes(kept).note(find_rank_logs(ranks), 500.0)
    (log,) = find_rank_logs(ranks)
    times = TimeIndex(log.index_in(kept))
    times.refresh()
    assert [times.time_at(0), times.time_at(4), times.size] == [100.0, 200.0, 8]
    assert sorted(one.name for one in path.parent.iterdir()) == ["stdout.log"]
