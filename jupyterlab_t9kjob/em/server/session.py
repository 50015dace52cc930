"""The AIStore server that this process is logged in to, and where its address and key come from."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from .client import Client

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_TIMEOUT_SECONDS = 60
_ADDRESS = re.compile(r"https?://[^/?#\s@]+(/[^?#\s]*)?\Z")

_client: Client | None = None


class Login(NamedTuple):
    """Address and key of a server, each None if unknown."""

    host: str | None
    key: str | None


def client() -> Client | None:
    """Return the client of the server; None without a login."""
    return _client


def log_in(host: str | None, key: str | None, timeout: int | None) -> None:
    """Log in, see `em.login`.

    Parameters
    ----------
    host, key
        Address and API key; None to take them from the environment or T9k's configuration.
    timeout
        Longest time without an answer, in seconds; None for 60.

    Raises
    ------
    ValueError
        If there is an address but no key, if one of them is malformed, or if the configuration can't be read.
    ServerError
        If the server refuses the key or can't be reached.
    """
    global _client
    if key is not None:
        warnings.warn(
            "The API key was passed as an argument. Set EM_API_KEY_FILE or EM_API_KEY from a Secret instead.",
            stacklevel=3,
        )
    configured = _configured() if host is None or key is None else Login(None, None)
    host = host or os.environ.get("EM_AIS_HOST") or configured.host
    key = key or _key_of_environment() or configured.key
    if not host:
        warnings.warn(
            "No AIStore server is known, so uploads are copied to a folder. Set EM_AIS_HOST to use a server.",
            stacklevel=3,
        )
        return
    if not _ADDRESS.match(host):
        raise ValueError("The address of the AIStore server is malformed. It begins with “https://” and has no query.")
    if not key:
        raise ValueError("The AIStore server needs an API key. Set EM_API_KEY_FILE or EM_API_KEY from a Secret.")
    if not _UUID.match(key):
        raise ValueError("The API key is no UUID.")
    found = Client(host.rstrip("/"), key, timeout or _TIMEOUT_SECONDS)
    found.connect()
    _client = found


def log_out() -> None:
    """Forget the server."""
    global _client
    _client = None


def _key_of_environment() -> str | None:
    path = os.environ.get("EM_API_KEY_FILE")
    if path:
        return Path(path).read_text(encoding="utf-8").strip()
    return os.environ.get("EM_API_KEY")


def _configured() -> Login:
    """Return what the current context of T9k's configuration says."""
    path = Path(os.environ.get("T9K_CONFIG") or "~/.t9k/t9k-config.yaml").expanduser()
    if not path.is_file():
        return Login(None, None)
    from ..load import read_mapping

    # The file holds a secret: an error must not quote it.
    try:
        config = read_mapping(path)
        wanted = os.environ.get("T9K_CONFIG_CONTEXT") or config.get("current-context")
        context: dict[str, Any] = next(entry for entry in config["contexts"] if entry.get("name") == wanted)
        prefix = (context.get("prefixes") or {}).get("aistore")
        host = str(context["server"]).rstrip("/") + str(prefix) if prefix else None
        key = (context.get("auth") or {}).get("apikey")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        raise ValueError(f"The configuration {path} can't be read, or lacks its current context.") from None
    return Login(host, str(key) if key else None)
