"""Which job wrote a folder of event files."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.experiments.facts import Facts, Source
from jupyterlab_t9kjob.experiments.library.known import Known, run_id
from jupyterlab_t9kjob.experiments.library.library import Library
from jupyterlab_t9kjob.experiments.of_jobs.owners import MARGIN_SECONDS, Owners
from jupyterlab_t9kjob.experiments.of_jobs.runs import JobRuns
from jupyterlab_t9kjob.experiments.sources.event_folder import EventSource
from jupyterlab_t9kjob.experiments.sources.recorder import RecorderSource


def a_job(number: int, created: float, ended: float | None, log_dirs: list[str], **more: Any) -> JobSummary:
    place = {"engine": "local", "namespace": "", "name": f"job{number}", "phase": "Succeeded"}
    times = {"created_at": created, "started_at": created, "ended_at": ended}
    return JobSummary(id=f"local::{number}", uid=f"u{number}", log_dirs=log_dirs, **{**place, **times, **more})


LOG_DIRS = st.sets(st.sampled_from(["/", "/w", "/w/a/", "/w/ab", "/w/a//b"]))
JOBS = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 60), LOG_DIRS), max_size=12, unique_by=lambda job: job[0])
FOLDERS = st.sampled_from(["/w", "/w/a", "/w/a/b", "/w/a/b/c/d", "/w/ab/x", "/w/abc", "/v"])


@given(JOBS, FOLDERS, st.none() | st.integers(0, 200))
def test_the_newest_job_whose_time_fits(
    written: list[tuple[int, int, set[str]]], folder: str, started: float | None
) -> None:
    jobs = [
        a_job(at, float(at), float(at + lasted), sorted(log_dirs))
        for at, lasted, log_dirs in sorted(written, key=lambda job: job[0], reverse=True)
    ]
    wanted = None
    for job in jobs:
        within = any(Path(folder).is_relative_to(log_dir) for log_dir in job.log_dirs)
        ended = job.ended_at or 0.0
        if within and (started is None or job.created_at - MARGIN_SECONDS <= started <= ended + MARGIN_SECONDS):
            wanted = job
            break
    assert Owners(jobs).of(Path(folder), started) is wanted


def test_a_job_that_runs_owns_what_is_written_now_and_one_that_never_started_owns_nothing() -> None:
    running = a_job(1, time.time() - 1000, None, ["/w"])
    pending = a_job(2, time.time() - 500, None, ["/w"], started_at=None)
    owners = Owners([pending, running])
    assert owners.of(Path("/w/a"), time.time()) is running
    assert owners.of(Path("/w/a"), None) is running


@pytest.mark.asyncio
async def test_a_round_takes_little_time_with_many_folders_and_jobs(tmp_path: Path) -> None:
    """The round is on the event loop: a second in it is a second in which the server answers nobody."""
    library = Library(ContentsRoot(LargeFileManager(root_dir=str(tmp_path))), None)

    def add(path: str, source: Source, facts: Facts) -> None:
        known = Known(run_id(path), tmp_path / path, path, source, facts=facts)
        library.runs[known.folder] = library.by_id[known.id] = known

    summaries = []
    for number in range(300):
        summaries.append(a_job(number, 1000.0 + number, 2000.0, [str(tmp_path / f"log/{number}"), f"/out/{number}"]))
        add(f"run{number}", RecorderSource(), Facts("recorder", "a", labels=[f"job-uid=u{number}"]))
    for number in range(1000):
        add(f"old/log/{number}/version_0", EventSource(), Facts("events", "a", started=5.0))
    add("log/7/version_0", EventSource(), Facts("events", "a", started=1500.0))

    async def jobs() -> list[JobSummary]:
        return summaries[::-1]

    runs = JobRuns(SimpleNamespace(jobs=jobs, engines=None), library, library._root)  # type: ignore[arg-type]
    begin = time.thread_time()
    await runs.update()
    assert time.thread_time() - begin < 0.5
    assert runs.owners == {run_id("log/7/version_0"): "local::7"}
