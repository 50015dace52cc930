"""Permissions of this account, as the API server's access reviews give them before a request is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ....core.checks import Capability
from ....core.manifests.names import KUEUE, T9K_SCHEDULER
from ....core.translation import Text, _, sentences
from ..client.api import ApiError, KubeApi, Unreachable
from ..objects.kinds import HasCompanions, JobKind
from .queue_objects import OBJECTS

AT_A_TIME = 6
_ALLOWED: Final = Capability(supported=True)


@dataclass(frozen=True)
class Permission:
    """One permission in the terms of RBAC.

    Attributes
    ----------
    verb, group, resource, subresource
        As a rule of a Role names them.
    missing
        Sentence that says that the account lacks the permission, with the parameters ``namespace`` and ``rule``.
    consequence
        Sentence that says what the page lacks then; None if `missing` says enough.
    cluster_wide
        True if the permission is needed in the whole cluster.
    """

    verb: str
    group: str
    resource: str
    missing: Text
    consequence: Text | None = None
    subresource: str = ""
    cluster_wide: bool = False

    @property
    def rule(self) -> str:
        """Rule of a Role that grants it, as an administrator reads it."""
        name = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {name}.{self.group}" if self.group else f"{self.verb} {name}"


_NO_REPLICAS: Final = _("Replicas can't be shown.")
_NO_EVENTS: Final = _("Events can't be shown, and reasons are less exact.")
_NO_QUOTAS: Final = _("It is not known how much of the quotas is left.")
NAMESPACE_PERMISSIONS: Final[Mapping[str, Permission]] = {
    "list_pods": Permission(
        "list",
        "",
        "pods",
        _("You don't have permission to see pods in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_REPLICAS,
    ),
    "watch_pods": Permission(
        "watch",
        "",
        "pods",
        _("You don't have permission to watch pods in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_REPLICAS,
    ),
    "read_logs": Permission(
        "get",
        "",
        "pods",
        _("You don't have permission to read logs of pods in namespace {namespace} ({rule}).", namespace="", rule=""),
        subresource="log",
    ),
    "list_events": Permission(
        "list",
        "",
        "events",
        _("You don't have permission to see events in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_EVENTS,
    ),
    "watch_events": Permission(
        "watch",
        "",
        "events",
        _("You don't have permission to watch events in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_EVENTS,
    ),
    "list_quotas": Permission(
        "list",
        "",
        "resourcequotas",
        _("You don't have permission to see quotas in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_QUOTAS,
    ),
    "watch_quotas": Permission(
        "watch",
        "",
        "resourcequotas",
        _("You don't have permission to watch quotas in namespace {namespace} ({rule}).", namespace="", rule=""),
        _NO_QUOTAS,
    ),
    "list_volumes": Permission(
        "list",
        "",
        "persistentvolumeclaims",
        _("You don't have permission to see volumes in namespace {namespace} ({rule}).", namespace="", rule=""),
        _("Type the names of volumes."),
    ),
    "get_volumes": Permission(
        "get",
        "",
        "persistentvolumeclaims",
        _("You don't have permission to read a volume in namespace {namespace} ({rule}).", namespace="", rule=""),
        _("The access modes of the lab's volumes are not known."),
    ),
    "list_namespaces": Permission(
        "list",
        "",
        "namespaces",
        _("You don't have permission to see namespaces in this cluster ({rule}).", rule=""),
        _("Type the names of namespaces."),
        cluster_wide=True,
    ),
}
"""Permissions that do not depend on the kind of job, by their names in `ClusterInfo.rights`."""


_CREATE_SERVICES: Final = Permission(
    "create",
    "",
    "services",
    _("You don't have permission to create Services in namespace {namespace} ({rule}).", namespace="", rule=""),
    _("The replicas of a Job find each other through a Service, so a job can have one replica only."),
)


def queue_permissions(group: str) -> dict[str, Permission]:
    """Return the permissions on the objects that a queueing system keeps for each job, by name."""
    system = {KUEUE: "Kueue", T9K_SCHEDULER: "T9k's scheduler"}[group]
    see = _(
        "You don't have permission to see how {system} queues jobs in namespace {namespace} ({rule}).",
        system=system,
        namespace="",
        rule="",
    )
    change = _(
        "You don't have permission to pause or resume jobs in a Kueue queue in namespace {namespace} ({rule}).",
        namespace="",
        rule="",
    )
    restarts = _("Kueue would start a job again that is only suspended.")
    return {
        "list": Permission("list", group, OBJECTS[group], see),
        "watch": Permission("watch", group, OBJECTS[group], see),
        "change": Permission("patch", group, OBJECTS[group], change, restarts),
    }


def job_permissions(kind: JobKind) -> dict[str, Permission]:
    """Return the permissions on a kind of job, by their names in `ClusterInfo.rights`."""
    see = _(
        "You don't have permission to see {kinds} in namespace {namespace} ({rule}).", kinds="", namespace="", rule=""
    )
    watch = _(
        "You don't have permission to watch {kinds} in namespace {namespace} ({rule}).", kinds="", namespace="", rule=""
    )
    create = _(
        "You don't have permission to create {kinds} in namespace {namespace} ({rule}).",
        kinds="",
        namespace="",
        rule="",
    )
    change = _(
        "You don't have permission to pause or resume {kinds} in namespace {namespace} ({rule}).",
        kinds="",
        namespace="",
        rule="",
    )
    delete = _(
        "You don't have permission to delete {kinds} in namespace {namespace} ({rule}).",
        kinds="",
        namespace="",
        rule="",
    )
    verbs = {
        "list_jobs": ("list", see),
        "watch_jobs": ("watch", watch),
        "create_jobs": ("create", create),
        "change_jobs": ("patch", change),
        "delete_jobs": ("delete", delete),
    }
    found = {
        name: Permission(verb, kind.group, kind.plural, missing.with_params(kinds=f"{kind.kind}s"))
        for name, (verb, missing) in verbs.items()
    }
    return {**found, "create_services": _CREATE_SERVICES} if isinstance(kind, HasCompanions) else found


class Permissions:
    """Table of the permissions that were read, by namespace."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], dict[str, Capability]] = {}

    @property
    def version(self) -> object:
        """Version of the table; changes whenever a permission does."""
        return dict(self._table)

    def on_jobs(self, kind: JobKind, namespace: str) -> dict[str, Capability]:
        """Return the permissions on a kind of job, and those of the namespace, by name.

        Parameters
        ----------
        kind
            Kind of job.
        namespace
            The namespace. Permissions that were not read in it are missing from the result.
        """
        return {**self._table.get(("", namespace), {}), **self._table.get((kind.engine, namespace), {})}

    def on_queueing(self, group: str, namespace: str) -> dict[str, Capability]:
        """Return the permissions on the objects of a queueing system, by name.

        Parameters
        ----------
        group
            API group of the queueing system.
        namespace
            The namespace. If its permissions were not read, the result is empty.
        """
        return self._table.get((group, namespace), {})

    async def read(
        self,
        api: KubeApi,
        namespace: str,
        kinds: Iterable[JobKind],
        groups: Iterable[str],
        *,
        again: bool = False,
        few: bool = False,
    ) -> None:
        """Read the permissions in a namespace.

        Parameters
        ----------
        api
            Client of the API server.
        namespace
            The namespace.
        kinds
            Kinds of jobs.
        groups
            API groups of queueing systems.
        again
            True to read also the permissions that are known.
        few
            True to leave out those that say nothing about jobs in a list.
        """
        wanted = {"": {} if few else NAMESPACE_PERMISSIONS} | {kind.engine: job_permissions(kind) for kind in kinds}
        wanted |= {group: queue_permissions(group) for group in groups}
        for name, permissions in wanted.items():
            if again or (name, namespace) not in self._table:
                self._table[name, namespace] = await _reviewed(api, permissions, namespace)


async def _reviewed(api: KubeApi, permissions: Mapping[str, Permission], namespace: str) -> dict[str, Capability]:
    """Return which of these permissions the account has in a namespace.

    A failed review counts as permission: the API server's refusal of the request itself tells then.
    """
    gate = asyncio.Semaphore(AT_A_TIME)

    async def one(permission: Permission) -> Capability:
        where = "" if permission.cluster_wide else namespace
        try:
            async with gate:
                granted = await api.may(
                    permission.verb, permission.group, permission.resource, where, permission.subresource
                )
        except (ApiError, Unreachable):
            return _ALLOWED
        if granted:
            return _ALLOWED
        missing = permission.missing.with_params(rule=permission.rule)
        if not permission.cluster_wide:
            missing = missing.with_params(namespace=namespace)
        return Capability(supported=False, reason=sentences(missing, permission.consequence))

    answers = await asyncio.gather(*map(one, permissions.values()))
    return dict(zip(permissions, answers, strict=True))


def allowed(permissions: Mapping[str, Capability], names: Iterable[str]) -> bool:
    """Return True if all of these permissions are there; a permission that was not read counts as there.

    Parameters
    ----------
    permissions
        Permissions by name, from `Permissions.on_jobs` or `Permissions.on_queueing`.
    names
        Names of the permissions that are needed.
    """
    return all(permissions.get(name, _ALLOWED).supported for name in names)
