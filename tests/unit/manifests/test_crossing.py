"""Manifests of others on another engine: they run the same program, and what gets lost is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.client.options import JobOptions
from jupyterlab_t9kjob.core.checks import Check
from jupyterlab_t9kjob.core.manifests import KINDS, Kind, cross, launched, parse, problems, read_job, render
from jupyterlab_t9kjob.core.spec import JobSpec, Torchrun

DATA = Path(__file__).parent / "data"
ALL: list[Kind] = ["t9k", "kubeflow", "job", "jobset", "trainjob"]
T9K = """
apiVersion: batch.tensorstack.dev/v1beta1
kind: PyTorchTrainingJob
metadata: {name: a}
spec:
  torchrunConfig: {enabled: true, procPerNode: "4"}
  replicaSpecs:
  - type: worker
    replicas: 2
    template: {spec: {containers: [{name: pytorch, image: img, args: [/w/train.py, --epochs, "3"]}]}}
"""
PYTORCHJOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  nprocPerNode: "2"
  runPolicy: {backoffLimit: 3}
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: Never
      template: {spec: {containers: [{name: pytorch, image: img, %s}]}}
    Worker:
      replicas: 3
      restartPolicy: Never
      template: {spec: {containers: [{name: pytorch, image: img, %s}]}}
"""


def read(text: str) -> tuple[JobSpec, Kind]:
    parsed = parse(yaml.safe_load(text))
    return parsed.spec, parsed.kind


def there(spec: JobSpec, source: Kind, target: Kind) -> tuple[JobSpec, list[str]]:
    """The job on another engine, and the messages about what is lost."""
    crossed, notes = cross(spec, source, target, KINDS[target].capabilities)
    return crossed, [str(note.message) for note in notes if note.field == "/spec/extra"]


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The training container of each replica type."""
    form = KINDS[parse(manifest).kind]
    shown = manifest if form.inner is None else form.translate(manifest, form.inner)[0]
    return [template["spec"]["containers"][0] for template in form.templates(shown)]


def words(container: dict[str, Any]) -> list[str]:
    return [*container.get("command", []), *container.get("args", [])]


def codes(checks: list[Check]) -> list[str]:
    return [check.code for check in checks]


# -- the working directory and the program -----------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["kubeflow", "job", "jobset", "trainjob"])
def test_a_script_without_a_working_directory_runs_on_every_engine(target: Kind) -> None:
    spec, _ = read(T9K)
    assert spec.extra == {} and spec.working_dir == ""
    crossed, lost = there(spec, "t9k", target)
    assert not lost
    for container in containers(render(crossed, target)):
        assert "workingDir" not in container
        assert words(container)[-3:] == ["/w/train.py", "--epochs", "3"]
        assert "--nproc_per_node=4" in words(container) and "--nnodes=2" in words(container)


@pytest.mark.parametrize(
    "program", ["command: [python, /w/train.py]", "command: [sh, -c, x]", "args: [--x]", "command: [python, -m, a.b]"]
)
@pytest.mark.parametrize("target", ALL)
def test_arguments_are_added_where_they_stand(program: str, target: Kind) -> None:
    spec, kind = read(PYTORCHJOB % (program, program))
    assert spec.working_dir == ""
    before = words(containers(render(spec, kind))[0])
    spec = spec.model_copy(update={"args": [*spec.args, "--lr", "0.5"]})
    crossed, _lost = there(spec, kind, target)
    for container in containers(render(crossed, target)):
        assert words(container) == [*before, "--lr", "0.5"]
        assert "workingDir" not in container


def test_a_container_without_a_command_keeps_that_of_its_image() -> None:
    spec, _ = read(PYTORCHJOB % ("args: [--x]", "args: [--x]"))
    assert spec.args == ["--x"] and "template" not in str(spec.extra)
    container = containers(render(spec, "kubeflow"))[0]
    assert container["args"] == ["--x"] and "command" not in container


def test_a_program_of_torchrun_that_is_no_script_is_read_as_it_stands() -> None:
    text = T9K.replace('procPerNode: "4"', 'procPerNode: "4", extraOptions: [--no_python]')
    spec, _ = read(text.replace("/w/train.py", "python, /w/train.py"))
    assert spec.extra == {}
    assert (spec.entrypoint.kind, spec.entrypoint.value, spec.args[0]) == ("command", "python", "/w/train.py")


def test_the_directory_of_one_role_is_lost_by_name() -> None:
    one, other = (f"workingDir: {folder}, command: [python, train.py]" for folder in ("/w", "/x"))
    spec, kind = read(PYTORCHJOB % (one, other))
    assert words(containers(render(spec, kind))[1]) == ["python", "train.py"]
    crossed, (lost,) = there(spec, kind, "t9k")
    assert "pytorchReplicaSpecs.Worker.template.spec.containers.pytorch.workingDir" in lost and "args" not in lost
    assert [words(container) for container in containers(render(crossed, "t9k"))] == [
        ["python", "train.py"],
        ["python", "/x/train.py"],
    ]


def test_a_field_that_the_extra_content_sets_is_named() -> None:
    patch = {"template": {"spec": {"containers": {"$by": "name", "pytorch": {"args": ["/w/other.py"]}}}}}
    spec, kind = read(T9K)
    spec = spec.model_copy(update={"extra": {"spec": {"replicaSpecs": {"$by": "type", "worker": patch}}}})
    found = [(check.level, check.field) for check in problems(spec, kind) if check.code == "Overridden"]
    assert found == [("warning", "/spec/entrypoint/value"), ("warning", "/spec/args")]
    assert "Overridden" not in codes(problems(read(T9K)[0], kind))


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.iterdir()))
def test_no_manifest_as_written_overrides_its_own_spec(name: str) -> None:
    job = read_job((DATA / name).read_text())
    assert "Overridden" not in codes(problems(job.spec, job.kind))


# -- torchrun that an operator configures ------------------------------------------------------------------------------

TRAINJOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: c}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 2, numProcPerNode: 4, image: img, command: [torchrun, /w/train.py]}
"""


@pytest.mark.parametrize("target", ["t9k", "job", "jobset", "trainjob"])
@pytest.mark.parametrize("start", ["torchrun", "python, -m, torch.distributed.run"])
def test_torchrun_of_a_pytorchjob_trains_together_on_every_engine(start: str, target: Kind) -> None:
    program = f"workingDir: /w, command: [{start}, train.py, --lr, x]"
    spec, kind = read(PYTORCHJOB % (program, program))
    assert spec.torchrun is None and words(containers(render(spec, kind))[0])[-3:] == ["train.py", "--lr", "x"]
    crossed, lost = there(spec, kind, target)
    assert not lost
    assert crossed.torchrun is not None and crossed.torchrun.proc_per_node == 2
    assert (crossed.entrypoint.value, crossed.args) == ("/w/train.py", ["--lr", "x"])
    (container,) = containers(render(crossed, target))
    if target != "t9k":
        assert {"--nnodes=4", "--nproc_per_node=2", "train.py"} < set(words(container))


@pytest.mark.parametrize("target", ["t9k", "kubeflow", "job", "jobset"])
def test_torchrun_of_a_trainjob_trains_together_on_every_engine(target: Kind) -> None:
    spec, kind = read(TRAINJOB)
    crossed, lost = there(spec, kind, target)
    assert not lost
    assert crossed.torchrun is not None and crossed.torchrun.proc_per_node == 4
    assert crossed.total_replicas == 2 and crossed.entrypoint.value == "/w/train.py"
    if target == "kubeflow":
        assert render(crossed, target)["spec"]["nprocPerNode"] == "4"


def test_on_this_machine_torchrun_is_not_started_twice() -> None:
    program = "command: [torchrun, --nproc-per-node, '3', --max-restarts=2, --role, r, -m, pkg.train, -x]"
    spec, kind = read(PYTORCHJOB % (program, program))
    crossed, _ = cross(spec, kind, None, {})
    assert crossed.torchrun is not None
    assert crossed.torchrun.model_dump() == {
        "proc_per_node": 3,
        "max_restarts": 2,
        "rdzv_backend": "c10d",
        "extra_options": ["--role", "r"],
    }
    assert (crossed.entrypoint.kind, crossed.entrypoint.value, crossed.args) == ("module", "pkg.train", ["-x"])


@pytest.mark.parametrize(
    ("text", "processes", "known"),
    [
        (TRAINJOB.replace("numProcPerNode: 4, ", ""), 1, False),
        (TRAINJOB.replace("numProcPerNode: 4", "resourcesPerNode: {limits: {nvidia.com/gpu: 2}}"), "gpu", True),
        (TRAINJOB.replace("numProcPerNode: 4", "resourcesPerNode: {requests: {cpu: 2500m}}"), 3, True),
        (PYTORCHJOB.replace('"2"', "auto") % (("command: [torchrun, t.py]",) * 2), 1, False),
        (PYTORCHJOB.replace('"2"', "gpu") % (("command: [torchrun, t.py]",) * 2), "gpu", True),
        (
            PYTORCHJOB.replace('  nprocPerNode: "2"\n', "")
            % (("resources: {limits: {nvidia.com/gpu: 8}}, command: [torchrun, t.py]",) * 2),
            "gpu",
            True,
        ),
    ],
)  # fmt: skip
def test_processes_are_those_that_the_operator_starts(text: str, processes: Any, known: bool) -> None:
    spec, kind = read(text)
    crossed, notes = launched(spec, kind)
    assert crossed.torchrun is not None and crossed.torchrun.proc_per_node == processes
    assert codes(notes) == ([] if known else ["Processes"])


@pytest.mark.parametrize(
    "own", ["--standalone", "--nnodes=2", "--rdzv-endpoint=$(X):1", "--master-addr, m", "--nproc-per-node=$(N)"]
)
def test_a_torchrun_with_a_rendezvous_of_its_own_is_kept_with_a_warning(own: str) -> None:
    program = f"command: [torchrun, {own}, t.py]"
    spec, kind = read(PYTORCHJOB % (program, program))
    crossed, notes = cross(spec, kind, "job", KINDS["job"].capabilities)
    assert crossed.torchrun is None and "OwnLauncher" in codes(notes)
    twice = crossed.model_copy(update={"torchrun": Torchrun()})
    assert ("NestedLauncher", "/spec/entrypoint/value") in [(one.code, one.field) for one in problems(twice, "job")]


def test_roles_with_other_programs_stay_two() -> None:
    spec, kind = read(PYTORCHJOB % ("command: [torchrun, a.py, --m]", "command: [torchrun, b.py]"))
    crossed, _ = there(spec, kind, "t9k")
    assert [words(container) for container in containers(render(crossed, "t9k"))] == [["a.py", "--m"], ["b.py"]]


def test_a_manifest_of_an_operator_stays_as_written_on_its_own_kind() -> None:
    spec, kind = read(PYTORCHJOB % (("command: [torchrun, t.py]",) * 2))
    same, notes = cross(spec, kind, kind, KINDS[kind].capabilities)
    assert same == spec and "OwnLauncher" not in codes(notes)
    again, _ = launched(spec, kind)
    manifest = render(again, kind)
    assert "--nnodes=4" in words(containers(manifest)[0]) and parse(manifest).spec == again


@pytest.mark.parametrize("kind", ["kubeflow", "trainjob"])
def test_processes_can_be_changed_in_a_manifest_with_torchrun(kind: Kind) -> None:
    text = TRAINJOB if kind == "trainjob" else PYTORCHJOB % (("command: [torchrun, t.py]",) * 2)
    spec = JobOptions(processes=8).applied(launched(read(text)[0], kind)[0])
    manifest = render(spec, kind)
    assert "Overridden" not in codes(problems(spec, kind)) and "NestedLauncher" not in codes(problems(spec, kind))
    assert "--nproc_per_node=8" in words(containers(manifest)[0])
    assert manifest["spec"].get("nprocPerNode") == "8" or manifest["spec"]["trainer"]["numProcPerNode"] == 8


# -- roles whose pods differ -------------------------------------------------------------------------------------------

_OF_WORKER = (
    "serviceAccountName: trainer, nodeSelector: {gpu: 'yes'}, initContainers: [{name: fetch, image: x}],"
    " volumes: [{name: s, emptyDir: {}}], containers"
)


def two_roles(master: str, worker: str) -> str:
    """A PyTorchJob with fields of the pods of each role."""
    text = PYTORCHJOB % (("workingDir: /w, command: [python, train.py]",) * 2)
    first, second, third = text.split("{spec: {containers")
    return f"{first}{{spec: {{{master}{second}{{spec: {{{worker}{third}"


@pytest.mark.parametrize(("master", "account"), [("containers", None), ("serviceAccountName: m, containers", "m")])
def test_each_role_keeps_its_pods(master: str, account: str | None) -> None:
    spec, kind = read(two_roles(master, _OF_WORKER))
    assert [(group.type, group.replicas) for group in spec.replica_specs] == [("master", 1), ("worker", 3)]
    crossed, lost = there(spec, kind, "t9k")
    assert not [message for message in lost if "Worker" in message or "Master" in message]
    first, last = (group["template"]["spec"] for group in render(crossed, "t9k")["spec"]["replicaSpecs"])
    assert first.get("serviceAccountName") == account
    assert not first.keys() & {"nodeSelector", "initContainers"}
    assert (last["serviceAccountName"], last["nodeSelector"]) == ("trainer", {"gpu": "yes"})
    assert last["volumes"] == [{"name": "s", "emptyDir": {}}] and last["initContainers"]
    back, _ = there(crossed, "t9k", "kubeflow")
    assert render(back, "kubeflow")["spec"]["pytorchReplicaSpecs"] == render(spec, kind)["spec"]["pytorchReplicaSpecs"]


@pytest.mark.parametrize("target", ["job", "jobset", "trainjob"])
def test_pods_that_differ_are_refused_by_a_kind_with_one_template(target: Kind) -> None:
    spec, kind = read(two_roles("containers", _OF_WORKER))
    crossed, lost = there(spec, kind, target)
    assert ("Unsupported", "/spec/replica_specs/1") in [(one.code, one.field) for one in problems(crossed, target)]
    assert "spec.pytorchReplicaSpecs.Worker.template.spec.serviceAccountName" in lost[0]


@pytest.mark.parametrize("target", ["t9k", "job", "jobset", "trainjob"])
def test_the_patch_of_one_role_of_one_type_is_lost_by_name(target: Kind) -> None:
    spec, kind = read(PYTORCHJOB % (("command: [python, train.py]",) * 2))
    assert len(spec.replica_specs) == 1
    patches = {
        name: {"template": {"spec": {"serviceAccountName": name.lower(), "hostNetwork": True}}}
        for name in ("Master", "Worker")
    }
    spec = spec.model_copy(update={"extra": {"spec": {"pytorchReplicaSpecs": patches}}})
    crossed, (lost,) = there(spec, kind, target)
    assert "'serviceAccountName': 'master'" in str(crossed.extra)
    assert "Worker.template.spec.serviceAccountName" in lost and "Master" not in lost and "hostNetwork" not in lost
    only = {"spec": {"pytorchReplicaSpecs": {"Worker": patches["Worker"]}}}
    crossed, (lost,) = there(spec.model_copy(update={"extra": only}), kind, target)
    assert crossed.extra == {} and "Worker.template.spec.hostNetwork" in lost


# -- variables ---------------------------------------------------------------------------------------------------------

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: b}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: img, workingDir: /w, command: [python, t.py]}]}
"""
JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: b}
spec:
  replicatedJobs:
  - name: worker
    template:
      spec:
        completions: 2
        parallelism: 2
        template: {spec: {restartPolicy: Never, containers: [{name: main, image: i, command: [python, /w/t.py]}]}}
"""
PLAIN = {
    "job": JOB,
    "jobset": JOBSET,
    "trainjob": TRAINJOB.replace("torchrun", "python"),
    "kubeflow": PYTORCHJOB % (("command: [python, /w/t.py]",) * 2),
    "t9k": T9K,
}
_WORLD = {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}


@pytest.mark.parametrize("kind", ALL)
def test_variables_can_be_added_to_every_manifest(kind: Kind) -> None:
    spec, _ = read(PLAIN[kind])
    assert not [name for name in variables(render(spec, kind)) if name in _WORLD]
    spec = JobOptions(env={"FOO": "bar"}, secrets={"WANDB": "s:k"}, nodes=4).applied(spec)
    assert {"FOO", "WANDB"} <= variables(render(spec, kind))
    for target in ALL:
        assert {"FOO", "WANDB"} <= variables(render(there(spec, kind, target)[0], target))


@pytest.mark.parametrize("kind", ["job", "jobset", "trainjob"])
@pytest.mark.parametrize("target", ["job", "jobset", "trainjob"])
def test_a_job_of_ours_sets_the_variables_by_which_replicas_find_each_other(kind: Kind, target: Kind) -> None:
    crossed, lost = there(read(PLAIN[kind])[0], kind, target)
    assert kind == target or variables(render(crossed, target)) >= _WORLD
    assert not [message for message in lost if "env" in message or "MASTER_ADDR" in message]


def test_pods_of_a_job_find_the_first_one_when_torchrun_is_on() -> None:
    spec, kind = read(JOB)
    assert "subdomain" not in render(spec, kind)["spec"]["template"]["spec"]
    spec = JobOptions(processes=8).applied(spec)
    manifest = render(spec, kind)
    assert manifest["spec"]["template"]["spec"]["subdomain"] == "b"
    assert "--rdzv_endpoint=b-0.b:29500" in words(containers(manifest)[0])
    assert parse(manifest).spec == spec


def test_fields_that_a_manifest_does_not_have_are_not_kept_as_written() -> None:
    kept = [str(note.message) for note in parse(yaml.safe_load(JOB)).notes if note.code == "Kept"]
    assert kept and "env" not in kept[0] and "subdomain" not in kept[0] and "successPolicy" not in kept[0]


def test_a_field_that_a_manifest_does_not_have_is_not_lost() -> None:
    spec, kind = read(PYTORCHJOB.replace('  nprocPerNode: "2"\n', "") % (("command: [python, /w/t.py]",) * 2))
    assert spec.extra == {"spec": {"nprocPerNode": None}}
    for target in ("t9k", "job", "jobset", "trainjob"):
        assert not there(spec, kind, target)[1]


def variables(manifest: dict[str, Any]) -> set[str]:
    return {entry["name"] for container in containers(manifest) for entry in container.get("env", [])}
