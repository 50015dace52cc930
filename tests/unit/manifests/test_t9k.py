"""PyTorchTrainingJobs: rendered from a spec, and read into one."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.manifests import (
    CURRENT,
    KINDS,
    OLDER,
    Context,
    Dialect,
    ManifestError,
    parse,
    rank_logs,
    read_job,
    render,
    translate,
)
from jupyterlab_t9kjob.core.manifests.own_fields import name_request
from jupyterlab_t9kjob.core.spec import JobSpec

DATA = Path(__file__).parent / "data"
SPEC = JobSpec.model_validate(
    {
        "name": "mnist-1",
        "display_name": "训练.py",
        "entrypoint": {"kind": "script", "value": "/t9k/mnt/ddp/train.py"},
        "args": ["--epochs", "2"],
        "env": [{"name": "A", "value": "$(T9KJOB_LOG_DIR)"}, {"name": "K", "secret": {"name": "wandb", "key": "key"}}],
        "runtime": {"image": "torch:2", "pull_policy": "IfNotPresent", "pull_secrets": ["registry"], "kernel": "torch"},
        "replica_specs": [
            {
                "replicas": 2,
                "restart_policy": "ExitCode",
                "resources": {
                    "cpu": {"request": "4", "limit": "8"},
                    "memory": {"request": "8Gi", "limit": "16Gi"},
                    "device": {"count": 4},
                },
            }
        ],
        "torchrun": {"proc_per_node": "gpu", "max_restarts": 3, "extra_options": ["--role=trainer"]},
        "elastic": {"min": 1, "max": 4, "expected": 2},
        "run_policy": {"active_deadline_seconds": 3600, "backoff_limit": 2, "clean_up": "All"},
        "paused": True,
        "debug": {"worker": {"skip_init": True}},
        "resume": [{"type": "worker", "args": ["ddp/train.py", "--resume"]}],
        "scheduling": {"queue": "default", "priority": 50, "node_selector": {"nvidia.com/gpu.product": "A100"}},
        "mounts": [
            {"claim": "tutorial", "mount_path": "/t9k/mnt"},
            {"claim": "data", "mount_path": "/data", "sub_path": "mnist", "read_only": True},
        ],
        "shm": {"size_limit": "8Gi"},
        "security": {"uid": 1000, "gid": 1000, "fs_group": 2000},
        "tensorboard": {"log_dirs": ["/t9k/mnt/log"], "cluster": {"image": "tb:2"}},
        "extra": {"spec": {"replicaSpecs": {"$by": "type", "worker": {"template": {"spec": {"hostNetwork": True}}}}}},
    }
)
CONTAINER = ["spec", "replicaSpecs", 0, "template", "spec", "containers", 0]
CONTEXT = Context(namespace="team-a", request_id="r-1", owner="jo", user="jo", home="/t9k/mnt")


def field(path: str) -> dict[str, Any]:
    return {"fieldRef": {"fieldPath": path}}


def test_everything_has_its_place() -> None:
    manifest = render(SPEC, "t9k", context=CONTEXT)
    assert manifest["apiVersion"] == "batch.tensorstack.dev/v1beta1"
    assert manifest["metadata"] == {
        "name": "mnist-1",
        "namespace": "team-a",
        "annotations": {
            "jupyterlab-t9kjob/display-name": "训练.py",
            "jupyterlab-t9kjob/owner": "jo",
            "jupyterlab-t9kjob/request-id": "r-1",
            "jupyterlab-t9kjob/env": "T9KJOB_NAME,T9KJOB_REQUEST,T9KJOB_LOG_DIR,EM_RUN_PARENT_DIR,"
            "EM_ARTIFACT_PARENT_DIR,USER,LOGNAME,HOME,"
            "PYTHONUNBUFFERED,TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE,T9KJOB_POD,T9KJOB_POD_UID",
            "jupyterlab-t9kjob/spec": '{"/runtime/kernel":"torch","/working_dir":null}',
        },
    }
    assert manifest["spec"] == {
        "torchrunConfig": {
            "enabled": True,
            "maxRestarts": 3,
            "procPerNode": "gpu",
            "rdzvBackend": "c10d",
            "extraOptions": [
                "--role=trainer",
                "--log_dir=/t9k/mnt/.t9kjob/logs/mnist-1/$(T9KJOB_POD_UID)",
                "--tee=3",
            ],
        },
        "elastic": {"enabled": True, "minReplicas": 1, "maxReplicas": 4, "expectedReplicas": 2},
        "replicaSpecs": [
            {
                "type": "worker",
                "replicas": 2,
                "restartPolicy": "ExitCode",
                "template": {
                    "spec": {
                        "hostNetwork": True,
                        "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 2000},
                        "imagePullSecrets": [{"name": "registry"}],
                        "nodeSelector": {"nvidia.com/gpu.product": "A100"},
                        "containers": [
                            {
                                "name": "pytorch",
                                "image": "torch:2",
                                "imagePullPolicy": "IfNotPresent",
                                "workingDir": "/t9k/mnt/ddp",
                                "args": ["train.py", "--epochs", "2"],
                                "env": [
                                    {"name": "T9KJOB_NAME", "value": "mnist-1"},
                                    {"name": "T9KJOB_REQUEST", "value": "r-1"},
                                    {"name": "T9KJOB_LOG_DIR", "value": "/t9k/mnt/log"},
                                    {"name": "EM_RUN_PARENT_DIR", "value": "/t9k/mnt/.em/runs"},
                                    {"name": "EM_ARTIFACT_PARENT_DIR", "value": "/t9k/mnt/.em/artifacts"},
                                    {"name": "USER", "value": "jo"},
                                    {"name": "LOGNAME", "value": "jo"},
                                    {"name": "HOME", "value": "/t9k/mnt"},
                                    {"name": "PYTHONUNBUFFERED", "value": "1"},
                                    {
                                        "name": "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
                                        "value": "[rank${rank}.${role_name}${local_rank}]:",
                                    },
                                    {"name": "T9KJOB_POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                                    {
                                        "name": "T9KJOB_POD_UID",
                                        "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}},
                                    },
                                    {"name": "A", "value": "$(T9KJOB_LOG_DIR)"},
                                    {"name": "K", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "key"}}},
                                ],
                                "resources": {
                                    "limits": {"cpu": 8, "memory": "16Gi", "nvidia.com/gpu": 4},
                                    "requests": {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 4},
                                },
                                "volumeMounts": [
                                    {"name": "data", "mountPath": "/t9k/mnt"},
                                    {"name": "data-2", "mountPath": "/data", "subPath": "mnist", "readOnly": True},
                                    {"name": "dshm", "mountPath": "/dev/shm"},
                                ],
                            }
                        ],
                        "volumes": [
                            {"name": "data", "persistentVolumeClaim": {"claimName": "tutorial"}},
                            {"name": "data-2", "persistentVolumeClaim": {"claimName": "data"}},
                            {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
                        ],
                    }
                },
            }
        ],
        "runMode": {
            "debug": {
                "enabled": True,
                "replicaSpecs": [{"type": "worker", "skipInitContainer": True, "command": ["sleep", "inf"]}],
            },
            "pause": {"enabled": True, "resumeSpecs": [{"type": "worker", "args": ["ddp/train.py", "--resume"]}]},
        },
        "runPolicy": {"activeDeadlineSeconds": 3600, "backoffLimit": 2, "cleanUpPolicy": "All"},
        "scheduler": {"t9kScheduler": {"queue": "default", "priority": 50}},
        "tensorboardSpec": {"image": "tb:2", "logDir": {"pvc": [{"name": "tutorial", "subPath": ["log"]}]}},
    }
    assert parse(manifest).spec == SPEC
    assert rank_logs(SPEC) == "/t9k/mnt/.t9kjob/logs/mnist-1"


@pytest.mark.parametrize(
    ("entrypoint", "torchrun", "command", "args", "options"),
    [
        ({"kind": "script", "value": "/w/a/t.py"}, True, None, ["t.py", "-x"], None),
        ({"kind": "script", "value": "/w/a/t.py"}, False, ["python"], ["t.py", "-x"], None),
        ({"kind": "module", "value": "p.m"}, True, None, ["-m", "p.m", "-x"], None),
        ({"kind": "module", "value": "p.m"}, False, ["python"], ["-m", "p.m", "-x"], None),
        ({"kind": "notebook", "value": "/w/a/n.ipynb"}, True, None, ["n.t9kjob.py", "-x"], None),
        ({"kind": "command", "value": "bash"}, False, ["bash"], ["-x"], None),
        ({"kind": "command", "value": "bash"}, True, None, ["bash", "-x"], ["--no_python"]),
    ],
)
def test_what_is_run(
    entrypoint: dict[str, str],
    torchrun: bool,
    command: list[str] | None,
    args: list[str],
    options: list[str] | None,
) -> None:
    torchrun_of = {"torchrun": {}} if torchrun else {"torchrun": None}
    spec = JobSpec.model_validate({"name": "j", "entrypoint": entrypoint, "args": ["-x"], **torchrun_of})
    manifest = render(spec, "t9k")
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    assert (container.get("command"), container["args"]) == (command, args)
    assert manifest["spec"].get("torchrunConfig", {}).get("extraOptions") == options
    assert parse(manifest).spec == spec


def test_logs_are_kept_where_the_job_works() -> None:
    mounts = [
        {"claim": "a", "mount_path": "/data"},
        {"claim": "b", "mount_path": "/w/deep", "read_only": True},
        {"claim": "c", "mount_path": "/w"},
    ]
    spec = JobSpec.model_validate({"name": "j", "entrypoint": {"value": "/w/deep/t.py"}, "mounts": mounts})
    assert rank_logs(spec) == "/w/.t9kjob/logs/j"
    assert rank_logs(spec.model_copy(update={"mounts": spec.mounts[:2]})) == "/data/.t9kjob/logs/j"
    assert rank_logs(spec.model_copy(update={"mounts": spec.mounts[1:2]})) is None
    assert rank_logs(spec.model_copy(update={"torchrun": None})) is None
    assert rank_logs(spec.model_copy(update={"keep_logs": False})) is None


def test_seed_003_is_understood() -> None:
    read = read_job((DATA / "seed003.yaml").read_text())
    spec = read.spec
    assert read.notes == [] and spec.extra == {}
    assert spec.entrypoint.value == "/t9k/mnt/torch_mnist_trainingjob.py"
    assert spec.args == ["--log_dir", "log", "--save_path", "./model_state_dict.pt", "--backend", "nccl"]
    assert (spec.replica_specs[0].type, spec.replica_specs[0].restart_policy) == ("node", "ExitCode")
    assert spec.torchrun is not None and (spec.torchrun.proc_per_node, spec.torchrun.max_restarts) == (4, 3)
    assert spec.tensorboard.log_dirs == ["/t9k/mnt/log"]
    assert spec.mounts[0].claim == "mnist" and spec.shm is not None and spec.security.uid == 1000
    again = render(spec, "t9k")["spec"]
    written = yaml.safe_load((DATA / "seed003.yaml").read_text())["spec"]
    # All that differs: what is ours, and defaults that are written out.
    assert again.pop("runPolicy") == {"backoffLimit": 3, "cleanUpPolicy": "None"}
    assert [entry["name"] for entry in again["replicaSpecs"][0]["template"]["spec"]["containers"][0].pop("env")] == [
        "T9KJOB_NAME",
        "T9KJOB_LOG_DIR",
        "EM_RUN_PARENT_DIR",
        "EM_ARTIFACT_PARENT_DIR",
        "PYTHONUNBUFFERED",
        "T9KJOB_POD",
        "T9KJOB_POD_UID",
    ]
    assert written["torchrunConfig"].pop("extraOptions") == []
    written["tensorboardSpec"]["logDir"]["pvc"][0]["subPath"] = ["log"]
    assert again == written


def test_seed_003_is_understood_as_it_was_copied() -> None:
    flat = read_job((DATA / "seed003-as-copied.txt").read_text())
    assert [note.code for note in flat.notes] == ["Reindented"]
    indented = read_job((DATA / "seed003.yaml").read_text())
    assert (flat.spec, flat.manifest) == (indented.spec, indented.manifest)


def test_seed_004_is_understood_and_can_be_kept_or_migrated() -> None:
    read = read_job((DATA / "seed004-whole.yaml").read_text())
    assert [(note.line, note.message) for note in read.notes] == [
        (8, "torchrunConfig.enable and runMode.debug.enable are the older spelling; they are written as enabled."),
        (9, "torchrunConfig.minNodes is the older form; it is written as elastic: 1 to 4 replicas."),
        (45, "tensorboardSpec.trainingLogFilesets is the older form; it is written as logDir.pvc."),
    ]
    spec = read.spec
    assert spec.entrypoint.model_dump() == {"kind": "module", "value": "training.module"}
    assert spec.elastic is not None and (spec.elastic.min, spec.elastic.max) == (1, 4)
    assert spec.torchrun is not None and spec.torchrun.max_restarts == 10
    assert (spec.scheduling.queue, spec.scheduling.priority, spec.run_policy.clean_up) == ("default", 50, "All")
    assert spec.tensorboard.log_dirs == ["/mnt/log"]
    assert spec.debug is not None and spec.debug["worker"].command == ["/usr/bin/sshd"]
    older = render(spec, "t9k", dialect=OLDER)["spec"]
    assert older["torchrunConfig"] == {
        "enable": True,
        "maxRestarts": 10,
        "procPerNode": "1",
        "rdzvBackend": "c10d",
        "minNodes": 1,
    }
    assert older["tensorboardSpec"]["trainingLogFilesets"] == ["t9k://pvc/torch-tensorboard-pvc/log"]
    assert "elastic" not in older and older["runMode"]["debug"]["enable"] is True
    kept = read_job((DATA / "seed004-whole.yaml").read_text(), dialect=OLDER)
    assert kept.notes == [] and kept.spec == spec


@pytest.mark.parametrize("name", ["seed004-best-practice.txt", "seed004-module.txt"])
def test_the_pages_fragments_are_taken(name: str) -> None:
    read = read_job((DATA / name).read_text())
    codes = {note.code for note in read.notes}
    assert {"NoKind", "Renamed", "Elided"} <= codes
    assert read.spec.name == "job" and read.spec.torchrun is None
    assert read.spec.total_replicas == 4 and read.spec.replica_specs[0].restart_policy == "OnFailure"


def test_what_the_form_has_no_field_for_is_kept_beside_what_it_has() -> None:
    read = read_job((DATA / "t9k-sidecars.yaml").read_text())
    spec = read.spec
    first, second = spec.replica_specs
    assert (first.type, first.replicas, first.scaling_weight) == ("ps", 3, 2)
    assert first.resources.device is not None and first.resources.device.name == "amd.com/gpu"
    assert spec.entrypoint.value == "/w/sub/train.py" and second.entrypoint is not None
    assert [mount.claim for mount in spec.mounts] == ["one", "one", "two"]
    # A change in the form counts, though the container has content that the form doesn't know.
    changed = spec.model_copy(
        update={
            "args": ["--changed"],
            "env": [],
            "runtime": spec.runtime.model_copy(update={"image": "torch:new"}),
        }
    )
    groups = render(changed, "t9k")["spec"]["replicaSpecs"]
    assert [group["type"] for group in groups] == ["PS", "worker"]
    proxy, python = groups[0]["template"]["spec"]["containers"]
    assert (proxy["name"], python["name"]) == ("proxy", "python")
    assert (python["image"], python["args"]) == ("torch:new", ["sub/train.py", "--changed"])
    assert python["ports"] == [{"containerPort": 22}]
    assert {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}} in python["env"]
    assert groups[0]["template"]["spec"]["initContainers"][0]["name"] == "fetch"
    codes = [note.code for note in read.notes]
    assert codes.count("UnknownField") == 2 and "Kept" in codes and "Renamed" in codes


def test_an_edited_manifest_means_what_it_says() -> None:
    """The annotation that completes a manifest doesn't contradict it."""
    manifest = render(SPEC, "t9k", context=CONTEXT)
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    container["workingDir"] = "/elsewhere"
    container["args"][0] = "/t9k/mnt/ddp/other.py"
    manifest["spec"]["runPolicy"]["backoffLimit"] = 7
    spec = parse(manifest).spec
    assert (spec.working_dir, spec.entrypoint.value) == ("/elsewhere", "/t9k/mnt/ddp/other.py")
    assert spec.run_policy.backoff_limit == 7 and spec.runtime.kernel == "torch"


@pytest.mark.parametrize(
    "annotation",
    [
        '{"/runtime/image":"evil","/args":["--evil"],"/runtime/kernel":"fine"}',
        '{"/extra":{"spec":5},"/runtime/kernel":"fine"}',
        '{"/extra":{"spec":null},"/replica_specs/9":1,"/replica_specs/x":1,"":1,"/":2,"/runtime/kernel":"fine"}',
        '{"/runtime/kernel":"fine","/paused":false,"/nothing":1,"/env":"x"}',
    ],
)
def test_an_annotation_can_not_make_a_job_look_like_another(annotation: str) -> None:
    manifest = render(SPEC, "t9k", context=CONTEXT)
    manifest["metadata"]["annotations"]["jupyterlab-t9kjob/spec"] = annotation
    spec = parse(manifest).spec
    assert spec.runtime.kernel == "fine"
    assert spec.model_copy(update={"runtime": SPEC.runtime, "working_dir": None}) == SPEC


@pytest.mark.parametrize("annotation", ["", "{", "[]", "null", '"x"', "[" * 100_000, '{"a":' * 5000])
def test_a_spoilt_annotation_is_left_alone(annotation: str) -> None:
    manifest = render(SPEC, "t9k")
    manifest["metadata"]["annotations"]["jupyterlab-t9kjob/spec"] = annotation
    assert parse(manifest).spec.entrypoint == SPEC.entrypoint


@pytest.mark.parametrize(
    "extra",
    [
        {"spec": None},
        {"spec": {"replicaSpecs": []}},
        {"spec": {"replicaSpecs": {"$by": "type", "worker": {"replicas": "two"}}}},
        {"spec": {"replicaSpecs": {"$by": "type", "worker": None}}},
        {"metadata": 5},
    ],
)
def test_extra_content_that_breaks_the_job_is_refused_at_its_field(extra: dict[str, Any]) -> None:
    with pytest.raises(FieldError) as error:
        render(SPEC.model_copy(update={"extra": extra}), "t9k")
    assert error.value.field == "/spec/extra" and error.value.hint


# -- dialects ----------------------------------------------------------------------------------------------------------


def _schema(switch: str, *, elastic: bool, log_dir: bool, pause: bool) -> dict[str, Any]:
    def fields(*names: str, **more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {**{name: {"type": "string"} for name in names}, **more}}

    spec = fields(
        "replicaSpecs",
        torchrunConfig=fields(switch, *([] if elastic else ["minNodes"])),
        runMode=fields("debug", *(["pause"] if pause else [])),
        tensorboardSpec=fields("image", "logDir" if log_dir else "trainingLogFilesets"),
        **({"elastic": fields(switch)} if elastic else {}),
    )
    return fields(spec=spec)


@pytest.mark.parametrize(
    "dialect",
    [CURRENT, OLDER, Dialect(log_dir=False), Dialect(pause=False), Dialect(elastic=False)],
)
def test_the_dialect_is_told_by_the_schema(dialect: Dialect) -> None:
    schema = _schema(dialect.switch, elastic=dialect.elastic, log_dir=dialect.log_dir, pause=dialect.pause)
    kind = {"group": "batch.tensorstack.dev", "version": "v1beta1", "kind": "PyTorchTrainingJob"}
    named = {**schema, "x-kubernetes-group-version-kind": [kind]}
    other = {**_schema("neither", elastic=True, log_dir=True, pause=True)}
    assert Dialect.from_schema({"components": {"schemas": {"other": other, "job": named}}}) == dialect
    assert Dialect.from_schema({"definitions": {"job": named}}) == dialect
    versions = [{"name": "v1beta1", "schema": {"openAPIV3Schema": schema}}]
    crd = {"kind": "CustomResourceDefinition", "spec": {"versions": versions}}
    assert Dialect.from_schema(crd) == dialect


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"components": 5, "definitions": []},
        {"kind": "CustomResourceDefinition", "spec": {"versions": [5, {"schema": {"openAPIV3Schema": {}}}]}},
        {"components": {"schemas": {"job": {"x-kubernetes-preserve-unknown-fields": True}}}},
    ],
)
def test_a_schema_that_does_not_tell_leaves_doubt(document: Any) -> None:
    assert Dialect.from_schema(document) == Dialect(certain=False)


def test_what_a_dialect_has_no_words_for_is_said() -> None:
    manifest = render(SPEC, "t9k")
    manifest["spec"]["tensorboardSpec"]["logDir"]["s3"] = {"uri": ["s3://a/"]}
    older, notes = translate(manifest, OLDER)
    lost = [note.message for note in notes.checks if note.level == "warning"]
    assert lost == [
        "This cluster's version has no maxReplicas: the job has 2 replicas at most.",
        "This cluster's version has no logDir.s3; it is left out.",
        "This cluster's version can't pause a job; it starts at once.",
    ]
    assert "pause" not in older["spec"]["runMode"]


def test_two_spellings_that_disagree_are_pointed_at() -> None:
    manifest = render(SPEC, "t9k")
    manifest["spec"]["torchrunConfig"]["enable"] = False
    parsed = parse(manifest)
    assert parsed.spec.torchrun is not None
    assert [note.code for note in parsed.notes if note.level == "warning"] == ["BothSpellings"]


def test_what_is_switched_off_is_left_out_and_said() -> None:
    manifest = render(SPEC, "t9k")
    manifest["spec"]["torchrunConfig"]["enabled"] = False
    manifest["spec"]["runMode"]["debug"]["enabled"] = False
    parsed = parse(manifest)
    assert parsed.spec.torchrun is None and parsed.spec.elastic is None and parsed.spec.debug is None
    said = [note.message for note in parsed.notes if note.code == "Disabled"]
    assert len(said) == 3 and "maxRestarts" in said[0]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (["spec"], 5, "/manifest/spec"),
        (["spec"], None, "/manifest/spec/replicaSpecs"),
        (["spec", "replicaSpecs"], {}, "/manifest/spec/replicaSpecs"),
        (["spec", "replicaSpecs", 0, "replicas"], "2", "/manifest/spec/replicaSpecs/0/replicas"),
        (["spec", "replicaSpecs", 0, "replicas"], True, "/manifest/spec/replicaSpecs/0/replicas"),
        (["spec", "replicaSpecs", 0, "template"], {}, "/manifest/spec/replicaSpecs/0/template/spec/containers"),
        (["spec", "torchrunConfig", "enabled"], "yes", "/manifest/spec/torchrunConfig/enabled"),
        (["metadata", "labels"], {"a": 1}, "/manifest/metadata/labels/a"),
        (["kind"], "TFJob", "/manifest/kind"),
        ([*CONTAINER, "args", 0], "a\0b", "/manifest/spec/replicaSpecs/0/template/spec/containers/0/args/0"),
        ([*CONTAINER, "args", 0], "x" * 5000, "/manifest"),
        ([*CONTAINER, "args", 0], 2, "/manifest/spec/replicaSpecs/0/template/spec/containers/0/args/0"),
        (["spec", "runPolicy", "backoffLimit"], 2**70, "/manifest/spec/runPolicy/backoffLimit"),
        (["kind"], None, None),
    ],
)
def test_a_wrong_type_is_named_at_its_field(path: list[Any], value: Any, field: str | None) -> None:
    manifest = json.loads(json.dumps(render(SPEC, "t9k")))
    place = manifest
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    if field is None:
        assert "NoKind" in [note.code for note in parse(manifest).notes]
        return
    with pytest.raises(ManifestError) as error:
        parse(manifest)
    assert error.value.field == field
    assert error.value.status == 422


def test_a_number_of_processes_is_taken_with_a_note() -> None:
    manifest = render(SPEC, "t9k")
    manifest["spec"]["torchrunConfig"]["procPerNode"] = 4
    parsed = parse(manifest)
    assert parsed.spec.torchrun is not None and parsed.spec.torchrun.proc_per_node == 4
    assert [note.code for note in parsed.notes] == ["Mended", "Kept"]


def test_an_edited_manifest_gets_the_id_of_its_own_submission() -> None:
    for shown in (render(SPEC, "t9k"), render(SPEC, "t9k", context=CONTEXT)):
        edited = deepcopy(shown)
        name_request(KINDS["t9k"], edited, "r-2")
        env = reduce(lambda part, key: part[key], CONTAINER, edited)["env"]
        assert [entry["value"] for entry in env if entry["name"] == "T9KJOB_REQUEST"] == ["r-2"]
        assert parse(edited).spec == parse(shown).spec
    foreign = {"metadata": {"name": "a"}, "spec": {}}
    name_request(KINDS["t9k"], foreign, "r-2")
    assert foreign == {"metadata": {"name": "a"}, "spec": {}}
