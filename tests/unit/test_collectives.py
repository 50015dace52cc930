"""Collectives from dumps of PyTorch's flight recorder, and dumps that are hostile."""

from __future__ import annotations

import os
import pickle
import runpy
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import parse, render
from jupyterlab_t9kjob.core.manifests.support import problems
from jupyterlab_t9kjob.core.spec import Diagnostics, Entrypoint, EnvVar, JobSpec, Mount, Runtime
from jupyterlab_t9kjob.core.stacks.diagnostics import HOOK, HOOK_FILE
from jupyterlab_t9kjob.core.stacks.pickle_reader import read_pickle
from jupyterlab_t9kjob.core.stacks.traces import trace_of
from jupyterlab_t9kjob.stacks.collectives import collectives_of
from jupyterlab_t9kjob.stacks.recordings import recording_in

KINDS = ("t9k", "kubeflow")


def entry(number: int, name: str, state: str, size: int = 4, **more: Any) -> dict[str, Any]:
    """Made up in the form of version 2.10 of the recorder; no GPU was at hand to record one."""
    return {
        "process_group": ("0", "default_pg"), "collective_seq_id": number, "p2p_seq_id": 0, "is_p2p": False,
        "profiling_name": name, "input_sizes": [[size]], "input_dtypes": ["Float"], "output_sizes": [[size]],
        "output_dtypes": ["Float"], "state": state, "retired": False, "frames": [], **more,
    }  # fmt: skip


def dump(*entries: dict[str, Any]) -> dict[str, Any]:
    groups = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}}
    return {"version": "2.10", "pg_config": groups, "entries": list(entries)}


def write(folder: Path, rank: int, *entries: dict[str, Any]) -> None:
    (folder / f"trace_rank_{rank}").write_bytes(pickle.dumps(dump(*entries), protocol=2))


def test_a_rank_that_has_not_joined_and_one_that_timed_out(tmp_path: Path) -> None:
    first = entry(1, "nccl:all_reduce", "completed", retired=True)
    write(tmp_path, 0, first, entry(2, "nccl:all_reduce", "started", retired=True))  # retired but not completed
    write(tmp_path, 1, first, entry(2, "nccl:all_reduce", "started"))
    write(tmp_path, 2, first)
    recording = recording_in(tmp_path, 4)
    assert recording is not None
    (found,) = recording.collectives
    assert found.finding == "2 ranks wait in all_reduce, number 2; rank 2 has not joined"
    assert (found.missing, found.silent, found.calls[0].ranks) == ([2], [3], [0, 1])


def test_calls_that_differ() -> None:
    def finding(*entries: dict[str, Any]) -> str:
        traces = [trace_of(dump(each), rank) for rank, each in enumerate(entries)]
        return str(collectives_of(traces, len(entries))[0].finding)

    reduce = entry(7, "gloo:all_reduce", "scheduled")
    assert finding(reduce, reduce, entry(7, "gloo:all_gather", "scheduled")) == (
        "The ranks call different collectives as number 7: rank 2 in all_gather and ranks 0 and 1 in all_reduce"
    )
    assert finding(reduce, entry(7, "gloo:all_reduce", "scheduled", size=5)) == (
        "The ranks call all_reduce, number 7, with tensors of different sizes or types"
    )
    done = trace_of(dump(entry(7, "gloo:all_reduce", "scheduled", retired=True)), 0)
    assert collectives_of([done], 1) == []


@pytest.mark.parametrize(
    "data",
    [
        b"", b"cos\nsystem\n(S'true'\ntR.", pickle.dumps(print), pickle.dumps(Path("/")), b"\x80\x02]q\x00h\x05.",
        b"\x80\x02r\xff\xff\xff\x7f.", b"\x80\x02\x85.", b"\x80\x02(u.", b"\x80\x02e.",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",
        pickle.dumps(dump(entry(1, "gloo:barrier", "started")))[:-5],
    ],
)  # fmt: skip
def test_hostile_pickles_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        read_pickle(data)
    (tmp_path / "trace_rank_0").write_bytes(data)
    recording = recording_in(tmp_path, 1)
    assert recording is not None and (recording.ranks, recording.unreadable) == (0, 1)


def test_files_of_another_form_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(pickle.dumps(dump(entry(1, "gloo:barrier", "started"))))
    (tmp_path / "trace_rank_0").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "trace_rank_1")
    assert recording_in(tmp_path, 1) is None
    bomb: list[Any] = []
    for _level in range(60):
        bomb = [bomb, bomb]
    write(tmp_path, 2, entry(1, "gloo:barrier", "started", input_sizes=bomb, process_group=bomb), {"a": bomb})
    recording = recording_in(tmp_path, 1)
    assert recording is not None and recording.ranks == 1
    odd: Any
    for odd in (None, [], {"entries": 3}, {"entries": [None, {"collective_seq_id": True}], "pg_config": [1]}):
        assert trace_of(odd, 0).calls == []


@pytest.mark.parametrize("kind", KINDS)
def test_diagnostics_survive_their_manifest(kind: Any) -> None:
    spec = JobSpec(
        name="train",
        entrypoint=Entrypoint(value="/work/train.py"),
        runtime=Runtime(image="torch"),
        mounts=[Mount(claim="work", mount_path="/work")],
        env=[EnvVar(name="A", value="1"), EnvVar(name="PYTHONPATH", value="/work/lib")],
        diagnostics=Diagnostics(stacks=True, collectives=True),
    )
    manifest = render(spec, kind)
    text = str(manifest)
    assert "/work/.t9kjob/diagnostics/hook-1:/work/lib" in text
    assert "/work/.t9kjob/diagnostics/$(T9KJOB_REQUEST)/trace_rank_" in text
    assert parse(manifest).spec == spec
    # The user's settings stay, also one by the older name, which PyTorch reads only without the newer one.
    given = [EnvVar(name="TORCH_NCCL_TRACE_BUFFER_SIZE", value="20000"), EnvVar(name="PYTHONPATH", value="")]
    own = spec.model_copy(update={"env": given})
    manifest = render(own, kind)
    text = str(manifest)
    assert "TORCH_FR_BUFFER_SIZE" not in text and "20000" in text and "TORCH_FR_DUMP_TEMP_FILE" in text
    assert "'/work/.t9kjob/diagnostics/hook-1'" in text
    alone = spec.model_copy(update={"mounts": []})
    assert "NoVolume" in [check.code for check in problems(alone, kind)]


def test_the_hook_runs_the_sitecustomize_that_it_hides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os; os.environ['HIDDEN'] = 'ran'")
    monkeypatch.setenv("HIDDEN", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(HOOK))
    runpy.run_path(str(HOOK / HOOK_FILE))["run_hidden"]()
    assert os.environ["HIDDEN"] == "ran"
