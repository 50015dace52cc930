"""Checks of a job and its queue before submission."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.capacity import Queue, QueueList, QuotaLine
from jupyterlab_t9kjob.core.checks import Check
from jupyterlab_t9kjob.core.manifests import Context, render
from jupyterlab_t9kjob.core.manifests.names import KUEUE, T9K_SCHEDULER
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.submit.queue_checks import checks

GPUS = QuotaLine(quota="gpus", resource="nvidia.com/gpu", used=6, hard=8)


def checked(
    known: QueueList | None, group: str = KUEUE, *, replicas: int = 1, gpus: int = 2, **more: Any
) -> list[Check]:
    """Check a job in the queue “team-a” whose replicas have some GPUs each."""
    resources = {"device": {"name": "nvidia.com/gpu", "count": gpus}} if gpus else {}
    fields = {
        "name": "train",
        "entrypoint": {"value": "/w/train.py"},
        "runtime": {"image": "torch:2"},
        "replica_specs": [{"replicas": replicas, "resources": resources}],
        "scheduling": {"queue": "team-a"},
        **more,
    }
    spec = JobSpec.model_validate(fields)
    manifest = render(spec, "kubeflow" if group == KUEUE else "t9k", context=Context(namespace="team"))
    return checks(spec, manifest, group, known, "team")


def said(*found: Check) -> list[tuple[str, str, str | None]]:
    return [(check.level, check.code, check.field) for check in found]


def queue(name: str = "team-a", **fields: Any) -> QueueList:
    return QueueList(queues=[Queue(name=name, kind="a queue", **fields)])


FIELD = "/spec/scheduling/queue"


def test_a_job_that_fits_into_its_queue() -> None:
    for group in (KUEUE, T9K_SCHEDULER):
        assert checked(queue(), group) == checked(queue(quota=[GPUS]), group) == []
        assert checked(QueueList(limited="This account may not."), group) == []
    assert checked(QueueList(), scheduling={}) == []


def test_fractions_of_a_core_are_counted_exactly() -> None:
    def of(replicas: int, used: float, group: str) -> list[Check]:
        known = queue(quota=[QuotaLine(quota="cores", resource="cpu", used=used, hard=3.3)])
        replica = {"replicas": replicas, "resources": {"cpu": {"request": "1100m", "limit": "1100m"}}}
        return checked(known, group, replica_specs=[replica])

    for group in (KUEUE, T9K_SCHEDULER):
        assert of(3, 0, group) == of(1, 2.2, group) == []
        assert [check.code for check in of(2, 2.2, group)] == ["QueueFull"]


def test_a_cluster_without_kueue() -> None:
    assert said(*checked(None)) == [("hint", "NoKueue", FIELD)]
    assert checked(None, T9K_SCHEDULER) == []
    assert checked(None, scheduling={"queue": "team-a", "scheduler": "volcano"}) == []  # its own queue


@pytest.mark.parametrize("group", [KUEUE, T9K_SCHEDULER])
def test_a_queue_that_is_not_there(group: str) -> None:
    (check,) = checked(queue("other"), group)
    assert said(check) == [("warning", "NoSuchQueue", FIELD)]
    assert check.message.startswith("There is no queue team-a ")
    assert check.hint is not None and check.hint.endswith(" Available queue: other.")
    (check,) = checked(QueueList(), group)
    assert check.hint is not None and "Available" not in check.hint


def test_a_queue_that_takes_no_jobs() -> None:
    shut = queue(open=False, reason="It is stopped: it lets no job in.")
    (check,) = checked(shut)
    assert said(check) == [("warning", "QueueNotOpen", FIELD)]
    assert check.message == "The queue team-a may not take the job. It is stopped: it lets no job in."
    assert said(*checked(shut, T9K_SCHEDULER)) == [("error", "QueueClosed", FIELD)]
    granted = queue(reason="It is not open to all users of namespace team, only to users who were authorized.")
    assert said(*checked(granted, T9K_SCHEDULER)) == [("warning", "QueueNotOpen", FIELD)]


@pytest.mark.parametrize(("group", "later"), [(KUEUE, "The job will wait"), (T9K_SCHEDULER, "The cluster ")])
def test_more_than_the_quota_and_more_than_is_free_of_it(group: str, later: str) -> None:
    (check,) = checked(queue(quota=[GPUS]), group, replicas=5)
    assert said(check) == [("warning", "AboveQueueQuota", FIELD)]
    assert check.message == "The job asks for 10 GPUs, and the quota of the queue team-a is 8."
    assert check.hint is not None and check.hint.startswith(later)
    (check,) = checked(queue(quota=[GPUS]), group, replicas=2)
    assert said(check) == [("warning", "QueueFull", FIELD)]
    assert check.message == "The job asks for 4 GPUs, and the queue team-a has 2 of 8 free."
    assert check.hint is not None and check.hint.startswith(later)


def test_who_may_borrow_only_waits() -> None:
    (check,) = checked(queue(quota=[GPUS], borrows=True), replicas=5)
    assert check.code == "QueueFull"
    assert check.hint is not None and "other queues of its cohort" in check.hint


def test_a_queue_without_gpus() -> None:
    cores = QuotaLine(quota="cpus", resource="cpu", used=0, hard=40)
    assert said(*checked(queue(quota=[cores]))) == [("warning", "AboveQueueQuota", FIELD)]
    assert checked(queue(quota=[cores]), gpus=0) == []
    assert checked(queue(quota=[cores]), T9K_SCHEDULER) == []  # whose quotas limit what they name


def test_kueue_does_not_leave_a_job_paused() -> None:
    assert said(*checked(queue(), paused=True)) == [("warning", "KueueStartsIt", "/spec/paused")]
    assert checked(queue(), T9K_SCHEDULER, paused=True) == []


def test_a_deadline_that_the_queue_does_not_wait_for() -> None:
    policy = {"run_policy": {"active_deadline_seconds": 7200}}
    (check,) = checked(queue(max_duration=3600), T9K_SCHEDULER, **policy)
    assert said(check) == [("warning", "QueueDuration", "/spec/run_policy/active_deadline_seconds")]
    assert "after 1 h," in check.message
    assert checked(queue(max_duration=7200), T9K_SCHEDULER, **policy) == []
