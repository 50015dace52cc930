"""Pauses of Python's garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause the garbage collector: JSON and syntax trees have no cycles, and searching them doubles the parsing time.

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
