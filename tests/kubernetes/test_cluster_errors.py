"""Failures that a cluster causes: each job has a reason and a hint.

All is made by the cluster itself: its admission, scheduler, kubelet and controllers. Only a node's life and a CSI
driver's answer are the tests' own, on nodes that are there for them alone and run nothing.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from jupyterlab_t9kjob.core.errors import JobError, NotAllowed, Unavailable
from jupyterlab_t9kjob.core.job import Job, Reason
from jupyterlab_t9kjob.core.spec import Device, JobSpec, Mount, Quantity, ReplicaSpec, Resources, RunPolicy, Runtime
from tests.kubernetes.engines import PLURALS, Bench, serving
from tests.kubernetes.harness import OUT_OF_MEMORY, Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

DONGLE, SLOT = "example.com/dongle", "example.com/slot"
MARK = "t9k-test"
UNBOUND = {
    "storageClassName": "none-such",
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
}
HOOK = """
import http.server, json, os, ssl
open("/tmp/pem", "w").write(os.environ["PEM"])
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        answer = {"uid": asked["uid"], "allowed": False, "status": {"message": "names begin with a team's"}}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("", 8443), Hook)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/tmp/pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""
REGISTRY = """
import http.server
class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=private")
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_HEAD = do_GET
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
print(server.server_port, flush=True)
server.serve_forever()
"""


def server(name: str, image: str, program: str, *, host: bool = False, **env: str) -> dict[str, Any]:
    """Describe a pod that runs a program of Python; `host` gives it the network of its node."""
    container = {
        "name": "server",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", program],
        "env": [{"name": key, "value": value} for key, value in env.items()],
    }
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, "hostNetwork": host}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec}


@pytest.fixture(scope="module")
def webhook(kube: Kube, image: str) -> Iterator[None]:
    """A webhook that agrees to nothing, and one that is not there: for what has the label `MARK`, in this namespace."""
    authority = trustme.CA()
    issued = authority.issue_cert(f"hook.{kube.namespace}.svc")
    kube.create("pods", server("hook", image, HOOK, PEM=issued.private_key_and_cert_chain_pem.bytes().decode()))
    ports = [{"port": 443, "targetPort": 8443}]
    kube.create("services", {"metadata": {"name": "hook"}, "spec": {"selector": {"app": "hook"}, "ports": ports}})
    ca = base64.b64encode(authority.cert_pem.bytes()).decode()
    kinds = {"": ["pods"], "batch.tensorstack.dev": ["pytorchtrainingjobs"], "kubeflow.org": ["pytorchjobs"]}
    hooks = [
        {
            "name": f"{label}.example.org",
            "clientConfig": {"service": {"namespace": kube.namespace, "name": service}, "caBundle": ca},
            "rules": [
                {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": resources}
                for group, resources in kinds.items()
            ],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": kube.namespace}},
            "objectSelector": {"matchLabels": {MARK: label}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 30,
        }
        for label, service in (("refuse", "hook"), ("down", "nowhere"))
    ]
    name = f"{MARK}-{kube.namespace}"
    kube.until("pods", "hook", lambda pod: pod and pod["status"].get("phase") == "Running")
    kube.create("validatingwebhookconfigurations", {"metadata": {"name": name}, "webhooks": hooks})

    def works() -> bool:
        """Return True if the API server already calls the webhook and the webhook answers."""
        container = {"name": "a", "image": image}
        pod = {"metadata": {"generateName": "try-", "labels": {MARK: "refuse"}}, "spec": {"containers": [container]}}
        try:
            kube.ask("POST", kube.path("pods"), pod, dryRun="All")
        except httpx.HTTPStatusError as error:
            return "denied the request" in error.response.text
        return False

    pause = threading.Event()
    while not works():
        pause.wait(0.3)
    yield
    kube.delete("validatingwebhookconfigurations", name)


class Nodes:
    """Nodes on which pods are placed and never begin: as long as they are alive they say so."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self.names: list[str] = []
        self._alive: set[str] = set()
        self._one = threading.Lock()
        self._ended = threading.Event()
        self._beat = threading.Thread(target=self._run, daemon=True)
        self._beat.start()

    def make(self, use: str) -> str:
        """Make one with two slots; only pods of `placed` go there."""
        name = f"{self._kube.namespace}-{use}"
        annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
        labels = {"kubernetes.io/hostname": name}
        taint = {"key": MARK, "value": use, "effect": "NoSchedule"}
        metadata = {"name": name, "labels": labels, "annotations": annotations}
        self._kube.create("nodes", {"metadata": metadata, "spec": {"taints": [taint]}})
        self.names.append(name)
        has = {"cpu": "8", "memory": "8Gi", "pods": "20", SLOT: "2"}
        self._kube.patch("nodes", name, {"status": {"capacity": has, "allocatable": has}}, "status")
        self._say(name, "True")
        self._alive.add(name)
        return name

    def lose(self, name: str) -> None:
        """Say that nothing is heard of it any more."""
        with self._one:
            self._alive.discard(name)
            self._say(name, "Unknown")

    def _say(self, name: str, ready: str) -> None:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        said = {"type": "Ready", "status": ready, "reason": "Test", "message": "said by a test"}
        times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
        self._kube.patch("nodes", name, {"status": {"conditions": [said | times]}}, "status")

    def _run(self) -> None:
        while not self._ended.wait(5):
            for name in list(self._alive):
                with self._one, contextlib.suppress(httpx.HTTPError):  # it is said again soon
                    if name in self._alive:
                        self._say(name, "True")

    def remove(self) -> None:
        self._ended.set()
        self._beat.join()
        for name in self.names:
            self._kube.delete("nodes", name)


@pytest.fixture(scope="module")
def nodes(kube: Kube) -> Iterator[Nodes]:
    nodes = Nodes(kube)
    yield nodes
    nodes.remove()


def placed(node: str) -> dict[str, Any]:
    """Return what puts a pod there, and lets it go as soon as the node is lost."""
    unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
    tolerations = [{"key": MARK, "operator": "Exists"}, unreachable | {"tolerationSeconds": 0}]
    return {"node_selector": {"kubernetes.io/hostname": node}, "tolerations": tolerations}


@pytest.fixture(scope="module")
def elsewhere(kube: Kube, nodes: Nodes, image: str) -> Iterator[dict[str, str]]:
    """A PVC that is attached to a node, and can be on one at a time; returns other nodes, by engine.

    The cluster tells of it once for each node.
    """
    there, here = nodes.make("there"), {engine: nodes.make(f"here-{engine}") for engine in PLURALS}
    volume = f"{kube.namespace}-single"

    def attachments() -> list[str]:
        found = kube.list("volumeattachments")
        return [one["metadata"]["name"] for one in found if one["spec"]["source"]["persistentVolumeName"] == volume]

    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "manual"}
    kube.create("persistentvolumes", {
        "metadata": {"name": volume},
        "spec": {
            **claim,
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "test.example.org", "volumeHandle": volume},
            "claimRef": {"namespace": kube.namespace, "name": "single"},
        },
    })  # fmt: skip
    asked = claim | {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume}
    kube.create("persistentvolumeclaims", {"metadata": {"name": "single"}, "spec": asked})
    kube.until("persistentvolumeclaims", "single", lambda pvc: pvc and pvc["status"].get("phase") == "Bound")
    mounted = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    source = {"name": "data", "persistentVolumeClaim": {"claimName": "single"}}
    spec = {"nodeName": there, "containers": [{"name": "a", "image": image, **mounted}], "volumes": [source]}
    kube.create("pods", {"metadata": {"name": "holder"}, "spec": spec | {"tolerations": [{"operator": "Exists"}]}})
    pause = threading.Event()
    while not (made := attachments()):
        pause.wait(0.3)
    kube.patch("volumeattachments", made[0], {"status": {"attached": True}}, "status")  # as the driver would
    yield here
    for kind in PLURALS.values():
        kube.ask("DELETE", kube.path(kind))
        kube.until_gone(kind)
    kube.ask("DELETE", kube.path("pods"), {"gracePeriodSeconds": 0})
    kube.until_gone("pods")
    for name in attachments():
        kube.delete("volumeattachments", name)
    kube.delete("persistentvolumes", volume)


@pytest.fixture(scope="module")
def registry(kube: Kube, image: str) -> str:
    """Return an image that a registry gives to nobody unknown."""
    kube.create("pods", server("registry", image, REGISTRY, host=True))
    kube.until("pods", "registry", lambda pod: pod and pod["status"].get("phase") == "Running")
    pause = threading.Event()
    while not (port := kube.log("registry").strip()).isdigit():
        pause.wait(0.3)
    return f"localhost:{port}/private/torch:1"


@dataclass(frozen=True)
class Case:
    """A job that something happens to, and what it says then: the beginnings of its reason's sentence and hint."""

    spec: JobSpec
    code: str
    sentence: str
    hint: str
    edit: Callable[[Any], None] | None = None


def of_pods(change: Callable[[dict[str, Any]], None]) -> Callable[[Any], None]:
    """Return what changes the pod templates of a manifest."""

    def edit(manifest: Any) -> None:
        spec = manifest["spec"]
        groups = spec.get("replicaSpecs") or list(spec["pytorchReplicaSpecs"].values())
        for group in groups:
            change(group["template"])

    return edit


def marked(label: str) -> Callable[[Any], None]:
    return of_pods(lambda template: template.setdefault("metadata", {}).setdefault("labels", {}).update({MARK: label}))


def with_scratch(template: dict[str, Any]) -> None:
    template["spec"].setdefault("volumes", []).append({"name": "scratch", "emptyDir": {"sizeLimit": "1Mi"}})
    mounts = template["spec"]["containers"][0].setdefault("volumeMounts", [])
    mounts.append({"name": "scratch", "mountPath": "/scratch"})


def asking(**resources: Any) -> dict[str, Any]:
    return {"replica_specs": [ReplicaSpec(resources=Resources(**resources))]}


def cases(bench: Bench, engine: str, slots: str, lost: str, elsewhere: dict[str, str], private: str) -> dict[str, Case]:
    def spec(name: str, program: str = "exec sleep 600", **fields: Any) -> JobSpec:
        return bench.spec(program, name=f"{name}-{engine}", **{"mounts": [], **fields})

    space = bench.kube.namespace
    little = Quantity(request="48Mi", limit="48Mi")
    return {
        "quota exceeded": Case(
            spec("quota", **asking(device=Device(name=DONGLE, count=4))),
            "QuotaExceeded",
            f"The quota dongles allows 1 {DONGLE}, 0 are used, and a replica needs 4",
            "Ask for less, or ask an administrator of the cluster for more.",
        ),
        "admission webhook refused": Case(
            spec("refused"),
            "WebhookDenied",
            "The cluster does not allow it: names begin with a team's",
            "That is a rule of this cluster, of its webhook refuse.example.org.",
            marked("refuse"),
        ),
        "webhook down": Case(
            spec("down"),
            "WebhookDown",
            "The webhook down.example.org, which has to agree to its pods, does not answer",
            "Its pods are tried again by themselves. An administrator of the cluster has to fix it if this does not",
            marked("down"),
        ),
        "image pull secrets missing": Case(
            spec("pull", runtime=Runtime(image=private, pull_policy="Always", pull_secrets=["nowhere"])),
            "NoPullSecret",
            f"The image can't be pulled: its pull secret nowhere is not in namespace {space}",
            "Create it, or name another pull secret: ",
        ),
        "volume not bound": Case(
            spec("unbound", mounts=[Mount(claim="unbound", mount_path="/data")]),
            "UnboundClaim",
            "The PVC unbound has no volume yet",
            "An administrator of the cluster can say why. The job starts by itself once it has one.",
        ),
        "volume attached elsewhere": Case(
            spec("attached", mounts=[Mount(claim="single", mount_path="/data")], scheduling=placed(elsewhere[engine])),
            "VolumeInUse",
            "The PVC single is attached to another node",
            "It can be on one node at a time: wait until the pod there ends, or use one that many can mount.",
        ),
        "node lost": Case(
            spec("lost", scheduling=placed(lost)),
            "NodeLost",
            f"Its pod was lost with its node {lost}",
            "The cluster keeps its pod until the node is back, or removed.",
        ),
        "out of memory": Case(
            spec("memory", OUT_OF_MEMORY, **asking(memory=little)),
            "OOMKilled",
            "The job was killed: out of memory",
            "Its memory limit is 48Mi. Give it more memory, or use smaller batches",
        ),
        "evicted": Case(
            spec("evicted", "head -c 8000000 /dev/zero > /scratch/large; exec sleep 600"),
            "StorageLimit",
            "The job was evicted from ",
            "Raise the limit, or write less there.",
            of_pods(with_scratch),
        ),
        "preempted": Case(
            spec("preempted", scheduling=placed(slots), **asking(device=Device(name=SLOT, count=1))),
            "Preempted",
            f"Its pod had to make room on {slots} for a more important pod",
            "Nothing is known to be wrong with the job itself.",
        ),
        "deadline": Case(
            spec("deadline", run_policy=RunPolicy(active_deadline_seconds=3)),
            "DeadlineExceeded",
            "Ended at its deadline of 3 s",
            "Give it a longer deadline, or none, and run it again.",
        ),
    }  # fmt: skip


async def test_each_has_a_reason_and_a_remedy(
    kube: Kube, image: str, tmp_path: Path, nodes: Nodes, elsewhere: dict[str, str], registry: str, webhook: None
) -> None:
    """All at once, with both kinds of jobs."""
    loop = asyncio.to_thread
    slots, lost = await loop(nodes.make, "slots"), await loop(nodes.make, "lost")
    await loop(limit_dongles, kube)
    await loop(kube.create, "persistentvolumeclaims", {"metadata": {"name": "unbound"}, "spec": UNBOUND})
    async with serving(kube, image, tmp_path) as bench:
        table = {
            (engine, name): case
            for engine in PLURALS
            for name, case in cases(bench, engine, slots, lost, elsewhere, registry).items()
        }
        jobs = {key: await bench.submit(key[0], case.spec, edit=case.edit) for key, case in table.items()}

        async def reason(key: tuple[str, str]) -> Reason | None:
            case = table[key]

            def said(seen: Job) -> bool:
                reason = seen.reason
                return reason is not None and reason.code == case.code and reason.sentence.startswith(case.sentence)

            return (await bench.until(jobs[key], said)).reason

        async def disturb() -> None:
            """Lose a node, and make a more important pod, as soon as both jobs have pods there."""
            for node in (slots, lost):
                await loop(
                    kube.until_all,
                    "pods",
                    lambda pods, node=node: [at(pod) for pod in pods].count(node) == len(PLURALS),
                )
            await loop(nodes.lose, lost)
            await loop(kube.create, "pods", important(kube, slots, image))

        *reasons, _ = await asyncio.gather(*map(reason, table), disturb())
    hints = {key: reason.hint or "" for key, reason in zip(table, reasons, strict=True)}
    assert {key: hint for key, hint in hints.items() if not hint.startswith(table[key].hint)} == {}


def limit_dongles(kube: Kube) -> None:
    quota = {"metadata": {"name": "dongles"}, "spec": {"hard": {f"requests.{DONGLE}": "1"}}}
    kube.create("resourcequotas", quota)
    kube.until("resourcequotas", "dongles", lambda one: one and one.get("status", {}).get("used"))


def at(pod: Any) -> str | None:
    return pod["spec"].get("nodeName")


@pytest.fixture(scope="module", autouse=True)
def important_class(kube: Kube) -> Iterator[None]:
    name = f"{kube.namespace}-important"
    kube.create("priorityclasses", {"metadata": {"name": name}, "value": 1000})
    yield
    kube.delete("priorityclasses", name)


def important(kube: Kube, node: str, image: str) -> dict[str, Any]:
    """Describe a pod that takes all slots of a node."""
    where = placed(node)
    amount = {SLOT: "2"}
    container = {"name": "a", "image": image, "resources": {"requests": amount, "limits": amount}}
    spec = {"priorityClassName": f"{kube.namespace}-important", "containers": [container]}
    spec |= {"nodeSelector": where["node_selector"], "tolerations": where["tolerations"]}
    return {"metadata": {"name": "important"}, "spec": spec}


REFUSED = {
    "refuse": (NotAllowed, "WebhookDenied", "names begin with a team's", "its webhook refuse.example.org"),
    "down": (Unavailable, "WebhookDown", "The webhook down.example.org", "Try again in a while. An administrator"),
}


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_what_is_refused_at_once_says_why(
    engine: str, kube: Kube, image: str, tmp_path: Path, webhook: None
) -> None:
    async with serving(kube, image, tmp_path) as bench:
        for label, (kind, code, words, hint) in REFUSED.items():
            with pytest.raises(JobError) as refused:
                await bench.submit(engine, bench.spec(labels={MARK: label}))
            error = refused.value
            assert (type(error), error.code) == (kind, code)
            assert words in error.message and hint in (error.hint or "")
            assert error.verbatim
