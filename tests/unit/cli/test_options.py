"""Values of the command line and of the Python client become the fields of a job."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.client.code_source import is_same
from jupyterlab_t9kjob.client.form import Target, fill
from jupyterlab_t9kjob.client.options import JobOptions, read_value, with_arguments
from jupyterlab_t9kjob.client.pods import with_pod_options
from jupyterlab_t9kjob.client.times import moment_of, seconds_of
from jupyterlab_t9kjob.core.engine.info import EngineFacts
from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.manifests import KINDS, parse, problems, render
from jupyterlab_t9kjob.core.spec import (
    MAX_CONFIG_BYTES,
    ConfigFile,
    Entrypoint,
    EnvVar,
    JobSpec,
    ReplicaSpec,
    Runtime,
    TensorBoardSpec,
)
from jupyterlab_t9kjob.launch.model import ReadManifestRequest, ScriptOption


def spec(**values: Any) -> JobSpec:
    fields: dict[str, Any] = {"name": "train-1", "entrypoint": Entrypoint(value="/w/train.py"), "working_dir": "/w"}
    return JobSpec(**{**fields, **values})


def option(*flags: str) -> ScriptOption:
    return ScriptOption(flags=list(flags), dest="x", kind="text", line=1, default=None, help=None, items=None)


def test_nothing_given_keeps_the_form() -> None:
    filled = spec(args=["--out", "runs/train-1"], env=[EnvVar(name="A", value="1")])
    assert JobOptions().applied(filled) == filled
    assert not JobOptions().any
    assert not JobOptions(args=[], mounts=[], env={}).any
    assert JobOptions(restarts=0).any and JobOptions(paused=True).any and JobOptions(name="").any


def test_a_config_file_is_read_when_the_job_is_submitted(tmp_path: Path) -> None:
    (tmp_path / "nccl.conf").write_text("NCCL_DEBUG=ä\n")
    found = JobOptions(config_files=[f"{tmp_path}/nccl.conf:/etc/nccl.conf"]).applied(spec())
    assert found.config_files == [ConfigFile(path="/etc/nccl.conf", text="NCCL_DEBUG=ä\n")]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("nccl.conf", "is no file and path"),
        ("nccl.conf:etc", "is no file and path"),
        ("none:/etc/a", "can't be read"),
        (".:/etc/a", "can't be read"),
        ("binary:/etc/a", "can't be read"),
        ("large:/etc/a", "larger than 64 KiB"),
    ],
)
def test_a_config_file_that_is_none_is_refused(
    word: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large").write_bytes(b"x" * (MAX_CONFIG_BYTES + 1))
    with pytest.raises(FieldError, match=words) as refused:
        JobOptions(config_files=[word]).applied(spec())
    assert refused.value.field == "/spec/config_files" and refused.value.hint


MANIFEST = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob"
SHOWN = {"engine": "kubeflow", "namespace": "a", "spec": None, "manifest": MANIFEST}


@pytest.mark.parametrize("document", [MANIFEST, json.dumps(SHOWN)])
def test_a_manifest_is_submitted_as_it_is(document: str) -> None:
    """Also one that a dry run has printed."""

    async def read(request: ReadManifestRequest) -> Any:
        assert request.text == MANIFEST
        return SimpleNamespace(engine="kubeflow", namespace="a", manifest=request.text, spec=spec(), notes=[], lost=[])

    session: Any = SimpleNamespace(launch=SimpleNamespace(read_manifest=read))
    job = asyncio.run(fill(session, Target(manifest=document), JobOptions(args=[])))
    assert (job.request.manifest, job.request.spec) == (MANIFEST, None)


def test_given_values_replace_those_of_the_form() -> None:
    filled = spec(env=[EnvVar(name="A", value="1"), EnvVar(name="B", value="2")])
    job = JobOptions(
        nodes=2, processes=4, cpu="8", memory="16Gi", env={"A": "3"}, secrets={"TOKEN": "wandb:key"},
        mounts=["data/imagenet:/data:ro", "home:/home"], restarts=0, deadline_seconds=60, queue="gold", paused=True,
        labels={"a": "1"}, annotations={"b": "2"}, node_selector={"disk": "ssd"}, priority_class="high",
        tolerations=["all", "gpu:NoSchedule", "team=a:NoExecute,Equal", "spot"], scheduler="volcano", shm="2Gi",
        pull_secrets=["registry"], pull_policy="Never", ttl_seconds=3600,
        values={"run_policy.clean_up": "All", "/labels/example.com~1team": "vision"},
    ).applied(filled)  # fmt: skip
    assert job.scheduling.tolerations == [
        {"operator": "Exists"},
        {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "a", "effect": "NoExecute"},
        {"key": "spot", "operator": "Exists"},
    ]
    assert (job.scheduling.node_selector, job.scheduling.priority_class) == ({"disk": "ssd"}, "high")
    assert (job.scheduling.scheduler, job.annotations) == ("volcano", {"b": "2"})
    assert (job.runtime.pull_secrets, job.runtime.pull_policy) == (["registry"], "Never")
    assert job.shm is not None and job.shm.size_limit == "2Gi" and job.run_policy.ttl_seconds == 3600
    assert job.replica_specs[0].replicas == 2
    assert job.torchrun is not None and job.torchrun.proc_per_node == 4
    assert job.replica_specs[0].resources.memory.limit == "16Gi"
    assert [(each.name, each.value) for each in job.env] == [("B", "2"), ("A", "3"), ("TOKEN", None)]
    assert job.env[2].secret is not None and job.env[2].secret.key == "key"
    assert [(each.claim, each.sub_path, each.mount_path, each.read_only) for each in job.mounts] == [
        ("data", "imagenet", "/data", True),
        ("home", None, "/home", False),
    ]
    assert job.run_policy.backoff_limit == 0 and job.run_policy.active_deadline_seconds == 60
    assert job.run_policy.clean_up == "All" and job.scheduling.queue == "gold" and job.paused
    assert job.labels == {"a": "1", "example.com/team": "vision"}


@pytest.mark.parametrize("kind", ["kubeflow", "t9k", "job"])
def test_rdma_and_the_network_of_the_node_are_fields_of_the_pods(kind: str) -> None:
    filled = spec(extra={}, runtime=Runtime(image="a"), replica_specs=[ReplicaSpec(replicas=2)])
    job = with_pod_options(
        filled, JobOptions(rdma=True, host_network=True), EngineFacts(manifest_kind=kind, has_pods=True)
    )
    form = KINDS[kind]
    templates = form.templates(render(job, kind))
    assert templates
    for template in templates:
        pod, container = template["spec"], template["spec"]["containers"][0]
        assert container["resources"]["limits"]["rdma/hca"] == 1
        assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
        assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    read = parse(render(job, kind)).spec
    assert render(read, kind) == render(job, kind)
    with pytest.raises(FieldError, match="pods"):
        with_pod_options(filled, JobOptions(rdma_resource="rdma/ib"), EngineFacts())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("git@git.example.org:team/code.git", "https://git.example.org/team/code", True),
        ("ssh://git@git.example.org:2222/team/code", "https://GIT.example.org/team/code/", True),
        ("file:///srv/code.git", "file:///srv/code", True),
        ("https://git.example.org/team/code", "https://git.example.org/team/other", False),
        (None, "https://git.example.org/team/code", False),
    ],
)
def test_a_repository_by_several_addresses(one: str | None, other: str, same: bool) -> None:
    assert is_same(one, other) is same


def test_one_process_for_each_gpu() -> None:
    job = JobOptions(gpus=8).applied(spec())
    assert job.torchrun is not None and job.torchrun.proc_per_node == "gpu"
    assert job.replica_specs[0].resources.device_count == 8
    without = JobOptions(gpus=0).applied(job)
    assert without.torchrun is not None and without.torchrun.proc_per_node in (1, 2)
    assert without.replica_specs[0].resources.device is None


def test_a_master_counts_as_a_node() -> None:
    filled = spec(replica_specs=[ReplicaSpec(type="master"), ReplicaSpec(type="worker", replicas=3)])
    assert [group.replicas for group in JobOptions(nodes=8).applied(filled).replica_specs] == [1, 7]


@pytest.mark.parametrize(
    ("policies", "restarts", "expected"),
    [
        (["Never", "Never"], 2, ["OnFailure", "OnFailure"]),
        (["Always", "ExitCode"], 2, ["Always", "ExitCode"]),
        (["Always", "OnFailure"], 0, ["Never", "Never"]),
        (["OnFailure", "Never"], None, ["OnFailure", "Never"]),
    ],
)
def test_a_number_of_restarts_is_one_that_can_happen(
    policies: list[Any], restarts: int | None, expected: list[str]
) -> None:
    groups = [ReplicaSpec(type=name, restart_policy=each) for name, each in zip("ab", policies, strict=True)]
    job = JobOptions(restarts=restarts).applied(spec(replica_specs=groups))
    assert [group.restart_policy for group in job.replica_specs] == expected
    assert restarts in (None, job.run_policy.backoff_limit)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_restarts_a_job_or_refuses_it(kind: str) -> None:
    job = JobOptions(restarts=5).applied(spec(runtime=Runtime(image="a")))
    refused = [check.field for check in problems(job, kind) if check.level == "error"]
    if KINDS[kind].capabilities["restarts"].supported:
        read = parse(render(job, kind)).spec
        assert (refused, read.run_policy.backoff_limit, read.replica_specs[0].restart_policy) == ([], 5, "OnFailure")
    else:
        assert refused == ["/spec/replica_specs/0/restart_policy"]
    assert not [check for check in problems(JobOptions(restarts=0).applied(job), kind) if check.level == "error"]


def test_directories_follow_the_name() -> None:
    filled = spec(args=["--out", "runs/train-1"], tensorboard=TensorBoardSpec(log_dirs=["/w/runs/train-1"]))
    job = JobOptions(name="big-7").applied(filled)
    assert (job.name, job.args, job.tensorboard.log_dirs) == ("big-7", ["--out", "runs/big-7"], ["/w/runs/big-7"])


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (JobOptions(name="No Good"), "/spec/name"),
        (JobOptions(processes="auto"), "/spec/torchrun/proc_per_node"),
        (JobOptions(processes=0), "/spec/torchrun/proc_per_node"),
        (JobOptions(mounts=["data"]), "/spec/mounts"),
        (JobOptions(secrets={"A": "b"}), "/spec/env"),
        (JobOptions(tolerations=[":NoSchedule"]), "/spec/scheduling/tolerations"),
        (JobOptions(clean_up="Some"), "/spec/run_policy/clean_up"),
        (JobOptions(values={"no.such": 1}), None),
        (JobOptions(values={"run_policy.backoff_limit": "x"}), "/spec/run_policy/backoff_limit"),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(options: JobOptions, field: str | None) -> None:
    with pytest.raises(FieldError) as refusal:
        options.applied(spec())
    assert refusal.value.field == field
    assert refusal.value.message and "proc_per_node" not in refusal.value.message


@pytest.mark.parametrize("name", ["args", "mounts", "config_files", "tolerations", "pull_secrets"])
def test_a_text_is_no_list(name: str) -> None:
    """Otherwise each of its letters would be an argument."""
    with pytest.raises(TypeError, match=rf"{name} is a list.*'--epochs', '3'"):
        JobOptions(**{name: "--epochs 3"})


def test_a_working_directory_is_that_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert JobOptions(working_dir="sub").applied(spec()).working_dir == f"{tmp_path}/sub"
    assert JobOptions(working_dir="/data").applied(spec()).working_dir == "/data"


@pytest.mark.parametrize(
    ("word", "in_namespace"), [("torch-distributed", False), ("demo/ours", True), ("/torch-distributed", False)]
)
def test_a_training_runtime_of_the_cluster_or_of_the_namespace(word: str, in_namespace: bool) -> None:
    runtime = JobOptions(training_runtime=word).applied(spec(), namespace="demo").runtime.training_runtime
    assert runtime is not None
    assert (runtime.name, runtime.in_namespace) == (word.rpartition("/")[2], in_namespace)


def test_a_training_runtime_of_another_namespace_is_refused() -> None:
    with pytest.raises(FieldError, match=r"team-b/theirs is in another namespace .* in demo") as refusal:
        JobOptions(training_runtime="team-b/theirs").applied(spec(), namespace="demo")
    assert refusal.value.field == "/spec/runtime/training_runtime"
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("filled", "given", "expected"),
    [
        (["--out", "runs/a"], ["--epochs", "3"], ["--out", "runs/a", "--epochs", "3"]),
        (["--out", "runs/a", "--epochs", "1"], ["-o", "mine"], ["--epochs", "1", "-o", "mine"]),
        (["--out=runs/a"], ["--out", "mine"], ["--out", "mine"]),
        (["--out", "runs/a"], ["--out=mine"], ["--out=mine"]),
        (["positional", "--out", "runs/a"], ["--out", "x"], ["positional", "--out", "x"]),
        ([], ["--unknown"], ["--unknown"]),
    ],
)
def test_given_arguments_replace_the_same_options(filled: list[str], given: list[str], expected: list[str]) -> None:
    assert with_arguments(filled, given, [option("--out", "-o"), option("--epochs")]) == expected


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("10m", 600), ("2h30m", 9000), ("1d", 86400), ("5s", 5)])
def test_durations(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5m", "10 weeks", "1m1h"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError):
        seconds_of(text)


def test_times() -> None:
    assert moment_of("1970-01-01T00:01:00Z") == moment_of("1970-01-01t08:01:00+08:00") == 60
    assert moment_of(" 1970-01-01 00:00:00.123456789Z ") == pytest.approx(0.123456789)
    assert moment_of("2026-11-28T09:30:00") == datetime(2026, 11, 28, 9, 30).timestamp()
    for text in ("", "yesterday", "2026-11-28", "2026-13-01T00:00:00Z", "2026-11-28T09:30Z", "12:00:00"):
        with pytest.raises(ValueError):
            moment_of(text)


def test_values_are_json_or_text() -> None:
    assert [read_value(text) for text in ("3", "true", "null", "[1]", "All", "1Gi")] == [
        3,
        True,
        None,
        [1],
        "All",
        "1Gi",
    ]
