"""The language of the command line: that of the environment, from an installed JupyterLab language pack."""

from __future__ import annotations

import gettext
import importlib.util
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from ..core.translation import Catalogue, use_catalogue

DOMAIN: Final = "jupyterlab_t9kjob"
GROUP: Final = "jupyterlab.languagepack"
OWN: Final = Path(__file__).parents[1] / "locale"


def languages(environment: Mapping[str, str]) -> list[str]:
    """Return the languages that the environment asks for, as gettext reads it; empty for English."""
    value = next(filter(None, map(environment.get, ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))), "")
    names = [name.partition(".")[0].partition("@")[0] for name in value.split(":") if name]
    return [] if not names or names[0] in ("C", "POSIX") or names[0].startswith("en") else names


def use_language(environment: Mapping[str, str]) -> None:
    """Translate all texts into the language of the environment, if there are translations.

    Parameters
    ----------
    environment
        Variables of the process.
    """
    wanted = languages(environment)
    if not wanted:
        return
    for folder in _folders(wanted):
        try:
            catalogue = gettext.translation(DOMAIN, localedir=folder, languages=wanted)
        except (OSError, ValueError):
            continue
        use_catalogue(partial(_same, catalogue))
        return


def _same(catalogue: Catalogue) -> Catalogue:
    return catalogue


def _folders(wanted: list[str]) -> Iterator[Path]:
    """Yield the folders that may have the translations."""
    from importlib.metadata import entry_points

    yield OWN
    names = {name for language in wanted for name in (language, language.partition("_")[0])}
    for point in entry_points(group=GROUP):
        if point.name.replace("-", "_") in names:
            found = importlib.util.find_spec(point.module)
            for place in (found.submodule_search_locations or []) if found is not None else []:
                yield Path(place) / "locale"
