"""Environment of this process: names, addresses and mounts that identify its pod and container, and its user."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..client.credentials.connection import SERVICE_ACCOUNT

MOUNTINFO: Final = Path("/proc/self/mountinfo")
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
# The kubelet mounts two files of its own folder for a pod into each container.
_CONTAINER_FILE: Final = re.compile(r"/pods/([^/]+)/containers/([^/]+)/[^/]+$")
_HOSTS_FILE: Final = re.compile(r"/pods/([^/]+)/etc-hosts$")


@dataclass(frozen=True)
class Surroundings:
    """Facts that a process reads about its surroundings.

    Attributes
    ----------
    names
        Possible names of its pod, the likeliest first.
    pod_uid
        Uid of its pod; None if not certain.
    container
        Name of its container; None if not certain.
    addresses
        Network addresses.
    mount_points
        Paths of all mount points, with links resolved.
    uid, gid
        User and group id; None on Windows.
    user
        User name.
    home
        Home directory; None without an absolute ``HOME``.
    environ
        Environment variables.
    """

    names: tuple[str, ...] = ()
    pod_uid: str | None = None
    container: str | None = None
    addresses: tuple[str, ...] = ()
    mount_points: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None
    user: str = "user"
    home: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)


def surroundings() -> Surroundings:
    """Return the surroundings of this process (blocking)."""
    pod = _pod_of_token()
    mounts = _mounts()
    uid, container = _kubelets_files(mounts)
    names = (pod.get("name"), os.environ.get("HOSTNAME"), socket.gethostname())
    home = os.environ.get("HOME")
    return Surroundings(
        names=tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name)),
        pod_uid=uid or (pod["uid"] if isinstance(pod.get("uid"), str) else None),
        container=container,
        addresses=_addresses(),
        mount_points=tuple(dict.fromkeys(point for _root, point in mounts)),
        uid=os.getuid() if hasattr(os, "getuid") else None,
        gid=os.getgid() if hasattr(os, "getgid") else None,
        user=_user(),
        home=Path(home) if home and Path(home).is_absolute() else None,
        environ=dict(os.environ),
    )


def _pod_of_token() -> dict[str, Any]:
    """Return name and uid of the pod in the service account's token, where kube-apiserver writes them as a claim."""
    try:
        payload = (SERVICE_ACCOUNT / "token").read_text(encoding="ascii").split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        pod = claims["kubernetes.io"]["pod"]
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return {}
    return pod if isinstance(pod, dict) else {}


def _mounts() -> list[tuple[str, str]]:
    """Return all mounts: the root within the mounted file system, and the mount point."""
    try:
        lines = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not Linux
        return []
    fields = [line.split(" ") for line in lines]
    return [(_unescaped(entry[3]), _unescaped(entry[4])) for entry in fields if len(entry) > 4]


def _unescaped(text: str) -> str:
    r"""Undo the kernel's escapes; it writes a space as ``\040``."""
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _kubelets_files(mounts: list[tuple[str, str]]) -> tuple[str | None, str | None]:
    """Return the pod's uid and the container's name from the paths of the kubelet's files; None if not found."""
    uid = None
    for root, point in mounts:
        if match := _CONTAINER_FILE.search(root):
            return match[1], match[2]
        if point == "/etc/hosts" and (match := _HOSTS_FILE.search(root)):
            uid = match[1]
    return uid, None


def _addresses() -> tuple[str, ...]:
    import psutil

    try:
        interfaces = psutil.net_if_addrs().values()
    except (OSError, psutil.Error):
        return ()
    families = (socket.AF_INET, socket.AF_INET6)
    found = [entry.address.partition("%")[0] for entries in interfaces for entry in entries if entry.family in families]
    return tuple(address for address in found if address not in ("127.0.0.1", "::1") and not address.startswith("fe80"))


def _user() -> str:
    """Return the user's name: from the environment first, because a container's uid may lack an entry in passwd."""
    for name in ("USER", "LOGNAME", "NB_USER"):
        if value := os.environ.get(name):
            return value
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    return "user"
