"""Kubeconfigs, read as kubectl reads them: several files, paths relative to each, and broken ones."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from .errors import NoCluster

Entry = dict[str, Any]

_LARGEST = 16 * 1024 * 1024
_MOST_NAMES = 10
_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


@dataclass(frozen=True)
class Target:
    """A context of a kubeconfig, with what it names.

    Attributes
    ----------
    context
        Its name.
    namespace
        The one that it means; None if it names none.
    cluster, user
        As in the kubeconfig, with absolute paths; an empty user is an anonymous one.
    """

    context: str
    namespace: str | None
    cluster: Entry
    user: Entry

    def content(self, key: str) -> bytes | None:
        """Return a certificate or a key, which stands in the kubeconfig (``KEY-data``) or in a file.

        Raises
        ------
        NoCluster
            If it can't be read.
        """
        entry = self.cluster if key == "certificate-authority" else self.user
        data, path = entry.get(f"{key}-data"), entry.get(key)
        try:
            if data:
                return base64.b64decode(data)
            return Path(path).read_bytes() if path else None
        except (binascii.Error, TypeError, ValueError):
            raise NoCluster(f"{key}-data of the kubeconfig's context {self.context!r} is not base64.") from None
        except OSError as error:
            raise NoCluster(f"{key} of the kubeconfig's context {self.context!r}: {_words(error)}.") from error


def files() -> list[Path]:
    """Return the kubeconfig's files that exist: those of ``KUBECONFIG``, else ``~/.kube/config`` (blocking)."""
    named = os.environ.get("KUBECONFIG") or str(Path("~/.kube/config").expanduser())
    return [path for path in _split(named) if path.exists()]


def missing() -> list[Path]:
    """Return the files that ``KUBECONFIG`` names and that are not there (blocking)."""
    return [path for path in _split(os.environ.get("KUBECONFIG", "")) if not path.exists()]


def _split(named: str) -> list[Path]:
    return [Path(name).expanduser() for name in named.split(os.pathsep) if name]


def read_target(context: str | None) -> Target:
    """Return a context of the kubeconfig, the current one for None (blocking).

    Where several files have the same name, the first one counts, as for kubectl.

    Raises
    ------
    NoCluster
        If it can't be read or does not have what is asked for. The text has nothing of the files in it but names.
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
        raise NoCluster("The kubeconfig has no current context. Choose one: kubectl config use-context NAME.")
    return _target(chosen, **parts)


def _target(name: str, contexts: dict[str, Entry], clusters: dict[str, Entry], users: dict[str, Entry]) -> Target:
    if name not in contexts:
        there = ", ".join(map(repr, list(contexts)[:_MOST_NAMES])) or "none"
        raise NoCluster(f"The kubeconfig has no context {name!r}; there is {there}.")
    entry = contexts[name]
    cluster, user, namespace = entry.get("cluster"), entry.get("user"), entry.get("namespace")
    if not isinstance(cluster, str) or cluster not in clusters:
        raise NoCluster(f"The kubeconfig's context {name!r} names a cluster that is not there: {cluster!r}.")
    if user and (not isinstance(user, str) or user not in users):
        raise NoCluster(f"The kubeconfig's context {name!r} names a user that is not there: {user!r}.")
    _check_server(clusters[cluster].get("server"), cluster)
    return Target(
        context=name,
        namespace=namespace if isinstance(namespace, str) and namespace else None,
        cluster=clusters[cluster],
        user=users[user] if user else {},
    )


def _check_server(server: Any, cluster: str) -> None:
    try:
        address = urlsplit(server) if isinstance(server, str) else None
        fine = address is not None and address.scheme in ("http", "https") and bool(address.hostname)
        fine = fine and address is not None and address.username is None and address.port != 0
    except ValueError:  # such as a port that is no number
        fine = False
    if not fine:
        # what stands there instead may be a secret, in the wrong line or as a password in the address
        raise NoCluster(f"The kubeconfig's cluster {cluster!r} has no server of the form https://HOST:PORT.")


def _read(path: Path) -> Entry:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise NoCluster(f"The kubeconfig {path} is larger than {_LARGEST >> 20} MiB.")
        document = yaml.safe_load(text)
    except OSError as error:
        raise NoCluster(f"The kubeconfig can't be read: {_words(error)}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise NoCluster(f"The kubeconfig {path} is not YAML: it has a mistake{where}.") from None
    if not isinstance(document, dict):
        raise NoCluster(f"The kubeconfig {path} is empty, or no kubeconfig.")
    return document


def _entries(document: Entry, part: str) -> list[tuple[str, Entry]]:
    """Return a part's entries by name; those that are none are left out."""
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
    return f"{error.filename or 'a file'}: {error.strerror or type(error).__name__}"
