"""Accelerators that local jobs may use, with the processes and jobs that use them now."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ....core.engine.info import DeviceInfo
from ....core.translation import Text, listing
from ..supervisor.device_claims import holder
from .nvml import Driver, DriverState, Gpu
from .users import UNSEEN, users

BUSY_SHARE = 0.05
"""Share of a GPU's memory. If more is in use, a process uses the GPU, though the driver may not show it."""
_CUDA_NAME = re.compile(r"\d+|(GPU|MIG)-.*")


@dataclass(frozen=True)
class PooledDevice:
    """A device that jobs can claim.

    Attributes
    ----------
    id
        Name of the device for ``CUDA_VISIBLE_DEVICES``.
    gpu
        The driver's data; None for a device that the driver does not know.
    """

    id: str
    gpu: Gpu | None

    @property
    def key(self) -> str:
        """Name of the device's lock, the same for all names of the device."""
        return self.gpu.uuid if self.gpu is not None else self.id


class DevicePool:
    """Accelerators that local jobs may use.

    Parameters
    ----------
    names
        Indices or UUIDs of the devices; None for all that are found. A name that is none of a GPU stands for a device
        that the driver does not know. The server's own ``CUDA_VISIBLE_DEVICES`` limits both.
    read
        Reads the state of the driver.
    """

    def __init__(self, names: Sequence[str] | None, read: Callable[[], DriverState] | None = None) -> None:
        self._names = list(names) if names is not None else None
        self._read = read or Driver().read

    def devices(self) -> list[PooledDevice]:
        """Return the devices (blocking, for seconds if the driver hangs)."""
        return self._devices(self._read().gpus)

    def problem(self) -> Text | None:
        """Return the sentence about the driver's problem; None if it has none (blocking)."""
        return self._read().problem

    def plan(self) -> dict[str, str] | None:
        """Return the devices for a supervisor's plan, ids with names of locks; None if there are none (blocking).

        Devices that other processes use come last.
        """
        devices = sorted(self.devices(), key=_is_busy)
        return {device.id: device.key for device in devices} or None

    def describe(self, kernels: Mapping[int, str]) -> list[DeviceInfo]:
        """Return the devices and their users (blocking).

        Parameters
        ----------
        kernels
            Process ids of this lab's kernels, with texts that name the kernels.
        """
        return [_describe(number, device, kernels) for number, device in enumerate(self.devices())]

    def _devices(self, gpus: Sequence[Gpu]) -> list[PooledDevice]:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        seen = _seen(visible, gpus) if visible is not None else None
        if self._names is None:
            found = seen if seen is not None else _named([str(gpu.index) for gpu in gpus], gpus)
            return [device for device in found if device.gpu is not None]
        named = _named(self._names, gpus)
        if seen is None:
            return named
        keys = {device.key for device in seen}
        return [device for device in named if device.key in keys]


def _named(names: Sequence[str], gpus: Sequence[Gpu]) -> list[PooledDevice]:
    """Return the devices with these names, each once; GPUs that do not exist are left out."""
    found: dict[str, PooledDevice] = {}
    for name in names:
        matches = _matches(name, gpus)
        if not matches and not (gpus and _CUDA_NAME.fullmatch(name)):
            matches = [PooledDevice(name, None)]
        for device in matches:
            found.setdefault(device.key, device)
    return list(found.values())


def _seen(visible: str, gpus: Sequence[Gpu]) -> list[PooledDevice]:
    """Return the devices that a value of ``CUDA_VISIBLE_DEVICES`` shows to programs.

    CUDA reads the names up to the first device that does not exist.
    """
    names = []
    for name in map(str.strip, visible.split(",")):
        if not name or name.startswith("-") or name == "NoDevFiles":
            break
        if not _matches(name, gpus) and gpus and _CUDA_NAME.fullmatch(name):
            break
        names.append(name)
    return _named(names, gpus)


def _matches(name: str, gpus: Sequence[Gpu]) -> list[PooledDevice]:
    """Return the GPU with an index or the beginning of a UUID; all parts of a GPU that is divided by MIG."""
    if name.isdecimal():
        found = [gpu for gpu in gpus if gpu.index == int(name)]
        return [PooledDevice(gpu.uuid if gpu.is_part else str(gpu.index), gpu) for gpu in found]
    found = [gpu for gpu in gpus if name.startswith(("GPU-", "MIG-")) and gpu.uuid.startswith(name)]
    return [PooledDevice(gpu.uuid, gpu) for gpu in found] if len(found) == 1 else []


def _is_busy(device: PooledDevice) -> bool:
    gpu = device.gpu
    return gpu is not None and (bool(gpu.pids) or _is_full(gpu))


def _is_full(gpu: Gpu) -> bool:
    if gpu.memory_used is None or not gpu.memory_total or gpu.has_display:
        return False
    return gpu.memory_used > gpu.memory_total * BUSY_SHARE


def _describe(number: int, device: PooledDevice, kernels: Mapping[int, str]) -> DeviceInfo:
    job, gpu = holder(device.key), device.gpu
    if gpu is None:
        user = Text.verbatim(job) if job is not None else None
        return DeviceInfo(index=number, id=device.id, name="GPU", claimed_by=job, used_by=user)
    names: list[str] = list(users(gpu.pids, kernels))
    if not names and _is_full(gpu):
        names = [UNSEEN]
    if job is not None:
        # Unknown processes on a claimed device are the job's own.
        names = [job, *(name for name in names if name not in (job, UNSEEN))]
    return DeviceInfo(
        index=gpu.index,
        id=device.id,
        name=gpu.name,
        uuid=gpu.uuid,
        memory_total=gpu.memory_total,
        memory_used=gpu.memory_used,
        claimed_by=job,
        used_by=listing(names) if names else None,
    )
