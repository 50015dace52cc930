"""Reasons for which a pod does not run yet: scheduling, volumes, images, init containers, containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ....core.job import Reason
from ....core.manifests.names import CLONE, GIT_CREDENTIALS, KUEUE_QUEUE
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, whole
from ..objects.events import ClusterEvent, newest_first
from ..objects.kinds import ReplicaView, conditions, holds
from ..objects.pods.pod import containers, has_ended, stays
from ..objects.text import cleaned, lasting_since, listed, made, minutes_since, named, waiting_since
from ..scheduling.node_fit import ClusterRoom
from .exits import how_ended, node_of, started_badly
from .git_clone import clone_problem, clone_running
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
"""Codes of image problems that a missing pull secret can cause."""
_CREATING: Final = ("ContainerCreating", "PodInitializing", "")
_MASTER_WAIT: Final = "init-pytorch"
"""Init container of Kubeflow's operator, which waits until the master's name resolves (`initcontainer.go`)."""


def waiting(
    replica: ReplicaView, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why a replica's pod does not run; None if it runs, or has ended.

    Parameters
    ----------
    replica
        The replica.
    events
        Events of its pod, in any order.
    now
        Seconds since the epoch; long waits are counted from their start.
    room
        Nodes of the cluster, if this account can read them.
    """
    return None if has_ended(replica.pod) else _Pod(replica, part(replica.pod), events, now, room).reason()


def waiting_container(replica: ReplicaView, name: str, events: Sequence[Json], *, now: float) -> Reason | None:
    """Return why a waiting container of a replica's pod has not been started; None if the pod has ended.

    Parameters
    ----------
    replica, events, now
        See `waiting`.
    name
        Name of the container.
    """
    return None if has_ended(replica.pod) else _Pod(replica, part(replica.pod), events, now).reason_of(name)


@dataclass(frozen=True)
class _Pod:
    """A pod that has not ended; see `waiting`."""

    replica: ReplicaView
    pod: Json
    events: Sequence[Json]
    now: float
    room: ClusterRoom | None = None

    @cached_property
    def cluster_events(self) -> list[ClusterEvent]:
        """Events of the pod, newest first."""
        return newest_first(self.events)

    @property
    def placed(self) -> Json:
        """Condition ``PodScheduled``: whether the scheduler has found a node."""
        return part(conditions(self.pod).get("PodScheduled"))

    @property
    def since(self) -> float | None:
        """Time at which the pod got its node, else at which it was created, in seconds since the epoch."""
        times = (moment(self.placed, "lastTransitionTime"), moment(self.pod, "metadata", "creationTimestamp"))
        return next((time for time in times if time is not None), None)

    @property
    def node(self) -> str:
        """Name of the pod's node."""
        return node_of(self.pod)

    def reason(self) -> Reason | None:
        """Return why the pod does not run; None if nothing is wrong with it."""
        if text(self.pod, "spec", "nodeName") is None and not holds(self.placed):
            return self._unplaced()
        for container, status in self._containers():
            reason = self._of_container(container, status)
            if reason is not None:
                return reason
        return None if parts(self.pod, "status", "containerStatuses") else self._not_begun()

    def reason_of(self, name: str) -> Reason:
        """Return why one of the pod's waiting containers is not started.

        The cause is the container itself, or an init container that has to end first.
        """
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
        unattached = next((one for one in self.cluster_events if one.reason == "FailedAttachVolume"), None)
        if unattached is not None:
            return self._mounting(unattached.message)
        sentence = _("Placed on {node}, which has not begun with it", node=self.node)
        return made("ContainerCreating", lasting_since(sentence, self.since, self.now))

    # -- no node yet ---------------------------------------------------------------------------------------------------

    def _unplaced(self) -> Reason:
        message = text(self.placed, "message") or ""
        gates = [name for gate in parts(self.pod, "spec", "schedulingGates") if (name := text(gate, "name"))]
        if text(self.placed, "reason") == "SchedulingGated" or gates:
            return self._gated(gates, message)
        nominated = text(self.pod, "status", "nominatedNodeName")
        if nominated is not None:
            sentence = _("Waits for less important pods to leave {node}", node=named(nominated))
            return made("MakingRoom", self._waits(sentence), verbatim=message)
        if message:
            reason = unschedulable(message, self.pod, self.room)
            grows = next((one.reason for one in self.cluster_events if "TriggerScaleUp" in one.reason), None)
            more = _("The cluster is adding a node for it.") if grows == "TriggeredScaleUp" else None
            sentence = self._waits(Text.restored(reason.sentence))
            return made(reason.code, sentence, sentences(more, reason.hint), verbatim=message)
        scheduler = text(self.pod, "spec", "schedulerName")
        if scheduler in (None, "default-scheduler"):
            return made("NotScheduled", self._waits(_("Waits for the scheduler")))
        sentence = self._waits(_("Waits for the scheduler {scheduler}", scheduler=named(scheduler or "")))
        hint = _("If this does not change, the cluster may have no scheduler of that name.")
        return made("NotScheduled", sentence, hint if minutes_since(self._created, self.now) else None)

    def _gated(self, gates: Sequence[str], message: str) -> Reason:
        """Return why a scheduling gate keeps the pod from being scheduled."""
        if any(gate.startswith("kueue.x-k8s.io/") for gate in gates):
            queue = text(self.pod, "metadata", "labels", KUEUE_QUEUE)
            if queue:
                sentence = _("Waits in queue {queue} for Kueue to let it in", queue=named(queue))
            else:
                sentence = _("Waits for Kueue to let it in")
            hint = _("It starts when its queue has room for the whole job.")
            return made("InQueue", self._waits(sentence), hint, verbatim=message)
        if gates:
            sentence = _n(
                "Waits: the gate {gates} keeps it from being placed",
                "Waits: the gates {gates} keep it from being placed",
                len(gates),
                gates=listed(gates),
            )
        else:
            sentence = _("Waits: a gate keeps it from being placed")
        hint = _("The component that set the gate has to remove it: usually a queue or a quota service of the cluster.")
        return made("SchedulingGated", self._waits(sentence), hint, verbatim=message)

    @property
    def _created(self) -> float | None:
        return moment(self.pod, "metadata", "creationTimestamp")

    def _waits(self, sentence: Text) -> Text:
        """Return a sentence with how long the pod has waited for a node."""
        return waiting_since(sentence, self._created, self.now)

    # -- its containers ------------------------------------------------------------------------------------------------

    def _containers(self) -> Iterator[tuple[Json, Json]]:
        """Yield the containers that have a status, with it, in the order in which they start."""
        for init, container, status in containers(self.pod):
            if status:
                yield {**container, "init": init}, status

    def _of_container(self, container: Json, status: Json) -> Reason | None:
        """Return why a container does not run, or an init container has not ended; None if nothing is wrong with it."""
        state, name = part(status, "state"), named(text(container, "name") or "")
        if container["init"] is True and "running" in state and not stays(container):
            begun = moment(state, "running", "startedAt")
            if name == _MASTER_WAIT:
                sentence = _("Waits until the master's pod exists")
                return made("WaitingForMaster", lasting_since(sentence, begun, self.now))
            sentence = clone_running(container) or _("The init container {container} is running", container=name)
            return made("InitContainer", lasting_since(sentence, begun, self.now))
        if container["init"] is True and whole(state, "terminated", "exitCode") and not stays(container):
            cloned = clone_problem(container, text(state, "terminated", "message"))
            if cloned is not None:
                return made("CodeNotCloned", cloned[0], cloned[1], verbatim=text(state, "terminated", "message"))
            who = _("The init container {container}", container=name)
            sentence = how_ended(self.replica, container, part(state, "terminated"), who)
            return made("InitContainerFailed", sentence, _("Its log says more."))
        return self._held(container, status, part(state, "waiting")) if "waiting" in state else None

    def _held(self, container: Json, status: Json, held: Json) -> Reason:
        """Return why a container is in the state ``waiting``."""
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
        return made(code, _("The container can't be started: {cause}", cause=message or code), verbatim=message)

    def _without_pull_secret(self, of_image: Reason) -> Reason:
        """Return that a pull secret is missing if that may be why the registry refuses an image."""
        messages = (one.message for one in self.cluster_events if one.reason == "FailedToRetrieveImagePullSecret")
        report = _NO_PULL_SECRET.search(next(messages, ""))
        if report is None:
            return of_image
        names, namespace = report["names"].replace(",", " ").split(), namespace_of(self.pod)
        if not names:
            return of_image
        if of_image.code not in _NEEDS_SECRET:
            also = _n(
                "Its pull secret {secrets} is not in {namespace} either.",
                "Its pull secrets {secrets} are not in {namespace} either.",
                len(names),
                secrets=listed(names),
                namespace=namespace,
            )
            return of_image.model_copy(update={"hint": sentences(of_image.hint, cleaned(also))})
        sentence = _n(
            "The image can't be pulled: its pull secret {secrets} is not in {namespace}",
            "The image can't be pulled: its pull secrets {secrets} are not in {namespace}",
            len(names),
            secrets=listed(names),
            namespace=namespace,
        )
        hint = _n(
            "Create it, or name another pull secret: the job starts by itself once the image can be pulled.",
            "Create them, or name others: the job starts by itself once the image can be pulled.",
            len(names),
        )
        return made("NoPullSecret", sentence, hint, verbatim=of_image.verbatim)

    def _configuration(self, container: Json, message: str) -> Reason:
        """Return the object that a container refers to and that does not exist."""
        clones = text(container, "name") == CLONE
        hint = _("Create it, and the job starts by itself; or leave it out under Environment.")
        hint = _secret_of_code() if clones else hint
        missing, key = self._missing(message, hint), _NO_KEY.search(message)
        if missing is not None:
            return missing
        if key is not None:
            sentence = _(
                "The {kind} {name} has no key {key}", kind=key["kind"], name=named(key["name"]), key=named(key["key"])
            )
            hint = _("Add the key, or name another one under Environment; the job starts by itself then.")
            if clones:
                hint = _("Add the key, and the job starts by itself; or name another Secret under Code.")
            return made(f"No{key['kind']}Key", sentence, hint, verbatim=message)
        sub_path = _SUB_PATH.search(message)
        if sub_path is not None:
            return self._no_sub_path(container, sub_path["name"], message)
        if "runAsNonRoot" in message:
            sentence = _("The image would run as root, which this cluster does not allow")
            return made("WouldBeRoot", sentence, _("Set a user id under Security."), verbatim=message)
        if message:
            sentence = _("The container can't be created: {message}", message=message)
        else:
            sentence = _("The container can't be created")
        return made("CreateContainerConfigError", sentence, verbatim=message)

    def _no_sub_path(self, container: Json, name: str, message: str) -> Reason:
        """Return that a folder of a volume can't be mounted."""
        mounts = parts(container, "volumeMounts")
        mount = next((one for one in mounts if one.get("name") == name and text(one, "subPath")), None)
        volume = self._volume([name])
        if mount is not None:
            folder = named(text(mount, "subPath") or "")
            sentence = _("{volume}: the folder {folder} can't be mounted", volume=volume, folder=folder)
        else:
            sentence = _("{volume}: a folder can't be mounted", volume=volume)
        hint = _("Check that the folder is on the volume, and that the job has permission to read it.")
        return made("NoSubPath", sentence, hint, verbatim=message)

    def _crashing(self, container: Json, status: Json, message: str) -> Reason:
        """Return how a container fails again and again."""
        name = named(text(container, "name") or "")
        who = _("Its init container {container}", container=name) if container["init"] is True else _("It")
        before = part(status, "lastState", "terminated")
        end = how_ended(self.replica, container, before, who) if before else _("{who} ends at once", who=who)
        cloned = clone_problem(container, text(before, "message"))
        end = cloned[0] if cloned is not None else end
        sentence = _n(
            "Keeps failing: {end}; {n} restart so far",
            "Keeps failing: {end}; {n} restarts so far",
            whole(status, "restartCount") or 0,
            end=end,
        )
        hint = _("It is restarted after a delay that grows with each restart.")
        return made("CrashLoopBackOff", sentence, hint, verbatim=message)

    # -- its volumes and images ----------------------------------------------------------------------------------------

    def _creating(self, image: str) -> Reason:
        """Return what the node is doing for a container: mounting volumes, pulling its image."""
        for one in self.cluster_events:
            if one.reason in ("FailedMount", "FailedAttachVolume", "FailedMapVolume"):
                return self._mounting(one.message)
            if one.reason == "FailedCreatePodSandBox":
                sentence = self._since_placed(_("The node {node} can't set the pod up", node=self.node))
                return made("NoSandbox", sentence, _("The node tries again."), verbatim=one.message)
            if one.reason == "Pulling" and image in one.message:
                sentence = _("Pulling image {image}", image=named(image))
                return made("Pulling", lasting_since(sentence, one.last, self.now))
            if one.reason in ("Pulled", "Created", "Started", "SuccessfulAttachVolume"):
                break
        return made("ContainerCreating", self._since_placed(_("Starting on {node}", node=self.node)))

    def _since_placed(self, sentence: Text) -> Text:
        """Return a sentence with the time since the pod got its node."""
        return lasting_since(sentence, self.since, self.now)

    def _mounting(self, message: str) -> Reason:
        """Return the volume that can't be mounted."""
        hint = _("Create it, and the job starts by itself; or leave it out as a volume.")
        hint = _secret_of_code() if f'"{GIT_CREDENTIALS}"' in message else hint
        missing, no_claim = self._missing(message, hint), _NO_CLAIM.search(message)
        if missing is not None:
            return missing
        if no_claim is not None:
            return no_such_claim(no_claim["claim"], self.pod, message)
        found, several = _VOLUME.search(message), _UNMOUNTED.search(message)
        names = several["names"].replace(",", " ").split() if several else [found["name"]] if found else []
        volume = self._volume(names)
        if "Multi-Attach error" in message:
            sentence = _("{volume} is attached to another node", volume=volume)
            hint = _("It can be on one node at a time: wait until the pod there ends, or use one that many can mount.")
            return made("VolumeInUse", self._since_placed(sentence), hint, verbatim=message)
        sentence = _("{volume} can't be mounted on {node}", volume=volume, node=self.node)
        return made("FailedMount", self._since_placed(sentence), _("The node tries again."), verbatim=message)

    def _volume(self, names: Sequence[str]) -> Text:
        """Return the first of some volumes in words: by its claim, which users know."""
        for volume in parts(self.pod, "spec", "volumes"):
            if text(volume, "name") in names:
                claim = text(volume, "persistentVolumeClaim", "claimName")
                if claim:
                    return _("The PVC {claim}", claim=named(claim))
                return _("The volume {volume}", volume=named(text(volume, "name") or ""))
        claims = claims_of(self.pod)
        if len(claims) == 1:
            return _("The PVC {claim}", claim=named(claims[0]))
        return _("The volume {volume}", volume=named(names[0])) if names else _("A volume")

    def _missing(self, message: str, hint: Text) -> Reason | None:
        """Return that a Secret or ConfigMap does not exist, with a hint; None for messages about something else."""
        missing = _MISSING.search(message)
        if missing is None:
            return None
        kind = _KINDS[missing["kind"].lower()]
        sentence = _(
            "There is no {kind} {name} in {namespace}",
            kind=kind,
            name=named(missing["name"]),
            namespace=namespace_of(self.pod),
        )
        return made(f"No{kind}", sentence, hint, verbatim=message)


def _secret_of_code() -> Text:
    return _("Create it, and the job starts by itself; or name another Secret under Code.")
