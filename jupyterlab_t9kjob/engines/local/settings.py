"""What an administrator may change about jobs on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What an administrator may change.

    Attributes
    ----------
    grace_seconds
        Between SIGTERM and SIGKILL.
    backoff_seconds
        Delay of the first restart; it doubles up to a minute.
    rendezvous_port
        Port that the agents of several replicas try first; 0 for any free one.
    device_pool
        Accelerators that jobs may use, by index or UUID; None for all that are found.
        The server's own ``CUDA_VISIBLE_DEVICES`` bounds both.
    log_bytes
        Bytes of log that a job may have on disk before the middle of it is cut out; None for any number.
    keep_seconds
        How long the record and the logs of a job are kept after its end; None for ever.
    """

    grace_seconds: float = 10.0
    backoff_seconds: float = 1.0
    rendezvous_port: int = 0
    device_pool: list[str] | None = None
    log_bytes: int | None = None
    keep_seconds: float | None = None
