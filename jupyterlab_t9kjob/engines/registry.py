"""Finds engines through the entry-point group `jupyterlab_t9kjob.engines`.

The name of an entry point is the name of the engine, and its object is a `core.engine.context.EngineFactory`. Engines
are sorted by `Engine.order`, then by name. If the engine of another distribution fails to load, it is listed as
unavailable with the reason, and the other engines work without it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from ..core.engine.context import EngineContext
from ..core.engine.info import EngineFacts
from ..core.engine.protocol import Engine
from ..core.errors import Unavailable
from ..core.job import ENGINE_NAME_PATTERN
from ..core.system.entry_points import distribution, is_ours, unique
from ..core.translation import _
from .unavailable import UnavailableEngine

log = logging.getLogger(__name__)

GROUP: Final = "jupyterlab_t9kjob.engines"


def load_engines(context: EngineContext, only: str | None = None) -> dict[str, Engine]:
    """Return the engines of all installed distributions by name, in their order (blocking: modules are imported).

    Parameters
    ----------
    context
        Argument of the engines' factories.
    only
        Name of the only engine to return; None for all. All are returned as well if there is no engine of this name.

    Raises
    ------
    Unavailable
        If the entry points of this distribution are missing.
    """
    points = list(entry_points(group=GROUP))
    if not any(is_ours(point) for point in points):
        message = _("The installation of jupyterlab_t9kjob has no entry points for its engines.")
        raise Unavailable(message, code="NoEngines", hint=_("Install jupyterlab_t9kjob again."))
    allowed = unique(_allowed(points))
    for chosen in ([point for point in allowed if point.name == only], allowed):
        made = [engine for point in chosen if (engine := _made(point, context)) is not None]
        if made:
            break
    return sort_engines(made)


def sort_engines(engines: Iterable[Engine]) -> dict[str, Engine]:
    """Return engines by name, sorted by their declared order, then by name."""
    ordered = sorted(engines, key=lambda engine: (engine.order, engine.name))
    return {engine.name: engine for engine in ordered}


def _allowed(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return the entry points whose names are allowed in ids; the others are logged."""
    allowed = []
    for point in points:
        if re.fullmatch(ENGINE_NAME_PATTERN, point.name) is None:
            log.warning("The engine %r of %s has a name that is not allowed in ids.", point.name, distribution(point))
        else:
            allowed.append(point)
    return allowed


def _made(point: EntryPoint, context: EngineContext) -> Engine | None:
    try:
        engine: Engine | None = point.load()(context if is_ours(point) else context.of_other(point.name))
        if engine is not None:
            _demand_identity(engine, point.name)
    except Exception as error:
        if is_ours(point):
            raise
        log.warning("The engine %s of %s could not be loaded.", point.name, distribution(point), exc_info=True)
        reason = _(
            "The engine of the package {package} could not be loaded: {error}.",
            package=distribution(point),
            error=f"{type(error).__name__}: {error}",
        )
        return UnavailableEngine(point.name, reason)
    return engine


def _demand_identity(engine: Engine, name: str) -> None:
    """Raise an exception unless an engine has the name of its entry point, an order, a label and facts."""
    if engine.name != name:
        raise ValueError(f"the engine calls itself {engine.name!r}, and its entry point {name!r}")
    declared: dict[str, tuple[object, type]] = {
        "order": (engine.order, int),
        "label": (engine.label, str),
        "facts": (engine.facts, EngineFacts),
    }
    for attribute, (value, wanted) in declared.items():
        if not isinstance(value, wanted):
            raise TypeError(f"the engine's {attribute} is {value!r}, which is no {wanted.__name__}")
