"""A lab in a pod finds itself: the package's own code in real pods, with real accounts."""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.kubernetes.harness import ROOT, Kube, Volume, Volumes

pytestmark = pytest.mark.cluster
SITE = "/t9k/mnt/site"
FIND = """
import asyncio, json, sys
from pathlib import Path
from jupyterlab_t9kjob.core.spec import Mount
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from jupyterlab_t9kjob.engines.kubernetes.lab.lab_pod import find_lab
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi

async def main():
    connection = load_connection()
    api = KubeApi(connection)
    lab = await find_lab(api, connection.namespace)
    await api.close()
    script = Path("/t9k/mnt/deep/train.py")
    script.parent.mkdir(exist_ok=True)
    script.touch()
    seen = {str(path): (found[0].claim, found[0].sub_path, str(found[1])) if found else None for path in (
        script, Path("/t9k/mnt/site"), Path("/t9k/mnt/scratch/a.py"), Path("/etc/hosts"), Path("/once/x"),
    ) for found in [lab.in_job(path, connection.namespace)]}
    print(json.dumps({
        "mounts": [(m.claim, str(m.mount_path), m.sub_path, m.read_only, m.access_modes) for m in lab.mounts],
        "seen": seen,
        "image": lab.image, "policy": lab.pull_policy, "secrets": lab.pull_secrets,
        "security": lab.security.model_dump(), "user": lab.user,
        "home": lab.home_in_job([m.mount for m in lab.mounts], connection.namespace),
        "problems": [problem.message for problem in lab.problems],
    }))

asyncio.run(main())
"""


def closure(*names: str) -> set[str]:
    """Return the names of distributions and all that they need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub("[-_.]+", "-", waiting.pop().lower())
        if name not in found:
            found.add(name)
            needed = (Requirement(text) for text in distribution(name).requires or [])
            waiting += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def site(volume: Volume) -> Path:
    """Put the package, and what this part of it needs, on the volume, with the byte code that is there.

    Without that, each of eight containers would compile all modules.
    """
    folder = volume.path / "site"
    unfinished = "*.pyc.*"  # byte code that another test's process writes now
    for name in closure("httpx", "kubernetes", "psutil", "pydantic", "PyYAML"):
        files = distribution(name).files or []
        for part in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            source, target = Path(str(distribution(name).locate_file(part))), folder / part
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(unfinished))
            else:
                folder.mkdir(exist_ok=True)
                shutil.copy2(source, target)
    package = ROOT / "jupyterlab_t9kjob"
    ignored = shutil.ignore_patterns(unfinished, "labextension", "node_modules")
    shutil.copytree(package, folder / package.name, ignore=ignored)
    about = folder / "jupyterlab_t9kjob-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: jupyterlab_t9kjob\nVersion: 0\n")
    (folder / "find.py").write_text(FIND)
    return folder


def account(kube: Kube, name: str, *resources: str) -> str:
    """Make an account that may look at these, and at nothing else."""
    kube.create("serviceaccounts", {"metadata": {"name": name}})
    rule = {"apiGroups": [""], "resources": [*resources], "verbs": ["get", "list"]}
    kube.create("roles", {"metadata": {"name": name}, "rules": [rule]})
    kube.create("rolebindings", {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name}],
    })  # fmt: skip
    return name


def pod(name: str, image: str, account: str, **spec: Any) -> dict[str, Any]:
    """Describe a lab: a proxy and a notebook, which run the same."""
    common = {
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python", f"{SITE}/find.py"],
        "env": [
            {"name": "PYTHONPATH", "value": SITE},
            {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
            {"name": "HOME", "value": "/t9k/mnt/home"},
            {"name": "WHO", "value": "me"},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ],
    }
    shared = [{"name": "data", "mountPath": "/t9k/mnt"}]
    notebook = [
        *shared,
        {"name": "data", "mountPath": "/t9k/mnt/deep", "subPathExpr": "users/$(WHO)/$(POD)"},
        {"name": "tmp", "mountPath": "/t9k/mnt/scratch"},
        {"name": "once", "mountPath": "/once", "readOnly": True},
    ]
    return {
        "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never",
            "serviceAccountName": account,
            "imagePullSecrets": [{"name": "regcred"}],
            "containers": [
                common | {"name": "proxy", "volumeMounts": shared},
                common | {"name": "notebook", "volumeMounts": notebook},
            ],
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "once", "persistentVolumeClaim": {"claimName": "once"}},
                {"name": "tmp", "emptyDir": {}},
            ],
            **spec,
        },
    }


def test_a_lab_in_a_pod_finds_itself(kube: Kube, site: Path, volume: Volume, volumes: Volumes, image: str) -> None:
    """The more, the more its account may; without a rule as the table of examples/kubernetes/README.md says."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    volumes.make("once", "ReadWriteOnce")
    (volume.path / "home").mkdir()
    (volume.path / "users").mkdir(mode=0o777)
    lab = account(kube, "lab", "pods", "persistentvolumeclaims")
    ids = {"runAsUser": 0, "runAsGroup": 100, "fsGroup": 2000}
    kube.create("pods", pod("called-otherwise", image, lab, hostname="on-the-host", securityContext=ids))
    kube.create("pods", pod("on-the-host", image, lab, hostNetwork=True))
    kube.create("pods", pod("no-claims", image, account(kube, "no-claims", "pods")))
    kube.create("pods", pod("may-nothing", image, "default"))

    def told(name: str, container: str) -> Any:
        ended = kube.until("pods", name, lambda pod: pod and pod["status"]["phase"] in ("Succeeded", "Failed"))
        log = kube.log(name, container=container)
        assert ended["status"]["phase"] == "Succeeded", f"{log}\n(the modules are those of {python})"
        return json.loads(log.splitlines()[-1])

    for name in ("called-otherwise", "on-the-host"):
        found = told(name, "notebook")
        assert found["mounts"] == [
            ["data", "/t9k/mnt", None, False, ["ReadWriteMany"]],
            ["data", "/t9k/mnt/deep", f"users/me/{name}", False, ["ReadWriteMany"]],
            ["once", "/once", None, True, ["ReadWriteOnce"]],
        ]
        assert found["seen"] == {
            "/t9k/mnt/deep/train.py": ["data", f"users/me/{name}", "/t9k/mnt/deep/train.py"],
            "/t9k/mnt/site": ["data", None, SITE],
            "/t9k/mnt/scratch/a.py": None,
            "/etc/hosts": None,
            "/once/x": ["once", None, "/once/x"],
        }
        assert (volume.path / f"users/me/{name}/train.py").exists()
        assert (found["image"], found["policy"], found["secrets"]) == (image, "IfNotPresent", ["regcred"])
        assert (found["home"], found["problems"]) == ("/t9k/mnt/home", [])
        assert found["user"]
        # its neighbour has less
        assert [mount[1] for mount in told(name, "proxy")["mounts"]] == ["/t9k/mnt"]
    assert told("called-otherwise", "notebook")["security"] == {
        "uid": 0,
        "gid": 100,
        "fs_group": 2000,
        "restricted": False,
    }
    # without `get` on PVCs nobody knows which are for one node only
    blind = told("no-claims", "notebook")
    assert [mount[4] for mount in blind["mounts"]] == [[], [], []]
    assert (blind["image"], blind["home"], blind["problems"]) == (image, "/t9k/mnt/home", [])
    assert blind["seen"]["/once/x"] == ["once", None, "/once/x"]
    # and without `get` and `list` on pods it knows nothing of itself
    nothing = told("may-nothing", "notebook")
    assert (nothing["mounts"], nothing["image"]) == ([], None)
    assert "permission to read JupyterLab's own pod" in nothing["problems"][0]
