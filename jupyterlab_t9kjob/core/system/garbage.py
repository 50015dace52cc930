"""Pauses of Python's garbage collector."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause the garbage collector until no thread is inside this context.

    JSON, syntax trees and rows of tables have no cycles, and searching them doubles the time in which they are made.
    The collector goes through all objects that exist when the pause ends. Objects that were dropped or packed within
    the pause cost nothing, so `KubeApi.read` takes each object in within it.
    """
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()
