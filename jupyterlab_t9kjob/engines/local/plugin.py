"""Entry point of the engine for jobs on this machine."""

from __future__ import annotations

from ...core.engine.context import EngineContext
from ...core.engine.protocol import Engine
from .engine import LocalEngine
from .settings import Settings

DAY_SECONDS = 86400


def make_engine(context: EngineContext) -> Engine:
    """Make the engine, with the settings of the server extension."""
    traits = context.parent
    settings = Settings(
        grace_seconds=traits.grace_seconds,
        device_pool=traits.device_pool,
        log_bytes=traits.log_bytes_per_job,
        keep_seconds=None if traits.keep_finished_days is None else traits.keep_finished_days * DAY_SECONDS,
    )
    return LocalEngine(context.home, context.root, context.resolve_kernel, settings, lab_kernels=context.lab_kernels)
