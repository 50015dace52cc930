"""How replicas ended, and which of them failed first, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...core.wording import SIGNALS, WORDS, code_in_words, died
from .attempts import AttemptRecord
from .events import Happening
from .fields import moment, part, parts, text, whole
from .kinds import Place, is_terminating
from .pods import containers, training
from .sentences import named, plain, within
from .transport import Json

_AT_ONCE: Final = 10.0
"""Seconds within which ends count as one: times are whole seconds, and a lost replica takes the others along."""

_NO_PROGRAM: Final = re.compile(
    r'exec: "(?P<program>[^"]{1,4096})": .*?(?P<why>executable file not found|no such file|permission denied)'
)
_NO_DIRECTORY: Final = re.compile(r'(?:chdir to cwd \("(?P<cwd>[^"]{1,4096})"\)|error during container init: mkdir )')
_TOLD: Final = re.compile(
    r"Error pod (?P<pod>\S+) container \S+ exitCode: (?P<code>[1-9]\d{0,2}) terminated message: (?P<message>.*)",
    re.DOTALL,
)
"""How Kubeflow's operator tells of an end in an event of the job; the event's reason is the container's."""
_LACKED: Final = re.compile(r"node was low on resource: (?P<resource>[\w./-]+)")
_VOLUME: Final = re.compile(r'EmptyDir volume "(?P<volume>[^"]{1,253})" exceeds the limit "(?P<limit>[^"]{1,60})"')

_LOST: Final = "Nothing is known to be wrong with the job itself. Run it again."
_DISRUPTIONS: Final = {
    "PreemptionByScheduler": ("Preempted", "had to make room on {node} for a more important pod"),
    "Preempting": ("Preempted", "had to make room on {node} for a more important pod"),
    "DeletionByTaintManager": ("NodeLost", "was lost with its node {node}"),
    "DeletionByPodGC": ("NodeLost", "was lost with its node {node}"),
    "NodeLost": ("NodeLost", "was lost with its node {node}"),
    "EvictionByEvictionAPI": ("Drained", "was asked to leave {node}, which was emptied"),
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
        The last line of its own last words, where it has left any for the cluster.
    hint, verbatim
        As of a `Reason`.
    """

    place: Place
    code: str
    words: str
    exit_code: int | None = None
    at: float | None = None
    error: str | None = None
    hint: str | None = None
    verbatim: str | None = None


def first_failure(
    places: Sequence[Place],
    happenings: Sequence[Happening] = (),
    lives: Mapping[str, Sequence[AttemptRecord]] | None = None,
) -> Ending | None:
    """Return how the replica ended that failed first; None if none is known to have failed.

    Of those that ended at nearly the same time it is the one whose end explains the others': out of memory, say,
    rather than a connection that was lost.

    Parameters
    ----------
    places
        The job's replicas.
    happenings
        What happened to the job, newest first: Kubeflow's operator tells of ends in events.
    lives
        What was seen of the replicas' attempts, by their names.
    """
    endings = []
    for place in places:
        gone = place.pod is None
        ending = _unseen(place, happenings, (lives or {}).get(place.name)) if gone else ending_of(place)
        if ending is not None:
            endings.append(ending)
    start = min((one.at for one in endings if one.at is not None), default=None)
    near = [one for one in endings if start is None or one.at is None or one.at - start <= _AT_ONCE]
    return min(near, key=lambda one: (_weight(one), one.at is None, one.at or 0.0), default=None)


def ending_of(place: Place) -> Ending | None:
    """Return how one replica failed, by its pod; None if it has not, or there is no pod."""
    pod = place.pod
    if pod is None:
        return None
    status = part(pod, "status")
    init, container, ended = _failed(place)
    at = moment(ended, "finishedAt") or _disrupted_at(pod)
    outside = _from_outside(place, pod, ended, at) if text(ended, "reason") != "OOMKilled" else None
    if outside is not None:
        return outside
    exit_code = whole(ended, "exitCode")
    if exit_code:
        of_container = _of_code(place, container, exit_code, at, ended)
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
        return Ending(place, cause, f"was turned away by {node_of(pod)}{why}", at=at, hint=_LOST, verbatim=message)
    return Ending(place, cause, f"failed{why}", at=at, verbatim=message)


def lost(place: Place) -> Ending | None:
    """Return why a pod is being ended from outside; None if it is not."""
    if place.pod is None or not is_terminating(place.pod):
        return None
    return _from_outside(place, place.pod, {}, None)


def last_words(ended: Json) -> str | None:
    """Return the last line that a container left for the cluster at its end; None if it left none.

    That is what it wrote to ``/dev/termination-log``, or the end of its log where its pod asks for that.
    """
    lines = [line for line in (text(ended, "message") or "").splitlines() if line.strip()]
    return plain(lines[-1]) or None if lines else None


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


def _weight(ending: Ending) -> int:
    """Return how well an end explains those of others; less is better."""
    if ending.code == "OOMKilled":
        return 0
    if ending.code not in ("ExitCode", "StartError", "ContainerFailed"):
        return 1
    return {137: 3, 143: 4, 130: 4}.get(ending.exit_code or 0, 2)


def _failed(place: Place) -> tuple[bool, Json, Json]:
    """Return the container that failed and how: the training container, if it did, else another.

    Before it stands whether it is one that initialises.
    """
    ended = [(init, one, part(status, "state", "terminated")) for init, one, status in containers(place.pod)]
    failed = [each for each in ended if whole(each[2], "exitCode")]
    return min(failed, key=lambda each: (not _trains(place, each[1]), each[0]), default=(False, training(place), {}))


def _trains(place: Place, container: Json) -> bool:
    """Whether it is the container that trains; no other of its pod has that name."""
    return text(container, "name") == text(training(place), "name")


def _from_outside(place: Place, pod: Json, ended: Json, at: float | None) -> Ending | None:
    """Say what ended a pod that did not end by itself."""
    message, exit_code = text(pod, "status", "message") or "", whole(ended, "exitCode") or None
    target = _disruption(pod)
    codes = [text(pod, "status", "reason"), text(target, "reason") if target.get("status") == "True" else None]
    if "Evicted" in codes or "TerminationByKubelet" in codes:
        words, hint = _evicted(pod, message or text(target, "message") or "")
        return Ending(place, "Evicted", words, exit_code, at, hint=hint, verbatim=message)
    for code in codes:
        if code in _DISRUPTIONS:
            ours, words = _DISRUPTIONS[code]
            said = message or text(target, "message")
            return Ending(place, ours, words.format(node=node_of(pod)), exit_code, at, hint=_LOST, verbatim=said)
    if text(pod, "status", "reason") == "DeadlineExceeded":
        return Ending(place, "DeadlineExceeded", "was ended at its deadline", exit_code, at, verbatim=message)
    return None


def _evicted(pod: Json, message: str) -> tuple[str, str]:
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
    return f"was evicted from {node_of(pod)}{f': {message}' if message else ''}", "Run it again."


def _perhaps_memory(limit: str | None) -> str:
    """Say what may have killed a container: not every node notices that memory ran out."""
    perhaps = f" It may have run out of memory: its limit is {named(limit)}." if limit else ""
    return f"The cluster does not say by what.{perhaps} Its log may end with the cause."


def how_ended(place: Place, container: Json, ended: Json) -> str:
    """Say how a container ended, to stand after its name: “was killed (137)”, “failed: ValueError: …”."""
    return _of_code(place, container, whole(ended, "exitCode") or 0, None, ended).words


def _of_code(place: Place, container: Json, code: int, at: float | None, ended: Json) -> Ending:
    message, error, reason = text(ended, "message"), last_words(ended), text(ended, "reason")
    limit = text(container, "resources", "limits", "memory")
    if reason == "OOMKilled":
        killed = "was killed: out of memory" + (f" ({code})" if code else "")
        said = f"Its memory limit is {named(limit)}. " if limit else ""
        less = ", or use smaller batches or fewer workers that load data" if _trains(place, container) else ""
        return Ending(
            place, "OOMKilled", killed, code or None, at, hint=f"{said}Give it more memory{less}.", verbatim=message
        )
    if reason in ("StartError", "ContainerCannotRun"):
        badly = started_badly(message or "", container)
        words = f"could not be started: {within(badly[0]) if badly else error or f'code {code}'}"
        return Ending(place, "StartError", words, code, at, None, badly[1] if badly else None, message)
    hint = None
    if code in SIGNALS:
        words = died(code)
        hint = _perhaps_memory(limit) if code == 137 else None
    elif error is not None:
        words = f"failed: {error}"
    elif code == 1:
        words, hint = "ended with an error (1)", "Its log says which."
    elif code in WORDS:
        words = f"failed: {code_in_words(code)}"
        hint = "The command, or one that it calls, is not in the image." if code == 127 else None
    else:
        words = f"ended with exit code {code}"
    return Ending(place, "ExitCode", words, code, at, error, hint, message)


def _disruption(pod: Json) -> Json:
    return next((one for one in parts(pod, "status", "conditions") if one.get("type") == "DisruptionTarget"), {})


def _disrupted_at(pod: Json) -> float | None:
    changes: Iterable[float | None] = (
        moment(one, "lastTransitionTime")
        for one in parts(pod, "status", "conditions")
        if one.get("type") in ("DisruptionTarget", "Ready")
    )
    return max((time for time in changes if time is not None), default=None)


def _unseen(place: Place, happenings: Sequence[Happening], lives: Sequence[AttemptRecord] | None) -> Ending | None:
    """Say how a replica failed whose pod is gone: by what was seen of it, the job's status, or its events."""
    life = lives[-1] if lives else None
    if life is not None and life["exit_code"] and life["cause"] is None:
        return _of_code(place, training(place), life["exit_code"], life["ended_at"], {"reason": life["reason"]})
    for one in happenings:
        told = _TOLD.match(one.message)
        if told is not None and told["pod"].endswith(f"-{place.name}"):
            said = {"reason": one.reason, "message": told["message"]}
            return _of_code(place, training(place), int(told["code"]), one.last, said)
    return _of_code(place, training(place), place.exit_code, None, {}) if place.exit_code else None
