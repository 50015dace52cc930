"""From a file of the lab to a job in a cluster: the form, what it amounts to, and what is submitted."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from jupyterlab_t9kjob.core.capacity import Queue
from jupyterlab_t9kjob.core.checks import Check
from jupyterlab_t9kjob.core.engine.info import EngineFacts, EngineInfo, RuntimeImage, Volume
from jupyterlab_t9kjob.core.lab import Lab, LabMount
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Runtime
from tests.server.cluster.conftest import Place

WORK = {"claim": "work", "mount_path": "/t9k/mnt", "sub_path": None, "read_only": False, "volume": None}
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "language": "python"}},
    "cells": [{"cell_type": "code", "source": "print(1)"}],
}


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_a_form_that_is_ready_to_submit(cluster: Place, engine: str) -> None:
    cluster.write("work/proj/train.py")
    form = await cluster.form("work/proj/train.py", engine)
    spec = form["spec"]
    assert (form["engine"], form["namespace"], form["root"]) == (engine, "team", None)
    assert spec["name"] == "train-1"
    assert spec["entrypoint"] == {"kind": "script", "value": "/t9k/mnt/proj/train.py"}
    assert spec["working_dir"] == "/t9k/mnt/proj"
    assert spec["mounts"] == [WORK]
    assert spec["args"] == ["--log_dir", "runs/train-1"]
    assert spec["tensorboard"] == {"log_dirs": ["/t9k/mnt/proj/runs/train-1"], "cluster": None}
    assert (form["runs_dir"], form["follow_name"]) == ("/t9k/mnt/proj/runs", ["--log_dir"])
    assert spec["security"] == {"uid": 1000, "gid": 100, "fs_group": 2000, "restricted": False}
    # the tests' own Python has torch, so the lab's image is taken to have it
    image = Runtime(image="lab:1", pull_policy="IfNotPresent", pull_secrets=["regcred"])
    assert (Runtime.model_validate(spec["runtime"]), form["empty"]) == (image, [])
    assert spec["torchrun"]["proc_per_node"] == 2
    group = spec["replica_specs"][0]
    assert (group["replicas"], group["restart_policy"], group["resources"]["device"]) == (1, "Never", None)
    assert (spec["run_policy"]["backoff_limit"], spec["run_policy"]["clean_up"]) == (3, "Unfinished")
    assert spec["shm"] is not None and spec["keep_logs"] and not spec["paused"]
    assert not [line for line in form["checks"] if line["level"] != "passed"], form["checks"]
    preview = (await cluster.preview(engine, spec=spec, path="work/proj/train.py")).json
    assert "claimName: work" in preview["manifest"] and preview["kernel"] is None
    answer = await cluster.create(engine, spec=spec, path="work/proj/train.py")
    assert (answer.status, answer.json["namespace"], answer.json["name"]) == (201, "team", "train-1")
    [(submitted, _namespace, edited)] = getattr(cluster, engine).submitted
    assert submitted == JobSpec.model_validate(spec) and edited is None


async def test_names_are_free_in_the_cluster(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = JobSpec(name="train-4", entrypoint=Entrypoint(kind="command", value="make"))
    cluster.kubeflow.put(spec=spec, engine="kubeflow", namespace="team")
    cluster.t9k.put(spec=spec.model_copy(update={"name": "train-9"}), engine="t9k", namespace="other")
    assert (await cluster.form())["spec"]["name"] == "train-5"
    (cluster.root / "work/runs/train-6").mkdir(parents=True)
    assert (await cluster.form())["spec"]["name"] == "train-7"
    again = (await cluster.form(spec=(await cluster.form())["spec"]))["spec"]
    assert again["name"] == "train-7" and again["tensorboard"]["log_dirs"] == ["/t9k/mnt/runs/train-7"]


async def test_an_image_that_was_used_before(cluster: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.write("work/train.py")
    monkeypatch.setenv("PATH", "/nowhere")
    form = await cluster.form()
    assert (form["spec"]["runtime"]["image"], form["empty"]) == (None, ["/spec/runtime/image"])
    # Without earlier jobs: of a training runtime of the cluster or of this namespace, or rather of a preset.
    cluster.t9k.images = [RuntimeImage(image="theirs:1", runtime="a", namespace="other")]
    assert (await cluster.form())["empty"] == ["/spec/runtime/image"]
    cluster.t9k.images += [RuntimeImage(image="offered:1", runtime="torch-distributed")]
    form = await cluster.form()
    assert (form["spec"]["runtime"]["image"], form["empty"]) == ("offered:1", [])
    for name, values, engines in (
        ("other", {"/runtime/image": "no:1"}, ["kubeflow"]),
        ("none", {"/keep_logs": False}, []),
        ("own", {"/runtime": {"image": "preset:1"}}, ["t9k"]),
    ):
        body = {"name": name, "values": values, "engines": engines}
        assert (await cluster.api("POST", "launch", "presets", body=body)).status == 201
    assert (await cluster.form())["spec"]["runtime"]["image"] == "preset:1"
    spec = JobSpec(name="a", entrypoint=Entrypoint(kind="command", value="make"))
    cluster.t9k.put(spec=spec, engine="t9k", namespace="team", created_at=3.0)
    runtime = Runtime(image="torch:2", pull_policy="Always")
    used = spec.model_copy(update={"name": "b", "runtime": runtime})
    cluster.kubeflow.put(spec=used, engine="kubeflow", namespace="other", created_at=2.0)
    theirs = spec.model_copy(update={"name": "c", "runtime": Runtime(image="theirs:1")})
    cluster.t9k.put(spec=theirs, engine="t9k", namespace="team", created_at=4.0, mine=False)
    form = await cluster.form()
    assert (form["spec"]["runtime"], form["empty"]) == (runtime.model_dump(), [])
    begun = spec.model_copy(update={"name": "d", "runtime": Runtime(image="torch:1")})
    cluster.t9k.put(spec=begun, engine="t9k", namespace="team", created_at=1.0, started_at=1.5)
    assert (await cluster.form())["spec"]["runtime"]["image"] == "torch:1", "torch:2 may not be there"


async def test_a_name_that_is_taken_where_the_form_moves_to(cluster: Place) -> None:
    path = "work/train.py"
    cluster.write(path)
    local = (await cluster.form(path, "local"))["spec"]
    cluster.t9k.put(name="train-1", engine="t9k", namespace="team")
    there = await cluster.form(path, "t9k", spec=local, crossed_from="local")
    assert there["spec"]["name"] == "train-2"
    assert there["spec"]["tensorboard"]["log_dirs"] == ["/t9k/mnt/runs/train-2"]
    assert [note["code"] for note in there["notes"]] == ["NameTaken"]


async def test_a_name_that_is_taken_on_an_engine_without_pods(cluster: Place) -> None:
    path = "work/train.py"
    cluster.write(path)
    local = (await cluster.form(path, "local"))["spec"]
    cluster.t9k.facts = EngineFacts()
    told = (await cluster.t9k.info()).model_copy(update={"default_namespace": ""})

    async def info() -> EngineInfo:
        return told

    cluster.t9k.put(name="train-1", engine="t9k", namespace="team")
    there = await cluster.form(path, "t9k", spec=local, crossed_from="local")
    assert there["spec"]["name"] == "train-2"
    assert there["notes"][-1]["message"].startswith("Namespace team has a job")
    cluster.t9k.info = info  # type: ignore[method-assign]
    cluster.t9k.put(name="train-1", engine="t9k", namespace="")
    there = await cluster.form(path, "t9k", spec=local, crossed_from="local")
    assert there["notes"][-1]["message"].startswith("There is a job named “train-1” already.")


async def test_a_form_that_comes_from_an_engine_that_is_not_installed(cluster: Place) -> None:
    path = "work/train.py"
    cluster.write(path)
    spec = (await cluster.form(path, "local"))["spec"] | {"extra": {"spec": {"tasks": 2}}}
    for engine in ("t9k", "local"):
        there = await cluster.form(path, engine, spec=spec, crossed_from="gone")
        assert there["spec"]["entrypoint"]["kind"] == "script"
    there = await cluster.form(path, "t9k", spec=spec, crossed_from="gone")
    assert there["spec"]["extra"] == {}
    assert "gone is not installed: spec.tasks." in there["notes"][0]["message"]


async def test_a_notebook_on_an_engine_that_sees_no_files(cluster: Place) -> None:
    cluster.write("work/explore.ipynb", json.dumps(NOTEBOOK))
    cluster.t9k.facts = EngineFacts()
    form = await cluster.form("work/explore.ipynb")
    assert [check["code"] for check in form["checks"]] == ["NotebookNotSeen"]
    assert (await cluster.checks(form["spec"]))["NotebookNotSeen"]["level"] == "error"
    await cluster.refused("NotebookNotSeen", "/spec/entrypoint/value", spec=form["spec"])


async def test_a_python_on_a_volume_says_nothing_of_the_image(cluster: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.write("work/train.py")
    on_volume = cluster.write("work/env/bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    on_volume.chmod(0o755)
    monkeypatch.setenv("PATH", str(on_volume.parent))
    assert (await cluster.form())["spec"]["runtime"]["image"] is None
    elsewhere = cluster.write("image/bin/python", on_volume.read_text())
    elsewhere.chmod(0o755)
    monkeypatch.setenv("PATH", f"{on_volume.parent}:{elsewhere.parent}")
    assert (await cluster.form())["spec"]["runtime"]["image"] == "lab:1"


async def test_a_file_that_is_reached_by_a_link(cluster: Place) -> None:
    cluster.write("work/proj/train.py")
    (cluster.root / "near").symlink_to(cluster.root / "work" / "proj")
    form = await cluster.form("near/train.py")
    assert form["path"] == "near/train.py"
    assert form["spec"]["entrypoint"]["value"] == "/t9k/mnt/proj/train.py"
    assert form["spec"]["working_dir"] == "/t9k/mnt/proj"
    assert (await cluster.create(spec=form["spec"], path="near/train.py")).status == 201


async def test_a_volume_that_the_lab_has_within_another(cluster: Place) -> None:
    (cluster.root / "work" / "deep").mkdir()
    assert cluster.t9k.found_lab is not None
    deep = LabMount("once", "team", cluster.root / "work" / "deep", PurePosixPath("/t9k/mnt/deep"), "me")
    cluster.t9k.found_lab = Lab(mounts=(*cluster.t9k.found_lab.mounts, deep), image="lab:1")
    cluster.write("work/train.py")
    mounts = (await cluster.form())["spec"]["mounts"]
    assert [(mount["claim"], mount["sub_path"]) for mount in mounts] == [("work", None), ("once", "me")]


async def test_a_script_on_a_volume_that_may_only_be_read(cluster: Place) -> None:
    cluster.write("sets/train.py")
    form = await cluster.form("sets/train.py")
    claims = [(mount["claim"], mount["mount_path"], mount["read_only"]) for mount in form["spec"]["mounts"]]
    # home goes along: that is where `pip install --user` went
    assert claims == [("sets", "/sets", True), ("work", "/t9k/mnt", False)]
    assert form["spec"]["entrypoint"]["value"] == "/sets/train.py"


async def test_the_namespace_of_the_files_volume_is_chosen(cluster: Place) -> None:
    cluster.write("work/train.py")
    cluster.write("own/train.py")
    assert cluster.t9k.found_lab is not None
    cluster.t9k.found_lab = Lab(mounts=(replace(cluster.t9k.found_lab.mounts[0], namespace="other"),))
    cluster.t9k.claims["other"] = cluster.t9k.claims["team"]
    form = await cluster.form()
    assert (form["namespace"], form["spec"]["mounts"][0]["claim"]) == ("other", "work")
    # A preferred namespace is kept for a file on no volume, and the namespace of a spec always.
    assert (await cluster.form(namespace="team"))["namespace"] == "other"
    assert (await cluster.form("own/train.py", namespace="team"))["namespace"] == "team"
    assert (await cluster.form(namespace="team", spec=form["spec"]))["namespace"] == "team"


async def test_a_file_on_no_volume(cluster: Place) -> None:
    script = cluster.write("own/train.py")
    form = await cluster.form("own/train.py")
    first = form["checks"][0]
    assert (first["level"], first["code"], first["field"]) == ("error", "OutsideVolumes", "/spec/entrypoint/value")
    refusal = await cluster.refused("OutsideVolumes", "/spec/entrypoint/value", spec=form["spec"], path="own/train.py")
    assert str(script) in refusal["message"]
    assert refusal["hint"] == f"Copy the file to a folder of {cluster.root / 'work'} (PVC work)."
    (cluster.root / "work" / "out").symlink_to(cluster.root / "own")
    form = await cluster.form("work/out/train.py")
    assert form["checks"][0]["code"] == "OutsideVolumes"
    # where the lab knows of no volumes
    cluster.t9k.found_lab = Lab(problems=(Check(level="warning", code="LabUnknown", message="It is not known."),))
    form = await cluster.form("own/train.py")
    assert {line["code"] for line in form["checks"]} >= {"OutsideVolumes", "LabUnknown"}
    refusal = await cluster.refused("OutsideVolumes", "/spec/entrypoint/value", spec=form["spec"])
    assert "T9kJobApp.kubernetes_volumes" in refusal["hint"]
    # a PVC that was picked from the list, and the path there
    spec = form["spec"] | {
        "entrypoint": {"kind": "script", "value": "/data/train.py"},
        "working_dir": "/data",
        "mounts": [{"claim": "once", "mount_path": "/data"}],
        "runtime": {"image": "torch:2"},
    }
    assert (await cluster.checks(spec))["ScriptNotSeen"]["level"] == "hint"
    assert (await cluster.create(spec=spec)).status == 201


async def test_a_mount_that_was_taken_out(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"] | {"mounts": []}
    assert cluster.t9k.found_lab is not None
    same = LabMount("work", "team", cluster.root / "work", PurePosixPath(cluster.root / "work"))
    cluster.t9k.found_lab = Lab(mounts=(same,))
    spec["entrypoint"]["value"] = str(cluster.root / "work/train.py")
    refusal = await cluster.refused("NotMounted", "/spec/entrypoint/value", spec=spec)
    assert refusal["hint"].startswith(f"Mount the PVC work at {cluster.root / 'work'}")


async def test_files_are_checked_where_the_lab_sees_them(cluster: Place) -> None:
    cluster.write("work/bad.py", "x = = 1\n")
    form = await cluster.form("work/bad.py")
    assert form["checks"][0]["code"] == "SyntaxError"
    await cluster.refused("SyntaxError", "/spec/entrypoint/value", spec=form["spec"])
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    gone = spec | {"entrypoint": {"kind": "script", "value": "/t9k/mnt/gone.py"}}
    await cluster.refused("ScriptGone", "/spec/entrypoint/value", spec=gone)
    # a job that has the PVC elsewhere; the file is the same
    moved = gone | {"mounts": [{"claim": "work", "mount_path": "/w", "sub_path": "proj"}]}
    moved["entrypoint"] = {"kind": "script", "value": "/w/gone.py"}
    await cluster.refused("ScriptGone", "/spec/entrypoint/value", spec=moved)
    own = [{"type": "worker", "entrypoint": {"kind": "script", "value": "/t9k/mnt/bad.py"}}]
    await cluster.refused("SyntaxError", "/spec/replica_specs/0/entrypoint/value", spec=spec | {"replica_specs": own})
    kind = spec | {"entrypoint": {"kind": "notebook", "value": "/t9k/mnt/train.py"}}
    await cluster.refused("InvalidField", "/spec/entrypoint/kind", spec=kind)
    file = spec | {"tensorboard": {"log_dirs": ["/t9k/mnt/train.py"]}}
    await cluster.refused("LogDirectoryIsAFile", "/spec/tensorboard/log_dirs/0", spec=file)
    lost = spec | {"tensorboard": {"log_dirs": ["/tmp/runs"]}}
    assert (await cluster.checks(lost))["LogDirectoryNotMounted"]["level"] == "warning"
    aside = spec | {"working_dir": "/home/me/proj"}
    assert (await cluster.checks(aside))["WorkingDirectoryNotMounted"]["field"] == "/spec/working_dir"


async def test_a_notebook_is_made_a_script_beside_itself(cluster: Place) -> None:
    cluster.write("work/explore.ipynb", json.dumps(NOTEBOOK))
    form = await cluster.form("work/explore.ipynb")
    assert form["spec"]["entrypoint"] == {"kind": "notebook", "value": "/t9k/mnt/explore.ipynb"}
    assert form["notebook"]["script_path"] == "work/explore.t9kjob.py"
    assert "explore.t9kjob.py" in (await cluster.preview(spec=form["spec"])).json["manifest"]
    assert not (cluster.root / "work/explore.t9kjob.py").exists()
    assert (await cluster.create(spec=form["spec"])).status == 201
    assert "print(1)" in (cluster.root / "work/explore.t9kjob.py").read_text()


async def test_a_notebook_that_can_not_be_made_a_script(cluster: Place) -> None:
    cluster.write("sets/explore.ipynb", json.dumps(NOTEBOOK))
    spec = (await cluster.form("sets/explore.ipynb"))["spec"]
    await cluster.refused("NotWritable", "/spec/entrypoint/value", spec=spec)
    assert (await cluster.checks(spec))["NotWritable"]["level"] == "error"
    spec |= {"mounts": [{"claim": "once", "mount_path": "/sets"}]}
    await cluster.refused("NotebookNotSeen", "/spec/entrypoint/value", spec=spec)


async def test_a_volume_of_one_node(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    spec["mounts"] = [WORK, {"claim": "once", "mount_path": "/once"}]
    assert "OneNodeAtATime" not in await cluster.checks(spec)
    two = spec | {"replica_specs": [{"type": "worker", "replicas": 2}]}
    line = (await cluster.checks(two))["OneNodeAtATime"]
    assert (line["level"], line["field"]) == ("warning", "/spec/mounts/1/claim")
    assert "ReadWriteOnce" in line["message"] and "2 replicas" in line["hint"]
    elastic = spec | {"elastic": {"min": 1, "max": 3}}
    assert "3 replicas" in (await cluster.checks(elastic))["OneNodeAtATime"]["hint"]
    assert cluster.t9k.found_lab is not None
    once = LabMount("once", "team", cluster.root / "once", PurePosixPath("/once"), access_modes=("ReadWriteOnce",))
    cluster.t9k.found_lab = Lab(mounts=(*cluster.t9k.found_lab.mounts, once))
    assert (await cluster.checks(spec))["OneNodeAtATime"]["level"] == "hint"
    assert (await cluster.create(spec=two)).status == 201


async def test_volumes_and_namespaces_that_are_not_there(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    wrong = spec | {"mounts": [WORK, {"claim": "nothing", "mount_path": "/x"}]}
    refusal = await cluster.refused("NoSuchVolume", "/spec/mounts/1/claim", spec=wrong)
    assert refusal["hint"] == "PVCs of this namespace: once, sets and work."
    assert (await cluster.checks(wrong))["NoSuchVolume"]["level"] == "error"
    await cluster.refused("NoSuchNamespace", "/namespace", spec=spec, namespace="nowhere")
    assert (await cluster.checks(spec, namespace="nowhere"))["NoSuchNamespace"]["field"] == "/namespace"
    await cluster.refused("InvalidField", "/namespace", spec=spec, namespace="../kube-system")
    # of another namespace the lab has nothing
    cluster.t9k.claims["other"] = []
    refusal = await cluster.refused("NoSuchVolume", "/spec/mounts/0/claim", spec=spec, namespace="other")
    assert "has no PVC" in refusal["hint"]
    form = await cluster.form(namespace="other", spec=spec | {"mounts": []})
    assert form["spec"]["mounts"] == []
    # where nobody may list them, the cluster itself will say it
    cluster.t9k.may_list = False
    assert "NoSuchVolume" not in await cluster.checks(wrong, namespace="team")
    assert (await cluster.create(spec=wrong)).status == 201


async def test_a_name_that_is_taken(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    assert (await cluster.create(spec=spec)).status == 201
    answer = await cluster.create(spec=spec, request_id="request-0002")
    assert (answer.status, answer.json["field"]) == (409, "/spec/name")


async def test_volumes_of_a_namespace(cluster: Place) -> None:
    answer = await cluster.api("GET", "cluster", "volumes", engine="t9k")
    assert [volume["claim"] for volume in answer.json["volumes"]] == ["work", "sets", "once"]
    assert (await cluster.api("GET", "cluster", "volumes", engine="t9k", namespace="nowhere")).status == 422
    assert (await cluster.api("GET", "cluster", "volumes", engine="t9k", namespace="../x")).status == 400
    assert (await cluster.api("GET", "cluster", "volumes", engine="slurm")).status == 422
    assert (await cluster.api("GET", "cluster", "volumes", engine="local")).json == {"volumes": []}
    cluster.t9k.may_list = False
    assert (await cluster.api("GET", "cluster", "volumes", engine="t9k", namespace="team")).status == 403


async def test_capacity_and_nodes(cluster: Place) -> None:
    answer = await cluster.api("GET", "cluster", "capacity", engine="t9k", namespace="team")
    assert [quota["namespace"] for quota in answer.json["quotas"]] == ["team"]
    assert (await cluster.api("GET", "cluster", "nodes", engine="t9k")).json["nodes"] == []
    assert (await cluster.api("GET", "cluster", "capacity", engine="t9k", namespace="../x")).status == 400
    for what in ("capacity", "nodes"):
        assert (await cluster.api("GET", "cluster", what, engine="slurm")).status == 422


async def test_queues_of_a_namespace(cluster: Place) -> None:
    cluster.t9k.found_queues["team"] = [Queue(name="short", kind="T9k queue", max_duration=9000)]
    answer = await cluster.api("GET", "cluster", "queues", engine="t9k")
    (queue,) = answer.json["queues"]
    assert (queue["name"], queue["open"], queue["max_duration"], answer.json["limited"]) == ("short", True, 9000, None)
    none = {"queues": [], "applied": None, "limited": None}
    assert (await cluster.api("GET", "cluster", "queues", engine="t9k", namespace="other")).json == none
    limited = {**none, "limited": "This machine has no queues."}
    assert (await cluster.api("GET", "cluster", "queues", engine="local")).json == limited
    assert (await cluster.api("GET", "cluster", "queues", engine="t9k", namespace="../x")).status == 400
    assert (await cluster.api("GET", "cluster", "queues", engine="slurm")).status == 422


async def test_previews_do_not_list_the_volumes_each_time(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    before = cluster.t9k.asked
    for _ in range(5):
        await cluster.checks(spec)
    assert cluster.t9k.asked <= before + 1
    cluster.t9k.claims["team"].append(Volume(claim="new"))
    new = spec | {"mounts": [WORK, {"claim": "new", "mount_path": "/n"}]}
    assert (await cluster.create(spec=new)).status == 201
