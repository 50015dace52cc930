"""Tasks that go on after the request that started them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


def spawn(work: Coroutine[Any, Any, Result], name: str) -> asyncio.Task[Result]:
    """Start a task in an empty context.

    The context of a request would keep the request's connection in memory until the task ends.

    Parameters
    ----------
    work
        Coroutine of the task.
    name
        Name of the task in logs.
    """
    return Context().run(partial(asyncio.create_task, work, name=name))
