"""A pod as people see it: kubectl's status text, its training container, volumes and accelerators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from ....core.job import Pod, PodMount
from ....core.spec import Device
from ..client.api import Json
from ..client.json_access import count, flag, moment, part, parts, text, texts, value, whole
from .kinds import ReplicaView, conditions, holds, is_terminating
from .requests import requests_of

_ENDED: Final = ("Succeeded", "Failed")
_MOST_DEVICES: Final = 1024
_MOST_WHOLE: Final = 2**31


# -- kubectl's status text ---------------------------------------------------------------------------------------------


def status_text(pod: Json) -> str:
    """Return what ``kubectl get pods`` shows as STATUS: ``Running``, ``Init:0/1``, ``ImagePullBackOff``.

    The rules are kubectl's of 1.34, tried against its own output on a cluster.
    """
    phase = text(pod, "status", "phase") or "Unknown"
    ended = phase in _ENDED
    if is_terminating(pod) and text(pod, "status", "reason") == "NodeLost":
        return "Unknown"
    if is_terminating(pod) and not ended:
        return "Terminating"
    status = text(pod, "status", "reason") or phase
    if part(conditions(pod).get("PodScheduled")).get("reason") == "SchedulingGated":
        status = "SchedulingGated"
    initializing = _initializing(pod)
    if initializing is not None and not holds(conditions(pod).get("Initialized")):
        return initializing
    return _of_containers(pod, initializing or status)


def _initializing(pod: Json) -> str | None:
    """Return which init container has not done its work yet, and why; None if all have."""
    sidecars = {text(container, "name") for container in _sidecars(pod)}
    for index, container in enumerate(parts(pod, "status", "initContainerStatuses")):
        terminated, waiting = part(container, "state", "terminated"), text(container, "state", "waiting", "reason")
        if terminated and count(terminated, "exitCode") == 0 and whole(terminated, "exitCode") is not None:
            continue
        if text(container, "name") in sidecars and flag(container, "started"):
            continue
        if terminated:
            return f"Init:{_terminated(terminated)}"
        if waiting is not None and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(parts(pod, 'spec', 'initContainers'))}"
    return None


def _of_containers(pod: Json, status: str) -> str:
    """Return what the containers proper say, the first of them last; `status` if they say nothing."""
    running = False
    for container in reversed(parts(pod, "status", "containerStatuses")):
        waiting, terminated = text(container, "state", "waiting", "reason"), value(container, "state", "terminated")
        if waiting is not None:
            status = waiting
        elif isinstance(terminated, dict):
            status = _terminated(terminated)
        elif flag(container, "ready") and isinstance(value(container, "state", "running"), dict):
            running = True
    if status == "Completed" and running:
        return "Running" if holds(conditions(pod).get("Ready")) else "NotReady"
    return status


def _terminated(state: Json) -> str:
    """Say how a container ended."""
    reason, signal = text(state, "reason"), whole(state, "signal")
    if reason is not None:
        return reason
    return f"Signal:{signal}" if signal else f"ExitCode:{whole(state, 'exitCode') or 0}"


def _sidecars(pod: Json) -> list[Json]:
    """Return the init containers that stay: those that are always restarted."""
    return [container for container in parts(pod, "spec", "initContainers") if stays(container)]


# -- a replica's pod ---------------------------------------------------------------------------------------------------


def containers(pod: Json | None) -> Iterator[tuple[bool, Json, Json]]:
    """Yield a pod's containers in the order in which they start: whether it is one that initialises, spec and status.

    The status is an empty object of one that has none yet.
    """
    for kind in ("initContainer", "container"):
        said = {text(status, "name"): status for status in parts(pod, "status", f"{kind}Statuses")}
        for container in parts(pod, "spec", f"{kind}s"):
            yield kind == "initContainer", container, said.get(text(container, "name"), {})


def training(place: ReplicaView) -> Json:
    """Return the training container as its pod's spec has it; an empty object if there is none."""
    return _named(parts(place.pod, "spec", "containers"), place.container)


def training_status(place: ReplicaView) -> Json:
    """Return the training container as its pod's status has it; an empty object if it has none yet."""
    name = text(training(place), "name")
    return next((one for one in parts(place.pod, "status", "containerStatuses") if text(one, "name") == name), {})


def _named(containers: list[Json], name: str | None) -> Json:
    return next((one for one in containers if text(one, "name") == name), containers[0] if containers else {})


def has_ended(pod: Json | None) -> bool:
    """Whether all containers of a pod have ended for good."""
    return text(pod, "status", "phase") in _ENDED


def is_running(place: ReplicaView) -> bool:
    """Whether a replica's training container runs now; without pods, whether the job says so."""
    if place.pod is None:
        return place.said == "Running"
    if has_ended(place.pod):
        return False
    return isinstance(value(training_status(place), "state", "running"), dict)


def goes_on(place: ReplicaView) -> bool:
    """Whether a replica still runs, as far as its node is heard of: pods of a lost one run for ever, but not ready."""
    if place.pod is None:
        return False
    return is_running(place) and (is_ready(place) or not is_terminating(place.pod))


def trained(place: ReplicaView) -> Json:
    """Return how the training container ended in its newest run; an empty object if it has not."""
    return part(training_status(place), "state", "terminated")


def stays(container: Json) -> bool:
    """Return whether an init container is a sidecar: it runs beside the others until they have ended."""
    return container.get("restartPolicy") == "Always"


def asked_to_end(pod: Json | None) -> float | None:
    """Return when a pod's deletion was asked for; None if it was not.

    The API server writes down when the grace period will be over.
    """
    until = moment(pod, "metadata", "deletionTimestamp")
    return None if until is None else until - count(pod, "metadata", "deletionGracePeriodSeconds")


def is_waiting(place: ReplicaView) -> bool:
    """Whether a replica has not begun in its present pod, or has none."""
    return place.pod is None or text(place.pod, "status", "phase") not in ("Running", *_ENDED)


def is_ready(place: ReplicaView) -> bool:
    """Whether a replica's pod is ready, as its conditions say."""
    return holds(conditions(part(place.pod)).get("Ready"))


def started_at(place: ReplicaView) -> float | None:
    """Return when the training container first began in this pod, as far as the pod still tells."""
    states = (part(training_status(place), "lastState"), part(training_status(place), "state"))
    times = [moment(state, kind, "startedAt") for state in states for kind in ("terminated", "running")]
    return min((time for time in times if time is not None), default=None)


def ended_at(place: ReplicaView) -> float | None:
    """Return when the training container ended; None while it goes on."""
    return moment(training_status(place), "state", "terminated", "finishedAt")


def restarts(place: ReplicaView) -> int:
    """Return how often the training container was started again in this pod."""
    return count(training_status(place), "restartCount")


def describe(place: ReplicaView) -> Pod | None:
    """Return a replica's pod as it really is; None without one."""
    pod = place.pod
    if pod is None:
        return None
    container = training(place)
    return Pod(
        name=text(pod, "metadata", "name") or place.pod_name or "",
        uid=text(pod, "metadata", "uid") or place.pod_uid or "",
        created_at=moment(pod, "metadata", "creationTimestamp") or 0.0,
        ip=text(pod, "status", "podIP"),
        image=text(container, "image"),
        command=[*texts(container, "command"), *texts(container, "args")],
        mounts=_mounts(pod, container),
        device=device(pod),
    )


# -- volumes -----------------------------------------------------------------------------------------------------------


def _mounts(pod: Json, container: Json) -> list[PodMount]:
    volumes = {text(volume, "name"): volume for volume in parts(pod, "spec", "volumes")}
    return [
        PodMount(
            path=text(mount, "mountPath") or "",
            source=source_in_words(volumes.get(text(mount, "name"), {})),
            sub_path=text(mount, "subPath") or text(mount, "subPathExpr"),
            read_only=flag(mount, "readOnly") or _read_only(volumes.get(text(mount, "name"), {})),
        )
        for mount in parts(container, "volumeMounts")
    ]


def _read_only(volume: Json) -> bool:
    if any(name in volume for name in ("configMap", "secret", "projected", "downwardAPI", "image")):
        return True
    return any(flag(source, "readOnly") for source in volume.values())


def source_in_words(volume: Json) -> str:
    """Say what a volume is: “PVC t9k-mnt”, “memory”, “ConfigMap x”, “folder /data of the node”."""
    if (claim := text(volume, "persistentVolumeClaim", "claimName")) is not None:
        return f"PVC {claim}"
    if "emptyDir" in volume:
        return "memory" if text(volume, "emptyDir", "medium") == "Memory" else "an empty folder"
    if (path := text(volume, "hostPath", "path")) is not None:
        return f"{path} of the node"
    if (name := text(volume, "configMap", "name")) is not None:
        return f"ConfigMap {name}"
    if (name := text(volume, "secret", "secretName")) is not None:
        return f"Secret {name}"
    if "projected" in volume:
        return " and ".join(dict.fromkeys(_projected(volume))) or "projected files"
    if "downwardAPI" in volume:
        return "the pod's own fields"
    if "nfs" in volume:
        return f"NFS {text(volume, 'nfs', 'server') or ''}:{text(volume, 'nfs', 'path') or ''}"
    if (driver := text(volume, "csi", "driver")) is not None:
        return f"CSI {driver}"
    if (image := text(volume, "image", "reference")) is not None:
        return f"image {image}"
    if "ephemeral" in volume:
        return "a PVC of the pod's own"
    return next((kind for kind in volume if kind != "name"), "a volume that the pod does not tell")[:100]


def _projected(volume: Json) -> Iterator[str]:
    """Say of what a projected volume is made; that of a service account has always three parts."""
    sources = parts(volume, "projected", "sources")
    if any("serviceAccountToken" in source for source in sources):
        yield "service account"
        return
    for source in sources:
        if (name := text(source, "configMap", "name")) is not None:
            yield f"ConfigMap {name}"
        elif (name := text(source, "secret", "name")) is not None:
            yield f"Secret {name}"
        elif "downwardAPI" in source:
            yield "the pod's own fields"


# -- accelerators ------------------------------------------------------------------------------------------------------


def devices(pod: Json) -> dict[str, int]:
    """Return how many of each device the scheduler counts for a pod."""
    return {
        name: min(int(count), _MOST_WHOLE)
        for name, count in requests_of(pod).items()
        if "/" in name and not name.startswith("attachable-volumes") and count >= 1
    }


def device(pod: Json) -> Device | None:
    """Return the accelerators of a pod; of several devices those that compute."""
    found = sorted(devices(pod).items(), key=lambda item: "rdma" in item[0])
    return Device(name=found[0][0], count=min(found[0][1], _MOST_DEVICES)) if found else None


def held(pods: Iterable[Json]) -> dict[str, int]:
    """Return how many of each device these pods have to themselves: those that are on a node, and not over."""
    total: Counter[str] = Counter()
    for pod in pods:
        if text(pod, "spec", "nodeName") is not None and not has_ended(pod):
            total.update(devices(pod))
    return dict(total)
