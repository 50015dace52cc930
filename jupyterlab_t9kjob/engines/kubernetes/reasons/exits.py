"""Failure of a replica, read from its pod: exit codes, missing memory, evictions, lost nodes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ....core.texts.wording import failure
from ....core.translation import Text, _, sentences
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, whole
from ..objects.kinds import ReplicaView
from ..objects.pods.pod import asked_to_end, containers, has_ended, is_ready, stays, trained, training
from ..objects.text import named, plain
from .git_clone import clone_problem

_NO_PROGRAM: Final = re.compile(
    r'exec: "(?P<program>[^"]{1,4096})": .*?(?P<why>executable file not found|no such file|permission denied)'
)
_NO_DIRECTORY: Final = re.compile(r'(?:chdir to cwd \("(?P<cwd>[^"]{1,4096})"\)|error during container init: mkdir )')
_LACKED: Final = re.compile(r"node was low on resource: (?P<resource>[\w./-]*\w)")
_VOLUME: Final = re.compile(r'EmptyDir volume "(?P<volume>[^"]{1,253})" exceeds the limit "(?P<limit>[^"]{1,60})"')
_OWN_LIMIT: Final = re.compile(r"\bexceed(?:s|ed) (?:the|its)\b.*\blimit\b")  # It wrote more than it may.
_MOST_LEFT: Final = 200
"""Number of characters of a termination message that a hint shows."""
_IN_THE_LOG: Final = _("Its log may end with the cause.")
_FINE: Final = _("Nothing is known to be wrong with the job itself.")
_REQUESTED: Final = _("The eviction was requested by a person, an autoscaler or a drain of the node.")


@dataclass(frozen=True)
class Ending:
    """Failure of a replica.

    Attributes
    ----------
    replica
        The replica.
    code
        Code of the reason: ``ExitCode``, ``OOMKilled``, ``Evicted``, ``Preempted`` …
    sentence
        What happened, a text with the parameter ``who``: “worker-0 was killed: out of memory (137)”. See `of`.
    exit_code
        Exit code of the training container; None if it is not known.
    at
        Time of the end, in seconds since the epoch; None if it is not known.
    error
        Error that ended the replica, where its termination message tells the error.
    hint, verbatim
        See `core.job.Reason`.
    rerun
        True if the same job may succeed when it is run again.
    """

    replica: ReplicaView
    code: str
    sentence: Text
    exit_code: int | None = None
    at: float | None = None
    error: str | None = None
    hint: Text | None = None
    verbatim: str | None = None
    rerun: bool = False

    def of(self, who: str) -> Text:
        """Return the sentence about another subject: “The script”, “Its pod”."""
        return self.sentence.with_params(who=who)


def ending_of(replica: ReplicaView, cordoned: Container[str] = ()) -> Ending | None:
    """Return how a replica failed; None if its pod has not failed, or the replica has no pod.

    Parameters
    ----------
    replica
        The replica.
    cordoned
        Names of the cordoned nodes: an eviction from one of them is a drain.
    """
    pod = replica.pod
    if pod is None or text(pod, "status", "phase") == "Succeeded":
        return None
    init, container, ended = _failed(replica)
    at = moment(ended, "finishedAt") or _disrupted_at(pod)
    outside = _from_outside(replica, pod, ended, at, cordoned) if text(ended, "reason") != "OOMKilled" else None
    if outside is not None:
        return outside
    asked = asked_to_end(pod)
    if asked is not None and ended and at is not None and at >= asked:
        return _deleted(replica, asked, whole(ended, "exitCode"))
    exit_code = whole(ended, "exitCode")
    if exit_code:
        return _in_container(of_code(replica, container, exit_code, at, ended), container, init=init)
    return _of_failed_pod(replica, pod, at) if text(pod, "status", "phase") == "Failed" else None


def _in_container(ending: Ending, container: Json, *, init: bool) -> Ending:
    """Return the end of a replica by the end of one of its containers."""
    who, name = named(ending.replica.name), named(text(container, "name") or "")
    if init:
        cloned = clone_problem(container, ending.verbatim) if ending.code == "ExitCode" else None
        cause = cloned[0] if cloned else ending.of(_("Its init container {container}", container=name))
        code, hint = ("CodeNotCloned", cloned[1]) if cloned else ("InitContainerFailed", ending.hint)
        sentence = _("{who} could not start: {cause}", who=who, cause=cause)
        return replace(ending, code=code, sentence=sentence, hint=hint)
    if not _trains(ending.replica, container):
        cause = ending.of(_("Its container {container}", container=name))
        return replace(ending, code="ContainerFailed", sentence=_("{who} failed: {cause}", who=who, cause=cause))
    return ending


def _of_failed_pod(replica: ReplicaView, pod: Json, at: float | None) -> Ending:
    """Return the end of a pod that failed as a whole: its node turned it away, or the cluster says why."""
    who, message, code = named(replica.name), text(pod, "status", "message"), text(pod, "status", "reason")
    if code is not None and code.startswith(("OutOf", "Unexpected", "NodeAffinity", "NodePorts", "Topology")):
        node = node_of(pod)
        if message:
            sentence = _("{who} was turned away by {node}: {message}", who=who, node=node, message=message)
        else:
            sentence = _("{who} was turned away by {node}", who=who, node=node)
        return Ending(replica, code, sentence, at=at, hint=_FINE, verbatim=message, rerun=True)
    sentence = _("{who} failed: {message}", who=who, message=message) if message else _("{who} failed", who=who)
    return Ending(replica, code or "PodFailed", sentence, at=at, verbatim=message)


def lost(replica: ReplicaView, cordoned: Container[str] = ()) -> Ending | None:
    """Return why the cluster is ending a replica's pod; None if it is not, or if the training ended before that.

    Parameters
    ----------
    replica, cordoned
        See `ending_of`.
    """
    asked = asked_to_end(replica.pod)
    if replica.pod is None or asked is None:
        return None
    found = _from_outside(replica, replica.pod, {}, asked, cordoned)
    if found is not None:
        return found
    ended = trained(replica)
    by_itself = has_ended(replica.pod) or (ended and (moment(ended, "finishedAt") or asked) < asked)
    return None if by_itself else _deleted(replica, asked, None)


def started_badly(message: str, container: Json) -> tuple[Text, Text] | None:
    """Return why the runtime could not start a container, with a hint; None if its message does not tell.

    Parameters
    ----------
    message
        Message of the container runtime.
    container
        The container as the pod's spec has it.
    """
    program, directory = _NO_PROGRAM.search(message), _NO_DIRECTORY.search(message)
    if program is not None:
        wanted = named(program["program"])
        if program["why"] == "permission denied":
            return (
                _("The program {program} is not executable", program=wanted),
                _("Make the file executable, or run it with its interpreter."),
            )
        sentence = _(
            "There is no program {program} in image {image}",
            program=wanted,
            image=named(text(container, "image") or ""),
        )
        if wanted in ("torchrun", "python", "python3"):
            return sentence, _("Use an image that has PyTorch, with its programs on the PATH.")
        return sentence, _("Use an image that has it, or correct the command.")
    if directory is not None:
        cwd = named(directory["cwd"] or text(container, "workingDir") or "")
        return (
            _("The working directory {directory} can't be used in the container", directory=cwd),
            _("Choose a folder on one of its volumes."),
        )
    return None


def node_of(pod: Json) -> str:
    """Return the name of a pod's node for use in a sentence."""
    name = text(pod, "spec", "nodeName")
    return named(name) if name else _("its node")


def how_ended(replica: ReplicaView, container: Json, ended: Json, who: str) -> Text:
    """Return how a container ended: “The init container fetch ended with exit code 3”.

    Parameters
    ----------
    replica, container, ended
        See `of_code`.
    who
        Subject of the sentence.
    """
    return of_code(replica, container, whole(ended, "exitCode") or 0, None, ended).of(who)


def of_code(replica: ReplicaView, container: Json, code: int, at: float | None, ended: Json) -> Ending:
    """Return how a replica failed whose container ended with an exit code.

    Parameters
    ----------
    replica, container
        The replica, and the container as the pod's spec has it.
    code
        The container's exit code.
    at
        Time of the end, in seconds since the epoch.
    ended
        State ``terminated`` of the container, as far as it is known.
    """
    who, message, reason = named(replica.name), text(ended, "message") or "", text(ended, "reason")
    if reason == "OOMKilled":
        return _out_of_memory(replica, container, code, at, message)
    if reason in ("StartError", "ContainerCannotRun"):
        return _not_started(replica, container, code, at, message)
    from ....logs.failures import advice, failure_text

    cause = failure_text.cause_in_message(message, code)
    hint: str | None = advice.advice(code, cause.error, signaled=cause.signaled)
    if cause.error is None and code == 137:
        hint = _perhaps_memory(text(container, "resources", "limits", "memory"))
    if cause.error is None:
        hint = sentences(_left(message), hint or _IN_THE_LOG)
    sentence = failure(who, code, cause.error, signaled=cause.signaled)
    return Ending(replica, "ExitCode", sentence, code, at, cause.error, sentences(hint), message)


def _not_started(replica: ReplicaView, container: Json, code: int, at: float | None, message: str) -> Ending:
    """Return the end of a container that its runtime could not start."""
    who, words = named(replica.name), plain(message)
    badly = started_badly(message, container)
    hint = None
    if badly is not None:
        cause, hint = badly
        sentence = _("{who} could not be started: {cause}", who=who, cause=cause)
    elif words:
        sentence = _("{who} could not be started: {message}", who=who, message=words)
    else:
        sentence = _("{who} could not be started (exit code {exit_code})", who=who, exit_code=code)
    return Ending(replica, "StartError", sentence, code, at, None, hint, message)


def _out_of_memory(replica: ReplicaView, container: Json, code: int, at: float | None, message: str) -> Ending:
    """Return the end of a container in which the kernel killed a process because memory ran out.

    The killed process is the container's own (exit code 137) or a child of it.
    """
    who, limit = named(replica.name), text(container, "resources", "limits", "memory")
    sentence = _("{who} was killed: out of memory ({exit_code})", who=who, exit_code=137)
    if code != 137:
        sentence = _(
            "{who} ended with exit code {exit_code}, after one of its processes was killed: out of memory",
            who=who,
            exit_code=code,
        )
    if _trains(replica, container):
        more = _("Give it more memory, or use smaller batches or fewer workers that load data.")
    else:
        more = _("Give it more memory.")
    hint = sentences(_("Its memory limit is {limit}.", limit=named(limit)) if limit else None, more)
    return Ending(replica, "OOMKilled", sentence, code or None, at, hint=hint, verbatim=message)


def _perhaps_memory(limit: str | None) -> Text | None:
    """Return a hint for exit code 137: not every node reports that memory ran out."""
    perhaps = _("It may have run out of memory: its limit is {limit}.", limit=named(limit)) if limit else None
    return sentences(_("The cluster does not say why."), perhaps, _IN_THE_LOG)


def _left(message: str) -> Text | None:
    """Return a hint that quotes the last line of a termination message, which need not tell the cause; None without.

    The message is what the container wrote to ``/dev/termination-log``, or the end of its log if its pod asks for that.
    """
    lines = [line for line in message.splitlines() if line.strip()]
    last = plain(lines[-1], _MOST_LEFT) if lines else ""
    return _("Its termination message ends with “{line}”.", line=last) if last else None


def _failed(replica: ReplicaView) -> tuple[bool, Json, Json]:
    """Return the container that failed: True if it is an init container, its spec and its state ``terminated``.

    The training container comes first if several failed.
    """
    ended = [(init, one, part(status, "state", "terminated")) for init, one, status in containers(replica.pod)]
    # The node ends sidecars after the other containers; their exit codes mean nothing.
    failed = [each for each in ended if whole(each[2], "exitCode") and not (each[0] and stays(each[1]))]
    default: tuple[bool, Json, Json] = (False, training(replica), {})
    return min(failed, key=lambda each: (not _trains(replica, each[1]), each[0]), default=default)


def _trains(replica: ReplicaView, container: Json) -> bool:
    """Return True if a container is the training container; names are unique in a pod."""
    return text(container, "name") == text(training(replica), "name")


# -- ended from outside ------------------------------------------------------------------------------------------------


def _from_outside(
    replica: ReplicaView, pod: Json, ended: Json, at: float | None, cordoned: Container[str]
) -> Ending | None:
    """Return what ended a pod that did not end by itself: its status' reason, or that of ``DisruptionTarget``."""
    message, exit_code = text(pod, "status", "message") or "", whole(ended, "exitCode") or None
    target = _disruption(pod)
    codes = [text(pod, "status", "reason"), text(target, "reason") if target.get("status") == "True" else None]
    reported = message or text(target, "message")
    who, node = named(replica.name), node_of(pod)
    if "Evicted" in codes or "TerminationByKubelet" in codes:
        sentence, hint = _evicted(who, pod, reported or "")
        code = "StorageLimit" if _OWN_LIMIT.search(reported or "") else "Evicted"
        return Ending(replica, code, sentence, exit_code, at, hint=hint, verbatim=message, rerun=hint is None)
    if "EvictionByEvictionAPI" in codes:
        if text(pod, "spec", "nodeName") in cordoned:
            code, sentence = "Drained", _("{who} was evicted from {node}, which is being drained", who=who, node=node)
            hint = _FINE
        else:
            code, sentence = "Evicted", _("{who} was evicted from {node}", who=who, node=node)
            hint = sentences(_REQUESTED, _FINE)
        return Ending(replica, code, sentence, exit_code, at, hint=hint, verbatim=reported, rerun=True)
    found = next(filter(None, (_disrupted(replica, pod, code) for code in codes)), None)
    if found is not None:
        code, sentence = found
        return Ending(replica, code, sentence, exit_code, at, hint=_FINE, verbatim=reported, rerun=True)
    if text(pod, "status", "reason") == "DeadlineExceeded":
        sentence = _("{who} was ended at its deadline", who=who)
        return Ending(replica, "DeadlineExceeded", sentence, exit_code, at, verbatim=message)
    return None


def _disrupted(replica: ReplicaView, pod: Json, cause: str | None) -> tuple[str, Text] | None:
    """Return code and sentence for a disruption that has nothing to do with the pod itself; None for another cause."""
    who, node = named(replica.name), node_of(pod)
    match cause:
        case "PreemptionByScheduler" | "Preempting":
            return "Preempted", _("{who} had to make room on {node} for a more important pod", who=who, node=node)
        case "Terminated" | "NodeShutdown" | "Shutdown":
            return "NodeShutdown", _("{who} ended with its node {node}, which was shut down", who=who, node=node)
        # The node controller also taints nodes that do not answer, so this cause alone does not tell a lost node from
        # a taint of an administrator. Only a node that answers reports a container's end, or keeps its pod ready.
        case "DeletionByTaintManager" if trained(replica) or is_ready(replica):
            return "Tainted", _(
                "{who} had to leave {node}, which got a taint that it does not tolerate", who=who, node=node
            )
        case "DeletionByTaintManager" | "DeletionByPodGC" | "NodeLost":
            return "NodeLost", _("{who} was lost with its node {node}", who=who, node=node)
    return None


def _deleted(replica: ReplicaView, asked: float, exit_code: int | None) -> Ending:
    """Return the end of a replica whose pod was deleted at `asked`, in seconds since the epoch."""
    sentence = _("{who} ended because its pod was deleted", who=named(replica.name))
    return Ending(replica, "PodDeleted", sentence, exit_code or None, asked, hint=_FINE, rerun=True)


def _evicted(who: str, pod: Json, message: str) -> tuple[Text, Text | None]:
    """Return why a kubelet evicted a pod, with a hint."""
    lacked, volume, node = _LACKED.search(message), _VOLUME.search(message), node_of(pod)
    if volume is not None:
        paths = [
            text(mount, "mountPath")
            for container in parts(pod, "spec", "containers")
            for mount in parts(container, "volumeMounts")
            if text(mount, "name") == volume["volume"]
        ]
        sentence = _(
            "{who} was evicted from {node}: more was written to {path} than its limit of {limit}",
            who=who,
            node=node,
            path=named((paths and paths[0]) or volume["volume"]),
            limit=named(volume["limit"]),
        )
        return sentence, _("Raise the limit, or write less there.")
    if lacked is not None:
        resource = _("disk space") if lacked["resource"] == "ephemeral-storage" else named(lacked["resource"])
        return (
            _("{who} was evicted: {node} ran low on {resource}", who=who, node=node, resource=resource),
            _("A pod that requests as much {resource} as it uses is among the last to be evicted.", resource=resource),
        )
    if message:
        return _("{who} was evicted from {node}: {message}", who=who, node=node, message=message), None
    return _("{who} was evicted from {node}", who=who, node=node), None


def _disruption(pod: Json) -> Json:
    return next((one for one in parts(pod, "status", "conditions") if one.get("type") == "DisruptionTarget"), {})


def _disrupted_at(pod: Json) -> float | None:
    """Return when a pod was disrupted or stopped to be ready, in seconds since the epoch."""
    changes: Iterable[float | None] = (
        moment(one, "lastTransitionTime")
        for one in parts(pod, "status", "conditions")
        if one.get("type") in ("DisruptionTarget", "Ready")
    )
    return max((time for time in changes if time is not None), default=None)
