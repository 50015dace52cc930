"""Tasks that go on after the request that started them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from functools import partial
from typing import Any, TypeVar

Result = TypeVar("Result")


async def to_end(task: asyncio.Task[Result]) -> Result:
    """Wait for a task to its end, even if the one that waits is cancelled; the cancellation is raised after that.

    Parameters
    ----------
    task
        The task, which is not cancelled.

    Raises
    ------
    asyncio.CancelledError
        If the one that waits was cancelled.
    """
    cancelled = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()


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
