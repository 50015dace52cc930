"""Manifests that somebody pasted or edited: what they become, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.manifests import KINDS, OLDER
from jupyterlab_t9kjob.core.manifests.schema import SchemaNode, bundled_schema
from tests.server.cluster.conftest import Place
from tests.server.conftest import Answer

DATA = Path(__file__).parents[2] / "unit" / "manifests" / "data"
SEED_003 = (DATA / "seed003.yaml").read_text()
SEED_004 = (DATA / "seed004-whole.yaml").read_text()
ARENA = (DATA / "arena.yaml").read_text()


async def read(cluster: Place, text: str, **more: Any) -> dict[str, Any]:
    answer = await ask(cluster, text, **more)
    assert answer.status == 200, answer.json
    return answer.json


async def ask(cluster: Place, text: str, **more: Any) -> Answer:
    return await cluster.api("POST", "launch", "manifest", body={"text": text, **more})


def codes(lines: list[dict[str, Any]]) -> list[str]:
    return [line["code"] for line in lines]


async def test_seed_003_becomes_form_job_and_local_command(cluster: Place) -> None:
    cluster.t9k.claims["team"][0].claim = "mnist"
    form = await read(cluster, SEED_003)
    assert (form["engine"], form["namespace"], form["manifest"]) == ("t9k", "team", SEED_003)
    assert codes(form["lost"]) == [] and form["notes"] == []
    spec = form["spec"]
    assert spec["entrypoint"] == {"kind": "script", "value": "/t9k/mnt/torch_mnist_trainingjob.py"}
    assert spec["torchrun"]["proc_per_node"] == 4 and spec["mounts"][0]["claim"] == "mnist"
    # submitted as it is, and as the form has it
    answer = await cluster.create(manifest=SEED_003)
    assert (answer.status, answer.json["name"]) == (201, "mnist"), answer.json
    assert (await cluster.create(spec=spec | {"name": "mnist-2"}, request_id="request-0002")).status == 201
    (_, namespace, edited), (submitted, _, none) = cluster.t9k.submitted
    assert (namespace, none, submitted.name) == ("team", None, "mnist-2")
    assert edited is not None
    assert (edited.text, edited.manifest) == (SEED_003, yaml.safe_load(SEED_003))
    # on this machine
    local = await read(cluster, SEED_003, engine="local")
    assert (local["engine"], local["namespace"], local["manifest"], local["lost"]) == ("local", "", None, [])
    command = (await cluster.preview("local", spec=local["spec"])).json["command"]
    assert "--nproc" in command and "torch_mnist_trainingjob.py" in command and "--backend" in command
    # on the other kind
    other = await read(cluster, SEED_003, engine="kubeflow")
    assert "kind: PyTorchJob" in other["manifest"] and "PyTorchTrainingJob" not in other["manifest"]
    assert [line["field"] for line in other["notes"]] == ["/spec/tensorboard/cluster"]
    cluster.kubeflow.claims["team"][0].claim = "mnist"
    assert (await cluster.create("kubeflow", spec=other["spec"], request_id="request-0003")).status == 201


async def test_seed_004_is_migrated_or_kept_as_the_cluster_needs(cluster: Place) -> None:
    form = await read(cluster, SEED_004)
    assert codes(form["notes"])[:3] == ["DialectSwitch", "DialectElastic", "DialectLogs"]
    assert all(line["line"] for line in form["notes"][:3])
    migrated = yaml.safe_load(form["manifest"])["spec"]
    assert migrated["torchrunConfig"]["enabled"] is True and "minNodes" not in migrated["torchrunConfig"]
    assert codes(form["lost"]) == []
    preview = await cluster.preview(manifest=SEED_004)
    assert {"DialectSwitch", "DialectLogs"} <= set(codes(preview.json["checks"]))
    cluster.t9k.spelling = OLDER
    kept = await read(cluster, SEED_004)
    assert kept["manifest"] == SEED_004
    assert not [code for code in codes(kept["notes"]) if code.startswith("Dialect")]
    assert kept["spec"] == form["spec"]
    # the get-started page has the newer one there
    assert "DialectSwitch" in codes((await read(cluster, SEED_003))["notes"])
    cluster.t9k.may_list = False
    answer = await cluster.create(manifest=SEED_004)
    assert answer.status == 201, answer.json
    local = await read(cluster, SEED_004, engine="local")
    debugged = await cluster.preview("local", spec=local["spec"])
    assert "/usr/bin/sshd" in debugged.json["command"] and "training.module" not in debugged.json["command"]
    trained = await cluster.preview("local", spec={**local["spec"], "debug": None})
    assert "training.module" in trained.json["command"]
    assert "/spec/elastic" in [line["field"] for line in local["notes"]]


async def test_a_manifest_chooses_engine_and_namespace(cluster: Place) -> None:
    form = await read(cluster, ARENA)
    assert form["engine"] == "kubeflow" and codes(form["lost"]) == []
    sidecars = await read(cluster, (DATA / "t9k-sidecars.yaml").read_text())
    assert sidecars["lost"][0]["message"] == "The form has no field for metadata.finalizers."
    text = SEED_003.replace("name: mnist #", "name: mnist\n  namespace: other #", 1)
    cluster.t9k.may_list = False
    assert (await read(cluster, text, namespace="team"))["namespace"] == "other"
    answer = await cluster.create(manifest=text, namespace="team")
    assert (answer.status, answer.json["namespace"]) == (201, "other")
    await_kind = await cluster.preview("kubeflow", manifest=SEED_003)
    assert (await_kind.status, await_kind.json["code"], await_kind.json["field"]) == (
        422,
        "WrongKind",
        "/manifest/kind",
    )


async def test_a_job_of_kubernetes_belongs_to_its_engine(cluster: Place) -> None:
    cluster.t9k.claims["demo"] = cluster.t9k.claims["team"]
    form = await read(cluster, (DATA / "indexed-job.yaml").read_text())
    assert (form["engine"], form["namespace"], form["lost"]) == ("indexed-job", "demo", [])
    assert "kind: Job" in form["manifest"]
    assert form["spec"]["entrypoint"]["value"] == "/t9k/mnt/count.py"
    assert [group["replicas"] for group in form["spec"]["replica_specs"]] == [2]


async def test_with_both_the_manifest_counts(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    cluster.t9k.may_list = False
    answer = await cluster.create(spec=spec, manifest=SEED_003)
    assert (answer.status, answer.json["name"]) == (201, "mnist")
    neither = await cluster.create()
    assert (neither.status, neither.json["message"]) == (422, "The request: give a spec or a manifest.")


async def test_a_dry_run_asks_the_cluster(cluster: Place) -> None:
    answer = await cluster.create(manifest=SEED_003, dry_run=True)
    assert (answer.status, cluster.t9k.dry_runs, cluster.t9k.submitted) == (200, 1, [])
    assert answer.json["manifest"] == SEED_003
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    assert (await cluster.preview(spec=spec, dry_run=True)).status == 200
    assert (await cluster.preview(spec=spec)).status == 200
    assert cluster.t9k.dry_runs == 2
    cluster.t9k.refusal = FieldError("The cluster says no.", field="/spec/name")
    answer = await cluster.create(spec=spec, dry_run=True)
    assert (answer.status, answer.json["field"], cluster.t9k.submitted) == (422, "/spec/name", [])


BAD = {
    "not YAML": ("a:\n  - b\n c: [", "BadYaml", 3),
    "empty": ("# nothing\n", "Empty", None),
    "another kind": (SEED_003.replace("kind: PyTorchTrainingJob", "kind: Deployment"), "WrongKind", 2),
    "a part": ("apiVersion: batch.tensorstack.dev/v1beta1\nkind: PyTorchTrainingJob\n", "NoReplicas", None),
    "a wrong type": (SEED_003.replace("replicas: 1", "replicas: many"), None, None),
    "a bomb": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)),
        "TooManyValues",
        None,
    ),
    "two equal keys": (SEED_003.replace("spec:", "spec: {}\nspec:", 1), None, None),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_can_not_be_a_job_is_refused_with_its_line(cluster: Place, name: str) -> None:
    text, reason, line = BAD[name]
    answer = await ask(cluster, text)
    assert answer.status == 422, answer.json
    assert answer.json["field"].startswith("/manifest") and answer.json["message"].endswith(".")
    assert reason in (None, answer.json["code"]) and line in (None, answer.json["line"])
    if name not in ("empty", "a part"):
        assert answer.json["line"] and answer.json["column"]
    for other in (await cluster.preview(manifest=text), await cluster.create(manifest=text)):
        assert (other.status, other.json) == (answer.status, answer.json)
    assert cluster.t9k.submitted == []


async def test_a_manifest_above_the_limit(cluster: Place) -> None:
    text = SEED_003 + "# " + "x" * (1 << 20)
    for answer in (await ask(cluster, text), await cluster.create(manifest=text)):
        assert (answer.status, answer.json["code"]) == (413, "TooLarge")
    assert cluster.t9k.submitted == []


async def test_unknown_fields_are_pointed_at(cluster: Place) -> None:
    text = SEED_003.replace("maxRestarts: 3", "maxRestart: 3")
    form = await read(cluster, text)
    [note] = [line for line in form["notes"] if line["code"] == "UnknownField"]
    assert (note["line"], note["hint"]) == (20, "Did you mean maxRestarts?")
    assert form["spec"]["extra"] == {"spec": {"torchrunConfig": {"maxRestart": 3}}}
    assert codes(form["lost"]) == []


async def test_a_secret_in_plain_sight(cluster: Place) -> None:
    """A value where a reference belongs is refused or pointed at, and never repeated."""
    plain = SEED_003.replace(
        "workingDir:", "env:\n          - {name: HF_TOKEN, value: hf_value1234}\n          workingDir:"
    )
    form = await read(cluster, plain)
    cluster.t9k.may_list = False
    preview = (await cluster.preview(manifest=plain)).json
    cluster.write("work/train.py")
    checks = (await cluster.preview(spec=form["spec"])).json["checks"]
    for lines in (preview["checks"], checks):
        [found] = [line for line in lines if line["code"] == "PlainSecret"]
        assert (found["level"], found["field"]) == ("warning", "/spec/env/0/value")
        assert "hf_value1234" not in json.dumps(found)
    wrong = plain.replace("value: hf_value1234", "valueFrom: {secretKeyRef: hf_value1234}")
    answer = await ask(cluster, wrong)
    assert answer.status == 422 and answer.json["line"] == 37, answer.json
    assert "secretKeyRef" in answer.json["field"] and "hf_value1234" not in answer.body.decode()


async def test_what_the_cluster_refuses_is_pointed_at(cluster: Place) -> None:
    """A cluster names a field; whoever edits a text is told its line."""
    cluster.write("work/train.py")
    text = (await cluster.preview(spec=(await cluster.form())["spec"])).json["manifest"]
    line = next(n for n, row in enumerate(text.splitlines(), 1) if row.strip().startswith("image:"))
    pointer = "/manifest/spec/replicaSpecs/0/template/spec/containers/0/image"
    cluster.t9k.refusal = FieldError("No such image.", code="Refused", field=pointer, hint="Choose another.")
    refusal = await cluster.refused("Refused", pointer, manifest=text, path="work/train.py")
    assert refusal["line"] == line and refusal["column"]


async def test_a_namespace_that_is_not_there_is_pointed_at(cluster: Place) -> None:
    text = SEED_003.replace("metadata:\n", "metadata:\n  namespace: nowhere\n", 1)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "nowhere" in row)
    checks = (await cluster.preview(manifest=text)).json["checks"]
    assert [check["line"] for check in checks if check["code"] == "NoSuchNamespace"] == [line]
    refusal = await cluster.refused("NoSuchNamespace", "/namespace", manifest=text)
    assert refusal["line"] == line


async def test_a_volume_of_a_manifest_that_is_not_there(cluster: Place) -> None:
    refusal = await cluster.refused("NoSuchVolume", "/spec/mounts/0/claim", manifest=SEED_003)
    assert "There is no PVC mnist in the namespace team." in refusal["message"]


async def test_the_job_of_a_lab_comes_home_and_goes_back(cluster: Place) -> None:
    """From one engine's form to another's: paths, volumes and image go along, and the name stays."""
    cluster.write("work/proj/train.py")
    path = "work/proj/train.py"
    local = await cluster.form(path, "local")
    assert local["spec"]["entrypoint"]["value"] == str(cluster.root / path)
    there = await cluster.form(path, "t9k", spec=local["spec"], crossed_from="local")
    spec = there["spec"]
    assert spec["name"] == local["spec"]["name"] == "train-1"
    assert spec["entrypoint"]["value"] == "/t9k/mnt/proj/train.py" and spec["working_dir"] == "/t9k/mnt/proj"
    assert [mount["claim"] for mount in spec["mounts"]] == ["work"] and spec["runtime"]["image"] == "lab:1"
    assert spec["security"]["uid"] == 1000 and there["runs_dir"] == "/t9k/mnt/proj/runs"
    other = await cluster.form(path, "kubeflow", spec=spec | {"scheduling": {"priority": 5}}, crossed_from="t9k")
    assert [line["field"] for line in other["notes"]] == ["/spec/scheduling/priority"]
    assert other["spec"]["mounts"] == spec["mounts"] and other["spec"]["scheduling"]["priority"] is None
    home = await cluster.form(path, "local", spec=other["spec"], crossed_from="kubeflow")
    assert home["spec"]["entrypoint"] == local["spec"]["entrypoint"]
    assert home["spec"]["working_dir"] == local["spec"]["working_dir"]
    assert home["spec"]["tensorboard"] == local["spec"]["tensorboard"]
    assert home["spec"]["runtime"]["kernel"] == local["spec"]["runtime"]["kernel"]
    assert (await cluster.preview("local", spec=home["spec"])).json["checks"][0]["level"] != "error"
    # a form that keeps its engine keeps its name as well
    again = await cluster.form(path, "t9k", spec=spec, crossed_from="t9k")
    assert again["spec"] == spec and again["notes"] == []


async def test_a_clone_keeps_its_own_paths(cluster: Place) -> None:
    cluster.write("work/proj/train.py")
    theirs = (await cluster.form("work/proj/train.py"))["spec"] | {
        "mounts": [{"claim": "work", "mount_path": "/w"}, {"claim": "once", "mount_path": "/once"}],
        "entrypoint": {"kind": "script", "value": "/w/proj/train.py"},
        "working_dir": "/w/proj",
        "tensorboard": {"log_dirs": ["/w/proj/runs/train-1"]},
    }
    (cluster.root / "work/proj/runs/train-4").mkdir(parents=True)
    clone = await cluster.form(None, spec=theirs)
    assert clone["spec"]["name"] == "train-5"
    assert clone["spec"]["entrypoint"]["value"] == "/w/proj/train.py"
    assert clone["spec"]["tensorboard"]["log_dirs"] == ["/w/proj/runs/train-5"]
    assert clone["runs_dir"] == "/w/proj/runs"
    assert "ScriptNotSeen" not in codes(clone["checks"])
    cluster.write("work/other.py")
    as_last_time = await cluster.form("work/other.py", spec=theirs)
    assert as_last_time["spec"]["entrypoint"]["value"] == "/w/other.py"
    assert [mount["mount_path"] for mount in as_last_time["spec"]["mounts"]] == ["/w", "/once"]


async def test_an_edited_manifest_is_compared_with_the_clusters_schema(cluster: Place) -> None:
    cluster.t9k.claims["team"][0].claim = "mnist"
    answer = await cluster.api("GET", "cluster", "manifest-schema", engine="t9k")
    assert (answer.status, answer.json["source"], answer.json["kind"]) == (200, "bundled", "PyTorchTrainingJob")
    nodes = answer.json["nodes"]
    spec = nodes[nodes[answer.json["root"]]["fields"]["spec"]]
    assert nodes[spec["fields"]["replicaSpecs"]]["description"].startswith("Types of replicas")
    answer = await cluster.api("GET", "cluster", "manifest-schema", engine="local")
    assert (answer.status, answer.json["code"]) == (404, "NoManifest")
    assert (await cluster.api("GET", "cluster", "manifest-schema", engine="none")).status == 422

    text = SEED_003.replace("spec:\n", "spec:\n  brandNew: {}\n  runPolicy:\n    cleanUpPolicy: Al\n", 1)
    assert text != SEED_003

    async def found() -> list[tuple[str, str, int]]:
        checks = (await cluster.preview(manifest=text)).json["checks"]
        codes = ("UnknownField", "NotAllowedValue", "FieldMissing")
        return [(line["code"], line["field"], line["line"]) for line in checks if line["code"] in codes]

    line = text.splitlines().index("  brandNew: {}") + 1
    # without the cluster's schema, fields that this extension does not know are told, and no more
    assert await found() == [("UnknownField", "/manifest/spec/brandNew", line)]
    schema = bundled_schema(KINDS["t9k"])
    root = schema.nodes[schema.root]
    fields = schema.nodes[root.fields["spec"]].fields
    policy = schema.nodes[fields["runPolicy"]]
    schema.nodes[policy.fields["cleanUpPolicy"]] = SchemaNode(types=["string"], enum=["All", "None"])
    fields["brandNew"] = root.fields["spec"]
    cluster.t9k.schema = schema.model_copy(update={"source": "cluster"})
    # the cluster's schema has the field, and few values for the other
    assert ("UnknownField", "/manifest/spec/brandNew", line) not in await found()
    assert ("NotAllowedValue", "/manifest/spec/runPolicy/cleanUpPolicy", line + 2) in await found()


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_editing_as_yaml_and_back_keeps_comments_unknown_fields_and_volumes(cluster: Place, engine: str) -> None:
    """The form's manifest is edited as a user would, becomes a form again, and the form is changed."""
    cluster.write("work/train.py")
    spec = (await cluster.form(engine=engine))["spec"]
    spec["mounts"].append({"claim": "once", "mount_path": "/once", "sub_path": "a b", "read_only": True})
    mounts = (await read_back(cluster, engine, spec))["mounts"]
    assert [mount["claim"] for mount in mounts][-1] == "once"
    text = (await cluster.preview(engine, spec=spec)).json["manifest"]
    edited = "# begin\n" + text.replace("spec:\n", "# ours\nspec: # to be run\n  brandNew: {a: 1}\n", 1)
    edited = edited.replace("volumeMounts:", "volumeMounts: # where", 1)
    edited = re.sub(r"(?m)^( +)containers:\n", r"\1hostPID: &no false # seen\n\g<0>", edited, count=1)
    comments = ["# begin", "# ours", "# to be run", "# where", "&no false # seen"]
    assert all(comment in edited for comment in comments)
    form = await read(cluster, edited, engine=engine)
    assert form["lost"] == [] and form["manifest"] == edited
    assert form["spec"]["mounts"] == mounts
    again = (await cluster.preview(engine, spec=form["spec"], written=edited)).json["manifest"]
    assert again == edited
    # the user changes the form, then edits its manifest again, and so on
    changed = form["spec"] | {"name": "another"}
    changed["mounts"] = [mount | {"mount_path": mount["mount_path"] + "/x"} for mount in mounts]
    again = (await cluster.preview(engine, spec=changed, written=edited)).json["manifest"]
    assert yaml.safe_load(again) == yaml.safe_load((await cluster.preview(engine, spec=changed)).json["manifest"])
    assert all(comment in again for comment in comments) and "brandNew: {a: 1}" in again
    back = await read(cluster, again, engine=engine)
    assert (back["spec"]["name"], back["spec"]["mounts"]) == ("another", changed["mounts"])
    # at another engine the text is none of its kind
    other = "kubeflow" if engine == "t9k" else "t9k"
    crossed = (await cluster.preview(other, spec=spec, written=edited)).json["manifest"]
    assert "# ours" not in crossed
    # a text that can't be read has no effect
    assert (await cluster.preview(engine, spec=spec, written="a: [")).json["manifest"] == text


async def read_back(cluster: Place, engine: str, spec: dict[str, Any]) -> dict[str, Any]:
    text = (await cluster.preview(engine, spec=spec)).json["manifest"]
    spec_again: dict[str, Any] = (await read(cluster, text, engine=engine))["spec"]
    return spec_again
