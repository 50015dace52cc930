"""Finds engines through the entry-point group `jupyterlab_t9kjob.engines`.

The name of an entry point is the name of the engine, and its object is a `core.engine_context.EngineFactory`. Engines
are sorted by `Engine.order`, then by name. If the engine of another distribution fails to load, it is listed as
unavailable with the reason, and the other engines work without it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from ..core.engine import Engine
from ..core.engine_context import EngineContext
from ..core.errors import Unavailable
from ..core.job import ENGINE_NAME_PATTERN
from ..core.translation import _
from .unavailable import UnavailableEngine

log = logging.getLogger(__name__)

GROUP: Final = "jupyterlab_t9kjob.engines"
OURS: Final = "jupyterlab_t9kjob"


def load_engines(context: EngineContext) -> dict[str, Engine]:
    """Return the engines of all installed distributions by name, in their order (blocking: modules are imported).

    Raises
    ------
    Unavailable
        If the entry points of this distribution are missing.
    """
    points = list(entry_points(group=GROUP))
    if not any(_is_ours(point) for point in points):
        message = _("The installation of jupyterlab_t9kjob has no entry points for its engines.")
        raise Unavailable(message, code="NoEngines", hint=_("Install jupyterlab_t9kjob again."))
    return sort_engines(engine for point in _unique(points) if (engine := _made(point, context)) is not None)


def sort_engines(engines: Iterable[Engine]) -> dict[str, Engine]:
    """Return engines by name, sorted by their declared order, then by name."""
    ordered = sorted(engines, key=lambda engine: (engine.order, engine.name))
    return {engine.name: engine for engine in ordered}


def _unique(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return one entry point for each valid name. Another distribution can't take a name of this one."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(points, key=lambda point: (not _is_ours(point), _distribution(point))):
        if re.fullmatch(ENGINE_NAME_PATTERN, point.name) is None:
            log.warning("The engine %r of %s has a name that is not allowed in ids.", point.name, _distribution(point))
        elif point.name in found:
            owner = _distribution(found[point.name])
            log.warning("The engine %r of %s is ignored: %s has one too.", point.name, _distribution(point), owner)
        else:
            found[point.name] = point
    return list(found.values())


def _made(point: EntryPoint, context: EngineContext) -> Engine | None:
    try:
        engine: Engine | None = point.load()(context)
        if engine is not None and engine.name != point.name:
            raise ValueError(f"the engine calls itself {engine.name!r}, and its entry point {point.name!r}")
    except Exception as error:
        if _is_ours(point):
            raise
        log.warning("The engine %s of %s could not be loaded.", point.name, _distribution(point), exc_info=True)
        reason = _(
            "The engine of the package {package} could not be loaded: {error}.",
            package=_distribution(point),
            error=f"{type(error).__name__}: {error}",
        )
        return UnavailableEngine(point.name, reason)
    return engine


def _is_ours(point: EntryPoint) -> bool:
    return _distribution(point) == OURS


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown distribution"
