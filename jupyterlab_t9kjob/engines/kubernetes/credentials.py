"""How to reach the cluster, and as whom: a pod's service account, or a kubeconfig.

The official `kubernetes` package reads both (exec plugins, client certificates, rotated tokens); it is imported when
credentials are loaded, which blocks and belongs into a thread.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where every pod finds its token, its namespace and the cluster's CA."""


class NoCluster(Exception):
    """There is no way to a cluster from here; the text says why, as a sentence."""


@dataclass(frozen=True)
class Context:
    """One entry of a kubeconfig."""

    name: str
    cluster: str
    namespace: str | None


@dataclass(frozen=True)
class Connection:
    """A cluster and an account on it.

    Attributes
    ----------
    server
        Address of the API server.
    namespace
        The one that is meant where none is given.
    context
        Name of the kubeconfig's context; None in a pod.
    tls
        What is trusted, and the client's certificate.
    server_name
        The name in the server's certificate, where it differs from the address.
    proxy
        Address of an HTTP proxy, or None.
    headers
        Returns the authorization header of a request (blocking: it may read a file or run a plugin).
    """

    server: str
    namespace: str
    context: str | None
    tls: ssl.SSLContext
    server_name: str | None
    proxy: str | None
    headers: Callable[[], dict[str, str]]

    @property
    def in_cluster(self) -> bool:
        """Whether the pod's own service account is used."""
        return self.context is None


def load_connection(context: str | None = None) -> Connection:
    """Find the cluster (blocking).

    Parameters
    ----------
    context
        A context of the kubeconfig. None: in a pod its service account, else the current context.

    Raises
    ------
    NoCluster
        If there are no credentials, or they can't be used.
    """
    try:
        import kubernetes.config as typed_in_part
        from kubernetes import client
        from kubernetes.config.config_exception import ConfigException
    except ImportError as error:
        raise NoCluster(
            "The Python package kubernetes is not installed in JupyterLab's environment:"
            " pip install 'jupyterlab_t9kjob[kubernetes]'."
        ) from error

    config: Any = typed_in_part
    configuration = client.Configuration()
    try:
        if context is None and in_pod():
            config.load_incluster_config(client_configuration=configuration)
            return _connection(configuration, pod_namespace(), None)
        if (why := nothing_to_load(context)) is not None:
            raise NoCluster(why)
        entries, current = _contexts(config)
        chosen = context or current
        entry = next((entry for entry in entries if entry.name == chosen), None)
        if entry is None:
            raise NoCluster(f"The kubeconfig has no context {chosen!r}.")
        config.load_kube_config(context=chosen, client_configuration=configuration, persist_config=False)
        return _connection(configuration, entry.namespace or "default", chosen)
    except (ConfigException, OSError, ssl.SSLError, ValueError, KeyError, TypeError) as error:
        # a kubeconfig is written by hand: anything may be missing in it. Its text may hold a secret, so it isn't shown.
        raise NoCluster(f"The cluster's credentials can't be used: {_harmless(error)}.") from error


def nothing_to_load(context: str | None = None) -> str | None:
    """Return why there can be no connection, a sentence; None if there is something to load (blocking).

    Looks only at whether there are files, so that nothing is imported where no cluster was ever meant.
    """
    if context is None and in_pod():
        return None
    if _kubeconfig_exists():
        return None
    if (SERVICE_ACCOUNT / "token").is_file():
        return (
            "JupyterLab runs in a pod, but its environment has no KUBERNETES_SERVICE_HOST, as in an SSH session."
            " Start it with KUBERNETES_SERVICE_HOST=kubernetes.default.svc KUBERNETES_SERVICE_PORT=443."
        )
    return "There is no kubeconfig, and JupyterLab does not run in a pod with a service account."


def contexts() -> list[Context]:
    """Return the kubeconfig's contexts; none where there is no kubeconfig (blocking)."""
    try:
        from kubernetes import config
        from kubernetes.config.config_exception import ConfigException
    except ImportError:
        return []
    try:
        return _contexts(config)[0]
    except (ConfigException, OSError, ValueError, KeyError, TypeError):
        return []


def in_pod() -> bool:
    """Whether this process has a pod's service account (over SSH into a pod it may lack the address)."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").is_file()


def pod_namespace() -> str:
    """Return the namespace of the pod that this process runs in.

    The service account's own file knows it, else the notebook's address (``NB_PREFIX``). ``T9K_NAMESPACE`` is the
    platform's namespace, not the user's (t9k.md §4.2).
    """
    try:
        return (SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        prefix = os.environ.get("NB_PREFIX", "")
        # /t9k/notebooks/projects/<namespace>/name/<name>/ on T9k, /notebook/<namespace>/<name> on Kubeflow
        match = re.search(r"/(?:projects|notebook)/([^/]+)/", prefix)
        return match[1] if match else "default"


def _kubeconfig_exists() -> bool:
    paths = os.environ.get("KUBECONFIG", str(Path("~/.kube/config").expanduser())).split(os.pathsep)
    return any(Path(path).expanduser().is_file() for path in paths if path)


def _contexts(config: Any) -> tuple[list[Context], str | None]:
    found, current = config.list_kube_config_contexts()
    entries = [
        Context(
            name=entry["name"],
            cluster=entry["context"].get("cluster", ""),
            namespace=entry["context"].get("namespace"),
        )
        for entry in found
    ]
    return entries, current["name"] if current else None


def _connection(configuration: Any, namespace: str, context: str | None) -> Connection:
    def headers() -> dict[str, str]:
        settings = configuration.auth_settings().values()
        found = {setting["key"]: setting["value"] for setting in settings if setting["in"] == "header"}
        return {key: value for key, value in found.items() if value}

    headers()  # an exec plugin gives its client certificate with the first token
    return Connection(
        server=configuration.host.rstrip("/"),
        namespace=namespace,
        context=context,
        tls=_tls(configuration),
        server_name=getattr(configuration, "tls_server_name", None) or None,
        proxy=configuration.proxy or None,
        headers=headers,
    )


def _tls(configuration: Any) -> ssl.SSLContext:
    tls = ssl.create_default_context(cafile=configuration.ssl_ca_cert or None)
    # from Python 3.13 on the default, and more than many clusters' own CAs have
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        tls.load_cert_chain(configuration.cert_file, configuration.key_file)
    return tls


def _harmless(error: Exception) -> str:
    """Return what may be shown of an error: a file's name, but nothing out of a file."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'a file'}: {error.strerror}"
    return type(error).__name__
