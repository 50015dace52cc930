"""Resources that pods use in the namespaces that are watched for jobs: by this user's jobs, and by all pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...client.api import Json
from ...objects.pods.requests import Held, held_by
from ..namespace_watch import NamespaceWatch
from ..pod_fields import kept_pod


class OwnPods:
    """Counter of the pods' resources; results of unchanged pods are reused.

    Attributes
    ----------
    mine
        Resources that this user's jobs use, by node.
    all
        Resources that each pod uses, by node and uid; empty unless `count` was called with `whole`.
    """

    def __init__(self) -> None:
        self.mine: dict[str, Counter[str]] = {}
        self.all: dict[str, dict[str, Held]] = {}
        self._cache: dict[str, tuple[Json, Held | None]] = {}

    def count(self, spaces: Iterable[NamespaceWatch], *, whole: bool) -> set[str]:
        """Count anew; return the nodes whose usage has changed.

        Parameters
        ----------
        spaces
            The watched namespaces.
        whole
            True to count the pods of other users in these namespaces as well.
        """
        cache: dict[str, tuple[Json, Held | None]] = {}
        mine: dict[str, Counter[str]] = {}
        everything: dict[str, dict[str, Held]] = {}
        for space in spaces:
            for pod in space.own_pods():
                if (held := self._held_by(pod, cache)) is not None:
                    mine[held.node] = mine.get(held.node, Counter()) + held.amounts
            for uid, pod in space.pods.objects.items() if whole else ():
                if (held := self._held_by(pod, cache)) is not None:
                    everything.setdefault(held.node, {})[uid] = held
        changed = {name for name in mine.keys() | self.mine.keys() if mine.get(name) != self.mine.get(name)}
        changed |= {name for name in everything.keys() | self.all.keys() if everything.get(name) != self.all.get(name)}
        self._cache, self.mine, self.all = cache, mine, everything
        return changed

    def _held_by(self, pod: Json, cache: dict[str, tuple[Json, Held | None]]) -> Held | None:
        """Return the resources that a pod uses. The informer replaces the object whenever the pod changes."""
        uid = pod["metadata"]["uid"]
        entry = self._cache.get(uid)
        if entry is None or entry[0] is not pod:
            entry = pod, held_by(kept_pod(pod))
        cache[uid] = entry
        return entry[1]
