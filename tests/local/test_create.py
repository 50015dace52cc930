"""Files that the creation of a job writes, and requests that are refused before."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from tests.local.harness import Bench

pytestmark = pytest.mark.asyncio


async def test_the_record_is_its_owners_only(bench: Bench) -> None:
    job = await bench.submit("pass")
    done = await bench.ended(job.uid)
    assert done.log_location
    directory = Path(done.log_location).parent
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    for path in [directory, *directory.rglob("*")]:
        if path.is_dir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o700, path


async def test_the_same_request_makes_one_job(bench: Bench) -> None:
    spec = bench.spec("pass")
    first = await bench.engine.create(spec, namespace="", request_id="a-request")
    second = await bench.engine.create(spec, namespace="", request_id="a-request")
    bench.uids.append(first.uid)
    assert first.uid == second.uid
    with pytest.raises(Conflict) as refused:
        await bench.engine.create(spec, namespace="", request_id="another-request")
    assert refused.value.field == "/spec/name"
    await bench.ended(first.uid)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"entrypoint": {"value": "/nowhere/train.py"}}, "/spec/entrypoint/value"),
        ({"entrypoint": {"value": "/tmp"}}, "/spec/entrypoint/value"),
        ({"entrypoint": {"value": "train.py"}}, "/spec/entrypoint/value"),
        ({"working_dir": "/nowhere"}, "/spec/working_dir"),
        ({"tensorboard": {"log_dirs": ["/tmp/runs", "runs"]}}, "/spec/tensorboard/log_dirs/1"),
        (
            {"replica_specs": [{"entrypoint": {"kind": "notebook", "value": "/w/train.ipynb"}}]},
            "/spec/replica_specs/0/entrypoint/value",
        ),
        ({"replica_specs": [{"restart_policy": "Always"}]}, "/spec/replica_specs/0/restart_policy"),
        ({"elastic": {"min": 1, "max": 2}, "torchrun": {}}, "/spec/elastic"),
        ({"env": [{"name": "A", "secret": {"name": "s", "key": "k"}}]}, "/spec/env/0"),
        ({"scheduling": {"queue": "q"}}, "/spec/scheduling/queue"),
        ({"torchrun": {"proc_per_node": "gpu"}}, "/spec/torchrun/proc_per_node"),
        ({"torchrun": {"extra_options": ["--nnodes=3"]}}, "/spec/torchrun/extra_options/0"),
        (
            {"replica_specs": [{"resources": {"device": {"count": 99}}}]},
            "/spec/replica_specs/0/resources/device",
        ),
    ],
)
async def test_what_can_never_run_is_refused_and_leaves_nothing(
    bench: Bench, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(FieldError) as refused:
        await bench.submit("pass", **changes)
    assert (refused.value.field, refused.value.status) == (field, 422)
    assert list((bench.home / "jobs").iterdir()) == []
