"""Entry points of installed distributions. A name of this distribution can't be taken by another one."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import Final

log = logging.getLogger(__name__)

OURS: Final = "jupyterlab_t9kjob"


def unique(points: Iterable[EntryPoint]) -> list[EntryPoint]:
    """Return one entry point for each name, those of this distribution first; others are logged and left out."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(points, key=lambda point: (not is_ours(point), distribution(point))):
        if point.name in found:
            owner = distribution(found[point.name])
            log.warning(
                "The entry point %r (%s) of %s is ignored: %s has one too.",
                point.name,
                point.group,
                distribution(point),
                owner,
            )
        else:
            found[point.name] = point
    return list(found.values())


def is_ours(point: EntryPoint) -> bool:
    """Return True if an entry point belongs to this distribution."""
    return distribution(point) == OURS


def distribution(point: EntryPoint) -> str:
    """Return the name of the distribution that an entry point belongs to."""
    return point.dist.name if point.dist is not None else "an unknown distribution"
