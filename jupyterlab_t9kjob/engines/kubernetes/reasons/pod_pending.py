"""Why a pod does not run yet, in words: from the scheduler to its last container."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ....core.job import Reason
from ....core.manifests.names import KUEUE_QUEUE
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, whole
from ..objects.events import Happening, newest_first
from ..objects.kinds import ReplicaView, conditions, holds
from ..objects.pods import containers, has_ended, stays
from ..objects.text import counted, joined, listed, made, named, waited, within
from ..scheduling.node_fit import ClusterRoom
from .exits import how_ended, node_of, started_badly
from .image_pull import no_image
from .scheduler_report import claims_of, namespace_of, no_such_claim, unschedulable

_MISSING: Final = re.compile(r'(?P<kind>secret|configmap) "(?P<name>[^"]{1,253})" not found', re.IGNORECASE)
_NO_KEY: Final = re.compile(
    r"couldn't find key (?P<key>\S{1,253}) in (?P<kind>Secret|ConfigMap) (?:[^/\s]{1,63}/)?(?P<name>[^/\s]{1,253})\s*$"
)
_VOLUME: Final = re.compile(r'(?:for volume|for|volume) "(?P<name>[^"]{1,253})"')
_UNMOUNTED: Final = re.compile(r"unmounted volumes=\[(?P<names>[^\]]*)\]")
_NO_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" not found')
_KINDS: Final = {"secret": "Secret", "configmap": "ConfigMap"}
_SUB_PATH: Final = re.compile(r'subPath .*for volumeMount "(?P<name>[^"]{1,253})"')
_NO_PULL_SECRET: Final = re.compile(r"image pull secrets \((?P<names>[^)]{1,1000})\)")
_NEEDS_SECRET: Final = ("ImageNotAllowed", "NoSuchImage", "ImagePull")
"""What may come of a pull secret that is not there."""
_CREATING: Final = ("ContainerCreating", "PodInitializing", "")
_MASTER_WAIT: Final = "init-pytorch"
"""The operator's own init container, which waits until the master's name can be resolved (kube-engines.md §2.2)."""


def waiting(
    place: ReplicaView, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why a replica's pod does not run yet, or not any more; None if it runs, or has ended.

    Parameters
    ----------
    place
        The replica.
    events
        The cluster's events of its pod, in any order.
    now
        Seconds since the epoch: a long wait counts up.
    room
        What the cluster has, where that is known.
    """
    return None if has_ended(place.pod) else _Pod(place, part(place.pod), events, now, room).reason()


def waiting_container(place: ReplicaView, name: str, events: Sequence[Json], *, now: float) -> Reason | None:
    """Return why one container of a replica's pod, which waits, has not been started; None if the pod has ended.

    Parameters
    ----------
    place, events, now
        See `waiting`.
    name
        The container's.
    """
    return None if has_ended(place.pod) else _Pod(place, part(place.pod), events, now).reason_of(name)


@dataclass(frozen=True)
class _Pod:
    """A pod that has not ended; see `waiting`."""

    place: ReplicaView
    pod: Json
    events: Sequence[Json]
    now: float
    room: ClusterRoom | None = None

    @cached_property
    def happenings(self) -> list[Happening]:
        """What happened to it, newest first."""
        return newest_first(self.events)

    @property
    def placed(self) -> Json:
        """Its condition that says whether a node was found for it."""
        return part(conditions(self.pod).get("PodScheduled"))

    @property
    def since(self) -> float | None:
        """When it was placed on its node, else when it was made."""
        times = (moment(self.placed, "lastTransitionTime"), moment(self.pod, "metadata", "creationTimestamp"))
        return next((time for time in times if time is not None), None)

    @property
    def node(self) -> str:
        """The name of its node."""
        return node_of(self.pod)

    def reason(self) -> Reason | None:
        """Return why it does not run."""
        if text(self.pod, "spec", "nodeName") is None and not holds(self.placed):
            return self._unplaced()
        for container, status in self._containers():
            reason = self._of_container(container, status)
            if reason is not None:
                return reason
        return None if parts(self.pod, "status", "containerStatuses") else self._not_begun()

    def reason_of(self, name: str) -> Reason:
        """Return why one of its containers, which waits, is not started: itself, or those that have to end first."""
        if text(self.pod, "spec", "nodeName") is None and not holds(self.placed):
            return self._unplaced()
        for container, status in self._containers():
            own = text(container, "name") == name
            reason = self._of_container(container, status) if own or container["init"] is True else None
            if reason is not None:
                return reason
            if own:
                break
        return self._not_begun()

    def _not_begun(self) -> Reason:
        wait = waited(self.since, self.now)
        unattached = next((one for one in self.happenings if one.reason == "FailedAttachVolume"), None)
        if unattached is not None:
            return self._mounting(unattached.message, wait)
        return made("ContainerCreating", f"Placed on {self.node}, which has not begun with it{wait}")

    # -- no node yet ---------------------------------------------------------------------------------------------------

    def _unplaced(self) -> Reason:
        message = text(self.placed, "message") or ""
        wait = waited(moment(self.pod, "metadata", "creationTimestamp"), self.now, " · waiting ")
        gates = [name for gate in parts(self.pod, "spec", "schedulingGates") if (name := text(gate, "name"))]
        if text(self.placed, "reason") == "SchedulingGated" or gates:
            return self._gated(gates, wait, message)
        nominated = text(self.pod, "status", "nominatedNodeName")
        if nominated is not None:
            sentence = f"Waits for less important pods to leave {named(nominated)}{wait}"
            return made("MakingRoom", sentence, verbatim=message)
        if message:
            reason = unschedulable(message, self.pod, self.room)
            grows = next((one.reason for one in self.happenings if "TriggerScaleUp" in one.reason), None)
            more = "The cluster is adding a node for it." if grows == "TriggeredScaleUp" else None
            return made(reason.code, reason.sentence + wait, joined(more, reason.hint), verbatim=message)
        scheduler = text(self.pod, "spec", "schedulerName")
        if scheduler in (None, "default-scheduler"):
            return made("NotScheduled", f"Waits for the scheduler{wait}")
        hint = "If this stays so, the cluster may have no scheduler of that name." if wait else None
        return made("NotScheduled", f"Waits for the scheduler {named(scheduler or '')}{wait}", hint)

    def _gated(self, gates: Sequence[str], wait: str, message: str) -> Reason:
        if any(gate.startswith("kueue.x-k8s.io/") for gate in gates):
            queue = text(self.pod, "metadata", "labels", KUEUE_QUEUE)
            where = f" in queue {named(queue)}" if queue else ""
            hint = "It starts when its queue has room for the whole job."
            return made("InQueue", f"Waits{where} for Kueue to let it in{wait}", hint, verbatim=message)
        held = f"the gate {listed(gates)} keeps" if len(gates) == 1 else f"the gates {listed(gates)} keep"
        hint = "Whatever put it there has to take it away: usually a queue or a quota service of the cluster."
        sentence = f"Waits: {held if gates else 'a gate keeps'} it from being placed{wait}"
        return made("SchedulingGated", sentence, hint, verbatim=message)

    # -- its containers ------------------------------------------------------------------------------------------------

    def _containers(self) -> Iterator[tuple[Json, Json]]:
        """Yield the containers that have a status, in the order in which they start."""
        for init, container, status in containers(self.pod):
            if status:
                yield {**container, "init": init}, status

    def _of_container(self, container: Json, status: Json) -> Reason | None:
        """Return why one container does not run, or an init container has not ended; None if nothing is amiss."""
        state, name = part(status, "state"), named(text(container, "name") or "")
        if container["init"] is True and "running" in state and not stays(container):
            begun = waited(moment(state, "running", "startedAt"), self.now)
            if name == _MASTER_WAIT:
                return made("WaitingForMaster", f"Waits until the master's pod is there{begun}")
            return made("InitContainer", f"The init container {name} is running{begun}")
        if container["init"] is True and whole(state, "terminated", "exitCode") and not stays(container):
            how = how_ended(self.place, container, part(state, "terminated"))
            return made("InitContainerFailed", f"The init container {name} {how}", "Its log says more.")
        return self._held(container, status, part(state, "waiting")) if "waiting" in state else None

    def _held(self, container: Json, status: Json, held: Json) -> Reason:
        code, message = text(held, "reason") or "", text(held, "message") or ""
        if code in _CREATING:
            return self._creating(text(container, "image") or "")
        of_image = no_image(code, message, text(container, "image") or "", self.node)
        if of_image is not None:
            return self._without_pull_secret(of_image)
        if code == "CreateContainerConfigError":
            return self._configuration(container, message)
        if code == "CrashLoopBackOff":
            return self._crashing(container, status, message)
        badly = started_badly(message, container)
        if badly is not None:
            return made(code, badly[0], badly[1], verbatim=message)
        return made(code, f"The container can't be started: {message or code}", verbatim=message)

    def _without_pull_secret(self, of_image: Reason) -> Reason:
        """Say that a pull secret is not there, where that is why an image is not given out."""
        said = (one.message for one in self.happenings if one.reason == "FailedToRetrieveImagePullSecret")
        told = _NO_PULL_SECRET.search(next(said, ""))
        if told is None:
            return of_image
        names = told["names"].replace(",", " ").split()
        one = len(names) == 1
        verb = "is" if one else "are"
        missing = f"its pull secret{'' if one else 's'} {listed(names)} {verb} not in {namespace_of(self.pod)}"
        if of_image.code not in _NEEDS_SECRET:
            return of_image.model_copy(update={"hint": joined(of_image.hint, f"I{missing[1:]} either.")})
        sentence = f"The image can't be pulled: {missing}"
        what = "it, or name another pull secret" if one else "them, or name others"
        hint = f"Create {what}: the job starts by itself once the image can be pulled."
        return made("NoPullSecret", sentence, hint, verbatim=of_image.verbatim)

    def _configuration(self, container: Json, message: str) -> Reason:
        """Say what a container refers to that is not there."""
        missing, key = self._missing(message, "under Environment"), _NO_KEY.search(message)
        if missing is not None:
            return missing
        if key is not None:
            sentence = f"The {key['kind']} {named(key['name'])} has no key {named(key['key'])}"
            hint = "Add the key, or name another one under Environment; the job starts by itself then."
            return made(f"No{key['kind']}Key", sentence, hint, verbatim=message)
        sub_path = _SUB_PATH.search(message)
        if sub_path is not None:
            mounts = parts(container, "volumeMounts")
            mount = next((one for one in mounts if one.get("name") == sub_path["name"] and text(one, "subPath")), {})
            where = f"The folder {named(text(mount, 'subPath') or '')}" if mount else "A folder"
            sentence = f"{where} of {within(self._volume([sub_path['name']]))} can't be mounted"
            hint = "Check that the folder is on the volume, and that the job may go there."
            return made("NoSubPath", sentence, hint, verbatim=message)
        if "runAsNonRoot" in message:
            sentence = "The image would run as root, which this cluster does not allow"
            return made("WouldBeRoot", sentence, "Set a user id under Security.", verbatim=message)
        sentence = f"The container can't be made: {message}" if message else "The container can't be made"
        return made("CreateContainerConfigError", sentence, verbatim=message)

    def _crashing(self, container: Json, status: Json, message: str) -> Reason:
        who = f"its init container {named(text(container, 'name') or '')}" if container["init"] is True else "it"
        before = part(status, "lastState", "terminated")
        how = how_ended(self.place, container, before) if before else "ends at once"
        restarts = counted(whole(status, "restartCount") or 0, "restart")
        hint = "It starts again after a while, ever later."
        return made("CrashLoopBackOff", f"Keeps failing: {who} {how}; {restarts} so far", hint, verbatim=message)

    # -- its volumes and images ----------------------------------------------------------------------------------------

    def _creating(self, image: str) -> Reason:
        """Say what the node is doing for a container: mounting volumes, pulling its image."""
        wait = waited(self.since, self.now)
        for one in self.happenings:
            if one.reason in ("FailedMount", "FailedAttachVolume", "FailedMapVolume"):
                return self._mounting(one.message, wait)
            if one.reason == "FailedCreatePodSandBox":
                sentence = f"The node {self.node} can't set the pod up{wait}"
                return made("NoSandbox", sentence, "The node goes on trying.", verbatim=one.message)
            if one.reason == "Pulling" and image in one.message:
                return made("Pulling", f"Pulling image {named(image)}{waited(one.last, self.now)}")
            if one.reason in ("Pulled", "Created", "Started", "SuccessfulAttachVolume"):
                break
        return made("ContainerCreating", f"Starting on {self.node}{wait}")

    def _mounting(self, message: str, wait: str) -> Reason:
        missing, no_claim = self._missing(message, "as a volume"), _NO_CLAIM.search(message)
        if missing is not None:
            return missing
        if no_claim is not None:
            return no_such_claim(no_claim["claim"], self.pod, message)
        found, several = _VOLUME.search(message), _UNMOUNTED.search(message)
        names = several["names"].replace(",", " ").split() if several else [found["name"]] if found else []
        which = self._volume(names)
        if "Multi-Attach error" in message:
            sentence = f"{which} is attached to another node{wait}"
            hint = "It can be on one node at a time: wait till the pod there ends, or use one that many can mount."
            return made("VolumeInUse", sentence, hint, verbatim=message)
        sentence = f"{which} can't be mounted on {self.node}{wait}"
        return made("FailedMount", sentence, "The node goes on trying.", verbatim=message)

    def _volume(self, names: Sequence[str]) -> str:
        """Name the first of some volumes by its claim, as users know it."""
        for volume in parts(self.pod, "spec", "volumes"):
            if text(volume, "name") in names:
                claim = text(volume, "persistentVolumeClaim", "claimName")
                return f"The PVC {named(claim)}" if claim else f"The volume {named(text(volume, 'name') or '')}"
        claims = claims_of(self.pod)
        if len(claims) == 1:
            return f"The PVC {named(claims[0])}"
        return f"The volume {named(names[0])}" if names else "A volume"

    def _missing(self, message: str, where: str) -> Reason | None:
        """Say which Secret or ConfigMap is not there."""
        missing = _MISSING.search(message)
        if missing is None:
            return None
        kind = _KINDS[missing["kind"].lower()]
        sentence = f"There is no {kind} {named(missing['name'])} in {namespace_of(self.pod)}"
        hint = f"Create it, and the job starts by itself; or leave it out {where}."
        return made(f"No{kind}", sentence, hint, verbatim=message)
