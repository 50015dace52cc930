"""JSON as the cluster's API has it, and how it is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Json = dict[str, Any]


@contextmanager
def without_gc() -> Iterator[None]:
    """Read JSON without the garbage collector: there are no cycles in it, and to look for them takes as long again.

    The collector goes through all that is there when this has ended. So `KubeApi.read` has each object taken within
    it: what is let go of by then, or packed, costs nothing.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
