"""Delays between the attempts of a watch: exponential, with jitter, so that many labs do not return together."""

from __future__ import annotations

import random

FIRST_DELAY = 1.0
LONGEST_DELAY = 4.0
LASTING_DELAY = 30.0
"""Longest delay after a failure that does not pass by itself, see `LASTING`, and for a lost cluster: all watches are
woken when it returns."""
LASTING = (403, 404)
"""Refusals that do not pass by themselves: a missing permission, a missing kind."""


class Backoff:
    """Delay that doubles from attempt to attempt until `reset`."""

    def __init__(self) -> None:
        self._delay = FIRST_DELAY

    def reset(self) -> None:
        """Begin with the first delay again, after a success."""
        self._delay = FIRST_DELAY

    def next(self, longest: float, least: float) -> float:
        """Return the seconds until the next attempt.

        Parameters
        ----------
        longest
            Greatest delay before jitter, in seconds.
        least
            Least delay, in seconds, as the API server demands it.
        """
        delay = min(self._delay, max(longest, FIRST_DELAY))
        self._delay = 2 * delay
        return max(delay * random.uniform(0.5, 1.0), least)  # noqa: S311
