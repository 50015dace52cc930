"""The table of jobs, without a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.engines.kubernetes.cluster import Cluster
from jupyterlab_t9kjob.engines.kubernetes.jobtable import JobTable
from jupyterlab_t9kjob.engines.kubernetes.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.records import Records
from jupyterlab_t9kjob.engines.kubernetes.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.views import Seen

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(60)]


def job(uid: str, created: int) -> dict[str, Any]:
    when = f"2026-01-01T00:00:{created:02d}Z"
    return {"metadata": {"uid": uid, "name": uid, "resourceVersion": "1", "creationTimestamp": when}}


async def test_one_job_s_oddity_ends_the_telling_of_no_other(tmp_path: Path) -> None:
    def told(seen: Seen) -> None:
        if seen.job.uid == "odd":
            raise ValueError("nobody thought of this")

    records = Records(tmp_path)
    table = JobTable(
        Kubeflow(),
        Cluster(Settings(enabled=False)),
        records,
        lambda _path: None,
        owner="tester",
        told=told,
        drop=records.drop,
    )
    heard: set[str] = set()
    news = asyncio.Event()

    def listen(_ident: str, summary: JobSummary | None) -> None:
        assert summary is not None
        heard.add(summary.uid)
        news.set()

    table.listen(listen)
    await table.start()
    for number, uid in enumerate(("old", "odd", "new")):
        table.note("lab", job(uid, number))
    while heard != {"old", "new"}:
        await news.wait()
        news.clear()
    assert [summary.uid for summary in table.summaries()] == ["new", "odd", "old"]
    await table.stop()
