"""Credentials for a cluster: a pod's service account or a kubeconfig, as a `Connection`.

The official `kubernetes` package makes the authorization header, except of a token that stands in the kubeconfig or
comes from a program. It is imported when credentials are loaded, which blocks and belongs in a thread. Where the
package differs from kubectl, other modules replace it: `kubeconfig` merges files, `exec_plugin` runs programs, `proxy`
reads the environment.
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

from .....core.translation import Text, _
from ..errors import NoCluster
from .exec_plugin import Credential, run_plugin
from .kubeconfig import Entry, Target, files, missing, read_target
from .proxy import environment_proxy
from .tls import Tls

__all__ = ["Connection", "NoCluster", "in_pod", "load_connection", "nothing_to_load", "pod_namespace"]

Headers = tuple[tuple[str, str], ...]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Folder in every pod with its token, its namespace and the cluster's certificate authority."""
FILE_SECONDS = 60.0
"""Time for which a token from a file is used before the file is read again; the kubelet rotates tokens."""
EARLY_SECONDS = 10.0
"""Time before its expiry at which a credential is renewed."""
LEAST_SECONDS = 30.0
"""Least time for which a credential is used, whatever its expiry: clocks differ, and each renewal runs a program."""


@dataclass(frozen=True)
class Connection:
    """A cluster and an account on it.

    Attributes
    ----------
    server
        URL of the API server.
    namespace
        Default namespace.
    context
        Name of the kubeconfig's context; None for a pod's service account.
    tls
        Trusted authorities and the client's certificate.
    proxy
        URL of the proxy; None for a direct connection.
    headers
        Headers of every request that identify the account.
    expires_at
        Time at which `renew` is due, in seconds since the epoch; None if only a refusal tells the expiry.
    renew
        Loads the connection anew (blocking; raises `NoCluster`).
    by_program
        True if loading runs a program.
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
        """True if the account is the pod's own service account."""
        return self.context is None

    @property
    def host(self) -> str:
        """Host and port of the API server, for sentences."""
        return urlsplit(self.server).netloc

    @property
    def cluster(self) -> str:
        """Identity of the cluster: its certificate authority and its address.

        Neither alone is enough: two clusters may be reached through the same forwarded port, and a company's authority
        may sign for many clusters. A lab that reaches the same cluster by another address treats the cluster as another
        one until it sees the jobs there; the opposite mistake would report jobs as deleted. The uid of the namespace
        ``kube-system`` would be better, but labs lack the permission to read it.
        """
        server = urlsplit(self.server)
        return f"{self.tls.fingerprint or ''}@{server.netloc}{server.path.rstrip('/')}"


def load_connection(context: str | None = None) -> Connection:
    """Load the credentials of a cluster (blocking).

    Parameters
    ----------
    context
        Context of the kubeconfig; None for the pod's service account, or outside a pod for the current context.

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
        # Libraries quote a faulty kubeconfig in their errors, and so its secrets: only the type is shown.
        raise NoCluster(_("The cluster's credentials can't be used ({error}).", error=type(error).__name__)) from None


def nothing_to_load(context: str | None = None) -> Text | None:
    """Return the sentence that says why there are no credentials; None if there may be some (blocking).

    Only the existence of files is checked, so that a lab without a cluster imports nothing.
    """
    if (context is None and in_pod()) or files():
        return None
    if (SERVICE_ACCOUNT / "token").is_file():
        return _(
            "JupyterLab runs in a pod, but its environment has no KUBERNETES_SERVICE_HOST, as in an SSH session."
            " Start it with KUBERNETES_SERVICE_HOST=kubernetes.default.svc KUBERNETES_SERVICE_PORT=443."
        )
    if gone := missing():
        return _("KUBECONFIG names {path}, which does not exist.", path=str(gone[0]))
    return _("There is no kubeconfig, and JupyterLab does not run in a pod with a service account.")


def in_pod() -> bool:
    """Return True if this process has a pod's service account and the API server's address (SSH sessions lack it)."""
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").is_file()


def pod_namespace() -> str | None:
    """Return the namespace of the pod that this process runs in; None outside one.

    The namespace stands in a file of the service account, else in the notebook's URL prefix (``NB_PREFIX``).
    ``T9K_NAMESPACE`` is the platform's namespace, not the user's (t9k-facts.md, Lab pods).
    """
    try:
        if namespace := (SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip():
            return namespace
    except (OSError, ValueError):
        pass  # Not a pod, or a pod without a service account.
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
        # The library's texts are sentences without secrets: “Service token file does not exist.”
        raise NoCluster(_("The pod's service account can't be used: {error}", error=str(error))) from error
    return Connection(
        server=configuration.host,
        namespace=pod_namespace() or "default",
        context=None,
        tls=tls.checked(None),
        proxy=_proxy({}, configuration.host),
        headers=_authorization(configuration),
        expires_at=time.time() + FILE_SECONDS,
        renew=load_connection,
    )


def _of_target(target: Target, renew: Callable[[], Connection]) -> Connection:
    cluster, user = target.cluster, target.user
    credential: Credential | None = None
    if "exec" in user and not (user.get("token") or user.get("tokenFile")):
        credential = run_plugin(target)
        user = {**user, "token": credential.token} if credential.token else user
    expires_at = credential.expires_at if credential else None
    if expires_at is not None:
        expires_at = max(expires_at - EARLY_SECONDS, time.time() + LEAST_SECONDS)
    elif user.get("tokenFile"):
        expires_at = time.time() + FILE_SECONDS
    server = cluster["server"].rstrip("/")
    name = cluster.get("tls-server-name")
    with_certificate = credential if credential and credential.certificate else None
    tls = Tls(
        authority=target.content("certificate-authority"),
        certificate=with_certificate.certificate if with_certificate else target.content("client-certificate"),
        key=with_certificate.key if with_certificate else target.content("client-key"),
        server_name=name if isinstance(name, str) and name else None,
        verify=not cluster.get("insecure-skip-tls-verify"),
    )
    return Connection(
        server=server,
        namespace=target.namespace or pod_namespace() or "default",
        context=target.context,
        tls=tls.checked(target.context),
        proxy=_proxy(cluster, server),
        headers=(*_header_of_user(server, user, target.context), *_impersonation(user)),
        expires_at=expires_at,
        renew=renew,
        by_program=credential is not None,
    )


def _header_of_user(server: str, user: Entry, context: str) -> Headers:
    """Return the authorization header of a kubeconfig's user; none for a certificate or an anonymous user."""
    ways = ("token", "tokenFile", "username", "password", "auth-provider")
    entries = {key: user[key] for key in ways if user.get(key)}
    if "tokenFile" in entries:
        entries.pop("token", None)  # It may be an old copy; kubectl prefers the file.
    if wrong := [key for key in entries if key != "auth-provider" and not isinstance(entries[key], str)]:
        raise NoCluster(
            _("{field} of the kubeconfig's context {context} is not a string.", field=wrong[0], context=repr(context))
        )
    if not entries:
        return ()
    if "token" in entries and "auth-provider" not in entries:
        # A command line would wait a quarter of a second for the import of the package.
        return _checked((("authorization", f"Bearer {entries['token']}".strip()),))
    document = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": server}}],
        "users": [{"name": "it", "user": entries}],
    }
    configuration = _library("client").Configuration()
    _library("config").load_kube_config_from_dict(
        document, context="it", client_configuration=configuration, persist_config=False
    )
    found = _authorization(configuration)
    if not found:
        provider = (entries.get("auth-provider") or {}).get("name")
        raise NoCluster(_no_token(context, str(provider) if provider else None))
    return found


def _no_token(context: str, provider: str | None) -> Text:
    if provider is None:
        return _(
            "The user name of the kubeconfig's context {context} gives no token; use an exec plugin instead.",
            context=repr(context),
        )
    return _(
        "The auth-provider {provider} of the kubeconfig's context {context} gives no token;"
        " use an exec plugin instead.",
        provider=repr(provider),
        context=repr(context),
    )


def _authorization(configuration: Any) -> Headers:
    # The settings' names differ between versions of the package (28.1 to 35.0: `authorization`; from 36.0:
    # `BearerToken`), so all that go into a header are taken.
    settings = [setting for setting in configuration.auth_settings().values() if setting["in"] == "header"]
    return _checked(tuple((setting["key"], setting["value"].strip()) for setting in settings if setting["value"]))


def _checked(headers: Headers) -> Headers:
    """Return headers; characters that no token has are an error."""
    if not all(value.isascii() and value.isprintable() for _key, value in headers):
        raise NoCluster(_("The token for the cluster is damaged: there are characters in it that no token has."))
    return headers


def _impersonation(user: Entry) -> Headers:
    """Return the headers of ``as``, with which an administrator acts as a user with fewer permissions."""
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
        raise NoCluster(_("The proxy to the cluster (proxy-url, or HTTPS_PROXY) is neither http, https nor socks5."))
    if scheme.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise NoCluster(
            _("The proxy to the cluster is a SOCKS proxy, for which a package is missing: pip install socksio.")
        )
    return str(proxy)


def _library(module: str) -> Any:
    """Import a module of the kubernetes package; untyped, because its types differ between versions."""
    try:
        return importlib.import_module(f"kubernetes.{module}")
    except ImportError as error:
        raise NoCluster(
            _(
                "The Python package kubernetes is not installed in JupyterLab's environment:"
                " pip install 'jupyterlab_t9kjob[kubernetes]'."
            )
        ) from error
