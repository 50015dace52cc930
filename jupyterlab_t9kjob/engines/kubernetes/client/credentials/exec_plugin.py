"""Credential plugins: programs that a kubeconfig names and that print credentials, such as those of clouds.

The protocol is that of client-go, ``client.authentication.k8s.io/v1`` and ``v1beta1``
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins). The kubernetes
package runs plugins too, but without a time limit, on the server's terminal, and it swallows their failures.
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

from pydantic import AwareDatetime, ConfigDict, TypeAdapter, ValidationError

from .....core.base_model import BUILDS_IN_ANY_THREAD
from .....core.translation import Text, _
from ..errors import NoCluster
from .kubeconfig import Target

PLUGIN_SECONDS = 60.0
_GROUP = "client.authentication.k8s.io/"
_EXTENSION = "client.authentication.k8s.io/exec"
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime, config=ConfigDict(defer_build=BUILDS_IN_ANY_THREAD))


@dataclass(frozen=True)
class Credential:
    """Credentials that a plugin has printed.

    Attributes
    ----------
    token
        Token for the authorization header; None without one.
    certificate, key
        Client certificate and key (PEM); None without them.
    expires_at
        Expiry in seconds since the epoch; None if the plugin named none.
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
        If the plugin gives no credentials. Its output is not shown, because it may contain a secret.
    """
    plugin = target.user["exec"]
    command, version = plugin.get("command"), plugin.get("apiVersion")
    if not isinstance(command, str) or not command or not isinstance(version, str) or not version.startswith(_GROUP):
        raise NoCluster(
            _(
                "The kubeconfig's context {context} has an exec plugin without command or apiVersion.",
                context=repr(target.context),
            )
        )
    if plugin.get("interactiveMode") == "Always":
        raise NoCluster(
            _("The kubeconfig's program {command} asks its user, which it can't do in JupyterLab.", command=command)
        )
    printed = _run([command, *map(str, plugin.get("args") or [])], _environment(plugin, target), plugin)
    try:
        answer = json.loads(printed)
        status = answer["status"]
        if answer["apiVersion"] != version:
            raise NoCluster(
                _(
                    "The kubeconfig's program {command} answers in another version than {version}.",
                    command=command,
                    version=version,
                )
            )
        return _credential(status, command)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NoCluster(_("The kubeconfig's program {command} gives no ExecCredential.", command=command)) from None


def _credential(status: Any, command: str) -> Credential:
    token, certificate, key = (status.get(name) or None for name in ("token", "clientCertificateData", "clientKeyData"))
    if token is None and (certificate is None or key is None):
        raise NoCluster(
            _(
                "The kubeconfig's program {command} gives neither a token nor a certificate with its key.",
                command=command,
            )
        )
    expires = status.get("expirationTimestamp")
    try:
        expires_at = _TIME.validate_python(expires).timestamp() if expires else None
    except ValidationError:
        raise NoCluster(_("The kubeconfig's program {command} gives an invalid expiry.", command=command)) from None
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
        raise NoCluster(_not_run(command[0], error, str(plugin.get("installHint") or "").strip()[:500])) from error
    with process:
        try:
            printed, _nothing = process.communicate(timeout=PLUGIN_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise NoCluster(
                _(
                    "The kubeconfig's program {command} took longer than {seconds} s.",
                    command=command[0],
                    seconds=round(PLUGIN_SECONDS),
                )
            ) from None
    if process.returncode:
        raise NoCluster(
            _(
                "The kubeconfig's program {command}, which gets the credentials, failed (exit status {exit_status})."
                " Run kubectl in a terminal to see why.",
                command=command[0],
                exit_status=process.returncode,
            )
        )
    return printed


def _not_run(command: str, error: OSError, hint: str) -> Text:
    """Return the sentence for a program that can't be run, with the kubeconfig's own hint for its installation."""
    reason = error.strerror or type(error).__name__
    if not hint:
        return _("The kubeconfig's program {command} can't be run: {reason}.", command=command, reason=reason)
    return _(
        "The kubeconfig's program {command} can't be run: {reason}. {install_hint}",
        command=command,
        reason=reason,
        install_hint=hint,
    )
