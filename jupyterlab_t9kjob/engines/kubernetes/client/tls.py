"""What a cluster's server is trusted by, and the certificate by which it knows its client."""

from __future__ import annotations

import hashlib
import re
import ssl
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import NoCluster


@dataclass(frozen=True)
class Tls:
    """Two that are equal make the same connections.

    Attributes
    ----------
    authority
        Who is trusted, PEM; None for those that the system trusts.
    certificate, key
        The client's, PEM.
    server_name
        The name in the server's certificate, where it differs from the address.
    verify
        Whether the server has to prove who it is.
    """

    authority: bytes | None = field(default=None, repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    server_name: str | None = None
    verify: bool = True

    @cached_property
    def fingerprint(self) -> str | None:
        """Of the authorities' certificates, however their file is laid out; None where the server proves nothing."""
        blocks = re.findall(rb"-----BEGIN CERTIFICATE-----(.+?)-----END", self.authority or b"", re.DOTALL)
        if not blocks or not self.verify:
            return None
        return hashlib.sha256(b" ".join(sorted(b"".join(block.split()) for block in blocks))).hexdigest()[:32]

    def checked(self, owner: str) -> Tls:
        """Return this if a context can be made of it (blocking).

        Raises
        ------
        NoCluster
            If not; `owner` is whose certificates these are.
        """
        try:
            _ = self.context
        except (ssl.SSLError, ValueError) as error:
            what = "client certificate and key" if self.certificate else "certificate authority"
            why = getattr(error, "reason", None) or "not in the form of PEM"
            raise NoCluster(f"The {what} of {owner} can't be used: {why}.") from None
        return self

    @cached_property
    def context(self) -> ssl.SSLContext:
        """For connections to the server."""
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.expected_name = self.server_name
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        # from Python 3.13 on the default, and more than many clusters' own CAs have
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
    """A context whose servers have another name than their address; httpcore knows that not behind a proxy."""

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
    # OpenSSL reads it from a file only. Without a password it would ask for one on the server's terminal.
    with tempfile.TemporaryDirectory(prefix="t9kjob-") as folder:
        path = Path(folder, "client.pem")
        path.touch(mode=0o600)
        path.write_bytes(pem)
        context.load_cert_chain(path, password=lambda: b"")
