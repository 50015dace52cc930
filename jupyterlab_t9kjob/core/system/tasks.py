"""Tasks that outlive whoever asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


def spawn(work: Coroutine[Any, Any, Result], name: str) -> asyncio.Task[Result]:
    """Begin a task in a context of its own: that of a request would keep its connection as long as the task goes on."""
    return Context().run(partial(asyncio.create_task, work, name=name))
