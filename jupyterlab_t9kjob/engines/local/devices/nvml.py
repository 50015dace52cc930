"""GPUs as NVIDIA's driver reports them.

The driver is called in a thread of its own, so a driver that hangs blocks no request for longer than `ANSWER_SECONDS`.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from ....core.translation import Text, _

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
"""Time for which an answer of the driver, or its error, is reused."""
ANSWER_SECONDS = 5.0
"""Time that a request waits for the driver."""


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a MIG device: a part of a GPU that programs see instead of the whole.

    Attributes
    ----------
    index
        Number of the GPU for `nvidia-smi` and, in PCI order, for CUDA.
    uuid
        ``GPU-…`` or ``MIG-…``.
    name
        Name of the model.
    memory_total, memory_used
        Bytes; None if the driver does not report them.
    pids
        Processes that compute on it; the driver may not show those of other containers.
    has_display
        True if processes draw on it, which need memory as well.
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
        """True for a MIG device."""
        return self.uuid.startswith("MIG-")


@dataclass(frozen=True)
class DriverState:
    """GPUs at one moment, and the driver's problem if it has one. A machine without a driver has neither."""

    gpus: tuple[Gpu, ...] = ()
    problem: Text | None = None


class Driver:
    """Reads the GPUs from the driver, which is loaded for each read, so that it can be installed and replaced."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked_at = self._answered_at = float("-inf")
        self._last = DriverState()

    def read(self) -> DriverState:
        """Return the GPUs (blocking, for at most `ANSWER_SECONDS`).

        If the driver does not answer in time, the GPUs are those of its last answer.

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
                # A daemon thread, since one that hangs must not keep the server from ending.
                thread = threading.Thread(target=self._ask, name="t9kjob-nvml", daemon=True)
                thread.start()
                self._thread, self._asked_at = thread, now
            thread, left = self._thread, self._asked_at + ANSWER_SECONDS - now
        thread.join(max(0.0, left))
        with self._lock:
            if self._thread is None:
                return self._last
        return replace(self._last, problem=_("The GPU driver does not answer."))

    def _ask(self) -> None:
        try:
            state = DriverState(_gpus())
        except Exception as error:  # Any error must reach the requests that wait for the thread.
            state = DriverState(problem=_("The GPU driver fails: {error}", error=str(error)))
        with self._lock:
            if state.problem is not None and state.problem != self._last.problem:
                log.warning("%s", state.problem)
            self._last, self._answered_at, self._thread = state, time.monotonic(), None


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
    """Return all GPUs except those that were unplugged, are lost, or are not accessible to this user."""
    found: list[Gpu] = []
    errors = []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            parts = _parts(nvml, handle)
            found += [_gpu(nvml, index, device) for device in ([handle] if parts is None else parts)]
        except nvml.NVMLError as error:
            log.debug("GPU %d: %s", index, error)
            errors.append(error)
    if errors and not found:
        raise errors[0]
    return found


def _parts(nvml: Any, handle: Any) -> list[Any] | None:
    """Return the MIG devices of a GPU; None if the GPU is not divided."""
    try:
        current, _pending = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:  # This model has no MIG.
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
    """Return the memory, without the driver's own share if the driver reports that separately."""
    for version in (nvml.nvmlMemory_v2, None):
        try:
            return nvml.nvmlDeviceGetMemoryInfo(handle, version)
        except nvml.NVMLError_GpuIsLost:
            raise
        except nvml.NVMLError:  # Not supported by this model or driver.
            continue
    return None


def _pids(nvml: Any, ask: Any, handle: Any) -> set[int]:
    try:
        return {process.pid for process in ask(handle)}
    except nvml.NVMLError_GpuIsLost:
        raise
    except (nvml.NVMLError, nvml.NVMLLibraryMismatchError):  # Not supported by this model or driver, or not permitted.
        return set()


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
