"""Items by id with the revisions of their last changes, for the feed."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

KEPT_REMOVALS = 1000


class RevisionTable:
    """Items by id, in the order of the revisions of their last changes.

    The ids of the last `KEPT_REMOVALS` removed items are kept.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, Any]] = {}
        self._gone: dict[str, int] = {}
        self.complete_since = 0

    def put(self, key: str, item: Any, revision: int) -> None:
        """Store a changed item, or its removal (None).

        Parameters
        ----------
        key
            Id of the item.
        item
            The item; None if it was removed.
        revision
            Revision of the change.
        """
        self._rows.pop(key, None)
        self._gone.pop(key, None)
        if item is not None:
            self._rows[key] = (revision, item)
            return
        self._gone[key] = revision
        if len(self._gone) > KEPT_REMOVALS:
            self.complete_since = self._gone.pop(next(iter(self._gone)))

    def revision(self, key: str) -> int:
        """Return the revision of an item's last change; 0 if it is not known."""
        return self._rows[key][0] if key in self._rows else self._gone.get(key, 0)

    def present(self) -> list[Any]:
        """Return all items."""
        return [item for _revision, item in self._rows.values()]

    def since(self, revision: int) -> tuple[list[Any], list[str]]:
        """Return the items that changed after a revision, and the ids of the items that were removed."""
        changed = takewhile(lambda row: row[0] > revision, reversed(self._rows.values()))
        gone = takewhile(lambda key: self._gone[key] > revision, reversed(self._gone))
        return [item for _revision, item in changed][::-1], list(gone)[::-1]
