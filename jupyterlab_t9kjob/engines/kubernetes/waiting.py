"""Why a pod does not run yet, in words: from the scheduler to its last container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...core.job import Reason
from ...core.wording import code_in_words
from .endings import last_words, node_of, started_badly
from .events import Happening
from .fields import moment, part, parts, text, whole
from .images import no_image
from .scheduling import claims_of, unschedulable
from .sentences import counted, joined, listed, made, named, waited
from .transport import Json

_MISSING: Final = re.compile(r'(?P<kind>secret|configmap) "(?P<name>[^"]{1,253})" not found', re.IGNORECASE)
_NO_KEY: Final = re.compile(r"couldn't find key (?P<key>\S+) in (?P<kind>Secret|ConfigMap) \S*?/?(?P<name>[^/\s]+)\s*$")
_VOLUME: Final = re.compile(r'(?:for volume|for|volume) "(?P<name>[^"]{1,253})"')
_UNMOUNTED: Final = re.compile(r"unmounted volumes=\[(?P<names>[^\]]*)\]")
_NO_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" not found')
_KINDS: Final = {"secret": "Secret", "configmap": "ConfigMap"}
_CREATING: Final = ("ContainerCreating", "PodInitializing", "")
_MASTER_WAIT: Final = "init-pytorch"
"""The operator's own init container, which waits until the master's name can be resolved (kube-engines.md §2.2)."""


def waiting(pod: Json, happenings: Sequence[Happening], *, now: float) -> Reason | None:
    """Return why a pod does not run yet; None if it does, or has ended.

    Parameters
    ----------
    pod
        The pod.
    happenings
        What happened to it, newest first.
    now
        Seconds since the epoch: a long wait counts up.
    """
    phase = text(pod, "status", "phase")
    if phase in ("Succeeded", "Failed"):
        return None
    created = moment(pod, "metadata", "creationTimestamp")
    placed = next((one for one in parts(pod, "status", "conditions") if one.get("type") == "PodScheduled"), {})
    if text(pod, "spec", "nodeName") is None and placed.get("status") != "True":
        return _unplaced(pod, placed, waited(created, now, " · waiting "))
    since = moment(placed, "lastTransitionTime") or created
    for container, status in _containers(pod):
        reason = _container(pod, container, status, happenings, since, now)
        if reason is not None:
            return reason
    if phase == "Running" or parts(pod, "status", "containerStatuses"):
        return None
    return made("ContainerCreating", f"Placed on {node_of(pod)}, which has not begun with it{waited(since, now)}")


def _unplaced(pod: Json, placed: Json, wait: str) -> Reason:
    message = text(placed, "message") or ""
    gates = [name for gate in parts(pod, "spec", "schedulingGates") if (name := text(gate, "name"))]
    if text(placed, "reason") == "SchedulingGated" or gates:
        return _gated(pod, gates, wait, message)
    if message:
        reason = unschedulable(message, pod)
        return made(reason.code, reason.sentence + wait, reason.hint, verbatim=message)
    scheduler = text(pod, "spec", "schedulerName")
    if scheduler in (None, "default-scheduler"):
        return made("NotScheduled", f"Waits for the scheduler{wait}")
    hint = "If this stays so, the cluster may have no scheduler of that name." if wait else None
    return made("NotScheduled", f"Waits for the scheduler {named(scheduler or '')}{wait}", hint)


def _gated(pod: Json, gates: Sequence[str], wait: str, message: str) -> Reason:
    if any(gate.startswith("kueue.x-k8s.io/") for gate in gates):
        queue = text(pod, "metadata", "labels", "kueue.x-k8s.io/queue-name")
        where = f" in queue {named(queue)}" if queue else ""
        hint = "It starts when its queue has room for the whole job."
        return made("InQueue", f"Waits{where} for Kueue to let it in{wait}", hint, verbatim=message)
    which = f"the gate {listed(gates)}" if len(gates) == 1 else f"the gates {listed(gates)}"
    held = which if gates else "a gate"
    hint = "Whatever put the gate there has to remove it: usually a queue or a quota service of the cluster."
    return made("SchedulingGated", f"Waits: {held} keeps it from being placed{wait}", hint, verbatim=message)


def _containers(pod: Json) -> list[tuple[Json, Json]]:
    """Return the containers in the order in which they start, each with its status."""
    found = []
    for specs, statuses in (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")):
        said = {name: status for status in parts(pod, "status", statuses) if (name := text(status, "name"))}
        found += [
            ({**spec, "init": specs == "initContainers"}, said[name])
            for spec in parts(pod, "spec", specs)
            if (name := text(spec, "name")) in said
        ]
    return found


def _container(
    pod: Json, container: Json, status: Json, happenings: Sequence[Happening], since: float | None, now: float
) -> Reason | None:
    """Return why one container does not run, or an init container has not ended; None if nothing is amiss."""
    state = part(status, "state")
    init, name = container["init"] is True, named(text(container, "name") or "")
    if init and "running" in state and text(container, "restartPolicy") != "Always":
        begun = waited(moment(state, "running", "startedAt"), now)
        if name == _MASTER_WAIT:
            return made("WaitingForMaster", f"Waits until the master's pod is there{begun}")
        return made("InitContainer", f"The init container {name} is running{begun}")
    if init and (whole(state, "terminated", "exitCode") or 0) != 0:
        code = whole(state, "terminated", "exitCode") or 0
        what = last_words(part(state, "terminated")) or code_in_words(code)
        return made("InitContainerFailed", f"The init container {name} failed: {what}", "Its log says more.")
    held = part(state, "waiting")
    if "waiting" not in state:
        return None
    return _held(pod, container, status, held, happenings, since, now)


def _held(
    pod: Json,
    container: Json,
    status: Json,
    held: Json,
    happenings: Sequence[Happening],
    since: float | None,
    now: float,
) -> Reason:
    code, message = text(held, "reason") or "", text(held, "message") or ""
    image = text(container, "image") or ""
    if code in _CREATING:
        return _creating(pod, container, happenings, since, now)
    of_image = no_image(code, message, image, node_of(pod))
    if of_image is not None:
        return of_image
    if code == "CreateContainerConfigError":
        return _configuration(message)
    if code == "CrashLoopBackOff":
        return _crashing(status, message)
    badly = started_badly(message, container)
    if badly is not None:
        return made(code, badly[0], badly[1], verbatim=message)
    return made(code, f"The container can't be started: {message or code}", verbatim=message)


def _configuration(message: str) -> Reason:
    """Say what a container refers to that is not there."""
    missing, key = _MISSING.search(message), _NO_KEY.search(message)
    if missing is not None:
        kind = _KINDS[missing["kind"].lower()]
        hint = f"Create it, or take it out under Environment; the job starts by itself once the {kind} exists."
        return made(
            f"No{kind}", f"There is no {kind} {named(missing['name'])} in its namespace", hint, verbatim=message
        )
    if key is not None:
        sentence = f"The {key['kind']} {named(key['name'])} has no key {named(key['key'])}"
        hint = "Add the key, or name another one under Environment; the job starts by itself then."
        return made(f"No{key['kind']}Key", sentence, hint, verbatim=message)
    if "runAsNonRoot" in message:
        sentence = "The image would run as root, which this cluster does not allow"
        return made("WouldBeRoot", sentence, "Set a user id under Security.", verbatim=message)
    sentence = f"The container can't be made: {message}" if message else "The container can't be made"
    return made("CreateContainerConfigError", sentence, verbatim=message)


def _crashing(status: Json, message: str) -> Reason:
    before = part(status, "lastState", "terminated")
    code, restarts = whole(before, "exitCode"), whole(status, "restartCount") or 0
    how = (
        "Out of memory" if text(before, "reason") == "OOMKilled" else code_in_words(code) if code is not None else None
    )
    words = last_words(before)
    sentence = f"Keeps failing: {words or how or 'it ends at once'}; {counted(restarts, 'restart')} so far"
    hint = joined(f"Last time: {how}." if words and how else None, "It starts again after a while, ever later.")
    return made("CrashLoopBackOff", sentence, hint, verbatim=message)


def _creating(pod: Json, container: Json, happenings: Sequence[Happening], since: float | None, now: float) -> Reason:
    """Say what the node is doing for a container: mounting volumes, pulling its image."""
    wait = waited(since, now)
    image = text(container, "image") or ""
    for one in happenings:
        if one.reason in ("FailedMount", "FailedAttachVolume", "FailedMapVolume"):
            return _mounting(one.message, pod, wait)
        if one.reason == "FailedCreatePodSandBox":
            sentence = f"The node {node_of(pod)} can't set the pod up{wait}"
            return made("NoSandbox", sentence, "The node goes on trying.", verbatim=one.message)
        if one.reason == "Pulling" and (not image or image in one.message):
            return made("Pulling", f"Pulling image {named(image)}{waited(one.last, now)}")
        if one.reason in ("Pulled", "Created", "Started", "SuccessfulAttachVolume"):
            break
    return made("ContainerCreating", f"Starting on {node_of(pod)}{wait}")


def _mounting(message: str, pod: Json, wait: str) -> Reason:
    missing, no_claim = _MISSING.search(message), _NO_CLAIM.search(message)
    if missing is not None:
        kind = _KINDS[missing["kind"].lower()]
        hint = "Create it, or take the volume that comes from it out; the job starts by itself once it exists."
        return made(
            f"No{kind}", f"There is no {kind} {named(missing['name'])} in its namespace", hint, verbatim=message
        )
    if no_claim is not None:
        hint = "Choose one that exists under Data, or create it."
        sentence = f"There is no PVC {named(no_claim['claim'])} in its namespace"
        return made("NoSuchClaim", sentence, hint, verbatim=message)
    which = _volume_in_words(message, pod)
    if "Multi-Attach error" in message:
        sentence = f"{which} is attached to another node{wait}"
        hint = (
            "It can be on one node at a time: wait until the pod there has ended, or use one that many nodes can mount."
        )
        return made("VolumeInUse", sentence, hint, verbatim=message)
    hint = "The node goes on trying."
    return made("FailedMount", f"{which} can't be mounted on {node_of(pod)}{wait}", hint, verbatim=message)


def _volume_in_words(message: str, pod: Json) -> str:
    """Name the volume of a message by its claim, as users know it."""
    found, several = _VOLUME.search(message), _UNMOUNTED.search(message)
    names = several["names"].replace(",", " ").split() if several else [found["name"]] if found else []
    for volume in parts(pod, "spec", "volumes"):
        if text(volume, "name") in names:
            claim = text(volume, "persistentVolumeClaim", "claimName")
            return f"The PVC {named(claim)}" if claim else f"The volume {named(text(volume, 'name') or '')}"
    claims = claims_of(pod)
    if len(claims) == 1:
        return f"The PVC {named(claims[0])}"
    return f"The volume {named(names[0])}" if names else "A volume"
