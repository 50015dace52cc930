"""The accelerators of this machine that local jobs may use, and who uses them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ....core.engine_info import DeviceInfo
from ..supervisor.device_claims import holder
from .nvml import Driver, Gpu, Look
from .users import UNSEEN, users

BUSY_SHARE = 0.05
"""Of a GPU's memory: where more is in use, somebody works on it, whom the driver may not show."""
_CUDA_NAME = re.compile(r"\d+|(GPU|MIG)-.*")


@dataclass(frozen=True)
class PooledDevice:
    """A device that jobs may get.

    Attributes
    ----------
    id
        Its name as ``CUDA_VISIBLE_DEVICES`` takes it.
    gpu
        What the driver says of it; None for one that it does not know.
    """

    id: str
    gpu: Gpu | None

    @property
    def key(self) -> str:
        """The name of its lock, one for all names by which jobs may get it."""
        return self.gpu.uuid if self.gpu is not None else self.id


class DevicePool:
    """The accelerators that local jobs may use.

    Parameters
    ----------
    names
        Their indices or UUIDs. None for those that are found. Names that no hardware has are taken
        at their word. The server's own ``CUDA_VISIBLE_DEVICES`` bounds both.
    look
        Asks the driver.
    """

    def __init__(self, names: Sequence[str] | None, look: Callable[[], Look] | None = None) -> None:
        self._names = list(names) if names is not None else None
        self._look = look or Driver().look

    def devices(self) -> list[PooledDevice]:
        """Return the devices (blocking, for seconds if the driver hangs)."""
        return self._devices(self._look().gpus)

    def problem(self) -> str | None:
        """Return what is wrong with the driver, a sentence; None if nothing is (blocking)."""
        return self._look().problem

    def plan(self) -> dict[str, str] | None:
        """Return what a supervisor must know to claim devices; None if there are none (blocking).

        Those that others use come last.
        """
        devices = sorted(self.devices(), key=_is_busy)
        return {device.id: device.key for device in devices} or None

    def describe(self, kernels: Mapping[int, str]) -> list[DeviceInfo]:
        """Return the devices and who uses them (blocking).

        Parameters
        ----------
        kernels
            Processes of this lab's kernels, in words.
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
    """Return the devices of these names, each once; GPUs that the driver does not have are left out."""
    found: dict[str, PooledDevice] = {}
    for name in names:
        matches = _matches(name, gpus)
        if not matches and not (gpus and _CUDA_NAME.fullmatch(name)):
            matches = [PooledDevice(name, None)]
        for device in matches:
            found.setdefault(device.key, device)
    return list(found.values())


def _seen(visible: str, gpus: Sequence[Gpu]) -> list[PooledDevice]:
    """Return what a ``CUDA_VISIBLE_DEVICES`` lets programs see: as CUDA reads it, up to the first that isn't there."""
    names = []
    for name in map(str.strip, visible.split(",")):
        if not name or name.startswith("-") or name == "NoDevFiles":
            break
        if not _matches(name, gpus) and gpus and _CUDA_NAME.fullmatch(name):
            break
        names.append(name)
    return _named(names, gpus)


def _matches(name: str, gpus: Sequence[Gpu]) -> list[PooledDevice]:
    """Return the GPU with this index or (beginning of a) UUID; of a divided one, all its parts."""
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
        return DeviceInfo(index=number, id=device.id, name="GPU", claimed_by=job, used_by=job)
    who = users(gpu.pids, kernels)
    if not who and _is_full(gpu):
        who = [UNSEEN]
    if job is not None:
        # What a claimed device's processes are, where it can't be seen, is no riddle.
        who = [job, *(one for one in who if one not in (job, UNSEEN))]
    return DeviceInfo(
        index=gpu.index,
        id=device.id,
        name=gpu.name,
        uuid=gpu.uuid,
        memory_total=gpu.memory_total,
        memory_used=gpu.memory_used,
        claimed_by=job,
        used_by=", ".join(who) or None,
    )
