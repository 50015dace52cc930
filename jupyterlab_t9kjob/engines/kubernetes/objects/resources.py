"""Resources that pods ask for and nodes have: which of them are devices, how much there is of one, and their names."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from ....core.quantity import amount
from .text import named

MEASURED: Final = ("cpu", "memory")
"""Beside accelerators: what else a job asks for."""
THINGS: Final = {"cpu": "CPU", "memory": "memory", "ephemeral-storage": "disk"}
"""Names of resources that are measured rather than counted."""

_ACCELERATOR: Final = re.compile(
    r"(?:^|[^a-z])(?:v?gpu|dcu|npu|tpu|gcu|mlu|xpu|gaudi|ascend\w*|neuron(?:core|device)?|mig-[\w.-]+)(?:$|[^a-z])"
    r"|^(?:i915|xe)$"
)
_PORTION: Final = re.compile(r"[-_.](?:mem|core|percent)")
"""In names of amounts of a shared device, such as ``aliyun.com/gpu-mem``, by which devices are not counted."""
_NATIVE: Final = ("kubernetes.io", "k8s.io")
_COUNTED: Final = ("gpu", "dcu", "npu", "vgpu", "xpu", "tpu")
"""Names of devices that are said in capitals rather than with their maker: `amd.com/gpu` is “GPUs”."""
_MAKERS: Final = ("nvidia", "amd", "tesla", "geforce", "quadro", "instinct", "hygon")
_SHAPE: Final = re.compile(r"sxm\d*|pcie?|hbm\w*|nvl|oam|\d+gi?b", re.IGNORECASE)
"""What tells how a device is built in, and its memory."""
_BYTES: Final = ("memory", "ephemeral-storage")
_UNITS: Final = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"))


@lru_cache(1024)
def is_accelerator(resource: str) -> bool:
    """Whether a resource is a kind of device that models are trained on."""
    domain, _, name = resource.rpartition("/")
    name = name.lower()
    is_device = _ACCELERATOR.search(name) is not None and _PORTION.search(name) is None
    return bool(domain) and not domain.endswith(_NATIVE) and is_device


# -- amounts -----------------------------------------------------------------------------------------------------------


def amounts_of(written: Mapping[str, Any]) -> Counter[str]:
    """Return quantities by resource; without what is none."""
    found: Counter[str] = Counter()
    for name, each in written.items():
        read = _read(each) if isinstance(each, str | int) else None
        if read is not None:
            found[sys.intern(name)] = read  # type: ignore[assignment]  # a Counter's arithmetic, also with fractions
    return found


@lru_cache(4096)
def _read(written: str | int) -> float | None:
    return amount(str(written))


def exact(sum_: float) -> float:
    """Return a sum of quantities, which have nine decimals at most, without what binary fractions add to it."""
    return round(sum_, 9)


def times(has: float, wanted: float) -> int:
    """Return how many times a quantity, which is not 0, is contained in another one."""
    return round(has * 1e9) // round(wanted * 1e9)  # in binary fractions 1 has only nine times 0.1


def together(amounts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return amounts by resource, added up."""
    found: dict[str, float] = {}
    for each in amounts:
        for name, one in each.items():
            found[name] = exact(found.get(name, 0.0) + one)
    return found


# -- words -------------------------------------------------------------------------------------------------------------


def said(resource: str, amount: float, product: str | None = None, before: str = "") -> str:
    """Say an amount: “8 A100”, “1 GPU”, “64 CPU”, “512 GiB memory”; `before` stands before the thing."""
    return f"{quantity(resource, amount)} {before}{word(resource, amount, product)}"


def quantity(resource: str, amount: float) -> str:
    """Say how much of a resource: “8”, “0.5”, “512 GiB”."""
    if resource not in _BYTES:
        return f"{amount:.10g}"
    unit, name = next((one for one in _UNITS if amount >= one[0]), _UNITS[-1])
    return f"{amount / unit:.4g} {name}"


def word(resource: str, amount: float = 2, product: str | None = None) -> str:
    """Name a resource: “A100” where its product is known, “GPUs”, “CPU”, “example.com/dongle”."""
    if resource in THINGS:
        return THINGS[resource]
    plain = resource.rpartition("/")[2]
    if plain not in _COUNTED:
        return named(resource)
    return _short(product or "") or (plain.upper() if amount == 1 else f"{plain.upper()}s")


def _short(product: str) -> str:
    """Return a product's name without its maker and its shape: “A100” of ``NVIDIA-A100-SXM4-80GB``."""
    words = re.split(r"[-_\s]+", product[:200])
    return named(" ".join(one for one in words if one.lower() not in _MAKERS and not _SHAPE.fullmatch(one)))
