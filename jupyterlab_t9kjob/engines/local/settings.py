"""Settings of jobs on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """Settings that an administrator can change.

    Attributes
    ----------
    grace_seconds
        Time between SIGTERM and SIGKILL.
    backoff_seconds
        Delay of the first restart. It doubles with each restart, up to a minute.
    rendezvous_port
        Port that the agents of several replicas try first; 0 for any free port.
    device_pool
        Accelerators that jobs may use, by index or UUID; None for all that are found. The server's own
        ``CUDA_VISIBLE_DEVICES`` limits both.
    log_bytes
        Bytes of log that a job may have on disk before the middle is cut out; None for no limit.
    keep_seconds
        How long the record and the logs of a job are kept after its end; None for ever.
    niceness
        Number that is added to the niceness of the job's processes. A higher niceness means a lower priority. If it is
        above 0, the processes are also the first to be killed when the machine is short of memory.
    """

    grace_seconds: float = 10.0
    backoff_seconds: float = 1.0
    rendezvous_port: int = 0
    device_pool: list[str] | None = None
    log_bytes: int | None = None
    keep_seconds: float | None = None
    niceness: int = 0


OF_TRIES = Settings(grace_seconds=2.0, device_pool=[], log_bytes=16 * 1024 * 1024, niceness=10)
"""Settings of tries: they end soon, use no accelerator, write little, and leave the processor to others."""
