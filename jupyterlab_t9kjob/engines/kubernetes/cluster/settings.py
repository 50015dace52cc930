"""What an administrator may change of the engines in a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Settings:
    """Settings of the cluster's engines.

    Attributes
    ----------
    enabled
        Whether a cluster is looked for at all.
    context
        The kubeconfig's context; None for a pod's own service account, else the current one.
    namespaces
        Namespaces that are watched beside the connection's own.
    volumes
        The lab's volumes, where it is no pod, see `lab.configured_volumes`.
    owner
        Who submits from here, an annotation of its jobs by which *mine* is told.
    keep_logs
        Whether jobs may write their rank files to a volume of theirs.
    follow_replicas
        Own jobs of up to this many replicas have their pods' logs followed also while nobody looks.
    followed_logs
        Logs of containers that are followed at the same time; where there are more, they take turns.
    log_bytes
        Bytes of a job's log that may be kept on disk before the middle of it is cut out; None for any number.
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
