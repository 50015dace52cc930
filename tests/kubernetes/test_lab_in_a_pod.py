"""The built wheel as its users have it: a lab in a pod of its own, from the files of examples/kubernetes."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kubernetes.harness import ROOT, STORAGE_CLASS, Kube, Volume, Volumes, files_in
from tests.kubernetes.images import build_once, building_images, need_builder
from tests.local.lab import TOKEN, Lab
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1800),  # the first one makes an image
    pytest.mark.usefixtures("controller", "kubeflow"),
]

RECIPES = ROOT / "examples" / "kubernetes"
SCRIPT = ROOT / "examples" / "mnist_ddp" / "train.py"
NAME = "t9kjob-lab"
POD = f"{NAME}-0"
HOME = "/home/lab"
UID = 1000
PLURALS = {"t9k": "pytorchtrainingjobs", "kubeflow": "pytorchjobs"}
ENDED = ("Succeeded", "Failed")


class PodLab(Lab):
    """A lab in a pod, reached through `kubectl port-forward`."""

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__(folder)
        self._port = port


@pytest.fixture(scope="module")
def lab_image(cluster: Kube) -> str:
    """Build an image with the wheel, from the environment that has it, unless there is one with the same."""
    if named := os.environ.get("T9KJOB_TEST_LAB_IMAGE"):
        return named
    need_builder()
    with building_images():  # which makes one of several workers make it
        subprocess.run(["make", "-s", "build/lab-newest/.t9kjob"], cwd=ROOT, check=True)
    wheel = next((ROOT / "build" / "dist").glob("*.whl"))
    jupyterlab = f"jupyterlab=={version('jupyterlab')}"
    digest = hashlib.sha256(wheel.read_bytes() + jupyterlab.encode()).hexdigest()

    def content(folder: Path) -> list[str]:
        if sys.version_info[:2] == (3, 11):  # the image's: pip need not do again what it has done
            return ["--copy", *installed(folder)]
        return ["--pip", jupyterlab, f"{wheel}[kubernetes,tensorboard]"]

    return build_once(cluster, f"test.local/lab:{digest[:16]}", content)


def installed(folder: Path) -> list[str]:
    """Copy what pip has installed for the wheel into a folder; return the places that it has in an image."""
    python = "lib/python3.11/site-packages"
    wanted = ["jupyterlab", "jupyterlab_t9kjob[kubernetes,tensorboard]"]
    site = ROOT / "build" / "lab-newest" / python
    subprocess.run([sys.executable, ROOT / ".make" / "copied.py", site, folder, *wanted], check=True)
    for script in (folder / "bin").iterdir():
        text = script.read_bytes()
        script.write_bytes(text.replace(f"{folder}/bin/python".encode(), b"/usr/bin/python3", 1))
    places = {python: "/usr/lib/python3/dist-packages"} | {
        name: f"/usr/local/{name}" for name in ("bin", "etc", "share")
    }
    return [f"{folder / here}:{there}" for here, there in places.items()]


@contextmanager
def forwarded(kube: Kube, log: Path, pod: str = POD, port: int = 8888) -> Iterator[int]:
    """Forward a port of this machine to a pod's, the lab's by default; give the port."""
    command = kube.command("port-forward", f"pod/{pod}", f":{port}")
    with log.open("w") as output:  # it prints a line for each connection
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        end = time.monotonic() + PATIENCE
        while (said := re.search(r"127\.0\.0\.1:(\d+) -> ", log.read_text())) is None:
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        yield int(said[1])
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def volume(volumes: Volumes) -> Volume:
    return volumes.offer(NAME)


@pytest.fixture(scope="module")
def lab(kube: Kube, volume: Volume, lab_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodLab]:
    """Follow examples/kubernetes/README.md: the account, the token, the lab."""
    kube.apply(RECIPES / "rbac.yaml")
    kube.create("secrets", {"metadata": {"name": NAME}, "stringData": {"token": TOKEN}})
    for part in yaml.safe_load_all((RECIPES / "lab.yaml").read_text()):
        if part["kind"] == "PersistentVolumeClaim":
            part["spec"]["storageClassName"] = STORAGE_CLASS
        if part["kind"] == "StatefulSet":
            part["spec"]["template"]["spec"]["containers"][0]["image"] = lab_image
        kube.apply(part)

    def ready(pod: dict[str, Any] | None) -> bool:
        conditions = (pod or {}).get("status", {}).get("conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    kube.until("pods", POD, ready)
    folder = tmp_path_factory.mktemp("lab")
    with forwarded(kube, folder / "port-forward.log") as port:
        lab = PodLab(folder, port)
        lab.until_available("t9k", "kubeflow")
        yield lab


def test_it_may_do_what_the_role_says_and_nothing_more(lab: PodLab, kube: Kube) -> None:
    found = lab.ask("POST", "engines").json["engines"]
    for engine in (each for each in found if each["name"] in PLURALS):
        assert engine["default_namespace"] == kube.namespace
        rights = engine["cluster"]["rights"]
        assert [right for right, state in rights.items() if not state["supported"]] == ["list_namespaces"]
    for more in ("get secrets", "create pods", "delete pods", "create pods/exec", "list nodes"):
        verb, _, resource = more.partition(" ")
        assert not kube.may(kube.account(NAME), verb, "", resource), more


def owners(folder: Path) -> set[int]:
    """Return the users to whom anything in a folder belongs; some of it may go meanwhile."""
    found = set()
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                found.add(Path(place, name).lstat().st_uid)
    return found


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
def test_from_its_pod_to_a_trained_model(engine: str, lab: PodLab, kube: Kube, volume: Volume, image: str) -> None:
    # as the file browser uploads
    for name, content in ((engine, None), (f"{engine}/train.py", SCRIPT.read_text())):
        model = {"type": "directory"} if content is None else {"type": "file", "format": "text", "content": content}
        assert lab.ask("PUT", raw_path=f"/api/contents/{name}", body=model).status in (200, 201)  # 200 if repeated

    filled = lab.ask("POST", "launch", "prefill", body={"path": f"{engine}/train.py", "engine": engine})
    assert filled.status == 200, filled.body
    spec = filled.json["spec"]
    # it has found its pod
    assert [(mount["claim"], mount["mount_path"]) for mount in spec["mounts"]] == [(NAME, HOME)]
    assert spec["security"] == {"uid": UID, "gid": UID, "fs_group": UID, "restricted": False}
    assert spec["entrypoint"]["value"] == f"{HOME}/{engine}/train.py"
    # there is no torch in its image, so the user says one, and that there are two nodes
    spec["runtime"] = {"image": image, "pull_policy": "IfNotPresent"}
    resources = {"cpu": {"request": "50m"}, "memory": {"request": "128Mi"}}
    spec["replica_specs"][0] |= {"replicas": 2, "resources": resources}
    spec["torchrun"] = {"proc_per_node": 1}
    spec["args"] += ["--epochs", "5"]
    body = {"engine": engine, "spec": spec, "request_id": f"request-{engine}", "path": f"{engine}/train.py"}
    made = lab.ask("POST", "jobs", body=body)
    assert made.status == 201, made.body
    ident, name = made.json["id"], made.json["name"]
    lab.until(ident, lambda job: job["phase"] == "Running")
    done = lab.until(ident, lambda job: job["phase"] in ENDED)
    assert done["phase"] == "Succeeded", done["reason"]
    assert done["mine"] and done["owner"] == "lab"
    assert done["log_dir_paths"] == [f"{engine}/runs/{name}"]

    # what both ranks have written, and what their pods have
    replicas = [each["name"] for each in lab.ask("GET", "jobs", ident, "replicas").json["replicas"]]
    assert len(replicas) == 2
    texts: dict[str, dict[str, str]] = {"rank": {}, "container": {}}
    logs = lab.until_part((ident, "logs"), lambda part: all(each["complete"] for each in part["streams"]))
    for stream in logs["streams"]:
        text = lab.ask("GET", "jobs", ident, "logs", stream["id"]).body.decode()
        known = texts.setdefault(stream["source"], {})
        known[stream["replica"]] = known.get(stream["replica"], "") + text
    for source in ("rank", "container"):
        assert set(texts[source]) == set(replicas)
        told = "".join(texts[source].values())
        assert "rank 0 of 2: gloo on cpu" in told and "rank 1 of 2: gloo on cpu" in told, texts

    # and on the volume, where all of it is the lab's user's
    runs = volume.path / engine / "runs" / name
    assert files_in(runs, "events.out.tfevents.*")
    assert [path.stat().st_size > 10_000 for path in files_in(volume.path / engine, "*.pt")] == [True]
    assert owners(volume.path) == {UID}

    opened = lab.ask("POST", "tensorboards", body={"job_id": ident})
    assert opened.status == 201, opened.body
    end = time.monotonic() + PATIENCE
    while True:  # it begins to answer before it has read
        tags = lab.ask("GET", raw_path=f"/{opened.json['url'].lstrip('/')}data/plugin/scalars/tags")
        if (tags.status, len(tags.json)) == (200, 1):
            break
        assert time.monotonic() < end, tags.body
    assert lab.ask("DELETE", "tensorboards", opened.json["id"]).status == 204

    assert lab.ask("DELETE", "jobs", ident).status == 202
    lab.until(ident, lambda job: job["deleted"])
    kube.until(PLURALS[engine], name, lambda job: job is None)
