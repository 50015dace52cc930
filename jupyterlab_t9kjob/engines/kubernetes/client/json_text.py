"""JSON of the cluster's API: its type, and helpers for parsing."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def without_managed_fields(item: Json) -> Json:
    """Return an object without ``managedFields``, which nothing reads and which are half of the object."""
    item["metadata"].pop("managedFields", None)
    return item
