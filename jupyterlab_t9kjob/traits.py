"""Traits whose values on the command line may be JSON."""

from __future__ import annotations

import json
from typing import Any

from traitlets import List


class JsonList(List):  # type: ignore[type-arg]
    """A list whose value on the command line may be JSON.

    traitlets itself reads a list as a Python literal, which has no ``true``, and takes a list of objects for a single
    item. All forms that traitlets reads are also read here.
    """

    def from_string(self, s: str) -> list[Any] | None:
        """Return the list in a text.

        Raises
        ------
        TraitError
            If the text is not a list of valid items.
        """
        return self.from_string_list([s])

    def from_string_list(self, s_list: list[str]) -> list[Any] | None:
        """Return the list in one text, or the list of the items in several texts."""
        value = _parsed(s_list[0]) if len(s_list) == 1 else None
        return value if isinstance(value, list) else super().from_string_list(s_list)

    def item_from_string(self, s: str, index: int | None = None) -> Any:
        """Return the item in a text. The parameters are those of `traitlets.List.item_from_string`."""
        value = _parsed(s)
        return value if isinstance(value, dict) else super().item_from_string(s, index)


def _parsed(text: str) -> Any:
    """Return the value of a JSON text; None if the text is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None
