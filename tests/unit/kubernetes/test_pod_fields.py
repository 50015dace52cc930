"""Slim pods keep every field that the product reads, in little memory."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from jupyterlab_t9kjob.engines.kubernetes.cluster.pod_fields import PodKeeper, kept_pod, slim
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView
from jupyterlab_t9kjob.engines.kubernetes.objects.pods import container_runs, requests
from jupyterlab_t9kjob.engines.kubernetes.objects.pods import pod as pods
from tests.unit.kubernetes.situations import HERE, NAMES

REAL: dict[str, dict[str, Any]] = {
    f"{name}/{pod['metadata']['name']}": pod
    for name in NAMES
    for pod in json.loads((HERE / "objects" / f"{name}.json").read_text())["pods"]
}


@pytest.mark.parametrize("pod", REAL.values(), ids=REAL)
def test_all_that_is_read_of_a_pod_is_kept(pod: dict[str, Any]) -> None:
    def read(pod: dict[str, Any]) -> Any:
        containers = [one.get("name") for one in pod["spec"]["containers"]]
        places = [ReplicaView("master", 0, None, name, None, None, pod=pod) for name in containers]
        return (
            pods.status_text(pod),
            [(pods.describe(place), container_runs.containers_of(place), pods.restarts(place)) for place in places],
            requests.held_by(pod),
            requests.shape_of(pod),
        )

    assert read(slim(copy.deepcopy(pod))) == read(pod)


def large_pod(number: int) -> dict[str, Any]:
    """Return a pod of 20 KB, as platforms make them."""
    pod = copy.deepcopy(next(iter(REAL.values())))
    pod["metadata"] |= {
        "uid": f"{number:036}",
        "resourceVersion": str(number),
        "name": f"train-{number}",
        "annotations": {"network": "x" * 4000},
        "managedFields": [{"fieldsV1": {f"f:{each}": {} for each in range(400)}}],
    }
    (container, *_others) = pod["spec"]["containers"]
    container["env"] = [{"name": f"VARIABLE_{each}", "value": f"{each * 7919} of {number}"} for each in range(150)]
    return pod


def test_a_pod_of_20_kb_takes_less_than_one() -> None:
    keeper = PodKeeper()
    assert len(json.dumps(large_pod(0))) > 15_000
    kept = [keeper.keep(large_pod(number)) for number in range(50)]
    assert sum(len(each["pod"]) for each in kept) / len(kept) < 1000
    assert [kept_pod(each)["metadata"]["name"] for each in kept] == [f"train-{number}" for number in range(50)]
    assert kept[7]["metadata"] == {"uid": f"{7:036}", "resourceVersion": "7"}


@pytest.mark.parametrize(
    "odd",
    [
        {"spec": None},
        {"spec": []},
        {"spec": {"containers": {"name": 3}}},
        {"status": "x", "spec": {"containers": [[], None]}},
    ],
)
def test_a_pod_of_any_shape_is_kept(odd: dict[str, Any]) -> None:
    pod = {"metadata": {"uid": "u", "resourceVersion": "1", "name": "\ud800"}, **odd}
    assert kept_pod(PodKeeper().keep(pod)) == slim(pod)
