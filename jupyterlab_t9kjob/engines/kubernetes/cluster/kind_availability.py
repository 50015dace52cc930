"""Availability of the kinds of jobs and of the queueing systems in a cluster.

A kind counts as removed only after several discoveries in a row have not found it, because the jobs of a removed kind
count as deleted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final

from ....core.checks import Capability
from ....core.engine.info import RuntimeImage
from ....core.translation import Text, _
from ..client.api import KubeApi
from ..objects.kinds import JobKind, SharedKind
from .discovery import Found, find_kind, is_at_least, queueing_of, runtime_images, served_groups
from .permissions import allowed

MOST_MISSING: Final = 3
"""Number of discoveries in a row that must miss a kind before it counts as removed: an API server that starts, or a
proxy, may not know the kind for a moment."""
MISSING_SECONDS = 3.0
"""Least time between two such discoveries; those in between don't count."""
RETURN_SECONDS: Final = 600.0
"""Time for which discovery stays as frequent after a kind was removed, because it may be installed again."""


class Presence:
    """Kinds, queueing systems and images that the discoveries have found.

    Attributes
    ----------
    kinds
        Result of the discovery of each kind of job that the cluster has, by engine.
    groups
        API groups of the queueing systems that the cluster has, see `discovery.QUEUEING`, each with the version to use.
    images
        Images of the training runtimes of the cluster.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Found] = {}
        self.groups: dict[str, str] = {}
        self.images: list[RuntimeImage] = []
        # Number of discoveries in a row that have missed a kind or group, and the time of the last one.
        self._missing: dict[str, tuple[int, float]] = {}
        self._removed_at = -RETURN_SECONDS

    @property
    def doubtful(self) -> bool:
        """True if a discovery has missed a kind or group that may still be there."""
        return bool(self._missing)

    @property
    def haste(self) -> float | None:
        """Seconds until the next discovery if something is missing or was removed lately; else None."""
        recent = time.monotonic() - self._removed_at < RETURN_SECONDS
        return MISSING_SECONDS if self._missing or recent else None

    async def find_kind(self, api: KubeApi, kind: JobKind, version: str | None) -> Found | None:
        """Discover a kind; return None if the cluster does not have it.

        Parameters
        ----------
        api
            Client of the API server.
        kind
            Kind of job.
        version
            Version of the API server.

        Raises
        ------
        ApiError, Unreachable
            If the API server does not answer.
        """
        before = self.kinds.get(kind.engine)
        found = await find_kind(api, kind, version, before)
        if found is not None:
            self.kinds[kind.engine] = found
            if self._missing.pop(kind.engine, None) is not None:
                api.wake()
        elif before is not None and self._is_removed(kind.engine):
            del self.kinds[kind.engine], self._missing[kind.engine]
            self._removed_at = time.monotonic()
        return self.kinds.get(kind.engine)

    async def find_groups(self, api: KubeApi, namespaces: list[str]) -> None:
        """Discover the queueing systems, and the training runtimes of the cluster and of these namespaces.

        Parameters
        ----------
        api
            Client of the API server.
        namespaces
            Namespaces whose training runtimes are read; those after the fifth are ignored.

        Raises
        ------
        ApiError, Unreachable
            If the API server does not answer.
        """
        served = await served_groups(api)
        self.images = await runtime_images(api, served, namespaces)
        found = queueing_of(served)
        for group in self.groups.keys() - found.keys():
            if self._is_removed(group):
                del self.groups[group], self._missing[group]
        for group in found:
            self._missing.pop(group, None)
        self.groups |= found

    def _is_removed(self, name: str) -> bool:
        """Count a discovery that has missed a kind or group; return True if enough have."""
        count, last = self._missing.get(name, (0, -MISSING_SECONDS))
        now = time.monotonic()
        if now - last >= MISSING_SECONDS:
            self._missing[name] = count + 1, now
        return self._missing[name][0] >= MOST_MISSING


def why_unusable(kind: JobKind, version: str | None, permissions: Iterable[Mapping[str, Capability]]) -> Text | None:
    """Return why the jobs of a kind that the cluster has can't be used; None if they can.

    Parameters
    ----------
    kind
        Kind of job.
    version
        Version of the API server; None if it is not known.
    permissions
        The account's permissions in each namespace, from `Permissions.on_jobs`.
    """
    if not isinstance(kind, SharedKind):
        return None
    if version is not None and not is_at_least(version, kind.least_version):
        least = ".".join(map(str, kind.least_version))
        return _("It needs Kubernetes {least} or later, and this cluster has {version}.", least=least, version=version)
    used = [_is_used(found) for found in permissions]
    if any(used) or not used:
        return None
    return _("You don't have permission to see or create {kinds} ({group}).", kinds=f"{kind.kind}s", group=kind.group)


def is_watched(kind: JobKind, permissions: Mapping[str, Capability]) -> bool:
    """Return True if the jobs of a kind are watched in a namespace.

    A kind that other programs use too is not watched by an account that neither sees nor creates its jobs.

    Parameters
    ----------
    kind
        Kind of job.
    permissions
        The account's permissions in the namespace, from `Permissions.on_jobs`.
    """
    return not isinstance(kind, SharedKind) or ("list_jobs" in permissions and _is_used(permissions))


def _is_used(permissions: Mapping[str, Capability]) -> bool:
    return allowed(permissions, ("create_jobs",)) or allowed(permissions, ("list_jobs", "watch_jobs"))
