"""Finds the Prometheus of a cluster through its Service.

Only Services in namespaces of the platform count: anybody can create a Service with the same name in a namespace of
their own, and would be believed.
"""

from __future__ import annotations

from typing import Final

from ...client.api import Json, KubeApi
from ...client.errors import ApiError, Unreachable
from ...client.json_access import parts, text, whole
from .client import DirectPrometheus, Prometheus, ServicePrometheus

NAMESPACES: Final = ("t9k-monitoring", "monitoring")
"""Namespaces of T9k's monitoring (t9k-facts.md, Monitoring) and of kube-prometheus."""
NAMES: Final = (
    "prometheus-k8s",
    "kube-prometheus-stack-prometheus",
    "prometheus-kube-prometheus-prometheus",
    "prometheus-operated",
    "prometheus-server",
    "prometheus",
)
"""Names of the Service, the best first: kube-prometheus, its Helm chart, the Operator's own, Prometheus' Helm chart."""
_CHART: Final = "-kube-prometheus-stack-prometheus"
_PORT_NAMES: Final = ("web", "http-web", "http")
_PORTS: Final = (9090, 80)


async def find(api: KubeApi) -> Prometheus | None:
    """Return the Prometheus of the cluster; None if there is none, or the account may not list Services there."""
    for namespace in NAMESPACES:
        try:
            answer = await api.get(f"/api/v1/namespaces/{namespace}/services")
        except (ApiError, Unreachable):
            continue
        found = best_service(parts(answer, "items"))
        if found is None:
            continue
        name, port = found
        if api.connection.in_cluster:
            return DirectPrometheus(f"http://{name}.{namespace}.svc:{port}")
        return ServicePrometheus(api, namespace, name, port)
    return None


def best_service(services: list[Json]) -> tuple[str, int] | None:
    """Return name and port of the Service of a Prometheus; None if none of the Services is one."""
    ranked = []
    for service in services:
        name, port = text(service, "metadata", "name") or "", _port(service)
        # A Service of this type leads to any address.
        if port is None or text(service, "spec", "type") == "ExternalName":
            continue
        if name in NAMES:
            ranked.append((NAMES.index(name), name, port))
        elif name.endswith(_CHART):
            ranked.append((NAMES.index(_CHART[1:]), name, port))
    if not ranked:
        return None
    _rank, name, port = min(ranked)
    return name, port


def _port(service: Json) -> int | None:
    ports = [
        (text(port, "name"), number)
        for port in parts(service, "spec", "ports")
        if (number := whole(port, "port")) is not None and 0 < number < 65536
    ]
    by_name = [number for wanted in _PORT_NAMES for name, number in ports if name == wanted]
    by_number = [number for wanted in _PORTS for _name, number in ports if number == wanted]
    return next(iter([*by_name, *by_number]), None)
