"""Init container that clones a job's git repository: the official git-sync image, version 4."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from ...code.git_address import GIT_SYNC_IMAGE, protocol_of
from ...code.model import GitRepository
from ...running.source import CLONE_LINK, CLONE_ROOT
from ...spec import Security
from ..names import CLONE, GIT_CREDENTIALS
from .pod_security import restricted_container

CLONE_RESOURCES: Final[dict[str, Any]] = {
    "limits": {"cpu": 1, "memory": "1Gi"},
    "requests": {"cpu": "100m", "memory": "128Mi"},
}
_CREDENTIALS_PATH: Final = "/etc/git-secret"
_MOST_TIME: Final = "600s"
_GIT_SYNC_USER: Final = 65533
"""User of the official image."""


def add_clone(pod: dict[str, Any], source: GitRepository, security: Security) -> None:
    """Add the init container, its volumes, and the training container's mount to a pod.

    The clone lies on a volume of the pod's own, because pods of other nodes could overwrite a shared one.

    Parameters
    ----------
    pod
        The `spec` of a pod template whose first container trains.
    source
        The repository.
    security
        Ids of the pod. git-sync runs as its own user if they are not set.
    """
    mount = {"name": CLONE, "mountPath": CLONE_ROOT}
    container = {
        "name": CLONE,
        "image": source.image or GIT_SYNC_IMAGE,
        "command": ["/git-sync"],  # The entrypoint of the official image; a rebuilt one may have lost it.
        "args": _arguments(source),
        "env": _environment(source),
        "resources": deepcopy(CLONE_RESOURCES),
        "volumeMounts": [mount],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "securityContext": restricted_container(),
    }
    volumes: list[dict[str, Any]] = [{"name": CLONE, "emptyDir": {}}]
    if source.secret is not None:
        container["volumeMounts"] = [
            mount,
            {"name": GIT_CREDENTIALS, "mountPath": _CREDENTIALS_PATH, "readOnly": True},
        ]
        # ssh refuses a key of its own user that others can read. The file belongs to root, and a pod with an fsGroup
        # makes it readable for that group.
        mode = 0o444
        if security.uid == 0 and security.fs_group is None:
            mode = 0o400
        elif security.uid == 0 and protocol_of(source.address) == "ssh":
            ids = {"runAsUser": _GIT_SYNC_USER, "runAsGroup": _GIT_SYNC_USER}
            container["securityContext"] = restricted_container() | ids
        volumes.append({"name": GIT_CREDENTIALS, "secret": {"secretName": source.secret, "defaultMode": mode}})
    pod["initContainers"] = [container]
    training = pod["containers"][0]
    training["volumeMounts"] = [*training.get("volumeMounts", []), dict(mount)]
    pod["volumes"] = [*pod.get("volumes", []), *volumes]


def _arguments(source: GitRepository) -> list[str]:
    commit = source.commit.id if source.commit is not None else None
    arguments = [
        f"--repo={source.address}",
        f"--ref={commit or source.ref or 'HEAD'}",
        f"--root={CLONE_ROOT}",
        f"--link={CLONE_LINK}",
        f"--depth={0 if source.history else 1}",
        f"--submodules={'recursive' if source.submodules else 'off'}",
        "--one-time",
        f"--sync-timeout={_MOST_TIME}",
    ]
    if protocol_of(source.address) == "ssh":
        arguments.append("--add-user")  # ssh needs a name for the user that it runs as.
        if source.secret is not None:
            arguments += [
                f"--ssh-key-file={_CREDENTIALS_PATH}/ssh-privatekey",
                f"--ssh-known-hosts-file={_CREDENTIALS_PATH}/known_hosts",
            ]
    elif source.secret is not None:
        arguments.append(f"--password-file={_CREDENTIALS_PATH}/password")
    return arguments


def _environment(source: GitRepository) -> list[dict[str, Any]]:
    variables: list[dict[str, Any]] = [
        {"name": "GIT_ALLOW_PROTOCOL", "value": ":".join(source.allowed_protocols())},
        {"name": "GIT_TERMINAL_PROMPT", "value": "0"},
    ]
    if source.secret is not None and protocol_of(source.address) != "ssh":
        reference = {"name": source.secret, "key": "username"}
        variables.append({"name": "GITSYNC_USERNAME", "valueFrom": {"secretKeyRef": reference}})
    return variables
