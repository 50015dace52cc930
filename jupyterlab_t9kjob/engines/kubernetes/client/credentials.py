"""How to reach the cluster, and as whom: a pod's service account, or a kubeconfig.

The official `kubernetes` package makes the authorization header; it is imported when credentials are loaded, which
blocks and belongs into a thread. What it does not do as kubectl does is done beside it: `kubeconfig` merges files,
`exec_plugin` runs programs, `proxy` reads the environment.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from .errors import NoCluster
from .exec_plugin import Credential, run_plugin
from .kubeconfig import Entry, Target, files, missing, read_target
from .proxy import environment_proxy
from .tls import Tls

__all__ = ["Connection", "NoCluster", "in_pod", "load_connection", "nothing_to_load", "pod_namespace"]

Headers = tuple[tuple[str, str], ...]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where every pod finds its token, its namespace and the cluster's CA."""
FILE_SECONDS = 60.0
"""How long a token out of a file is used before the file is read again; the kubelet rotates it."""
EARLY_SECONDS = 10.0
"""How long before it expires a credential is renewed."""
LEAST_SECONDS = 30.0
"""How long a credential is used at least, whatever it says: clocks differ, and a program is run for each."""


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
    proxy
        Address of a proxy, or None.
    headers
        Of every request: who asks.
    expires_at
        Seconds since the epoch, when `renew` is due; None if only a refusal tells.
    renew
        Loads the same anew (blocking; raises `NoCluster`).
    by_program
        Whether a program is run for it.
    """

    server: str
    namespace: str
    context: str | None
    tls: Tls
    proxy: str | None = field(repr=False)
    headers: Headers = field(repr=False)
    expires_at: float | None
    renew: Callable[[], Connection] = field(repr=False, compare=False)
    by_program: bool = False

    @property
    def in_cluster(self) -> bool:
        """Whether the pod's own service account is used."""
        return self.context is None

    @property
    def host(self) -> str:
        """The server's host and port, for people."""
        return urlsplit(self.server).netloc

    @property
    def cluster(self) -> str:
        """Which cluster it is: its certificate authority and its address.

        Neither is enough: two clusters may be reached through the same forwarded port, and a company's authority may
        sign for many. Who comes to the same cluster by another address (a laptop after a pod) takes its jobs for those
        of another one till it sees them there; the reverse would take jobs for deleted. The uid of the namespace
        ``kube-system`` would tell better, but needs a right that labs don't have.
        """
        server = urlsplit(self.server)
        return f"{self.tls.fingerprint or ''}@{server.netloc}{server.path.rstrip('/')}"


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
    if (why := nothing_to_load(context)) is not None:
        raise NoCluster(why)
    try:
        if context is None and in_pod():
            return _of_pod()
        target = read_target(context)
        return _of_target(target, renew=partial(load_connection, target.context))
    except NoCluster:
        raise
    except Exception as error:
        # A kubeconfig is written by hand, and libraries quote it when they stumble: nothing of that is shown.
        raise NoCluster(f"The cluster's credentials can't be used ({type(error).__name__}).") from None


def nothing_to_load(context: str | None = None) -> str | None:
    """Return why there can be no connection, a sentence; None if there is something to load (blocking).

    Looks only at whether there are files, so that nothing is imported where no cluster was ever meant.
    """
    if (context is None and in_pod()) or files():
        return None
    if (SERVICE_ACCOUNT / "token").is_file():
        return (
            "JupyterLab runs in a pod, but its environment has no KUBERNETES_SERVICE_HOST, as in an SSH session."
            " Start it with KUBERNETES_SERVICE_HOST=kubernetes.default.svc KUBERNETES_SERVICE_PORT=443."
        )
    if gone := missing():
        return f"KUBECONFIG names {gone[0]}, which does not exist."
    return "There is no kubeconfig, and JupyterLab does not run in a pod with a service account."


def in_pod() -> bool:
    """Whether this process has a pod's service account (over SSH into a pod it may lack the address)."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").is_file()


def pod_namespace() -> str | None:
    """Return the namespace of the pod that this process runs in; None outside one.

    The service account's own file knows it, else the notebook's address (``NB_PREFIX``). ``T9K_NAMESPACE`` is the
    platform's namespace, not the user's (t9k.md §4.2).
    """
    try:
        if namespace := (SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip():
            return namespace
    except (OSError, ValueError):
        pass  # not a pod, or one without a service account
    # /t9k/notebooks/projects/<namespace>/name/<name>/ on T9k, /notebook/<namespace>/<name> on Kubeflow
    match = re.match(r"(?:/t9k/notebooks/projects|/notebook)/([a-z0-9-]{1,63})/", os.environ.get("NB_PREFIX", ""))
    return match[1] if match else None


def _of_pod() -> Connection:
    incluster = _library("config.incluster_config")
    configuration = _library("client").Configuration()
    authority = SERVICE_ACCOUNT / "ca.crt"
    try:
        incluster.InClusterConfigLoader(
            token_filename=str(SERVICE_ACCOUNT / "token"), cert_filename=str(authority)
        ).load_and_set(configuration)
        tls = Tls(authority=authority.read_bytes())
    except _library("config").ConfigException as error:
        # its texts are its own sentences: “Service token file does not exist.”
        raise NoCluster(f"The pod's service account can't be used: {error}") from error
    return Connection(
        server=configuration.host,
        namespace=pod_namespace() or "default",
        context=None,
        tls=tls.checked("the pod's service account"),
        proxy=_proxy({}, configuration.host),
        headers=_authorization(configuration),
        expires_at=time.time() + FILE_SECONDS,
        renew=load_connection,
    )


def _of_target(target: Target, renew: Callable[[], Connection]) -> Connection:
    cluster, user = target.cluster, target.user
    given: Credential | None = None
    if "exec" in user and not (user.get("token") or user.get("tokenFile")):
        given = run_plugin(target)
        user = {**user, "token": given.token} if given.token else user
    expires_at = given.expires_at if given else None
    if expires_at is not None:
        expires_at = max(expires_at - EARLY_SECONDS, time.time() + LEAST_SECONDS)
    elif user.get("tokenFile"):
        expires_at = time.time() + FILE_SECONDS
    server = cluster["server"].rstrip("/")
    name = cluster.get("tls-server-name")
    tls = Tls(
        authority=target.content("certificate-authority"),
        certificate=given.certificate if given and given.certificate else target.content("client-certificate"),
        key=given.key if given and given.certificate else target.content("client-key"),
        server_name=name if isinstance(name, str) and name else None,
        verify=not cluster.get("insecure-skip-tls-verify"),
    )
    return Connection(
        server=server,
        namespace=target.namespace or pod_namespace() or "default",
        context=target.context,
        tls=tls.checked(f"the kubeconfig's context {target.context!r}"),
        proxy=_proxy(cluster, server),
        headers=(*_header_of_user(server, user, target.context), *_impersonation(user)),
        expires_at=expires_at,
        renew=renew,
        by_program=given is not None,
    )


def _header_of_user(server: str, user: Entry, context: str) -> Headers:
    """Return the authorization header of a kubeconfig's user; none for a certificate, or for nobody."""
    ways = ("token", "tokenFile", "username", "password", "auth-provider")
    known = {key: user[key] for key in ways if user.get(key)}
    if "tokenFile" in known:
        known.pop("token", None)  # which may be an old copy: kubectl prefers the file
    if wrong := [key for key in known if key != "auth-provider" and not isinstance(known[key], str)]:
        raise NoCluster(f"{wrong[0]} of the kubeconfig's context {context!r} is no text.")
    if not known:
        return ()
    document = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": known}],
    }
    configuration = _library("client").Configuration()
    _library("config").load_kube_config_from_dict(
        document, context="it", client_configuration=configuration, persist_config=False
    )
    found = _authorization(configuration)
    if not found:
        provider = (known.get("auth-provider") or {}).get("name")
        how = f"auth-provider {provider!r}" if provider else "user name"
        raise NoCluster(
            f"The {how} of the kubeconfig's context {context!r} gives no token; use an exec plugin instead."
        )
    return found


def _authorization(configuration: Any) -> Headers:
    # named differently from version to version, so whatever goes into a header is taken (kube-engines.md §7.3)
    settings = [setting for setting in configuration.auth_settings().values() if setting["in"] == "header"]
    headers = tuple((setting["key"], setting["value"].strip()) for setting in settings if setting["value"])
    if not all(value.isascii() and value.isprintable() for _key, value in headers):
        raise NoCluster("The token for the cluster is damaged: there are characters in it that no token has.")
    return headers


def _impersonation(user: Entry) -> Headers:
    """Return the headers of ``as``, with which an administrator acts as somebody with fewer rights."""
    found = [("Impersonate-User", user.get("as")), ("Impersonate-Uid", user.get("as-uid"))]
    found += [("Impersonate-Group", group) for group in user.get("as-groups") or []]
    for key, values in (user.get("as-user-extra") or {}).items():
        found += [(f"Impersonate-Extra-{quote(key, safe='')}", value) for value in values]
    return tuple((header, str(value)) for header, value in found if value)


def _proxy(cluster: Entry, server: str) -> str | None:
    proxy = cluster.get("proxy-url") or environment_proxy(server)
    if not proxy:
        return None
    scheme = urlsplit(proxy).scheme if isinstance(proxy, str) else ""
    if scheme not in ("http", "https", "socks5", "socks5h"):
        raise NoCluster("The proxy to the cluster (proxy-url, or HTTPS_PROXY) is neither http, https nor socks5.")
    if scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise NoCluster(
            "The proxy to the cluster is a SOCKS proxy, for which a package is missing: pip install socksio."
        )
    return str(proxy)


def _library(module: str) -> Any:
    """Return a part of the kubernetes package, whose types say little and differ from version to version."""
    try:
        return importlib.import_module(f"kubernetes.{module}")
    except ImportError as error:
        raise NoCluster(
            "The Python package kubernetes is not installed in JupyterLab's environment:"
            " pip install 'jupyterlab_t9kjob[kubernetes]'."
        ) from error
