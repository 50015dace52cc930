"""Errors of git in words: why a repository can't be read or cloned."""

from __future__ import annotations

import re
from typing import Final

from ..translation import Text, _
from .git_address import short_name

MOST_WORDS: Final = 2000
_RULES: Final = (
    ("CertificateUnknown", r"server certificate verification failed|SSL certificate problem|self[- ]signed certificate"
     r"|certificate subject name|certificate verify failed"),
    ("CredentialsMissing", r"Identity file /etc/git-secret/ssh-privatekey not accessible"),
    ("AuthenticationFailed", r"Authentication failed|could not read (Username|Password)|terminal prompts disabled"
     r"|Permission denied \(|returned error: 40[13]|HTTP Basic: Access denied|invalid credentials"),
    ("HostKeyUnknown", r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED"
     r"|known_hosts['\"]?:? (no such file|stat)|can't access SSH known_hosts"),
    ("CredentialsMissing", r"can't (access|read|find) (SSH key|ssh key|password)|password file|can't access SSH key"),
    ("NoSuchCommit", r"couldn't find remote ref|not our ref|Remote branch .* not found|unknown revision"
     r"|did not match any file|reference is not a tree|pathspec|no such ref|upload-pack: not our ref"),
    ("RepositoryNotFound", r"repository '?[^\n]*'? not found|Repository not found"
     r"|does not appear to be a git repository|returned error: 404|did you run git update-server-info|does not exist"),
    ("ProtocolRefused", r"transport '[^']*' not allowed|protocol .* is not supported|remote helper"),
    ("ServerFailed", r"returned error: 5\d\d"),
    ("HostUnreachable", r"Could not resolve host|Could not resolve hostname|Connection refused|Connection timed out"
     r"|No route to host|Network is unreachable|Failed to connect|unable to access|Connection reset|early EOF"
     r"|Could not read from remote repository"),
    ("DiskFull", r"No space left on device|Disk quota exceeded"),
    ("CloneTimedOut", r"context deadline exceeded|timed out after"),
    ("GitMissing", r"git: not found|No such file or directory: 'git'"),
)  # fmt: skip


def git_code(words: str) -> str:
    """Return the code of an error from git's own words; ``GitFailed`` if they are not known."""
    return next((code for code, rule in _RULES if re.search(rule, words)), "GitFailed")


def git_texts(code: str, address: str, ref: str) -> tuple[Text, Text | None]:
    """Return sentence, without its period, and hint of an error.

    Parameters
    ----------
    code
        Code from `git_code`.
    address
        Address of the repository.
    ref
        Branch, tag or commit that was asked for; empty for the default branch.
    """
    name = short_name(address)
    match code:
        case "CertificateUnknown":
            return _("The certificate of the host of the repository {name} is not trusted", name=name), _(
                "Add the host's certificate authority to the git-sync image in a cluster, to git's http.sslCAInfo here."
            )
        case "ServerFailed":
            return _("The host of the repository {name} answered with an error", name=name), _("Try again later.")
        case "AuthenticationFailed":
            return _("Authentication failed for the repository {name}", name=name), _(
                "Check the credentials: the Secret in a cluster, git's credential helper or SSH agent on this machine."
            )
        case "HostKeyUnknown":
            return _("The host key of the repository {name} is not known, or has changed", name=name), _(
                "Add the key to known_hosts: a key of the Secret in a cluster, ~/.ssh/known_hosts on this machine."
            )
        case "CredentialsMissing":
            return _("The Secret does not have the keys that the repository {name} needs", name=name), _(
                "Give it ssh-privatekey and known_hosts for an SSH address, username and password for HTTPS."
            )
        case "NoSuchCommit":
            if ref:
                return _("There is no branch, tag or commit {ref} in the repository {name}", ref=ref, name=name), _(
                    "Push it, or choose another one. A commit needs its full id."
                )
            return _("The repository {name} has no default branch", name=name), _("Enter a branch.")
        case "RepositoryNotFound":
            return _("The repository {name} was not found", name=name), _(
                "Check the address. A private repository needs credentials."
            )
        case "ProtocolRefused":
            return _("The protocol of the repository {name} is not allowed", name=name), _(
                "Use an https or ssh address."
            )
        case "HostUnreachable":
            return _("The host of the repository {name} can't be reached", name=name), _(
                "Check the address and the network."
            )
        case "DiskFull":
            return _("There is no space left for the repository {name}", name=name), _("Free space on the disk.")
        case "CloneTimedOut":
            return _("The repository {name} did not answer in time", name=name), _("Try again later.")
        case "GitMissing":
            return _("The git program is not installed"), _("Install git, or use the files as they are.")
    return _("git could not read the repository {name}", name=name), None
