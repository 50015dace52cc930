"""How the cluster is found, and as whom: kubeconfigs, plugins, certificates, service accounts, proxies."""

import asyncio
import base64
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.engines.kubernetes.client import pool
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.credentials import connection as credentials
from jupyterlab_t9kjob.engines.kubernetes.client.credentials import exec_plugin
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import (
    NoCluster,
    load_connection,
    nothing_to_load,
)
from tests.kubernetes.fakeapi import Certificates, FakeApi, FakeProxy, Request, write_kubeconfig

SECRET = "s3cret-s3cret"
POD = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "NB_PREFIX", "T9K_NAMESPACE"]
PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"]
ENVIRONMENT = ["KUBECONFIG", *POD, *PROXIES, *map(str.lower, PROXIES)]

Configure = Callable[..., Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Begin without credentials."""
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(credentials, "SERVICE_ACCOUNT", tmp_path / "serviceaccount")
    return tmp_path


@pytest.fixture
def configure(home: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Give a function that writes a kubeconfig and names it in the environment."""

    def write(cluster: dict[str, Any], user: dict[str, Any] | None = None, **more: Any) -> Path:
        path = write_kubeconfig(home / "kubeconfig", cluster, user, **more)
        monkeypatch.setenv("KUBECONFIG", str(path))
        return path

    return write


@pytest.fixture
def pod(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Give a function that makes this a pod with a service account."""

    def make(certificates: Certificates, port: int, token: str = "first", host: str | None = "127.0.0.1") -> Path:
        folder = home / "serviceaccount"
        folder.mkdir()
        (folder / "token").write_text(token)
        (folder / "namespace").write_text("project-a\n")
        (folder / "ca.crt").write_bytes(certificates.ca_file.read_bytes())
        if host is not None:
            monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
            monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(port))
        return folder

    return make


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


@pytest.fixture
def plugin(home: Path) -> Callable[..., dict[str, Any]]:
    """Give a function that makes an exec plugin of Python code; `runs()` counts how often it was run."""

    def make(code: str, **more: Any) -> dict[str, Any]:
        script = home / "plugin"
        script.write_text(
            f"#!{sys.executable}\nimport json, os, sys, time\n"
            f"count = open({str(home / 'runs')!r}, 'a+'); count.write('x'); count.flush(); count.seek(0)\n"
            f"runs = len(count.read())\n"
            "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
            "def give(**status): print(json.dumps({**info, 'status': status}))\n" + code
        )
        script.chmod(0o755)
        version = "client.authentication.k8s.io/v1"
        return {"exec": {"apiVersion": version, "command": str(script), "interactiveMode": "Never", **more}}

    return make


def runs(home: Path) -> int:
    return len((home / "runs").read_text())


def cluster_of(server: FakeApi, **more: Any) -> dict[str, Any]:
    assert server.certificates is not None
    return {"server": server.url, "certificate-authority": str(server.certificates.ca_file), **more}


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


async def ask(count: int = 1) -> None:
    """Connect and ask for something."""
    api = KubeApi(await asyncio.to_thread(load_connection))
    try:
        for _ in range(count):
            await api.get("/version")
    finally:
        await api.close()


def said(error: BaseException) -> str:
    """Return all that a log would show of an error."""
    return "".join(traceback.format_exception(error))


# -- kubeconfigs ------------------------------------------------------------------------------------------------------


def test_a_token_goes_into_the_header(configure: Configure) -> None:
    configure({"server": "https://cluster.example/k8s/"}, {"token": SECRET}, namespace="project-a")
    connection = load_connection()
    assert connection.headers == (("authorization", f"Bearer {SECRET}"),)
    assert (connection.server, connection.context) == ("https://cluster.example/k8s", "lab")
    assert (connection.namespace, connection.in_cluster) == ("project-a", False)
    assert SECRET not in repr(connection)


def test_a_name_and_password_go_into_the_header(configure: Configure) -> None:
    configure({"server": "https://cluster.example"}, {"username": "ann", "password": SECRET})
    ((_key, value),) = load_connection().headers
    assert value == "Basic " + base64.b64encode(f"ann:{SECRET}".encode()).decode()


def test_who_acts_as_somebody_else_says_so(configure: Configure) -> None:
    user = {"token": SECRET, "as": "bob", "as-groups": ["dev", "ops"], "as-user-extra": {"a/b": ["c"]}}
    configure({"server": "https://cluster.example"}, user)
    assert load_connection().headers[1:] == (
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-a%2Fb", "c"),
    )


def test_a_context_is_chosen_by_name(configure: Configure) -> None:
    configure(
        {"server": "https://one.example"},
        contexts=[
            {"name": "lab", "context": {"cluster": "lab"}},
            {"name": "other", "context": {"cluster": "other", "namespace": "there"}},
        ],
        clusters=[
            {"name": "lab", "cluster": {"server": "https://one.example"}},
            {"name": "other", "cluster": {"server": "https://two.example"}},
        ],
    )
    assert load_connection().server == "https://one.example"
    other = load_connection("other")
    assert (other.server, other.namespace, other.context) == ("https://two.example", "there", "other")
    assert other.renew().server == "https://two.example"
    with pytest.raises(NoCluster, match=r"no context 'third'\. Its contexts: 'lab', 'other'"):
        load_connection("third")


def test_a_context_may_be_chosen_where_none_is_current(configure: Configure) -> None:
    configure({"server": "https://one.example"}, **{"current-context": ""})
    assert load_connection("lab").server == "https://one.example"
    with pytest.raises(NoCluster, match="kubectl config use-context"):
        load_connection()


def test_several_files_are_merged_as_by_kubectl(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first file that has a name counts, and paths are relative to the file in which they stand."""
    for folder in ("a", "b"):
        (home / folder).mkdir()
    certificates = Certificates(home / "a")
    chain, key = certificates.client("ann")
    (home / "b/client.crt").write_bytes(chain)
    (home / "b/client.key").write_bytes(key)
    (home / "a/config").write_text(
        yaml.safe_dump(
            {
                "current-context": "main",
                "clusters": [
                    {"name": "it", "cluster": {"server": "https://first.example", "certificate-authority": "ca.crt"}}
                ],
                "contexts": [{"name": "main", "context": {"cluster": "it", "user": "me", "namespace": "first"}}],
            }
        )
    )
    (home / "b/config").write_text(
        yaml.safe_dump(
            {
                "current-context": "unused",
                "clusters": [{"name": "it", "cluster": {"server": "https://second.example"}}],
                "contexts": [{"name": "main", "context": {"cluster": "it", "user": "me", "namespace": "second"}}],
                "users": [{"name": "me", "user": {"client-certificate": "client.crt", "client-key": "client.key"}}],
            }
        )
    )
    files = [home / "missing", home / "a/config", home / "b/config"]
    monkeypatch.setenv("KUBECONFIG", ":".join(map(str, files)))
    connection = load_connection()
    assert (connection.server, connection.namespace) == ("https://first.example", "first")
    assert connection.tls.authority == certificates.ca_file.read_bytes()
    assert (connection.tls.certificate, connection.tls.key) == (chain, key)


def test_a_kubeconfig_that_is_not_there_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", f"{home}/gone")
    assert nothing_to_load() == f"KUBECONFIG names {home}/gone, which does not exist."


def test_a_kubeconfig_at_home_is_found(home: Path) -> None:
    assert "no kubeconfig" in str(nothing_to_load())
    (home / ".kube").mkdir()
    write_kubeconfig(home / ".kube/config", {"server": "https://home.example"})
    assert nothing_to_load() is None
    assert load_connection().server == "https://home.example"


def entry(part: str, **more: Any) -> dict[str, Any]:
    return {part: [{"name": "lab", part.removesuffix("s"): more}]}


BROKEN = {
    "empty": ("", "is empty"),
    "no mapping": (f"- {SECRET}", "not a kubeconfig"),
    "not YAML": (f"users: [\n  token: {SECRET}\n: {{", "not YAML.*line"),
    "a tab": (f"users:\n\t- token: {SECRET}", "not YAML.*line 2"),
    "not text": (b"\xff\xfe\x00\x01" + SECRET.encode(), "not YAML"),
    "too deep": ("[" * 100_000, "not YAML"),
    "nothing in it": ({}, "no current context"),
    "no contexts": ({"current-context": "lab"}, "no context 'lab', and no others"),
    "contexts are text": ({"current-context": "lab", "contexts": SECRET}, "no context"),
    "entries are nonsense": ({"current-context": "lab", "contexts": [1, None, {"name": 3}, []]}, "no context"),
    "no such cluster": (entry("contexts", cluster="gone"), "cluster that does not exist: 'gone'"),
    "no such user": (entry("contexts", cluster="lab", user="gone"), "user that does not exist: 'gone'"),
    "no server": (entry("clusters", **{"proxy-url": SECRET}), "no server of the form"),
    "server is no address": (entry("clusters", server=f"token {SECRET}"), "no server of the form"),
    "server has a password": (entry("clusters", server=f"https://ann:{SECRET}@a.example"), "no server of the form"),
    "server's port": (entry("clusters", server="https://a.example:port"), "no server of the form"),
    "CA is gone": (
        entry("clusters", server="https://a.example", **{"certificate-authority": "gone.crt"}),
        r"certificate-authority of .* can't be read: .*gone\.crt: No such file",
    ),
    "CA is a folder": (
        entry("clusters", server="https://a.example", **{"certificate-authority": "."}),
        "Is a directory",
    ),
    "CA is no base64": (
        entry("clusters", server="https://a.example", **{"certificate-authority-data": "x"}),
        "certificate-authority-data of .* not base64",
    ),
    "CA is no certificate": (
        entry("clusters", server="https://a.example", **{"certificate-authority-data": "c2VjcmV0"}),
        "certificate authority of .* can't be used",
    ),
    "certificate without key": (
        entry("users", **{"client-certificate-data": "c2VjcmV0"}),
        "client certificate and key of .* can't be used",
    ),
    "token file is gone": (entry("users", tokenFile="gone"), "can't be used"),
    "token is damaged": (entry("users", token=f"{SECRET}\nHost: evil"), "token .* is damaged"),
    "token is not ASCII": (entry("users", token=f"{SECRET}é"), "token .* is damaged"),
    "token is a list": (entry("users", token=[SECRET]), "token of the kubeconfig's context 'lab' is not a string"),
    "user is text": ({"users": [{"name": "lab", "user": SECRET}]}, "user that does not exist"),
    "provider is gone": (entry("users", **{"auth-provider": {"name": "nobody", "config": {"x": SECRET}}}), "'nobody'"),
    "provider is empty": (
        entry("users", **{"auth-provider": {"name": "oidc", "config": {"x": SECRET}}}),
        "can't be used",
    ),
    "exec is empty": (entry("users", exec={}), "without command or apiVersion"),
    "exec of the future": (entry("users", exec={"apiVersion": "x/v9", "command": "true"}), "without command or apiV"),
    "proxy of a kind": (
        entry("clusters", server="https://a.example", **{"proxy-url": f"ftp://x:{SECRET}@p"}),
        "neither",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_kubeconfig_says_what_is_wrong_and_no_secret(
    case: str, home: Path, configure: Configure, caplog: pytest.LogCaptureFixture
) -> None:
    content, words = BROKEN[case]
    path = configure({"server": "https://a.example"})
    if isinstance(content, dict):
        whole = yaml.safe_load(path.read_text())
        content = yaml.safe_dump({**whole, **content} if content and "current-context" not in content else content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(NoCluster, match=words) as caught:
        load_connection()
    assert len(str(caught.value)) < 300
    assert SECRET not in said(caught.value)
    assert SECRET not in caplog.text


def test_an_encrypted_key_does_not_ask_for_its_password(configure: Configure, certificates: Certificates) -> None:
    chain, key = certificates.client("ann")
    command = ["openssl", "pkey", "-aes128", "-passout", f"pass:{SECRET}"]
    encrypted = subprocess.run(command, input=key, capture_output=True, check=True).stdout
    data = {
        "client-certificate-data": base64.b64encode(chain).decode(),
        "client-key-data": base64.b64encode(encrypted).decode(),
    }
    configure({"server": "https://a.example"}, data)
    with pytest.raises(NoCluster, match="client certificate and key"):
        load_connection()


# -- certificates and TLS ---------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize("inline", [True, False])
async def test_a_client_certificate_is_shown(
    inline: bool, home: Path, configure: Configure, certificates: Certificates
) -> None:
    chain, key = certificates.client("ann")
    async with FakeApi(certificates) as server:
        if inline:
            encoded = [base64.b64encode(pem).decode() for pem in (chain, key)]
            configure(cluster_of(server), {"client-certificate-data": encoded[0], "client-key-data": encoded[1]})
        else:
            (home / "client.crt").write_bytes(chain)
            (home / "client.key").write_bytes(key)
            configure(cluster_of(server), {"client-certificate": "client.crt", "client-key": "client.key"})
        await ask()
        assert [request.certificate for request in server.requests] == ["ann"]
        assert server.requests[0].authorization is None


@pytest.mark.asyncio
async def test_an_authority_of_its_own_is_needed(configure: Configure, certificates: Certificates) -> None:
    async with FakeApi(certificates) as server:
        configure({"server": server.url})
        with pytest.raises(Unreachable, match=r"The certificate of the cluster at 127\.0\.0\.1:\d+ is not trusted: "):
            await ask()
        configure({"server": server.url, "insecure-skip-tls-verify": True})
        await ask()
        configure(cluster_of(server))
        await ask()


@pytest.mark.asyncio
async def test_a_server_may_have_another_name(configure: Configure, home: Path) -> None:
    async with FakeApi(Certificates(home, "inside.example")) as server, FakeProxy(server.port) as proxy:
        configure(cluster_of(server))
        with pytest.raises(Unreachable, match="not trusted: IP address mismatch"):
            await ask()
        configure(cluster_of(server, **{"tls-server-name": "inside.example"}))
        await ask()
        way = {"tls-server-name": "inside.example", "proxy-url": f"http://127.0.0.1:{proxy.port}"}
        configure(cluster_of(server, **way))
        await ask()
        assert proxy.tunnels == [f"127.0.0.1:{server.port}"]
        configure(cluster_of(server, **{**way, "tls-server-name": "outside.example"}))
        with pytest.raises(Unreachable, match="not trusted: Hostname mismatch"):
            await ask()


# -- exec plugins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_a_plugin_gives_a_token(version: str, configure: Configure, plugin: Callable[..., Any], home: Path) -> None:
    user = plugin(
        "assert info['apiVersion'].endswith(sys.argv[1]), info\n"
        "assert info['spec'] == {'interactive': False}, info\n"
        "give(token=os.environ['PLUGIN_TOKEN'])",
        apiVersion=f"client.authentication.k8s.io/{version}",
        args=[version],
        env=[{"name": "PLUGIN_TOKEN", "value": SECRET}],
    )
    configure({"server": "https://cluster.example"}, user)
    connection = load_connection()
    assert connection.headers == (("authorization", f"Bearer {SECRET}"),)
    assert connection.expires_at is None


def test_a_plugin_is_told_of_the_cluster(configure: Configure, plugin: Callable[..., Any], home: Path) -> None:
    user = plugin("give(token=json.dumps(info['spec']['cluster'], separators=(',', ':')))", provideClusterInfo=True)
    certificates = Certificates(home)
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "it"}}
    cluster = {"server": "https://cluster.example", "certificate-authority": "ca.crt", "extensions": [extension]}
    configure({**cluster, "tls-server-name": "inside.example"}, user)
    ((_key, value),) = load_connection().headers
    assert json.loads(value.removeprefix("Bearer ")) == {
        "server": "https://cluster.example",
        "tls-server-name": "inside.example",
        "certificate-authority-data": base64.b64encode(certificates.ca_file.read_bytes()).decode(),
        "config": {"audience": "it"},
    }


def test_a_plugin_beside_its_kubeconfig_is_found(configure: Configure, plugin: Callable[..., Any]) -> None:
    configure({"server": "https://cluster.example"}, plugin("give(token='beside')", command="./plugin"))
    assert load_connection().headers == (("authorization", "Bearer beside"),)


FAILING = {
    "fails": ("print('SECRET', file=sys.stderr); sys.exit(3)", {}, r"failed \(exit status 3\). Run kubectl"),
    "says nothing": ("", {}, "no ExecCredential"),
    "says nonsense": ("print('SECRET')", {}, "no ExecCredential"),
    "says a list": ("print('[1]')", {}, "no ExecCredential"),
    "gives nothing": ("give(x='SECRET')", {}, "neither a token nor"),
    "gives half": ("give(clientCertificateData='SECRET')", {}, "neither a token nor"),
    "gives no certificate": ("give(clientCertificateData='SECRET', clientKeyData='SECRET')", {}, "can't be used"),
    "gives a bad time": ("give(token='SECRET', expirationTimestamp='SECRET')", {}, "invalid expiry"),
    "another version": ("print(json.dumps({**info, 'apiVersion': 'x', 'status': {}}))", {}, "in another version"),
    "asks": ("give(token='SECRET')", {"interactiveMode": "Always"}, "asks its user"),
    "reads": ("give(token='t'); sys.exit(len(input()))", {}, "exit status 1"),
    "is missing": ("", {"command": "no-such-program", "installHint": "Get it at x."}, "No such file.* Get it at x"),
    "hangs": ("time.sleep(100)", {}, "took longer than 1 s"),
}


@pytest.mark.parametrize("case", FAILING)
def test_a_plugin_that_fails_is_named_and_not_quoted(
    case: str,
    configure: Configure,
    plugin: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    code, more, words = FAILING[case]
    if case == "hangs":
        monkeypatch.setattr(exec_plugin, "PLUGIN_SECONDS", 1.0)
    configure({"server": "https://cluster.example"}, plugin(code.replace("SECRET", SECRET), **more))
    with pytest.raises(NoCluster, match=words) as caught:
        load_connection()
    assert SECRET not in said(caught.value) + caplog.text + "".join(capfd.readouterr())


def bearer(expected: str) -> Callable[[Request], bool]:
    return lambda request: request.authorization == f"Bearer {expected}"


@pytest.mark.asyncio
async def test_a_plugin_runs_again_when_its_token_expires(
    configure: Configure, plugin: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "LEAST_SECONDS", 0.0)
    give = f"give(token=f't{{runs}}', expirationTimestamp={iso(5)!r} if runs == 1 else {iso(900)!r})"
    async with FakeApi() as server:
        configure({"server": server.url}, plugin(give))
        await ask(3)
        assert [request.authorization for request in server.requests] == ["Bearer t2"] * 3
        assert runs(home) == 2


@pytest.mark.asyncio
async def test_a_plugin_does_not_run_for_every_request(
    configure: Configure, plugin: Callable[..., Any], home: Path
) -> None:
    """Even where its token has already expired by this machine's clock."""
    async with FakeApi() as server:
        configure({"server": server.url}, plugin(f"give(token='t', expirationTimestamp={iso(-3600)!r})"))
        await ask(5)
        assert len(server.requests) == 5
        assert runs(home) == 1


@pytest.mark.asyncio
async def test_many_requests_that_are_refused_renew_once(
    configure: Configure, plugin: Callable[..., Any], home: Path
) -> None:
    async with FakeApi(allowed=bearer("t2")) as server:
        configure({"server": server.url}, plugin("time.sleep(0.3 * (runs > 1)); give(token=f't{runs}')"))
        api = KubeApi(await asyncio.to_thread(load_connection))
        await asyncio.gather(*(api.get("/version") for _ in range(20)))
        assert runs(home) == 2
        assert sum(request.authorization == "Bearer t2" for request in server.requests) == 20
        # also while a stream is open
        server.allowed = bearer("t3")
        async with api.stream("/api/v1/log") as stream:
            assert [chunk async for chunk in stream]
        await api.close()


@pytest.mark.asyncio
async def test_credentials_that_stay_refused_are_not_renewed_all_the_time(
    configure: Configure, plugin: Callable[..., Any], home: Path
) -> None:
    async with FakeApi(allowed=lambda request: False) as server:
        configure({"server": server.url}, plugin("give(token='always the same')"))
        api = KubeApi(await asyncio.to_thread(load_connection))
        for _ in range(5):
            with pytest.raises(ApiError) as caught:
                await api.get("/version")
            assert caught.value.status == 401
        assert runs(home) == 2
        assert len(server.requests) == 5
        await api.close()


@pytest.mark.asyncio
async def test_a_renewal_that_fails_says_why_and_is_tried_again(
    configure: Configure, plugin: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "sys.exit(4) if runs in (2, 3) else give(token=f't{runs}')"
    async with FakeApi(allowed=bearer("t4")) as server:
        configure({"server": server.url}, plugin(code))
        api = KubeApi(await asyncio.to_thread(load_connection))
        for _ in range(3):
            with pytest.raises(Unreachable, match="exit status 4"):
                await api.get("/version")
        assert runs(home) == 2  # a program that opens a browser must not be run all the time
        monkeypatch.setattr(pool, "monotonic", lambda: time.monotonic() + pool.RENEWAL_SECONDS)
        with pytest.raises(Unreachable, match="exit status 4"):
            await api.get("/version")
        monkeypatch.setattr(pool, "monotonic", lambda: time.monotonic() + 2 * pool.RENEWAL_SECONDS)
        await api.get("/version")
        assert runs(home) == 4
        await api.close()


@pytest.mark.asyncio
async def test_a_plugin_gives_certificates_and_new_ones_when_they_are_refused(
    configure: Configure, plugin: Callable[..., Any], home: Path, certificates: Certificates
) -> None:
    for run in (1, 2):
        chain, key = certificates.client(f"ann-{run}")
        (home / f"{run}.json").write_text(
            json.dumps({"clientCertificateData": chain.decode(), "clientKeyData": key.decode()})
        )
    async with FakeApi(certificates) as server:
        configure(cluster_of(server), plugin(f"give(**json.load(open({str(home)!r} + f'/{{runs}}.json')))"))
        api = KubeApi(await asyncio.to_thread(load_connection))
        async with api.watch("/api/v1/namespaces/lab/pods", {"resourceVersion": "0"}, silence=30) as events:
            await server.watched()
            server.allowed = lambda request: request.certificate == "ann-2"
            await api.get("/version")
            assert [request.certificate for request in server.requests] == ["ann-1", "ann-1", "ann-2"]
            # what was open under the old certificate goes on
            await server.put("p")
            assert (await anext(events))["object"]["metadata"]["name"] == "p"
        await api.get("/version")
        assert runs(home) == 2
        await api.close()


@pytest.mark.asyncio
async def test_a_server_with_a_new_authority_is_another_cluster(
    configure: Configure, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test cluster was created again: the new one must not answer requests about the old one's jobs."""
    (home / "new").mkdir()
    async with FakeApi(Certificates(home)) as server:
        configure(cluster_of(server))
        api = KubeApi(await asyncio.to_thread(load_connection))
        await api.get("/version")
        await server.stop()
        server.certificates = Certificates(home / "new")
        await server.start()
        with pytest.raises(Unreachable, match="not trusted"):
            await api.get("/version")
        (home / "ca.crt").write_bytes((home / "new/ca.crt").read_bytes())
        with pytest.raises(Unreachable, match="not trusted"):
            await api.get("/version")  # it has just been looked at
        monkeypatch.setattr(pool, "monotonic", lambda: time.monotonic() + pool.RENEWAL_SECONDS)
        with pytest.raises(Unreachable, match="there is another cluster now"):
            await api.get("/version")
        assert api.moved
        await api.use(await asyncio.to_thread(load_connection))
        assert not api.moved
        await api.get("/version")
        await api.close()


@pytest.mark.asyncio
async def test_a_kubeconfig_that_leads_elsewhere_is_not_followed(configure: Configure) -> None:
    async with FakeApi(allowed=bearer("two")) as server, FakeApi() as other:
        configure({"server": server.url}, {"token": "one"})
        api = KubeApi(await asyncio.to_thread(load_connection))
        configure({"server": other.url}, {"token": "two"})
        with pytest.raises(Unreachable, match="another cluster"):
            await api.get("/version")
        assert other.requests == []
        await api.close()


@pytest.mark.asyncio
async def test_a_token_file_is_read_again(configure: Configure, home: Path) -> None:
    (home / "token").write_text("one\n")
    async with FakeApi() as server:
        configure({"server": server.url}, {"tokenFile": "token", "token": "old copy"})
        api = KubeApi(await asyncio.to_thread(load_connection))
        await api.get("/version")
        (home / "token").write_text("two\n")
        server.allowed = bearer("two")
        await api.get("/version")
        assert [request.authorization for request in server.requests] == ["Bearer one", "Bearer one", "Bearer two"]
        assert api.connection.expires_at is not None
        await api.close()


# -- in a pod ---------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_pod_uses_its_service_account(
    pod: Callable[..., Path], certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeApi(certificates) as server:
        folder = pod(certificates, server.port)
        monkeypatch.setenv("T9K_NAMESPACE", "t9k-system")
        connection = load_connection()
        assert (connection.server, connection.in_cluster) == (server.url, True)
        assert (connection.namespace, connection.context) == ("project-a", None)
        api = KubeApi(connection)
        await api.get("/version")
        # the kubelet puts a new token there; the old one is used for a while, until it is refused
        (folder / "token").write_text("second\n")
        await api.get("/version")
        server.allowed = lambda request: request.authorization == "bearer second"
        await api.get("/version")
        tokens = [request.authorization for request in server.requests]
        assert tokens == ["bearer first", "bearer first", "bearer first", "bearer second"]
        await api.close()


@pytest.mark.asyncio
async def test_a_rotated_token_is_used_before_the_old_one_is_refused(
    pod: Callable[..., Path], certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "FILE_SECONDS", 0.0)
    async with FakeApi(certificates) as server:
        folder = pod(certificates, server.port)
        api = KubeApi(load_connection())
        await api.get("/version")
        (folder / "token").write_text("second")
        await api.get("/version")
        assert [request.authorization for request in server.requests] == ["bearer first", "bearer second"]
        # one connection for both: a new token is no reason to make another
        assert len({request.connection for request in server.requests}) == 1
        (folder / "token").unlink()
        with pytest.raises(Unreachable):
            await api.get("/version")
        await api.close()


def test_a_pod_without_its_environment_is_told_what_to_do(
    pod: Callable[..., Path], certificates: Certificates, configure: Configure
) -> None:
    pod(certificates, 443, host=None)
    assert "SSH" in str(nothing_to_load())
    with pytest.raises(NoCluster, match=r"KUBERNETES_SERVICE_HOST=kubernetes\.default\.svc"):
        load_connection()
    # a kubeconfig works there as everywhere
    configure({"server": "https://cluster.example"}, namespace=None)
    assert load_connection().server == "https://cluster.example"
    assert load_connection().namespace == "project-a"


def test_a_pod_whose_port_is_not_said(
    pod: Callable[..., Path], certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod(certificates, 443)
    monkeypatch.delenv("KUBERNETES_SERVICE_PORT")
    with pytest.raises(NoCluster, match="service account can't be used: Service host/port is not set"):
        load_connection()


@pytest.mark.parametrize(
    ("prefix", "namespace"),
    [
        ("/t9k/notebooks/projects/project-b/name/lab/", "project-b"),
        ("/notebook/project-b/lab", "project-b"),
        ("/user/ann/", "default"),
        ("/notebook/../lab", "default"),
        ("", "default"),
    ],
)
def test_the_namespace_is_known_from_the_notebooks_address(
    prefix: str, namespace: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NB_PREFIX", prefix)
    monkeypatch.setenv("T9K_NAMESPACE", "t9k-system")
    configure({"server": "https://cluster.example"}, namespace=None)
    assert load_connection().namespace == namespace


# -- proxies ----------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize("way", ["kubeconfig", "environment"])
async def test_a_proxy_is_used(way: str, configure: Configure, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeApi(Certificates(home, "cluster.example")) as server, FakeProxy(server.port, "ann:pa55") as proxy:
        cluster = {"server": "https://cluster.example:6443", "certificate-authority": "ca.crt"}
        address = f"http://ann:pa55@127.0.0.1:{proxy.port}"
        if way == "kubeconfig":
            configure({**cluster, "proxy-url": address})
        else:
            configure(cluster)
            monkeypatch.setenv("HTTPS_PROXY", address)
        assert "pa55" not in repr(load_connection())
        await ask()
        assert proxy.tunnels == ["cluster.example:6443"]
        assert len(server.requests) == 1
        proxy.password = "changed"
        with pytest.raises(
            Unreachable, match=r"proxy does not lead to the cluster at cluster\.example:6443: 407"
        ) as caught:
            await ask()
        assert "pa55" not in str(caught.value)


@pytest.mark.parametrize(
    ("server", "environment", "proxy"),
    [
        ("https://a.example", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://a.example", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://a.example", {"HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://p:2"}, None),
        ("http://a.example", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://localhost:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://127.8.0.1:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://[::1]:6443", {"HTTPS_PROXY": "http://p:1"}, None),
        *[
            ("https://api.a.example:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": rules}, expected)
            for rules, expected in {
                "a.example": None,
                ".a.example": None,
                "*.a.example": None,
                "API.A.Example": None,
                "x, a.example ,y": None,
                "*": None,
                "api.a.example:6443": None,
                "api.a.example:443": "http://p:1",
                ".api.a.example": "http://p:1",
                "aa.example": "http://p:1",
                "10.0.0.0/8": "http://p:1",
                "": "http://p:1",
                ",,": "http://p:1",
                "nonsense/99": "http://p:1",
            }.items()
        ],
        *[
            ("https://10.96.0.1:443", {"HTTPS_PROXY": "http://p:1", "no_proxy": rules}, expected)
            for rules, expected in {
                "10.96.0.1": None,
                "10.0.0.0/8": None,
                "10.96.0.1:443": None,
                "10.96.0.1:6443": "http://p:1",
                "192.168.0.0/16,fd00::/8": "http://p:1",
            }.items()
        ],
        ("https://[fd00::1]:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "fd00::/8"}, None),
        ("https://[fd00::1]:6443", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "[fd00::1]:6443"}, None),
    ],
)
def test_the_environments_proxies_are_meant_as_by_kubectl(
    server: str,
    environment: dict[str, str],
    proxy: str | None,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure({"server": server})
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert load_connection().proxy == proxy


def test_a_kubeconfigs_proxy_is_used_whatever_the_environment_says(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    configure({"server": "https://cluster.example", "proxy-url": "http://p:1"})
    assert load_connection().proxy == "http://p:1"
    configure({"server": "https://cluster.example", "proxy-url": "socks5://p:1"})
    with pytest.raises(NoCluster, match="pip install socksio"):
        load_connection()


# -- the package ------------------------------------------------------------------------------------------------------


def test_without_the_package_one_is_told_how_to_get_it(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    configure({"server": "https://cluster.example"}, {"username": "me", "password": SECRET})
    for name in [name for name in sys.modules if name.partition(".")[0] == "kubernetes"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(NoCluster, match="pip install 'jupyterlab_t9kjob\\[kubernetes\\]'"):
        load_connection()


def test_the_package_is_imported_only_for_a_cluster() -> None:
    code = (
        "import sys; from jupyterlab_t9kjob.engines.kubernetes.client.credentials import connection;"
        "import jupyterlab_t9kjob.engines.kubernetes.client.watch.informer;"
        "assert connection.nothing_to_load(); assert 'kubernetes' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
