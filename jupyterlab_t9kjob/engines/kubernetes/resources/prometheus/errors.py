"""The error of a Prometheus that can't be read, in words for users."""

from __future__ import annotations

from .....core.job import Reason
from .....core.translation import Text

MOST_VERBATIM = 500
"""Characters of the words of a server that are shown."""


class PrometheusError(Exception):
    """Prometheus can't be read.

    Parameters
    ----------
    code
        Cause for programs.
    sentence
        Sentence that says why.
    hint
        What can be done.
    verbatim
        Words of the server or the system, without secrets; they are cut after `MOST_VERBATIM` characters.
    """

    def __init__(self, code: str, sentence: Text, hint: Text | None = None, verbatim: str | None = None) -> None:
        super().__init__(sentence)
        self.reason = Reason(
            code=code, sentence=sentence, hint=hint, verbatim=verbatim[:MOST_VERBATIM] if verbatim else None
        )
