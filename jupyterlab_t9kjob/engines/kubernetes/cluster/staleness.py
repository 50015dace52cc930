"""Causes of a stale view of the cluster: a code, a sentence, a hint and the cluster's own words.

A view is stale while changes in the cluster may be missed. The page chooses the banner's title by the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ....core.engine.info import StaleCode
from ....core.translation import Text, _
from ..client.errors import ApiError, Unreachable
from ..client.watch.informer import Informer
from ..objects.text import answer_of, quoted

_RETRIES: Final = _("The lab tries again by itself.")
_HINTS: Final[dict[StaleCode, Text]] = {
    "Unreachable": _("The lab tries again by itself. Check the network and the VPN if it stays so."),
    "NameUnknown": _(
        "The lab tries again by itself. Check the network, the VPN, and the server's name in the kubeconfig."
    ),
    "Untrusted": _("Check certificate-authority in the kubeconfig. A cluster that was set up again needs a new one."),
    "ProxyFailed": _("Check proxy-url in the kubeconfig, and HTTPS_PROXY and NO_PROXY of JupyterLab's environment."),
    "NoCredentials": _(
        "Log in to the cluster again, for example with kubectl in a terminal. The lab reads new credentials by itself."
    ),
    "Silent": _("The lab opens the connection again by itself."),
}


@dataclass(frozen=True)
class Trouble:
    """Reason for which the state of the cluster can't be read.

    Attributes
    ----------
    code
        Cause for programs.
    sentence
        Sentence that says what happened.
    hint
        One or two sentences that say what to do.
    verbatim
        The cluster's own words, if the sentence does not contain them.
    """

    code: StaleCode
    sentence: Text
    hint: Text | None = None
    verbatim: str | None = None


class Staleness(NamedTuple):
    """Since when changes may have been missed (seconds since the epoch), and why."""

    since: float
    trouble: Trouble


@dataclass(frozen=True)
class Watched:
    """One watch of a namespace.

    Attributes
    ----------
    watch
        The watch.
    kinds
        Objects that it shows, as sentences name them: “PyTorchJobs”, “pods”.
    namespace
        The namespace.
    resource
        The same objects, as roles name them: “pytorchjobs.kubeflow.org”.
    """

    watch: Informer
    kinds: str
    namespace: str
    resource: str


def trouble_of(error: ApiError | Unreachable, host: str, watched: Watched | None = None) -> Trouble:
    """Explain a failed request.

    Parameters
    ----------
    error
        The failure.
    host
        Host and port of the API server.
    watched
        Watch that failed; None if the cluster as a whole does not answer.
    """
    if isinstance(error, Unreachable):
        return Trouble(error.code, answer_of(error), _HINTS.get(error.code))
    verbatim = quoted(error.message)
    if error.status == 401:
        sentence = _("The cluster does not accept this lab's credentials; they may have expired or been withdrawn.")
        return Trouble("NoCredentials", sentence, _HINTS["NoCredentials"], verbatim)
    if error.status == 403:
        return _forbidden(watched, verbatim)
    if error.status == 404:
        return _not_served(watched, host, verbatim)
    if error.status == 429:
        sentence = _("The cluster at {host} has too much to do to answer.", host=host)
        return Trouble("Busy", sentence, _RETRIES, verbatim)
    if error.status >= 500:
        sentence = _(
            "The cluster at {host}, or a gateway before it, answers with an error ({status}).",
            host=host,
            status=error.status,
        )
        return Trouble("ServerError", sentence, _RETRIES, verbatim)
    sentence = _("The cluster at {host} refuses: {answer}", host=host, answer=answer_of(error))
    return Trouble("Refused", sentence, _RETRIES, verbatim)


def not_understood(error: Exception) -> Trouble:
    """Explain an answer that is none of a Kubernetes API."""
    sentence = _("The cluster's answer was not understood: {error}.", error=type(error).__name__)
    return Trouble("ServerError", sentence, _RETRIES)


def stale(watched: Iterable[Watched], host: str) -> Staleness | None:
    """Return since when, and why, changes may have been missed; None if all watches are current.

    Parameters
    ----------
    watched
        The watches.
    host
        Host and port of the API server.
    """
    found = [
        Staleness(one.watch.stale_since, trouble_of(one.watch.error, host, one))
        for one in watched
        if one.watch.stale_since is not None and one.watch.error is not None
    ]
    return min(found, key=lambda each: each.since, default=None)


def _forbidden(watched: Watched | None, verbatim: str | None) -> Trouble:
    if watched is None:
        sentence = _("You don't have permission to see this cluster.")
        return Trouble("Forbidden", sentence, _("Ask the cluster's administrator for access."), verbatim)
    sentence = _(
        "You don't have permission to see {kinds} in namespace {namespace}.",
        kinds=watched.kinds,
        namespace=watched.namespace,
    )
    hint = _(
        'Ask the cluster\'s administrator for the verbs "list" and "watch" for {resource}.', resource=watched.resource
    )
    return Trouble("Forbidden", sentence, hint, verbatim)


def _not_served(watched: Watched | None, host: str, verbatim: str | None) -> Trouble:
    if watched is None:
        sentence = _("The server at {host} is not this cluster.", host=host)
        return Trouble("NotServed", sentence, _RETRIES, verbatim)
    sentence = _(
        "The cluster has no {kinds} in namespace {namespace} (any more).",
        kinds=watched.kinds,
        namespace=watched.namespace,
    )
    hint = _("Their definition may have been removed, or is being installed anew. The lab looks again by itself.")
    return Trouble("NotServed", sentence, hint, verbatim)
