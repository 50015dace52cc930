"""Fixtures for tests against a real cluster: the one that KUBECONFIG names, and no other is ever looked for.

    eval "$(../shared/cluster/cluster up)" && pytest tests/kubernetes

Mark such tests with `pytestmark = pytest.mark.cluster`. Without KUBECONFIG, and where the cluster lacks what a test
asks for, they are skipped with a reason that begins with `cluster:` (in CI, with a cluster, that is a failure).
`make test` runs some files at a time; what changes or counts what all tests in the cluster share (its nodes, its kinds,
its API server) has the mark `alone`.

============= ======== ================================================================================================
fixture       lives    what it is
============= ======== ================================================================================================
kube          module   `harness.Kube`: client, `apply` (kubectl), `until` and the like, in a namespace made for the
                       module; `kube.kubeconfig` is a kubeconfig with that namespace, `kube.namespace` its name
image         session  name of an image with torch, tensorboard, scikit-learn: T9KJOB_TEST_IMAGE (test.local/torch:cpu)
volume        module   `harness.Volume`: a ReadWriteMany PVC `data`; `volume.path` is its folder on this machine
volumes       module   `volumes.make(claim, mode)` makes more of them
paper         test     `paper.Paper`: makes nodes and pods that exist on paper only
controller    session  `harness.ControllerProcess`: something turns PyTorchTrainingJobs into pods (`tests.kubernetes.
                       controller`, which see for what annotations choose); `restart()` starts it afresh
older_dialect module   the same with the CRDs of the older dialect, while nobody else in the cluster wants the other
api_server    test     `await api_server("stop")`, `("start")`: stops and starts it, with T9KJOB_TEST_CLUSTER
kubeflow      session  skips where the cluster knows no PyTorchJob
trainer       session  skips where the cluster knows no TrainJob, unless T9KJOB_TEST_CLUSTER can add Kubeflow Trainer
start_lab     module   `start_lab(**traits)`: a `tests.local.lab.Lab`, a Jupyter server in a process of its own, with
                       the extension and `kube.kubeconfig`; its contents root is `volume.path`, which jobs see as
                       `/t9k/mnt`
api,          test     the same within the test's process, as in `tests/server`: `await api("GET", "engines")`,
open_page              `await open_page("stream")`; every answer is held against the contract
============= ======== ================================================================================================

Environment: KUBECONFIG; T9KJOB_KUBECTL, the kubectl to call (words); T9KJOB_TEST_IMAGE; T9KJOB_TEST_VOLUMES, a folder
that this machine and the nodes have at the same path (kind: `extraMounts`); T9KJOB_TEST_CLUSTER, what
stops and starts the API server (words, to which `stop apiserver` is added) and adds Kubeflow Trainer (`trainer`);
T9KJOB_BUILD_IMAGE, what builds an image of Debian 12 with its Python 3.11 (words, to which `NAME --copy SOURCE:PLACE…`
is added, and `--apt PACKAGE…`), or T9KJOB_TEST_LAB_IMAGE, the name of one with JupyterLab and the wheel.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import shlex
import subprocess
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kubernetes.harness import ControllerProcess, Kube, Volume, Volumes
from tests.kubernetes.images import building_images
from tests.kubernetes.paper import Paper
from tests.local.lab import Lab
from tests.server.conftest import EXTENSIONS, api, open_page  # noqa: F401

# Deployments of Kubeflow Trainer and JobSet, with their namespaces; and how many webhooks each configuration has.
TRAINER = {"trainer": "kubeflow", "jobset": "jobset-system"}
WEBHOOKS = {
    "validatingwebhookconfiguration/validator.trainer.kubeflow.org": 3,
    "validatingwebhookconfiguration/jobset-validating-webhook-configuration": 1,
    "mutatingwebhookconfiguration/jobset-mutating-webhook-configuration": 1,
}

# Folder of the volumes of this machine's test cluster, whose kubelet makes no folders and sees those of the machine.
HERE = Path("/var/lib/t9kjob-cluster/volumes")


@contextmanager
def alone() -> Iterator[None]:
    """Be the only one, of all test runs on this machine, that changes what a cluster is."""
    with Path(tempfile.gettempdir(), "t9k-cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def kubeconfig() -> Path:
    if not os.environ.get("KUBECONFIG"):
        pytest.skip("cluster: KUBECONFIG is not set")
    return Path(os.environ["KUBECONFIG"])


@pytest.fixture(scope="session")
def cluster(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kube]:
    """Return a client for what belongs to no test."""
    kube = Kube(kubeconfig, "kube-system", tmp_path_factory.mktemp("cluster"))
    try:
        kube.ask("GET", "/readyz")
    except httpx.HTTPError as error:
        pytest.fail(f"the cluster of KUBECONFIG does not answer: {error}")
    yield kube
    kube.close()


@pytest.fixture(scope="module")
def kube(
    cluster: Kube, kubeconfig: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kube]:
    module = re.sub("[^a-z0-9]+", "-", Path(request.node.nodeid).stem.removeprefix("test_"))
    name = f"t-{module[:30]}-{uuid.uuid4().hex[:5]}"
    cluster.create("namespaces", {"metadata": {"name": name}})
    kube = Kube(kubeconfig, name, tmp_path_factory.mktemp(name))
    for kind, made in (("serviceaccounts", "default"), ("configmaps", "kube-root-ca.crt")):
        kube.until(kind, made, lambda found: found is not None)
    yield kube
    for kind in ("pytorchtrainingjobs", "pytorchjobs", "trainjobs", "jobsets", "jobs"):
        if kube.knows(kind):
            kube.ask("DELETE", kube.path(kind), {"propagationPolicy": "Background"})
    kube.ask("DELETE", kube.path("pods"), {"gracePeriodSeconds": 0})
    cluster.delete("namespaces", name)
    kube.close()


@pytest.fixture
def paper(kube: Kube) -> Iterator[Paper]:
    paper = Paper(kube)
    yield paper
    paper.remove()


@pytest.fixture(scope="session")
def image(cluster: Kube) -> str:
    name = os.environ.get("T9KJOB_TEST_IMAGE", "test.local/torch:cpu")

    def there(nodes: list[dict[str, Any]]) -> bool:
        images = [each for node in nodes for each in node["status"].get("images", [])]
        names = [known for each in images for known in each.get("names") or []]  # an image may have lost its name
        return any(known == name or known.endswith("/" + name) for known in names)

    try:
        cluster.until_all("nodes", there, 240)  # a node tells of a new one after a while; a test has 300 s
    except AssertionError:
        pytest.skip(f"cluster: no node has the image {name} (T9KJOB_TEST_IMAGE)")
    return name


@pytest.fixture(scope="module")
def volumes(kube: Kube, kubeconfig: Path) -> Iterator[Volumes]:
    folder = os.environ.get("T9KJOB_TEST_VOLUMES")
    if folder is None and kubeconfig == Path("/run/t9kjob-cluster/kubeconfig") and os.access(HERE, os.W_OK):
        folder = str(HERE)
    if folder is None:
        pytest.skip("cluster: no folder that this machine shares with the nodes is named (T9KJOB_TEST_VOLUMES)")
    volumes = Volumes(kube, Path(folder))
    yield volumes
    volumes.remove()


@pytest.fixture(scope="module")
def volume(volumes: Volumes) -> Volume:
    return volumes.make("data")


@pytest.fixture(scope="session")
def controller(cluster: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControllerProcess]:
    controller = ControllerProcess(cluster, tmp_path_factory.mktemp("controller") / "log")
    with alone():
        controller.ensure()
    yield controller
    controller.stop()


@pytest.fixture(scope="module")
def older_dialect(controller: ControllerProcess) -> Iterator[None]:
    """Switch the cluster to the older dialect; it is one for all, so tests of the other must not run meanwhile."""
    with alone():
        controller.start("older")
        yield
        controller.start("current")


@pytest.fixture(scope="session")
def kubeflow(cluster: Kube) -> None:
    if not cluster.knows("pytorchjobs"):
        pytest.skip("cluster: it knows no PyTorchJob")


@pytest.fixture(scope="session")
def trainer(cluster: Kube) -> None:
    """Have Kubeflow Trainer and JobSet in the cluster; they stay."""
    with alone():
        if cluster.knows("trainjobs"):
            return
        words = os.environ.get("T9KJOB_TEST_CLUSTER")
        if not words:
            pytest.skip("cluster: it knows no TrainJob, and nothing is named that adds it (T9KJOB_TEST_CLUSTER)")
        with building_images():
            added = subprocess.run([*shlex.split(words), "trainer"], capture_output=True, text=True)
        assert added.returncode == 0, added.stdout + added.stderr
        _strengthen(cluster)


def _strengthen(cluster: Kube) -> None:
    """Let the pods of Trainer and JobSet answer in time beside many others, as `.make/cluster.py` lets the rest."""
    for name, namespace in TRAINER.items():
        probe = {"timeoutSeconds": 30, "failureThreshold": 20}
        container = {"name": name, "resources": {"requests": {"cpu": "100m"}}, "readinessProbe": probe}
        patch = json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}})
        cluster.kubectl("patch", "--namespace", namespace, f"deployment/{name}", "--patch", patch)
    for webhooks, count in WEBHOOKS.items():
        patience = [{"op": "replace", "path": f"/webhooks/{at}/timeoutSeconds", "value": 30} for at in range(count)]
        cluster.kubectl("patch", webhooks, "--type=json", f"--patch={json.dumps(patience)}")
    for name, namespace in TRAINER.items():
        cluster.kubectl("rollout", "status", "--namespace", namespace, f"deployment/{name}")


@pytest.fixture
def api_server(kube: Kube) -> Iterator[Callable[[str], Awaitable[Any]]]:
    """Give a function that stops and starts the API server."""
    words = os.environ.get("T9KJOB_TEST_CLUSTER")
    if not words:
        pytest.skip("cluster: nothing is named that stops the API server (T9KJOB_TEST_CLUSTER)")
    command = shlex.split(words)

    def switch(verb: str) -> None:
        subprocess.run([*command, verb, "apiserver"], check=True, stdout=subprocess.DEVNULL)

    with alone():
        yield lambda verb: asyncio.to_thread(switch, verb)
        switch("start")


def settings(volume: Volume) -> dict[str, Any]:
    """Settings that an administrator gives to a lab outside of the cluster."""
    mount = {"claim": volume.claim, "lab_path": str(volume.path), "mount_path": "/t9k/mnt"}
    return {"kubernetes_volumes": [mount]}


@pytest.fixture
def jp_root_dir(volume: Volume) -> Path:
    return volume.path


@pytest.fixture
def jp_server_config(kube: Kube, volume: Volume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("KUBECONFIG", str(kube.kubeconfig))
    return {
        "ServerApp": {"jpserver_extensions": dict(EXTENSIONS), "allow_unauthenticated_access": False},
        "T9kJobApp": {"home": str(tmp_path / "jobs"), **settings(volume)},
    }


@pytest.fixture(scope="module")
def start_lab(kube: Kube, volume: Volume, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Lab]]:
    labs: list[Lab] = []

    def start(**traits: Any) -> Lab:
        lab = Lab(
            tmp_path_factory.mktemp("lab"),
            root=volume.path,
            environment={"KUBECONFIG": str(kube.kubeconfig)},
            **{**settings(volume), **traits},
        )
        labs.append(lab)
        lab.start()
        return lab

    yield start
    for lab in labs:
        lab.kill()
