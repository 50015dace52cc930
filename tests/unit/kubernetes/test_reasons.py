"""Why a job is as it is, in words, of objects of a real cluster."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.capacity import Amount, NodeCapacity
from jupyterlab_t9kjob.core.job import Reason
from jupyterlab_t9kjob.core.manifests.names import KUEUE_QUEUE, PAUSED
from jupyterlab_t9kjob.engines.kubernetes.objects.action_notes import mark
from jupyterlab_t9kjob.engines.kubernetes.objects.events import events_of
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView, State
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import AttemptRecord, observe
from jupyterlab_t9kjob.engines.kubernetes.reasons.job import ENDED_BY, reason_of
from jupyterlab_t9kjob.engines.kubernetes.reasons.replica import replica_reason
from jupyterlab_t9kjob.engines.kubernetes.scheduling.node_fit import ClusterRoom, Node
from tests.unit.kubernetes.situations import NAMES, situation

WAIT = " · waiting 2 min"
QUOTA = "The quota gpus allows 2 nvidia.com/gpu, {} are used, and a replica needs {}"

SENTENCES = {
    # the scheduler finds no node
    "gpu-9": ("Unschedulable", "Needs 9 GPUs, but the only node doesn't fit: too few free" + WAIT),
    "memory-much": (
        "Unschedulable",
        "Needs 300 CPU and 2 TiB memory, but the only node doesn't fit: too little of that free" + WAIT,
    ),
    "affinity": ("Unschedulable", "Needs a node with gpu=a100, but the only node doesn't fit: no such labels" + WAIT),
    "taint": (
        "Unschedulable",
        "Needs 9 GPUs, but none of the 2 nodes fits: too few free (1) and untolerated taint (1) · waiting 1 min",
    ),
    "taint-only": (
        "Unschedulable",
        "Needs a node with kubernetes.io/hostname=why-node, but none of the 2 nodes fits: no such labels (1)"
        " and untolerated taint (1) · waiting 1 min",
    ),
    "claim-missing": ("NoSuchClaim", "There is no PVC nowhere in namespace why" + WAIT),
    "claim-unbound": ("UnboundClaim", "The PVC unbound has no volume yet" + WAIT),
    "claim-elsewhere": ("Unschedulable", "The only node doesn't fit: can't mount its volume" + WAIT),
    "gated": ("InQueue", "Waits for Kueue to let it in" + WAIT),
    "no-scheduler": ("NotScheduled", "Waits for the scheduler volcano" + WAIT),
    "worker-waits": (
        "Unschedulable",
        "master-0: Needs 9 GPUs, but the only node doesn't fit: too few free" + WAIT,
    ),
    # its pods are refused
    "quota-partly": ("QuotaExceeded", f"master-0 and worker-1: {QUOTA.format(2, 2)}{WAIT}"),
    "t9k-quota": ("QuotaExceeded", f"All 2 replicas: {QUOTA.format(0, 4)}{WAIT}"),
    "limitrange": ("OutOfRange", "A container may have 1Gi memory at most here, and this asks for 4Gi" + WAIT),
    "podsecurity": (
        "PodSecurity",
        "The namespace enforces the Pod Security Standard baseline:latest, and the pods don't fit it: host namespaces"
        " (hostNetwork=true),"
        ' hostPort (container "pytorch" uses hostPort 23456)' + WAIT,
    ),
    "serviceaccount": ("NoServiceAccount", "There is no service account nobody in its namespace" + WAIT),
    "priorityclass": ("NoPriorityClass", "There is no priority class no-such-class" + WAIT),
    # its image
    "image-missing": (
        "RegistryUnreachable",
        "The registry test.local of image test.local/no-such:1 can't be reached from node-1",
    ),
    "t9k-image": (
        "RegistryUnreachable",
        "All 3 replicas: The registry test.local of image test.local/no-such:1 can't be reached from node-1",
    ),
    "image-none": ("NoSuchImage", "There is no image localhost:5999/missing/torch:1"),
    "image-private": (
        "ImageNotAllowed",
        "The registry does not give image localhost:5999/private/torch:1 to this cluster",
    ),
    "image-invalid": ("InvalidImageName", "“Not An Image” is not the name of an image"),
    "image-never": (
        "ErrImageNeverPull",
        "The image test.local/no-such:1 is not on node-1, and its pull policy is Never",
    ),
    "image-slow": ("Pulling", "Pulling image localhost:5999/slow/torch:1, 2 min"),
    # its containers
    "secret-missing": ("NoSecret", "There is no Secret nosecret in namespace why"),
    "secret-key": ("NoSecretKey", "The Secret why-secret has no key nokey"),
    "configmap-missing": ("NoConfigMap", "There is no ConfigMap noconfig in namespace why"),
    "secret-volume": ("NoSecret", "There is no Secret nosecret in namespace why"),
    "hostpath-missing": ("FailedMount", "The volume s can't be mounted on node-1, 2 min"),
    "sub-path": ("NoSubPath", "The volume e: the folder hostname/x can't be mounted"),
    "run-as-root": ("WouldBeRoot", "The image would run as root, which this cluster does not allow"),
    "init-runs": ("InitContainer", "The init container fetch is running, 1 min"),
    "init-crash": (
        "CrashLoopBackOff",
        "Keeps failing: Its init container fetch ended with exit code 4; 2 restarts so far",
    ),
    "crash-loop": ("CrashLoopBackOff", "Keeps failing: It ended with exit code 1; 3 restarts so far"),
    "crash-oom": ("OOMKilled", "Its last attempt was killed: out of memory (137); it starts again"),
    # it runs, or ran
    "running": ("Started", "All 2 replicas are running"),
    "t9k-run": ("Started", "All 4 replicas are running"),
    "t9k-succeeds": ("Succeeded", "Ran 6 s"),
    "t9k-ps": ("Succeeded", "Ran 12 s"),
    # it failed
    "oom": ("OOMKilled", "The job was killed: out of memory (137)"),
    "t9k-oom": ("OOMKilled", "The job was killed: out of memory (137)"),
    "t9k-oom-gone": ("ExitCode", "The command ended with exit code 137 (as after SIGKILL)"),
    "exit-1": ("ExitCode", "The command ended with exit code 1"),
    "exit-137": ("ExitCode", "The command ended with exit code 137 (as after SIGKILL)"),
    "t9k-exit": ("ExitCode", "worker-0 ended with exit code 1"),
    "worker-fails": ("ExitCode", "worker-0 ended with exit code 7"),
    "command-missing": (
        "StartError",
        "The job could not be started: There is no program torchrun in image test.local/busybox:1",
    ),
    "not-executable": ("StartError", "The job could not be started: The program /etc/hostname is not executable"),
    "workdir-missing": (
        "StartError",
        "The job could not be started: The working directory /dev/null/x can't be used in the container",
    ),
    "init-fails": ("InitContainerFailed", "The job could not start: Its init container fetch ended with exit code 4"),
    "evicted": (
        "StorageLimit",
        "The job was evicted from node-1: more was written to /scratch than its limit of 5Mi",
    ),
    "backoff": ("BackoffLimitExceeded", "The command ended with exit code 1"),
    "t9k-backoff": ("BackoffLimitExceeded", "The command ended with exit code 1"),
    "t9k-deadline-gone": ("DeadlineExceeded", "Ended at its deadline of 6 s"),
    # from outside
    "node-lost": ("NodeLost", "Its pod was lost with its node why-node"),
    "t9k-low": (
        "Unschedulable",
        "The only node doesn't fit: port in use · waiting 1 min",
    ),
    "t9k-pausing": ("PausedByUser", "Paused by you"),
    "t9k-stopped": ("Stopped", "Stopped by bob after 12 s"),
    "t9k-platform": ("PausedByPlatform", "Paused by the platform: it ran longer than its queue allows"),
    "t9k-submitted-paused": ("CreatedPaused", "Not started yet: it was submitted paused"),
}


@pytest.mark.parametrize("name", NAMES)
def test_sentences(name: str) -> None:
    reason = situation(name).reason(user="alice")
    assert (reason.code, reason.sentence) == SENTENCES[name]


HINTS = {
    "gpu-9": "It starts once a node has that much free; whether one is large enough is not known."
    " Ask for less to start sooner.",
    "backoff": "Its log may end with the cause. Its one restart is used up.",
    "t9k-backoff": "Its log may end with the cause. All 2 restarts are used up.",
    "oom": "Its memory limit is 16Mi. Give it more memory, or use smaller batches or fewer workers that load data.",
    "secret-missing": "Create it, and the job starts by itself; or leave it out under Environment.",
    "t9k-low": "Its pod t9k-low-99ce9-worker-0 had to make room for a more important one.",
    "t9k-stopped": "In the cluster it is paused: it can still be resumed, from the beginning.",
}


@pytest.mark.parametrize("name", HINTS)
def test_hints(name: str) -> None:
    assert situation(name).reason().hint == HINTS[name]


@pytest.mark.parametrize("name", ["gpu-9", "t9k-quota", "image-none", "secret-missing", "exit-1", "claim-missing"])
def test_the_clusters_own_words_come_along(name: str) -> None:
    job = situation(name)
    words = job.reason().verbatim
    assert words
    assert words in str(job.pods).replace("\\n", "\n").replace("\\'", "'") or words in str(job.events)


def test_a_replica_that_waits_for_others_has_a_reason_of_its_own() -> None:
    job = situation("worker-waits")
    reasons = {name: job.of_place(name) for name in ("master-0", "worker-0")}
    assert reasons["master-0"] is not None and reasons["master-0"].code == "Unschedulable"
    assert reasons["worker-0"] is not None
    assert reasons["worker-0"].sentence == "Waits until the master's pod exists, 2 min"


def test_a_replica_whose_pod_was_refused() -> None:
    job = situation("quota-partly")
    refused, runs = job.of_place("worker-1"), situation("running").of_place("worker-0")
    assert refused is not None and refused.code == "QuotaExceeded"
    assert runs is None


def test_a_long_wait_counts_up_in_whole_minutes() -> None:
    job = situation("image-slow")
    said = [job.later(after).reason().sentence for after in (30, 95, 110, 3700)]
    image = "Pulling image localhost:5999/slow/torch:1"
    assert said == [image, f"{image}, 1 min", f"{image}, 1 min", f"{image}, 1 h 1 min"]


def test_some_run_and_one_waits() -> None:
    job = situation("t9k-run")
    waits = situation("gpu-9").pods[0]
    places = [*job.replicas[:3], replace(job.replicas[3], pod=waits, pod_uid=waits["metadata"]["uid"])]
    reason = job.reason(replicas=places)
    start = "3 of 4 replicas are running · worker-3: Needs 9 GPUs, but the only node doesn't fit: too few free"
    assert reason.sentence.startswith(start)


def test_a_job_that_comes_back() -> None:
    job = situation("t9k-run")
    state = replace(job.state, phase="Resuming")
    assert job.reason(state=state).sentence == "4 of 4 replicas are back"
    away = [*job.replicas[:2], *(replace(place, pod=None, said="Creating") for place in job.replicas[2:])]
    assert job.reason(state=state, replicas=away).sentence == "2 of 4 replicas are back"
    made = situation("t9k-run").pods
    starting = [{**pod, "status": {"phase": "Pending"}} for pod in made]
    places = [replace(place, pod=pod) for place, pod in zip(job.replicas, starting, strict=True)]
    assert job.reason(state=state, replicas=places).sentence.startswith("0 of 4 replicas are back · All 4 replicas: ")


def test_out_of_memory_explains_what_failed_a_moment_before() -> None:
    """Its peers lose their connections, and may be first: times are whole seconds."""
    exits, killed = situation("t9k-exit"), situation("t9k-oom").pods[0]
    peer, first = exits.replicas
    for pod, second in ((peer.pod, "02"), (killed, "05")):
        assert pod is not None
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] = f"2026-11-21T23:45:{second}Z"
    reason = exits.reason(replicas=[peer, replace(first, pod=killed)])
    assert reason.sentence == "worker-1 was killed: out of memory (137)"


def test_memory_is_named_where_a_node_did_not_notice_that_it_ran_out() -> None:
    pod = situation("oom").replicas[0].pod
    assert pod is not None
    pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "Error"
    job = situation("oom")
    reason = job.reason(replicas=[replace(job.replicas[0], pod=pod)])
    assert (reason.code, reason.sentence) == ("ExitCode", "The command ended with exit code 137 (as after SIGKILL)")
    said = "The cluster does not say why. It may have run out of memory: its limit is 16Mi."
    assert reason.hint == f"{said} Its log may end with the cause."


@pytest.mark.parametrize(
    ("how", "hint"),
    [
        ("OOMKilled", "Its memory limit is 64Mi. "),
        ("Error", "Its termination message ends with “no such bucket”. The cluster does not say why. It may have"),
    ],
)
def test_an_init_container_is_killed_for_its_own_memory(how: str, hint: str) -> None:
    pod = situation("init-fails").replicas[0].pod
    assert pod is not None
    pod["spec"]["initContainers"][0]["resources"] = {"limits": {"memory": "64Mi"}}
    pod["spec"]["containers"][0]["resources"] = {"limits": {"memory": "192Gi"}}
    pod["status"]["initContainerStatuses"][0]["state"]["terminated"] |= {"exitCode": 137, "reason": how}
    job = situation("init-fails")
    reason = job.reason(replicas=[replace(job.replicas[0], pod=pod)])
    oom = "was killed: out of memory (137)"
    words = oom if how == "OOMKilled" else "ended with exit code 137 (as after SIGKILL)"
    assert reason.sentence == f"The job could not start: Its init container fetch {words}"
    assert reason.hint is not None and reason.hint.startswith(hint) and "64Mi" in reason.hint
    assert "batches" not in reason.hint
    assert (reason.code, reason.fix) == ("InitContainerFailed", None)


def test_a_sidecar_that_fails_is_named() -> None:
    """Nothing is wrong with the container that trains, and no more memory for that would help."""
    pod = situation("oom").replicas[0].pod
    assert pod is not None
    (status,) = pod["status"]["containerStatuses"]
    ended = status["state"]["terminated"]
    pod["spec"]["containers"].append({"name": "logger", "resources": {"limits": {"memory": "64Mi"}}})
    pod["status"]["containerStatuses"] = [
        status | {"state": {"terminated": ended | {"exitCode": 0, "reason": "Completed"}}},
        {"name": "logger", "state": {"terminated": ended}},
    ]
    job = situation("oom")
    reason = job.reason(replicas=[replace(job.replicas[0], pod=pod)])
    assert reason.sentence == "The job failed: Its container logger was killed: out of memory (137)"
    assert (reason.code, reason.fix) == ("ContainerFailed", None)
    assert reason.hint == "Its memory limit is 64Mi. Give it more memory."


def test_twice_the_memory_is_offered() -> None:
    fix = situation("oom").reason().fix
    assert fix is not None
    assert fix.label == "Clone with 32Mi"
    field = "/spec/replica_specs/0/resources/memory"
    assert fix.changes == {f"{field}/limit": "32Mi", f"{field}/request": "32Mi"}


def test_what_was_seen_of_a_pod_that_is_gone_still_counts() -> None:
    before, gone = situation("t9k-oom"), situation("t9k-oom-gone")
    seen = observe([], before.replicas[0], before.state, now=before.now)
    reason = gone.reason(attempts={"worker-0": seen})
    assert (reason.code, reason.sentence) == ("OOMKilled", "The job was killed: out of memory (137)")
    assert reason.hint == "Give it more memory, or use smaller batches or fewer workers that load data."


def test_how_long_it_ran_is_without_its_pauses() -> None:
    """The cluster tells when the last attempt began; beside the sentence stands the time of all of them."""
    job = situation("t9k-succeeds")
    assert job.reason().sentence == "Ran 6 s"
    last = job.state.ended_at
    assert last is not None
    place = job.replicas[0]
    (life,) = observe([], place, job.state, now=job.now)
    first: AttemptRecord = {**life, "started_at": last - 500, "ended_at": last - 400}
    second: AttemptRecord = {**life, "number": 2, "started_at": last - 5, "ended_at": last}
    assert job.reason(attempts={place.name: [first, second]}).sentence == "Ran 1 min 45 s"


def test_who_paused_it() -> None:
    job = situation("t9k-pausing")
    assert job.reason(user="bob").sentence == "Paused by alice"
    job.job["metadata"]["annotations"][PAUSED] = mark(None, job.now)
    assert job.reason(user="bob").sentence == "Paused by you"
    del job.job["metadata"]["annotations"][PAUSED]
    assert job.reason().sentence == "Paused from outside JupyterLab"


def test_a_pause_of_the_platform_counts_only_when_it_came_last() -> None:
    job = situation("t9k-platform")
    job.job["metadata"]["annotations"] = {PAUSED: mark("alice", job.now)}
    assert job.reason(user="alice").sentence == "Paused by you"


def test_the_label_of_a_queue_alone_says_nothing() -> None:
    job = situation("t9k-submitted-paused")
    job.job["metadata"]["labels"] = {KUEUE_QUEUE: "team-a"}  # in a cluster without Kueue
    assert job.reason().code == "CreatedPaused"


def test_nothing_happens_to_a_new_job() -> None:
    job = replace(situation("t9k-submitted-paused"), pods=[], events=[])
    state = State("Pending")
    assert job.later(5).reason(state=state).sentence == "Its replicas are being created"
    late = job.later(300).reason(state=state)
    assert late.sentence == "Its replicas are being created, 5 min"
    assert late.hint is not None and "may be down" in late.hint


def test_deadline_of_a_job_that_failed_by_itself_is_not_blamed() -> None:
    job = situation("t9k-exit")
    reason = job.reason(state=replace(job.state, cause="DeadlineExceeded"))
    assert reason.code == "ExitCode"


def test_who_ended_it() -> None:
    assert ENDED_BY[situation("t9k-stopped").reason().code] == "user"
    assert ENDED_BY[situation("t9k-deadline-gone").reason().code] == "deadline"
    assert ENDED_BY[situation("evicted").reason().code] == "platform"
    assert situation("oom").reason().code not in ENDED_BY


REPORTS = {
    "0/12 nodes are available: 4 node(s) had untolerated taint {gpu: reserved}, 8 Insufficient nvidia.com/gpu."
    " preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.": (
        "Needs 9 GPUs, but none of the 12 nodes fits: too few free (8) and untolerated taint gpu=reserved (4)"
    ),
    "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.": (
        "Needs 9 GPUs, but none of the 3 nodes fits: too few free"
    ),
    "0/3 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: },"
    " 1 node(s) were unschedulable.": "None of the 3 nodes fits: full of pods (1), not ready (1) and cordoned (1)",
    "0/2 nodes are available: 2 node(s) had volume node affinity conflict.": (
        "None of the 2 nodes fits: can't mount its volume"
    ),
    "0/5 nodes are available: 2 Insufficient cpu, 2 Insufficient memory, 3 node(s) didn't match pod affinity rules.": (
        "None of the 5 nodes fits: excluded by pod affinity (3), too little CPU free (2) and too little memory free (2)"
    ),
    "0/1 nodes are available: 1 node(s) unheard of.": "The only node doesn't fit: unheard of",
}
"""Reports of schedulers of other versions, and of clusters of many nodes (kube-scheduler's tests and threads)."""


@pytest.mark.parametrize("report", REPORTS)
def test_reports_of_the_scheduler(report: str) -> None:
    job = situation("gpu-9")
    condition = next(one for one in job.pods[0]["status"]["conditions"] if one["type"] == "PodScheduled")
    condition["message"] = report
    assert job.reason().sentence.startswith(f"{REPORTS[report]} · waiting")


def told(job: Any, reason: str, message: str, *, of_pod: bool = True) -> None:
    """Add an event to a situation, the newest of all."""
    about = job.pods[0] if of_pod else job.job
    time = job.job["metadata"]["creationTimestamp"][:-3] + "59Z"
    job.events.append({
        "metadata": {"name": "e", "uid": "e", "creationTimestamp": time},
        "involvedObject": {"kind": about.get("kind", "Pod"), "uid": about["metadata"]["uid"]},
        "reason": reason,
        "message": message,
        "type": "Warning",
        "firstTimestamp": time,
        "lastTimestamp": time,
    })  # fmt: skip


NO_SECRETS = "Unable to retrieve some image pull secrets (a, b); attempting to pull the image may not succeed."


def test_pull_secrets_that_are_not_there() -> None:
    job = situation("image-private")
    told(job, "FailedToRetrieveImagePullSecret", NO_SECRETS)
    reason = job.reason()
    assert (reason.code, reason.sentence) == (
        "NoPullSecret",
        "The image can't be pulled: its pull secrets a and b are not in namespace why",
    )
    assert reason.verbatim == situation("image-private").reason().verbatim
    # where something else is the trouble they are said beside it
    job = situation("image-missing")
    told(job, "FailedToRetrieveImagePullSecret", NO_SECRETS.replace(", b", ""))
    reason = job.reason()
    assert reason.code == "RegistryUnreachable"
    assert reason.hint is not None and reason.hint.endswith("Its pull secret a is not in namespace why either.")


def test_a_webhook_that_keeps_a_jobs_pods_from_being_made() -> None:
    job = situation("t9k-quota")
    job.events.clear()
    words = 'Internal error occurred: failed calling webhook "jobs.example.org": service "jobs" not found'
    told(job, "FailedCreate", f"Error creating: {words}", of_pod=False)
    reason = job.reason()
    assert reason.code == "WebhookDown"
    assert reason.sentence.startswith("The webhook jobs.example.org, which has to agree to its pods, does not answer")
    assert reason.hint is not None and "tried again by themselves" in reason.hint


def test_a_volume_that_is_elsewhere_is_said_before_the_node_has_begun() -> None:
    job = situation("claim-missing")
    pod = job.pods[0]
    pod["spec"] |= {"nodeName": "n", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
    pod["status"] = {"phase": "Pending"}
    told(job, "FailedAttachVolume", 'Multi-Attach error for volume "pv-1" Volume is already used by pod(s) other')
    reason = job.reason()
    assert (reason.code, reason.sentence[:44]) == ("VolumeInUse", "The PVC data is attached to another node, 2 ")


def room(**gpus: tuple[int, int]) -> ClusterRoom:
    """Return nodes with GPUs, and how many of them are free."""
    nodes = []
    for name, (total, free) in gpus.items():
        amounts = [
            Amount(resource="nvidia.com/gpu", total=total, free=free),
            *(Amount(resource=resource, total=2**40, free=2**40) for resource in ("cpu", "memory")),
        ]
        nodes.append(Node(NodeCapacity(name=name, product="NVIDIA-A100-SXM4-80GB", amounts=amounts)))
    return ClusterRoom(nodes)


LACKS = {
    "no node is large enough": (
        room(one=(8, 8), two=(8, 0)),
        "No node has 9 A100: each has 8",
        "It starts only if a larger node is added. Ask for 8 or fewer on a node.",
    ),
    "none has as much free": (
        room(one=(16, 2), two=(16, 3), three=(4, 4)),
        "Needs 9 free A100 on one node; the most free is 4, on three",
        "It starts as soon as a node has that much free. Ask for less to start sooner.",
    ),
    "none has any": (
        room(one=(0, 0)),
        "No node that it may run on has nvidia.com/gpu",
        "It starts when such a node is added. Run it again with what nodes have to start sooner.",
    ),
    "what is free now was not when the scheduler looked": (
        room(one=(16, 16)),
        "Needs 9 GPUs, but the only node doesn't fit: too few free",
        "It starts once a node has that much free; whether one is large enough is not known."
        " Ask for less to start sooner.",
    ),
}


@pytest.mark.parametrize("name", LACKS)
def test_what_is_lacking_where_nodes_are_known(name: str) -> None:
    there, sentence, hint = LACKS[name]
    job = situation("gpu-9")
    reason = job.reason(room=there)
    assert (reason.code, reason.sentence, reason.hint) == ("Unschedulable", sentence + WAIT, hint)
    place = replica_reason(job.replicas[0], job.state, job.events, now=job.now, room=there)
    assert place is not None and place.sentence == reason.sentence


def test_what_is_lacking_where_another_scheduler_tells_nothing() -> None:
    job = situation("gpu-9")
    condition = next(one for one in job.pods[0]["status"]["conditions"] if one["type"] == "PodScheduled")
    condition["message"] = "pod group is not ready"
    assert job.reason(room=room(one=(8, 8))).sentence == "No node has 9 A100: the only one, one, has 8" + WAIT


def test_room_does_not_explain_what_has_nothing_to_do_with_it() -> None:
    assert situation("claim-unbound").reason(room=room(one=(8, 8))).code == "UnboundClaim"
    assert situation("affinity").reason(room=room(one=(8, 8))).sentence.startswith("Needs a node with gpu=a100")


def test_devices_are_counted_in_numbers() -> None:
    """The API server writes 9000 as 9k."""
    job = situation("gpu-9")
    job.pods[0]["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": "9k"}}
    assert job.reason().sentence.startswith("Needs 9000 GPUs, ")


def test_what_init_containers_and_sidecars_ask_for_counts() -> None:
    job = situation("gpu-9")
    spec = job.pods[0]["spec"]
    spec["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "2"}}
    spec["initContainers"] = [
        {"name": "beside", "restartPolicy": "Always", "resources": {"limits": {"nvidia.com/gpu": "1"}}},
        {"name": "first", "resources": {"limits": {"nvidia.com/gpu": "4"}}},
    ]
    assert job.reason().sentence.startswith("Needs 5 GPUs, ")


def test_disk_is_said_in_gibibytes() -> None:
    job = situation("memory-much")
    job.pods[0]["spec"]["containers"][0]["resources"] = {"requests": {"ephemeral-storage": "10Gi"}}
    report = next(one for one in job.pods[0]["status"]["conditions"] if one["type"] == "PodScheduled")
    report["message"] = "0/1 nodes are available: 1 Insufficient ephemeral-storage."
    assert job.reason().sentence.startswith("Needs 10 GiB disk, ")


def test_a_queue_s_name_is_not_taken_for_our_own_words() -> None:
    job = situation("affinity")
    report = next(one for one in job.pods[0]["status"]["conditions"] if one["type"] == "PodScheduled")
    report["message"] = "0/1 nodes are available: 1 has found no place."
    group = {"metadata": {}, "spec": {}, "status": {"conditions": [{"type": "GroupScheduled", "status": "False"}]}}
    assert job.reason(group=group).code == "Unschedulable"


def test_a_report_of_another_scheduler_is_passed_on() -> None:
    job = situation("gpu-9")
    pod = job.pods[0]
    next(one for one in pod["status"]["conditions"] if one["type"] == "PodScheduled")["message"] = "pod group not ready"
    pod["spec"]["schedulerName"] = "t9k-scheduler"
    pod["metadata"]["labels"]["scheduler.tensorstack.dev/queue"] = "short"
    reason = job.reason()
    assert reason.code == "NoPlaceYet"
    start = "The scheduler t9k-scheduler has found no place for it in queue short yet"
    assert reason.sentence.startswith(start)
    assert reason.verbatim == "pod group not ready"


def test_a_volume_that_is_attached_elsewhere() -> None:
    job = situation("secret-volume")
    job.pods[0]["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "scratch"}}]
    event = next(event for event in job.events if event["reason"] == "FailedMount")
    event["reason"] = "FailedAttachVolume"
    event["message"] = (
        'Multi-Attach error for volume "pvc-0e2" Volume is already exclusively attached to one node and can\'t be'
        " attached to another"
    )
    assert job.reason().sentence == "The PVC scratch is attached to another node, 2 min"


# -- whatever the cluster says -----------------------------------------------------------------------------------------

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("x" * 5000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(leaf for key, item in items for leaf in leaves(item, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


def assert_fit_to_show(reason: Reason | None) -> None:
    if reason is None:
        return
    assert 0 < len(reason.sentence) <= 300
    assert reason.hint is None or len(reason.hint) <= 600
    for text, allowed in ((reason.sentence, ""), (reason.hint or "", ""), (reason.verbatim or "", "\n")):
        assert not [char for char in text if unicodedata.category(char)[0] == "C" and char not in allowed], text


@settings(deadline=None)
@given(st.data())
def test_no_shape_of_an_object_is_too_odd(data: st.DataObject) -> None:
    """One part of a real job, pod or event is replaced by anything."""
    job = situation(data.draw(st.sampled_from(NAMES)))
    whole = {"job": job.job, "pods": job.pods, "events": job.events}
    inner = [path for path in leaves(whole) if len(path) > (1 if path[:1] == ("job",) else 2)]
    odd = put(whole, data.draw(st.sampled_from(inner)), data.draw(JSON))
    state, places = job.kind.state(odd["job"], odd["pods"]), job.kind.replicas(odd["job"], odd["pods"])
    assert_fit_to_show(reason_of(odd["job"], None, state, places, odd["events"], now=job.now))
    for place in places[:10]:
        assert_fit_to_show(replica_reason(place, state, odd["events"], now=job.now))
    for event in events_of(odd["events"], places):
        assert not [char for char in event.message if unicodedata.category(char)[0] == "C" and char != "\n"]


@settings(deadline=None)
@given(JSON, JSON, st.lists(JSON.filter(lambda one: isinstance(one, dict)), max_size=3), st.text(max_size=3000))
def test_no_status_is_too_odd(status: Any, spec: Any, events: list[Any], words: str) -> None:
    pod = {"metadata": {"name": "x-worker-0", "uid": "u"}, "spec": spec, "status": status}
    place = ReplicaView("worker", 0, pod_name="x-worker-0", pod_uid="u", pod=pod)
    for phase in ("Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed", "Unknown"):
        state = State(phase, cause=words, message=words)  # type: ignore[arg-type]
        assert_fit_to_show(reason_of({"status": status}, None, state, [place], events, now=1e9))
    assert_fit_to_show(replica_reason(place, State("Running"), events, now=1e9))


@settings(deadline=None)
@given(st.text(max_size=4000) | st.from_regex(r"0/\d+ nodes are available: (\d+ [a-zA-Z(){}:, ]+, ){0,5}.*"))
def test_no_words_are_too_odd(words: str) -> None:
    job = situation("t9k-exit")
    for name in ("gpu-9", "image-none", "secret-missing", "secret-volume", "oom", "t9k-quota", "evicted"):
        job = situation(name)
        for pod in job.pods:
            for path in leaves(pod["status"]):
                if path and path[-1] in ("message", "reason"):
                    pod["status"] = put(pod["status"], path, words)
        for event in job.events:
            event["message"] = words
        assert_fit_to_show(job.reason())
