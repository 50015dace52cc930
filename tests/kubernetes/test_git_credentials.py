"""Private git repositories as the code of real jobs: over https and ssh, with credentials from Secrets.

All jobs are submitted before the first one is waited for, so that they run beside each other. T9KJOB_GIT_SYNC may name
a program that takes the place of the stand-in for git-sync in the image, such as git-sync itself.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import NameOID

from tests.kubernetes import git_server
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.images import build_once, need_builder
from tests.kubernetes.test_code import output
from tests.kubernetes.test_lab_in_a_pod import forwarded
from tests.kubernetes.test_launch import form, small
from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]
SYNC, SERVER = Path(__file__).with_name("git_sync.py"), Path(git_server.__file__)
USERS = """root:x:0:0:root:/root:/bin/bash
sshd:x:100:65534::/run/sshd:/usr/sbin/nologin
git-sync:x:65533:65533::/tmp:/sbin/nologin
"""
PEM, OPENSSH = serialization.Encoding.PEM, serialization.Encoding.OpenSSH


def authority() -> trustme.CA:
    """Return a certificate authority whose key is always the same, because an image that trusts it is kept."""
    key = ec.derive_private_key(int(hashlib.sha256(b"t9kjob tests").hexdigest(), 16) % 2**250, ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "t9kjob tests")])
    public = key.public_key()
    builder = x509.CertificateBuilder(name, name, public, 1).add_extension(x509.BasicConstraints(True, 9), True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
    days = (datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2120, 1, 1, tzinfo=timezone.utc))
    certificate = builder.not_valid_before(days[0]).not_valid_after(days[1]).sign(key, hashes.SHA256())
    private = key.private_bytes(PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())
    return trustme.CA.from_pem(certificate.public_bytes(PEM), private)


@dataclass
class Key:
    """A pair of keys for ssh, in OpenSSH's formats; `host` is the server's public key."""

    private: str
    public: str
    host: str = ""


def ssh_key() -> Key:
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    public = key.public_key().public_bytes(OPENSSH, serialization.PublicFormat.OpenSSH)
    return Key(private.decode(), public.decode())


@pytest.fixture(scope="module")
def git_image(cluster: Kube) -> str:
    """Build an image with git, OpenSSH, the server and the stand-in for git-sync, unless there is one with the same."""
    need_builder()
    sync = Path(os.environ.get("T9KJOB_GIT_SYNC", SYNC))
    digest = hashlib.sha256(b"".join([sync.read_bytes(), SERVER.read_bytes(), USERS.encode()])).hexdigest()[:16]

    def content(folder: Path) -> list[str]:
        certificates, users = folder / "ca.pem", folder / "passwd"
        authority().cert_pem.write_to_path(str(certificates))
        users.write_text(USERS)
        users.chmod(0o666)  # As in git-sync's image: --add-user adds the user that it runs as.
        places = {sync: "git-sync", SERVER: "git_server.py", users: "etc/passwd"}
        places[certificates] = "etc/ssl/certs/ca-certificates.crt"
        return ["--copy", *(f"{here}:/{there}" for here, there in places.items())]

    return build_once(cluster, f"test.local/git-server:{digest}", content)


def secret(kube: Kube, name: str, **values: str) -> None:
    data = {key.replace("_pub", ".pub"): base64.b64encode(value.encode()).decode() for key, value in values.items()}
    kube.create("secrets", {"metadata": {"name": name}, "data": data})


@pytest.fixture(scope="module")
def keys(kube: Kube, git_image: str) -> Iterator[Key]:
    """Start the server as the Service `git`, and make the Secrets; give the user's key."""
    host, user, other = ssh_key(), ssh_key(), ssh_key()
    name = f"git.{kube.namespace}.svc"
    issued = authority().issue_cert(name, "127.0.0.1")
    pem = issued.private_key_pem.bytes() + b"".join(blob.bytes() for blob in issued.cert_chain_pems)
    files = {"tls.pem": pem.decode(), "host_key": host.private, "authorized_keys": user.public}
    secret(kube, "server", **files)
    container = {
        "name": "git",
        "image": git_image,
        "imagePullPolicy": "Never",
        "command": ["python3", "/git_server.py", "/etc/server"],
        "volumeMounts": [{"name": "files", "mountPath": "/etc/server"}],
        "readinessProbe": {"tcpSocket": {"port": 22}, "periodSeconds": 1},
    }
    spec = {"containers": [container], "volumes": [{"name": "files", "secret": {"secretName": "server"}}]}
    kube.create("pods", {"metadata": {"name": "git", "labels": {"app": "git"}}, "spec": spec})
    ports = [{"name": "https", "port": 443, "targetPort": 8443}, {"name": "ssh", "port": 22}]
    kube.create("services", {"metadata": {"name": "git"}, "spec": {"selector": {"app": "git"}, "ports": ports}})
    known, unknown = f"{name} {host.public}\n", f"{name} {other.public}\n"
    secret(kube, "password", username=git_server.USER, password=git_server.PASSWORD)
    secret(kube, "password-wrong", username=git_server.USER, password="no")
    secret(kube, "no-username", password=git_server.PASSWORD)
    secret(kube, "no-password", username=git_server.USER)
    secret(kube, "key", **{"ssh-privatekey": user.private, "known_hosts": known})
    secret(kube, "key-wrong", **{"ssh-privatekey": other.private, "known_hosts": known})
    secret(kube, "host-wrong", **{"ssh-privatekey": user.private, "known_hosts": unknown})
    secret(kube, "no-key", known_hosts=known)
    secret(kube, "no-hosts", **{"ssh-privatekey": user.private})
    kube.until("pods", "git", lambda pod: "True" in [
        each["status"] for each in (pod or {}).get("status", {}).get("conditions", []) if each["type"] == "Ready"
    ])  # fmt: skip
    user.host = host.public
    yield user


@pytest.fixture(scope="module")
def lab(start_lab: Callable[..., Lab], git_image: str) -> Lab:
    lab = start_lab(git_image=git_image, git_protocols=["https", "ssh"])
    lab.until_available("t9k", "kubeflow")
    return lab


def address(kube: Kube, protocol: str) -> str:
    host = f"git.{kube.namespace}.svc"
    return f"https://{host}/code.git" if protocol == "https" else f"root@{host}:/srv/repositories/code.git"


# Name: engine, protocol, Secret, changes of the spec; then part of the sentence and the reason's code, if it fails.
WORKS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "https-t9k": ("t9k", "https", "password", {}),
    "https-kubeflow": ("kubeflow", "https", "password", {}),
    "ssh-t9k": ("t9k", "ssh", "key", {"security": {"uid": 0, "gid": 0}}),
    "ssh-kubeflow": ("kubeflow", "ssh", "key", {"security": {"uid": 1234, "gid": 1234}}),
    "ssh-group": ("t9k", "ssh", "key", {"security": {"uid": 1234, "gid": 1234, "fs_group": 1234}}),
    "ssh-root-group": ("t9k", "ssh", "key", {"security": {"uid": 0, "gid": 0, "fs_group": 1234}}),
}
FAILS: dict[str, tuple[str, str | None, str, str]] = {
    "nobody": ("https", None, "CodeNotCloned", "Authentication failed for the repository"),
    "password-wrong": ("https", "password-wrong", "CodeNotCloned", "Authentication failed for the repository"),
    "key-wrong": ("ssh", "key-wrong", "CodeNotCloned", "Authentication failed for the repository"),
    "host-wrong": ("ssh", "host-wrong", "CodeNotCloned", "The host key of the repository"),
    "no-password": ("https", "no-password", "CodeNotCloned", "does not have the keys that the repository"),
    "no-key": ("ssh", "no-key", "CodeNotCloned", "does not have the keys that the repository"),
    "no-hosts": ("ssh", "no-hosts", "CodeNotCloned", "The host key of the repository"),
}
WAITS: dict[str, tuple[str, str, str]] = {
    "no-username": ("https", "no-username", "The Secret no-username has no key username"),
    "no-secret-https": ("https", "gone", "There is no Secret gone in namespace"),
    "no-secret-ssh": ("ssh", "gone", "There is no Secret gone in namespace"),
}


@pytest.fixture(scope="module")
def jobs(kube: Kube, lab: Lab, keys: Key, git_image: str, volume: Volume) -> dict[str, str]:
    """Submit all jobs; give their ids by name."""
    (volume.path / "train.py").write_text("")
    plain = {engine: form(lab, "train.py", engine)["spec"] for engine in ("t9k", "kubeflow")}
    wanted = {
        **{name: (engine, protocol, used, changes) for name, (engine, protocol, used, changes) in WORKS.items()},
        **{
            name: ("t9k", protocol, used, {"security": {"uid": 0}})
            for name, (protocol, used, *_) in {**FAILS, **WAITS}.items()
        },
    }
    ids = {}
    for name, (engine, protocol, used, changes) in wanted.items():
        spec = small(plain[engine], git_image, torchrun=None, name=name, env=[], **changes)
        spec |= {"working_dir": None, "entrypoint": {"kind": "script", "value": "train.py"}}
        spec["source"] = {"kind": "git", "address": address(kube, protocol), "secret": used, "submodules": True}
        answer = lab.ask("POST", "jobs", body={"engine": engine, "spec": spec, "request_id": f"credentials-{name}"})
        assert answer.status == 201, answer.body
        ids[name] = answer.json["id"]
    return ids


@pytest.mark.parametrize("name", WORKS)
def test_a_private_repository_with_a_private_submodule(name: str, lab: Lab, jobs: dict[str, str]) -> None:
    job = lab.until(jobs[name], lambda job: job["phase"] in ("Succeeded", "Failed"))
    assert job["phase"] == "Succeeded", str(job["reason"])
    assert output(lab, job["id"]) == "first part\n"
    assert git_server.PASSWORD not in str(lab.ask("GET", "jobs", job["id"], "manifest").json)


@pytest.mark.parametrize("name", FAILS)
def test_credentials_that_are_refused(name: str, lab: Lab, jobs: dict[str, str]) -> None:
    job = lab.until(jobs[name], lambda job: job["phase"] in ("Succeeded", "Failed"))
    _protocol, _used, code, words = FAILS[name]
    reason = job["reason"]
    assert (reason["code"], words in reason["sentence"]) == (code, True), str(reason)
    assert reason["hint"] and git_server.PASSWORD not in str(reason)


@pytest.mark.parametrize("name", WAITS)
def test_a_secret_that_is_missing(name: str, lab: Lab, jobs: dict[str, str]) -> None:
    """The job waits; it runs once the Secret is there, so its reason names the Secret."""
    job = lab.until(jobs[name], lambda job: WAITS[name][2] in (job["reason"] or {}).get("sentence", ""))
    assert job["phase"] == "Pending" and "starts by itself; or name another Secret under Code" in job["reason"]["hint"]


def test_a_key_that_is_added_to_the_secret(lab: Lab, jobs: dict[str, str], kube: Kube) -> None:
    """The waiting job starts by itself, as its reason says."""
    lab.until(jobs["no-username"], lambda job: (job["reason"] or {}).get("code") == "NoSecretKey")
    kube.patch("secrets", "no-username", {"stringData": {"username": git_server.USER}})
    job = lab.until(jobs["no-username"], lambda job: job["phase"] in ("Succeeded", "Failed"))
    assert job["phase"] == "Succeeded", str(job["reason"])
    kube.patch("secrets", "no-username", {"data": {"username": None}})  # for a repeated test


@dataclass
class Ssh:
    """The user's ssh on this machine: its configuration, known hosts, agent and keys."""

    folder: Path
    agent: Path

    def write(self, *options: str, known: str = "", key: str = "") -> None:
        """Write the configuration that counts from now on."""
        (self.folder / "known_hosts").write_text(known)
        (self.folder / "key").write_text(key)
        (self.folder / "key").chmod(0o600)
        files = [f"UserKnownHostsFile {self.folder}/known_hosts", "GlobalKnownHostsFile /dev/null"]
        (self.folder / "config").write_text("\n".join([*files, "IdentitiesOnly no", *options, ""]))


@pytest.fixture
def ssh(tmp_path: Path, keys: Key) -> Iterator[Ssh]:
    """Start an agent that holds the user's key."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("cluster: OpenSSH is not installed on this machine")
    ssh = Ssh(tmp_path, tmp_path / "agent")
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", ssh.agent], stdout=subprocess.PIPE)
    assert agent.stdout is not None and agent.stdout.readline()
    environment = {**os.environ, "SSH_AUTH_SOCK": str(ssh.agent)}
    subprocess.run(["ssh-add", "-q", "-"], input=keys.private.encode(), env=environment, check=True)
    yield ssh
    agent.terminate()
    agent.wait(30)
    agent.stdout.close()


def test_ssh_on_this_machine(kube: Kube, keys: Key, ssh: Ssh, tmp_path: Path) -> None:
    """A local job clones with the user's agent. A question of ssh has no answer: the submission is refused at once."""
    with forwarded(kube, tmp_path / "port-forward.log", "git", 22) as port:
        environment = {"GIT_SSH_COMMAND": f"ssh -F {tmp_path}/config", "SSH_AUTH_SOCK": str(ssh.agent)}
        lab = Lab(tmp_path / "lab", environment=environment)
        lab.start()
        known = f"[127.0.0.1]:{port} {keys.host}\n"
        try:
            spec = lab.spec("print()", "local")
            spec["entrypoint"]["value"] = "train.py"
            address = f"ssh://root@127.0.0.1:{port}/srv/repositories/code.git"
            spec["source"] = {"kind": "git", "address": address, "submodules": True}
            agent = f"IdentityAgent {ssh.agent}"
            protection = serialization.BestAvailableEncryption(b"a passphrase")
            key = ec.generate_private_key(ec.SECP256R1())
            locked = key.private_bytes(PEM, serialization.PrivateFormat.TraditionalOpenSSL, protection).decode()
            for number, (code, options, files) in enumerate([
                ("HostKeyUnknown", [agent], {}),
                ("AuthenticationFailed", ["IdentityAgent none", f"IdentityFile {tmp_path}/key"], {"key": locked}),
                ("AuthenticationFailed", ["IdentityAgent none", "PreferredAuthentications password"], {}),
            ]):  # fmt: skip
                ssh.write(*options, **({"known": known} if code != "HostKeyUnknown" else {}), **files)
                answer = lab.submit(spec, f"refused-{number}")
                assert (answer.status, answer.json["code"]) == (422, code), answer.body
            ssh.write(agent, known=known)
            job = lab.until(
                lab.submit(spec, "request-ssh").json["id"], lambda job: job["phase"] in ("Succeeded", "Failed")
            )
            assert job["phase"] == "Succeeded", str(job["reason"])
            assert output(lab, job["id"]) == "first part\n"
        finally:
            lab.kill()
