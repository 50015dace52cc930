"""Translations of our messages: those of JupyterLab's language packs, and those that come with this package.

JupyterLab's page reads the package's own translations (entry point `jupyterlab.locale`). JupyterLab's server reads only
language packs, so it gets a bundle that also reads ours, for the settings and for all sentences of the server.
"""

from __future__ import annotations

import gettext
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from .core.translation import Catalogue

DOMAIN: Final = "jupyterlab_t9kjob"
"""Name of our messages in a language pack, the same as the front end's."""
OWN: Final = Path(__file__).parent / "locale"
PACKS: Final = "jupyterlab.languagepack"
"""Entry points of language packs."""


def catalogue_of(languages: Sequence[str]) -> Catalogue | None:
    """Return the translations of the first language that has any; None if there are none.

    Parameters
    ----------
    languages
        Languages in the order of preference, as gettext names them: `zh_CN`.
    """
    found: gettext.NullTranslations | None = None
    for folder in [*_packs(languages), OWN]:
        try:
            translations = gettext.translation(DOMAIN, localedir=folder, languages=languages)
        except (OSError, ValueError):  # The folder has no such language, or a broken file.
            continue
        if found is None:
            found = translations
        else:
            found.add_fallback(translations)
    return found


def _packs(languages: Sequence[str]) -> Iterator[Path]:
    """Yield the folders of the installed language packs that may have one of the languages."""
    from importlib.metadata import entry_points  # Not needed for English, and slow to import.

    names = {name for language in languages for name in (language, language.partition("_")[0])}
    for point in entry_points(group=PACKS):
        if point.name.replace("-", "_") in names:
            found = importlib.util.find_spec(point.module)
            for place in (found.submodule_search_locations or []) if found is not None else []:
                yield Path(place) / "locale"


@cache
def lab_catalogue() -> Catalogue:
    """Return the translations of the language that is set in JupyterLab, which changes with the setting.

    JupyterLab's server uses the same ones for the titles in the settings from the first call on.
    """
    from jupyterlab_server.translation_utils import TranslationBundle, translator

    class Bundle(TranslationBundle):
        """Bundle of a language pack that takes what the pack lacks from this package."""

        def update_locale(self, locale_: str) -> None:
            super().update_locale(locale_)
            own = gettext.translation(DOMAIN, localedir=OWN, languages=[locale_], fallback=True)
            self._translator.add_fallback(own)

    bundle = translator._TRANSLATORS[DOMAIN] = Bundle(DOMAIN, translator._LOCALE)
    return cast("Catalogue", bundle)
