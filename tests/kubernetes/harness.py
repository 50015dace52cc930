"""Helpers of the cluster tests: a client that waits for states, volumes, the controller's process."""

from __future__ import annotations

import fnmatch
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.kubernetes.controller.api import Object, connect
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]

GROUPS = {
    "pytorchtrainingjobs": "/apis/batch.tensorstack.dev/v1beta1",
    "tensorboards": "/apis/tensorstack.dev/v1beta1",
    "pytorchjobs": "/apis/kubeflow.org/v1",
    "jobsets": "/apis/jobset.x-k8s.io/v1alpha2",
    "trainjobs": "/apis/trainer.kubeflow.org/v1alpha1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "runtimeclasses": "/apis/node.k8s.io/v1",
    "jobs": "/apis/batch/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "priorityclasses": "/apis/scheduling.k8s.io/v1",
    "validatingwebhookconfigurations": "/apis/admissionregistration.k8s.io/v1",
    "volumeattachments": "/apis/storage.k8s.io/v1",
}
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
STORAGE_CLASS = "manual"
NO_WEBHOOK = "failed calling webhook"
# A shell program. containerd listens for this only after the container has begun and until it ends, and takes news from
# before or after for an ordinary end (with cgroup v1): so there is news for some seconds, and a second after the last.
OUT_OF_MEMORY = "for i in 1 2 3 4 5; do tail /dev/zero; code=$?; sleep 1; done; exit $code"
Right = tuple[str, str, str]
"""Verb, group and resource."""
CLUSTER_WIDE = (
    "namespaces",
    "nodes",
    "persistentvolumes",
    "customresourcedefinitions",
    "clusterroles",
    "clusterrolebindings",
    "runtimeclasses",
    "priorityclasses",
    "validatingwebhookconfigurations",
    "volumeattachments",
)


def files_in(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the files of a folder and of those in it; some may go meanwhile, at which `rglob` gives up."""
    return [Path(place, name) for place, _, names in os.walk(folder) for name in fnmatch.filter(names, pattern)]


class Kube:
    """A client with the rights of the kubeconfig, for one namespace; blocking: async tests use `asyncio.to_thread`.

    Parameters
    ----------
    kubeconfig
        The file; its namespace is replaced by `namespace` in a copy, `Kube.kubeconfig`.
    namespace
        Where things are looked for and made.
    folder
        Gets the copy.
    """

    def __init__(self, kubeconfig: Path, namespace: str, folder: Path) -> None:
        self.namespace = namespace
        self.kubeconfig = folder / f"kubeconfig-{namespace}"
        config = yaml.safe_load(kubeconfig.read_text())
        context = next(each for each in config["contexts"] if each["name"] == config["current-context"])
        context["context"]["namespace"] = namespace
        self.kubeconfig.write_text(json.dumps(config))
        self.kubeconfig.chmod(0o600)
        self._client = httpx.Client(**connect(str(kubeconfig), "t9kjob-tests"), timeout=PATIENCE)

    def close(self) -> None:
        self._client.close()

    # -- by path ------------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Any = None, *, patch: str = "merge", **query: Any) -> Any:
        """Ask for a path; raises httpx.HTTPStatusError, with the server's words, where it refuses."""
        kind = f"application/{patch}-patch+json" if method == "PATCH" else "application/json"
        content = None if body is None else json.dumps(body)
        headers, end = {"Content-Type": kind}, time.monotonic() + PATIENCE
        while True:
            answer = self._client.request(method, path, content=content, params=query, headers=headers)
            # so it is while the API server begins to keep a kind, or a loaded machine's webhook does not answer
            later = answer.status_code == 429 or NO_WEBHOOK in answer.text[:1000]
            if not (answer.is_error and later) or time.monotonic() > end:
                break
            time.sleep(1)
        if answer.is_error:
            words = f"{method} {path}: {answer.status_code} {answer.text}"
            raise httpx.HTTPStatusError(words, request=answer.request, response=answer)
        return answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text

    def path(self, kind: str, name: str = "", part: str = "") -> str:
        """Make the path of a kind by its plural; a namespaced one is in this namespace."""
        where = "" if kind in CLUSTER_WIDE else f"/namespaces/{self.namespace}"
        return "/".join(filter(None, [GROUPS.get(kind, "/api/v1") + where, kind, name, part]))

    def knows(self, kind: str) -> bool:
        """Return True if the cluster has a kind."""
        try:
            kinds = self.ask("GET", GROUPS.get(kind, "/api/v1"))["resources"]
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                return False
            raise
        return any(each["name"] == kind for each in kinds)

    # -- by kind and name ---------------------------------------------------------------------------------------------

    def find(self, kind: str, name: str) -> Object | None:
        try:
            return self.ask("GET", self.path(kind, name))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 404:
                return None
            raise

    def list(self, kind: str, labels: str = "", fields: str = "") -> list[Object]:
        query = {key: value for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}
        return self.ask("GET", self.path(kind), **query)["items"]

    def create(self, kind: str, body: Object) -> Object:
        """Create an object; a pod of this name is replaced, which a test left that is repeated now."""
        try:
            return self.ask("POST", self.path(kind), body)
        except httpx.HTTPStatusError as error:
            if kind != "pods" or error.response.status_code != 409:
                raise
        name = body["metadata"]["name"]
        self.delete(kind, name, gracePeriodSeconds=0)
        self.until(kind, name, lambda pod: pod is None)
        return self.ask("POST", self.path(kind), body)

    def patch(self, kind: str, name: str, body: Any, part: str = "") -> Object:
        return self.ask("PATCH", self.path(kind, name, part), body, patch="json" if isinstance(body, list) else "merge")

    def delete(self, kind: str, name: str, **options: Any) -> None:
        """Delete an object; one that is gone by then is as good."""
        try:
            self.ask("DELETE", self.path(kind, name), options)
        except httpx.HTTPStatusError as error:
            if error.response.status_code != 404:
                raise

    def choose(self, **choices: str) -> None:
        """Annotate the namespace for the controller: ``choose(task_list="status")``."""
        notes = {f"controller.test/{key.replace('_', '-')}": value for key, value in choices.items()}
        self.patch("namespaces", self.namespace, {"metadata": {"annotations": notes}})

    def account(self, name: str) -> str:
        """Return the user that a service account of the namespace is."""
        return f"system:serviceaccount:{self.namespace}:{name}"

    def may(self, user: str, verb: str, group: str, resource: str, *, everywhere: bool = False) -> bool:
        """Return True if a user has a right in the namespace, or everywhere; `resource` may be ``pods/log``."""
        name, _, part = resource.partition("/")
        asked = {
            "namespace": "" if everywhere else self.namespace,
            "verb": verb,
            "group": group,
            "resource": name,
            "subresource": part,
        }
        review = {"spec": {"user": user, "resourceAttributes": asked}}
        return self.ask("POST", f"{AUTHORIZATION}/subjectaccessreviews", review)["status"]["allowed"]

    def until_may(
        self, user: str, rights: dict[Right, bool], seconds: float = PATIENCE, *, everywhere: bool = False
    ) -> None:
        """Wait until a user has these rights, or has not: who decides on requests hears of roles after a moment."""
        end = time.monotonic() + seconds
        while wrong := [
            right for right, held in rights.items() if self.may(user, *right, everywhere=everywhere) != held
        ]:
            assert time.monotonic() < end, f"{user}: {wrong}"

    def log(self, pod: str, **query: Any) -> str:
        return self._client.get(self.path("pods", pod, "log"), params=query).text

    def apply(self, manifest: str | Path | Object) -> str:
        """Run `kubectl apply` on a file, a text or an object; returns what it prints."""
        if isinstance(manifest, dict):
            manifest = json.dumps(manifest)
        text = manifest.read_text() if isinstance(manifest, Path) else manifest
        return self.kubectl("apply", "-f", "-", text=text)

    def command(self, *arguments: str) -> list[str]:
        """Return the words that run the kubectl of T9KJOB_KUBECTL (words), or the one that is found."""
        found = shlex.split(os.environ.get("T9KJOB_KUBECTL", "kubectl"))
        return [*found, "--kubeconfig", str(self.kubeconfig), *arguments]

    def kubectl(self, *arguments: str, text: str | None = None) -> str:
        """Run kubectl, again while a webhook does not answer; returns what it prints."""
        end = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(self.command(*arguments), input=text, text=True, capture_output=True)
            if NO_WEBHOOK not in done.stderr or time.monotonic() > end:
                break
            time.sleep(1)
        assert done.returncode == 0, f"kubectl {shlex.join(arguments)}: {done.stderr}"
        return done.stdout

    def write(self, pod: str, path: str, text: str = "", *, container: str = "") -> None:
        """Write a file in a container, which waits for it, and may end before this has: then this is killed with it."""
        chosen = ["-c", container] if container else []
        words = self.command("exec", pod, *chosen, "--", "sh", "-c", f"printf %s {shlex.quote(text)} > {path}")
        done = subprocess.run(words, text=True, capture_output=True)
        assert done.returncode in (0, 137), done.stderr

    # -- waiting ------------------------------------------------------------------------------------------------------

    def until(
        self,
        kind: str,
        name: str,
        reached: Callable[[Object | None], Any],
        seconds: float = PATIENCE,
        *,
        since: str = "",
    ) -> Any:
        """Watch one object until it is as wanted; `reached` gets None while it is not there. Returns the object."""
        found = self.until_all(
            kind, lambda items: reached(items[0] if items else None), seconds, name=name, since=since
        )
        return found[0] if found else None

    def until_all(
        self,
        kind: str,
        reached: Callable[[list[Object]], Any],
        seconds: float = PATIENCE,
        *,
        name: str = "",
        labels: str = "",
        since: str = "",
    ) -> list[Object]:
        """Watch the objects of a kind, those with the labels or the one of that name, until all are as wanted.

        What has changed since a `version` counts as well, with `since`: for states that do not last.
        """
        query = {"labelSelector": labels} if labels else {"fieldSelector": f"metadata.name={name}"} if name else {}
        end = time.monotonic() + seconds
        while True:
            seen: dict[str, Object] = {}
            version, since = since, ""
            if not version:
                listed = self.ask("GET", self.path(kind), **query)
                version = listed["metadata"]["resourceVersion"]
                seen = {item["metadata"]["uid"]: item for item in listed["items"]}
                if reached(list(seen.values())):
                    return list(seen.values())
                if time.monotonic() > end:
                    break
            for gone, item in self._changes(kind, query, version, end):
                seen[item["metadata"]["uid"]] = item
                if gone:
                    del seen[item["metadata"]["uid"]]
                if reached(list(seen.values())):
                    return list(seen.values())
        told = [(item["metadata"]["name"], item.get("status")) for item in seen.values()]
        events = [event["message"] for event in self.list("events")]
        raise AssertionError(f"{kind} {name}{labels}: not as wanted after {seconds} s: {told}; events: {events}")

    def version(self, kind: str) -> str:
        """Return where a watch begins that is to miss nothing from now on."""
        return self.ask("GET", self.path(kind), limit=1)["metadata"]["resourceVersion"]

    def rows(self, kind: str, version: str, seconds: float = PATIENCE) -> Iterator[tuple[list[Any], Object]]:
        """Watch a kind as kubectl prints it: yield the columns and the object at every change since a version."""
        end = time.monotonic() + seconds
        table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        while (left := end - time.monotonic()) > 0:
            query = {
                "watch": "1",
                "includeObject": "Object",
                "timeoutSeconds": str(int(left) + 1),
                "resourceVersion": version,
            }
            try:
                with self._client.stream("GET", self.path(kind), params=query, headers=table, timeout=90) as answer:
                    for line in answer.iter_lines():
                        for row in json.loads(line)["object"].get("rows", []):
                            yield row["cells"], row["object"]
            except httpx.TransportError:
                time.sleep(0.5)

    def _changes(self, kind: str, query: Object, version: str, end: float) -> Iterator[tuple[bool, Object]]:
        left = min(60, max(1, int(end - time.monotonic())))
        options = {**query, "watch": "1", "resourceVersion": version, "timeoutSeconds": str(left)}
        try:
            with self._client.stream("GET", self.path(kind), params=options, timeout=90) as answer:
                for line in answer.iter_lines():
                    event = {"type": "ERROR"} if answer.is_error else json.loads(line)
                    if event["type"] == "ERROR":
                        return
                    yield event["type"] == "DELETED", event["object"]
        except httpx.TransportError:  # the one who asked is still waiting
            time.sleep(0.5)

    def until_gone(
        self, kind: str, *, name: str = "", labels: str = "", left: int = 0, seconds: float = PATIENCE
    ) -> None:
        """Wait until no more than so many are there."""
        self.until_all(kind, lambda items: len(items) <= left, seconds, name=name, labels=labels)

    def until_rotated(self, pod: str, first: int, seconds: float = PATIENCE) -> None:
        """Wait until the node no longer gives the first of a log's numbered lines; nobody announces it."""
        beginning = f"{first} "
        end = time.monotonic() + seconds
        # what a node says while it exchanges the files is no number
        while (given := self.log(pod, limitBytes=len(beginning))) == beginning or not given[:1].isdigit():
            assert time.monotonic() < end, given
            time.sleep(0.5)

    def until_event(self, about: str, reason: str, text: str = "", seconds: float = PATIENCE) -> Object:
        """Wait for an event about an object of that name; `text` is in its message."""

        def fits(event: Object) -> bool:
            named = event["involvedObject"]["name"] == about and event["reason"] == reason
            return named and text in event.get("message", "")

        events = self.until_all("events", lambda items: any(map(fits, items)), seconds)
        return next(filter(fits, events))

    def until_phase(self, name: str, *phases: str, seconds: float = PATIENCE, since: str = "") -> Object:
        """Wait for a phase of a PyTorchTrainingJob."""

        def reached(job: Object | None) -> bool:
            return (job or {}).get("status", {}).get("phase") in phases

        return self.until("pytorchtrainingjobs", name, reached, seconds, since=since)

    def until_condition(self, name: str, *types: str, seconds: float = PATIENCE) -> Object:
        """Wait until one of these conditions of a PyTorchJob is True."""

        def reached(job: Object | None) -> bool:
            conditions = (job or {}).get("status", {}).get("conditions", [])
            return any(each["type"] in types and each["status"] == "True" for each in conditions)

        return self.until("pytorchjobs", name, reached, seconds)


@dataclass(frozen=True)
class Volume:
    """A PVC and the folder of this machine that it is.

    Attributes
    ----------
    claim
        Its name.
    path
        Where tests, and labs outside pods, read and write its files.
    """

    claim: str
    path: Path


class Volumes:
    """Makes hostPath volumes for one namespace.

    Parameters
    ----------
    kube
        The namespace.
    folder
        Shared by this machine and the nodes, at the same path.
    """

    def __init__(self, kube: Kube, folder: Path) -> None:
        self._kube, self._folder = kube, folder / kube.namespace
        self._made: list[str] = []

    def make(self, claim: str, mode: str = "ReadWriteMany") -> Volume:
        volume = self.offer(claim, mode)
        spec = {"accessModes": [mode], "storageClassName": STORAGE_CLASS, "resources": {"requests": {"storage": "1Gi"}}}
        self._kube.create("persistentvolumeclaims", {"metadata": {"name": claim}, "spec": spec})
        self._kube.until(
            "persistentvolumeclaims", claim, lambda pvc: pvc and pvc.get("status", {}).get("phase") == "Bound"
        )
        return volume

    def offer(self, claim: str, mode: str = "ReadWriteMany") -> Volume:
        """Make what a PVC of this name and of `STORAGE_CLASS` will be bound to."""
        path = self._folder / claim
        path.mkdir(parents=True)
        path.chmod(0o777)
        name = f"{self._kube.namespace}-{claim}"
        self._kube.create("persistentvolumes", {
            "metadata": {"name": name},
            "spec": {
                "accessModes": [mode],
                "storageClassName": STORAGE_CLASS,
                "capacity": {"storage": "10Gi"},
                "hostPath": {"path": str(path)},
                "claimRef": {"namespace": self._kube.namespace, "name": claim},
            },
        })  # fmt: skip
        self._made.append(name)
        return Volume(claim, path)

    def remove(self) -> None:
        for name in self._made:
            self._kube.delete("persistentvolumes", name)
        shutil.rmtree(self._folder, ignore_errors=True)


class ControllerProcess:
    """A controller of PyTorchTrainingJobs of this session's own, which waits while another one works in the cluster.

    Parameters
    ----------
    kube
        The cluster.
    log
        File that gets what it says.
    """

    def __init__(self, kube: Kube, log: Path) -> None:
        self._kube, self._log = kube, log
        self._process: subprocess.Popen[str] | None = None

    def ensure(self) -> None:
        """See that one works, and that another goes on if that one's session ends."""
        if self._works() and self._installed():
            self._begin("--install", "none")
        else:
            self.start()

    def start(self, dialect: str = "") -> None:
        """Start our own in place of whichever works, with the CRDs of a dialect if one is named; it works on return."""
        self.stop()
        install = dialect or ("none" if self._installed() else "current")
        process = self._begin("--take-over", "--install", install)
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        assert ready and process.stdout.readline() == "working\n", self._log.read_text()[-3000:]

    restart = start

    def _begin(self, *options: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.kubernetes.controller", *options]
        environment = {**os.environ, "KUBECONFIG": str(self._kube.kubeconfig)}
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        return self._process

    def stop(self) -> None:
        """End our own; where others wait, one of them goes on. One that is not ours is left alone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.communicate(timeout=PATIENCE)
            self._process = None

    def _works(self) -> bool:
        lease = self._kube.find("leases", "t9k-test-controller")
        if lease is None or not lease["spec"].get("holderIdentity"):
            return False
        renewed = datetime.fromisoformat(lease["spec"]["renewTime"].replace("Z", "+00:00"))
        return datetime.now(timezone.utc) < renewed + timedelta(seconds=lease["spec"]["leaseDurationSeconds"])

    def _installed(self) -> bool:
        return self._kube.find("customresourcedefinitions", "pytorchtrainingjobs.batch.tensorstack.dev") is not None
