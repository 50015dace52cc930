"""What pods hold of the namespaces that are watched for jobs: those of this user's jobs, and all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..client.api import Json
from ..objects.requests import Held, held_by
from .namespace_watch import NamespaceWatch
from .pod_fields import kept_pod


class OwnPods:
    """Counts them anew whenever asked; a pod that has not changed costs next to nothing.

    Attributes
    ----------
    mine
        What this user's jobs hold, by node.
    all
        What each pod holds, by node and uid; empty if not asked for.
    """

    def __init__(self) -> None:
        self.mine: dict[str, Counter[str]] = {}
        self.all: dict[str, dict[str, Held]] = {}
        self._known: dict[str, tuple[Json, Held | None]] = {}

    def count(self, spaces: Iterable[NamespaceWatch], *, whole: bool) -> set[str]:
        """Count; return the nodes of which something else is held than before.

        Parameters
        ----------
        whole
            Whether the pods of others in these namespaces count as well.
        """
        known: dict[str, tuple[Json, Held | None]] = {}
        mine: dict[str, Counter[str]] = {}
        everything: dict[str, dict[str, Held]] = {}
        for space in spaces:
            for pod in space.own_pods():
                if (held := self._held_by(pod, known)) is not None:
                    mine[held.node] = mine.get(held.node, Counter()) + held.amounts
            for uid, pod in space.pods.objects.items() if whole else ():
                if (held := self._held_by(pod, known)) is not None:
                    everything.setdefault(held.node, {})[uid] = held
        changed = {name for name in mine.keys() | self.mine.keys() if mine.get(name) != self.mine.get(name)}
        changed |= {name for name in everything.keys() | self.all.keys() if everything.get(name) != self.all.get(name)}
        self._known, self.mine, self.all = known, mine, everything
        return changed

    def _held_by(self, pod: Json, known: dict[str, tuple[Json, Held | None]]) -> Held | None:
        """Return what a pod holds; a pod is a new object whenever it changes."""
        uid = pod["metadata"]["uid"]
        entry = self._known.get(uid)
        if entry is None or entry[0] is not pod:
            entry = pod, held_by(kept_pod(pod))
        known[uid] = entry
        return entry[1]
