"""Folders outside the contents root that jobs name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.lab import Lab, LabMount
from jupyterlab_t9kjob.core.spec import Entrypoint, EnvVar, JobSpec, Mount
from jupyterlab_t9kjob.experiments.of_jobs.outside import folders_of


def job(**spec: Any) -> Job:
    return Job(
        id="t9k:team:a:u", engine="t9k", namespace="team", name="a", uid="u", phase="Running", created_at=1.0,
        command=[], spec=JobSpec(name="a", entrypoint=Entrypoint(value="/mnt/work/train.py"), **spec),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        (None, ["data/work/.em/runs", "data/.em/runs"]),
        ("/mnt/records", ["data/records"]),
        ("records", ["data/work/records"]),
        ("/mnt/../etc", []),
        ("/elsewhere", []),
        ("/mnt/link", []),
    ],
)
def test_folders_of_a_volume_are_those_that_the_lab_mounts(
    tmp_path: Path, named: str | None, wanted: list[str]
) -> None:
    root = tmp_path / "root"
    (tmp_path / "data").mkdir()
    (tmp_path / "data/link").symlink_to("/etc")
    lab = Lab(mounts=(LabMount("data", "team", tmp_path / "data", PurePosixPath("/mnt")),))
    env = [] if named is None else [EnvVar(name="EM_RUN_PARENT_DIR", value=named)]
    mounts = [Mount(claim="data", mount_path="/mnt"), Mount(claim="unknown", mount_path="/other")]
    found = folders_of(job(env=env, mounts=mounts), lab, root)
    assert found == tuple(tmp_path / folder for folder in wanted)
    assert folders_of(job(env=env, mounts=mounts), lab, tmp_path) == ()
