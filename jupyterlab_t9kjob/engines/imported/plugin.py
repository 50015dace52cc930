"""Entry point of the engine for imported jobs."""

from __future__ import annotations

from ...core.engine.context import EngineContext
from ...core.engine.protocol import Engine
from .engine import ImportedEngine


def make_engine(context: EngineContext) -> Engine:
    """Make the engine, with the limit of the server extension."""
    return ImportedEngine(context.home / "imported", context.parent.archive_bytes)
