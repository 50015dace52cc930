"""What a TrainJob of Kubeflow Trainer looks like in each version's spelling, and what is understood of one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import KINDS, cross, parse, problems, read_job, render, to_yaml
from jupyterlab_t9kjob.core.manifests.kinds.trainer.spelling import (
    TRAINER_2_0,
    TRAINER_2_1,
    TRAINER_2_2,
    TRAINER_2_3,
    USUAL,
    Spelling,
    spelling_of,
)
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.patience import PATIENCE

# The fields of the models in the distributions of kubeflow-trainer-api.
FIELDS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("trainjob_fields.json").read_text())
SPELLINGS = {"2.0.0": TRAINER_2_0, "2.1.0": TRAINER_2_1, "2.2.0": TRAINER_2_2, "2.3.0": TRAINER_2_3}
spelled = pytest.mark.parametrize("to", SPELLINGS.values(), ids=SPELLINGS)
FORM = KINDS["trainjob"]


def make(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "name": "mnist",
            "entrypoint": {"value": "/w/train.py"},
            "args": ["--epochs", "2"],
            "runtime": {"image": "torch:2"},
            "replica_specs": [{"replicas": 2, "resources": {"device": {"count": 2}}}],
            "torchrun": {"proc_per_node": 2, "max_restarts": 1},
            "mounts": [{"claim": "c", "mount_path": "/w"}],
            **changes,
        }
    )


def override(manifest: dict[str, Any], to: Spelling) -> dict[str, Any]:
    """Return the pod's part of the only override."""
    (found,) = manifest["spec"][to.style]
    if to.style == "runtimePatches":
        assert found["manager"] == "jupyterlab-t9kjob/form"
        (job,) = found["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
        assert job["name"] == "node"
        return job["template"]["spec"]["template"]["spec"]
    assert found["targetJobs"] == [{"name": "node"}]
    return found["spec"] if to.style == "podTemplateOverrides" else found


def schema(recorded: dict[str, Any]) -> dict[str, Any]:
    """Return a definition with the recorded fields, as a cluster has it."""

    def known(names: list[str], **fields: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {**{name: {} for name in names}, **fields}}

    containers = {"items": known(recorded["container"])}
    if "pod" in recorded:
        patch = known(recorded["override"], spec=known(recorded["pod"], containers=containers))
    else:
        patch = known(recorded["override"], containers=containers)
    style = next(name for name in recorded["spec"] if name.endswith(("Overrides", "Patches")))
    if style == "runtimePatches":
        for name in ("template", "spec", "template"):
            patch = known(["metadata"], **{name: patch})
        patch = known([], replicatedJobs={"items": patch})
        for name in ("spec", "template", "trainingRuntimeSpec"):
            patch = known(["metadata"], **{name: patch})
    whole = recorded["numProcPerNode"] == "integer"
    processes = {"type": "integer"} if whole else {"x-kubernetes-int-or-string": True}
    fields = {style: {"items": patch}, "trainer": known([], numProcPerNode=processes)}
    spec = known(recorded["spec"], **fields)
    kind = [{"group": "trainer.kubeflow.org", "kind": "TrainJob", "version": "v1alpha1"}]
    return {"components": {"schemas": {"a": {**known([], spec=spec), "x-kubernetes-group-version-kind": kind}}}}


@pytest.mark.parametrize("name", FIELDS)
def test_the_spelling_is_read_from_the_schema(name: str) -> None:
    assert spelling_of(schema(FIELDS[name])) == SPELLINGS[name]


@pytest.mark.parametrize("document", [None, {}, {"components": 3}, schema({**FIELDS["2.1.0"], "spec": ["xOverrides"]})])
def test_an_unreadable_schema_is_not_certain(document: Any) -> None:
    found = spelling_of(document)
    assert not found.certain and found.style == USUAL.style


@pytest.mark.parametrize("name", FIELDS)
def test_the_recorded_fields_are_those_of_the_distributions(name: str, tmp_path: Path) -> None:
    """The models are read and not run. Skipped where no registry can be reached, which CI does not accept."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--retries", "0", "--timeout", "20"]
    subprocess.run([*command, "-d", str(tmp_path), f"kubeflow-trainer-api=={name}"], timeout=PATIENCE, check=False)
    wheels = list(tmp_path.glob("*.whl"))
    if not wheels:
        pytest.skip("no package registry can be reached")
    with zipfile.ZipFile(wheels[0]) as wheel:
        model = wheel.read("kubeflow_trainer_api/models/trainer_v1alpha1_train_job_spec.py").decode()
    (fields,) = re.findall(r"^    __properties: .* = (\[.*\])$", model, re.MULTILINE)
    assert json.loads(fields) == FIELDS[name]["spec"]


@spelled
def test_two_nodes_meet_at_the_first(to: Spelling) -> None:
    spec = make()
    manifest = render(spec, "trainjob", dialect=to)
    assert (manifest["apiVersion"], manifest["kind"]) == ("trainer.kubeflow.org/v1alpha1", "TrainJob")
    fields, trainer = manifest["spec"], manifest["spec"]["trainer"]
    assert fields.keys() == {"runtimeRef", "trainer", to.style}
    assert fields["runtimeRef"] == {"name": "torch-distributed"}
    assert (trainer["numNodes"], trainer["numProcPerNode"], trainer["image"]) == (2, 2, "torch:2")
    assert trainer["resourcesPerNode"]["limits"] == {"nvidia.com/gpu": 2}
    assert trainer["command"] == ["sh"]
    assert trainer["args"][:4] == ["-c", 'cd -- "$0" && exec "$@"', "/w", "sh"]
    hosted = 'exec torchrun --rdzv_conf=is_host=$((JOB_COMPLETION_INDEX == 0)),read_timeout=600 "$@"'
    assert any(word.endswith(f"; {hosted}") for word in trainer["args"])
    options = {"--nnodes=2", "--nproc_per_node=2", "--rdzv_id=mnist", "--rdzv_endpoint=mnist-node-0-0.mnist:29500"}
    assert options < set(trainer["args"]) and trainer["args"][-3:] == ["train.py", "--epochs", "2"]
    pod = override(manifest, to)
    (node,) = pod["containers"]
    assert node == {"name": "node", "volumeMounts": [{"name": "data", "mountPath": "/w"},
                                                     {"name": "dshm", "mountPath": "/dev/shm"}]}  # fmt: skip
    assert [volume["name"] for volume in pod["volumes"]] == ["data", "dshm"]
    assert parse(manifest).spec == spec
    assert render(parse(manifest).spec, "trainjob", dialect=to) == manifest
    assert read_job(to_yaml(manifest)).spec == spec
    assert FORM.translate(manifest, to)[0] == manifest


def test_one_spelling_becomes_another() -> None:
    written = {name: render(make(), "trainjob", dialect=to) for name, to in SPELLINGS.items()}
    for name, manifest in written.items():
        for other, to in SPELLINGS.items():
            result, notes = FORM.translate(manifest, to)
            assert result == written[other]
            codes = {note.code for note in notes.checks}
            assert codes == ({"DialectOverrides"} if to.style != SPELLINGS[name].style else set())


def test_one_node_needs_no_other() -> None:
    spec = make(replica_specs=[{}], working_dir=None, entrypoint={"kind": "module", "value": "pkg.train"}, mounts=[])
    manifest = render(spec, "trainjob")
    assert manifest["spec"]["trainer"]["command"] == ["torchrun"]
    assert "--rdzv_endpoint=localhost:0" in manifest["spec"]["trainer"]["args"]
    assert parse(manifest).spec == spec


def test_processes_without_torchrun_find_each_other() -> None:
    manifest = render(make(torchrun=None), "trainjob")
    trainer = manifest["spec"]["trainer"]
    assert trainer["args"] == ["-c", 'cd -- "$0" && exec "$@"', "/w", "python", "train.py", "--epochs", "2"]
    found = {entry["name"]: entry.get("value") for entry in trainer["env"]}
    assert (found["MASTER_ADDR"], found["WORLD_SIZE"], trainer["numProcPerNode"]) == ("mnist-node-0-0.mnist", "2", 1)
    assert parse(manifest).spec == make(torchrun=None)


def test_a_process_for_each_gpu() -> None:
    spec = make(torchrun={"proc_per_node": "gpu"})
    trainer = render(spec, "trainjob")["spec"]["trainer"]
    assert "numProcPerNode" not in trainer and "--nproc_per_node=gpu" in trainer["args"]


def test_an_image_of_the_runtime() -> None:
    assert not problems(make(runtime={}), "trainjob")
    assert "image" not in render(make(runtime={}), "trainjob")["spec"]["trainer"]


@spelled
def test_another_runtime_stays(to: Spelling) -> None:
    manifest = render(make(), "trainjob", dialect=to)
    manifest["spec"]["runtimeRef"] = {
        "name": "deepspeed",
        "kind": "TrainingRuntime",
        "apiGroup": "trainer.kubeflow.org",
    }
    spec = parse(manifest).spec
    assert spec == make(runtime={"image": "torch:2", "training_runtime": {"name": "deepspeed", "in_namespace": True}})
    rendered = render(spec, "trainjob", dialect=to)
    assert rendered["spec"]["runtimeRef"] == {"name": "deepspeed", "kind": "TrainingRuntime"}
    assert parse(rendered).spec == spec


@pytest.mark.parametrize(
    ("reference", "runtime", "extra"),
    [
        ({"name": "torch-distributed"}, None, None),
        ({"name": "torch-distributed", "kind": "TrainingRuntime"}, ("torch-distributed", True), None),
        ({"name": "own.1"}, ("own.1", False), None),
        ({"name": "own", "apiGroup": "theirs.example"}, None, {"name": "own", "apiGroup": "theirs.example"}),
        ({"name": "own", "kind": "Theirs"}, None, {"name": "own", "kind": "Theirs"}),
        ({"name": "No Name"}, None, {"name": "No Name"}),
        ({"name": "n" * 254}, None, {"name": "n" * 254}),
    ],
)
def test_references_to_runtimes(reference: dict[str, str], runtime: tuple[str, bool] | None, extra: Any) -> None:
    manifest = render(make(), "trainjob")
    manifest["spec"]["runtimeRef"] = reference
    spec = parse(manifest).spec
    found = spec.runtime.training_runtime
    assert (found and (found.name, found.in_namespace)) == runtime
    assert spec.extra.get("spec", {}).get("runtimeRef") == extra
    assert render(spec, "trainjob")["spec"]["runtimeRef"] == reference


def refused(spec: JobSpec, to: Spelling = TRAINER_2_1) -> dict[str | None, str]:
    return {check.field: check.level for check in problems(spec, "trainjob", dialect=to)}


def test_what_no_version_can_say_is_refused_at_its_field() -> None:
    for to in SPELLINGS.values():
        spec = make(
            scheduling={"priority_class": "high", "scheduler": "volcano", "priority": 3},
            replica_specs=[{"replicas": 2, "restart_policy": "OnFailure"}],
            run_policy={"ttl_seconds": 60},
            env=[{"name": "PET_NNODES", "value": "2"}],
            source={"kind": "git", "address": "https://example.com/code.git"},
            extra={"spec": {"template": {"spec": {"hostNetwork": True}}}},
        )
        assert refused(spec, to) == dict.fromkeys(
            (
                "/spec/scheduling/priority_class",
                "/spec/scheduling/scheduler",
                "/spec/scheduling/priority",
                "/spec/replica_specs/0/restart_policy",
                "/spec/run_policy/ttl_seconds",
                "/spec/env/0/name",
                "/spec/source",
                "/spec/extra",
            ),
            "error",
        )
    types = make(replica_specs=[{"type": "a"}, {"type": "b"}])
    assert refused(types) == {"/spec/replica_specs/1": "error"}


def test_what_only_some_versions_can_say() -> None:
    spec = make(
        run_policy={"active_deadline_seconds": 60},
        security={"uid": 1000, "fs_group": 100},
        runtime={"image": "torch:2", "pull_policy": "Always", "pull_secrets": ["r"]},
    )
    policy = {"/spec/runtime/pull_policy": "hint"}
    deadline = {"/spec/run_policy/active_deadline_seconds": "error"}
    older = {**policy, **deadline, "/spec/security": "hint"}
    assert refused(spec, TRAINER_2_0) == {**older, "/spec/runtime/pull_secrets": "error"}
    assert refused(spec, TRAINER_2_1) == older
    assert refused(spec, TRAINER_2_2) == refused(spec, TRAINER_2_3) == policy
    newer = render(spec, "trainjob", dialect=TRAINER_2_2)
    assert newer["spec"]["activeDeadlineSeconds"] == 60
    assert override(newer, TRAINER_2_2)["securityContext"] == {"runAsUser": 1000, "fsGroup": 100}
    assert parse(newer).spec == spec
    restricted = make(security={"uid": 1000, "restricted": True})
    assert refused(restricted, TRAINER_2_1)["/spec/security/restricted"] == "error"
    assert not refused(restricted, TRAINER_2_2)


def test_the_sdks_job_is_read() -> None:
    """A job of `TrainerClient.train` of the `kubeflow` SDK 0.2, with its runtime's own number of processes."""
    command = [
        "bash",
        "-c",
        '\nread -r -d \'\' SCRIPT << EOM\n\nprint(1)\n\nEOM\nprintf "%s" "$SCRIPT" > f.py\ntorchrun f.py',
    ]
    manifest = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "b1c2d3", "namespace": "lab"},
        "spec": {
            "runtimeRef": {"name": "torch-distributed", "kind": "ClusterTrainingRuntime"},
            "trainer": {"numNodes": 3, "command": command, "resourcesPerNode": {"limits": {"cpu": "2"}}},
            "managedBy": "trainer.kubeflow.org/trainjob-controller",
            "suspend": False,
        },
    }
    parsed = parse(manifest)
    assert (parsed.kind, parsed.spec.total_replicas, parsed.spec.torchrun) == ("trainjob", 3, None)
    assert (parsed.spec.entrypoint.kind, parsed.spec.entrypoint.value) == ("command", "bash")
    again = render(parsed.spec, "trainjob", dialect=TRAINER_2_1)["spec"]["trainer"]
    assert [*again["command"], *again["args"]] == command
    assert "numProcPerNode" not in again and "image" not in again


def test_overrides_of_others_stay() -> None:
    manifest = render(make(), "trainjob", dialect=TRAINER_2_1)
    others = [
        {"targetJobs": [{"name": "model-initializer"}], "spec": {"nodeSelector": {"a": "b"}}},
        {"targetJobs": [{"name": "node"}], "spec": {"tolerations": [{"operator": "Exists"}]}},
    ]
    manifest["spec"]["podTemplateOverrides"] += others
    spec = parse(manifest).spec
    assert spec.extra == {"spec": {"podTemplateOverrides": others}}
    assert render(spec, "trainjob", dialect=TRAINER_2_1) == manifest
    manifest["spec"]["podTemplateOverrides"] = others
    assert parse(manifest).spec.mounts == []
    patch = render(make(), "trainjob", dialect=TRAINER_2_2)
    patch["spec"]["runtimePatches"][0]["manager"] = "trainer.kubeflow.org/kubeflow-sdk"
    spec = parse(patch).spec
    assert spec.mounts == make().mounts
    assert render(spec, "trainjob", dialect=TRAINER_2_2) == patch


def test_it_crosses_to_the_other_kinds() -> None:
    spec = make()
    for kind in ("t9k", "kubeflow", "job"):
        form = KINDS[kind]
        there, notes = cross(spec, "trainjob", kind, form.capabilities)
        back, more = cross(there, kind, "trainjob", FORM.capabilities)
        assert back == spec and not notes and not more
    chosen = make(runtime={"image": "torch:2", "training_runtime": {"name": "theirs-1"}})
    there, notes = cross(chosen, "trainjob", "job", KINDS["job"].capabilities)
    assert there == chosen and [note.level for note in notes] == ["hint"]
    assert parse(render(there, "job")).spec == chosen, "a clone of the Job may be a TrainJob again"
    labelled = make(extra={"spec": {"template": {"metadata": {"labels": {"a": "b"}}}, "runtimeRef": {"name": "X"}}})
    there, notes = cross(labelled, "trainjob", "job", KINDS["job"].capabilities)
    assert there.extra == {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}
    assert "spec.runtimeRef.name" in str(notes[0].message)
