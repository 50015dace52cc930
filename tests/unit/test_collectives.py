"""Collectives from dumps of PyTorch's flight recorder, and dumps that are hostile."""

from __future__ import annotations

import json
import os
import pickle
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import parse, render
from jupyterlab_t9kjob.core.manifests.support import problems
from jupyterlab_t9kjob.core.spec import Diagnostics, Entrypoint, EnvVar, JobSpec, Mount, Runtime
from jupyterlab_t9kjob.core.stacks import asking, pickle_reader
from jupyterlab_t9kjob.core.stacks.diagnostics import HOOK, HOOK_FILE
from jupyterlab_t9kjob.core.stacks.pickle_reader import read_pickle
from jupyterlab_t9kjob.core.stacks.traces import trace_of
from jupyterlab_t9kjob.core.system import files
from jupyterlab_t9kjob.core.system.disk_threads import DiskSilent
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.stacks import recordings, service
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


def test_finished_ranks_and_other_backends_do_not_wait() -> None:
    def waiting(number: int, backend: str, **more: Any) -> dict[str, Any]:
        return entry(number, f"{backend}:broadcast", "started", **more)

    ranks = [
        [waiting(2, "gloo", retired=True, input_sizes=[[9]]), waiting(1, "nccl")],  # the source has gone on
        [waiting(2, "gloo")],
        [waiting(2, "gloo"), waiting(1, "nccl")],
    ]
    found = collectives_of([trace_of(dump(*each), rank) for rank, each in enumerate(ranks)], 3)
    assert [str(each.finding) for each in found] == [
        "2 ranks wait in broadcast, number 1; rank 1 has not joined",
        "2 ranks wait in broadcast, number 2",
    ]
    assert [[(call.backend, call.ranks) for call in each.calls] for each in found] == [
        [("nccl", [0, 2])],
        [("gloo", [1, 2])],
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"", b"cos\nsystem\n(S'true'\ntR.", pickle.dumps(print), pickle.dumps(Path("/")), b"\x80\x02]q\x00h\x05.",
        b"\x80\x02r\xff\xff\xff\x7f.", b"\x80\x02\x85.", b"\x80\x02(u.", b"\x80\x02e.",
        b"\x80\x02})" + 200_000 * b"\x85" + b"Ns.", b"\x80\x02}()" + 200_000 * b"\x85" + b"Nu.",
        b"\x80\x02})q\x00" + 60 * b"h\x00h\x00\x86q\x00" + b"h\x00Ns.", b"\x80\x02](NNu.", b"\x80\x02]K\x00Ns.",
        b"\x80\x02}\x8a\x08" + 8 * b"\x7f" + b"Ns.",
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


def test_long_recordings_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = tuple(range(5000))
    groups = trace_of({"pg_config": {str(number): {"ranks": ranks} for number in range(1000)}}, 0).groups
    assert 10 < len(groups) < 30 and {len(each) for each in groups.values()} == {4096}
    monkeypatch.setattr(pickle_reader, "_MOST_OPERATIONS", 1000)
    assert read_pickle(pickle.dumps([1, {"a": 2, 3: None}], 2)) == [1, {"a": 2, 3: None}]
    with pytest.raises(ValueError, match="too many"):
        read_pickle(pickle.dumps(list(range(2000)), 2))


def test_a_file_is_parsed_again_only_if_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def opened(path: Path, *, follow: bool) -> Any:
        read.append(path)
        return files.open_regular(path, follow=follow)

    monkeypatch.setattr(recordings, "open_regular", opened)
    write(tmp_path, 0, entry(1, "nccl:barrier", "started"))
    first = recording_in(tmp_path, 2)
    assert recording_in(tmp_path, 2) == first and len(read) == 1
    write(tmp_path, 0, entry(1, "nccl:barrier", "started"), entry(2, "nccl:barrier", "started"))
    write(tmp_path, 1)
    assert recording_in(tmp_path, 2) != first and len(read) == 3


async def test_kept_stacks_are_shown_without_a_recording_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_folder: Path, _expected: int | None) -> None:
        raise DiskSilent(Text.verbatim("slow"), str(tmp_path), code="DiskSlow", hint=Text.verbatim(""))

    async def job(_ident: str) -> Any:
        return SimpleNamespace(id="a", processes=1, spec=SimpleNamespace(diagnostics=Diagnostics(collectives=True)))

    engine = SimpleNamespace(
        trace_folder=lambda _uid: tmp_path, facts=SimpleNamespace(runs_on_lab_machine=True), label=""
    )
    engines = SimpleNamespace(find=lambda _ident: (engine, "uid"))
    jobs: Any = SimpleNamespace(job=job, engines=engines)
    monkeypatch.setattr(service, "recording_in", slow)
    root: Any = None
    listed = await service.Stacks(root, jobs, tmp_path).kept("a")
    assert (listed.dumps, listed.recording) == ([], None)


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


def test_answers_of_a_rank_are_short_and_a_pipe_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = entry(1, "gloo:all_reduce", "started", input_sizes=[[4]] * 1000)
    recorder = SimpleNamespace(_dump_fr_trace_json=lambda *_flags: json.dumps(dump(long)))
    monkeypatch.setitem(sys.modules, "torch._C._distributed_c10d", recorder)
    (kept,) = runpy.run_path(str(HOOK / HOOK_FILE))["traces"]()
    assert (kept["entries"][0]["input_sizes"], kept["entries"][0]["process_group"]) == ([[4]] * 4, ["0", "default_pg"])
    os.mkfifo(tmp_path / "7.ask")
    listening = os.open(tmp_path / "7.ask", os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.setattr(os, "remove", lambda _path: os.mkfifo(tmp_path / "7.trace"))
    assert asking.asked_traces(7, {asking.TRACES_MARK: str(tmp_path)}, 100) == []
    os.close(listening)
