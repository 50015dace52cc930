"""Programs that a kubeconfig names to get credentials from, such as those of clouds.

The protocol is Kubernetes' client-go credential plugins, ``client.authentication.k8s.io/v1`` and ``v1beta1``
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins). The kubernetes
package runs them too, but without a limit of time, on the server's terminal, and with their failures swallowed.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from .errors import NoCluster
from .kubeconfig import Target

PLUGIN_SECONDS = 60.0
_GROUP = "client.authentication.k8s.io/"
_EXTENSION = "client.authentication.k8s.io/exec"
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


@dataclass(frozen=True)
class Credential:
    """What a plugin gave.

    Attributes
    ----------
    token
        For the authorization header, or None.
    certificate, key
        PEM, or None.
    expires_at
        Seconds since the epoch; None if it did not say.
    """

    token: str | None = field(repr=False)
    certificate: bytes | None = field(repr=False)
    key: bytes | None = field(repr=False)
    expires_at: float | None


def run_plugin(target: Target) -> Credential:
    """Run the plugin of a kubeconfig's user (blocking, up to `PLUGIN_SECONDS`).

    Raises
    ------
    NoCluster
        If it gives nothing. What it printed is not shown: there may be a secret in it.
    """
    plugin = target.user["exec"]
    command, version = plugin.get("command"), plugin.get("apiVersion")
    if not isinstance(command, str) or not command or not isinstance(version, str) or not version.startswith(_GROUP):
        raise NoCluster(
            f"The kubeconfig's context {target.context!r} has an exec plugin without command or apiVersion."
        )
    if plugin.get("interactiveMode") == "Always":
        raise NoCluster(f"The kubeconfig's program {command} asks its user, which it can't do in JupyterLab.")
    printed = _run([command, *map(str, plugin.get("args") or [])], _environment(plugin, target), plugin)
    try:
        answer = json.loads(printed)
        status = answer["status"]
        if answer["apiVersion"] != version:
            raise NoCluster(f"The kubeconfig's program {command} answers in another version than {version}.")
        return _credential(status, command)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoCluster(f"The kubeconfig's program {command} gives no ExecCredential.") from None


def _credential(status: Any, command: str) -> Credential:
    token, certificate, key = (status.get(name) or None for name in ("token", "clientCertificateData", "clientKeyData"))
    if token is None and (certificate is None or key is None):
        raise NoCluster(f"The kubeconfig's program {command} gives neither a token nor a certificate with its key.")
    expires = status.get("expirationTimestamp")
    try:
        expires_at = _TIME.validate_python(expires).timestamp() if expires else None
    except ValidationError:
        raise NoCluster(f"The kubeconfig's program {command} gives a time of expiry that is none.") from None
    return Credential(
        token=token,
        certificate=certificate.encode() if certificate else None,
        key=key.encode() if key else None,
        expires_at=expires_at,
    )


def _environment(plugin: dict[str, Any], target: Target) -> dict[str, str]:
    added = {str(entry["name"]): str(entry["value"]) for entry in plugin.get("env") or []}
    spec: dict[str, Any] = {"interactive": False}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(target)
    info = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": spec}
    return {**os.environ, **added, "KUBERNETES_EXEC_INFO": json.dumps(info)}


def _cluster_info(target: Target) -> dict[str, Any]:
    cluster = target.cluster
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url")
    info = {name: cluster[name] for name in names if name in cluster}
    authority = target.content("certificate-authority")
    if authority is not None:
        info["certificate-authority-data"] = base64.b64encode(authority).decode()
    for extension in cluster.get("extensions") or []:
        if extension.get("name") == _EXTENSION:
            info["config"] = extension.get("extension")
    return info


def _run(command: list[str], environment: dict[str, str], plugin: dict[str, Any]) -> bytes:
    try:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        hint = str(plugin.get("installHint") or "").strip()[:500]
        reason = error.strerror or type(error).__name__
        raise NoCluster(f"The kubeconfig's program {command[0]} can't be run: {reason}. {hint}".strip()) from error
    with process:
        try:
            printed, _nothing = process.communicate(timeout=PLUGIN_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise NoCluster(f"The kubeconfig's program {command[0]} took longer than {PLUGIN_SECONDS:.0f} s.") from None
    if process.returncode:
        raise NoCluster(
            f"The kubeconfig's program {command[0]}, which gets the credentials, failed"
            f" (exit status {process.returncode}). Run kubectl in a terminal to see why."
        )
    return printed
