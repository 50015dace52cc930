"""The graph of runs and artifacts, of folders that the recorder wrote."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.experiments.artifacts.flow import FlowGraph, FlowRun
from jupyterlab_t9kjob.experiments.library.known import run_id
from jupyterlab_t9kjob.experiments.places import Places


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lab"
    (folder / "work").mkdir(parents=True)
    monkeypatch.chdir(folder / "work")
    return folder


def recorded(root: Path, name: str, inputs: list[em.Artifact] = (), outputs: list[em.Artifact] = ()) -> FlowRun:  # type: ignore[assignment]
    """Record a run in the working directory, and return it as the library knows it."""
    run = em.create_run(name=name)
    for artifact in inputs:
        run.mark_input(artifact)
    for artifact in outputs:
        run.mark_output(artifact)
    run.finish()
    folder = Path(str(run.local)).absolute()
    return known(root, folder, run.associations["input"], run.associations["output"])


def known(root: Path, folder: Path, inputs: list[Any], outputs: list[Any]) -> FlowRun:
    path = folder.relative_to(root).as_posix()
    name = folder.name.split("_")[0]
    return FlowRun(
        run_id(path), name, "", "complete", Text.verbatim("Complete"), path, folder, tuple(inputs), tuple(outputs)
    )


def graph_of(root: Path, *runs: FlowRun) -> FlowGraph:
    return FlowGraph(runs, Places(root), lambda folder: folder.relative_to(root).as_posix())


def test_the_graph_leads_from_run_to_run_over_an_artifact(root: Path) -> None:
    data, model = em.create_artifact("data"), em.create_artifact("model")
    train = recorded(root, "train", [data], [model])
    test = recorded(root, "test", [model])
    other = recorded(root, "other", [em.create_artifact("unrelated")])
    flow = graph_of(root, train, test, other).around(train.id)
    names = {node.id: node.name for node in flow.nodes}
    assert sorted(names.values()) == ["data", "model", "test", "train"] and not flow.truncated
    assert {(names[edge.source], names[edge.target]) for edge in flow.edges} == {
        ("data", "train"),
        ("train", "model"),
        ("model", "test"),
    }
    assert not any(edge.cycle for edge in flow.edges) and all(node.found for node in flow.nodes)
    near = graph_of(root, train, test).around(train.id, 1)
    assert sorted(node.name for node in near.nodes) == ["data", "model", "train"] and len(near.edges) == 2
    assert len(graph_of(root, train, test, other).below(root / "work").nodes) == 6
    assert graph_of(root, train).around("unknown").nodes == []


def test_an_artifact_is_found_after_its_folder_moved_to_another_volume(root: Path) -> None:
    model = em.create_artifact("model")
    run = recorded(root, "train", outputs=[model])
    entry = {**run.outputs[0], "localDir": f"/t9k/mnt/work/{model.local}"}
    assert Places(root).find(run.folder, entry) == root / "work" / str(model.local)
    elsewhere = {**entry, "name": "renamed"}  # Only the end of the path below the root tells.
    assert Places(root).find(run.folder, elsewhere) == root / "work" / str(model.local)
    assert Places(root).find(run.folder, {**entry, "localDir": "gone"}) is not None  # beside the folder `runs`


def test_a_cycle_in_the_files_has_one_arrow_back(root: Path) -> None:
    one, two = em.create_artifact("one"), em.create_artifact("two")
    first, second = recorded(root, "first", [one], [two]), recorded(root, "second", [two], [one])
    flow = graph_of(root, first, second).around(second.id)
    assert len(flow.nodes) == 4 and [edge.cycle for edge in flow.edges].count(True) == 1
    both = recorded(root, "both", [one], [one])
    assert sum(edge.cycle for edge in graph_of(root, both).around(both.id).edges) == 1


def test_a_long_chain_and_a_wide_graph_are_cut_at_the_limit(root: Path) -> None:
    def asset(number: int) -> dict[str, str]:
        return {"kind": "Model", "id": str(number), "path": f"hub/{number}"}

    chain = [known(root, root / f"r{n}", [asset(n)], [asset(n + 1)]) for n in range(1500)]
    flow = graph_of(root, *chain).around(chain[0].id)
    assert flow.truncated and len(flow.nodes) == 2000 and not any(edge.cycle for edge in flow.edges)
    assert {node.name for node in flow.nodes if node.kind == "asset"} >= {"hub/0", "hub/1"}


def test_what_is_gone_or_outside_is_not_found(root: Path, tmp_path: Path) -> None:
    gone, linked, stolen = (em.create_artifact(name) for name in ("gone", "linked", "stolen"))
    run = recorded(root, "train", [gone, linked], [stolen])
    shutil.rmtree(str(gone.local))
    outside = tmp_path / "outside"
    shutil.move(str(linked.local), outside)
    Path(str(linked.local)).symlink_to(outside)
    secret = known(root, run.folder, [{"kind": "Artifact", "name": "..", "localDir": "../../outside"}], [])
    nodes = {node.name: node for node in graph_of(root, run).around(run.id).nodes}
    assert [nodes[name].found for name in ("gone", "linked", "stolen")] == [False, False, True]
    assert nodes["gone"].path is None and nodes["linked"].path is None
    assert [node.kind for node in graph_of(root, secret).around(secret.id).nodes] == ["run"]


def test_hostile_entries_are_shown_as_they_are_or_left_out(root: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    entries: list[Any] = [
        None,
        7,
        "text",
        {},
        {"kind": "Artifact"},
        {"kind": "Artifact", "name": ["a"], "localDir": {"b": 1}},
        {"kind": "Artifact", "name": "a/../../b", "localDir": "x\0y"},
        {"kind": "Artifact", "name": "n" * 100_000},
        {"kind": "Artifact", "name": name, "localDir": "/" + "d/" * 5000},
        {"kind": "Artifact", "name": "\ud800", "localDir": "\ud800"},
        {"kind": "Model", "id": None},
        {"kind": "Model", "id": "1", "path": "p" * 100_000},
    ]
    run = known(root, root / "work" / ".em" / "runs" / "r", entries, [])
    flow = graph_of(root, run).around(run.id)
    nodes = {node.name: node for node in flow.nodes}
    assert not nodes[name].found and len(flow.nodes) == 4
    assert all(len(node.name) <= 500 for node in flow.nodes)
    assert flow.model_dump_json()
