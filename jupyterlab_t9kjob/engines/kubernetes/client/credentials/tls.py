"""TLS settings of a connection: trusted certificate authorities and the client's certificate."""

from __future__ import annotations

import hashlib
import re
import ssl
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .....core.translation import Text, _
from ..errors import NoCluster


@dataclass(frozen=True)
class Tls:
    """TLS settings; equal settings make interchangeable connections.

    Attributes
    ----------
    authority
        Certificates of the trusted authorities (PEM); None for those that the system trusts.
    certificate, key
        The client's certificate and key (PEM).
    server_name
        Name in the server's certificate; None if it is the address.
    verify
        True if the server's certificate is verified.
    """

    authority: bytes | None = field(default=None, repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    server_name: str | None = None
    verify: bool = True

    @cached_property
    def fingerprint(self) -> str | None:
        """Hash of the authorities' certificates, independent of their order and line breaks; None without them."""
        blocks = re.findall(rb"-----BEGIN CERTIFICATE-----(.+?)-----END", self.authority or b"", re.DOTALL)
        if not blocks or not self.verify:
            return None
        return hashlib.sha256(b" ".join(sorted(b"".join(block.split()) for block in blocks))).hexdigest()[:32]

    def checked(self, context: str | None) -> Tls:
        """Return the settings if the certificates are usable (blocking).

        Parameters
        ----------
        context
            Name of the kubeconfig's context that they belong to; None for the pod's service account.

        Raises
        ------
        NoCluster
            If a certificate or the key can't be used.
        """
        try:
            _unused = self.context
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None)
            raise NoCluster(self._unusable(context, reason or _("not in the form of PEM"))) from None
        return self

    def _unusable(self, context: str | None, reason: str) -> Text:
        if context is None:
            return _("The certificate authority of the pod's service account can't be used: {reason}.", reason=reason)
        if self.certificate:
            return _(
                "The client certificate and key of the kubeconfig's context {context} can't be used: {reason}.",
                context=repr(context),
                reason=reason,
            )
        return _(
            "The certificate authority of the kubeconfig's context {context} can't be used: {reason}.",
            context=repr(context),
            reason=reason,
        )

    @cached_property
    def context(self) -> ssl.SSLContext:
        """Context for connections to the API server."""
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.expected_name = self.server_name
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # The default since Python 3.13, which the authorities of many clusters do not meet.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.authority:
            context.load_verify_locations(cadata=self.authority.decode("ascii", "ignore"))
        else:
            context.load_default_certs()
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate:
            _load_chain(context, self.certificate + b"\n" + (self.key or b""))
        return context


class _Context(ssl.SSLContext):
    """Context for servers whose name differs from their address; httpcore does not support that behind a proxy."""

    expected_name: str | None = None

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: Any = None,
    ) -> ssl.SSLObject:
        return super().wrap_bio(incoming, outgoing, server_side, self.expected_name or server_hostname, session)


def _load_chain(context: ssl.SSLContext, pem: bytes) -> None:
    # OpenSSL reads a chain only from a file. Without the callback it would ask for a password on the server's terminal.
    with tempfile.TemporaryDirectory(prefix="t9kjob-") as folder:
        path = Path(folder, "client.pem")
        path.touch(mode=0o600)
        path.write_bytes(pem)
        context.load_cert_chain(path, password=lambda: b"")
