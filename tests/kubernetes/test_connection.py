"""Credentials, requests and watches against a real API server.

`T9KJOB_TEST_CLUSTER` names what takes `stop apiserver` and `start apiserver` (words).
"""

import asyncio
import base64
import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, Json, KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.credentials import connection as credentials
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import load_connection
from jupyterlab_t9kjob.engines.kubernetes.client.watch.informer import Informer
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio]

MANY = 600
"""A loaded API server deletes as many within the minute after which it ends a request."""

Connect = Callable[..., Awaitable[KubeApi]]


@pytest.fixture
def admin(kube: Kube) -> Json:
    """Return the kubeconfig's entries: cluster and user."""
    document = yaml.safe_load(kube.kubeconfig.read_text())
    context = next(each for each in document["contexts"] if each["name"] == document["current-context"])["context"]
    cluster = next(each["cluster"] for each in document["clusters"] if each["name"] == context["cluster"])
    user = next(each["user"] for each in document["users"] if each["name"] == context["user"])
    return {"cluster": cluster, "user": user}


@pytest_asyncio.fixture
async def connect(kube: Kube, admin: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    """Give a function that connects as the administrator, or as another user of a kubeconfig."""
    made: list[KubeApi] = []

    async def make(user: Json | None = None) -> KubeApi:
        path = tmp_path / "kubeconfig"
        context = {"cluster": "it", "user": "it", "namespace": kube.namespace}
        document = {
            "current-context": "it",
            "clusters": [{"name": "it", "cluster": admin["cluster"]}],
            "contexts": [{"name": "it", "context": context}],
            "users": [{"name": "it", "user": admin["user"] if user is None else user}],
        }
        path.write_text(json.dumps(document))
        monkeypatch.setenv("KUBECONFIG", str(path))
        made.append(KubeApi(await asyncio.to_thread(load_connection, "it")))
        return made[-1]

    yield make
    for api in made:
        await api.close()


@pytest.fixture(scope="module")
def weak(kube: Kube) -> str:
    """Make a service account that may read pods and nothing else; return its name."""
    kube.create("serviceaccounts", {"metadata": {"name": "weak"}})
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    kube.create("roles", {"metadata": {"name": "weak"}, "rules": rules})
    bind(kube, "weak", "weak")
    kube.until_may(kube.account("weak"), {(verb, "", "pods"): True for verb in ("get", "list", "watch")})
    return "weak"


def bind(kube: Kube, role: str, account: str) -> None:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}
    subject = {"kind": "ServiceAccount", "name": account, "namespace": kube.namespace}
    kube.create("rolebindings", {"metadata": {"name": role}, "roleRef": reference, "subjects": [subject]})


class Follower:
    def __init__(self, api: KubeApi, path: str) -> None:
        self.news = asyncio.Event()
        self.told = 0
        self.collection = Informer(api, path, self._changed, state_changed=self.news.set)
        self.collection.start()

    def _changed(self, before: Json | None, after: Json | None) -> None:
        self.told += 1
        self.news.set()

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self.news.clear()
            await self.news.wait()

    @property
    def names(self) -> set[str]:
        return {item["metadata"]["name"] for item in self.collection.objects.values()}

    @property
    def status(self) -> int | None:
        error = self.collection.error
        return error.status if isinstance(error, ApiError) else None


async def make_many(api: KubeApi, path: str, names: list[str]) -> None:
    def body(name: str) -> Json:
        return {"metadata": {"name": name, "labels": {"many": "yes"}}, "data": {"x": "y"}}

    for begin in range(0, len(names), 20):
        await asyncio.gather(*(api.create(path, body(name)) for name in names[begin : begin + 20]))


async def test_many_objects_are_listed_and_followed(kube: Kube, connect: Connect) -> None:
    api = await connect()
    path = kube.path("configmaps")
    names = [f"many-{number}" for number in range(MANY)]
    await make_many(api, path, names[: MANY // 2])
    follower = Follower(api, path)
    await follower.collection.listed()
    assert {*names[: MANY // 2]} <= follower.names
    await make_many(api, path, names[MANY // 2 :])
    await follower.until(lambda: follower.names >= {*names})
    assert not any("managedFields" in item["metadata"] for item in follower.collection.objects.values())
    items, _version = await api.list(path, {"labelSelector": "many=yes"})
    assert {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for item in items} == {
        uid: item["metadata"]["resourceVersion"]
        for uid, item in follower.collection.objects.items()
        if item["metadata"]["name"].startswith("many-")
    }
    await asyncio.to_thread(kube.ask, "DELETE", path, labelSelector="many=yes")
    await follower.until(lambda: not any(name.startswith("many-") for name in follower.names))
    assert follower.collection.stale_since is None
    await follower.collection.stop()


async def test_a_history_that_is_gone(kube: Kube, connect: Connect) -> None:
    api = await connect()
    with pytest.raises(ApiError) as caught:
        async with api.watch(kube.path("configmaps"), {"resourceVersion": "1"}, silence=60) as events:
            async for _event in events:
                pass
    assert caught.value.status == 410


async def test_a_kind_that_comes_and_goes(kube: Kube, connect: Connect) -> None:
    api = await connect()
    group = f"{kube.namespace}.example.org"
    path = f"/apis/{group}/v1/namespaces/{kube.namespace}/things"
    follower = Follower(api, path)
    await follower.until(lambda: follower.status == 404)
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    await asyncio.to_thread(kube.create, "customresourcedefinitions", definition)
    try:
        await follower.until(lambda: follower.collection.error is None)
        await api.create(path, {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "one"}})
        await follower.until(lambda: follower.names == {"one"})
    finally:
        await asyncio.to_thread(kube.delete, "customresourcedefinitions", f"things.{group}")
    await follower.until(lambda: follower.names == set())
    while follower.status != 404:
        follower.collection.retry()
        await asyncio.sleep(0.5)
    await follower.collection.stop()


# -- who asks ---------------------------------------------------------------------------------------------------------


async def test_what_somebody_else_may_not_do(kube: Kube, admin: Json, weak: str, connect: Connect) -> None:
    """An administrator impersonates a service account; a permission that is granted later is noticed."""
    api = await connect({**admin["user"], "as": f"system:serviceaccount:{kube.namespace}:{weak}"})
    assert await api.may("list", "", "pods", kube.namespace)
    assert not await api.may("list", "", "configmaps", kube.namespace)
    assert not await api.may("get", "", "pods", kube.namespace, "log")
    with pytest.raises(ApiError) as caught:
        await api.create(kube.path("pods"), {"metadata": {"name": "x"}, "spec": {"containers": []}})
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")

    pods = Follower(api, kube.path("pods"))
    maps = Follower(api, kube.path("configmaps"))
    await maps.until(lambda: maps.status == 403)
    await pods.collection.listed()
    assert pods.collection.error is None
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}]
    await asyncio.to_thread(kube.create, "roles", {"metadata": {"name": "maps"}, "rules": rules})
    await asyncio.to_thread(bind, kube, "maps", weak)
    while maps.collection.error is not None:
        maps.collection.retry()
        await asyncio.sleep(0.2)
    assert "kube-root-ca.crt" in maps.names
    await asyncio.gather(pods.collection.stop(), maps.collection.stop())


async def test_a_plugin_whose_token_is_taken_back(kube: Kube, weak: str, connect: Connect, tmp_path: Path) -> None:
    """The plugin runs `kubectl create token`. The first token is bound to a Secret and invalid once that is deleted."""
    secret = {"metadata": {"name": "anchor"}, "type": "Opaque"}
    await asyncio.to_thread(kube.create, "secrets", secret)
    kubectl = shlex.split(os.environ.get("T9KJOB_KUBECTL", "kubectl"))
    command = [*kubectl, "--kubeconfig", str(kube.kubeconfig), "-n", kube.namespace, "create", "token", weak]
    script = tmp_path / "plugin"
    script.write_text(
        f"#!{sys.executable}\nimport json, os, subprocess\n"
        f"first = not os.path.exists({str(tmp_path / 'ran')!r}); open({str(tmp_path / 'ran')!r}, 'a').write('x')\n"
        "bound = ['--bound-object-kind=Secret', '--bound-object-name=anchor'] if first else []\n"
        f"token = subprocess.check_output([*{command!r}, *bound], text=True).strip()\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "print(json.dumps({'apiVersion': info['apiVersion'], 'kind': 'ExecCredential', 'status': {'token': token}}))\n"
    )
    script.chmod(0o755)
    version = "client.authentication.k8s.io/v1"
    api = await connect({"exec": {"apiVersion": version, "command": "./plugin", "interactiveMode": "Never"}})
    path = kube.path("pods")
    await api.list(path)
    first = api.connection.headers
    follower = Follower(api, path)
    await follower.collection.listed()
    await asyncio.to_thread(kube.delete, "secrets", "anchor")
    while api.connection.headers == first:  # the API server remembers a token for some seconds
        await api.list(path)
        await asyncio.sleep(0.5)
    assert (tmp_path / "ran").read_text() == "xx"
    assert follower.collection.error is None
    await follower.collection.stop()


async def test_a_client_certificate(kube: Kube, connect: Connect, tmp_path: Path) -> None:
    name = f"ann-{kube.namespace}"
    key = tmp_path / "ann.key"
    command = ["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-subj", f"/CN={name}/O=lab"]
    request = await asyncio.to_thread(subprocess.check_output, command, stderr=subprocess.DEVNULL)
    requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    body: Json = {
        "metadata": {"name": name},
        "spec": {
            "request": base64.b64encode(request).decode(),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "expirationSeconds": 600,
            "usages": ["client auth"],
        },
    }
    signing = await asyncio.to_thread(kube.ask, "POST", requests, body)
    try:
        approval = {"type": "Approved", "status": "True", "reason": "Test"}
        signing["status"]["conditions"] = [approval]
        await asyncio.to_thread(kube.ask, "PUT", f"{requests}/{name}/approval", signing)
        while "certificate" not in signing["status"]:
            await asyncio.sleep(0.2)
            signing = await asyncio.to_thread(kube.ask, "GET", f"{requests}/{name}")
    finally:
        await asyncio.to_thread(kube.ask, "DELETE", f"{requests}/{name}")
    api = await connect({"client-certificate-data": signing["status"]["certificate"], "client-key": "ann.key"})
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    who = await api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert who["status"]["userInfo"]["username"] == name
    assert "lab" in who["status"]["userInfo"]["groups"]
    with pytest.raises(ApiError) as caught:
        await api.list(kube.path("pods"))
    assert caught.value.status == 403
    assert name in caught.value.message


async def test_as_in_a_pod(
    kube: Kube, weak: str, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files and the environment that the kubelet gives a pod, and a real token in them."""
    api = await connect()
    server = api.connection.server.removeprefix("https://")
    asked: Json = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = await api.create(kube.path("serviceaccounts", weak, "token"), asked)
    (tmp_path / "token").write_text(token["status"]["token"])
    (tmp_path / "namespace").write_text(kube.namespace)
    authority = await api.get(kube.path("configmaps", "kube-root-ca.crt"))
    (tmp_path / "ca.crt").write_text(authority["data"]["ca.crt"])
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", server.rpartition(":")[0])
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", server.rpartition(":")[2])
    monkeypatch.setenv("T9K_NAMESPACE", "kube-system")
    connection = await asyncio.to_thread(load_connection)
    assert (connection.in_cluster, connection.namespace) == (True, kube.namespace)
    assert connection.cluster == api.connection.cluster  # as somebody else, but the same one
    inside = KubeApi(connection)
    await inside.list(kube.path("pods"))
    with pytest.raises(ApiError, match="cannot list resource"):
        await inside.list(kube.path("secrets"))
    await inside.close()


# -- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.alone
async def test_the_api_server_restarts(
    kube: Kube, connect: Connect, api_server: Callable[[str], Awaitable[Any]]
) -> None:
    api = await connect()
    path = kube.path("configmaps")
    follower = Follower(api, path)
    await follower.collection.listed()
    await make_many(api, path, ["before"])
    await follower.until(lambda: "before" in follower.names)
    told = follower.told
    await api_server("stop")
    await follower.until(lambda: isinstance(follower.collection.error, Unreachable))
    assert follower.collection.stale_since is not None
    with pytest.raises(Unreachable):
        await api.get(path)
    await api_server("start")
    await follower.until(lambda: follower.collection.error is None)
    await make_many(api, path, ["after"])
    await follower.until(lambda: "after" in follower.names)
    # nothing was told twice
    assert follower.told == told + 1
    await follower.collection.stop()
