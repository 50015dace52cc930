"""Why a job is as it is, in the words that a real cluster leads to; and what a real API server refuses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError, JobError
from jupyterlab_t9kjob.core.job import Event, Reason
from jupyterlab_t9kjob.core.manifests import parse
from jupyterlab_t9kjob.core.manifests.names import PAUSED, STOPPED
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError
from jupyterlab_t9kjob.engines.kubernetes.objects.action_notes import mark
from jupyterlab_t9kjob.engines.kubernetes.objects.events import events_of
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from jupyterlab_t9kjob.engines.kubernetes.reasons.job import reason_of, refused
from tests.kubernetes.harness import OUT_OF_MEMORY, Kube
from tests.patience import PATIENCE

pytestmark = pytest.mark.cluster

T9K, KUBEFLOW = "pytorchtrainingjobs", "pytorchjobs"
KINDS: dict[str, JobKind] = {T9K: T9k(), KUBEFLOW: Kubeflow()}
DONGLE = "example.com/dongle"
"""A device that no node has, so that only the quota knows it."""


def template(image: str, script: str = "sleep 600", **more: Any) -> dict[str, Any]:
    pod = more.pop("pod", {})
    container = {"name": "pytorch", "image": image, "command": ["sh", "-c", script], **more}
    return {"spec": {"terminationGracePeriodSeconds": 1, "containers": [container], **pod}}


def t9k_job(name: str, pod: dict[str, Any], replicas: int = 1, **spec: Any) -> dict[str, Any]:
    group = {"type": "worker", "replicas": replicas, "restartPolicy": spec.pop("restart", "Never"), "template": pod}
    return {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": name},
        "spec": {"replicaSpecs": [group], **spec},
    }


def kubeflow_job(name: str, pod: dict[str, Any], workers: int = 0) -> dict[str, Any]:
    roles = {"Master": {"replicas": 1, "restartPolicy": "Never", "template": pod}}
    if workers:
        roles["Worker"] = {"replicas": workers, "restartPolicy": "Never", "template": pod}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": roles},
    }


def device(name: str, count: int) -> dict[str, Any]:
    return {"limits": {name: count}, "requests": {name: count}}


def mounted(volume: dict[str, Any]) -> dict[str, Any]:
    return {"volumeMounts": [{"name": "data", "mountPath": "/data"}], "pod": {"volumes": [{"name": "data", **volume}]}}


def secret(name: str) -> list[dict[str, Any]]:
    return [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "token"}}}]


def situations(image: str) -> Iterator[dict[str, Any]]:
    little = {"limits": {"memory": "48Mi"}, "requests": {"memory": "48Mi"}}
    claim = {"persistentVolumeClaim": {"claimName": "nowhere"}}
    yield t9k_job("gpus", template(image, resources=device("nvidia.com/gpu", 9000)))
    yield t9k_job("quota", template(image, resources=device(DONGLE, 4)), replicas=2)
    yield t9k_job("image", template("localhost:1/none:1"), replicas=2)
    yield t9k_job("memory", template(image, OUT_OF_MEMORY, resources=little))
    yield t9k_job("secret", template(image, env=secret("nosecret")))
    yield t9k_job("claim", template(image, **mounted(claim)))
    fails = "case $HOSTNAME in *-0) echo 'ValueError: bad' > /dev/termination-log; exit 1;; esac; sleep 600"
    yield t9k_job("code", template(image, fails), replicas=2)
    yield t9k_job("gone", template(image, "exit 3"), runPolicy={"cleanUpPolicy": "All"})
    yield t9k_job("again", template(image, "exit 1"), restart="OnFailure", runPolicy={"backoffLimit": 1})
    yield t9k_job("deadline", template(image), runPolicy={"activeDeadlineSeconds": 5})
    yield t9k_job("runs", template(image), replicas=2)
    yield t9k_job("asleep", template(image), runMode={"pause": {"enabled": True}})
    yield kubeflow_job("kf-gpus", template(image, resources=device("nvidia.com/gpu", 9000)))
    yield kubeflow_job("kf-quota", template(image, resources=device(DONGLE, 4)))
    yield kubeflow_job("kf-memory", template(image, OUT_OF_MEMORY, resources=little))
    yield kubeflow_job("kf-volume", template(image, **mounted({"secret": {"secretName": "nosecret"}})))
    yield kubeflow_job("kf-code", template(image, "exit 7"))


def plural(name: str) -> str:
    return KUBEFLOW if name.startswith("kf-") else T9K


@pytest.fixture(scope="module", autouse=True)
def jobs(kube: Kube, image: str, controller: object, kubeflow: None) -> None:
    """Make all at once; each test waits for its own."""
    kube.create("resourcequotas", {"metadata": {"name": "dongles"}, "spec": {"hard": {f"requests.{DONGLE}": "1"}}})
    kube.until("resourcequotas", "dongles", lambda quota: quota and quota.get("status", {}).get("used"))
    for job in situations(image):
        kube.create(plural(job["metadata"]["name"]), job)


def seen(kube: Kube, name: str, user: str | None = None) -> tuple[Reason, list[Event]]:
    kind = KINDS[plural(name)]
    job = kube.find(plural(name), name)
    assert job is not None
    pods = [pod for pod in kube.list("pods") if kind.owner_of(pod) == job["metadata"]["uid"]]
    uids = {each["metadata"]["uid"] for each in (job, *pods)}
    events = [event for event in kube.list("events") if event["involvedObject"].get("uid") in uids]
    state, places = kind.state(job, pods), kind.replicas(job, pods)
    reason = reason_of(job, parse(job).spec, state, places, events, now=time.time(), user=user)
    assert reason is not None
    return reason, events_of(events, places)


def until_reason(kube: Kube, name: str, code: str, sentence: str = "", user: str | None = None) -> Reason:
    """Look until the job has a reason that begins so: it comes from several objects, so there is no one to watch."""
    end = time.monotonic() + PATIENCE
    while True:
        reason, _ = seen(kube, name, user)
        if reason.code == code and reason.sentence.startswith(sentence):
            return reason
        assert time.monotonic() < end, reason
        time.sleep(0.5)


EXPECTED = {
    "gpus": ("Unschedulable", "Needs 9000 GPUs, but "),
    "quota": (
        "QuotaExceeded",
        f"All 2 replicas: The quota dongles allows 1 {DONGLE}, 0 are used, and a replica needs 4",
    ),
    "image": (
        "RegistryUnreachable",
        "All 2 replicas: The registry localhost:1 of image localhost:1/none:1 can't be reached from ",
    ),
    "memory": ("OOMKilled", "The job was killed: out of memory"),
    "secret": ("NoSecret", "There is no Secret nosecret in namespace "),
    "claim": ("NoSuchClaim", "There is no PVC nowhere in namespace "),
    "code": ("ExitCode", "worker-0 ended with exit code 1"),
    "gone": ("ExitCode", "The command ended with exit code 3"),
    "again": ("BackoffLimitExceeded", "The command ended with exit code 1"),
    "deadline": ("DeadlineExceeded", "Ended at its deadline of 5 s"),
    "runs": ("Started", "All 2 replicas are running"),
    "asleep": ("CreatedPaused", "Not started yet: it was submitted paused"),
    "kf-gpus": ("Unschedulable", "Needs 9000 GPUs, but "),
    "kf-quota": ("QuotaExceeded", f"The quota dongles allows 1 {DONGLE}, 0 are used, and a replica needs 4"),
    "kf-memory": ("OOMKilled", "The job was killed: out of memory"),
    "kf-volume": ("NoSecret", "There is no Secret nosecret in namespace "),
    "kf-code": ("ExitCode", "The command ended with exit code 7"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_reason(kube: Kube, name: str) -> None:
    until_reason(kube, name, *EXPECTED[name])


def test_a_pause_by_somebody_and_a_stop(kube: Kube) -> None:
    until_reason(kube, "runs", "Started")
    pause = {"spec": {"runMode": {"pause": {"enabled": True}}}}
    note = {"metadata": {"annotations": {PAUSED: mark("alice", time.time())}}}
    kube.patch(T9K, "runs", pause | note)
    until_reason(kube, "runs", "PausedByUser", "Paused by you", user="alice")
    assert seen(kube, "runs", user="bob")[0].sentence == "Paused by alice"
    kube.patch(T9K, "runs", {"metadata": {"annotations": {PAUSED: None, STOPPED: mark("bob", time.time())}}})
    until_reason(kube, "runs", "Stopped", "Stopped by bob after ", user="alice")


def test_a_pause_by_kubectl(kube: Kube, image: str) -> None:
    kube.create(T9K, t9k_job("kubectl", template(image)))
    until_reason(kube, "kubectl", "Started")
    kube.patch(T9K, "kubectl", {"spec": {"runMode": {"pause": {"enabled": True}}}})
    until_reason(kube, "kubectl", "Paused", "Paused from outside JupyterLab")


def test_events_of_the_job_and_its_pods(kube: Kube) -> None:
    until_reason(kube, "secret", "NoSecret")
    pod = next(pod for pod in kube.list("pods") if pod["metadata"]["name"].startswith("secret-"))
    kube.until_event(pod["metadata"]["name"], "Failed")
    _, events = seen(kube, "secret")
    failed = next(event for event in events if event.reason == "Failed")
    assert failed.replica == "worker-0"
    assert failed.object is not None and failed.object.startswith("Pod secret-")
    assert any(event.object == "PyTorchTrainingJob secret" for event in events)
    times = [event.time for event in events]
    assert times == sorted(times, reverse=True)


# -- refusals ----------------------------------------------------------------------------------------------------------


def refusal(kube: Kube, plural: str, job: dict[str, Any], path: str = "") -> JobError:
    with pytest.raises(httpx.HTTPStatusError) as caught:
        kube.ask("POST", path or kube.path(plural), job, fieldValidation="Strict")
    answer = caught.value.response
    body = answer.json() if "json" in answer.headers["Content-Type"] else {"message": answer.text}
    return refused(ApiError(answer.status_code, body), job)


def test_a_name_that_is_taken(kube: Kube, image: str) -> None:
    error = refusal(kube, T9K, t9k_job("gpus", template(image)))
    assert (type(error), error.field) == (Conflict, "/spec/name")


def test_an_unknown_field(kube: Kube, image: str) -> None:
    error = refusal(kube, T9K, t9k_job("wrong", template(image), torchrunConfig={"enable": True}))
    assert (type(error), error.field) == (FieldError, "/manifest/spec/torchrunConfig/enable")
    assert error.message == "This cluster does not know spec.torchrunConfig.enable."


def test_a_value_of_the_wrong_type(kube: Kube, image: str) -> None:
    error = refusal(kube, T9K, t9k_job("wrong", template(image), runPolicy={"backoffLimit": "three"}))
    assert (type(error), error.field) == (FieldError, "/spec/run_policy/backoff_limit")
    assert error.message == "spec.runPolicy.backoffLimit must be a whole number."


def test_a_webhook_that_does_not_agree(kube: Kube, image: str) -> None:
    job = kubeflow_job("wrong", template(image))
    job["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"] = 2
    error = refusal(kube, KUBEFLOW, job)
    assert (type(error), error.field) == (FieldError, "/spec/replica_specs/0/replicas")
    assert error.verbatim is not None and "denied the request" in error.verbatim


def test_a_namespace_that_is_not_there(kube: Kube, image: str) -> None:
    path = kube.path(T9K).replace(kube.namespace, "not-there-at-all")
    error = refusal(kube, T9K, t9k_job("lost", template(image)), path)
    assert (type(error), error.field) == (FieldError, "/namespace")


def test_a_kind_that_is_not_there(kube: Kube, image: str) -> None:
    path = kube.path(T9K).replace("batch.tensorstack.dev", "nobody.example.com")
    error = refusal(kube, T9K, t9k_job("lost", template(image)), path)
    assert (error.code, error.message) == ("NoSuchKind", "This cluster has no PyTorchTrainingJob.")
