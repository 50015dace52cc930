"""Traits that read their values from the command line as JSON."""

from __future__ import annotations

import json
from typing import Any

from traitlets import List


class JsonList(List):  # type: ignore[type-arg]
    """A list whose text on the command line may be JSON.

    traitlets reads a list as a Python literal, which has no ``true``, and takes the text of a list of objects for its
    only item. All its own forms are understood as well.
    """

    def from_string(self, s: str) -> list[Any] | None:
        """Return the list that a text stands for.

        Raises
        ------
        TraitError
            If the text stands for no list of the right items.
        """
        return self.from_string_list([s])

    def from_string_list(self, s_list: list[str]) -> list[Any] | None:
        """Return the list that one text, or the texts of its items, stand for."""
        value = _parsed(s_list[0]) if len(s_list) == 1 else None
        return value if isinstance(value, list) else super().from_string_list(s_list)

    def item_from_string(self, s: str, index: int | None = None) -> Any:
        """Return the item that a text stands for."""
        value = _parsed(s)
        return value if isinstance(value, dict) else super().item_from_string(s, index)


def _parsed(text: str) -> Any:
    """Return the value of a JSON text; None if the text is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None
