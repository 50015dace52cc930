"""A lab finds itself in a cluster: its pod, its container, and what it has mounted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.lab import Lab
from jupyterlab_t9kjob.core.spec import Security
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError
from jupyterlab_t9kjob.engines.kubernetes.lab.configured_volumes import lab_mounts
from jupyterlab_t9kjob.engines.kubernetes.lab.lab_pod import find_lab
from jupyterlab_t9kjob.engines.kubernetes.lab.process_environment import Surroundings

pytestmark = pytest.mark.asyncio
UID = "e622a0b2-2487-43b0-8578-021186ec9647"


def pod(name: str = "lab-0", uid: str = UID, **spec: Any) -> dict[str, Any]:
    """Return a pod as T9k makes them: the notebook, and a proxy beside it."""
    notebook = {
        "name": "notebook",
        "image": "t9kpublic/jupyterlab-torch-2.5.0:20241031",
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "WHO", "value": "me"},
            {"name": "WHERE", "value": "users/$(WHO)"},
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "TEAM", "valueFrom": {"configMapKeyRef": {"name": "team", "key": "name"}}},
        ],
        "volumeMounts": [
            {"name": "workingdir", "mountPath": "/t9k/mnt"},
            {"name": "data", "mountPath": "/datasets", "subPath": "sets/v2", "readOnly": True},
            {"name": "workingdir", "mountPath": "/t9k/mnt/deep", "subPathExpr": "$(WHERE)/$(POD)/$(TEAM)/$$(x)"},
            {"name": "tmp", "mountPath": "/t9k/mnt/scratch"},
        ],
    }
    proxy = {"name": "proxy", "image": "pep:1", "volumeMounts": [{"name": "tmp", "mountPath": "/tmp/proxy"}]}
    return {
        "metadata": {"name": name, "namespace": "team", "uid": uid},
        "spec": {
            "containers": [proxy, notebook],
            "volumes": [
                {"name": "workingdir", "persistentVolumeClaim": {"claimName": "workspace"}},
                {"name": "data", "persistentVolumeClaim": {"claimName": "sets"}},
                {"name": "tmp", "emptyDir": {}},
            ],
            "imagePullSecrets": [{"name": "regcred"}],
            "securityContext": {"fsGroup": 2000},
            **spec,
        },
        "status": {"podIPs": [{"ip": "10.0.0.7"}]},
    }


HERE = Surroundings(
    names=("lab-0",),
    addresses=("10.0.0.7",),
    mount_points=("/", "/proc", "/t9k/mnt", "/datasets", "/t9k/mnt/deep", "/t9k/mnt/scratch"),
    uid=1000,
    gid=100,
    user="t9kuser",
    home=Path("/t9k/mnt"),
    environ={"TEAM": "red", "WHO": "changed since"},
)


class FakeApi:
    def __init__(self, *pods: dict[str, Any], in_cluster: bool = True) -> None:
        self.pods = list(pods)
        self.connection = SimpleNamespace(in_cluster=in_cluster)
        self.forbidden: set[str] = set()
        self.claims = {"workspace": ["ReadWriteMany"], "sets": ["ReadOnlyMany"]}

    async def get(self, path: str) -> dict[str, Any]:
        *_, kind, name = path.split("/")
        self._check(f"get {kind}", path)
        if kind == "pods":
            for pod in self.pods:
                if pod["metadata"]["name"] == name:
                    return pod
        elif name in self.claims:
            return {"metadata": {"name": name}, "spec": {}, "status": {"accessModes": self.claims[name]}}
        raise ApiError(404, {"reason": "NotFound", "message": "not found"})

    async def list(self, path: str, params: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
        self._check("list pods", path)
        address = params["fieldSelector"].removeprefix("status.podIP=")
        return [pod for pod in self.pods if {"ip": address} in pod["status"]["podIPs"]], "1"

    def _check(self, what: str, path: str) -> None:
        assert path.startswith("/api/v1/namespaces/team/")
        if what in self.forbidden:
            raise ApiError(403, {"reason": "Forbidden", "message": f"may not {what}"})


def claims(lab: Lab) -> list[tuple[str, str, str | None, bool]]:
    assert all(str(mount.lab_path) == str(mount.mount_path) for mount in lab.mounts)
    return [(mount.claim, str(mount.mount_path), mount.sub_path, mount.read_only) for mount in lab.mounts]


async def test_what_a_pod_has() -> None:
    lab = await find_lab(FakeApi(pod()), "team", here=HERE)
    assert claims(lab) == [
        ("workspace", "/t9k/mnt", None, False),
        ("sets", "/datasets", "sets/v2", True),
        ("workspace", "/t9k/mnt/deep", "users/me/lab-0/red/$(x)", False),
    ]
    assert [mount.access_modes for mount in lab.mounts] == [("ReadWriteMany",), ("ReadOnlyMany",), ("ReadWriteMany",)]
    assert {mount.namespace for mount in lab.mounts} == {"team"}
    assert lab.elsewhere == (Path("/t9k/mnt/scratch"),)
    assert (lab.image, lab.pull_policy) == ("t9kpublic/jupyterlab-torch-2.5.0:20241031", "IfNotPresent")
    assert lab.pull_secrets == ("regcred",)
    assert lab.security == Security(uid=1000, gid=100, fs_group=2000)
    assert lab.user == "t9kuser" and lab.problems == ()
    assert lab.home_in_job([lab.mounts[0].mount], "team") == "/t9k/mnt"
    assert lab.in_job(Path("/t9k/mnt/scratch/a.py"), "team") is None


@pytest.mark.parametrize(
    ("changes", "pods"),
    [
        ({"names": ("renamed",)}, [pod()]),
        ({"names": ("node-7",), "pod_uid": UID, "addresses": ("10.0.0.7",)}, [pod("b", "other"), pod()]),
        ({"names": ("other", "lab-0"), "pod_uid": UID, "addresses": ()}, [pod("other", "other"), pod()]),
        # another pod's name is our host's
        ({"names": ("other", "lab-0")}, [pod("other") | {"status": {"podIPs": [{"ip": "10.0.0.8"}]}}, pod()]),
        ({"names": ("Not A/../Name", "lab-0")}, [pod()]),
        ({"addresses": ()}, [pod()]),
        ({"container": "notebook", "mount_points": ()}, [pod()]),
    ],
)
async def test_it_is_found_by_whatever_tells_it(changes: dict[str, Any], pods: list[dict[str, Any]]) -> None:
    lab = await find_lab(FakeApi(*pods), "team", here=replace(HERE, pod_uid=changes.pop("pod_uid", UID), **changes))
    assert lab.mounts[0].claim == "workspace"
    assert lab.problems == ()


async def test_two_pods_at_one_address_are_not_guessed_between() -> None:
    twins = [pod("a", "1"), pod("b", "2")]
    lab = await find_lab(FakeApi(*twins), "team", here=replace(HERE, names=("node",)))
    assert lab.mounts == () and lab.problems[0].code == "LabUnknown"
    assert "was not found in namespace team" in lab.problems[0].message


async def test_the_container_is_told_by_its_mounts() -> None:
    for seen, image in (
        (("/", "/tmp/proxy"), "pep:1"),
        (HERE.mount_points, "t9kpublic/jupyterlab-torch-2.5.0:20241031"),
    ):
        lab = await find_lab(FakeApi(pod()), "team", here=replace(HERE, mount_points=seen, pod_uid=UID))
        assert lab.image == image
    lab = await find_lab(FakeApi(pod()), "team", here=replace(HERE, container="proxy"))
    assert lab.image == "pep:1" and lab.mounts == ()


async def test_a_folder_that_can_not_be_told_is_no_mount() -> None:
    lab = await find_lab(FakeApi(pod()), "team", here=replace(HERE, environ={}))
    assert [mount[1] for mount in claims(lab)] == ["/t9k/mnt", "/datasets"]
    assert lab.problems[0].code == "LabMountUnknown" and "/t9k/mnt/deep" in lab.problems[0].message
    assert lab.in_job(Path("/t9k/mnt/deep/a.py"), "team") is None


async def test_what_may_not_be_asked_is_said() -> None:
    api = FakeApi(pod())
    api.forbidden = {"get persistentvolumeclaims"}
    lab = await find_lab(api, "team", here=HERE)
    assert len(lab.mounts) == 3 and {mount.access_modes for mount in lab.mounts} == {()}
    api.forbidden = {"get pods"}
    assert len((await find_lab(api, "team", here=HERE)).mounts) == 3
    api.forbidden = {"get pods", "list pods"}
    lab = await find_lab(api, "team", here=HERE)
    assert (lab.mounts, lab.image, lab.security) == ((), None, Security())
    assert lab.user == "t9kuser"
    assert "permission to read JupyterLab's own pod" in lab.problems[0].message
    assert "get pods in namespace team" in (lab.problems[0].hint or "")


async def test_outside_a_pod_an_administrator_says_it() -> None:
    entries = [
        {"claim": "work", "lab_path": "/home/me/nfs", "mount_path": "/t9k/mnt"},
        {"claim": "sets", "lab_path": "/sets", "sub_path": "v2", "read_only": True, "namespace": "data"},
    ]
    here = replace(HERE, home=Path("/home/me/nfs/me"), mount_points=("/", "/home/me/nfs", "/home/me/nfs/usb"))
    lab = await find_lab(FakeApi(in_cluster=False), "team", lab_mounts(entries, "team"), here)
    assert [(str(m.lab_path), str(m.mount_path), m.sub_path, m.read_only, m.namespace) for m in lab.mounts] == [
        ("/home/me/nfs", "/t9k/mnt", None, False, "team"),
        ("/sets", "/sets", "v2", True, "data"),
    ]
    assert lab.security == Security() and lab.image is None and lab.problems == ()
    assert lab.home_in_job([lab.mounts[0].mount], "team") == "/t9k/mnt/me"
    assert lab.in_job(Path("/home/me/nfs/usb/a.py"), "team") is None
    # in a pod they count instead of what it has mounted; the image is the pod's
    lab = await find_lab(FakeApi(pod()), "team", lab_mounts(entries, "team"), HERE)
    assert [mount.claim for mount in lab.mounts] == ["work", "sets"]
    assert lab.image is not None
    assert (await find_lab(FakeApi(in_cluster=False), "team", here=HERE)).mounts == ()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"lab_path": "/x"}, r"kubernetes_volumes\[0\].claim: Field required"),
        ({"claim": "w", "lab_path": "x"}, r"\[0\].lab_path: must be an absolute path"),
        ({"claim": "W_", "lab_path": "/x"}, r"\[0\].claim: String should match"),
        ({"claim": "w", "lab_path": "/x", "sub_path": "a/../.."}, r"\[0\].sub_path: must be named from the PVC's root"),
        ({"claim": "w", "lab_path": "/x", "mount_path": "y"}, r"\[0\].mount_path: must be an absolute path"),
        ({"claim": "w", "lab_path": "/x", "path": "y"}, r"\[0\].path: Extra inputs"),
        ({"claim": "w", "lab_path": "/x", "read_only": "no"}, r"\[0\].read_only: Input should be"),
        ("w", r"\[0\]: Input should be"),
    ],
)
async def test_a_wrong_volume_is_named(entry: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        lab_mounts([entry], "team")
