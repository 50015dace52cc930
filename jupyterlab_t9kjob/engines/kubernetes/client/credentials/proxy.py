"""Proxy to a cluster from the environment, as kubectl reads it.

The rules are those of Go's ``golang.org/x/net/http/httpproxy``: ``HTTPS_PROXY`` and ``NO_PROXY`` with domains,
addresses, networks and ports. Python's own reading of ``NO_PROXY`` does not know networks such as
``10.0.0.0/8``, with which clusters are commonly excluded from the proxy.
"""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def environment_proxy(server: str) -> str | None:
    """Return the URL of the proxy that the environment names for a server; None for a direct connection."""
    address = urlsplit(server)
    proxy = _variable(f"{address.scheme}_proxy")
    host = (address.hostname or "").lower().rstrip(".")
    port = address.port or (443 if address.scheme == "https" else 80)
    if not proxy or _exempt(host, port, _variable("no_proxy")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _variable(name: str) -> str:
    return (os.environ.get(name.upper()) or os.environ.get(name) or "").strip()


def _exempt(host: str, port: int, rules: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(rule, host, port, address) for rule in map(str.strip, rules.lower().split(",")) if rule)


def _matches(rule: str, host: str, port: int, address: Address | None) -> bool:
    if rule == "*":
        return True
    if "/" in rule:
        try:
            return address is not None and address in ipaddress.ip_network(rule, strict=False)
        except ValueError:
            return False
    name, rule_port = _split(rule)
    if rule_port and rule_port != str(port):
        return False
    rule_address = _address(name)
    if rule_address is not None:
        return rule_address == address
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split(rule: str) -> tuple[str, str]:
    """Return a rule's host, without brackets, and its port; an empty port if it has none."""
    if rule.startswith("["):
        name, _bracket, rest = rule[1:].partition("]")
        return name, rest.removeprefix(":")
    name, colon, port = rule.rpartition(":")
    return (name, port) if colon and ":" not in name else (rule, "")


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
