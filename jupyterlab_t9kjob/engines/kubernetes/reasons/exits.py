"""How a replica ended, in words, as its pod tells."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ....core.wording import failed
from ....logs.failures.advice import advice
from ....logs.failures.failure_text import told_by_message
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, whole
from ..objects.kinds import ReplicaView
from ..objects.pods import asked_to_end, containers, has_ended, is_ready, stays, trained, training
from ..objects.text import joined, named, plain, within

_NO_PROGRAM: Final = re.compile(
    r'exec: "(?P<program>[^"]{1,4096})": .*?(?P<why>executable file not found|no such file|permission denied)'
)
_NO_DIRECTORY: Final = re.compile(r'(?:chdir to cwd \("(?P<cwd>[^"]{1,4096})"\)|error during container init: mkdir )')
_LACKED: Final = re.compile(r"node was low on resource: (?P<resource>[\w./-]*\w)")
_VOLUME: Final = re.compile(r'EmptyDir volume "(?P<volume>[^"]{1,253})" exceeds the limit "(?P<limit>[^"]{1,60})"')

_MOST_LEFT: Final = 200
"""Characters of a termination message that stand in a hint."""
_IN_THE_LOG: Final = "Its log may end with the cause."
_FINE: Final = "Nothing is known to be wrong with the job itself."
_ASKED: Final = "Somebody asked for that: a person, an autoscaler, or whoever drains the node."
_DISRUPTIONS: Final = {
    "PreemptionByScheduler": ("Preempted", "had to make room on {node} for a more important pod"),
    "Preempting": ("Preempted", "had to make room on {node} for a more important pod"),
    "DeletionByPodGC": ("NodeLost", "was lost with its node {node}"),
    "NodeLost": ("NodeLost", "was lost with its node {node}"),
    "Terminated": ("NodeShutdown", "ended with its node {node}, which was shut down"),
    "NodeShutdown": ("NodeShutdown", "ended with its node {node}, which was shut down"),
    "Shutdown": ("NodeShutdown", "ended with its node {node}, which was shut down"),
}
"""Why a pod was ended from outside: its status' reason, or that of its condition ``DisruptionTarget``."""


@dataclass(frozen=True)
class Ending:
    """How a replica failed.

    Attributes
    ----------
    place
        The replica.
    code
        For programs: ``ExitCode``, ``OOMKilled``, ``Evicted``, ``Preempted`` …
    words
        What happened to it, to stand after its name: “was killed: out of memory (137)”.
    exit_code
        Its training container's, where that is known.
    at
        When, in seconds since the epoch.
    error
        The error that ended it, where what it left for the cluster tells that.
    hint, verbatim
        As of a `Reason`.
    rerun
        Whether the same job may well succeed when it is run again.
    """

    place: ReplicaView
    code: str
    words: str
    exit_code: int | None = None
    at: float | None = None
    error: str | None = None
    hint: str | None = None
    verbatim: str | None = None
    rerun: bool = False


def ending_of(place: ReplicaView, cordoned: Container[str] = ()) -> Ending | None:
    """Return how one replica failed, by its pod; None if it has not, or there is no pod."""
    pod = place.pod
    if pod is None or text(pod, "status", "phase") == "Succeeded":
        return None
    status = part(pod, "status")
    init, container, ended = _failed(place)
    at = moment(ended, "finishedAt") or _disrupted_at(pod)
    outside = _from_outside(place, pod, ended, at, cordoned) if text(ended, "reason") != "OOMKilled" else None
    if outside is not None:
        return outside
    asked = asked_to_end(pod)
    if asked is not None and ended and at is not None and at >= asked:
        return _deleted(place, asked, whole(ended, "exitCode"))
    exit_code = whole(ended, "exitCode")
    if exit_code:
        of_container = of_code(place, container, exit_code, at, ended)
        name = named(text(container, "name") or "")
        if init:
            words = f"could not start: its init container {name} {of_container.words}"
            return replace(of_container, code="InitContainerFailed", words=words)
        if not _trains(place, container):
            words = f"failed: its container {name} {of_container.words}"
            return replace(of_container, code="ContainerFailed", words=words)
        return of_container
    if text(status, "phase") != "Failed":
        return None
    message = text(status, "message") or ""
    cause, why = text(status, "reason") or "PodFailed", f": {message}" if message else ""
    if cause.startswith(("OutOf", "Unexpected", "NodeAffinity", "NodePorts", "Topology")):
        return Ending(
            place, cause, f"was turned away by {node_of(pod)}{why}", at=at, hint=_FINE, verbatim=message, rerun=True
        )
    return Ending(place, cause, f"failed{why}", at=at, verbatim=message)


def lost(place: ReplicaView, cordoned: Container[str] = ()) -> Ending | None:
    """Return why a pod is being ended from outside; None if it is not, or has ended before that by itself."""
    asked = asked_to_end(place.pod)
    if place.pod is None or asked is None:
        return None
    found = _from_outside(place, place.pod, {}, asked, cordoned)
    if found is not None:
        return found
    ended = trained(place)
    by_itself = has_ended(place.pod) or (ended and (moment(ended, "finishedAt") or asked) < asked)
    return None if by_itself else _deleted(place, asked, None)


def started_badly(message: str, container: Json) -> tuple[str, str] | None:
    """Return why a container could not be started, and what to do about it; None if the message does not tell."""
    program, directory = _NO_PROGRAM.search(message), _NO_DIRECTORY.search(message)
    image = named(text(container, "image") or "")
    if program is not None:
        wanted = named(program["program"])
        if program["why"] == "permission denied":
            return f"The program {wanted} may not be run", "Make the file executable, or run it with its interpreter."
        hint = "Use an image that has it, or correct the command."
        if wanted in ("torchrun", "python", "python3"):
            hint = "Use an image that has PyTorch, with its programs on the PATH."
        return f"There is no program {wanted} in image {image}", hint
    if directory is not None:
        cwd = named(directory["cwd"] or text(container, "workingDir") or "")
        return f"The working directory {cwd} can't be used in the container", "Choose a folder on one of its volumes."
    return None


def node_of(pod: Json) -> str:
    """Return the name of a pod's node, as it may stand in a sentence."""
    return named(text(pod, "spec", "nodeName") or "its node")


def _failed(place: ReplicaView) -> tuple[bool, Json, Json]:
    """Return the container that failed and how: the training container, if it did, else another.

    Before it stands whether it is one that initialises.
    """
    ended = [(init, one, part(status, "state", "terminated")) for init, one, status in containers(place.pod)]
    # the node ends sidecars after the others, with whatever code: nothing comes of that
    failed = [each for each in ended if whole(each[2], "exitCode") and not (each[0] and stays(each[1]))]
    return min(failed, key=lambda each: (not _trains(place, each[1]), each[0]), default=(False, training(place), {}))


def _trains(place: ReplicaView, container: Json) -> bool:
    """Whether it is the container that trains; no other of its pod has that name."""
    return text(container, "name") == text(training(place), "name")


def _from_outside(
    place: ReplicaView, pod: Json, ended: Json, at: float | None, cordoned: Container[str]
) -> Ending | None:
    """Say what ended a pod that did not end by itself."""
    message, exit_code = text(pod, "status", "message") or "", whole(ended, "exitCode") or None
    target = _disruption(pod)
    codes = [text(pod, "status", "reason"), text(target, "reason") if target.get("status") == "True" else None]
    if "Evicted" in codes or "TerminationByKubelet" in codes:
        words, hint = _evicted(pod, message or text(target, "message") or "")
        return Ending(place, "Evicted", words, exit_code, at, hint=hint, verbatim=message, rerun=hint is None)
    if "EvictionByEvictionAPI" in codes:
        drained = text(pod, "spec", "nodeName") in cordoned
        ours, why = ("Drained", ", which is being drained") if drained else ("Evicted", "")
        said, hint = message or text(target, "message"), _FINE if drained else f"{_ASKED} {_FINE}"
        words = f"was evicted from {node_of(pod)}{why}"
        return Ending(place, ours, words, exit_code, at, hint=hint, verbatim=said, rerun=True)
    if "DeletionByTaintManager" in codes:
        ours, words = _tainted(place, pod)
        said = message or text(target, "message")
        return Ending(place, ours, words, exit_code, at, hint=_FINE, verbatim=said, rerun=True)
    for code in codes:
        if code in _DISRUPTIONS:
            ours, words = _DISRUPTIONS[code]
            said = message or text(target, "message")
            words = words.format(node=node_of(pod))
            return Ending(place, ours, words, exit_code, at, hint=_FINE, verbatim=said, rerun=True)
    if text(pod, "status", "reason") == "DeadlineExceeded":
        return Ending(place, "DeadlineExceeded", "was ended at its deadline", exit_code, at, verbatim=message)
    return None


def _tainted(place: ReplicaView, pod: Json) -> tuple[str, str]:
    """Return what the deletion for a taint of its node amounts to: code and words.

    Nodes that do not answer get such a taint, but so do nodes that people want to be rid of pods. Only one that
    answers says how a container ended, and keeps its pod ready.
    """
    if trained(place) or is_ready(place):
        return "Tainted", f"had to leave {node_of(pod)}, which got a taint that it does not tolerate"
    return "NodeLost", f"was lost with its node {node_of(pod)}"


def _deleted(place: ReplicaView, asked: float, exit_code: int | None) -> Ending:
    words = "ended because its pod was deleted"
    return Ending(place, "PodDeleted", words, exit_code or None, asked, hint=_FINE, rerun=True)


def _evicted(pod: Json, message: str) -> tuple[str, str | None]:
    lacked, volume = _LACKED.search(message), _VOLUME.search(message)
    if volume is not None:
        paths = [
            text(mount, "mountPath")
            for container in parts(pod, "spec", "containers")
            for mount in parts(container, "volumeMounts")
            if text(mount, "name") == volume["volume"]
        ]
        where = named((paths and paths[0]) or volume["volume"])
        return (
            f"was evicted from {node_of(pod)}: more was written to {where} than its limit of {named(volume['limit'])}",
            "Raise the limit, or write less there.",
        )
    if lacked is not None:
        resource = {"ephemeral-storage": "disk space"}.get(lacked["resource"], named(lacked["resource"]))
        hint = f"Request as much {resource} as it uses, and it is among the last to go."
        return f"was evicted: {node_of(pod)} ran low on {resource}", hint
    return f"was evicted from {node_of(pod)}{f': {message}' if message else ''}", None


def _perhaps_memory(limit: str | None) -> str:
    """Say what may have ended a container: not every node notices that memory ran out."""
    perhaps = f" It may have run out of memory: its limit is {named(limit)}." if limit else ""
    return f"The cluster does not say why.{perhaps} {_IN_THE_LOG}"


def how_ended(place: ReplicaView, container: Json, ended: Json) -> str:
    """Say how a container ended, to stand after its name: “ended with exit code 3”."""
    return of_code(place, container, whole(ended, "exitCode") or 0, None, ended).words


def of_code(place: ReplicaView, container: Json, code: int, at: float | None, ended: Json) -> Ending:
    """Return how a replica failed whose container ended with a code.

    Parameters
    ----------
    place, container
        The replica, and the container as the pod's spec has it.
    code
        The container's exit code.
    at
        When it ended, in seconds since the epoch.
    ended
        The container's end as the pod's status has it, as far as it is known.
    """
    message, reason = text(ended, "message") or "", text(ended, "reason")
    if reason == "OOMKilled":
        return _out_of_memory(place, container, code, at, message)
    if reason in ("StartError", "ContainerCannotRun"):
        badly = started_badly(message, container)
        words = f"could not be started: {within(badly[0]) if badly else plain(message) or f'code {code}'}"
        return Ending(place, "StartError", words, code, at, None, badly[1] if badly else None, message)
    told = told_by_message(message, code)
    hint: str | None = advice(code, told.error, signaled=told.signaled)
    if told.error is None and code == 137:
        hint = _perhaps_memory(text(container, "resources", "limits", "memory"))
    if told.error is None:
        hint = joined(_left(message), hint or _IN_THE_LOG)
    words = failed(code, told.error, signaled=told.signaled)
    return Ending(place, "ExitCode", words, code, at, told.error, hint, message)


def _out_of_memory(place: ReplicaView, container: Json, code: int, at: float | None, message: str) -> Ending:
    """Say how a container ended in which the system killed a process for want of memory: itself, or a child of it."""
    limit = text(container, "resources", "limits", "memory")
    words = "was killed: out of memory (137)"
    if code != 137:
        words = f"ended with exit code {code}, after one of its processes was killed: out of memory"
    said = f"Its memory limit is {named(limit)}. " if limit else ""
    less = ", or use smaller batches or fewer workers that load data" if _trains(place, container) else ""
    return Ending(
        place, "OOMKilled", words, code or None, at, hint=f"{said}Give it more memory{less}.", verbatim=message
    )


def _left(message: str) -> str | None:
    """Say what a container left for the cluster at its end, which need not be the cause; None if it left nothing.

    That is what it wrote to ``/dev/termination-log``, or the end of its log where its pod asks for that.
    """
    lines = [line for line in message.splitlines() if line.strip()]
    last = plain(lines[-1], _MOST_LEFT) if lines else ""
    return f"Its termination message ends with “{last}”." if last else None


def _disruption(pod: Json) -> Json:
    return next((one for one in parts(pod, "status", "conditions") if one.get("type") == "DisruptionTarget"), {})


def _disrupted_at(pod: Json) -> float | None:
    changes: Iterable[float | None] = (
        moment(one, "lastTransitionTime")
        for one in parts(pod, "status", "conditions")
        if one.get("type") in ("DisruptionTarget", "Ready")
    )
    return max((time for time in changes if time is not None), default=None)
