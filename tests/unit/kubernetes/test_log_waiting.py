"""Why a log has nothing in it yet, in the words that the rest has for it, whatever the cluster says."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.job import LogStream
from jupyterlab_t9kjob.engines.kubernetes.client.fair_slots import Slots
from jupyterlab_t9kjob.engines.kubernetes.logs.job_logs import JobLogs
from tests.unit.kubernetes.situations import NAMES, Situation, situation

pytestmark = pytest.mark.asyncio


async def streams_of(job: Situation, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, LogStream]:
    logs = JobLogs(None, "demo", folder, ranks=None, always=True, slots=Slots(1))
    logs.update(job.replicas, ended=False, events=job.events)
    with monkeypatch.context() as patches:
        patches.setattr(time, "time", lambda: job.now)
        files = await logs.files()
    return {file.stream.id: file.stream for file in files}


@pytest.mark.parametrize("name", NAMES)
async def test_a_log_and_its_replica_give_the_same_reason(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    job = situation(name)
    for stream in (await streams_of(job, tmp_path, monkeypatch)).values():
        if stream.waiting is not None:
            reason = job.of_place(stream.replica)
            assert reason is not None
            assert stream.waiting.startswith(reason.sentence)
            assert stream.waiting.endswith(reason.hint or ".")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("image-slow", "Pulling image localhost:5999/slow/torch:1, 2 min."),
        ("init-runs", "The init container fetch is running, 1 min."),
        ("worker-waits", "Waits until the master's pod exists, 2 min."),
        ("claim-missing", "There is no PVC nowhere in namespace why · waiting 2 min."),
        ("crash-loop", "Keeps failing: It ended with exit code 1; 3 restarts so far."),
        ("node-lost", "Its pod was lost with its node why-node."),
        ("running", None),
    ],
)
async def test_what_a_container_waits_for_is_said(
    name: str, sentence: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    streams = (await streams_of(situation(name), tmp_path, monkeypatch)).values()
    found = [stream.waiting for stream in streams if stream.waiting is not None]
    assert found == [] if sentence is None else any(one.startswith(sentence) for one in found)


@pytest.mark.parametrize(
    "code", ["CreateContainerError", "CreateContainerConfigError", "RunContainerError", "Odd\x1b[2J"]
)
async def test_no_words_of_the_cluster_harm_the_view(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    job = situation("secret-key")
    words = "\x1b[31m\u202e\x00\r" + "x\n" * 100_000
    for pod in job.pods:
        for status in pod["status"]["containerStatuses"]:
            status["state"] = {"waiting": {"reason": code, "message": words}}
    (said,) = [stream.waiting or "" for stream in (await streams_of(job, tmp_path, monkeypatch)).values()]
    assert 0 < len(said) < 1000
    assert not [char for char in said if unicodedata.category(char)[0] == "C"]
