"""What NVIDIA's driver says of the GPUs, asked in a thread of its own: a driver that hangs holds nobody up."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
"""How long an answer of the driver, an error as well, is good for."""
ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a MIG device: a part of one that programs see in its stead.

    Attributes
    ----------
    index
        Number by which `nvidia-smi` and, in PCI order, CUDA know the GPU.
    uuid
        ``GPU-…`` or ``MIG-…``.
    name
        Its model.
    memory_total, memory_used
        Bytes; None where the driver does not tell.
    pids
        Processes that compute on it, as far as they can be seen from here.
    has_display
        Whether processes draw on it; they need memory as well.
    """

    index: int
    uuid: str
    name: str
    memory_total: int | None
    memory_used: int | None
    pids: tuple[int, ...]
    has_display: bool

    @property
    def is_part(self) -> bool:
        """Whether it is a MIG device."""
        return self.uuid.startswith("MIG-")


@dataclass(frozen=True)
class Look:
    """What was found: no GPUs and no problem where there is no driver."""

    gpus: tuple[Gpu, ...] = ()
    problem: str | None = None


class Driver:
    """The driver of this machine, loaded and let go at each look, so that it may come, go and be replaced."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked_at = self._answered_at = float("-inf")
        self._last = Look()

    def look(self) -> Look:
        """Return the GPUs (blocking, for at most `ANSWER_SECONDS`).

        Of a driver that does not answer they are those of the last time.

        Raises
        ------
        RuntimeError
            If no thread can be started; the next call tries again.
        """
        with self._lock:
            now = time.monotonic()
            if self._thread is None:
                if now - self._answered_at < FRESH_SECONDS:
                    return self._last
                # A daemon, or one that hangs would keep the server from ending.
                thread = threading.Thread(target=self._ask, name="t9kjob-nvml", daemon=True)
                thread.start()
                self._thread, self._asked_at = thread, now
            thread, left = self._thread, self._asked_at + ANSWER_SECONDS - now
        thread.join(max(0.0, left))
        with self._lock:
            if self._thread is None:
                return self._last
        return replace(self._last, problem="The GPU driver does not answer.")

    def _ask(self) -> None:
        try:
            look = Look(_gpus())
        except Exception as error:  # whatever it is, those who wait must be told
            look = Look(problem=f"The GPU driver fails: {error}")
        with self._lock:
            if look.problem is not None and look.problem != self._last.problem:
                log.warning("%s", look.problem)
            self._last, self._answered_at, self._thread = look, time.monotonic(), None


def _gpus() -> tuple[Gpu, ...]:
    import pynvml

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return ()
    try:
        return tuple(_each(pynvml))
    finally:
        pynvml.nvmlShutdown()


def _each(nvml: Any) -> list[Gpu]:
    """Return all GPUs but those that were unplugged, are lost, or are not for this user."""
    found: list[Gpu] = []
    errors = []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            parts = _parts(nvml, handle)
            found += [_gpu(nvml, index, one) for one in ([handle] if parts is None else parts)]
        except nvml.NVMLError as error:
            log.debug("GPU %d: %s", index, error)
            errors.append(error)
    if errors and not found:
        raise errors[0]
    return found


def _parts(nvml: Any, handle: Any) -> list[Any] | None:
    """Return the MIG devices of a GPU; None where it is not divided."""
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:  # this model knows no MIG
        return None
    if current != nvml.NVML_DEVICE_MIG_ENABLE:
        return None
    parts = []
    for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            parts.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number))
        except nvml.NVMLError_NotFound:
            continue
    return parts


def _gpu(nvml: Any, index: int, handle: Any) -> Gpu:
    memory = _memory(nvml, handle)
    return Gpu(
        index=index,
        uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
        name=_text(nvml.nvmlDeviceGetName(handle)),
        memory_total=memory.total if memory is not None else None,
        memory_used=memory.used if memory is not None else None,
        pids=tuple(sorted(_pids(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle))),
        has_display=bool(_pids(nvml, nvml.nvmlDeviceGetGraphicsRunningProcesses, handle)),
    )


def _memory(nvml: Any, handle: Any) -> Any:
    """Return the memory, without what the driver keeps for itself where it tells that apart."""
    for version in (nvml.nvmlMemory_v2, None):
        try:
            return nvml.nvmlDeviceGetMemoryInfo(handle, version)
        except nvml.NVMLError_GpuIsLost:
            raise
        except nvml.NVMLError:  # not for this model, or this old driver
            continue
    return None


def _pids(nvml: Any, ask: Any, handle: Any) -> set[int]:
    try:
        return {process.pid for process in ask(handle)}
    except nvml.NVMLError_GpuIsLost:
        raise
    except (nvml.NVMLError, nvml.NVMLLibraryMismatchError):  # not for this model, this user, or this old driver
        return set()


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
