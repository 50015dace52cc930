"""An engine whose jobs are plain processes of this machine, with logs in memory."""

from __future__ import annotations

from traitlets import Bool
from traitlets.config import Configurable

from jupyterlab_t9kjob.core.engine.context import EngineContext
from jupyterlab_t9kjob.core.engine.protocol import Engine


class SimpleProcesses(Configurable):
    """Settings of the engine in Jupyter's configuration: ``c.SimpleProcesses.enabled = True``."""

    enabled = Bool(False, help="Offer the engine “Simple processes”.").tag(config=True)


def make_engine(context: EngineContext) -> Engine | None:
    """Make the engine; jupyterlab_t9kjob calls this once, when the server starts."""
    from . import engine

    settings = SimpleProcesses(parent=context.parent)
    return engine.SimpleProcesses(context.resolve_kernel) if settings.enabled else None
