"""The code of real jobs: a snapshot on the volume, and a git repository that an init container clones."""

from __future__ import annotations

import hashlib
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.images import build_once, need_builder
from tests.kubernetes.test_launch import form, small
from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]
SYNC = Path(__file__).with_name("git_sync.py")
SCRIPT = "import os, helper\nprint(helper.WORD, os.path.dirname(os.path.realpath(__file__)), os.getcwd())\n"


@pytest.fixture(scope="module")
def sync_image(cluster: Kube) -> str:
    """Build an image with git and the stand-in for git-sync, unless there is one with the same."""
    need_builder()
    name = f"test.local/git-sync:{hashlib.sha256(SYNC.read_bytes()).hexdigest()[:16]}"
    return build_once(cluster, name, lambda _folder: ["--copy", f"{SYNC}:/git-sync"])


@pytest.fixture(scope="module")
def lab(start_lab: Callable[..., Lab], sync_image: str) -> Lab:
    lab = start_lab(git_image=sync_image, git_protocols=["git"])
    lab.until_available("t9k", "kubeflow")
    return lab


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def server(kube: Kube, volume: Volume, sync_image: str) -> str:
    """Start a git server in the cluster, which the lab does not reach; give the address of its repository."""
    folder = volume.path / "repository"
    folder.mkdir(exist_ok=True)
    git(folder, "init")
    (folder / "training").mkdir()
    (folder / "training" / "train.py").write_text(SCRIPT)
    (folder / "training" / "helper.py").write_text("WORD = 'first'\n")
    git(folder, "add", ".")
    git(folder, "commit", "--allow-empty", "-m", "first")
    command = ["git", "-c", "safe.directory=*", "daemon", "--base-path=/srv", "--export-all", "--reuseaddr"]
    container = {
        **{"name": "git", "image": sync_image, "imagePullPolicy": "Never", "command": command},
        "volumeMounts": [{"name": "data", "mountPath": "/srv"}],
        "readinessProbe": {"tcpSocket": {"port": 9418}, "periodSeconds": 1},
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": volume.claim}}],
    }
    kube.create("pods", {"metadata": {"name": "git"}, "spec": spec})
    pod = kube.until("pods", "git", lambda pod: _is_ready(pod))
    return f"git://{pod['status']['podIP']}/repository"


def _is_ready(pod: dict[str, Any] | None) -> bool:
    conditions = (pod or {}).get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def run(lab: Lab, engine: str, spec: dict[str, Any], request_id: str) -> dict[str, Any]:
    answer = lab.ask("POST", "jobs", body={"engine": engine, "spec": spec, "request_id": request_id})
    assert answer.status == 201, answer.body
    return lab.until(answer.json["id"], lambda job: job["phase"] in ("Succeeded", "Failed"))


def output(lab: Lab, ident: str) -> str:
    """Return the text of a finished job's training container, once it is kept."""
    streams = lab.until_part(
        [ident, "logs"], lambda logs: any(each["source"] != "init" and each["size"] for each in logs["streams"])
    )["streams"]
    own = [each for each in streams if each["source"] in ("container", "rank")]
    return "".join(lab.ask("GET", "jobs", ident, "logs", each["id"]).body.decode() for each in own)


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
def test_a_snapshot_on_the_volume(engine: str, lab: Lab, volume: Volume, image: str) -> None:
    folder = volume.path / f"proj-{engine}"
    folder.mkdir(mode=0o777, exist_ok=True)
    (folder / "train.py").write_text(SCRIPT)
    (folder / "helper.py").write_text("WORD = 'first'\n")
    spec = small(form(lab, f"proj-{engine}/train.py", engine)["spec"], image, paused=True, torchrun=None)
    spec["source"] = {"kind": "snapshot", "folder": f"/t9k/mnt/proj-{engine}"}
    body = {"engine": engine, "spec": spec, "request_id": uuid.uuid4().hex}
    answer = lab.ask("POST", "jobs", body=body)
    assert answer.status == 201, answer.body
    (folder / "helper.py").write_text("WORD = 'second'\n")
    job = lab.until(answer.json["id"], lambda job: "resume" in job["actions"])  # The controller has seen it.
    resumed = lab.ask("POST", "jobs", job["id"], "resume")
    assert resumed.status in (200, 202), resumed.body
    job = lab.until(job["id"], lambda job: job["phase"] in ("Succeeded", "Failed"))
    taken = job["spec"]["source"]["taken"]
    assert job["phase"] == "Succeeded", job
    assert f"first {taken['path']} /t9k/mnt/proj-{engine}" in output(lab, job["id"])
    copies = volume.path / ".t9kjob" / "code"
    assert (copies / taken["digest"]).is_dir()
    code = lab.ask("GET", "jobs", job["id"], "code").json
    assert {file["path"]: file["change"] for file in code["files"]}["helper.py"] == "changed"


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
def test_a_repository(engine: str, lab: Lab, server: str, volume: Volume, image: str) -> None:
    """The pods find the branch's commit if the lab can't; a commit of an earlier job stays."""
    first = git(volume.path / "repository", "rev-parse", "HEAD")
    spec = small(form(lab, "repository/training/train.py", engine)["spec"], image, torchrun=None)
    spec |= {"name": f"git-{engine}", "working_dir": None, "entrypoint": {"kind": "script", "value": "train.py"}}
    spec["source"] = {"kind": "git", "address": server, "ref": "main", "folder": "training"}
    if engine == "kubeflow":
        (volume.path / "repository" / "training" / "helper.py").write_text("WORD = 'second'\n")
        git(volume.path / "repository", "commit", "--allow-empty", "-am", "second")
        spec["source"] |= {"ref": "", "commit": {"id": first}, "worktree": "/t9k/mnt/repository"}
    job = run(lab, engine, spec, f"git-{engine}-0")
    assert job["phase"] == "Succeeded", job
    text = output(lab, job["id"])
    assert "first /t9kjob/code/.worktrees/one/training /t9kjob/code/" in text, text
    source = job["spec"]["source"]
    assert (source["address"], source["folder"], source["path"]) == (server, "training", "/t9kjob/code/src")
    code = lab.ask("GET", "jobs", job["id"], "code").json
    if engine == "kubeflow":
        assert source["commit"]["id"] == first
        changed = {file["path"] for file in code["files"] if file["change"] == "changed"}
        assert changed == {"training/helper.py"}
    else:
        assert code["reason"] == "The commit is known to the job's pods only."


def test_a_branch_that_does_not_exist(lab: Lab, server: str, image: str) -> None:
    spec = small(form(lab, "repository/training/train.py", "t9k")["spec"], image, torchrun=None, name="no-branch")
    spec |= {"entrypoint": {"kind": "script", "value": "train.py"}}
    spec["source"] = {"kind": "git", "address": server, "ref": "gone"}
    job = run(lab, "t9k", spec, "git-gone-0")
    assert job["phase"] == "Failed"
    assert job["reason"]["code"] == "CodeNotCloned", job["reason"]
    assert "There is no branch, tag or commit gone in the repository" in job["reason"]["sentence"]
    assert "Push it" in job["reason"]["hint"] and "couldn't find remote ref" in job["reason"]["verbatim"]
