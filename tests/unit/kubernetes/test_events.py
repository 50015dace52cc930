"""Events of a job and its pods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.objects.events import events_of
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import observe
from tests.unit.kubernetes.situations import situation


def happened(reason: str, message: str, at: str, **more: Any) -> dict[str, Any]:
    about = {"kind": "Pod", "name": "train-worker-0", "uid": "u0"}
    return {"type": "Normal", "reason": reason, "message": message, "involvedObject": about, "lastTimestamp": at} | more


def test_newest_first_with_the_replica_and_the_object() -> None:
    job = situation("crash-loop")
    events = events_of(job.events, job.replicas)
    assert [event.time for event in events] == sorted((event.time for event in events), reverse=True)
    backoff = next(event for event in events if event.reason == "BackOff")
    assert (backoff.type, backoff.object, backoff.replica) == ("Warning", "Pod crash-loop-master-0", "master-0")
    created = next(event for event in events if event.reason == "SuccessfulCreatePod")
    assert (created.type, created.object, created.replica) == ("Normal", "PyTorchJob crash-loop", None)


def test_the_cluster_counts_repeats() -> None:
    job = situation("secret-volume")
    mount = next(event for event in events_of(job.events, job.replicas) if event.reason == "FailedMount")
    assert mount.count > 1
    assert mount.first_time is not None and mount.first_time < mount.time


def test_repeats_that_the_cluster_keeps_apart_are_folded() -> None:
    events = events_of(
        [
            happened("Pulled", "image there", "2026-11-21T10:00:05Z", count=2, firstTimestamp="2026-11-21T10:00:00Z"),
            happened("Pulled", "image there", "2026-11-21T10:00:09Z", count=1),
            happened("Started", "started", "2026-11-21T10:00:07Z"),
        ],
        [],
    )
    assert [(event.reason, event.count) for event in events] == [("Pulled", 3), ("Started", 1)]
    assert events[0].time == seconds("2026-11-21T10:00:09Z")
    assert events[0].first_time == seconds("2026-11-21T10:00:00Z")
    assert events[1].first_time is None


def test_events_of_the_newer_api() -> None:
    """The scheduler reports a series and microseconds, and `regarding` and `note` in the newer API."""
    series = {"count": 4, "lastObservedTime": "2026-11-21T10:05:00.500000Z"}
    event = {
        "type": "Warning",
        "reason": "FailedScheduling",
        "note": "0/1 nodes are available",
        "regarding": {"kind": "Pod", "name": "train-worker-1", "uid": "u1"},
        "eventTime": "2026-11-21T10:00:00.250000Z",
        "series": series,
        "deprecatedFirstTimestamp": None,
        "metadata": {"creationTimestamp": "2026-11-21T10:00:00Z"},
    }
    (found,) = events_of([event], [])
    first, last = seconds("2026-11-21T10:00:00.25Z"), seconds("2026-11-21T10:05:00.5Z")
    assert (found.count, found.first_time, found.time) == (4, first, last)
    assert (found.object, found.message) == ("Pod train-worker-1", "0/1 nodes are available")


def test_what_happened_to_an_earlier_pod_of_a_place_is_of_that_replica() -> None:
    job = situation("crash-loop")
    about = {"kind": "Pod", "name": "crash-loop-master-0", "uid": "old"}
    (event,) = events_of([happened("Killing", "Stopping", "2026-11-21T10:00:00Z", involvedObject=about)], job.replicas)
    assert event.replica == "master-0"


def test_what_happened_to_a_pod_that_is_gone_is_still_of_its_replica() -> None:
    """A job that is paused has no pods, and its places no pods' names."""
    job = situation("crash-loop")
    lives = {place.name: observe([], place, job.state, now=job.now) for place in job.replicas}
    paused = [replace(place, pod=None, pod_uid=None, pod_name=None) for place in job.replicas]
    events = events_of(job.events, paused, lives)
    assert {event.replica for event in events if event.object == "Pod crash-loop-master-0"} == {"master-0"}


def test_what_happened_within_a_second_is_in_order() -> None:
    made = ("189a3f0000000100", "189a3f0000000300", "189a3f0000000200")
    at = "2026-11-21T10:00:00Z"
    events = events_of(
        [
            happened(reason, reason, at, metadata={"name": f"train-worker-0.{name}"})
            for reason, name in zip(("Pulled", "Started", "Created"), made, strict=True)
        ],
        [],
    )
    assert [event.reason for event in events] == ["Started", "Created", "Pulled"]


def test_control_characters_do_not_get_through() -> None:
    (event,) = events_of([happened("Bad\x1b[31m", "red\x1b[0m \u202etxt\nnext\x00line", "2026-11-21T10:00:00Z")], [])
    assert event.reason == "Bad [31m"
    assert event.message == "red [0m  txt\nnext line"
