"""Tries of jobs for a cluster on the lab's machine: what only the cluster has is not tried, and never failed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyterlab_t9kjob.tries.model import MOST_SECONDS
from tests.patience import PATIENCE
from tests.server.cluster.conftest import Place

TRAINING = """\
import os
import torch.distributed as dist
dist.init_process_group("gloo")
print("rank", dist.get_rank(), "in", os.getcwd(), os.environ.get("MODE"), flush=True)
"""


async def tried(cluster: Place, script: str, path: str = "work/proj/train.py", **changes: Any) -> dict[str, Any]:
    """Return the result of a try of a script, whose form has some other values."""
    cluster.write(path, script)
    spec = {**(await cluster.form(path))["spec"], **changes}
    answer = await cluster.api(
        "POST",
        "tries",
        body={"engine": "t9k", "namespace": "team", "spec": spec, "path": path, "seconds": MOST_SECONDS},
    )
    assert answer.status == 201, answer.json
    view = answer.json
    async with asyncio.timeout(2 * PATIENCE):
        while view["state"] == "running":
            view = (await cluster.api("GET", "tries", view["id"], after=view["revision"])).json
    assert not cluster.t9k.submitted
    return view


async def test_a_job_for_a_cluster_passes_here(cluster: Place) -> None:
    """The script runs at the lab's path of the volume; the result says what was left out."""
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
        "cells": [{"cell_type": "code", "source": TRAINING, "metadata": {}, "outputs": [], "execution_count": None}],
    }
    group = {"replicas": 4, "resources": {"device": {"count": 4}}}
    elastic = {"min": 1, "max": 4, "expected": 2}
    env = [{"name": "MODE", "value": "fast"}, {"name": "TOKEN", "secret": {"name": "hub", "key": "token"}}]
    mounts = [{"claim": "work", "mount_path": "/t9k/mnt"}, {"claim": "once", "mount_path": "/once"}]
    changes = {"replica_specs": [group], "elastic": elastic, "env": env, "mounts": mounts}
    view = await tried(cluster, json.dumps(notebook), "work/proj/explore.ipynb", **changes)
    assert (view["state"], view["processes"]) == ("passed", 2), view
    folder = cluster.root / "work" / "proj"
    assert {f"rank {rank} in {folder} fast" for rank in (0, 1)} <= {line["text"] for line in view["lines"]}
    assert view["untried"][:2] == [
        "8 GPUs and nccl: the try uses the processor.",
        "The network between 2 nodes: the try runs on one.",
    ]
    assert view["untried"][2].startswith("The image lab:1: the try runs in the kernel “")
    assert view["untried"][3:] == [
        "The volumes at /once, which JupyterLab does not have.",
        "Values from Secrets: TOKEN are not set.",
    ]


async def test_what_only_the_job_has_is_not_tried(cluster: Place) -> None:
    """A module of the image is not tried; one of the user, which is not on Python's path, fails as in the cluster."""
    cluster.write("work/proj/parts/own_parts.py", "")
    view = await tried(cluster, "import os\nimport nowhere.special\n")
    assert (view["state"], view["reason"]) == ("not_tried", None), view
    assert view["sentence"] == "The module nowhere is not installed here; the job's image may have it."
    assert "install nowhere in the kernel" in view["hint"]
    assert ("work/proj/train.py", 2) in [(frame["path"], frame["line"]) for frame in view["failure"]["frames"]]
    view = await tried(cluster, "import os\nimport own_parts\n")
    assert view["state"] == "failed", view


async def test_scripts_that_the_lab_does_not_see(cluster: Place) -> None:
    for value, words in [
        ("/workspace/train.py", "/workspace/train.py does not exist on this machine; the job's image may have it."),
        ("/once/train.py", "This machine does not have /once/train.py of the PVC once."),
    ]:
        mounts = [{"claim": "once", "mount_path": "/once"}]
        changes = {"entrypoint": {"kind": "script", "value": value}, "mounts": mounts, "working_dir": None}
        view = await tried(cluster, TRAINING, **changes)
        assert (view["state"], view["sentence"]) == ("not_tried", words)
        assert view["command"] == "" and view["lines"] == []
    repository = {"kind": "git", "address": "https://example.org/team/training.git"}
    view = await tried(cluster, TRAINING, entrypoint={"kind": "script", "value": "train.py"}, source=repository)
    assert view["sentence"] == "The script is in a git repository that is cloned only for the job."
