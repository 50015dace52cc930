"""Kubeconfigs, read as kubectl reads them: several files are merged, and paths are relative to their file."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from .....core.translation import Text, _
from ..errors import NoCluster

Entry = dict[str, Any]

_LARGEST = 16 * 1024 * 1024
_MOST_NAMES = 10
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Target:
    """A context of a kubeconfig with its cluster and user.

    Attributes
    ----------
    context
        Name of the context.
    namespace
        Default namespace; None if the context names none.
    cluster, user
        Entries of the kubeconfig, with absolute paths; an empty user is anonymous.
    """

    context: str
    namespace: str | None
    cluster: Entry
    user: Entry

    def content(self, key: str) -> bytes | None:
        """Return a certificate or key from the kubeconfig itself (``KEY-data``) or from the file that it names.

        Raises
        ------
        NoCluster
            If the certificate or key can't be read.
        """
        entry = self.cluster if key == "certificate-authority" else self.user
        data, path = entry.get(f"{key}-data"), entry.get(key)
        try:
            if data:
                return base64.b64decode(data)
            return Path(path).read_bytes() if path else None
        except (binascii.Error, TypeError, ValueError):
            raise NoCluster(
                _(
                    "{key}-data of the kubeconfig's context {context} is not base64.",
                    key=key,
                    context=repr(self.context),
                )
            ) from None
        except OSError as error:
            raise NoCluster(
                _(
                    "{key} of the kubeconfig's context {context} can't be read: {error}.",
                    key=key,
                    context=repr(self.context),
                    error=_words(error),
                )
            ) from error


def files() -> list[Path]:
    """Return the existing files of the kubeconfig: those of ``KUBECONFIG``, else ``~/.kube/config`` (blocking)."""
    named = os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    return [path for path in _split(named) if path.exists()]


def missing() -> list[Path]:
    """Return the files that ``KUBECONFIG`` names and that do not exist (blocking)."""
    return [path for path in _split(os.environ.get("KUBECONFIG", "")) if not path.exists()]


def _split(named: str) -> list[Path]:
    return [Path(name).expanduser() for name in named.split(os.pathsep) if name]


def read_target(context: str | None) -> Target:
    """Return a context of the kubeconfig; the current context for None (blocking).

    If several files define the same name, the first definition counts, as for kubectl.

    Raises
    ------
    NoCluster
        If the kubeconfig can't be read or lacks the context. The message quotes only names of the files' content.
    """
    parts: dict[str, dict[str, Entry]] = {"contexts": {}, "clusters": {}, "users": {}}
    current: Any = None
    for path in files():
        document = _read(path)
        current = current or document.get("current-context")
        for part, entries in parts.items():
            for name, entry in _entries(document, part):
                entries.setdefault(name, _absolute(entry, path.absolute().parent))
    chosen = context or current
    if not chosen or not isinstance(chosen, str):
        raise NoCluster(_("The kubeconfig has no current context. Choose one: kubectl config use-context NAME."))
    return _target(chosen, **parts)


def _target(name: str, contexts: dict[str, Entry], clusters: dict[str, Entry], users: dict[str, Entry]) -> Target:
    if name not in contexts:
        raise NoCluster(_no_context(name, list(contexts)[:_MOST_NAMES]))
    entry = contexts[name]
    cluster, user, namespace = entry.get("cluster"), entry.get("user"), entry.get("namespace")
    if not isinstance(cluster, str) or cluster not in clusters:
        raise NoCluster(
            _(
                "The kubeconfig's context {context} names a cluster that does not exist: {cluster}.",
                context=repr(name),
                cluster=repr(cluster),
            )
        )
    if user and (not isinstance(user, str) or user not in users):
        raise NoCluster(
            _(
                "The kubeconfig's context {context} names a user that does not exist: {user}.",
                context=repr(name),
                user=repr(user),
            )
        )
    _check_server(clusters[cluster].get("server"), cluster)
    return Target(
        context=name,
        namespace=namespace if isinstance(namespace, str) and namespace else None,
        cluster=clusters[cluster],
        user=users[user] if user else {},
    )


def _no_context(name: str, contexts: list[str]) -> Text:
    if not contexts:
        return _("The kubeconfig has no context {context}, and no others.", context=repr(name))
    return _(
        "The kubeconfig has no context {context}. Its contexts: {contexts}.",
        context=repr(name),
        contexts=", ".join(map(repr, contexts)),
    )


def _check_server(server: Any, cluster: str) -> None:
    try:
        address = urlsplit(server) if isinstance(server, str) else None
        fine = address is not None and address.scheme in ("http", "https") and bool(address.hostname)
        fine = fine and address is not None and address.username is None and address.port != 0
    except ValueError:  # Such as a port that is not a number.
        fine = False
    if not fine:
        # The value is not shown: it may be a secret in the wrong line, or contain a password.
        raise NoCluster(
            _("The kubeconfig's cluster {cluster} has no server of the form https://HOST:PORT.", cluster=repr(cluster))
        )


def _read(path: Path) -> Entry:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise NoCluster(_("The kubeconfig {path} is larger than {size} MiB.", path=str(path), size=_LARGEST >> 20))
        document = yaml.safe_load(text)
    except OSError as error:
        raise NoCluster(_("The kubeconfig can't be read: {error}.", error=_words(error))) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NoCluster(_not_yaml(path, getattr(error, "problem_mark", None))) from None
    if not isinstance(document, dict):
        raise NoCluster(_("The kubeconfig {path} is empty, or not a kubeconfig.", path=str(path)))
    return document


def _not_yaml(path: Path, mark: yaml.Mark | None) -> Text:
    """Return the sentence for a faulty file; the parser's own message may quote secrets."""
    if mark is None:
        return _("The kubeconfig {path} is not YAML.", path=str(path))
    return _("The kubeconfig {path} is not YAML: line {line} is wrong.", path=str(path), line=mark.line + 1)


def _entries(document: Entry, part: str) -> list[tuple[str, Entry]]:
    """Return the entries of ``contexts``, ``clusters`` or ``users`` with their names, without malformed ones."""
    found = document.get(part)
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    key = part.removesuffix("s")
    return [
        (entry["name"], entry.get(key) or {})
        for entry in entries
        if isinstance(entry.get("name"), str) and isinstance(entry.get(key) or {}, dict)
    ]


def _absolute(entry: Entry, folder: Path) -> Entry:
    found: Entry = {key: str(folder / entry[key]) for key in _PATHS if isinstance(entry.get(key), str) and entry[key]}
    plugin = entry.get("exec")
    if isinstance(plugin, dict) and isinstance(plugin.get("command"), str) and os.sep in plugin["command"]:
        found["exec"] = {**plugin, "command": str(folder / plugin["command"])}
    return {**entry, **found}


def _words(error: OSError) -> str:
    """Return the system's words for a file that can't be read."""
    words = error.strerror or type(error).__name__
    return f"{error.filename}: {words}" if error.filename else words
