"""Staleness: why this lab does not hear of changes in the cluster: a code, a sentence, a hint, the cluster's words.

The page chooses the banner's title by the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ....core.engine import StaleCode
from ..client.errors import ApiError, Unreachable
from ..client.informer import Informer
from ..objects.text import answer_of, plain, quoted

_TRIED: Final = "The lab tries again by itself."
_HINTS: Final[dict[StaleCode, str]] = {
    "Unreachable": f"{_TRIED} Check the network and the VPN if it stays so.",
    "NameUnknown": f"{_TRIED} Check the network, the VPN, and the server's name in the kubeconfig.",
    "Untrusted": "Check certificate-authority in the kubeconfig. A cluster that was set up again needs a new one.",
    "ProxyFailed": "Check proxy-url in the kubeconfig, and HTTPS_PROXY and NO_PROXY of JupyterLab's environment.",
    "NoCredentials": "Log in to the cluster again, for example with kubectl in a terminal. The lab takes up new"
    " credentials by itself.",
    "Silent": "The lab opens the connection again by itself.",
}


@dataclass(frozen=True)
class Trouble:
    """Why the cluster can't be seen.

    Attributes
    ----------
    code
        For programs.
    sentence
        What happened.
    hint
        What to do, a sentence or two.
    verbatim
        The cluster's own words, where they are not in the sentence.
    """

    code: StaleCode
    sentence: str
    hint: str | None = None
    verbatim: str | None = None


class Staleness(NamedTuple):
    """Since when changes may have been missed (seconds since the epoch), and why."""

    since: float
    trouble: Trouble


def trouble_of(error: ApiError | Unreachable, host: str, what: str | None = None, resource: str = "") -> Trouble:
    """Explain what came instead of an answer.

    Parameters
    ----------
    host
        The API server's.
    what
        What was asked for, in words: “PyTorchJobs in namespace demo”; None for the cluster as a whole.
    resource
        The same as roles name it: “pytorchjobs.kubeflow.org”.
    """
    if isinstance(error, Unreachable):
        return Trouble(error.code, answer_of(error), _HINTS.get(error.code))
    status, words = error.status, quoted(error.message)
    if status == 401:
        sentence = "The cluster does not accept the credentials of this lab; they may have expired or been withdrawn."
        return Trouble("NoCredentials", sentence, _HINTS["NoCredentials"], words)
    if status == 403:
        sentence = f"You don't have permission to see {what or 'this cluster'}."
        right = f'the verbs "list" and "watch" for {resource}' if resource else "access"
        return Trouble("Forbidden", sentence, f"Ask the cluster's administrator for {right}.", words)
    if status == 404:
        sentence = f"The cluster has no {what} (any more)." if what else f"What answers at {host} is not this cluster."
        hint = "Its definition may have been removed, or is being installed anew. The lab looks again by itself."
        return Trouble("NotServed", sentence, hint if what else _TRIED, words)
    if status == 429:
        return Trouble("Busy", f"The cluster at {host} has too much to do to answer.", _TRIED, words)
    if status >= 500:
        sentence = f"The cluster at {host}, or a gateway before it, answers with an error ({status})."
        return Trouble("ServerError", sentence, _TRIED, words)
    return Trouble("Refused", plain(f"The cluster at {host} refuses: {answer_of(error)}"), _TRIED, words)


@dataclass(frozen=True)
class Watched:
    """A watch, and what it shows: `what` and `resource` as `trouble_of` has them."""

    watch: Informer
    what: str
    resource: str


def stale(watched: Iterable[Watched], host: str) -> Staleness | None:
    """Return since when, and why, changes in one of these collections may have been missed; None while all is well."""
    found = [
        Staleness(one.watch.stale_since, trouble_of(one.watch.error, host, one.what, one.resource))
        for one in watched
        if one.watch.stale_since is not None and one.watch.error is not None
    ]
    return min(found, key=lambda each: each.since, default=None)
