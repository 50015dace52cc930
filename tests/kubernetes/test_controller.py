"""The controller of PyTorchTrainingJobs that stands in for T9k's does what T9k's documents say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.kubernetes.harness import ControllerProcess, Kube

pytestmark = pytest.mark.cluster

Submit = Callable[..., None]


@pytest.fixture
def submit(kube: Kube, image: str, controller: ControllerProcess) -> Submit:
    """Apply a job whose replica types run shell lines: ``submit("name", {"worker": (2, "exit 0")})``."""

    def go(name: str, types: dict[str, tuple[int, str]], policy: str = "Never", notes: Any = None, **spec: Any) -> None:
        kinds = [
            {
                "type": type_,
                "replicas": replicas,
                "restartPolicy": policy,
                "template": {
                    "spec": {
                        "terminationGracePeriodSeconds": 0,
                        "containers": [{"name": "main", "image": image, "command": ["sh", "-c"], "args": [line]}],
                    }
                },
            }
            for type_, (replicas, line) in types.items()
        ]
        kube.apply({
            "apiVersion": "batch.tensorstack.dev/v1beta1",
            "kind": "PyTorchTrainingJob",
            "metadata": {"name": name, "annotations": {f"controller.test/{k}": v for k, v in (notes or {}).items()}},
            "spec": {"replicaSpecs": kinds, **spec},
        })  # fmt: skip

    return go


def pods(kube: Kube, job: str) -> list[dict[str, Any]]:
    return kube.list("pods", labels=f"tensorstack.dev/owner-name={job}")


def conditions(job: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in job["status"]["conditions"]}


def test_types_ranks_and_labels(kube: Kube, submit: Submit) -> None:
    line = "echo $RANK/$WORLD_SIZE $MASTER_ADDR; until getent hosts $MASTER_ADDR; do sleep 0.2; done"
    submit("types", {"ps": (1, line), "worker": (2, line)})
    job = kube.until_phase("types", "Succeeded", "Failed")
    assert job["status"]["phase"] == "Succeeded"
    replicas = [(task["type"], each) for task in job["status"]["tasks"] for each in task["replicas"]]
    assert [type_ for type_, _ in replicas] == ["ps", "worker", "worker"]
    master = replicas[0][1]["name"]
    for rank, (type_, replica) in enumerate(replicas):
        labels = kube.find("pods", replica["name"])["metadata"]["labels"]
        assert labels["replica-type"] == type_
        assert ("job-role" in labels) == (rank == 0)
        infix = master.split("-")[1]
        assert len(infix) == 5 and replica["name"] == f"types-{infix}-{type_}-{labels['replica-index']}"
    assert kube.log(master).startswith(f"0/3 {master}.")
    assert conditions(job)["Completed"] == ("True", "Succeeded")
    assert conditions(job)["Failed"] == ("False", "Succeeded")
    assert {event["reason"] for event in kube.list("events", fields="involvedObject.name=types")} == {
        "Created", "Start", "NewReplica",
    }  # fmt: skip


def test_a_failure_without_restarts(kube: Kube, submit: Submit) -> None:
    submit("fails", {"worker": (1, "exit 3")}, "ExitCode")
    job = kube.until_phase("fails", "Succeeded", "Failed")
    assert (job["status"]["phase"], job["status"]["backoffCount"]) == ("Failed", 0)
    assert job["status"]["tasks"][0]["replicas"][0]["containers"] == [
        {"name": "main", "state": "Terminated", "exitCode": 3}
    ]
    assert "restartCount" not in job["status"]["tasks"][0]
    assert conditions(job)["Completed"] == ("True", "Failed")
    assert conditions(job)["ReplicaFailure"] == ("True", "Failed")


def test_restarts_and_the_other_variant(kube: Kube, submit: Submit) -> None:
    notes = {"task-list": "status", "completed-on-failure": "false", "failure-reason": "ErrorInPod"}
    submit("restarts", {"worker": (1, "exit 138")}, "ExitCode", notes, runPolicy={"backoffLimit": 2})
    job = kube.until_phase("restarts", "Succeeded", "Failed")
    assert (job["status"]["phase"], job["status"]["backoffCount"]) == ("Failed", 2)
    assert job["status"]["tasks"][0]["restartCount"] == 2
    assert "replicas" not in job["status"]["tasks"][0]
    assert conditions(job)["Completed"] == ("False", "Failed")
    assert conditions(job)["ReplicaFailure"] == ("True", "ErrorInPod")


@pytest.mark.parametrize(
    ("policy", "left"), [("Unfinished", ["Succeeded"]), ("All", []), ("None", ["Running", "Succeeded"])]
)
def test_clean_up(kube: Kube, submit: Submit, policy: str, left: list[str]) -> None:
    name = f"clean-{policy.lower()}"
    # the master ends when it can look up the other, which then runs
    line = 'until getent hosts $(echo $MASTER_ADDR | sed "s/worker-0/worker-1/"); do sleep 0.2; done'
    submit(name, {"worker": (2, f"[ $RANK = 1 ] && exec sleep inf; {line}")}, runPolicy={"cleanUpPolicy": policy})
    gone = 2 - len(left)
    kube.until(
        "pytorchtrainingjobs", name,
        lambda job: job.get("status", {}).get("phase") == "Succeeded" and job["status"]["aggregate"]["deleted"] == gone,
    )  # fmt: skip
    kube.until_all(
        "pods",
        lambda pods: sorted(pod["status"]["phase"] for pod in pods) == left,
        labels=f"tensorstack.dev/owner-name={name}",
    )


def test_pause_and_resume(kube: Kube, submit: Submit) -> None:
    resume = [{"type": "worker", "args": ["echo resumed"]}]
    submit("pauses", {"worker": (1, "sleep inf")}, runMode={"pause": {"enabled": False, "resumeSpecs": resume}})
    kube.until_phase("pauses", "Running")
    kube.patch("pytorchtrainingjobs", "pauses", {"spec": {"runMode": {"pause": {"enabled": True}}}})
    job = kube.until_phase("pauses", "Paused")
    assert conditions(job)["Paused"] == ("True", "-")
    kube.until_gone("pods", labels="tensorstack.dev/owner-name=pauses")
    since = kube.version("pytorchtrainingjobs")
    kube.patch("pytorchtrainingjobs", "pauses", {"spec": {"runMode": {"pause": {"enabled": False}}}})
    kube.until_phase("pauses", "Resuming", since=since)
    job = kube.until_phase("pauses", "Succeeded", "Failed")
    assert job["status"]["backoffCount"] == 0
    assert kube.log(job["status"]["tasks"][0]["replicas"][0]["name"]) == "resumed\n"


def test_a_deadline(kube: Kube, submit: Submit) -> None:
    submit("late", {"worker": (1, "sleep inf")}, runPolicy={"activeDeadlineSeconds": 2})
    job = kube.until_phase("late", "Succeeded", "Failed")
    assert job["status"]["phase"] == "Failed"


def test_debug_and_scheduler(kube: Kube, submit: Submit) -> None:
    queue = {"t9kScheduler": {"queue": "short", "priority": 50}}
    submit("debug", {"worker": (1, "exit 1")}, runMode={"debug": {"enabled": True}}, scheduler=queue)
    kube.until_phase("debug", "Running")
    (pod,) = pods(kube, "debug")
    assert pod["spec"]["containers"][0]["command"] == ["sleep", "inf"]
    assert "args" not in pod["spec"]["containers"][0]
    assert pod["metadata"]["labels"]["scheduler.tensorstack.dev/queue"] == "short"


def test_elastic_jobs_change_size(kube: Kube, submit: Submit) -> None:
    size = {"enabled": True, "minReplicas": 1, "maxReplicas": 3, "expectedReplicas": 1}
    submit("elastic", {"worker": (3, "sleep inf")}, elastic=size)
    kube.until_phase("elastic", "Running")
    assert len(pods(kube, "elastic")) == 1
    kube.patch("pytorchtrainingjobs", "elastic", {"spec": {"elastic": {"expectedReplicas": 2}}})
    kube.until("pytorchtrainingjobs", "elastic", lambda job: job["status"]["aggregate"]["running"] == 2)
    with pytest.raises(Exception, match="minReplicas is immutable"):
        kube.patch("pytorchtrainingjobs", "elastic", {"spec": {"elastic": {"minReplicas": 2}}})


def test_a_refused_pod_and_a_lost_one(kube: Kube, submit: Submit) -> None:
    """Quota acts on pods, not on the job; a pod that somebody deletes comes again and is not counted."""
    kube.create("resourcequotas", {"metadata": {"name": "full"}, "spec": {"hard": {"count/pods": "0"}}})
    kube.until("resourcequotas", "full", lambda quota: quota.get("status", {}).get("hard"))
    submit("waits", {"worker": (1, "sleep inf")})
    job = kube.until_phase("waits", "Pending")
    kube.until_event("waits", "FailedCreate", "exceeded quota: full")
    kube.delete("resourcequotas", "full")
    job = kube.until_phase("waits", "Running")
    first = job["status"]["tasks"][0]["replicas"][0]
    kube.delete("pods", first["name"], gracePeriodSeconds=0)
    job = kube.until(
        "pytorchtrainingjobs", "waits",
        lambda job: job["status"]["aggregate"]["running"] == 1
        and job["status"]["tasks"][0]["replicas"][0]["uid"] != first["uid"],
    )  # fmt: skip
    assert job["status"]["tasks"][0]["replicas"][0]["name"] == first["name"]
    assert job["status"]["backoffCount"] == 0


@pytest.mark.alone
def test_a_controller_that_is_replaced(kube: Kube, submit: Submit, controller: ControllerProcess) -> None:
    submit("outlives", {"worker": (1, "sleep inf")})
    job = kube.until_phase("outlives", "Running")
    controller.restart()
    kube.patch("pytorchtrainingjobs", "outlives", {"spec": {"runMode": {"pause": {"enabled": True}}}})
    paused = kube.until_phase("outlives", "Paused")
    assert conditions(paused)["Initialized"] == conditions(job)["Initialized"]


def test_a_job_that_is_left_alone(kube: Kube, submit: Submit) -> None:
    submit("alone", {"worker": (1, "exit 0")}, notes={"ignore": "true"})
    submit("after", {"worker": (1, "exit 0")})
    kube.until_phase("after", "Succeeded")
    assert pods(kube, "alone") == []
    kube.patch("pytorchtrainingjobs", "alone", {"status": {"phase": "Unknown"}}, "status")
    assert kube.find("pytorchtrainingjobs", "alone")["status"] == {"phase": "Unknown"}
