"""What this account may do, as the API server says before it is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ....core.checks import Capability
from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ..client.api import ApiError, KubeApi, Unreachable
from ..objects.kinds import JobKind
from .queue_objects import OBJECTS

AT_A_TIME = 6
_YES: Final = Capability(supported=True)


@dataclass(frozen=True)
class Right:
    """Something that an account may do or not.

    Attributes
    ----------
    verb, group, resource, subresource
        As RBAC says it.
    words
        The action, to stand after “may not”.
    everywhere
        Whether it is asked for the whole cluster.
    so
        Consequence of its absence, a clause; empty where the action says it.
    """

    verb: str
    group: str
    resource: str
    words: str
    subresource: str = ""
    everywhere: bool = False
    so: str = ""

    @property
    def rule(self) -> str:
        """The rule of a Role that grants it, as an administrator reads it."""
        name = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {name}.{self.group}" if self.group else f"{self.verb} {name}"


_NO_REPLICAS: Final = "replicas can't be shown"
_LESS_EXACT: Final = "no events are shown and reasons are less exact"
_NO_QUOTAS: Final = "what is left of them is not known"
NAMESPACE_RIGHTS: Final[Mapping[str, Right]] = {
    "list_pods": Right("list", "", "pods", "see pods", so=_NO_REPLICAS),
    "watch_pods": Right("watch", "", "pods", "watch pods", so=_NO_REPLICAS),
    "read_logs": Right("get", "", "pods", "read the logs of pods", subresource="log"),
    "list_events": Right("list", "", "events", "see events", so=_LESS_EXACT),
    "watch_events": Right("watch", "", "events", "watch events", so=_LESS_EXACT),
    "list_quotas": Right("list", "", "resourcequotas", "see quotas", so=_NO_QUOTAS),
    "watch_quotas": Right("watch", "", "resourcequotas", "watch quotas", so=_NO_QUOTAS),
    "list_volumes": Right("list", "", "persistentvolumeclaims", "see volumes", so="their names must be typed"),
    "get_volumes": Right(
        "get", "", "persistentvolumeclaims", "read a volume", so="the access modes of the lab's volumes are not known"
    ),
    "list_namespaces": Right(
        "list", "", "namespaces", "see namespaces", everywhere=True, so="their names must be typed"
    ),
}
"""By the names under which `ClusterInfo.rights` has them."""


_CHANGE_QUEUED: Final = "pause or resume jobs in a queue of Kueue, which would start a job again that is only suspended"


def queue_rights(group: str) -> dict[str, Right]:
    """Return the rights on what an API group has for each job that it queues."""
    system = {KUEUE: "Kueue", T9K_SCHEDULER: "T9k's scheduler"}[group]
    verbs = {verb: (verb, f"see what {system} says of jobs") for verb in ("list", "watch")}
    verbs["change"] = ("patch", _CHANGE_QUEUED)
    return {name: Right(verb, group, OBJECTS[group], words) for name, (verb, words) in verbs.items()}


def job_rights(kind: JobKind) -> dict[str, Right]:
    """Return the rights on a kind of job, by the same names."""
    verbs = {
        "list_jobs": ("list", f"see {kind.kind}s"),
        "watch_jobs": ("watch", f"watch {kind.kind}s"),
        "create_jobs": ("create", f"create {kind.kind}s"),
        "change_jobs": ("patch", f"pause or resume {kind.kind}s"),
        "delete_jobs": ("delete", f"delete {kind.kind}s"),
    }
    return {name: Right(verb, kind.group, kind.plural, words) for name, (verb, words) in verbs.items()}


class Rights:
    """What this account may do in each namespace, as far as it was asked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, Capability]] = {}

    @property
    def known(self) -> object:
        """Tells one state of what is known from the next."""
        return dict(self._known)

    def on_jobs(self, kind: JobKind, namespace: str) -> dict[str, Capability]:
        """Return what may be done with a kind of job, and all that comes with it, by name."""
        return {**self._known.get(("", namespace), {}), **self._known.get((kind.engine, namespace), {})}

    def on_queueing(self, group: str, namespace: str) -> dict[str, Capability]:
        """Return what may be done with what an API group has for each job that it queues, by name."""
        return self._known.get((group, namespace), {})

    async def ask(
        self, api: KubeApi, namespace: str, kinds: Iterable[JobKind], groups: Iterable[str], *, again: bool = False
    ) -> None:
        """Ask what may be done in a namespace, as far as it is not known; `again` asks for all of it."""
        wanted = {"": NAMESPACE_RIGHTS} | {kind.engine: job_rights(kind) for kind in kinds}
        wanted |= {group: queue_rights(group) for group in groups}
        for name, rights in wanted.items():
            if again or (name, namespace) not in self._known:
                self._known[name, namespace] = await _ask(api, rights, namespace)


async def _ask(api: KubeApi, rights: Mapping[str, Right], namespace: str) -> dict[str, Capability]:
    """Return which of these rights this account has in a namespace, each with the reason where it has not.

    What can't be asked counts as allowed: the cluster's own refusal then tells.
    """
    gate = asyncio.Semaphore(AT_A_TIME)

    async def one(right: Right) -> Capability:
        where = "" if right.everywhere else namespace
        try:
            async with gate:
                allowed = await api.may(right.verb, right.group, right.resource, where, right.subresource)
        except (ApiError, Unreachable):
            return _YES
        if allowed:
            return _YES
        place = "in this cluster" if right.everywhere else f"in namespace {namespace}"
        so = f", so {right.so}" if right.so else ""
        return Capability(supported=False, reason=f"This account may not {right.words} {place} ({right.rule}){so}.")

    answers = await asyncio.gather(*map(one, rights.values()))
    return dict(zip(rights, answers, strict=True))


def allowed(rights: Mapping[str, Capability], names: Iterable[str]) -> bool:
    """Whether all of these rights are there; one that was not asked for is."""
    return all(rights.get(name, _YES).supported for name in names)
