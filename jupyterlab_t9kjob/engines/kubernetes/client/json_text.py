"""JSON of the cluster's API: its type, and helpers for parsing."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Json = dict[str, Any]


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause the garbage collector: parsed JSON has no cycles, and searching them doubles the time of parsing.

    The collector goes through all objects that exist when the pause ends. Objects that were dropped or packed within
    the pause cost nothing, so `KubeApi.read` takes each object in within it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def without_managed_fields(item: Json) -> Json:
    """Return an object without ``managedFields``, which nothing reads and which are half of the object."""
    item["metadata"].pop("managedFields", None)
    return item
