"""Features that a kind lacks, reported at the field; and the conversion from one engine to another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.features import adapt, unsupported, uses
from jupyterlab_t9kjob.core.manifests import KINDS, OLDER, Kind, cross, parse, problems, read_job, render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.core.texts.quantity import amount
from jupyterlab_t9kjob.engines.local.plan.checks import CAPABILITIES as LOCAL
from tests.unit.manifests.strategies import specs

CAPABILITIES = {name: kind.capabilities for name, kind in KINDS.items()}

DATA = Path(__file__).parent / "data"


def make(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {"name": "j", "entrypoint": {"value": "/w/t.py"}, "runtime": {"image": "torch:2"}, **changes}
    )


def found(spec: JobSpec, kind: Kind, level: str = "error", **more: Any) -> list[tuple[str, str | None]]:
    return [(check.code, check.field) for check in problems(spec, kind, **more) if check.level == level]


def test_a_plain_job_has_no_problems() -> None:
    for kind in ("t9k", "kubeflow"):
        assert problems(make(), kind) == []


def test_every_engine_says_of_every_capability_whether_it_has_it() -> None:
    assert all(table.keys() == LOCAL.keys() for table in CAPABILITIES.values())
    for table in (*CAPABILITIES.values(), LOCAL):
        for capability in table.values():
            assert capability.supported == (capability.reason is None)
            assert capability.supported or str(capability.reason).endswith(".")


GROUP = "/spec/replica_specs/0"
BOTH = {"kubeflow": "error", "job": "error", "jobset": "error", "trainjob": "error"}
ALL_BUT_T9K = {**BOTH, "local": "error"}
HINTS = {"kubeflow": "hint", "job": "hint", "jobset": "hint", "trainjob": "hint", "local": "hint"}
FIXED = {"job": "error", "jobset": "error", "trainjob": "error", "local": "error"}
# What a kind of manifest can't express, and the level of the check that says so.
CELLS: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"replica_specs": [{"scaling_weight": 1}]}, HINTS, f"{GROUP}/scaling_weight"),
    ({"runtime": {"image": "i", "training_runtime": {"name": "own"}}},
     dict.fromkeys(("t9k", "kubeflow", "job", "jobset", "local"), "hint"), "/spec/runtime/training_runtime"),
    ({"elastic": {"min": 1, "max": 1}}, FIXED, "/spec/elastic"),
    ({"run_policy": {"ttl_seconds": 1}}, {"t9k": "error", "trainjob": "error", "local": "error"},
     "/spec/run_policy/ttl_seconds"),
    *(({"run_policy": {"clean_up": value}}, dict.fromkeys(("job", "jobset", "trainjob"), "error"),
       "/spec/run_policy/clean_up") for value in ("All", "None")),
    ({"run_policy": {"resume_evicted": True}}, {"local": "hint"}, "/spec/run_policy/resume_evicted"),
    ({"resume": [{"type": "worker", "args": []}]}, BOTH, "/spec/resume/0"),
    ({"resume": [{"type": "worker", "skip_init": True}]}, ALL_BUT_T9K, "/spec/resume/0"),
    ({"debug": {"worker": {"skip_init": True}}}, ALL_BUT_T9K,
     "/spec/debug/worker/skip_init"),
    ({"scheduling": {"queue": "q"}}, {"local": "error"}, "/spec/scheduling/queue"),
    ({"scheduling": {"priority": 1}}, ALL_BUT_T9K, "/spec/scheduling/priority"),
    ({"scheduling": {"node_selector": {"a": "b"}}}, {"local": "hint"}, "/spec/scheduling/node_selector"),
    ({"mounts": [{"claim": "c", "mount_path": "/w"}]}, {"local": "hint"}, "/spec/mounts"),
    ({"config_files": [{"path": "/etc/a", "text": ""}]}, {"local": "error"}, "/spec/config_files"),
    ({"shm": {"size_limit": "1Gi"}}, {"local": "hint"}, "/spec/shm"),
    ({"security": {"uid": 1}}, {"local": "hint"}, "/spec/security"),
    ({"env": [{"name": "A", "secret": {"name": "s", "key": "k"}}]}, {"local": "error"}, "/spec/env/0"),
    ({"tensorboard": {"log_dirs": ["/w/x"], "cluster": {}}, "mounts": [{"claim": "c", "mount_path": "/w"}]},
     HINTS, "/spec/tensorboard/cluster"),
    ({"replica_specs": [{"restart_policy": "Always"}]}, FIXED, f"{GROUP}/restart_policy"),
    ({"replica_specs": [{"type": "a"}, {"type": "b"}, {"type": "c"}]}, BOTH, "/spec/replica_specs"),
    ({"source": {"kind": "snapshot", "folder": "/w"}}, {}, "/spec/source"),
    ({"extra": {"spec": {"new": 1}}}, {"local": "hint"}, "/spec/extra"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "levels", "field"), CELLS)
def test_what_an_engine_lacks_is_said_at_the_field(changes: dict[str, Any], levels: dict[str, str], field: str) -> None:
    spec = make(**changes)
    for engine, table in {**CAPABILITIES, "local": LOCAL}.items():
        said = {check.field: check.level for check in unsupported(spec, table)}
        assert said.get(field) == levels.get(engine), engine
        if engine != "local":
            assert found(spec, engine) == found(make(), engine) if engine not in levels else True  # type: ignore[arg-type]


PROBLEMS: list[tuple[dict[str, Any], str, str, str | None]] = [
    ({"runtime": {}}, "both", "NoImage", "/spec/runtime/image"),
    ({"replica_specs": [{"runtime": {"kernel": "x"}}]}, "both", "NoImage", "/spec/replica_specs/0/runtime/image"),
    ({"torchrun": {"proc_per_node": "gpu"}}, "both", "NoDevicesAsked", "/spec/replica_specs/0/resources/device"),
    ({"torchrun": {"extra_options": ["--nnodes=2"]}}, "both", "OwnOption", "/spec/torchrun/extra_options/0"),
    ({"torchrun": {"extra_options": ["--log-dir", "/x"]}}, "both", "OwnOption", "/spec/torchrun/extra_options/0"),
    ({"torchrun": {"extra_options": ["--rdzv-conf=a=1"]}}, "kubeflow", "OwnOption", "/spec/torchrun/extra_options/0"),
    ({"elastic": {"min": 2, "max": 1}}, "both", "ElasticBounds", "/spec/elastic/min"),
    ({"elastic": {"min": 2, "max": 3}}, "both", "ElasticBounds", "/spec/replica_specs/0/replicas"),
    ({"elastic": {"min": 1, "max": 3, "expected": 4}}, "both", "ElasticBounds", "/spec/elastic/expected"),
    ({"elastic": {"min": 1, "max": 2}, "replica_specs": [{"type": "a"}, {"type": "b"}]}, "kubeflow", "Unsupported",
     "/spec/elastic"),
    ({"replica_specs": [{"resources": {"cpu": {"limit": "lots"}}}]}, "both", "BadQuantity",
     f"{GROUP}/resources/cpu/limit"),
    ({"replica_specs": [{"resources": {"memory": {"request": "2Gi", "limit": "1G"}}}]}, "both", "RequestAboveLimit",
     "/spec/replica_specs/0/resources/memory/request"),
    ({"shm": {"size_limit": "much"}}, "both", "BadQuantity", "/spec/shm/size_limit"),
    ({"mounts": [{"claim": "c", "mount_path": "w"}]}, "both", "NotAbsolute", "/spec/mounts/0/mount_path"),
    ({"mounts": [{"claim": "c", "mount_path": "/w", "sub_path": "../x"}]}, "both", "BadSubPath",
     "/spec/mounts/0/sub_path"),
    ({"mounts": [{"claim": "c", "mount_path": "/w"}, {"claim": "d", "mount_path": "/w/"}]}, "both", "MountedTwice",
     "/spec/mounts/1/mount_path"),
    ({"mounts": [{"claim": "c", "mount_path": "/dev/shm"}]}, "both", "MountedTwice", "/spec/mounts/0/mount_path"),
    ({"mounts": [{"claim": "c", "mount_path": "/a", "volume": "v"}, {"claim": "d", "mount_path": "/b", "volume": "v"}]},
     "both", "VolumeTwice", "/spec/mounts/1/volume"),
    ({"mounts": [{"claim": "c", "mount_path": "/a", "volume": "dshm"}]}, "both", "VolumeTwice",
     "/spec/mounts/0/volume"),
    ({"annotations": {"jupyterlab-t9kjob/spec": "x"}}, "both", "Reserved", "/spec/annotations/jupyterlab-t9kjob~1spec"),
    ({"env": [{"name": "T9KJOB_POD_UID", "value": "x"}]}, "both", "Reserved", "/spec/env/0/name"),
    ({"extra": {"kind": "Pod"}}, "both", "Extra", "/spec/extra"),
    ({"extra": {"metadata": {"name": "other"}}}, "both", "Extra", "/spec/extra"),
    ({"extra": {"spec": 5}}, "both", "Extra", "/spec/extra"),
    ({"replica_specs": [{"type": "a"}, {"type": "b", "entrypoint": {"kind": "command", "value": "sh"}}]}, "t9k",
     "MixedEntrypoints", "/spec/replica_specs"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "where", "code", "field"), PROBLEMS)
def test_what_can_not_be_right_is_said_at_the_field(changes: dict[str, Any], where: str, code: str, field: str) -> None:
    for kind in ("t9k", "kubeflow"):
        errors = found(make(**changes), kind)
        assert ((code, field) in errors) == (where in ("both", kind)), (kind, errors)


def test_warnings() -> None:
    memory = {"resources": {"memory": {"limit": "1Gi"}}}
    spec = make(
        replica_specs=[memory],
        shm={"size_limit": "2Gi"},
        env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        tensorboard={"cluster": {}},
    )
    assert found(spec, "t9k", "warning") == [
        ("RefusedVariable", "/spec/env/0"),
        ("ShmAboveMemory", "/spec/shm/size_limit"),
        ("LogDirectoryNotMounted", "/spec/tensorboard/log_dirs"),
    ]
    older = make(paused=True, elastic={"min": 1, "max": 4}, replica_specs=[{"replicas": 2}])
    assert found(older, "t9k", dialect=OLDER) == [("Unsupported", "/spec/paused"), ("Unsupported", "/spec/elastic/max")]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=specs("t9k"), data=st.data())
def test_what_is_adapted_can_be_run(spec: JobSpec, data: st.DataObject) -> None:
    for table in (*CAPABILITIES.values(), LOCAL):
        adapted, notes = adapt(spec, table)
        left = [check for check in unsupported(adapted, table) if check.level == "error"]
        # Replica types can't be made fewer; everything else can be taken away, and is named.
        assert {check.field for check in left} <= {"/spec/replica_specs"}
        refused = {check.field for check in unsupported(spec, table) if check.level == "error"}
        assert {note.field for note in notes} >= refused
        assert adapt(adapted, table)[0] == adapted


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(spec=specs("t9k") | specs("kubeflow"))
def test_a_spec_without_problems_can_be_rendered(spec: JobSpec) -> None:
    for kind in ("t9k", "kubeflow"):
        if not found(spec, kind):
            assert parse(render(spec, kind)).spec == spec
        problems(spec, kind)


def test_seed_003_becomes_a_pytorchjob_and_a_local_run() -> None:
    read = read_job((DATA / "seed003.yaml").read_text())
    spec, notes = cross(read.spec, "t9k", "kubeflow", CAPABILITIES["kubeflow"])
    assert [note.field for note in notes] == ["/spec/tensorboard/cluster"]
    manifest = render(spec, "kubeflow")
    master = manifest["spec"]["pytorchReplicaSpecs"]["Master"]
    assert master["restartPolicy"] == "ExitCode"
    assert master["template"]["spec"]["containers"][0]["args"][-6:] == read.spec.args
    assert found(spec, "kubeflow") == []
    local, notes = cross(read.spec, "t9k", None, LOCAL)
    assert [note.level for note in notes] == ["hint"] * len(notes)
    assert local.torchrun == read.spec.torchrun and local.args == read.spec.args
    assert not [check for check in unsupported(local, LOCAL) if check.level == "error"]


def test_seed_004_becomes_a_local_run() -> None:
    read = read_job((DATA / "seed004-whole.yaml").read_text())
    local, notes = cross(read.spec, "t9k", None, LOCAL)
    lost = {note.field for note in notes if note.level == "warning"}
    assert lost == {
        "/spec/elastic",
        "/spec/debug/worker/skip_init",
        "/spec/scheduling/queue",
        "/spec/scheduling/priority",
    }
    assert local.entrypoint.value == "training.module" and local.elastic is None
    assert local.debug is not None and not local.debug["worker"].skip_init
    relative = read_job((DATA / "seed004.yaml").read_text())
    notes = cross(relative.spec, "t9k", None, LOCAL)[1]
    assert "/spec/entrypoint/value" in {note.field for note in notes}


def test_what_the_form_does_not_know_goes_along_where_it_can() -> None:
    read = read_job((DATA / "t9k-sidecars.yaml").read_text())
    two = read.spec.model_copy(update={"elastic": None, "resume": []})
    groups = [two.replica_specs[0].model_copy(update={"replicas": 1}), two.replica_specs[1]]
    two = two.model_copy(update={"replica_specs": groups})
    spec, notes = cross(two, "t9k", "kubeflow", CAPABILITIES["kubeflow"])
    manifest = render(spec, "kubeflow")
    pod = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert pod["serviceAccountName"] == "trainer" and pod["hostNetwork"] is True
    assert [container["name"] for container in pod["containers"]] == ["proxy", "pytorch"]
    lost = next(note.message for note in notes if note.field == "/spec/extra")
    assert "spec.somethingNew" in lost and "spec.tensorboardSpec" in lost
    back, _ = cross(spec, "kubeflow", "t9k", CAPABILITIES["t9k"])
    again = render(back, "t9k")["spec"]["replicaSpecs"]
    assert again[0]["template"]["spec"]["serviceAccountName"] == "trainer"
    assert again[1]["template"]["spec"]["containers"][0]["name"] == "pytorch"
    assert cross(two, "t9k", "t9k", CAPABILITIES["t9k"])[0].extra == two.extra


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500m", 0.5),
        ("2", 2),
        ("1.5", 1.5),
        (".5", 0.5),
        ("16Gi", 16 * 2**30),
        ("1k", 1000),
        ("1e3", 1000),
        ("1E", 1e18),
        ("2Ki", 2048),
        ("", None),
        ("16GB", None),
        ("-1", None),
        ("1 Gi", None),
        (None, None),
    ],
)
def test_quantities(text: str | None, value: float | None) -> None:
    assert amount(text) == (None if value is None else pytest.approx(value))


def test_fractions_of_a_core_are_what_they_say() -> None:
    assert [amount(text) for text in ("7350m", "100m", "3n", "1e-3")] == [7.35, 0.1, 3e-9, 0.001]


def test_each_capability_is_used_by_something() -> None:
    names = {use.capability for changes, _, _ in CELLS for use in uses(make(**changes))}
    always = {"pause", "torchrun", "replicas", "deadline", "devices", "diagnostics", "exec"}
    assert names | always | {"resource_limits"} == set(LOCAL)


def test_the_core_is_light() -> None:
    """Neither Jupyter, nor tornado, nor kubernetes, nor torch comes with it."""
    code = (
        "import sys, jupyterlab_t9kjob.core.manifests\n"
        "heavy = {'jupyter_server', 'tornado', 'kubernetes', 'torch', 'httpx', 'traitlets'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
