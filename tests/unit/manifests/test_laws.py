"""Laws of the conversion: nothing is lost between a spec and its manifest, whichever comes first."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.manifests import CURRENT, OLDER, Context, Kind, parse, read_job, render, to_yaml, translate
from jupyterlab_t9kjob.core.manifests.names import PREFIX
from jupyterlab_t9kjob.core.manifests.text.merge_patch import apply, diff, vanished
from tests.unit.manifests.strategies import JSON, names, specs

DATA = Path(__file__).parent / "data"
MANIFESTS = sorted(path.name for path in DATA.iterdir())
# Many at night: T9KJOB_EXAMPLES=5000.
slow = settings(
    max_examples=int(os.environ.get("T9KJOB_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
contexts = st.builds(
    Context,
    namespace=st.none() | names,
    request_id=st.none() | names,
    owner=st.none() | st.just("jo"),
    user=st.none() | st.just("jo"),
    home=st.none() | st.just("/t9k/mnt"),
)


@pytest.mark.parametrize("kind", ["t9k", "kubeflow", "job", "jobset", "trainjob"])
@slow
@given(data=st.data())
def test_a_spec_survives_its_manifest(kind: Kind, data: st.DataObject) -> None:
    spec, context = data.draw(specs(kind)), data.draw(contexts)
    manifest = render(spec, kind, context=context)
    parsed = parse(json.loads(json.dumps(manifest)))
    assert parsed.spec == spec
    assert (parsed.kind, parsed.name, parsed.namespace) == (kind, spec.name, context.namespace)
    assert render(parsed.spec, kind, context=context) == manifest


@slow
@given(data=st.data())
def test_a_spec_survives_the_older_spelling(data: st.DataObject) -> None:
    spec = data.draw(specs("t9k"))
    said = {"paused": False, "resume": []}
    if spec.elastic:
        total = spec.total_replicas
        said["elastic"] = (
            spec.elastic.model_copy(update={"min": 1, "max": total, "expected": None}) if total > 1 else None
        )
    spec = spec.model_copy(update=said)
    manifest = render(spec, "t9k", dialect=OLDER)
    assert "enabled" not in json.dumps(manifest["spec"])
    assert parse(manifest).spec == spec


@pytest.mark.parametrize("kind", ["t9k", "kubeflow", "job", "jobset", "trainjob"])
@slow
@given(data=st.data())
def test_yaml_reads_back_as_the_same_manifest(kind: Kind, data: st.DataObject) -> None:
    spec = data.draw(specs(kind))
    read = read_job(to_yaml(render(spec, kind)))
    assert read.manifest == render(spec, kind)
    assert read.spec == spec


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_survives_its_spec(name: str) -> None:
    read = read_job((DATA / name).read_text())
    again = render(read.spec, read.kind)
    # The rendered manifest means the same as the one that was read, and has all of its fields.
    assert parse(again).spec == read.spec
    assert _settled(again) == _settled(read.manifest)


@pytest.mark.parametrize("name", [name for name in MANIFESTS if not name.startswith("arena")])
def test_both_spellings_say_the_same(name: str) -> None:
    read = read_job((DATA / name).read_text())
    older, newer = (translate(read.manifest, dialect)[0] for dialect in (OLDER, CURRENT))
    if "pause" not in json.dumps(read.manifest) and not name.startswith("t9k"):
        assert parse(older).spec == parse(newer).spec == read.spec
    assert translate(newer, CURRENT)[0] == newer


@slow
@given(
    source=st.dictionaries(st.text("ab$", max_size=2), JSON), target=st.dictionaries(st.text("ab$", max_size=2), JSON)
)
def test_a_patch_makes_what_it_was_made_of(source: dict[str, Any], target: dict[str, Any]) -> None:
    source, target = _without_nulls(source), _without_nulls(target)
    assert apply(source, diff(source, target)) == target


@slow
@given(data=st.data())
def test_a_patch_reaches_single_items(data: st.DataObject) -> None:
    items = st.lists(
        st.fixed_dictionaries({"name": names}, optional={"value": JSON.map(_without_nulls)}),
        max_size=4,
        unique_by=lambda item: item["name"],
    )
    source, target = ({"spec": {"env": data.draw(items)}} for _ in range(2))
    assert apply(source, diff(source, target))["spec"].get("env", []) == target["spec"]["env"]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value


def _settled(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest with the defaults of its kind, written by hand; without what is ours or the cluster's."""
    manifest = translate(json.loads(json.dumps(_without_nulls(manifest))), CURRENT)[0]
    manifest.pop("status", None)
    metadata, spec = manifest.get("metadata", {}), manifest["spec"]
    keep = ("name", "labels", "annotations")
    manifest["metadata"] = {key: metadata[key] for key in keep if key in metadata}
    annotations = manifest["metadata"].pop("annotations", {})
    ours = annotations.get(f"{PREFIX}env", "").split(",")
    manifest["metadata"]["annotations"] = {
        key: value for key, value in annotations.items() if not key.startswith((PREFIX, "kubectl.kubernetes.io/"))
    }
    manifest["metadata"].pop("name", None)
    manifest.setdefault("apiVersion", "batch.tensorstack.dev/v1beta1")
    manifest.setdefault("kind", "PyTorchTrainingJob")
    if manifest["kind"] == "Job":
        _settle_job(spec, ours)
        return manifest
    if manifest["kind"] == "JobSet":
        _settle_jobset(spec, ours)
        return manifest
    kubeflow = manifest["kind"] == "PyTorchJob"
    policy = spec.setdefault("runPolicy", {})
    policy.setdefault("backoffLimit", 2**31 - 1 if kubeflow else 3)
    policy.setdefault("cleanPodPolicy" if kubeflow else "cleanUpPolicy", "None")
    torchrun = spec.get("torchrunConfig", {})
    if torchrun.get("enabled"):
        torchrun.setdefault("maxRestarts", 0)
        if not torchrun.get("extraOptions"):
            torchrun.pop("extraOptions", None)
    else:
        spec.pop("torchrunConfig", None)
    for volume in spec.get("tensorboardSpec", {}).get("logDir", {}).get("pvc", []):
        volume["subPath"] = [path.removeprefix("./") for path in volume["subPath"]]
    for group in spec["pytorchReplicaSpecs"].values() if kubeflow else spec["replicaSpecs"]:
        group.setdefault("replicas", 1)
        group.setdefault("restartPolicy", "OnFailure" if kubeflow else "Never")
        for container in [
            c for name in ("containers", "initContainers") for c in group["template"]["spec"].get(name, [])
        ]:
            _settle_container(container, ours, bool(torchrun.get("enabled")))
    return manifest


def _settle_jobset(spec: dict[str, Any], ours: list[str]) -> None:
    """Leave out what the API server and the webhook add to a JobSet."""
    order = {"startupPolicyOrder": "AnyOrder"}
    defaults = {"startupPolicy": order, "successPolicy": {"operator": "All"}, "suspend": False}
    for name in [name for name, default in defaults.items() if spec.get(name) == default]:
        del spec[name]
    spec["network"].pop("publishNotReadyAddresses", None)
    spec["failurePolicy"].pop("restartStrategy", None)
    for job in spec["replicatedJobs"]:
        job.pop("groupName", None)
        job["template"].pop("metadata", None)
        _settle_job(job["template"]["spec"], ours)


def _settle_job(spec: dict[str, Any], ours: list[str]) -> None:
    """Leave out what the API server and the controller add to a Job of Kubernetes."""
    defaults = {"manualSelector": False, "podReplacementPolicy": "TerminatingOrFailed", "suspend": False}
    for name in [name for name, default in defaults.items() if spec.get(name) == default]:
        del spec[name]
    spec.pop("selector", None)
    template = spec["template"]
    template.get("metadata", {}).pop("creationTimestamp", None)
    labels = template.get("metadata", {}).get("labels", {})
    for name in [name for name in labels if name.rpartition("/")[2] in ("controller-uid", "job-name")]:
        del labels[name]
    if not labels:
        template.pop("metadata", None)
    pod = template["spec"]
    usual = {"dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {}}
    for name, default in {**usual, "terminationGracePeriodSeconds": 30}.items():
        if pod.get(name) == default:
            del pod[name]
    for container in pod["containers"]:
        container.pop("terminationMessagePath", None)
        container.pop("terminationMessagePolicy", None)
        for entry in container["env"]:
            entry.get("valueFrom", {}).get("fieldRef", {}).pop("apiVersion", None)
        _settle_container(container, ours, False)


def _settle_container(container: dict[str, Any], ours: list[str], torchrun: bool) -> None:
    words = [*container.pop("command", []), *container.pop("args", [])]
    if torchrun and words[:1] == ["python"]:
        words.pop(0)
    if (cwd := container.get("workingDir")) and words:
        words = [word.removeprefix(f"{cwd}/") for word in words[:1]] + words[1:]
    container["words"] = words
    env = [entry for entry in container.pop("env", []) if entry["name"] not in ours]
    if env:
        container["env"] = env
    resources = container.pop("resources", {})
    for amounts in resources.values():
        for name, amount in amounts.items():
            amounts[name] = str(amount)
    for name, amount in resources.get("limits", {}).items():
        if "/" in name:
            resources.setdefault("requests", {}).setdefault(name, amount)
    if any(resources.values()):
        container["resources"] = resources


def test_what_vanished_is_named() -> None:
    sent = yaml.safe_load((DATA / "seed003.yaml").read_text())
    received = json.loads(json.dumps(sent))
    assert list(vanished(sent, received)) == []
    del received["spec"]["torchrunConfig"]["enabled"]
    del received["spec"]["replicaSpecs"][0]["template"]["spec"]["volumes"]
    received["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]["args"].pop()
    received["spec"]["replicaSpecs"].insert(0, {"type": "another"})
    received["metadata"]["uid"] = "1"
    assert sorted(vanished(sent, received)) == [
        "/spec/replicaSpecs/0/template/spec/containers/0/args/6",
        "/spec/replicaSpecs/0/template/spec/volumes",
        "/spec/torchrunConfig/enabled",
    ]
    empty = {"a": {"b": "", "c": 0, "d": False, "e": [], "f": {}, "g": None}, "h": {}}
    assert list(vanished(empty, {})) == []
