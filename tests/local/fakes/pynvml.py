"""A stand-in for NVIDIA's `pynvml` (nvidia-ml-py), after its documentation; tests say what hardware there is.

Not made after our own code: functions and errors are those of https://docs.nvidia.com/deploy/nvml-api.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

NVML_DEVICE_MIG_DISABLE, NVML_DEVICE_MIG_ENABLE = 0, 1
nvmlMemory_v2 = 0x02000028  # noqa: N816


class NVMLError(Exception):
    words = "Unknown Error"

    def __str__(self) -> str:
        return self.words


class NVMLLibraryMismatchError(Exception):
    pass


def _error(name: str, words: str) -> type[NVMLError]:
    return type(f"NVMLError_{name}", (NVMLError,), {"words": words})


NVMLError_LibraryNotFound = _error("LibraryNotFound", "NVML Shared Library Not Found")
NVMLError_DriverNotLoaded = _error("DriverNotLoaded", "Driver Not Loaded")
NVMLError_LibRmVersionMismatch = _error("LibRmVersionMismatch", "Driver/library version mismatch")
NVMLError_Uninitialized = _error("Uninitialized", "Uninitialized")
NVMLError_NotSupported = _error("NotSupported", "Not Supported")
NVMLError_NotFound = _error("NotFound", "Not Found")
NVMLError_NoPermission = _error("NoPermission", "Insufficient Permissions")
NVMLError_GpuIsLost = _error("GpuIsLost", "GPU is lost")
NVMLError_InvalidArgument = _error("InvalidArgument", "Invalid Argument")


@dataclass
class Device:
    """A GPU or, as a part of one, a MIG device; `fails` is raised by each call about it."""

    uuid: str
    name: str = "NVIDIA H200"
    total: int = 100 << 30
    used: int = 1 << 20
    reserved: int = 1 << 29
    compute: list[int] = field(default_factory=list)
    graphics: list[int] = field(default_factory=list)
    parts: list[Device | None] | None = None
    fails: type[NVMLError] | None = None
    old: bool = False


class State:
    """The GPUs of the fake machine. The first call raises `error`, or blocks if `hangs` is true."""

    devices: list[Device]
    error: type[NVMLError] | None
    hangs: threading.Event | None
    initialized: int
    looks: int


def reset() -> None:
    State.devices, State.error, State.hangs = [], None, None
    State.initialized = State.looks = 0


reset()


def nvmlInit() -> None:  # noqa: N802
    State.looks += 1
    if State.hangs is not None:
        State.hangs.wait()
    if State.error is not None:
        raise State.error
    State.initialized += 1


def nvmlShutdown() -> None:  # noqa: N802
    _check()
    State.initialized -= 1


def nvmlDeviceGetCount() -> int:  # noqa: N802
    _check()
    return len(State.devices)


def nvmlDeviceGetHandleByIndex(index: int) -> Device:  # noqa: N802
    _check()
    if index >= len(State.devices):
        raise NVMLError_InvalidArgument
    return _check(State.devices[index])


def nvmlDeviceGetMigMode(device: Device) -> list[int]:  # noqa: N802
    _check(device)
    if device.old:
        raise NVMLError_NotSupported
    mode = NVML_DEVICE_MIG_DISABLE if device.parts is None else NVML_DEVICE_MIG_ENABLE
    return [mode, mode]


def nvmlDeviceGetMaxMigDeviceCount(device: Device) -> int:  # noqa: N802
    return len(_check(device).parts or [])


def nvmlDeviceGetMigDeviceHandleByIndex(device: Device, index: int) -> Device:  # noqa: N802
    part = (_check(device).parts or [])[index]
    if part is None:
        raise NVMLError_NotFound
    return part


def nvmlDeviceGetUUID(device: Device) -> str:  # noqa: N802
    return _check(device).uuid


def nvmlDeviceGetName(device: Device) -> str:  # noqa: N802
    return _check(device).name


def nvmlDeviceGetMemoryInfo(device: Device, version: int | None = None) -> Any:  # noqa: N802
    _check(device)
    if version and device.old:
        raise NVMLError_NotSupported
    used = device.used if version else device.used + device.reserved
    return SimpleNamespace(total=device.total, used=used, free=device.total - used)


def nvmlDeviceGetComputeRunningProcesses(device: Device) -> list[Any]:  # noqa: N802
    _check(device)
    if device.old:
        raise NVMLLibraryMismatchError
    return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in device.compute]


def nvmlDeviceGetGraphicsRunningProcesses(device: Device) -> list[Any]:  # noqa: N802
    return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in _check(device).graphics]


def _check(device: Device | None = None) -> Any:
    if State.initialized <= 0:
        raise NVMLError_Uninitialized
    if device is not None and device.fails is not None:
        raise device.fails
    return device
