"""Addresses, refs and folders of git repositories: which ones are safe to give to git.

A text that begins with a dash would be an option, ``ext::`` runs a program, and a password in an address would be
stored with the job.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

GIT_SYNC_IMAGE: Final = "t9kpublic/git-sync:v4.4.0"
"""Image of git-sync that is used unless the administrator names another one."""
PROTOCOLS: Final = ("https", "http", "ssh", "git", "file")
"""Protocols that an address can have."""
_URL: Final = re.compile(
    r"(?P<scheme>https?|ssh|git|file)://(?:(?P<user>[^/@]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:@\[\]]*)"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>/.*)"
)
_SCP: Final = re.compile(r"(?:(?P<user>[^/@:]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:@\[\]]+):(?P<path>[^:].*)")
_HOST: Final = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9_.])?")
_USER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")
_PATH: Final = re.compile(r"[\w.~/+%=,:@-]+")
_REF: Final = re.compile(r"[\w.+/@#%=,-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def check_address(address: str) -> str:
    """Return an address if it is safe to give to git.

    Raises
    ------
    ValueError
        If the address has another form than ``https://host/path``, ``ssh://user@host/path``, ``user@host:path`` or
        ``file:///path``, has a password or token, or has characters with a meaning for a shell.
    """
    found = (_URL if "://" in address else _SCP).fullmatch(address)
    if found is None or not _PATH.fullmatch(found["path"]) or found["path"].startswith("-"):
        raise ValueError("write the address as https://host/path, ssh://user@host/path or user@host:path")
    protocol, user = protocol_of(address), found["user"]
    if user is not None and (":" in user or protocol != "ssh"):
        raise ValueError("the address has a password, token or user name; leave it out and name a credential instead")
    if user is not None and not _USER.fullmatch(user):
        raise ValueError("the user name in the address has characters that are not allowed")
    if protocol == "file":
        if found["host"] or found["path"].startswith("//"):
            raise ValueError("write the address of a folder as file:///path")
    elif not _HOST.fullmatch(found["host"]):
        raise ValueError("the host name in the address has characters that are not allowed")
    return address


def check_ref(ref: str) -> str:
    """Return the name of a branch, tag or commit if it is safe to give to git; empty for the default branch.

    Raises
    ------
    ValueError
        If git does not allow the name, or takes it for an option or an expression.
    """
    wrong = ref.startswith(("-", "/", ".")) or ref.endswith(("/", ".", ".lock")) or ref == "@"
    if ref and (wrong or not _REF.fullmatch(ref) or any(part in ref for part in ("..", "//", "@{"))):
        raise ValueError("write the name of a branch or tag, or the id of a commit")
    return ref


def check_folder(folder: str) -> str:
    """Return a folder in a repository as a relative path without a slash at its end.

    Raises
    ------
    ValueError
        If the path is absolute or leaves the repository.
    """
    path = posixpath.normpath(folder) if folder else "."
    if "\0" in folder or path.startswith(("/", "..")) or path == ".git" or path.startswith(".git/"):
        raise ValueError("write a folder in the repository, as a relative path")
    return "" if path == "." else path


def protocol_of(address: str) -> str:
    """Return the protocol of a valid address: ``https``, ``http``, ``ssh``, ``git`` or ``file``."""
    scheme, separator, _rest = address.partition("://")
    return scheme if separator else "ssh"


def short_name(address: str) -> str:
    """Return the last two parts of an address, without a port: ``vision/eurosat``."""
    path = re.split(r"[:/]", re.sub(r"(?<=[^/:]):[0-9]+(?=/)", "", address).removesuffix("/").removesuffix(".git"))
    return "/".join([part for part in path if part][-2:])


def is_commit(ref: str) -> bool:
    """Return True if a ref is the full id of a commit."""
    return _COMMIT.fullmatch(ref) is not None
