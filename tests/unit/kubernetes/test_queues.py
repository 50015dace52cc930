"""The queues that a job can be put into, from objects as Kueue and T9k write them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyterlab_t9kjob.core.capacity import Queue, QueueList
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError
from jupyterlab_t9kjob.engines.kubernetes.cluster.permissions import AT_A_TIME
from jupyterlab_t9kjob.engines.kubernetes.cluster.queues import Queues, queues_of, seconds_of
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from tests.unit.kubernetes.queues import KUEUE, T9K, Objects, cluster_queue, local_queue, namespace, t9k_queue

LOCAL = f"{KUEUE}/namespaces/team/localqueues"
BEHIND = f"{KUEUE}/clusterqueues"
T9K_QUEUES = f"{T9K}/namespaces/t9k-system/queues"
TEAM = "/api/v1/namespaces/team"


async def of_kueue(*queues: Any, behind: Any = 404, team: Any = None) -> QueueList:
    things = {LOCAL: list(queues), f"{BEHIND}/gpus": behind, TEAM: namespace() if team is None else team}
    return await queues_of(Objects(things), "kueue.x-k8s.io", "v1beta2", "team")  # type: ignore[arg-type]


async def of_t9k(*queues: Any, team: Any = 403) -> QueueList:
    return await queues_of(
        Objects({T9K_QUEUES: list(queues), TEAM: team}),  # type: ignore[arg-type]
        "scheduler.tensorstack.dev",
        "v1beta1",
        "team",
    )


def quota(queue: Queue) -> dict[str, tuple[float | None, float]]:
    return {line.resource: (line.used, line.hard) for line in queue.quota}


async def test_a_local_queue_with_the_quota_behind_it() -> None:
    found = await of_kueue(local_queue("team-a", waiting=3), local_queue("default"), behind=cluster_queue())
    default, queue = found.queues
    assert default.default and not queue.default
    assert (queue.name, queue.kind, queue.open, queue.reason, queue.waiting) == ("team-a", "Kueue queue", True, None, 3)
    assert quota(queue) == {"nvidia.com/gpu": (6, 8), "cpu": (2.5, 40)}
    assert (queue.borrows, queue.preemptible, queue.priority, queue.max_duration) == (False, False, None, None)


async def test_of_a_cluster_queue_that_may_not_be_read_nothing_is_said() -> None:
    (queue,) = (await of_kueue(local_queue("team-a"), behind=403)).queues
    assert (queue.open, queue.quota, queue.preemptible, queue.borrows) == (True, [], None, True)


@pytest.mark.parametrize("cohort", ["cohort", "cohortName"])
async def test_in_a_cohort_jobs_may_borrow_and_have_to_give_back(cohort: str) -> None:
    (queue,) = (await of_kueue(local_queue("team-a"), behind=cluster_queue(**{cohort: "all"}))).queues
    assert queue.borrows and queue.preemptible


@pytest.mark.parametrize(
    ("own", "behind", "reason"),
    [
        ({"stopPolicy": "Hold"}, {}, "It is stopped: it lets no job in."),
        ({}, {"stopPolicy": "HoldAndDrain"}, "Its ClusterQueue gpus is stopped: it lets no job in."),
        (
            {},
            {"namespaceSelector": {"matchLabels": {"team": "other"}}},
            "Its ClusterQueue gpus is not open to this namespace.",
        ),
        ({}, {"namespaceSelector": None}, "Its ClusterQueue gpus is not open to this namespace."),
    ],
)
async def test_queues_that_take_no_job_stand_last_with_the_reason(own: Any, behind: Any, reason: str) -> None:
    open_, shut = local_queue("b-open", "other"), local_queue("a-shut", **own)
    queues = (await of_kueue(shut, open_, behind=cluster_queue(**behind))).queues
    assert [(queue.name, queue.open, queue.reason) for queue in queues] == [
        ("b-open", True, None),
        ("a-shut", False, reason),
    ]


async def test_the_reason_of_an_inactive_queue_is_kueues_own() -> None:
    queue = local_queue("team-a")
    message = "Can't admit new workloads: references missing ResourceFlavor(s): a100."
    behind = cluster_queue()
    behind["status"]["conditions"] = [{"type": "Active", "status": "False", "reason": "F", "message": message}]
    (found,) = (await of_kueue(queue, behind=behind)).queues
    assert found.reason == f"It is not active: {message}"
    queue["status"]["conditions"] = [{"type": "Active", "status": "False", "reason": "ClusterQueueIsInactive"}]
    (found,) = (await of_kueue(queue)).queues
    assert (found.open, found.reason) == (False, "It is not active.")


async def test_a_namespace_whose_labels_may_not_be_read_counts_as_open() -> None:
    behind = cluster_queue(namespaceSelector={"matchLabels": {"team": "other"}})
    (queue,) = (await of_kueue(local_queue("team-a"), behind=behind, team=403)).queues
    assert queue.open


@pytest.mark.parametrize(
    ("group", "version"), [("kueue.x-k8s.io", "v1beta2"), ("scheduler.tensorstack.dev", "v1beta1")]
)
async def test_what_may_not_be_listed_is_said_and_what_is_not_there_is_none(group: str, version: str) -> None:
    none = await queues_of(Objects({}), group, version, "team")  # type: ignore[arg-type]
    assert (none.queues, none.limited) == ([], None)
    refused = await queues_of(Objects({LOCAL: 403, T9K_QUEUES: 403}), group, version, "team")  # type: ignore[arg-type]
    assert refused.queues == []
    assert refused.limited is not None and refused.limited.startswith(
        "You don't have permission to list the queues of "
    )
    with pytest.raises(ApiError):
        await queues_of(Objects({LOCAL: 500, T9K_QUEUES: 500}), group, version, "team")  # type: ignore[arg-type]


async def test_a_queue_of_t9k() -> None:
    item = t9k_queue(
        "short",
        {"cpu": "38", "nvidia.com/gpu": 6},
        priority=60,
        preemptible=False,
        maxDuration="2h45m",
        quota={"requests": {"cpu": 40, "nvidia.com/gpu": "8", "memory": "1Ti"}},
    )
    (queue,) = (await of_t9k(item)).queues
    assert (queue.name, queue.kind, queue.open, queue.reason) == ("short", "T9k queue", True, None)
    assert (queue.priority, queue.preemptible, queue.max_duration, queue.borrows) == (60, False, 9900, False)
    assert quota(queue) == {"cpu": (38, 40), "nvidia.com/gpu": (6, 8), "memory": (0, 2**40)}


async def test_t9k_queues_by_whether_they_take_jobs_of_a_namespace() -> None:
    west = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["west", "north"]}]}
    found = await of_t9k(
        t9k_queue("closed", closed=True),
        t9k_queue("granted", namespaceSelector=None),
        t9k_queue("default"),
        t9k_queue("west", namespaceSelector=west),
        t9k_queue("east", namespaceSelector={"matchLabels": {"zone": "east"}}),
        team=namespace(zone="west"),
    )
    assert [(queue.name, queue.open, queue.reason is not None) for queue in found.queues] == [
        ("default", True, False),
        ("west", True, False),
        ("east", True, True),
        ("granted", True, True),
        ("closed", False, True),
    ]
    assert found.queues[-1].reason == "It is closed: it takes no new jobs."
    assert found.queues[2].reason == "It is not open to all users of namespace team, only to users who were authorized."


async def test_queues_of_any_shape() -> None:
    odd = {"metadata": {"name": "odd"}, "spec": {"clusterQueue": "../../x", "quota": 3}, "status": ["?"]}
    assert [queue.name for queue in (await of_kueue(odd, {"metadata": {}, "spec": None})).queues] == ["", "odd"]
    assert [queue.name for queue in (await of_t9k(odd, {"metadata": {}}, team={"metadata": 3})).queues] == ["", "odd"]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("30s", 30),
        ("1h20m15s", 4815),
        ("15d", 15 * 86400),
        ("3w", 21 * 86400),
        ("1y", 365 * 86400),
        ("5m30ms", 300.03),
        ("0", None),
        ("", None),
        (None, None),
        ("2 h", None),
        ("1h2d", None),
    ],
)
def test_durations_of_t9k(written: str | None, seconds: float | None) -> None:
    assert seconds_of(written) == (pytest.approx(seconds) if seconds is not None else None)


async def test_the_queues_of_another_cluster_are_not_remembered() -> None:
    class Connected:
        def __init__(self) -> None:
            self.identity, self.here = "one", "ours"
            self.groups = {"kueue.x-k8s.io": "v1beta2"}

        async def api_for(self, _kind: Any) -> Objects:
            return Objects({LOCAL: [local_queue(self.here)]})

    cluster = Connected()
    queues = Queues(Kubeflow(), cluster)  # type: ignore[arg-type]

    async def names() -> list[str]:
        return [queue.name for queue in (await queues.of("team") or QueueList()).queues]

    assert await names() == ["ours"]
    cluster.here = "theirs"
    assert await names() == ["ours"]
    cluster.identity = "two"
    assert await names() == ["theirs"]


async def test_not_all_cluster_queues_are_asked_for_at_once() -> None:
    class Slow(Objects):
        asking = most = 0

        async def get(self, path: str) -> Any:
            self.asking += 1
            self.most = max(self.most, self.asking)
            await asyncio.sleep(0)
            self.asking -= 1
            return await super().get(path)

    behind = [f"behind-{number}" for number in range(40)]
    things = {f"{BEHIND}/{name}": cluster_queue(name) for name in behind}
    api = Slow({LOCAL: [local_queue(f"q-{name}", name) for name in behind], TEAM: namespace(), **things})
    found = await queues_of(api, "kueue.x-k8s.io", "v1beta2", "team")  # type: ignore[arg-type]
    assert [len(queue.quota) for queue in found.queues] == [2] * 40
    assert api.most <= AT_A_TIME
