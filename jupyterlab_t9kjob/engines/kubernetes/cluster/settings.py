"""Settings of the Kubernetes engines that an administrator may change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Settings of the Kubernetes engines; the traits of `T9kJobApp` set them.

    Attributes
    ----------
    enabled
        True if this lab connects to a cluster.
    context
        Context of the kubeconfig; None for the pod's own service account, or outside a pod for the current context.
    namespaces
        Namespaces that are watched in addition to the connection's own.
    volumes
        Volumes of a lab that runs outside a pod, see `lab.configured_volumes`.
    owner
        User who submits from this lab. Jobs carry the name as an annotation, which tells the user's own jobs.
    keep_logs
        True if jobs may write their rank files to one of their volumes.
    follow_replicas
        Greatest number of replicas of an own job whose logs are followed also while no page shows them.
    followed_logs
        Number of container logs that are followed at the same time; more logs take turns.
    log_bytes
        Bytes of a job's log that are kept on disk; the middle of a longer log is removed. None for no limit.
    prometheus
        Address of the cluster's Prometheus; empty to find its Service, ``off`` to read none.
    prometheus_token_file, prometheus_ca_file
        Files with a bearer token for that address and with the authorities of its certificate; empty for none.
    once
        See `EngineContext.once`.
    debug_image
        Image of debug containers, see `commands.debug_containers`; empty for none.
    """

    enabled: bool = True
    context: str | None = None
    namespaces: tuple[str, ...] = ()
    volumes: tuple[Any, ...] = ()
    owner: str | None = None
    keep_logs: bool = True
    follow_replicas: int = 16
    followed_logs: int = 64
    log_bytes: int | None = None
    prometheus: str = ""
    prometheus_token_file: str = ""
    prometheus_ca_file: str = ""
    debug_image: str = ""
    once: bool = False
