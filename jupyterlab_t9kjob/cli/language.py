"""The language of the command line: that of the environment."""

from __future__ import annotations

import gettext
from collections.abc import Mapping

from ..core.translation import use_catalogue
from ..languages import DOMAIN, OWN, catalogue_of


def languages(environment: Mapping[str, str]) -> list[str]:
    """Return the languages that the environment asks for, as gettext reads it; empty for English."""
    value = next(filter(None, map(environment.get, ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))), "")
    names = [name.partition(".")[0].partition("@")[0] for name in value.split(":") if name]
    return [] if not names or names[0] in ("C", "POSIX") or names[0].startswith("en") else names


def use_language(environment: Mapping[str, str]) -> None:
    """Translate all texts into the language of the environment, if there are translations.

    Those of click too, which this package translates: click asks gettext for them, in the domain of the program, and
    gettext reads the same environment.

    Parameters
    ----------
    environment
        Variables of the process.
    """
    wanted = languages(environment)
    catalogue = catalogue_of(wanted) if wanted else None
    if catalogue is not None:
        use_catalogue(lambda: catalogue)
        gettext.bindtextdomain(DOMAIN, str(OWN))
        gettext.textdomain(DOMAIN)
