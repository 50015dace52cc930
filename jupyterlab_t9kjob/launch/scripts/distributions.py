"""Distributions that provide a module: from a fixed table, or from the metadata of this environment.

No distribution is suggested because its name equals an import: anybody can publish a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata

from .packages import DISTRIBUTIONS


def distributions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the distribution of each top-level module of which it is known (blocking)."""
    found = {name: DISTRIBUTIONS[name] for name in modules if name in DISTRIBUTIONS}
    others = [name for name in modules if name not in found]
    installed = _installed() if others else {}
    return found | {name: installed[name] for name in others if name in installed}


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    """Return the distribution of each module that exactly one distribution of this environment has."""
    found: dict[str, str] = {}
    for module, names in metadata.packages_distributions().items():
        if len(set(names)) == 1 and _from_index(names[0]):
            found[module] = names[0]
    return found


def _from_index(name: str) -> bool:
    """Return True if a distribution was installed by its name, not from a folder, file or repository (PEP 610)."""
    try:
        return metadata.distribution(name).read_text("direct_url.json") is None
    except (metadata.PackageNotFoundError, OSError):
        return False
