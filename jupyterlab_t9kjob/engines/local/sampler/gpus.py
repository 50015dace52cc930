"""Use of GPUs by NVIDIA's management library (NVML), which is called through ctypes.

See https://docs.nvidia.com/deploy/nvml-api for the functions and their structures.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

LIBRARY = "libnvidia-ml.so.1"


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


@dataclass
class GpuUse:
    """State of a GPU. Values that the driver does not report are NaN.

    Attributes
    ----------
    name
        Name of the model.
    use
        Percent of the last sampling period in which a kernel ran.
    memory, total
        Bytes in use, and of the card.
    energy
        Joules since the driver was loaded.
    power
        Watts.
    """

    name: str
    use: float = math.nan
    memory: float = math.nan
    total: float = math.nan
    energy: float = math.nan
    power: float = math.nan


class Gpus:
    """Reads GPUs by their names in ``CUDA_VISIBLE_DEVICES``: an index in PCI order, or a UUID.

    Parameters
    ----------
    library
        The loaded library; None to load it.

    Raises
    ------
    OSError
        If the library is not there, or can't be used.
    """

    def __init__(self, library: Any = None) -> None:
        self._nvml = library if library is not None else ctypes.CDLL(LIBRARY)
        if self._nvml.nvmlInit_v2() != 0:
            raise OSError("NVML can't be initialized")
        self._handles: dict[str, ctypes.c_void_p] = {}

    def read(self, name: str) -> GpuUse | None:
        """Return the state of a GPU; None if there is no such GPU (blocking)."""
        handle = self._handles.get(name) or self._handle(name)
        if handle is None:
            return None
        self._handles[name] = handle
        text = ctypes.create_string_buffer(96)
        self._nvml.nvmlDeviceGetName(handle, text, len(text))
        found = GpuUse(text.value.decode(errors="replace"))
        use, memory = _Utilization(), _Memory()
        if self._nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)) == 0:
            found.use = float(use.gpu)
        if self._nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0:
            found.memory, found.total = float(memory.used), float(memory.total)
        energy, power = ctypes.c_ulonglong(), ctypes.c_uint()
        if self._nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(energy)) == 0:
            found.energy = energy.value / 1000
        if self._nvml.nvmlDeviceGetPowerUsage(handle, ctypes.byref(power)) == 0:
            found.power = power.value / 1000
        return found

    def _handle(self, name: str) -> ctypes.c_void_p | None:
        handle = ctypes.c_void_p()
        if name.isdecimal():
            code = self._nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(handle))
        else:
            code = self._nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle))
        return handle if code == 0 else None
