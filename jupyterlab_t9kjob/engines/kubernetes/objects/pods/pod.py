"""A pod for users: kubectl's status text, the training container, volumes and accelerators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .....core.job import Phase, Pod, PodMount
from .....core.spec import Device
from .....core.translation import Text, _, listing
from ...client.api import Json
from ...client.json_access import count, flag, moment, part, parts, text, texts, value, whole
from ..kinds import ReplicaView, conditions, holds, is_terminating
from .requests import requests_of

_ENDED: Final = ("Succeeded", "Failed")
_MOST_DEVICES: Final = 1024
_MOST_WHOLE: Final = 2**31


# -- kubectl's status text ---------------------------------------------------------------------------------------------


def status_text(pod: Json) -> str:
    """Return a pod's STATUS as ``kubectl get pods`` shows it: ``Running``, ``Init:0/1``, ``ImagePullBackOff``.

    The rules are those of kubectl 1.34; they were compared with its output on a cluster.
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
    """Return the status of the first init container that has not completed; None if all have."""
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
    """Return the status of the first container that waits or has ended; `status` if there is none."""
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
    """Return kubectl's status text of a container that has ended."""
    reason, signal = text(state, "reason"), whole(state, "signal")
    if reason is not None:
        return reason
    return f"Signal:{signal}" if signal else f"ExitCode:{whole(state, 'exitCode') or 0}"


def _sidecars(pod: Json) -> list[Json]:
    """Return the sidecars: init containers that are always restarted."""
    return [container for container in parts(pod, "spec", "initContainers") if stays(container)]


# -- a replica's pod ---------------------------------------------------------------------------------------------------


def containers(pod: Json | None) -> Iterator[tuple[bool, Json, Json]]:
    """Yield a pod's containers in the order in which they start.

    Yields
    ------
    init : bool
        True for an init container.
    container : dict
        The container in the pod's ``spec``.
    status : dict
        The container's status; empty if it has none yet.
    """
    for kind in ("initContainer", "container"):
        statuses = {text(status, "name"): status for status in parts(pod, "status", f"{kind}Statuses")}
        for container in parts(pod, "spec", f"{kind}s"):
            yield kind == "initContainer", container, statuses.get(text(container, "name"), {})


def training(replica: ReplicaView) -> Json:
    """Return the training container in the pod's ``spec``; empty if there is no pod."""
    return _named(parts(replica.pod, "spec", "containers"), replica.container)


def training_status(replica: ReplicaView) -> Json:
    """Return the status of the training container; empty if it has none yet."""
    if replica.pod is None:
        return {}
    name = text(training(replica), "name")
    return next((one for one in parts(replica.pod, "status", "containerStatuses") if text(one, "name") == name), {})


def _named(containers: list[Json], name: str | None) -> Json:
    return next((one for one in containers if text(one, "name") == name), containers[0] if containers else {})


def has_ended(pod: Json | None) -> bool:
    """Return True if all containers of a pod have ended for good."""
    return text(pod, "status", "phase") in _ENDED


def is_running(replica: ReplicaView) -> bool:
    """Return True if a replica's training container runs now; without a pod, the job's status decides."""
    if replica.pod is None:
        return replica.said == "Running"
    if has_ended(replica.pod):
        return False
    return isinstance(value(training_status(replica), "state", "running"), dict)


def goes_on(replica: ReplicaView) -> bool:
    """Return True if a replica still runs. A pod on a lost node counts as running for ever, but it is not ready."""
    if replica.pod is None:
        return False
    return is_running(replica) and (is_ready(replica) or not is_terminating(replica.pod))


def trained(replica: ReplicaView) -> Json:
    """Return the ``terminated`` state of the training container's newest run; empty if the run has not ended."""
    return part(training_status(replica), "state", "terminated")


def stays(container: Json) -> bool:
    """Return True if an init container is a sidecar: it runs beside the others until they have ended."""
    return container.get("restartPolicy") == "Always"


def asked_to_end(pod: Json | None) -> float | None:
    """Return when the deletion of a pod was requested, in seconds since the epoch; None if it was not requested.

    The pod has the time at which the grace period ends.
    """
    until = moment(pod, "metadata", "deletionTimestamp")
    return None if until is None else until - count(pod, "metadata", "deletionGracePeriodSeconds")


def is_waiting(replica: ReplicaView) -> bool:
    """Return True if a replica has no pod, or its pod has not started yet."""
    return replica.pod is None or text(replica.pod, "status", "phase") not in ("Running", *_ENDED)


def are_running(replicas: Sequence[ReplicaView], before: Phase | None) -> bool:
    """Return True if a job's replicas run: none waits, or some still do after they all have.

    Parameters
    ----------
    replicas
        The replicas.
    before
        Phase of the job until now; None if it is new.
    """
    return not any(map(is_waiting, replicas)) or (before == "Running" and any(map(is_running, replicas)))


def phase_of_suspended(replicas: Sequence[ReplicaView], before: Phase | None) -> Phase:
    """Return the phase of a job that is suspended: it is paused when its pods have ended.

    Parameters
    ----------
    replicas, before
        See `are_running`.
    """
    if any(map(goes_on, replicas)):
        return before if before in ("Pending", "Resuming") else "Running"
    return "Paused"


def is_ready(replica: ReplicaView) -> bool:
    """Return True if a replica's pod has the condition ``Ready``."""
    return holds(conditions(part(replica.pod)).get("Ready"))


def started_at(replica: ReplicaView) -> float | None:
    """Return when the training container first started in this pod, as far as the pod's status still has it."""
    states = (part(training_status(replica), "lastState"), part(training_status(replica), "state"))
    times = [moment(state, kind, "startedAt") for state in states for kind in ("terminated", "running")]
    return min((time for time in times if time is not None), default=None)


def ended_at(replica: ReplicaView) -> float | None:
    """Return when the training container ended, in seconds since the epoch; None if it runs or waits."""
    return moment(training_status(replica), "state", "terminated", "finishedAt")


def restarts(replica: ReplicaView) -> int:
    """Return the restart count of the training container in this pod."""
    return count(training_status(replica), "restartCount")


def describe(replica: ReplicaView) -> Pod | None:
    """Return the API's model of a replica's pod; None if the replica has no pod."""
    pod = replica.pod
    if pod is None:
        return None
    container = training(replica)
    return Pod(
        name=text(pod, "metadata", "name") or replica.pod_name or "",
        uid=text(pod, "metadata", "uid") or replica.pod_uid or "",
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


def source_in_words(volume: Json) -> Text:
    """Return the source of a volume: “PVC t9k-mnt”, “memory”, “ConfigMap x”, “/data on the node”."""
    if (claim := text(volume, "persistentVolumeClaim", "claimName")) is not None:
        return _("PVC {name}", name=claim)
    if "emptyDir" in volume:
        return _("memory") if text(volume, "emptyDir", "medium") == "Memory" else _("empty folder")
    if (path := text(volume, "hostPath", "path")) is not None:
        return _("{path} on the node", path=path)
    if (name := text(volume, "configMap", "name")) is not None:
        return _("ConfigMap {name}", name=name)
    if (name := text(volume, "secret", "secretName")) is not None:
        return _("Secret {name}", name=name)
    if "projected" in volume:
        sources = list(dict.fromkeys(_projected(volume)))
        return listing(sources) if sources else _("projected files")
    if "downwardAPI" in volume:
        return _("fields of the pod")
    if "nfs" in volume:
        nfs = part(volume, "nfs")
        return _("NFS {server}:{path}", server=text(nfs, "server") or "", path=text(nfs, "path") or "")
    if (driver := text(volume, "csi", "driver")) is not None:
        return _("CSI {driver}", driver=driver)
    if (image := text(volume, "image", "reference")) is not None:
        return _("image {image}", image=image)
    if "ephemeral" in volume:
        return _("PVC of the pod")
    kind = next((kind for kind in volume if kind != "name"), None)
    return _("unknown volume") if kind is None else Text.verbatim(kind[:100])


def _projected(volume: Json) -> Iterator[Text]:
    """Yield the sources of a projected volume; the volume of a service account has always the same three."""
    sources = parts(volume, "projected", "sources")
    if any("serviceAccountToken" in source for source in sources):
        yield _("service account")
        return
    for source in sources:
        if (name := text(source, "configMap", "name")) is not None:
            yield _("ConfigMap {name}", name=name)
        elif (name := text(source, "secret", "name")) is not None:
            yield _("Secret {name}", name=name)
        elif "downwardAPI" in source:
            yield _("fields of the pod")


# -- accelerators ------------------------------------------------------------------------------------------------------


def devices(pod: Json) -> dict[str, int]:
    """Return how many of each device the scheduler counts for a pod, by resource."""
    return {
        name: min(int(count), _MOST_WHOLE)
        for name, count in requests_of(pod).items()
        if "/" in name and not name.startswith("attachable-volumes") and count >= 1
    }


def device(pod: Json) -> Device | None:
    """Return the accelerators of a pod; network devices (RDMA) count only if there are no others."""
    found = sorted(devices(pod).items(), key=lambda item: "rdma" in item[0])
    return Device(name=found[0][0], count=min(found[0][1], _MOST_DEVICES)) if found else None


def held(pods: Iterable[Json]) -> dict[str, int]:
    """Return how many of each device pods hold, by resource: pods that are on a node and have not ended."""
    total: Counter[str] = Counter()
    for pod in pods:
        if text(pod, "spec", "nodeName") is not None and not has_ended(pod):
            total.update(devices(pod))
    return dict(total)
