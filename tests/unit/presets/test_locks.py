"""Locks of the administrator: which jobs break them, and what a form does with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.code.git_address import GIT_SYNC_IMAGE
from jupyterlab_t9kjob.core.manifests import parse, render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.presets.configuration import Configuration
from jupyterlab_t9kjob.presets.locks import check_locks, document_of, with_locks

IMAGES = {"field": "/runtime/image", "allowed": ["team/torch:2", "scan/*"]}
NODES = {"field": "/total_replicas", "maximum": 4}
GPUS = {"field": "/total_devices", "maximum": 8}
MEMORY = {"field": "/replica_specs/*/resources/memory/limit", "maximum": "64Gi"}
DEADLINE = {"field": "/run_policy/active_deadline_seconds", "maximum": 3600}
QUEUE = {"field": "/scheduling/queue", "value": "default"}
LABEL = {"field": "/labels/team.example~1cost~0code", "value": "42"}
PROCESSES = "/torchrun/proc_per_node"
OF_SECOND = "/spec/replica_specs/1/resources/memory/limit"


def locks_of(*entries: dict[str, Any]) -> Configuration:
    return Configuration(locks=[{"reason": "because", **entry} for entry in entries])


def spec_of(**changes: Any) -> JobSpec:
    """Return a job of 2 nodes with 2 GPUs that observes all locks above."""
    worker = {"type": "worker", "replicas": 2, "resources": {"device": {"count": 2}, "memory": {"limit": "8Gi"}}}
    base = {
        "name": "train",
        "entrypoint": {"kind": "script", "value": "/work/train.py"},
        "runtime": {"image": "team/torch:2"},
        "replica_specs": [worker],
        "scheduling": {"queue": "default"},
        "run_policy": {"active_deadline_seconds": 60},
        "labels": {"team.example/cost~code": "42"},
    }
    return JobSpec.model_validate({**base, **changes})


def group(**changes: Any) -> dict[str, Any]:
    return {**spec_of().replica_specs[0].model_dump(), **changes}


def limits(memory: str | None, count: int = 2) -> dict[str, Any]:
    return {"memory": {"limit": memory}, "device": {"name": "nvidia.com/gpu", "count": count}}


def broken(spec: JobSpec, *entries: dict[str, Any], kind: str | None = "t9k") -> list[str]:
    """Return the fields of the locks that a job breaks."""
    configured = locks_of(*entries).read()
    assert not configured.problems, configured.problems
    found = check_locks(configured.locks, document_of(spec, kind))
    assert all(check.code == "Locked" and "“because”" in str(check.hint) for check in found)
    return [str(check.field) for check in found]


@pytest.mark.parametrize("kind", ["t9k", "kubeflow", None])
def test_a_job_that_observes_all_locks(kind: str | None) -> None:
    assert broken(spec_of(), IMAGES, NODES, GPUS, MEMORY, DEADLINE, QUEUE, LABEL, kind=kind) == []


@pytest.mark.parametrize(
    ("lock", "changes", "field"),
    [
        (IMAGES, {"runtime": {"image": "evil:1"}}, "/spec/runtime/image"),
        (IMAGES, {"runtime": {}}, "/spec/runtime/image"),
        (IMAGES, {"runtime": {"image": "xscan/a"}}, "/spec/runtime/image"),
        (IMAGES, {"runtime": {"image": "scan/a"}}, None),
        (IMAGES, {"replica_specs": [group(runtime={"image": "evil"})]}, "/spec/replica_specs/0/runtime/image"),
        (NODES, {"replica_specs": [group(replicas=5)]}, "/spec/replica_specs/0/replicas"),
        (NODES, {"replica_specs": [group(type="a", replicas=3), group()]}, "/spec/replica_specs/0/replicas"),
        (NODES, {"elastic": {"min": 1, "max": 9}}, "/spec/replica_specs/0/replicas"),
        (GPUS, {"replica_specs": [group(resources=limits("8Gi", 5))]}, "/spec/replica_specs/0/resources/device"),
        (GPUS, {"replica_specs": [group(resources={})]}, None),
        (MEMORY, {"replica_specs": [group(resources=limits("65Gi"))]}, "/spec/replica_specs/0/resources/memory/limit"),
        (MEMORY, {"replica_specs": [group(resources=limits("65536Mi"))]}, None),
        (MEMORY, {"replica_specs": [group(resources=limits(None))]}, "/spec/replica_specs/0/resources/memory/limit"),
        (MEMORY, {"replica_specs": [group(), group(type="b", resources=limits("1Ti"))]}, OF_SECOND),
        (DEADLINE, {"run_policy": {}}, "/spec/run_policy/active_deadline_seconds"),
        (DEADLINE, {"run_policy": {"active_deadline_seconds": 3601}}, "/spec/run_policy/active_deadline_seconds"),
        (QUEUE, {"scheduling": {}}, "/spec/scheduling/queue"),
        (LABEL, {"labels": {}}, "/spec/labels/team.example~1cost~0code"),
        (LABEL, {"labels": {"team.example/cost~code": "43"}}, "/spec/labels/team.example~1cost~0code"),
        ({"field": PROCESSES, "maximum": 1}, {"torchrun": {"proc_per_node": "gpu"}}, f"/spec{PROCESSES}"),
        ({"field": PROCESSES, "maximum": 2}, {"torchrun": {"proc_per_node": "gpu"}}, None),
        ({"field": "/keep_logs", "value": True}, {"keep_logs": False}, "/spec/keep_logs"),
        ({"field": "/mounts", "value": []}, {"mounts": [{"claim": "a", "mount_path": "/a"}]}, "/spec/mounts"),
    ],
)  # fmt: skip
def test_locks(lock: dict[str, Any], changes: dict[str, Any], field: str | None) -> None:
    assert broken(spec_of(**changes), lock) == ([field] if field else [])


def replica_types(**containers: str) -> list[Any]:
    """Return the replica types of the manifest with other images, by name of the container."""
    types = render(spec_of(), "t9k")["spec"]["replicaSpecs"]
    known = types[0]["template"]["spec"]["containers"]
    for name, image in containers.items():
        own = next((each for each in known if each["name"] == name), None)
        if own is None:
            known.append({"name": name, "image": image})
        else:
            own["image"] = image
    return list(types)


def test_the_manifest_counts_and_not_the_fields_that_extra_replaces() -> None:
    extra = {"spec": {"replicaSpecs": replica_types(pytorch="evil:1")}}
    assert broken(spec_of(extra=extra), IMAGES) == ["/spec/runtime/image"]
    late = {"spec": {"runPolicy": {"activeDeadlineSeconds": 9999}}}
    assert broken(spec_of(extra=late), DEADLINE) == ["/spec/run_policy/active_deadline_seconds"]
    assert broken(spec_of(extra=late, keep_logs=False), {"field": "/keep_logs", "value": False}) == []
    label = {"metadata": {"labels": {"team.example/cost~code": None, "other": "x"}}}
    assert broken(spec_of(extra=label), LABEL) == [f"/spec{LABEL['field']}"]


def test_another_container_and_the_manifest_itself() -> None:
    manifest = render(spec_of(), "t9k")
    manifest["spec"]["replicaSpecs"] = replica_types(side="evil:1")
    extra = parse(manifest).spec.extra
    assert broken(spec_of(extra=extra), IMAGES) == ["/spec/extra"]
    host = {"field": "/manifest/spec/replicaSpecs/*/template/spec/containers/*/image", "allowed": ["team/*"]}
    assert broken(spec_of(), host) == []
    assert broken(spec_of(extra=extra), host) == ["/manifest/spec/replicaSpecs/0/template/spec/containers/1/image"]


@pytest.mark.parametrize("kind", ["t9k", "kubeflow"])
@pytest.mark.parametrize(
    ("part", "container", "total", "of_pod"),
    [
        ("containers", {"resources": {"limits": {"nvidia.com/gpu": 3}}}, 10, 5),
        ("containers", {"resources": {"requests": {"amd.com/gpu": "3000m"}}}, 10, 5),
        ("containers", {"resources": {"limits": {"nvidia.com/gpu": "2k"}}}, 4004, 2002),
        ("containers", {"resources": {"limits": {"rdma/hca": 8, "cpu": 64}}}, 4, 2),
        ("initContainers", {"resources": {"limits": {"nvidia.com/gpu": 2}}}, 4, 2),
        ("initContainers", {"resources": {"limits": {"nvidia.com/gpu": 6}}}, 12, 6),
        ("initContainers", {"restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": 2}}}, 8, 4),
    ],
)  # fmt: skip
def test_gpus_of_containers_that_the_form_does_not_show(
    kind: str, part: str, container: dict[str, Any], total: int, of_pod: int
) -> None:
    manifest = render(spec_of(), kind)
    groups = manifest["spec"]["replicaSpecs" if kind == "t9k" else "pytorchReplicaSpecs"]
    for each in groups if kind == "t9k" else groups.values():
        each["template"]["spec"].setdefault(part, []).append({"name": "side", "image": "a", **container})
    spec = parse(manifest).spec
    assert spec.extra and spec.replica_specs[0].resources.device_count == 2
    count = "/replica_specs/*/resources/device/count"
    at = "/spec/replica_specs/0/resources/device"
    assert broken(spec, {**GPUS, "maximum": total}, {"field": count, "maximum": of_pod}, kind=kind) == []
    assert broken(spec, {**GPUS, "maximum": total - 1}, kind=kind) == [at]
    where = f"{at}/count" if of_pod == 2 else "/spec/extra"
    assert broken(spec, {"field": count, "maximum": of_pod - 1}, kind=kind) == [where]


def test_the_image_that_clones_a_repository() -> None:
    def cloned_by(image: str | None) -> JobSpec:
        return spec_of(source={"kind": "git", "address": "https://example.org/a.git", "image": image})

    assert broken(cloned_by("evil:1"), IMAGES) == ["/spec/source/image"]
    assert broken(cloned_by("scan/git:1"), IMAGES) == broken(cloned_by(None), IMAGES) == []
    assert broken(cloned_by(GIT_SYNC_IMAGE), IMAGES) == [], "the administrator's own"


def test_a_form_gets_the_fixed_values_and_a_fresh_one_observes_all_locks() -> None:
    locks = locks_of(QUEUE, DEADLINE, {**IMAGES, "allowed": ["scan/*", "team/torch:3"]}, MEMORY).read().locks
    spec = spec_of(scheduling={"queue": "mine"}, run_policy={}, replica_specs=[group(resources=limits("1Ti"))])
    kept = with_locks(locks, spec, fresh=False)
    assert (kept.scheduling.queue, kept.run_policy.active_deadline_seconds) == ("default", None)
    fresh = with_locks(locks, spec, fresh=True)
    assert fresh.run_policy.active_deadline_seconds == 3600 and fresh.runtime.image == "team/torch:3"
    assert fresh.replica_specs[0].resources.memory.limit == "64Gi"
    assert check_locks(locks, document_of(fresh, "t9k")) == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"field": "/runtime/imag", "value": "a"}, "no field /runtime/imag"),
        ({"field": "runtime", "value": "a"}, "field"),
        ({"field": "/runtime/image", "value": 3}, "image"),
        ({"field": "/runtime/image"}, "one of value, allowed and maximum"),
        ({"field": "/runtime/image", "value": "a", "maximum": 3}, "one of value"),
        ({"field": "/runtime/image", "allowed": []}, "allowed"),
        ({"field": "/total_devices", "maximum": "many"}, "neither a number"),
        ({"field": "/scheduling/priority", "maximum": "many"}, "neither a number"),
        ({"field": "/runtime/image", "value": "a", "reason": ""}, "reason"),
        ({"field": "/runtime/image", "value": "a", "fields": 1}, "no key fields"),
        ("text", ""),
    ],
)
def test_a_lock_with_an_error_is_reported_and_the_others_hold(entry: Any, words: str, caplog: Any) -> None:
    entries = [{"reason": "because", **entry} if isinstance(entry, dict) else entry, {"reason": "r", **QUEUE}]
    configuration = Configuration(locks=entries)
    configured = configuration.read()
    configuration.read()
    assert [lock.field for lock in configured.locks] == ["/scheduling/queue"]
    assert len(configured.problems) == 1 and words in configured.problems[0].message
    assert len(caplog.records) == 1


def test_the_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "presets.yaml"
    configuration = Configuration(path=file)
    assert "can't be read" in configuration.read().problems[0].message
    text = "presets:\n- name: Two\n  values: {/replica_specs/0/replicas: 2}\nlocks:\n"
    text += "- {field: /runtime/imag, reason: r, value: a}\n"
    file.write_text(text)
    found = configuration.read()
    assert [preset.name for preset in found.presets] == ["Two"]
    assert [(problem.line, problem.path) for problem in found.problems] == [(5, str(file))]
    file.write_text(text.replace("/runtime/imag,", "/runtime/image,").replace("Two", "Three"))
    found = configuration.read()
    assert found.problems == [] and len(found.locks) == 1 and found.presets[0].name == "Three"
    for bad, line in (("presets: [\n", 2), ("a: 1\n", 1), ("- 1\n", 1), ("\xff", None), ("presets:\n- {}\n", 2)):
        file.write_bytes(bad.encode("latin-1"))
        problem = configuration.read().problems[0]
        assert problem.path == str(file) and problem.line == line, (bad, problem)
        if bad in ("presets: [\n", "- 1\n", "\xff"):
            assert len(configuration.read().locks) == 1, "what can't be read removes no lock"
        file.write_text(text.replace("/runtime/imag,", "/runtime/image,"))
        assert len(configuration.read().locks) == 1
    twice = [{"reason": "r", **QUEUE}, {"reason": "s", **QUEUE, "engines": ["t9k"]}]
    assert "locked twice" in Configuration(locks=twice).read().problems[0].message
    presets = [{"name": "a", "values": {"/keep_logs": True}}] * 2
    assert "two presets" in Configuration(presets).read().problems[0].message


CPU = "/replica_specs/*/resources/cpu/limit"
SIDE: list[tuple[str, dict[str, Any], str]] = [
    ("containers", {"limits": {"cpu": 3, "memory": "60Gi"}}, "not 5.|not 68Gi."),
    ("containers", {}, "a limit of at most"),
    ("initContainers", {"limits": {"cpu": "3500m", "memory": "65Gi"}}, "not 3.5.|not 65Gi."),
    ("initContainers", {"limits": {"cpu": 1, "memory": "1Gi"}}, ""),
]


@pytest.mark.parametrize("kind", ["t9k", "kubeflow"])
@pytest.mark.parametrize(("part", "resources", "words"), SIDE)
def test_cpu_and_memory_of_containers_that_the_form_does_not_show(
    kind: str, part: str, resources: dict[str, Any], words: str
) -> None:
    own = {"cpu": {"limit": "2"}, "memory": {"limit": "8Gi"}}
    manifest = render(spec_of(replica_specs=[group(resources=own)]), kind)
    groups = manifest["spec"]["replicaSpecs" if kind == "t9k" else "pytorchReplicaSpecs"]
    for each in groups if kind == "t9k" else groups.values():
        side = {"name": "side", "image": "a", "resources": resources}
        each["template"]["spec"].setdefault(part, []).append(side)
    spec = parse(manifest).spec
    for lock, text in zip(({"field": CPU, "maximum": 3}, MEMORY), (words.split("|") * 2)[:2], strict=True):
        found = check_locks(locks_of(lock).read().locks, document_of(spec, kind))
        assert [check.field for check in found] == (["/spec/extra"] if words else [])
        assert not words or text in str(found[0].message), str(found[0].message)


def test_a_limit_is_the_request_of_a_container_without_one() -> None:
    lock = {"field": "/replica_specs/*/resources/memory/request", "maximum": "4Gi"}
    assert broken(spec_of(), lock) == ["/spec/extra"]
    own = {"memory": {"limit": "8Gi", "request": "4Gi"}}
    assert broken(spec_of(replica_specs=[group(resources=own)]), lock) == []


def test_the_container_that_clones_a_repository_does_not_count() -> None:
    own = {"cpu": {"limit": "500m"}, "memory": {"limit": "512Mi"}}
    source = {"kind": "git", "address": "https://example.org/a.git"}
    spec = spec_of(source=source, replica_specs=[group(resources=own)])
    assert broken(spec, {"field": CPU, "maximum": "500m"}, {**MEMORY, "maximum": "512Mi"}) == []


def test_each_row_that_breaks_a_lock_is_marked() -> None:
    mounts = [{"claim": claim, "mount_path": f"/{claim}"} for claim in ("a", "data", "b")]
    lock = {"field": "/mounts/*/claim", "allowed": ["data"]}
    assert broken(spec_of(mounts=mounts), lock) == ["/spec/mounts/0/claim", "/spec/mounts/2/claim"]
    groups = [group(type=f"w{number}", resources=limits("1Ti")) for number in range(25)]
    assert len(broken(spec_of(replica_specs=groups), MEMORY)) == 20
